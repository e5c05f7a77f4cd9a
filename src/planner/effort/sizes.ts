/** Sizes of values in bytes, and operations on sizes. */

/** The estimated size of a value. */
export interface Size {
  /** The bytes that the statement itself produces, by constants, `repeat` and the like. At most MAX_SIZE. */
  readonly made: number;
  /** The number of values of tables that are a part of it. Their sizes are unknown. */
  readonly data: number;
  /** True if the type has a fixed length (integers, floats, dates), so that arithmetic does not make the value longer. */
  readonly fixed: true | undefined;
  /** Of an array that `array_agg` collects: the size of its longest element. */
  readonly each: Size | undefined;
  /** Of such an array: the number of its elements for each row of the tables that it is collected from; undefined: its length is unknown. */
  readonly count: number | undefined;
  /**
   * Of a row or a JSON value: its size as an argument of a function that writes JSON, which doubles it for escapes. It has no quotes of a row, and it is half of a JSON
   * value, which needs no escapes.
   */
  readonly inJson: Size | undefined;
  /** The bytes that long numbers in it may have in addition: a number that is computed as a text (`'1e' || '9000'`) has many more digits than the text has characters. */
  readonly wild: number;
  /** True if it has parts of a text that the statement composes, which may be such a number. */
  readonly raw: true | undefined;
  /** The bytes of `made` that are numbers and dates: each SMALL.made of them are one value in a document, which takes much less time than as many short values. */
  readonly digits: number;
  /** Of a column of a sub-select: the copies that PostgreSQL makes for a reference to it. Otherwise ONE. */
  readonly copies: Copies;
}

/** The nodes, and the bytes, by which a reference to a column grows when PostgreSQL plans the statement. */
export interface Copies {
  /** PostgreSQL puts the expression of the column in the place of the reference, if the sub-select neither groups nor limits its rows. */
  readonly pulled: number;
  /** It moves conditions into most sub-selects, also into those that group: the nodes if the reference is a part of a condition. */
  readonly pushed: number;
  /** The bytes of the constant values in the expression, which it computes for each copy, and keeps. */
  readonly texts: number;
  /** True if the expression is constant. */
  readonly isConstant?: boolean | undefined;
  /** The absolute value that a constant number has at most. */
  readonly number?: number | undefined;
}
/** The copies of a column that PostgreSQL computes once. */
export const ONE: Copies = { pulled: 1, pushed: 1, texts: 0 };
/** The nodes that a block of a statement costs PostgreSQL in addition to its expressions. */
export const BLOCK: Copies = { pulled: 20, pushed: 20, texts: 0 };

/** The elements of an array. */
type Elements = Pick<Size, 'each' | 'count'>;

/** The maximum size of a value in PostgreSQL: 1 GB. */
export const MAX_SIZE = 1e9;

/** A size. All sizes have the same members in the same order, so that V8 reads them quickly. */
export const sizeOf = (
  made: number,
  data: number,
  fixed?: true,
  each?: Size,
  count?: number,
  inJson?: Size,
  wild = 0,
  raw?: true,
  copies = ONE,
  digits = 0,
): Size => ({
  made,
  data,
  fixed,
  each,
  count,
  inJson,
  wild,
  raw,
  digits,
  copies,
});

/** The size of a value of a number of bytes. */
export const ofBytes = (made: number): Size => sizeOf(Math.max(0, Math.min(made, MAX_SIZE)), 0);
/** The bytes of a number, a date or a boolean. */
const BYTES = 40;
/** The size of a decimal. A short one counts as other texts do. */
export const ofNumber = (made: number, data: number): Size => ({ ...sizeOf(made, data), digits: made < BYTES ? 0 : made });
/** The size of a number, a date or a boolean. */
export const SMALL = ofNumber(BYTES, 0);
/** The same for a type with a fixed length. */
export const FIXED: Size = { ...SMALL, fixed: true };
/** The size of a value that may be of any length. */
export const UNKNOWN = ofBytes(MAX_SIZE);
/** The size of a value of a table. */
export const DATA: Size = sizeOf(0, 1);

/** The assumed number of rows of a table, if an aggregate collects a value for each. */
export const TABLE_ROWS = 10_000;
/** The assumed number of elements of an array of a table. */
const ARRAY_ELEMENTS = 100;

/** The size of no value. */
export const NOTHING = ofBytes(0);
/** The bytes of several values together. Known bytes do not become an unknown size. */
const added = (all: number, more: number): number => Math.min(all + more, all < MAX_SIZE && more < MAX_SIZE ? MAX_SIZE - 1 : MAX_SIZE);
/** The size of two values together. */
export const plus = (a: Size, b: Size): Size =>
  sizeOf(added(a.made, b.made), a.data + b.data, undefined, undefined, undefined, undefined, a.wild + b.wild, a.raw || b.raw, ONE, a.digits + b.digits);
/** The size of several values together. */
export function sum(sizes: readonly Size[]): Size {
  let [made, data, wild, digits] = [0, 0, 0, 0];
  let raw: true | undefined;
  for (const s of sizes) {
    made = added(made, s.made);
    data += s.data;
    wild += s.wild;
    raw ||= s.raw;
    digits += s.digits;
  }
  return sizeOf(made, data, undefined, undefined, undefined, undefined, wild, raw, ONE, digits);
}

/** The size of the larger of two values. */
export function larger(a: Size, b: Size): Size {
  if (a === b) return a;
  const isArray = a.each !== undefined && b.each !== undefined;
  const made = Math.max(a.made, b.made);
  return sizeOf(
    made,
    Math.max(a.data, b.data),
    a.fixed && b.fixed,
    isArray ? larger(a.each, b.each) : undefined,
    isArray && a.count === b.count ? a.count : undefined,
    a.inJson || b.inJson ? larger(inJson(a), inJson(b)) : undefined,
    Math.max(a.wild, b.wild),
    a.raw || b.raw,
    {
      pulled: Math.max(a.copies.pulled, b.copies.pulled),
      pushed: Math.max(a.copies.pushed, b.copies.pushed),
      texts: Math.max(a.copies.texts, b.copies.texts),
    },
    Math.max(0, made - Math.max(a.made - a.digits, b.made - b.digits)),
  );
}

/** The copies of several columns together. */
export function copiesOf(columns: readonly Size[]): Copies {
  let [pulled, pushed, texts] = [0, 0, 0];
  for (const { copies } of columns) {
    pulled += copies.pulled;
    pushed += copies.pushed;
    texts += copies.texts;
  }
  return { pulled, pushed, texts };
}

/** The size of the largest of several values. */
export function largest(sizes: readonly Size[]): Size {
  let found = sizes[0] ?? NOTHING;
  for (let i = 1; i < sizes.length; i++) found = larger(found, sizes[i] as Size);
  return found;
}

/** A size with the elements of another. */
export const withElements = ({ made, data, fixed, wild, raw, digits }: Size, { each, count }: Elements): Size =>
  sizeOf(made, data, fixed, each, count, undefined, wild, raw, ONE, digits);

/** The size of a value of another type: its elements may change. */
export const retyped = ({ made, data, fixed, wild, raw, copies, digits }: Size): Size =>
  sizeOf(made, data, fixed, undefined, undefined, undefined, wild, raw, copies, digits);

/** The size of a value as an argument of a function that writes JSON. */
export const inJson = (s: Size): Size => s.inJson ?? s;
/** The size of a JSON value. */
export const asJson = (s: Size): Size => sizeOf(s.made, s.data, undefined, undefined, undefined, times(s, 0.5), s.wild, s.raw, ONE, s.digits);

/** The elements of `left || right`, if one of them is such an array: the other one is an array as well, or an element. */
export function elementsOfBoth(left: Size, right: Size): Elements {
  if (left.each === undefined && right.each === undefined) return NOTHING;
  const counts = [left, right].map(({ each, count }) => (each === undefined ? 1 : count));
  return {
    each: largest([left.each ?? left, right.each ?? right]),
    count: counts.some((n) => n === undefined) ? undefined : counts.reduce<number>((all, n) => all + (n ?? 0), 0),
  };
}

/** What `unnest` returns: elements of its arguments. `count`: the number of rows. */
export function unnested(arrays: readonly Size[]): Size {
  const each: Size[] = [];
  for (const array of arrays) if (array.each !== undefined) each.push(array.each);
  if (each.length < arrays.length) return sum(arrays);
  const count = Math.max(...arrays.map((a) => (a.count === undefined ? bytesOf(a, 1_000) : a.count * rowsOfElement(a.each ?? SMALL))));
  return withElements(each.length === 1 && each[0] ? each[0] : sum(each), { each: undefined, count: Math.max(1, count) });
}
/** The rows of an element that may be an array itself. */
const rowsOfElement = ({ made, data, fixed, count }: Size): number => count ?? (fixed || data > 0 || made <= 2 * SMALL.made ? 1 : made);
/** Bytes times a factor. Known bytes do not become an unknown size. */
const grown = (bytes: number, factor: number): number => Math.min(bytes * factor, bytes < MAX_SIZE && factor < MAX_SIZE ? MAX_SIZE - 1 : MAX_SIZE);
/** The size of a value that becomes longer by a factor. */
export const times = ({ made, data, wild, raw, digits }: Size, factor: number): Size =>
  sizeOf(grown(made, factor), data * factor, undefined, undefined, undefined, undefined, wild * factor, raw, ONE, digits * factor);

/** The size in bytes, if each value of a table has `ofData` bytes. Only a size that is not known at all is MAX_SIZE: a value that became as long by known growth is not lenient. */
export const bytesOf = ({ made, data }: Size, ofData: number): number => Math.min(made + data * ofData, made < MAX_SIZE ? MAX_SIZE - 1 : MAX_SIZE);

/** The bytes around an element of an array: quotes and a comma. */
const AROUND_ELEMENT = 4;

/** The size of a value as a part of an array or a row. As a text, each quote and backslash in it becomes two characters. */
export const asElement = (value: Size): Size => (value.fixed ? value : plus(times(value, 2), ofBytes(AROUND_ELEMENT)));

/** The size of a row. */
export function sizeOfRow(columns: readonly Size[]): Size {
  const { made, data, wild, raw, digits } = sum(columns.map(asElement));
  return sizeOf(made, data, undefined, undefined, undefined, sum(columns.map(inJson)), wild, raw, copiesOf(columns), digits);
}

/** The size of an array of values. */
export const sizeOfArrayOf = (values: readonly Size[]): Size => composed(values, sum(values.map(asElement)));
/** The size of a row of values. */
export const sizeOfRowOf = (values: readonly Size[]): Size => composed(values, sizeOfRow(values));

/** The size of several values as one. If several of them are texts of the statement, its own text is composed of them. */
const composed = (values: readonly Size[], size: Size): Size =>
  values.filter((v) => !v.fixed && v.made > 0).length > 1 ? withMarks(size, size.wild, true) : size;

/** The size of several copies of a value. */
export const copies = (size: Size, count: number): Size =>
  count <= 1 ? size : withMarks(ofBytes(grown(bytesOf(size, 1_000), count)), size.wild * count, size.raw);

/** The size of a value that is no array. */
export const single = ({ made, data, fixed, wild, raw, digits }: Size): Size => sizeOf(made, data, fixed, undefined, 1, undefined, wild, raw, ONE, digits);

/** The number of elements of an array that the statement collects, if they are known to be no arrays. */
function collectedIn({ each, count, fixed }: Size): number | undefined {
  if (each === undefined || count === undefined) return fixed ? 1 : count;
  const inner = collectedIn(each);
  return inner && inner * (count <= 1 ? TABLE_ROWS : count);
}

/** The number of elements of an array: at most one for each byte, if it is not known. */
export const elementsIn = (array: Size): number =>
  Math.min((array.each && collectedIn(array)) ?? MAX_SIZE, Math.max(array.count ?? 0, bytesOf(array, ARRAY_ELEMENTS)));

/** The size of a text that is repeated as often as another text has characters. */
export const repeated = (text: Size, count: Size): Size => {
  if (count.data === 0) return copies(text, count.made);
  const size = text.data > 0 ? UNKNOWN : sizeOf(Math.min(text.made * count.made, MAX_SIZE), text.made * count.data);
  return withMarks(size, text.wild === 0 ? 0 : MAX_SIZE, text.raw);
};

/** The digits of the longest decimal in PostgreSQL. */
export const MAX_DIGITS = 150_000;
/** The length of the shortest number in an array or document that has so many digits: `1e100000`, with a comma. */
const SHORTEST_NUMBER = 9;

/** A size with the marks of long numbers. */
export const withMarks = (s: Size, wild: number, raw: true | undefined): Size =>
  sizeOf(s.made, s.data, s.fixed, s.each, s.count, s.inJson, Math.min(wild, MAX_SIZE), raw, ONE, s.digits);

/** The size of a text whose digits may have become several values. */
export const withoutDigits = (s: Size): Size => ({ ...s, digits: 0 });

/** The size of a value whose text becomes numbers. @param isOne it becomes one number, not an array or a document of them */
export function withNumbers(size: Size, isOne: boolean): Size {
  if (!size.raw) return size;
  const each = size.each && withNumbers(size.each, true);
  const numbers = isOne ? 1 : Math.ceil(bytesOf(size, 1_000) / SHORTEST_NUMBER);
  return withMarks({ ...size, each }, Math.max(size.wild, numbers * MAX_DIGITS), true);
}

/** The bytes of a value with its long numbers, for calls that take more than linear time. */
export const bytesWithNumbers = (size: Size, ofData: number): number =>
  size.wild === 0 ? bytesOf(size, ofData) : Math.min(bytesOf(size, ofData) + size.wild, MAX_SIZE);
