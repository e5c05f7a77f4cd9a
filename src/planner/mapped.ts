/**
 * The rows of a mapping as a part of a query. A plain SELECT over tables is taken apart, so that only the columns that a query uses are written and PostgreSQL
 * has one level less to flatten; any other stands as a sub-select.
 */
import { isAggregate, isVolatileFunction, isWindow } from './guard/index.ts';
import { isTotal, multiplies } from './leak.ts';
import { columnName } from './names.ts';
import { printExpression, printSelect } from './print.ts';
import { clone, column, fragment, isSubQuery, lastName, type Node, type SelectStmt, subselect, walk } from './tree.ts';

/** The alias under which a mapping stands that is a sub-select. */
const ALIAS = 'm';

export interface MappedRows {
  /** Items of a FROM clause, made anew for each use. */
  readonly from: () => Node[];
  /** The mapping's own condition, where FROM does not hold it. */
  readonly where: () => Node[];
  /** The value of one of the mapping's columns by its name, over that FROM. */
  readonly column: (name: string) => Node;
  /** Whether nothing in it can fail on a value. */
  readonly isTotal: boolean;
  /** Whether it reads more than one relation. */
  readonly multiplies: boolean;
  /** Whether it may leave out rows of its tables: it has a condition, a join, or any form but a plain SELECT from one table. */
  readonly leavesOut: boolean;
}

/** Whether a SELECT over tables may leave out rows of one of its tables. */
export function leavesOut({ targetList: _t, fromClause = [], limitOption: _l, op, ...rest }: SelectStmt): boolean {
  const [table, ...more] = fromClause;
  return (op !== undefined && op !== 'SETOP_NONE') || Object.keys(rest).length > 0 || !table || !('RangeVar' in table) || more.length > 0;
}

/** `standIns`: names that PostgreSQL would cut, as prepared -> as written. */
export function mappedRows(stmt: SelectStmt, standIns: ReadonlyMap<string, string>): MappedRows {
  const written = new Map([...standIns].map(([standIn, name]) => [name, standIn] as const));
  const columns = isPlain(stmt) ? plainColumns(stmt, standIns) : undefined;
  if (!columns) {
    const sql = printSelect(stmt);
    return {
      from: () => [subselect(fragment(sql), ALIAS)],
      where: () => [],
      column: (name) => column(ALIAS, written.get(name) ?? name),
      isTotal: isTotal(stmt),
      multiplies: multiplies({ SelectStmt: stmt }),
      leavesOut: leavesOut(stmt),
    };
  }
  const { fromClause = [], whereClause } = stmt;
  return {
    from: () => clone(fromClause),
    where: () => (whereClause ? [clone(whereClause)] : []),
    column: (name) => columns.get(name) ?? column(ALIAS, name),
    isTotal: isTotal(stmt),
    multiplies: multiplies({ SelectStmt: stmt }),
    leavesOut: leavesOut(stmt),
  };
}

/** Whether a SELECT gives a row for each row of its FROM that meets WHERE, and its values do not change from use to use. */
function isPlain(stmt: SelectStmt): boolean {
  const { targetList, fromClause, whereClause, limitOption: _l, op, ...rest } = stmt;
  if ((op && op !== 'SETOP_NONE') || Object.keys(rest).length > 0 || !fromClause?.length) return false;
  let plain = true;
  walk([targetList, fromClause, whereClause], (n) => {
    if (isSubQuery(n) || 'RangeFunction' in n || 'A_Star' in n) plain = false;
    if ('FuncCall' in n) {
      const name = lastName(n.FuncCall.funcname);
      if (n.FuncCall.over || isAggregate(name) || isWindow(name) || isVolatileFunction(name)) plain = false;
    }
    return plain;
  });
  return plain;
}

/** The expression of each column, printed once; undefined where a name is not clear. */
function plainColumns(stmt: SelectStmt, standIns: ReadonlyMap<string, string>): ReadonlyMap<string, Node> | undefined {
  const columns = new Map<string, Node>();
  for (const t of stmt.targetList ?? []) {
    if (!('ResTarget' in t) || !t.ResTarget.val) return undefined;
    const prepared = t.ResTarget.name ?? columnName(t.ResTarget.val);
    const name = standIns.get(prepared) ?? prepared;
    if (columns.has(name)) return undefined;
    const atomic = 'ColumnRef' in t.ResTarget.val;
    columns.set(name, fragment(printExpression(t.ResTarget.val), atomic));
  }
  return columns;
}
