/** What aggregates make of values, and how rows are compared: the second opinion's own arithmetic. */
import type { Agg, Order, Scalar, Win } from './expr.ts';
import { avg, compare, same } from './values.ts';

/** An aggregate of the values of its level, in their order; `only`: DISTINCT. */
export function aggregate(fn: Agg['fn'] | Win['fn'], all: readonly Scalar[], only: boolean): Scalar {
  if (fn === 'array_agg') return all.length ? all.map((v) => v ?? '~').join(',') : null;
  let values = all.filter((v) => v !== null);
  if (only) values = values.filter((v, i) => values.findIndex((w) => same(v, w)) === i);
  if (fn === 'count') return values.length;
  if (!values.length) return null;
  switch (fn) {
    case 'sum':
      return (values as number[]).reduce((a, b) => a + b, 0);
    case 'avg':
      return avg(values as number[]);
    case 'min':
      return values.reduce((a, b) => (compare(a, b) <= 0 ? a : b));
    case 'max':
      return values.reduce((a, b) => (compare(a, b) >= 0 ? a : b));
    case 'bool_or':
      return values.includes(true);
    case 'bool_and':
      return !values.includes(false);
    case 'string_agg':
      return values.join(',');
    case 'percentile_disc':
      return [...values].sort(compare)[Math.max(0, Math.ceil(values.length / 2) - 1)]!;
    case 'percentile_cont': {
      const sorted = ([...values] as number[]).sort(compare);
      const at = (sorted.length - 1) / 2;
      return (sorted[Math.floor(at)]! + sorted[Math.ceil(at)]!) / 2;
    }
    case 'mode': {
      const sorted = [...values].sort(compare);
      const times = (v: Scalar) => sorted.filter((w) => same(v, w)).length;
      return sorted.reduce((a, b) => (times(b) > times(a) ? b : a));
    }
    default:
      throw new Error(fn);
  }
}

/** The order of two values under ORDER BY. */
export function compareNulls(a: Scalar, b: Scalar, o: Pick<Order, 'desc' | 'nulls'>): number {
  if (a === null || b === null) {
    if (a === b) return 0;
    const first = o.nulls ? o.nulls === 'first' : o.desc;
    return (a === null) === first ? -1 : 1;
  }
  return compare(a, b) * (o.desc ? -1 : 1);
}

export const sameRow = (a: readonly Scalar[], b: readonly Scalar[]) => a.every((v, i) => same(v, b[i] as Scalar));
export const distinct = (rows: readonly (readonly Scalar[])[]) => rows.filter((r, i) => rows.findIndex((o) => sameRow(o, r)) === i);
