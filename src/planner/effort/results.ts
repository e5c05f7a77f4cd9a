/** The sizes of what casts, operators and functions return. */
import type { TypeName } from '@pgsql/types';
import { lastName, type Node } from '../plan/tree.ts';
import { COLLECTING, FREE_TYPES, JSON_PATHS, KEEPING, NUMERIC, names, PLAIN, REPLACING, SHORT, SPLITTING } from './functions.ts';
import {
  asElement,
  asJson,
  bytesOf,
  bytesWithNumbers,
  copies,
  elementsIn,
  elementsOfBoth,
  FIXED,
  largest,
  MAX_DIGITS,
  MAX_SIZE,
  ofBytes,
  ofNumber,
  plus,
  repeated,
  retyped,
  type Size,
  SMALL,
  single,
  sizeOf,
  sum,
  TABLE_ROWS,
  times,
  UNKNOWN,
  unnested,
  withElements,
  withMarks,
  withNumbers,
  withoutDigits,
} from './sizes.ts';
import { constant, largestConstant, SEARCHED, SHORT_VALUE } from './steps.ts';
import { wholeNumber } from './texts.ts';

/** Types with a fixed length. */
const FIXED_TYPES = names('int2 int4 int8 float4 float8 bool date time timetz timestamp timestamptz interval uuid money oid');
/** The size of a value with hexadecimal digits: a part of it may be a number with an exponent. */
const DIGEST = withMarks(FIXED, 0, true);
/** Types whose values have no decimals, or have them as they are written. */
const NUMBERLESS = names(`
  json xml bytea bit varbit tsvector tsquery inet cidr macaddr macaddr8 point box circle lseg line path polygon int4range int8range daterange tsrange tstzrange
  int4multirange int8multirange datemultirange tsmultirange tstzmultirange`);
/** Operators on numbers and bits. */
const ARITHMETIC = names('- + * / % & | # ^ << >>');
/** Those of them whose result has no parts that are values of a document. */
const NUMBERS = names('+ * / %');
/** Operators that return a boolean. */
const COMPARISONS = names('= <> != < > <= >= ~ ~* !~ !~* ~~ !~~ ~~* !~~* @> <@ && ? ?| ?& @? @@');
/** Functions that write values as JSON. */
export const JSON_BUILDERS = /^(jsonb?_build_(array|object)|to_jsonb?|row_to_json|array_to_json)$/;

/** The size of a value after a cast to a type that is no array. @param typmods the numbers of digits of a decimal */
export function sizeOfCast(type: string, size: Size, typmods: readonly Node[] = []): Size {
  if (FIXED_TYPES.has(type)) return type === 'uuid' ? DIGEST : FIXED;
  if (FREE_TYPES.has(type)) return single(asText(size));
  if (type !== 'numeric') return NUMBERLESS.has(type) ? retyped(size) : withNumbers(retyped(size), false);
  const digits = typmods.reduce((all, t) => all + Math.abs(('A_Const' in t ? wholeNumber(t.A_Const) : undefined) ?? MAX_DIGITS), AROUND);
  const number = ofNumber(Math.min(size.made, typmods.length > 0 ? digits : MAX_DIGITS, MAX_DIGITS), size.data);
  return typmods.length > 0 ? number : withMarks(number, Math.min(withNumbers(size, true).wild, MAX_DIGITS), undefined);
}

/** The size of the text of a value: that of a row or document is composed. */
const asText = (size: Size): Size => (size.inJson && size.made > 0 ? withMarks(size, size.wild, true) : size);

/** The size of a value after a cast to an array of a type. */
export function sizeOfArrayCast(type: string, size: Size, typmods: readonly Node[] = []): Size {
  if (FIXED_TYPES.has(type) && type !== 'uuid') return withElements(sum([size]), { each: FIXED, count: undefined });
  return isBounded(type, type === 'numeric' ? [] : typmods) ? sum([size]) : withNumbers(sum([size]), false);
}

/** True for a type of which a value is not much longer than the text that it is written as. */
const isBounded = (type: string, typmods: readonly Node[] = []): boolean =>
  FIXED_TYPES.has(type) || FREE_TYPES.has(type) || NUMBERLESS.has(type) || typmods.length > 0;

/** True if a text that becomes a value of a type may get many digits. */
export const hasNumbers = (type: TypeName | undefined): boolean => !isBounded(lastName(type?.names), type?.typmods);

/** Types whose values PostgreSQL pads to the length that a cast gives. */
const PADDED_TYPES = names('bpchar char bit');

/** The length to which a cast to a type pads a value; 0 if it does not. */
export function paddingOf(type: TypeName | undefined): number {
  return PADDED_TYPES.has(lastName(type?.names)) ? (constant(type?.typmods?.[0]) ?? 0) : 0;
}

/** The lengths to which the types in an expression pad values. */
export function paddingIn(value: unknown): number {
  if (value === null || typeof value !== 'object') return 0;
  let padding = 0;
  if (Array.isArray(value)) {
    for (let i = 0; i < value.length; i++) padding += paddingIn(value[i]);
    return padding;
  }
  if ('typmods' in value) padding = paddingOf(value as TypeName);
  for (const member in value) {
    const inner = (value as Record<string, unknown>)[member];
    if (typeof inner === 'object' && member !== 'ColumnRef' && member !== 'A_Const') padding += paddingIn(inner);
  }
  return padding;
}

/** True for an operator whose result has a fixed length if both operands have one. */
export const isArithmetic = (symbol: string): boolean => ARITHMETIC.has(symbol);

/** The size of an operator's result. */
export function sizeOfOperation(symbol: string, left: Size, right: Size, isPrefix = false): Size {
  // of bits
  if (symbol === '~' && isPrefix) return retyped(right);
  if (COMPARISONS.has(symbol)) return SMALL;
  // `#>`, `#-` and the like return a part of the left operand
  const isPart = symbol !== '-' && (symbol.startsWith('-') || symbol.startsWith('#'));
  if (isPart) return retyped(symbol.endsWith('>>') ? asText(left) : left);
  const both = plus(left, right);
  // a sum of sets of ranges, or of paths, has many values
  if (NUMBERS.has(symbol)) return withMarks({ ...both, digits: Math.min(ofNumber(both.made, 0).digits, both.digits + SMALL.digits) }, both.wild, undefined);
  if (symbol !== '||') return withMarks(both, both.wild, undefined);
  const all = withElements(both, elementsOfBoth(left, right));
  return withMarks(all, all.wild, all.raw || (all.made > 0 ? true : undefined));
}

/** The size of a function's result, if it depends only on the sizes of its arguments. */
export function sizeOfCall(name: string, args: readonly Node[], sizes: readonly Size[], isVariadic = false): Size {
  if (name === 'md5') return DIGEST;
  const length = lengthOfCall(name, args, sizes, isVariadic);
  if (SHORT.has(name) || length.fixed) return length;
  const size = isSplitting(name) ? withoutDigits(length) : length;
  const all = sum(sizes);
  const marked = withMarks(size, Math.max(size.wild, all.wild), isRaw(name, args, sizes) ? true : undefined);
  // of a number that a document has, and of one in a path
  return JSON_PATHS.has(name) || WITH_NUMBERS.test(name) ? withNumbers(marked, false) : marked;
}

/** Functions whose results have decimals that their arguments have as texts. */
const WITH_NUMBERS = /^(jsonb|num(eric|range|multirange)|jsonb?_(to|populate)_record.*)$/;
/** A replacement that makes no number longer: no digits and no exponent, except references to parts of the text. */
const isHarmless = (node: Node | undefined): boolean =>
  node !== undefined && 'A_Const' in node && !/[e\d\\]/i.test((node.A_Const.sval?.sval ?? 'e').replace(/\\[\d&]/g, ''));

/** True for a replacement that repeats parts of the text. */
const hasReferences = (node: Node | undefined): boolean => node !== undefined && 'A_Const' in node && /\\[\d&]/.test(node.A_Const.sval?.sval ?? '');

/** True for a format of `to_char` that writes neither an exponent nor texts of its own. */
const hasNoExponent = (format: Node | undefined): boolean => format !== undefined && 'A_Const' in format && !/["\\e]/i.test(format.A_Const.sval?.sval ?? 'e');

/** Functions that put texts together, and keep each number in them as it is. */
const JOINING = /^(array_to_string|concat)/;

/** True for a function that may make several values of the digits of a number. */
const isSplitting = (name: string): boolean => SPLITTING.has(name) || !(KEEPING.has(name) || JOINING.test(name) || JSON_BUILDERS.test(name));

/** True if a function composes a text that may be a number with more digits than the text has characters. */
function isRaw(name: string, args: readonly Node[], sizes: readonly Size[]): boolean {
  if (sizes.some((s) => s.raw)) return true;
  if (KEEPING.has(name) || JSON_BUILDERS.test(name) || COLLECTING.has(name) || (name === 'to_char' && hasNoExponent(args[1]))) return false;
  const [text] = args;
  const isRearranged = text !== undefined && 'A_Const' in text && hasReferences(args[2]);
  return REPLACING.has(name) ? isRearranged || !isHarmless(args[2]) : sizes.some((s) => s.made > 0);
}

function lengthOfCall(name: string, args: readonly Node[], sizes: readonly Size[], isVariadic: boolean): Size {
  const [first = SMALL, second = SMALL, third = SMALL] = sizes;
  if (name === 'unnest') return unnested(sizes);
  if (name === 'translate') return times(first, 4);
  // a pattern may match between any two characters
  if (name === 'regexp_replace') return replaced(first, third, 1 + charactersOf(third));
  if (name === 'replace') return replaced(first, third, Math.ceil(charactersOf(third) / lengthOf(args[1])));
  if (name === 'format') return single(formatted(args[0], sizes));
  // the format decides the length
  if (name === 'to_char') return single(plus(SMALL, times(second, 6)));
  if (name === 'array_fill') return filled(first, args[1]);
  if (name === 'array_to_string') return sum([first, forEach(first, sum(sizes.slice(1)))]);
  if (name === 'array_replace') return sum([first, forEach(first, third)]);
  if (name === 'concat_ws') return sum([...sizes, isVariadic ? forEach(second, first) : copies(first, sizes.length - 2)]);
  if (PADDED_TYPES.has(name) && args.length > 1) return plus(first, ofBytes(constant(args[1]) ?? MAX_SIZE));
  if (SPLITTING.has(name)) return split(first);
  if (name === 'polygon' && args.length > 1) return times(ofBytes(constant(args[0]) ?? MAX_SIZE), POINT);
  if (SHORT.has(name)) return SMALL;
  // the mean of integers is a decimal
  if (NUMERIC.has(name)) return sizes.every((s) => s.fixed) ? (name === 'avg' ? SMALL : FIXED) : largest([SMALL, ...sizes]);
  const digits = digitsOfCall(name, args, sizes);
  if (digits !== undefined) return digits;
  if (PLAIN.has(name)) return sum([...sizes, ofBytes(AROUND)]);
  // each line has as many spaces as its depth in the document
  if (name === 'jsonb_pretty') return plus(times(first, 6), ofBytes(Math.min(first.made ** 2, MAX_SIZE - 1)));
  // escapes make JSON longer, usually by little
  return JSON_BUILDERS.test(name) ? asJson(plus(SMALL, times(sum(sizes), 2))) : plus(SMALL, times(sum(sizes), 6));
}

/** A value once for each element of an array. */
const forEach = (array: Size, value: Size): Size => {
  const elements = elementsIn(array);
  return copies(value, array.data > 0 && value.made > SHORT_VALUE ? Math.max(TABLE_ROWS, elements) : elements);
};

/** A text of more bytes by a constant counts as a text that the statement makes, although the number of copies also depends on a column. */
const LARGE = 1e7;

/** The result of `repeat`, `lpad` or `rpad`. @param count what is known of the number of copies or characters, the second of `args` */
export function sizeOfRepetition(name: string, text: Size, count: Size, args: readonly Node[]): Size {
  const [isRepeat, least] = [name === 'repeat', count.made < MAX_SIZE ? 0 : largestConstant(args[1])];
  const number = least * (isRepeat ? text.made : 1) > LARGE ? ofBytes(least) : count;
  if (isRepeat) return repeated(text, number);
  const padded = times(number, 4);
  // with a third argument they compose a text
  return args.length > 2 ? withMarks(padded, padded.wild, true) : padded;
}

/** The bytes of a point of a polygon that a circle becomes. */
const POINT = 64;
/** The bytes that a function adds around its arguments at most. */
const AROUND = 4;
/** The digits after the point that `round` may add. */
const MAX_SCALE = 16_383;
/** The decimal logarithm of e. */
const DIGITS_OF_E = 0.44;

/** The parts of a text as an array: a part may be a single character, with quotes and a comma, or NULL. */
const split = (text: Size): Size => withElements(plus(times(text, 5), SMALL), { each: text, count: Math.max(1, bytesOf(text, SEARCHED)) });

/** The result of a function whose value depends on a number: the digits of decimals; undefined for other functions. */
function digitsOfCall(name: string, args: readonly Node[], sizes: readonly Size[]): Size | undefined {
  const [first = SMALL, second = SMALL] = sizes;
  if (name === 'round' || name === 'trunc') return args.length < 2 ? undefined : plus(first, ofBytes(Math.min(MAX_SCALE, constant(args[1]) ?? MAX_SCALE)));
  if (name === 'pow' || name === 'power') return sizeOfPower(first, second, args[1]);
  if (name === 'exp') return first.fixed ? FIXED : withUnknown(plus(SMALL, sizeOf(numberIn(args[0], first) * DIGITS_OF_E, first.data)), args[0]);
  if (name === 'factorial') return ofBytes(Math.min(MAX_DIGITS, 5 * (constant(args[0]) ?? MAX_DIGITS)));
  return undefined;
}

/** The result of a power of decimals. */
export function sizeOfPower(base: Size, exponent: Size, expression: Node | undefined): Size {
  if (base.fixed && exponent.fixed) return FIXED;
  const number = numberIn(expression, exponent);
  // most values of tables are much shorter than assumed
  const size = plus(SMALL, sizeOf(Math.min(MAX_DIGITS, Math.max(1, base.made) * number), base.data * Math.max(1, Math.ceil(number / 5)) + exponent.data));
  return withUnknown(base.wild > 0 ? withMarks(size, MAX_DIGITS, undefined) : size, expression);
}

/** A number that may have many digits, because the exponent on which they depend is not known. */
const withUnknown = (size: Size, exponent: Node | undefined): Size => (constant(exponent) === undefined ? withMarks(size, MAX_DIGITS, undefined) : size);

/** The assumed value of a number that is neither constant nor a value of a table. */
const UNKNOWN_NUMBER = 5_000;

/** The value of a number, at most MAX_DIGITS. One that is not constant is assumed to be at least as large as the largest constant in it. */
const numberIn = (expression: Node | undefined, size: Size): number =>
  Math.min(MAX_DIGITS, constant(expression) ?? Math.max(size.data > 0 ? 0 : UNKNOWN_NUMBER, largestConstant(expression)));

/** The maximum growth of a text by constants that counts as a longer value of a table, not as a text that the statement makes. */
const MAX_GROWTH = 16;

/** The result of `replace` and `regexp_replace`. @param growth how many times as long as the text the result may be */
function replaced(text: Size, replacement: Size, growth: number): Size {
  if (replacement.data === 0 && growth <= MAX_GROWTH) return plus(times(text, Math.max(1, growth)), replacement);
  return sum([text, bytesOf(replacement, SEARCHED) <= 1 ? SMALL : copies(replacement, bytesWithNumbers(text, SEARCHED))]);
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
  return sum([
    sizes[0] ?? SMALL,
    ofBytes(4 * widths),
    directives <= MAX_GROWTH ? times(largest(sizes.slice(1)), directives) : copies(largest(sizes.slice(1)), directives),
  ]);
}

/** The result of `array_fill`: as many copies of a value as the constant dimensions say. */
function filled(value: Size, dimensions: Node | undefined): Size {
  const bare = dimensions && 'TypeCast' in dimensions ? dimensions.TypeCast.arg : dimensions;
  const counts = bare && 'A_ArrayExpr' in bare ? (bare.A_ArrayExpr.elements ?? []).map(constant) : [];
  if (counts.length === 0 || counts.includes(undefined)) return UNKNOWN;
  return repeated(asElement(value), ofBytes(counts.reduce<number>((all, n) => all * (n ?? 1), 1)));
}
