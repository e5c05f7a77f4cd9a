/**
 * Stored conditions that may raise an error on a value: of policies, logic concepts and mappings. The caller's comparisons must not decide for which rows such a condition is
 * computed. Otherwise the caller could find a hidden value by guessing: the right guess raises an error, the others return no rows.
 */
import type { FuncCall } from '@pgsql/types';
import { visited } from '../../budget.ts';
import { cast, clone, isSubQuery, lastName, type Node, nameOf, nullValue, operator, rewrite, walk } from '../plan/tree.ts';
import { COMPUTED_TYPES } from './column-types.ts';
import { convertedAs } from './conversions.ts';
import { isTotal } from './total.ts';

/**
 * True if a condition may raise an error on some rows and not on others. The time that it takes does not count: its author knows the tables.
 * @param isOverTables whether its columns are those of tables, whose types are not known here
 */
export function mayFail(condition: unknown, isInner = false, isOverTables = false): boolean {
  const simpler = simplified(condition, isOverTables);
  return !isTotal(simpler, isInner, true) || (isOverTables && (mayBeFloat(simpler) || mayBeGeometry(condition)));
}

/** Functions that raise an error on no value of one argument if the others are constants, with the position of that argument; undefined means any. */
const SAFE_FUNCTIONS: ReadonlyMap<string, number | undefined> = new Map([
  ['left', undefined],
  ['right', undefined],
  ['starts_with', undefined],
  ['strpos', undefined],
  ['position', undefined],
  ['btrim', undefined],
  ['ltrim', undefined],
  ['rtrim', undefined],
  ['substring', 0],
  ['extract', 1],
]);
/** The units to which `date_trunc` truncates without leaving the range of timestamps. A date may not fit in one: conversions.ts. */
const SAFE_UNITS = new Set(['microseconds', 'milliseconds', 'second', 'minute', 'hour', 'day', 'week', 'month', 'quarter', 'year']);
/** Operators that raise an error on no left value if the right one is a constant. */
const SAFE_OPERATORS = new Set(['?', '?|', '?&', '@>', '<@', '&&']);
/** The same for values of jsonb. `json` keeps texts that PostgreSQL refuses to convert. */
const SAFE_JSONB_OPERATORS = new Set(['->', '->>', '#>', '#>>']);

/** A condition without the parts that raise an error on all rows or on none, as far as they can be recognised: what is computed from constants, LIKE with a constant pattern. */
export function simplified<T>(condition: T, isOverTables = false): T {
  const tree = clone(condition);
  const varying = new Set<object>();
  noteVarying(tree, varying);
  const isConstant = (n: Node): boolean => !varying.has(n);
  const replace = (n: Node): Node | undefined => {
    // a branch may be computed for some rows only, and the types of the branches are converted
    if ('CaseExpr' in n || 'CoalesceExpr' in n || 'MinMaxExpr' in n) return n;
    // CURRENT_DATE and the like
    if ('SQLValueFunction' in n) return nullValue();
    if (('A_Expr' in n || 'FuncCall' in n || 'A_ArrayExpr' in n || 'TypeCast' in n) && isConstant(n))
      return isTotal(n) ? n : mayBeFloat(n) ? cast(nullValue(), 'double precision') : nullValue();
    if ('FuncCall' in n) {
      const args = n.FuncCall.args ?? [];
      const [only, ...others] = args.filter((a) => !isConstant(a));
      if (only === undefined || others.length > 0 || !isSafeCall(n.FuncCall, args.indexOf(only), isOverTables)) return undefined;
      return lastName(n.FuncCall.funcname) === 'date_trunc' ? operator('=', simpler(only), cast(nullValue(), 'timestamptz')) : simpler(only);
    }
    const { kind, lexpr, rexpr, name } = 'A_Expr' in n ? n.A_Expr : {};
    if (!lexpr || !rexpr || !isConstant(rexpr)) return undefined;
    if ((kind === 'AEXPR_LIKE' || kind === 'AEXPR_ILIKE') && isPattern(rexpr)) return operator('=', simpler(lexpr), nullValue());
    const isSafe =
      (SAFE_OPERATORS.has(lastName(name)) && !(isOverTables && mayBeGeometry(rexpr))) || (!isOverTables && SAFE_JSONB_OPERATORS.has(lastName(name)));
    return kind === 'AEXPR_OP' && isSafe ? simpler(lexpr) : undefined;
  };
  const simpler = (n: Node): Node => rewrite(n, replace) as Node;
  return rewrite(tree, replace) as T;
}

/** The beginning of the text of a point, box, circle, path or polygon: two numbers. */
const TWO_NUMBERS = /^[<[(\s]*[-+.\d][-+.\de\s]*,/i;

/** True if a text may be a geometric constant. In doubt the answer is yes. `[1,2)` is a range. */
const isGeometry = (value: string): boolean => TWO_NUMBERS.test(value) && (value.includes('(') || !value.trimStart().startsWith('['));

/** True if a part of a tree may be a geometric constant. Comparisons and operators of geometric values overflow: `circle = circle` compares areas. */
function mayBeGeometry(tree: unknown): boolean {
  let found = false;
  walk(tree, (n) => {
    if ('A_Const' in n) found ||= isGeometry(n.A_Const.sval?.sval ?? '');
    if ('TypeCast' in n) found ||= COMPUTED_TYPES.has(lastName(n.TypeCast.typeName?.names));
    return !found;
  });
  return found;
}

/** Functions that return floats. Not every `numeric` value next to a float fits in one. */
const FLOAT_FUNCTIONS =
  /^(sqrt|cbrt|exp|ln|log|log10|pow|power|pi|degrees|radians|a?(sin|cos|tan)[hd]?|cotd?|atan2d?|date_part|float[48]|random|ts_rank(_cd)?|.*similarity)$/;
const FLOAT_OPERATORS = new Set(['^', '|/', '||/', '<->']);

/** True if a part of a tree may be a float: a cast, or a call. */
function mayBeFloat(tree: unknown): boolean {
  let found = false;
  walk(tree, (n) => {
    if ('TypeCast' in n) found ||= convertedAs(lastName(n.TypeCast.typeName?.names)) === 'float';
    if ('FuncCall' in n) found ||= FLOAT_FUNCTIONS.test(lastName(n.FuncCall.funcname)) || isOwn(n.FuncCall);
    if ('A_Expr' in n) found ||= FLOAT_OPERATORS.has(lastName(n.A_Expr.name));
    return !found;
  });
  return found;
}

/** True for a function of the datasource. It may have the name of a built-in one. */
const isOwn = ({ funcname = [] }: FuncCall): boolean => funcname.length > 1 && nameOf(funcname[0]) !== 'pg_catalog';

/** @param at the position of the only argument that is not a constant */
function isSafeCall(call: FuncCall, at: number, isOverTables: boolean): boolean {
  if (isOwn(call)) return false;
  const { funcname, args = [] } = call;
  const name = lastName(funcname);
  if (name === 'date_trunc') return !isOverTables && at === 1 && args.length === 2 && SAFE_UNITS.has(textOf(args[0]));
  return SAFE_FUNCTIONS.has(name) && (SAFE_FUNCTIONS.get(name) ?? at) === at;
}

const textOf = (node: Node | undefined): string => (node && 'A_Const' in node ? (node.A_Const.sval?.sval ?? '') : '').toLowerCase();

/** Notes what names a column or asks a sub-query. @returns whether the value does */
function noteVarying(value: unknown, varying: Set<object>): boolean {
  if (value === null || typeof value !== 'object') return false;
  visited();
  let varies = 'ColumnRef' in value || isSubQuery(value);
  for (const member of Object.values(value)) if (noteVarying(member, varying)) varies = true;
  if (varies) varying.add(value);
  return varies;
}

/** True for a constant that is a pattern of LIKE and does not end with an escape character. */
function isPattern(node: Node): boolean {
  if ('TypeCast' in node) return node.TypeCast.arg !== undefined && isPattern(node.TypeCast.arg);
  if ('A_Const' in node) return node.A_Const.sval?.sval?.endsWith('\\') !== true;
  return 'A_Expr' in node && lastName(node.A_Expr.name) === '||' && node.A_Expr.rexpr !== undefined && isPattern(node.A_Expr.rexpr);
}
