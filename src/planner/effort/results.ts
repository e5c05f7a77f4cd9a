/** The sizes of what casts, operators and functions return. */
import type { TypeName } from '@pgsql/types';
import { lastName, type Node } from '../plan/tree.ts';
import { names, PLAIN, SHORT } from './functions.ts';
import {
  bytesOf,
  copies,
  elementsIn,
  elementsOfBoth,
  FIXED,
  largest,
  MAX_SIZE,
  ofBytes,
  plus,
  repeated,
  type Size,
  SMALL,
  sizeOf,
  sum,
  times,
  UNKNOWN,
  unnested,
  withElements,
  withoutElements,
} from './sizes.ts';
import { constant, largestConstant, MAX_DIGITS, SEARCHED, SHORT_VALUE, TABLE_ROWS } from './steps.ts';

/** Types with a fixed length. */
const FIXED_TYPES = names('int2 int4 int8 float4 float8 bool date time timetz timestamp timestamptz interval uuid money oid');
/** Operators on numbers and bits. */
const ARITHMETIC = names('- + * / % & | # ^ << >>');
/** Operators that return a boolean. */
const COMPARISONS = names('= <> != < > <= >= ~ ~* !~ !~* ~~ !~~ ~~* !~~* @> <@ && ? ?| ?& @? @@');
/** Functions that write values as JSON. */
const JSON_BUILDERS = /^(jsonb?_build_(array|object)|to_jsonb?|row_to_json|array_to_json)$/;

/** The size of a value after a cast to a type. */
export function sizeOfCast(type: string, size: Size): Size {
  if (FIXED_TYPES.has(type)) return FIXED;
  return type === 'numeric' ? sizeOf(Math.min(size.made, MAX_DIGITS), size.data) : withoutElements(size);
}

/** Types whose values PostgreSQL pads to the length that a cast gives. */
const PADDED_TYPES = names('bpchar char bit');

/** The length to which a cast to a type pads a value; 0 if it does not. */
export function paddingOf(type: TypeName | undefined): number {
  return PADDED_TYPES.has(lastName(type?.names)) ? (constant(type?.typmods?.[0]) ?? 0) : 0;
}

/** The lengths to which the types in an expression pad values. */
export function paddingIn(value: unknown): number {
  if (value === null || typeof value !== 'object') return 0;
  let padding = 'typmods' in value ? paddingOf(value as TypeName) : 0;
  for (const inner of Object.values(value)) padding += paddingIn(inner);
  return padding;
}

/** True for an operator whose result has a fixed length if both operands have one. */
export const isArithmetic = (symbol: string): boolean => ARITHMETIC.has(symbol);

/** The size of an operator's result. */
export function sizeOfOperation(symbol: string, left: Size, right: Size): Size {
  if (COMPARISONS.has(symbol)) return SMALL;
  // `#>`, `#-` and the like return a part of the left operand
  const isPart = symbol !== '-' && (symbol.startsWith('-') || symbol.startsWith('#'));
  if (isPart) return left;
  return symbol === '||' ? withElements(plus(left, right), elementsOfBoth(left, right)) : plus(left, right);
}

/** The size of a function's result, if it depends only on the sizes of its arguments. */
export function sizeOfCall(name: string, args: readonly Node[], sizes: readonly Size[], isVariadic = false): Size {
  const [first = SMALL, second = SMALL, third = SMALL] = sizes;
  if (name === 'unnest') return unnested(sizes);
  if (name === 'translate') return times(first, 4);
  // a pattern may match between any two characters
  if (name === 'regexp_replace') return replaced(first, third, 1 + charactersOf(third));
  if (name === 'replace') return replaced(first, third, Math.ceil(charactersOf(third) / lengthOf(args[1])));
  if (name === 'format') return formatted(args[0], sizes);
  if (name === 'array_fill') return filled(first, args[1]);
  if (name === 'array_to_string') return sum([first, forEach(first, sum(sizes.slice(1)))]);
  if (name === 'array_replace') return sum([first, forEach(first, third)]);
  if (name === 'concat_ws') return sum([...sizes, isVariadic ? forEach(second, first) : copies(first, sizes.length - 2)]);
  if (PADDED_TYPES.has(name) && args.length > 1) return plus(first, ofBytes(constant(args[1]) ?? MAX_SIZE));
  if (SHORT.has(name)) return SMALL;
  if (PLAIN.has(name)) return sum(sizes);
  // escapes make JSON longer, usually by little
  return sum([SMALL, times(sum(sizes), JSON_BUILDERS.test(name) ? 2 : 6)]);
}

/** A value once for each element of an array. */
const forEach = (array: Size, value: Size): Size => {
  const elements = elementsIn(array);
  return copies(value, array.data > 0 && value.made > SHORT_VALUE ? Math.max(TABLE_ROWS, elements) : elements);
};

/** A text of more bytes by a constant counts as a text that the statement makes, although the number of copies also depends on a column. */
const LARGE = 1e7;

/** The result of `repeat`, `lpad` or `rpad`. @param expression the number of copies or characters; `count`: what is known of it */
export function sizeOfRepetition(name: string, text: Size, count: Size, expression: Node | undefined): Size {
  const [isRepeat, least] = [name === 'repeat', count.made < MAX_SIZE ? 0 : largestConstant(expression)];
  const number = least * (isRepeat ? text.made : 1) > LARGE ? ofBytes(least) : count;
  return isRepeat ? repeated(text, number) : times(number, 4);
}

/** The maximum growth of a text by constants that counts as a longer value of a table, not as a text that the statement makes. */
const MAX_GROWTH = 16;

/** The result of `replace` and `regexp_replace`. @param growth how many times as long as the text the result may be */
function replaced(text: Size, replacement: Size, growth: number): Size {
  if (replacement.data === 0 && growth <= MAX_GROWTH) return times(text, Math.max(1, growth));
  return sum([text, bytesOf(replacement, SEARCHED) <= 1 ? SMALL : copies(replacement, bytesOf(text, SEARCHED))]);
}

/** The characters of a text that is a constant: its size allows two bytes for each. */
const charactersOf = ({ made }: Size): number => made / 2;

/** The length of a constant text, at least 1; 1 for other expressions. */
const lengthOf = (node: Node | undefined): number => Math.max(1, node && 'A_Const' in node ? (node.A_Const.sval?.sval?.length ?? 1) : 1);

/** The result of `format`: the template, the widths, and the longest argument once for each directive. */
function formatted(template: Node | undefined, sizes: readonly Size[]): Size {
  const text = template && 'A_Const' in template ? template.A_Const.sval?.sval : undefined;
  if (text === undefined || /%[\d$-]*\*/.test(text)) return UNKNOWN;
  const directives = text.match(/%[^%]/g)?.length ?? 0;
  const widths = [...text.matchAll(/%(?:\d+\$)?-?(\d{1,9})/g)].reduce((all, [, digits]) => all + Number(digits), 0);
  return sum([sizes[0] ?? SMALL, ofBytes(4 * widths), copies(largest(sizes.slice(1)), directives)]);
}

/** The result of `array_fill`: as many copies of a value as the constant dimensions say. */
function filled(value: Size, dimensions: Node | undefined): Size {
  const bare = dimensions && 'TypeCast' in dimensions ? dimensions.TypeCast.arg : dimensions;
  const counts = bare && 'A_ArrayExpr' in bare ? (bare.A_ArrayExpr.elements ?? []).map(constant) : [];
  if (counts.length === 0 || counts.includes(undefined)) return UNKNOWN;
  return repeated(value, ofBytes(counts.reduce<number>((all, n) => all * (n ?? 1), 1)));
}
