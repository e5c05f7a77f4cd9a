/** How many bytes a value may have, and what the functions that make long values do to them. */
import type { A_Const } from '@pgsql/types';

/** The size of a value. */
export interface Size {
  /** Bytes that the statement itself makes: of constants, of `repeat`. At most MOST. */
  readonly made: number;
  /** How many values of tables are a part of it: nobody knows their sizes. */
  readonly data: number;
  /** Whether its type has a fixed length (integers, floats, days): arithmetic with other such values does not make it longer. */
  readonly fixed?: true;
}

/** The longest value that PostgreSQL has: 1 GB. */
export const MOST = 1e9;

export const ofBytes = (made: number): Size => ({ made: Math.min(made, MOST), data: 0 });
/** A number, a day, a truth value. */
export const SMALL = ofBytes(40);
/** The same of a type with a fixed length. */
export const FIXED: Size = { ...SMALL, fixed: true };
export const UNKNOWN = ofBytes(MOST);
export const DATA: Size = { made: 0, data: 1 };

export const sum = (sizes: readonly Size[]): Size =>
  sizes.reduce((a, b) => ({ made: Math.min(a.made + b.made, MOST), data: a.data + b.data }), { made: 0, data: 0 });
export const largest = (sizes: readonly Size[]): Size => ({
  ...sizes.reduce((a, b) => ({ made: Math.max(a.made, b.made), data: Math.max(a.data, b.data) }), { made: 0, data: 0 }),
  ...(sizes.length > 0 && sizes.every((s) => s.fixed) ? { fixed: true as const } : {}),
});
export const times = ({ made, data }: Size, factor: number): Size => ({ made: Math.min(made * factor, MOST), data: data * factor });

/** Bytes, where a value of a table counts as so many. */
export const bytesOf = ({ made, data }: Size, ofData: number): number => Math.min(made + data * ofData, MOST);

/** A value that has been taken so many times: what was data is made by that. */
export const taken = (size: Size, count: number): Size => (count <= 1 ? size : ofBytes(bytesOf(size, 1_000) * count));

/** The size of a text that is repeated as often as another one has characters. */
export const repeated = (text: Size, count: Size): Size => {
  if (count.data === 0) return taken(text, count.made);
  return text.data > 0 ? UNKNOWN : { made: Math.min(text.made * count.made, MOST), data: text.made * count.data };
};

/** The size of a constant; of a number, its digits when it is written out. */
export function sizeOfConstant(constant: A_Const): Size {
  if (constant.sval) return textSize(constant.sval.sval ?? '');
  if (constant.fval) return textSize(constant.fval.fval ?? '');
  if (constant.bsval) return ofBytes(constant.bsval.bsval?.length ?? 0);
  return FIXED;
}

/** The bytes of a text; of one that is a number with an exponent, its digits. */
function textSize(text: string): Size {
  const exponent = /^\s*[-+]?[\d._]{1,400}e\+?(\d{1,6})\s*$/i.exec(text.slice(0, 420))?.[1];
  return ofBytes(Math.max(2 * text.length, exponent === undefined ? 0 : Math.min(Number(exponent), 150_000)));
}

/** The value of a constant whole number; undefined: not one. */
export function wholeNumber(constant: A_Const | undefined): number | undefined {
  if (constant?.ival) return constant.ival.ival ?? 0;
  const digits = constant?.fval?.fval ?? constant?.sval?.sval ?? '';
  return /^\d{1,15}$/.test(digits) ? Number(digits) : undefined;
}

/** The bytes that a recursion can write before it runs out of time, all of its rows together. */
const RECURSION_BYTES = 1e10;
/** The rows that a recursion over values of tables usually has from its first to its last one. */
const RECURSION_DEPTH = 1_000;

/**
 * The size of a recursive query's column after its last step, by its sizes after the first ones. A value that gets longer by the same number of bytes in each step
 * is bounded by the time that its rows take: n rows write n times the average length. Any other growth has no bound.
 */
export function sizeAfter(steps: readonly Size[]): Size {
  const [first = SMALL, second = first] = steps;
  if (first.fixed || !steps.some((s, i) => i > 0 && grows(steps[i - 1] as Size, s))) return largest(steps);
  const more = { made: Math.max(0, second.made - first.made), data: Math.max(0, second.data - first.data) };
  const isSteady = steps.every((s, i) => {
    const before = steps[i - 1];
    return before === undefined || (s.made - before.made <= more.made && s.data - before.data <= more.data);
  });
  if (!isSteady) return UNKNOWN;
  return {
    made: Math.min(first.made + Math.sqrt(2 * RECURSION_BYTES * more.made), MOST),
    data: first.data + RECURSION_DEPTH * more.data,
  };
}

const grows = (before: Size, after: Size): boolean => after.made > before.made || after.data > before.data;
