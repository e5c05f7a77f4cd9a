/** Estimates how long the values of a recursive query may become. */
import type { CommonTableExpr } from '@pgsql/types';
import { DATA, FIXED, largest, MAX_SIZE, type Size, SMALL, sizeOf, sum, UNKNOWN } from './sizes.ts';
import { SEARCHED } from './steps.ts';

/** The members of a size that may grow. */
const SEEN = ['made', 'data', 'wild', 'raw'] as const;

/**
 * The sizes of the columns of a recursive query after each of its first steps. There are enough steps that growth which passes through all columns
 * shows twice. None passes through a column of a fixed length.
 * @param next the columns after one more step
 */
export function firstSteps(
  first: readonly Size[],
  names: readonly string[],
  next: (columns: ReadonlyMap<string, Size>) => ReadonlyMap<string, Size>,
): (readonly Size[])[] {
  const steps = [first];
  const most = 2 * first.filter((size) => !size.fixed).length + 2;
  for (let i = 0; i < most; i++) {
    const before = steps.at(-1) as readonly Size[];
    const after = [...next(new Map(names.map((name, n) => [name, before[n] ?? SMALL]))).values()];
    // the non-recursive term decides the types
    steps.push(before.map((size, n) => (size.fixed ? size : largest([size, after[n] ?? size]))));
    const last = steps.at(-1) as readonly Size[];
    if (before.every((size, n) => SEEN.every((member) => size[member] === last[n]?.[member]))) break;
  }
  return steps;
}

/** The bytes that a recursion can write in all of its rows before it times out. */
const RECURSION_BYTES = 1e10;
/** The usual depth of a recursion over values of tables. */
const RECURSION_DEPTH = 1_000;

/**
 * The size of a column after the last step of a recursive query, estimated from its sizes after the first steps. A value that grows by the same number of bytes in each
 * step is limited by the time that the rows take: n rows write n times the average length. Any other growth is unlimited.
 */
export function sizeAfter(steps: readonly Size[]): Size {
  const [first = SMALL, second = first] = steps;
  if (first.fixed || !steps.some((s, i) => i > 0 && grows(steps[i - 1] as Size, s))) return largest(steps);
  const more = { made: Math.max(0, second.made - first.made), data: Math.max(0, second.data - first.data) };
  const isSteady = steps.every((s, i) => {
    const before = steps[i - 1];
    return before === undefined || (s.made - before.made <= more.made && s.data - before.data <= more.data);
  });
  // numbers with many digits in each step
  if (!isSteady || (steps.at(-1)?.wild ?? 0) > (steps.at(-2)?.wild ?? 0)) return UNKNOWN;
  const { each, count, wild, raw } = largest(steps);
  const made = Math.min(first.made + Math.sqrt(2 * RECURSION_BYTES * more.made), MAX_SIZE);
  return sizeOf(made, first.data + RECURSION_DEPTH * more.data, undefined, each, count, undefined, wild, raw);
}

const grows = (before: Size, after: Size): boolean => after.made > before.made || after.data > before.data;

/** The columns that SEARCH and CYCLE add: values of the columns in each row of a path. */
export function searched({ search_clause, cycle_clause }: CommonTableExpr, columns: readonly Size[]): (readonly [string, Size])[] {
  const { made, wild } = sum(columns);
  const path = made <= SEARCHED && wild === 0 ? DATA : UNKNOWN;
  const { search_seq_column, cycle_mark_column, cycle_path_column } = { ...search_clause, ...cycle_clause };
  const added = [[search_seq_column, path] as const, [cycle_path_column, path] as const, [cycle_mark_column, FIXED] as const];
  return added.flatMap(([name, size]) => (name === undefined ? [] : [[name, size] as const]));
}
