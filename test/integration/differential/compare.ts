/** Rows of two sources in a form that can be compared: numbers by value, other values as they are. */
import type { Scalar } from './expr.ts';

export type Row = Readonly<Record<string, unknown>>;

/** Only averages are inexact; ten digits distinguish all other values. */
const norm = (v: unknown): unknown => (typeof v === 'number' ? Number(v.toPrecision(10)) : v === undefined ? null : v);

const line = (columns: readonly string[], values: readonly unknown[]): string => JSON.stringify(columns.map((c, i) => [c, norm(values[i])]));

/** The rows of the second opinion as text, one a row. */
export const expectedLines = (columns: readonly string[], rows: readonly (readonly Scalar[])[]): string[] => rows.map((r) => line(columns, r));

/** Rows as objects (keys in their order). */
export const gotLines = (rows: readonly Row[]): string[] => rows.map((r) => line(Object.keys(r), Object.values(r)));

export function sameLines(a: readonly string[], b: readonly string[], ordered: boolean): boolean {
  if (a.length !== b.length) return false;
  const [x, y] = ordered ? [a, b] : [[...a].sort(), [...b].sort()];
  return x.every((l, i) => l === y[i]);
}
