/** The steps of single calls. */
import type { FuncCall } from '@pgsql/types';
import { lastName, type Node, type SelectStmt, walk } from '../plan/tree.ts';
import {
  JSON_PATHS,
  JSON_WRITERS,
  LINEAR,
  PAIRWISE,
  PAIRWISE_OPERATORS,
  PRODUCT,
  QUADRATIC,
  REPEATING,
  SEARCH,
  SEARCH_OPERATORS,
  SERIES,
} from './functions.ts';
import { asElement, asJson, bytesOf, bytesWithNumbers, MAX_DIGITS, MAX_SIZE, plus, type Size, SMALL, sizeOf, sum, TABLE_ROWS, withMarks } from './sizes.ts';
import { wholeNumber } from './texts.ts';

/** The steps per byte of a function that reads its arguments once. */
export const STEPS_PER_BYTE = 30;
/** The steps per byte of a function that writes its arguments as JSON, as each row of a result is. */
const STEPS_PER_JSON_BYTE = 10;
/** The steps per byte of a fast function: it compares or copies its arguments, counts their characters, or converts an array to text. */
const STEPS_PER_FREE_BYTE = 5;
/**
 * The assumed size of a value of unknown length that is read once. Each row of a result is written as JSON, so such values must be allowed. A few calls that read such a
 * value are allowed too, but not a chain of them: the value may have 1 GB, and a function such as `initcap` then takes seconds.
 */
const UNKNOWN_PASS = 20_000_000;
/** The same for fast functions, of which a statement may have many. */
const UNKNOWN_FREE_PASS = 10_000_000;
/** The maximum length of a value that counts as a value of a table when an aggregate collects it: a number, a delimiter. */
export const SHORT_VALUE = 80;

/** The assumed size of a value of a table: if it is searched, as a decimal, as a text of characters, and as a set of characters, which is usually a constant. */
export const SEARCHED = 1_000;
const DIGITS = 50;
const CHARACTERS = 10_000;
const AS_SET = 1_000_000;

function integer(node: Node | undefined): number | undefined {
  const bare = node && 'TypeCast' in node ? node.TypeCast.arg : node;
  return bare && 'A_Const' in bare ? wholeNumber(bare.A_Const) : undefined;
}

/** The value of an integer constant, with or without a cast, or 0 if it is negative; undefined for other expressions. */
export const constant = (node: Node | undefined): number | undefined => {
  const number = integer(node);
  return number === undefined ? undefined : Math.max(0, number);
};

/** The absolute value of an integer constant, with or without a cast; undefined for other expressions. */
export const magnitude = (node: Node | undefined): number | undefined => {
  const number = integer(node);
  return number === undefined ? undefined : Math.abs(number);
};

/** The largest number that the constants in an expression make, or 0 if it has none. A number of copies that depends on a column is usually at least of that order. */
export function largestConstant(expression: Node | undefined): number {
  const number = magnitude(expression);
  if (number !== undefined || expression === undefined) return number ?? 0;
  if ('A_Expr' in expression) {
    const { name, lexpr, rexpr } = expression.A_Expr;
    const [left, right] = [largestConstant(lexpr), largestConstant(rexpr)];
    const symbol = lastName(name);
    if (symbol === '*') return Math.max(1, left) * Math.max(1, right);
    return symbol === '+' ? left + right : symbol === '^' ? Math.max(1, left) ** right : Math.max(left, right);
  }
  let found = 0;
  walk(expression, (node) => {
    if (node === expression) return true;
    found = Math.max(found, largestConstant(node));
    return false;
  });
  return found;
}

/** The name of a function without its schema. */
export const functionName = ({ funcname }: FuncCall): string => lastName(funcname).toLowerCase();

const digitsOf = (size: Size): number => Math.min(bytesWithNumbers(size, DIGITS), MAX_DIGITS);
/** A product with more digits is an error. */
const MAX_PRODUCT = (131_072 / 2) ** 2;
const products = (left: Size, right: Size): number => Math.min(digitsOf(left) * digitsOf(right), left.wild > 0 && right.wild > 0 ? MAX_PRODUCT : Infinity) / 16;

/** The size of the longest constant format with which `to_char` takes linear time. */
const MAX_FORMAT = 200;

/** The steps of one call of a function or operator. @param args its arguments, of which constants are used */
export function stepsOf(name: string, args: readonly Node[], sizes: readonly Size[]): number {
  const [first = SMALL, second = SMALL] = sizes;
  if (PAIRWISE.has(name) && args.length > 1) return bytesWithNumbers(first, CHARACTERS) * bytesWithNumbers(second, AS_SET);
  if (PAIRWISE_OPERATORS.has(name)) return bytesWithNumbers(first, SEARCHED) * bytesWithNumbers(second, SEARCHED);
  if (SEARCH.has(name) || SEARCH_OPERATORS.has(name)) {
    // `-`, `->` and `?` compare numbers and keys
    const bytesIn = SEARCH.has(name) || name.includes('~') ? bytesWithNumbers : bytesOf;
    const [text, pattern] = [bytesIn(first, SEARCHED), bytesIn(second, SEARCHED)];
    // ILIKE converts both to lower case
    return (text * pattern) / 8 + (name.endsWith('~~*') ? onePass(text) + onePass(pattern) : 0);
  }
  if (PRODUCT.has(name)) return products(first, second);
  if (SERIES.has(name)) return 100 * products(first, args.length > 1 ? second : first);
  const bytes = bytesWithNumbers(sum(sizes), SEARCHED);
  if (REPEATING.has(name)) return freePasses(sizes);
  if (name === 'to_char' && second.data === 0 && second.made <= MAX_FORMAT) return onePass(bytes);
  if (LINEAR.has(name))
    return sizes.reduce(
      (steps, size) => steps + (JSON_WRITERS.has(name) ? onePass(bytesOf(size, SEARCHED), STEPS_PER_JSON_BYTE) : onePass(bytesWithNumbers(size, SEARCHED))),
      0,
    );
  if (!JSON_PATHS.has(name)) return QUADRATIC.has(name) ? bytes ** 2 : bytes ** 2 / 8;
  const { comparisons, parts, deep } = pathCounts(args[1]);
  const document = bytesWithNumbers(first, SEARCHED);
  // each of several `**` visits all levels below each value that the one before has found, and a result may copy them
  const visits = deep > 1 ? document * (document / 4) ** deep : 0;
  return onePass(bytes) + 2 * comparisons * (document * parts) ** 2 + visits;
}

/** The steps of reading a value once. */
export const onePass = (bytes: number, stepsPerByte = STEPS_PER_BYTE): number => stepsPerByte * (bytes < MAX_SIZE ? bytes : UNKNOWN_PASS);

/** The steps of a fast function or operator for one of its arguments. */
export function freePass(size: Size): number {
  const bytes = bytesOf(size, SEARCHED);
  return STEPS_PER_FREE_BYTE * (bytes < MAX_SIZE ? bytes : UNKNOWN_FREE_PASS);
}

/** The steps of a fast function or operator for all its arguments. */
export const freePasses = (sizes: readonly Size[]): number => sizes.reduce((steps, size) => steps + freePass(size), 0);

/** The number of values that an operator compares with its left operand: the length of a list, otherwise 1. */
export const countOf = (right: Node | undefined): number => (right && 'List' in right ? (right.List.items?.length ?? 1) : 1);

/** The operand of a comparison in a JSON path, if it is a single value: a number, a string, a keyword, or an expression that starts with a number. */
const SINGLE_VALUE_AFTER = /^ ?(- ?)?([\d.]|"|true\b|false\b|null\b)/i;
const SINGLE_VALUE_BEFORE = /(^|[(&|!]) ?(- ?)?(\d{1,40}(\.\d{1,40})?|"|true|false|null) ?$/i;
/** Longer paths are not analyzed. */
const MAX_PATH_LENGTH = 10_000;

/**
 * The number of comparisons in a JSON path between parts of the document, of parts of the path that may select several values, and of `**`. A comparison takes each
 * pair of array elements, with or without `[*]`: in lax mode PostgreSQL unwraps arrays.
 */
function pathCounts(path: Node | undefined): { readonly comparisons: number; readonly parts: number; readonly deep: number } {
  const bare = path && 'TypeCast' in path ? path.TypeCast.arg : path;
  const whole = bare && 'A_Const' in bare ? bare.A_Const.sval?.sval : undefined;
  if (whole === undefined || whole.length > MAX_PATH_LENGTH) return { comparisons: 10, parts: 10, deep: 1 };
  const text = whole.replace(/"(?:[^"\\]|\\.)*"/gs, '"').replace(/\s+/g, ' ');
  let comparisons = 0;
  for (const { 0: sign, index } of text.matchAll(/==|!=|<>|<=|>=|<|>/g))
    if (!SINGLE_VALUE_AFTER.test(text.slice(index + sign.length)) && !SINGLE_VALUE_BEFORE.test(text.slice(0, index))) comparisons++;
  return { comparisons, parts: Math.max(1, text.match(/\*|,|\bto\b|\blast\b/g)?.length ?? 0), deep: text.match(/\*\*/g)?.length ?? 0 };
}

/** How often PostgreSQL has the left operand of an operator: BETWEEN and IN compare it several times. */
export function copiesOfLeft(kind: string | undefined, left: Node | undefined, right: Node | undefined): number {
  if (kind?.includes('BETWEEN')) return kind.endsWith('_SYM') ? 4 : 2;
  if (kind !== 'AEXPR_IN' || !left || !right || !('List' in right)) return 1;
  const items = right.List.items ?? [];
  // constants become one array, unless they are rows
  return 'RowExpr' in left ? items.length : 1 + items.filter((item) => !isConstantItem(item)).length;
}

/** True for a constant, also with a cast. */
export const isConstantItem = (item: Node | undefined): boolean =>
  item !== undefined && ('TypeCast' in item ? isConstantItem(item.TypeCast.arg) : 'A_Const' in item || 'ParamRef' in item);

/** The size of the collected values of several rows. */
export function collected(name: string, sizes: readonly Size[], rows: number): Size {
  const { wild, raw } = sum(sizes);
  const isComposed = (name === 'string_agg' && sizes.some((s) => s.made > 0)) || (/^array/i.test(name) && sizes.some((s) => !s.fixed && s.made > 0));
  const all = withMarks(collectedValues(name, sizes, rows), wild * (rows <= 1 ? TABLE_ROWS : rows), isComposed ? true : raw);
  return name.startsWith('json') ? asJson(all) : all;
}

function collectedValues(name: string, sizes: readonly Size[], rows: number): Size {
  const value = sum(sizes);
  const { made, data, digits } = name === 'string_agg' || sizes.every((s) => s.fixed) ? value : plus(asElement({ ...value, data: 0 }), sizeOf(0, value.data));
  const [each, count] = name === 'array_agg' || name === 'ARRAY' ? [sizes.length === 1 ? sizes[0] : value, rows] : [undefined, undefined];
  // the number of rows is unknown, so a short value counts like a value of a table
  if (rows <= 1) return sizeOf(value.made <= SHORT_VALUE ? value.made : Math.min(MAX_SIZE, TABLE_ROWS * made), data + 1, undefined, each, count);
  const bytes = Math.min(MAX_SIZE, rows * bytesOf(sizeOf(made, data), SEARCHED));
  return { ...sizeOf(bytes, data === 0 ? 0 : data + 1, undefined, each, count), digits: Math.min(bytes, rows * digits) };
}

/** The call in a function of FROM. */
export function callIn(node: Node): FuncCall | undefined {
  if ('FuncCall' in node) return node.FuncCall;
  if (!('List' in node)) return undefined;
  for (const item of node.List.items ?? []) {
    const call = callIn(item);
    if (call !== undefined) return call;
  }
  return undefined;
}

/** The call in a function of FROM, or else the whole item. */
export function itemOf(node: Node): Node {
  const call = callIn(node);
  return call ? { FuncCall: call } : node;
}

/** The names of the functions in an item of FROM. */
export function functionNames(node: Node): readonly string[] {
  if ('FuncCall' in node) return [functionName(node.FuncCall)];
  if (!('List' in node)) return [];
  const found: string[] = [];
  for (const item of node.List.items ?? []) found.push(...functionNames(item));
  return found;
}

/** A statement without the object that it makes of each row (lower/output.ts): one pass over all columns of FROM, whose result nothing in the statement reads. */
export function besidesRow(query: SelectStmt): readonly SelectStmt[] {
  const { targetList = [], ...rest } = query;
  const [item] = targetList;
  const value = targetList.length === 1 && item && 'ResTarget' in item ? item.ResTarget.val : undefined;
  if (!value) return [query];
  const inner = 'SubLink' in value && value.SubLink.subLinkType === 'EXPR_SUBLINK' ? value.SubLink.subselect : undefined;
  if (inner && 'SelectStmt' in inner) return [rest, ...besidesRow(inner.SelectStmt)];
  const call = 'FuncCall' in value ? value.FuncCall : undefined;
  const [row] = call?.args ?? [];
  return call?.args?.length === 1 && functionName(call) === 'row_to_json' && row && 'ColumnRef' in row ? [rest] : [query];
}
