/**
 * Total expressions: expressions that return a value for every row and never raise an error. PostgreSQL may evaluate a condition of the caller before the condition of a
 * row policy. An expression that can raise an error (a division, a cast, an overflow) could then do so on a hidden row, and reveal the row. A total expression is safe on
 * every row, because its value for a row that is filtered out is not visible. PostgreSQL has the same concept for views: LEAKPROOF functions and security_barrier
 * (Rules and Privileges in its manual).
 */
import type { A_Const, FuncCall, SubLink } from '@pgsql/types';
import { visited } from '../../budget.ts';
import { isAggregate } from '../guard/index.ts';
import { isNodeName, lastName, type Node, nameOf, type SelectStmt, walk } from '../plan/tree.ts';
import { COMPUTED_TYPES } from './column-types.ts';

/** The operators that compare two values. */
export const COMPARISONS: ReadonlySet<string> = new Set(['=', '<>', '!=', '<', '>', '<=', '>=']);
/** The kinds of expressions that return a boolean if their operator is a comparison. */
export const CONDITIONS: ReadonlySet<string> = new Set([
  'AEXPR_OP',
  'AEXPR_OP_ANY',
  'AEXPR_OP_ALL',
  'AEXPR_IN',
  'AEXPR_BETWEEN',
  'AEXPR_NOT_BETWEEN',
  'AEXPR_DISTINCT',
  'AEXPR_NOT_DISTINCT',
]);
const TOTAL_KINDS: ReadonlySet<string> = new Set([...CONDITIONS, 'AEXPR_NULLIF']);
/** Total functions, if they have at most one argument. With two, `length` decodes bytes. */
const TOTAL_FUNCTIONS = new Set([
  'char_length',
  'character_length',
  'length',
  'lower',
  'upper',
  'octet_length',
  'row_number',
  'rank',
  'dense_rank',
  'percent_rank',
  'cume_dist',
  'first_value',
  'last_value',
]);
/** Total aggregates. Others may overflow, exceed the maximum size of a value, or refuse NULL. */
const TOTAL_AGGREGATES = new Set(['count', 'min', 'max', 'bool_and', 'bool_or', 'every']);

/**
 * Nodes that raise no error by themselves. Other nodes may: subscripts, functions in FROM, SQL/JSON, COLLATE (except "C"), and comparisons of whole rows (RowExpr) and of nested arrays
 * (A_ArrayExpr), whose types are checked at run time.
 */
const TOTAL_NODES = new Set([
  'SelectStmt',
  'CommonTableExpr',
  'RangeVar',
  'RangeSubselect',
  'JoinExpr',
  'ResTarget',
  'ColumnRef',
  'A_Star',
  'A_Const',
  'ParamRef',
  'String',
  'Integer',
  'Float',
  'Boolean',
  'BitString',
  'List',
  'A_Expr',
  'BoolExpr',
  'NullTest',
  'BooleanTest',
  'CaseExpr',
  'CaseWhen',
  'CoalesceExpr',
  'MinMaxExpr',
  'SubLink',
  'TypeCast',
  'SQLValueFunction',
  'FuncCall',
  'WindowDef',
  'SortBy',
  'GroupingSet',
  'GroupingFunc',
  'CollateClause',
]);
/** Members that are a number of rows, which must not be negative. */
const BOUNDS = new Set(['limitCount', 'limitOffset', 'startOffset', 'endOffset']);

/**
 * True if no part of a tree can raise an error on a row. Errors on constants of the statement do not count, because they reveal nothing.
 * @param isInner whether the tree is a part of a sub-query
 * @param mayTakeLong whether a sub-query that reads several relations counts as total, although it may time out
 */
export function isTotal(tree: unknown, isInner = false, mayTakeLong = false): boolean {
  let relations: ReadonlySet<string> | undefined;
  const mayBeRow = (name: string): boolean => {
    relations ??= relationNames(tree);
    return relations.has(name);
  };
  // `inner`: in a sub-query, which may be evaluated for a row of the outer query before the condition of the policy is evaluated
  const total = (value: unknown, inner: boolean): boolean => {
    if (value === null || typeof value !== 'object') return true;
    visited();
    if (Array.isArray(value)) return value.every((v) => total(v, inner));
    for (const key in value) {
      const member = (value as Readonly<Record<string, unknown>>)[key];
      if (isNodeName(key)) {
        if (!TOTAL_NODES.has(key) || !isTotalNode(value as Node, inner, mayBeRow, mayTakeLong) || !total(member, inner || INNER.has(key))) return false;
      } else if (BOUNDS.has(key)) {
        if (!isCount(member)) return false;
      } else if (typeof member === 'object') {
        if (!total(member, inner)) return false;
      } else if (key === 'recursive' && member === true) {
        // a recursion may not terminate, and the statement then times out
        return false;
      }
    }
    return true;
  };
  return total(tree, isInner);
}

const INNER = new Set(['SubLink', 'JsonArrayQueryConstructor', 'RangeSubselect', 'CommonTableExpr']);

/** The names that may mean whole rows. */
function relationNames(tree: unknown): ReadonlySet<string> {
  const names = new Set<string>();
  const collect = (value: unknown): void => {
    if (value === null || typeof value !== 'object') return;
    for (const key in value) {
      const member = (value as Readonly<Record<string, unknown>>)[key];
      if (typeof member === 'string' && (key === 'aliasname' || key === 'relname' || key === 'ctename')) names.add(member.toLowerCase());
      else collect(member);
    }
  };
  collect(tree);
  return names;
}

function isTotalNode(node: Node, inner: boolean, mayBeRow: (name: string) => boolean, mayTakeLong: boolean): boolean {
  if ('A_Const' in node) return isPlainConstant(node.A_Const);
  if ('A_Expr' in node) return isTotalOperator(node.A_Expr.kind, node.A_Expr.name);
  if ('FuncCall' in node) return isTotalCall(node.FuncCall, inner);
  if ('TypeCast' in node) return isTotalCast(node);
  // the collation C has no conflict with others, and no text that it does not compare
  if ('CollateClause' in node) return lastName(node.CollateClause.collname) === 'C';
  if ('SubLink' in node) return isTotalSubLink(node.SubLink) && (mayTakeLong || !multiplies(node.SubLink.subselect));
  if ('ColumnRef' in node) {
    const [only, ...others] = node.ColumnRef.fields ?? [];
    const name = nameOf(only);
    return others.length > 0 || name === undefined || !mayBeRow(name.toLowerCase());
  }
  return true;
}

/** A scalar sub-query raises an error if it returns two rows. A compared sub-query raises one if the comparison does. */
function isTotalSubLink({ subLinkType, operName }: SubLink): boolean {
  if (subLinkType === 'EXISTS_SUBLINK') return true;
  return (subLinkType === 'ANY_SUBLINK' || subLinkType === 'ALL_SUBLINK') && isTotalName(operName);
}

/**
 * True if a sub-query of an expression reads more than one relation, directly or through a common table expression. Its time for one row of the outer block grows with the
 * product of their sizes, and the statement may time out. Relations of views and mappings are counted when those are expanded (`Facts.noteJoins`).
 */
export function multiplies(subselect: Node | undefined): boolean {
  let relations = 0;
  walk(subselect, (n) => {
    // without a schema it is a common table expression, which may read any number of relations
    if ('RangeVar' in n) relations += n.RangeVar.schemaname === undefined ? 2 : 1;
    if ('RangeSubselect' in n) relations++;
    return relations < 2;
  });
  return relations > 1;
}

const isTotalName = (name: readonly Node[] | undefined): boolean => {
  const last = nameOf(name?.at(-1));
  return last === undefined || COMPARISONS.has(last);
};

const isTotalOperator = (kind: string | undefined, name: readonly Node[] | undefined): boolean =>
  TOTAL_KINDS.has(kind ?? '') && (kind?.endsWith('BETWEEN') === true || isTotalName(name));

/** Aggregates and window functions are evaluated after the conditions of their block, but in a sub-query maybe before those of the outer block. */
function isTotalCall(call: FuncCall, inner: boolean): boolean {
  const name = lastName(call.funcname);
  if (call.funcname?.length !== 1) return false;
  return (TOTAL_FUNCTIONS.has(name) && (call.args?.length ?? 0) < 2) || TOTAL_AGGREGATES.has(name) || (!inner && isAggregate(name));
}

/** True for a number of rows that is certainly not negative. */
function isCount(value: unknown): boolean {
  const node = value as Node;
  if ('ParamRef' in node) return true;
  if (!('A_Const' in node)) return false;
  const { ival, isnull } = node.A_Const;
  return isnull === true || (ival !== undefined && (ival.ival ?? 0) >= 0);
}

/** Numbers that do not fit in every numeric type: the conversion to the common type of a comparison or CASE may raise an error. */
const EXTREME = /\d{31}|\d\.?e[+-]?\d/i;

/** The words of one or two letters that PostgreSQL accepts in dates and times. */
const DAY_WORDS = new Set(['t', 'z', 'j', 'y', 'm', 'd', 'h', 's', 'ad', 'bc', 'am', 'pm', 'at', 'on', 'jd']);

/**
 * True if a text may be a date that fits in `date`, but not in `timestamp` or `timestamptz`, in any format of PostgreSQL (`1/1/294277`, `294277 Jan 1`, `J109202770`,
 * `2942770101`; Date/Time Input Interpretation in its manual): a year of five digits, or a year BC. In doubt the answer is yes.
 */
function mayBeFarDay(value: string): boolean {
  const words: readonly string[] = value.toLowerCase().match(/[a-z]+/g) ?? [];
  if (!words.every((w) => w.length > 2 || DAY_WORDS.has(w))) return false;
  if (words.includes('bc')) return true;
  const digits = value.trim();
  // without separators, the last four digits are month and day
  if (/^\d+$/.test(digits)) return digits.length > 8;
  return /\d{5}/.test(value.replace(/:\d\d\.\d+/g, ''));
}

/** True if a constant fits in every type that PostgreSQL may convert it to. */
const isPlainConstant = ({ sval, fval }: A_Const): boolean =>
  !EXTREME.test(sval?.sval ?? '') && !EXTREME.test(fval?.fval ?? '') && !mayBeFarDay(sval?.sval ?? '');

/** True for a cast of a constant, and for a cast to text. */
function isTotalCast(node: Extract<Node, { TypeCast: unknown }>): boolean {
  const { arg, typeName } = node.TypeCast;
  const type = lastName(typeName?.names);
  if (COMPUTED_TYPES.has(type.replace(/^_/, ''))) return false;
  if (arg && ('A_Const' in arg || 'ParamRef' in arg)) return true;
  return type === 'text' && !typeName?.typmods?.length && !typeName?.arrayBounds?.length;
}

const COMPARING = ['A_Expr', 'CaseExpr', 'CoalesceExpr', 'MinMaxExpr'];

/**
 * True if a SELECT over tables computes a column from a comparison or a choice of several values. The types of the values are not known from the text, so this may raise an
 * error (column-types.ts, conversions.ts).
 */
export function comparesColumns(stmt: SelectStmt): boolean {
  let found = false;
  const computes = (n: Node): boolean => {
    return COMPARING.some((key) => key in n) || ('FuncCall' in n && lastName(n.FuncCall.funcname) === 'length');
  };
  walk(stmt, (n) => {
    if ('ResTarget' in n)
      walk(n.ResTarget.val, (v) => {
        found ||= computes(v);
        return !found;
      });
    return !found;
  });
  return found;
}
