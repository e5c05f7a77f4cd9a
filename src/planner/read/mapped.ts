/**
 * The rows of a mapping as a part of a query. A plain SELECT over tables becomes a part of the query's FROM and WHERE: the SQL then has only the columns that the
 * query uses, and one sub-select less for PostgreSQL to flatten. Any other SELECT becomes a sub-select.
 */

import { mayFail as conditionMayFail, simplified } from '../facts/conditions.ts';
import { isTotal, multiplies } from '../facts/total.ts';
import { isAggregate, isVolatileFunction, isWindow, SET_RETURNING } from '../guard/index.ts';
import { column, fieldsOf, isSubQuery, lastName, type Node, type SelectStmt, subselect, walk } from '../plan/tree.ts';
import { columnName } from './names.ts';
import { callsOwnIn } from './own-functions.ts';

/** The alias of a mapping that becomes a sub-select. */
const ALIAS = 'm';

/** The rows of a mapping as parts of a query. */
export interface MappedRows {
  /** Items of a FROM clause. All trees here are shared between plans and must not be changed. */
  readonly from: () => Node[];
  /** The condition of the mapping, if FROM does not contain it. */
  readonly where: () => Node[];
  /** The value of a column of the mapping, over that FROM. */
  readonly column: (name: string) => Node;
  /** True if no part of it can raise an error on a value. */
  readonly isTotal: boolean;
  /**
   * True if a condition on its columns may be added in a statement with barriers. It must not decide for which rows a value fails: the error would reveal a row that a
   * policy hides, nor for which rows a condition of the mapping fails. The values of a plain SELECT are computed above the barriers (../plan/raised.ts).
   */
  readonly isNarrowable: boolean;
  /** True if it reads more than one relation. */
  readonly multiplies: boolean;
  /** True if it may leave out rows of its tables: it is anything but a SELECT from one table without a condition. */
  readonly leavesOut: boolean;
}

/** True if a SELECT over tables may leave out rows of one of its tables. */
export function leavesOut({ targetList: _t, fromClause = [], limitOption: _l, op, ...rest }: SelectStmt): boolean {
  const [table, ...more] = fromClause;
  return (op !== undefined && op !== 'SETOP_NONE') || Object.keys(rest).length > 0 || !table || !('RangeVar' in table) || more.length > 0;
}

/**
 * The rows of a mapping.
 * @param standIns names that PostgreSQL would truncate: the name in the tree -> the name in the text
 */
export function mappedRows(stmt: SelectStmt, standIns: ReadonlyMap<string, string>): MappedRows {
  const written = new Map([...standIns].map(([standIn, name]) => [name, standIn] as const));
  const columns = isPlain(stmt) ? plainColumns(stmt, standIns) : undefined;
  const mayFail = !isTotal(stmt);
  if (!columns) {
    return {
      from: () => [subselect(stmt, ALIAS)],
      where: () => [],
      column: (name) => column(ALIAS, written.get(name) ?? name),
      isTotal: !mayFail,
      isNarrowable: !mayFail || isTotal(withSimplerConditions(stmt)),
      multiplies: multiplies({ SelectStmt: stmt }),
      leavesOut: leavesOut(stmt),
    };
  }
  const { fromClause = [], whereClause } = stmt;
  const whereMayFail = conditionMayFail([fromClause, whereClause], false, true);
  return {
    from: () => [...fromClause],
    where: () => (whereClause ? [whereClause] : []),
    column: (name) => columns.get(name) ?? column(ALIAS, name),
    isTotal: !mayFail && !whereMayFail,
    isNarrowable: !callsOwnIn(stmt.targetList) && !whereMayFail,
    multiplies: multiplies({ SelectStmt: stmt }),
    leavesOut: leavesOut(stmt),
  };
}

const CONDITIONS = new Set(['whereClause', 'havingClause', 'quals']);

/** A SELECT with simpler conditions, also of its sub-queries. */
const withSimplerConditions = (stmt: SelectStmt): SelectStmt =>
  JSON.parse(JSON.stringify(stmt, (key, value: unknown) => (CONDITIONS.has(key) ? simplified(value, true) : value))) as SelectStmt;

/** True if a SELECT returns one row for each row of FROM that satisfies WHERE, and its values are the same each time they are computed. */
function isPlain(stmt: SelectStmt): boolean {
  const { targetList, fromClause, whereClause, limitOption: _l, op, ...rest } = stmt;
  if ((op && op !== 'SETOP_NONE') || Object.keys(rest).length > 0 || !fromClause?.length) return false;
  let plain = true;
  walk([targetList, fromClause, whereClause], (n) => {
    if (isSubQuery(n) || 'RangeFunction' in n || ('ColumnRef' in n && fieldsOf(n.ColumnRef).at(-1) === '*')) plain = false;
    if ('FuncCall' in n) {
      const name = lastName(n.FuncCall.funcname);
      if (n.FuncCall.over || isAggregate(name) || isWindow(name) || isVolatileFunction(name) || SET_RETURNING.has(name)) plain = false;
    }
    return plain;
  });
  return plain;
}

/** The expression of each column; undefined if two columns have the same name. */
function plainColumns(stmt: SelectStmt, standIns: ReadonlyMap<string, string>): ReadonlyMap<string, Node> | undefined {
  const columns = new Map<string, Node>();
  for (const t of stmt.targetList ?? []) {
    if (!('ResTarget' in t) || !t.ResTarget.val) return undefined;
    const prepared = t.ResTarget.name ?? columnName(t.ResTarget.val);
    const name = standIns.get(prepared) ?? prepared;
    if (columns.has(name)) return undefined;
    columns.set(name, t.ResTarget.val);
  }
  return columns;
}
