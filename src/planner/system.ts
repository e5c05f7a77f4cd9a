/**
 * System tables in FROM: the rows that the caller may see travel as one JSON parameter and are read on the datasource
 * (docs/design/sql-shapes.md#system-tables).
 */
import type { OutColumn } from './relations.ts';
import { fragment, type Node } from './tree.ts';
import type { SystemTable, Work } from './work.ts';

/** A system table as a FROM item's query, with its columns. */
export function systemTableItem(work: Work, table: SystemTable): { query: Node; columns: readonly OutColumn[] } {
  const n = work.parameter(table.name, table.json);
  const columns = table.columns.map((c) => `"${c.name}" ${c.type}`).join(', ');
  return {
    query: fragment(`SELECT * FROM json_to_recordset($${n}::json) AS x(${columns})`),
    columns: table.columns.map((c) => ({ name: c.name, key: c.name })),
  };
}
