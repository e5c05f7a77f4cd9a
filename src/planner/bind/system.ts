/** System tables in FROM: the rows that the caller may see are sent as one JSON parameter, which the datasource expands (docs/design/sql-shapes.md#system-tables). */

import type { SystemTable } from '../plan/context.ts';
import { call, cast, type Node, select, target, typeName } from '../plan/tree.ts';
import type { PlanState } from '../plan-state.ts';
import type { OutColumn } from './relations.ts';

/** The query of a system table in FROM, and its columns. */
export function systemTableItem(state: PlanState, table: SystemTable): { query: Node; columns: readonly OutColumn[] } {
  const number = state.parameter(table.name, table.json);
  state.longestRows.set(number, table.longestRow);
  const rows = cast({ ParamRef: { number } }, 'json');
  const all: Node = { ColumnRef: { fields: [{ A_Star: {} }] } };
  const recordset: Node = {
    RangeFunction: {
      functions: [{ List: { items: [call('json_to_recordset', [rows])] } }],
      alias: { aliasname: 'x' },
      coldeflist: table.columns.map((c) => ({ ColumnDef: { colname: c.name, typeName: typeName(c.type) } })),
    },
  };
  return {
    query: { SelectStmt: select({ targetList: [target(all)], fromClause: [recordset] }) },
    columns: table.columns.map((c) => ({ name: c.name, key: c.name, ...(c.type === 'boolean' ? { isFlag: true } : {}) })),
  };
}
