/** What single calls cost, and how long the values are that they make. */
import type { FuncCall } from '@pgsql/types';
import type { Node } from '../tree.ts';
import { EACH_WITH_EACH, EACH_WITH_EACH_OPERATORS, JSON_PATHS, LINEAR, PRODUCT, SEARCH, SEARCH_OPERATORS, SERIES, SQUARE } from './functions.ts';
import { bytesOf, largest, MOST, ofBytes, repeated, type Size, SMALL, sum, taken, UNKNOWN, wholeNumber } from './sizes.ts';

/** The steps of a function that goes through its arguments once, for each byte. */
const STEPS_PER_BYTE = 30;
/** The bytes that a value of unknown length counts as in one pass: each row of a result is made into JSON, however long it may be. */
const UNKNOWN_PASS = 10_000_000;
/** The rows that a table counts as, where something of the statement is gathered once for each. */
const TABLE_ROWS = 10_000;
/** The digits of the longest decimal. */
export const MOST_DIGITS = 150_000;

/** What a value of a table counts as: where it is searched, in a decimal, and as a set of characters, which usually is a constant. */
export const SEARCHED = 1_000;
const DIGITS = 50;
const CHARACTERS = 10_000;
const AS_SET = 1_000_000;

/** The value of a constant whole number, cast or not. */
export const constant = (node: Node | undefined): number | undefined => {
  const bare = node && 'TypeCast' in node ? node.TypeCast.arg : node;
  return bare && 'A_Const' in bare ? wholeNumber(bare.A_Const) : undefined;
};

/** The name of a function without its schema. */
export const nameOf = ({ funcname }: FuncCall): string => {
  const last = funcname?.at(-1);
  return last && 'String' in last ? (last.String.sval ?? '').toLowerCase() : '';
};

const digitsOf = (size: Size): number => Math.min(bytesOf(size, DIGITS), MOST_DIGITS);
const products = (left: Size, right: Size): number => (digitsOf(left) * digitsOf(right)) / 16;

/** The steps of one call of a function or operator. `args`: its arguments, of which constants are recognized. */
export function stepsOf(name: string, args: readonly Node[], sizes: readonly Size[]): number {
  const [first = SMALL, second = SMALL] = sizes;
  if (EACH_WITH_EACH.has(name) && args.length > 1) return bytesOf(first, CHARACTERS) * bytesOf(second, AS_SET);
  if (EACH_WITH_EACH_OPERATORS.has(name)) return bytesOf(first, SEARCHED) * bytesOf(second, SEARCHED);
  if (SEARCH.has(name) || SEARCH_OPERATORS.has(name)) return (bytesOf(first, SEARCHED) * bytesOf(second, SEARCHED)) / 8;
  if (PRODUCT.has(name)) return products(first, second);
  if (SERIES.has(name)) return 100 * products(first, args.length > 1 ? second : first);
  const bytes = bytesOf(sum(sizes), SEARCHED);
  if (LINEAR.has(name)) return onePass(bytes);
  if (!JSON_PATHS.has(name)) return SQUARE.has(name) ? bytes ** 2 : bytes ** 2 / 8;
  const parts = severalIn(args[1]);
  return parts < 2 ? onePass(bytes) : 2 * (bytesOf(first, SEARCHED) * parts) ** 2;
}

/** The steps of one pass over a value. */
export const onePass = (bytes: number): number => STEPS_PER_BYTE * (bytes < MOST ? bytes : UNKNOWN_PASS);

/** How often a path into JSON may name several values. */
function severalIn(path: Node | undefined): number {
  const bare = path && 'TypeCast' in path ? path.TypeCast.arg : path;
  const text = bare && 'A_Const' in bare ? bare.A_Const.sval?.sval : undefined;
  return text === undefined ? 10 : (text.match(/\*|,|\bto\b|\blast\b/g)?.length ?? 0);
}

/** The values of rows together: data, where the rows are those of tables and nothing long is made for each. */
export function gathered(sizes: readonly Size[], rows: number): Size {
  const { made, data } = sum(sizes);
  if (rows <= 1) return { made: Math.min(MOST, TABLE_ROWS * made), data: data + 1 };
  return { made: Math.min(MOST, rows * bytesOf({ made, data }, SEARCHED)), data: data === 0 ? 0 : data + 1 };
}

/** The call of a function in FROM. */
export function callIn(node: Node): FuncCall | undefined {
  if ('FuncCall' in node) return node.FuncCall;
  return 'List' in node ? (node.List.items ?? []).map(callIn).find((c) => c !== undefined) : undefined;
}

/** The text of `format`: each argument as often as there are directives, and the widths. */
export function formatted(template: Node | undefined, sizes: readonly Size[]): Size {
  const text = template && 'A_Const' in template ? template.A_Const.sval?.sval : undefined;
  if (text === undefined || /%[\d$-]*\*/.test(text)) return UNKNOWN;
  const directives = text.match(/%[^%]/g)?.length ?? 0;
  const widths = [...text.matchAll(/%(?:\d+\$)?-?(\d{1,9})/g)].reduce((all, [, digits]) => all + Number(digits), 0);
  return sum([sizes[0] ?? SMALL, ofBytes(4 * widths), taken(largest(sizes.slice(1)), directives)]);
}

/** An array of a value as often as its constant dimensions say. */
export function filled(value: Size, dimensions: Node | undefined): Size {
  const bare = dimensions && 'TypeCast' in dimensions ? dimensions.TypeCast.arg : dimensions;
  const counts = bare && 'A_ArrayExpr' in bare ? (bare.A_ArrayExpr.elements ?? []).map(constant) : [];
  if (counts.length === 0 || counts.includes(undefined)) return UNKNOWN;
  return repeated(value, ofBytes(counts.reduce<number>((all, n) => all * (n ?? 1), 1)));
}
