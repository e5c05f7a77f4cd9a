/**
 * The object of a row of aggregates over all rows, made in their own block, for a distributed datasource: it runs a block of aggregates in FROM by itself, writes its row down, and
 * reads it again in another step (docs/design/sql-shapes.md#a-row-of-aggregates).
 */
import { fieldsOf, type Node, namesOf, type SelectStmt, target } from '../plan/tree.ts';
import { objectText } from './output.ts';
import { isOneRow } from './refused.ts';

/** More columns stay outside: their object is one expression, as deep as it has columns, and PostgreSQL limits the depth. */
const MAX_COLUMNS = 100;

/**
 * Makes the object from the aggregates in place of their columns (in place).
 * @returns false if the statement stays as it is
 */
export function joinRow(statement: SelectStmt): boolean {
  const { targetList = [], fromClause = [], whereClause, sortClause, limitCount, limitOffset, limitOption } = statement;
  const [item, ...others] = fromClause;
  if (!item || !('RangeSubselect' in item) || others.length > 0 || whereClause) return false;
  const { subquery, alias } = item.RangeSubselect;
  const block = queryOf(subquery);
  const values = block && aggregatesOf(block);
  const columns = keysOf(targetList, namesOf(alias?.colnames));
  if (!block || !values || !columns || values.length !== columns.length) return false;
  // of one row ORDER BY is only dropped if it names columns of the row: another one may read a value of the caller, or raise an error
  if (block.sortClause?.length !== sortClause?.length) return false;
  const row = objectText(
    columns.map(({ key }) => key),
    columns.map(({ at }) => values[at] as Node),
  );
  for (const clause of Object.keys(statement)) delete statement[clause as keyof SelectStmt];
  const { sortClause: _, ...rest } = block;
  Object.assign(statement, rest, { targetList: [target(row, 'row')] }, limitCount && { limitCount, limitOption }, limitOffset && { limitOffset, limitOption });
  return true;
}

const queryOf = (node: Node | undefined): SelectStmt | undefined => (node && 'SelectStmt' in node ? node.SelectStmt : undefined);
const writtenIn = (item: Node): Node | undefined => ('ResTarget' in item ? item.ResTarget.val : undefined);

/** The keys of `(SELECT row_to_json(r) FROM (SELECT q.c AS key, ...) r)`, as output.ts writes it, with the numbers of their columns. */
function keysOf(targets: readonly Node[], columns: readonly string[]): { readonly key: string; readonly at: number }[] | undefined {
  const row = targets.length === 1 ? writtenIn(targets[0] as Node) : undefined;
  const [item] = (row && 'SubLink' in row ? queryOf(row.SubLink.subselect) : undefined)?.fromClause ?? [];
  const named = item && 'RangeSubselect' in item ? queryOf(item.RangeSubselect.subquery) : undefined;
  const keys = named?.targetList?.map((t) => {
    const value = writtenIn(t);
    const [, name = ''] = value && 'ColumnRef' in value ? fieldsOf(value.ColumnRef) : [];
    return { key: ('ResTarget' in t && t.ResTarget.name) || '', at: columns.indexOf(name) };
  });
  return keys?.every(({ key, at }) => key !== '' && at >= 0) ? keys : undefined;
}

/** The select list of a block that has one row of aggregates, or none; undefined for other blocks. */
function aggregatesOf(block: SelectStmt): Node[] | undefined {
  const { targetList = [], groupClause, larg, valuesLists, distinctClause, limitCount, limitOffset } = block;
  if (larg || valuesLists || groupClause?.length || distinctClause?.length || limitCount || limitOffset) return undefined;
  if (targetList.length > MAX_COLUMNS || !isOneRow(targetList)) return undefined;
  const values = targetList.map(writtenIn);
  return values.every(hasType) ? (values as Node[]) : undefined;
}

/** False for a constant or a parameter, also with a collation: only a column of it has a type. */
function hasType(value: Node | undefined): boolean {
  if (value && 'CollateClause' in value) return hasType(value.CollateClause.arg);
  return value !== undefined && !('A_Const' in value || 'ParamRef' in value);
}
