/** ORDER BY of a query, repeated on the outermost level (docs/design/rows-and-json.md#order-and-limits). */
import { visited } from '../../budget.ts';
import type { OutColumn } from '../bind/relations.ts';
import { column, fieldsOf, isSame, type Node, type SelectStmt, target } from '../plan/tree.ts';
import type { PlanState } from '../plan-state.ts';

/** A query as a derived table whose rows the statement around it can sort. */
export interface Sortable {
  /** The query. Its last columns are the `added` ones. */
  readonly stmt: SelectStmt;
  /** Names for the columns that the query returns only to be sorted by. */
  readonly added: readonly string[];
  /** ORDER BY for the statement around it. `alias`: the derived table, `names`: its columns without the added ones. Empty if the query has no order. */
  readonly sortOf: (alias: string, names: readonly string[]) => Node[];
}

/** The most comparisons of sort expressions with columns. Beyond that a sort expression gets a column of its own. */
const MAX_COMPARISONS = 10_000;

/**
 * Makes a query sortable from outside. SQL does not promise that the rows of a derived table keep its order.
 * @param columns the columns of the query
 */
export function sortable(state: PlanState, stmt: SelectStmt, columns: readonly OutColumn[]): Sortable {
  const items = stmt.sortClause ?? [];
  const plain: Sortable = { stmt, added: [], sortOf: () => [] };
  const added: { readonly name: string; readonly node: Node }[] = [];
  const found: number[] = [];
  const sortClause: Node[] = [];
  for (const item of items) {
    if (!('SortBy' in item) || !item.SortBy.node) return plain;
    const { node } = item.SortBy;
    const at = positionOf(node, stmt, columns, items.length);
    if (at !== undefined) {
      found.push(at);
      sortClause.push(item);
      continue;
    }
    if (!isExpression(node) || !canAdd(stmt)) return plain;
    const name = state.alias();
    found.push(columns.length + added.length);
    added.push({ name, node });
    sortClause.push({ SortBy: { ...item.SortBy, node: column(name) } });
  }
  const sortOf = (alias: string, names: readonly string[]): Node[] => {
    const all = [...names, ...added.map((a) => a.name)];
    return sortClause.map((item, i) => ({ SortBy: { ...(item as { SortBy: object }).SortBy, node: column(alias, all[found[i] as number] as string) } }));
  };
  if (added.length === 0) return { stmt, added: [], sortOf };
  const targetList = [...(stmt.targetList ?? []), ...added.map(({ name, node }) => target(node, name))];
  return { stmt: { ...stmt, targetList, sortClause }, added: added.map((a) => a.name), sortOf };
}

/** The index of the column that an item of ORDER BY sorts by: a number, the name of a column, or the same expression. */
function positionOf(node: Node, stmt: SelectStmt, columns: readonly OutColumn[], items: number): number | undefined {
  if ('A_Const' in node && node.A_Const.ival !== undefined) {
    const position = (node.A_Const.ival.ival ?? 0) - 1;
    return columns[position] ? position : undefined;
  }
  if ('ColumnRef' in node && fieldsOf(node.ColumnRef).length === 1) {
    const name = fieldsOf(node.ColumnRef)[0];
    const position = columns.findIndex((c) => c.name === name);
    if (position >= 0) return position;
  }
  const targets = stmt.targetList ?? [];
  // a star shifts the positions
  if (targets.length !== columns.length || targets.length * items > MAX_COMPARISONS) return undefined;
  const position = targets.findIndex((t) => 'ResTarget' in t && isSame(t.ResTarget.val, node, visited));
  return position < 0 ? undefined : position;
}

/** True for anything but a constant, which ORDER BY reads as the number of a column or refuses. */
const isExpression = (node: Node): boolean => !('A_Const' in node);

/** True if another column does not change the rows of a query. */
const canAdd = (stmt: SelectStmt): boolean =>
  stmt.targetList !== undefined &&
  !stmt.valuesLists &&
  !stmt.larg &&
  !(stmt.distinctClause?.length === 1 && Object.keys(stmt.distinctClause[0] as object).length === 0);
