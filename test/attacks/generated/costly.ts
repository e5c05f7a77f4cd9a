/**
 * A condition with many comparisons that are never true. PostgreSQL tests cheap conditions first, so a single comparison would hide rows from an expression next to it even without a barrier.
 * @param never the condition with this number: no row meets it
 */
export const costly = (condition: string, never: (n: number) => string): string =>
  `(${[condition, ...Array.from({ length: 24 }, (_, i) => never(i + 1))].join(' OR ')})`;
