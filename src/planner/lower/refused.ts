/**
 * Shapes of joins and groups that a distributed planner refuses, in a form that it accepts, for statements that it has refused
 * (docs/design/sql-shapes.md#what-a-distributed-datasource-refuses).
 */
import type { FuncCall, JoinExpr, RangeSubselect, SelectStmt } from '@pgsql/types';
import { visited } from '../../budget.ts';
import { COMPARISONS } from '../facts/total.ts';
import { isAggregate, SET_RETURNING } from '../guard/index.ts';
import { conjuncts, fieldsOf, integer, lastName, type Node, namesOf, OFFSET_ZERO, select, string, walk } from '../plan/tree.ts';

/** A column of an item of FROM. */
type Column = readonly [item: string, name: string];

/**
 * Outer joins of which WHERE removes all rows without a partner become inner joins. PostgreSQL does the same, but keeps marks of the outer join for constants of the
 * joined rows, at which Citus fails.
 */
export function joinInner(block: SelectStmt): void {
  for (const condition of conjuncts(block.whereClause)) for (const column of requiredBy(condition)) requireIn(block, column);
}

/** The columns that are not NULL where a condition is true. */
function requiredBy(condition: Node): Column[] {
  const column = (node: Node | undefined): Column[] => {
    if (node && 'TypeCast' in node) return column(node.TypeCast.arg);
    const fields = node && 'ColumnRef' in node ? fieldsOf(node.ColumnRef) : [];
    return fields.length === 2 ? [fields as unknown as Column] : [];
  };
  if ('NullTest' in condition) return condition.NullTest.nulltesttype === 'IS_NOT_NULL' ? column(condition.NullTest.arg) : [];
  if (!('A_Expr' in condition)) return [];
  const { kind, name, lexpr, rexpr } = condition.A_Expr;
  if (kind === 'AEXPR_OP' && COMPARISONS.has(lastName(name))) return [...column(lexpr), ...column(rexpr)];
  return kind === 'AEXPR_IN' || kind === 'AEXPR_LIKE' || kind === 'AEXPR_ILIKE' || kind === 'AEXPR_BETWEEN' ? column(lexpr) : [];
}

function requireIn(block: SelectStmt, column: Column): void {
  if (block.fromClause) block.fromClause = block.fromClause.map((item) => (has(item, column[0]) ? required(item, column) : item));
}

/** An item of FROM that has a column, of which only rows are needed whose column is not NULL. The nodes that change are copied, because a statement may have them twice. */
function required(item: Node, [alias, name]: Column): Node {
  visited();
  if ('JoinExpr' in item) return { JoinExpr: requiredJoin(item.JoinExpr, [alias, name]) };
  if (!('RangeSubselect' in item)) return item;
  const query = subqueryOf(item.RangeSubselect);
  if (!query || !isPlain(query)) return item;
  const given = query.targetList?.find((t) => 'ResTarget' in t && t.ResTarget.name === name);
  const value = given && 'ResTarget' in given ? given.ResTarget.val : undefined;
  const fields = value && 'ColumnRef' in value ? fieldsOf(value.ColumnRef) : [];
  if (fields.length !== 2) return item;
  const copy = { ...query };
  requireIn(copy, fields as unknown as Column);
  return { RangeSubselect: { ...item.RangeSubselect, subquery: { SelectStmt: copy } } };
}

function requiredJoin(join: JoinExpr, column: Column): JoinExpr {
  const { jointype, larg, rarg } = join;
  if (jointype !== 'JOIN_LEFT' && jointype !== 'JOIN_INNER') return join;
  if (larg && has(larg, column[0])) return { ...join, larg: required(larg, column) };
  return rarg ? { ...join, jointype: 'JOIN_INNER', rarg: required(rarg, column) } : join;
}

/** True if an alias is that of an item, or of a part of a join. */
function has(item: Node, alias: string): boolean {
  visited();
  if ('JoinExpr' in item) {
    const { alias: own, larg, rarg } = item.JoinExpr;
    return own === undefined && [larg, rarg].some((arg) => arg !== undefined && has(arg, alias));
  }
  return 'RangeSubselect' in item && item.RangeSubselect.alias?.aliasname === alias;
}

/** The query of an item whose columns have the names of its select list. */
function subqueryOf({ subquery, alias }: RangeSubselect): SelectStmt | undefined {
  return subquery && 'SelectStmt' in subquery && !alias?.colnames?.length ? subquery.SelectStmt : undefined;
}

const OTHER_CLAUSES = ['groupClause', 'havingClause', 'distinctClause', 'windowClause', 'limitCount', 'limitOffset', 'valuesLists'] as const;

/** True if a query is one SELECT, and no clause but FROM and WHERE decides which rows it has. */
export const isOneSelect = (query: SelectStmt): boolean =>
  (query.op ?? 'SETOP_NONE') === 'SETOP_NONE' && OTHER_CLAUSES.every((c) => (Array.isArray(query[c]) ? query[c].length === 0 : query[c] === undefined));

/** True if a condition on the rows of a query may be applied to the rows of its FROM. */
export const isPlain = (query: SelectStmt): boolean => isOneSelect(query) && !dependsOnRows(query.targetList);

/** True if a call in a select list decides how many rows there are. */
export const changesRows = (targets: readonly Node[] | undefined): boolean => returnsSets(targets) || aggregates(targets);

/** True if a call in a select list decides how many rows there are, or has a value that depends on other rows. */
export const dependsOnRows = (targets: readonly Node[] | undefined): boolean => calls(targets, (c) => c.over !== undefined) || changesRows(targets);

/**
 * True if a block with this select list, and without GROUP BY, has at most one row: there is an aggregate outside of its sub-queries, and nothing there makes more rows. A function of
 * the datasource may, and may have the name of an aggregate.
 */
export function isOneRow(targets: readonly Node[]): boolean {
  let [isAggregated, hasMore] = [false, false];
  walk(targets, (n) => {
    isAggregated ||= isAggregateNode(n);
    if ('FuncCall' in n) hasMore ||= n.FuncCall.over !== undefined || SET_RETURNING.has(lastName(n.FuncCall.funcname)) || !isBuiltIn(n.FuncCall);
    return !hasMore && !('SelectStmt' in n);
  });
  return isAggregated && !hasMore;
}

const isBuiltIn = ({ funcname }: FuncCall): boolean => namesOf(funcname).length === 1 || namesOf(funcname)[0] === 'pg_catalog';

/** True if a call in a select list returns a set of rows. */
export const returnsSets = (targets: readonly Node[] | undefined): boolean => calls(targets, (c) => SET_RETURNING.has(lastName(c.funcname)));

/** True if a select list has such a call outside of its sub-queries. */
function calls(targets: readonly Node[] | undefined, isSuch: (call: FuncCall) => boolean): boolean {
  let found = false;
  walk(targets, (n) => {
    if ('FuncCall' in n) found ||= isSuch(n.FuncCall);
    return !found && !('SelectStmt' in n);
  });
  return found;
}

/**
 * True if a select list has an aggregate of the rows of its own block. An aggregate in a sub-query is one of them if its arguments refer to nothing in a sub-query.
 * @param inner the items of FROM of the sub-queries around the values
 */
export function aggregates(values: unknown, inner?: ReadonlySet<string>): boolean {
  let found = false;
  walk(values, (n) => {
    if ('SelectStmt' in n) found ||= aggregatesOutside(n.SelectStmt, inner);
    else if (isAggregateNode(n)) found ||= inner === undefined || isOfOuter(n, inner);
    return !found && !('SelectStmt' in n);
  });
  return found;
}

/** True if a sub-query has an aggregate of a block outside of it. Its FROM and WITH do not see its own items. */
function aggregatesOutside({ fromClause, withClause, ...others }: SelectStmt, inner: ReadonlySet<string> = new Set()): boolean {
  return aggregates([fromClause, withClause], inner) || aggregates([others], new Set([...inner, ...aliasesOf(fromClause)]));
}

/** JSON_ARRAYAGG and JSON_OBJECTAGG have nodes of their own. */
const isAggregateNode = (n: Node): boolean => ('FuncCall' in n ? isAggregate(lastName(n.FuncCall.funcname)) : 'JsonArrayAgg' in n || 'JsonObjectAgg' in n);

/** True if an aggregate in a sub-query may belong to a block outside of it: PostgreSQL decides by the nearest of the columns that its arguments read. */
function isOfOuter(aggregate: Node, inner: ReadonlySet<string>): boolean {
  let [reads, isInner] = [false, false];
  walk([aggregate], (n) => {
    if ('ColumnRef' in n) {
      const [first = '', second] = fieldsOf(n.ColumnRef);
      reads = true;
      isInner ||= second !== undefined && inner.has(first);
    }
    // what a sub-query of the arguments reads does not decide, if it is its own
    if ('SelectStmt' in n) reads = true;
    return !isInner && !('SelectStmt' in n);
  });
  return reads && !isInner;
}

function aliasesOf(from: readonly Node[] = []): string[] {
  return from.flatMap((item) => {
    if ('JoinExpr' in item && item.JoinExpr.alias === undefined) return aliasesOf([item.JoinExpr.larg, item.JoinExpr.rarg].filter((n) => n !== undefined));
    if ('RangeVar' in item) return [item.RangeVar.alias?.aliasname ?? item.RangeVar.relname ?? ''];
    return 'RangeSubselect' in item ? [item.RangeSubselect.alias?.aliasname ?? ''] : [];
  });
}

/** The rows of a block with grouping sets are read before they are grouped: Citus groups them by sets only on the coordinator. */
export function readBeforeSets(block: SelectStmt): void {
  const [item, ...others] = block.fromClause ?? [];
  const alias = item && 'RangeSubselect' in item ? item.RangeSubselect.alias?.aliasname : undefined;
  if (!block.groupClause?.some((g) => 'GroupingSet' in g) || !item || others.length > 0 || alias === undefined) return;
  const { whereClause } = block;
  const rows = select({
    targetList: [{ ResTarget: { val: { ColumnRef: { fields: [string(alias), { A_Star: {} }] } } } }],
    fromClause: [item],
    ...(whereClause ? { whereClause } : {}),
    ...OFFSET_ZERO,
  });
  delete block.whereClause;
  block.fromClause = [{ RangeSubselect: { subquery: { SelectStmt: rows }, alias: { aliasname: alias } } }];
}

/** A block without rows reads none: Citus refuses an outer join of a block whose condition is a constant. */
export function readNothing(block: SelectStmt): void {
  if (!block.whereClause || !conjuncts(block.whereClause).some(isFalse) || !isPlain(block)) return;
  delete block.whereClause;
  block.limitCount = integer('0');
  block.limitOption = 'LIMIT_OPTION_COUNT';
}

const isFalse = (node: Node): boolean => 'A_Const' in node && node.A_Const.boolval !== undefined && node.A_Const.boolval.boolval !== true;
