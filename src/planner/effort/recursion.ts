/** Estimates how long the values of a recursive query may become. */
import { largest, MAX_SIZE, type Size, SMALL, sizeOf, UNKNOWN } from './sizes.ts';

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
    if (
      before.every(
        (size, n) =>
          size.made === steps.at(-1)?.[n]?.made &&
          size.data === steps.at(-1)?.[n]?.data &&
          size.wild === steps.at(-1)?.[n]?.wild &&
          size.raw === steps.at(-1)?.[n]?.raw,
      )
    )
      break;
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
