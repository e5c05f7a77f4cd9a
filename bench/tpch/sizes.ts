/** The number of rows of each table at a scale factor. Scale 1 has 6 million lines, 0.1 has 600,000. */
export interface ScaleSizes {
  readonly scale: number;
  readonly suppliers: number;
  readonly parts: number;
  readonly customers: number;
  readonly orders: number;
  readonly clerks: number;
}

export function sizesOf(scale: number): ScaleSizes {
  const of = (atOne: number, least: number): number => Math.max(least, Math.round(atOne * scale));
  return { scale, suppliers: of(10_000, 10), parts: of(200_000, 40), customers: of(150_000, 30), orders: of(1_500_000, 100), clerks: of(1_000, 1) };
}
