/**
 * Stored conditions that may raise an error on a value: of policies, logic concepts and mappings. The caller's comparisons must not decide for which rows such a condition is
 * computed: otherwise the caller finds the values of a hidden row by guesses, an error for the right one and no rows for all others.
 */
import { visited } from '../../budget.ts';
import { clone, isSubQuery, lastName, type Node, nullValue, operator, rewrite } from '../plan/tree.ts';
import { isTotal } from './total.ts';

/** True if a condition may raise an error on some rows and not on others. The time that it takes does not count: its author knows the tables. */
export const mayFail = (condition: unknown, isInner = false): boolean => !isTotal(simplified(condition), isInner, true);

/** Functions that raise an error on no value of one argument if the others are constants. */
const SAFE_FUNCTIONS = new Set([
  'left',
  'right',
  'starts_with',
  'strpos',
  'position',
  'btrim',
  'ltrim',
  'rtrim',
  'substring',
  'date_part',
  'date_trunc',
  'extract',
]);
/** The same for operators. */
const SAFE_OPERATORS = new Set(['->', '->>', '#>', '#>>', '?', '?|', '?&', '@>', '<@', '&&', '||']);

/** A condition without the parts that raise an error on all rows or on none, as far as they can be recognised: what is computed from constants, LIKE with a constant pattern. */
export function simplified<T>(condition: T): T {
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
    if ('FuncCall' in n && SAFE_FUNCTIONS.has(lastName(n.FuncCall.funcname))) {
      const [only, ...others] = (n.FuncCall.args ?? []).filter((a) => !isConstant(a));
      return only !== undefined && others.length === 0 ? simpler(only) : undefined;
    }
    const { kind, lexpr, rexpr, name } = 'A_Expr' in n ? n.A_Expr : {};
    if (!lexpr || !rexpr || !isConstant(rexpr)) return undefined;
    if ((kind === 'AEXPR_LIKE' || kind === 'AEXPR_ILIKE') && isPattern(rexpr)) return operator('=', simpler(lexpr), nullValue());
    return kind === 'AEXPR_OP' && SAFE_OPERATORS.has(lastName(name)) ? simpler(lexpr) : undefined;
  };
  const simpler = (n: Node): Node => rewrite(n, replace) as Node;
  return rewrite(tree, replace) as T;
}

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
