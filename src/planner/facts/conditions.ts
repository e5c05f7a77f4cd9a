/**
 * Stored conditions that may raise an error on a value: of policies, logic concepts and mappings. The caller's comparisons must not decide for which rows such a condition is
 * computed: otherwise the caller finds the values of a hidden row by guesses, an error for the right one and no rows for all others.
 */
import type { FuncCall } from '@pgsql/types';
import { visited } from '../../budget.ts';
import { cast, clone, isSubQuery, lastName, type Node, nameOf, nullValue, operator, rewrite } from '../plan/tree.ts';
import { isTotal } from './total.ts';

/**
 * True if a condition may raise an error on some rows and not on others. The time that it takes does not count: its author knows the tables.
 * @param isOverTables whether its columns are those of tables, whose types are not known here
 */
export const mayFail = (condition: unknown, isInner = false, isOverTables = false): boolean => !isTotal(simplified(condition, isOverTables), isInner, true);

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
    // a branch may be computed for some rows only
    if ('CaseExpr' in n || 'CoalesceExpr' in n) return n;
    // CURRENT_DATE and the like
    if ('SQLValueFunction' in n) return nullValue();
    if (('A_Expr' in n || 'FuncCall' in n || 'A_ArrayExpr' in n || 'TypeCast' in n) && isConstant(n)) return isTotal(n) ? n : nullValue();
    if ('FuncCall' in n) {
      const args = n.FuncCall.args ?? [];
      const [only, ...others] = args.filter((a) => !isConstant(a));
      if (only === undefined || others.length > 0 || !isSafeCall(n.FuncCall, args.indexOf(only), isOverTables)) return undefined;
      return lastName(n.FuncCall.funcname) === 'date_trunc' ? operator('=', simpler(only), cast(nullValue(), 'timestamptz')) : simpler(only);
    }
    const { kind, lexpr, rexpr, name } = 'A_Expr' in n ? n.A_Expr : {};
    if (!lexpr || !rexpr || !isConstant(rexpr)) return undefined;
    if ((kind === 'AEXPR_LIKE' || kind === 'AEXPR_ILIKE') && isPattern(rexpr)) return operator('=', simpler(lexpr), nullValue());
    const isSafe = SAFE_OPERATORS.has(lastName(name)) || (!isOverTables && SAFE_JSONB_OPERATORS.has(lastName(name)));
    return kind === 'AEXPR_OP' && isSafe ? simpler(lexpr) : undefined;
  };
  const simpler = (n: Node): Node => rewrite(n, replace) as Node;
  return rewrite(tree, replace) as T;
}

/** @param at the position of the only argument that is not a constant */
function isSafeCall({ funcname, args = [] }: FuncCall, at: number, isOverTables: boolean): boolean {
  const [first, ...rest] = (funcname ?? []).map(nameOf);
  // a function of the datasource may have the same name
  if (rest.length > 0 && first !== 'pg_catalog') return false;
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
