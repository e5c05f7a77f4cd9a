/** The rows of a cached mapping as a part of a query. */
import type { MappingDef } from '../../ontology/model.ts';
import type { CachedTable } from '../plan/context.ts';
import { column, select, target } from '../plan/tree.ts';
import { type MappedRows, mappedRows } from './mapped.ts';
import type { TableQuery } from './tables.ts';

/** The name of the column of a cached table with the values of a mapping's column. @param index from 0 */
export const cachedColumn = (index: number): string => `c${index + 1}`;

/** The rows of a mapping in its cached table. */
export function cachedRows({ columns }: MappingDef, { schema, name }: CachedTable): { readonly rows: MappedRows; readonly query: TableQuery } {
  const names = columns.map((_, i) => cachedColumn(i));
  const stmt = select({
    targetList: columns.map((c, i) => target(column('m', names[i] as string), c.name)),
    fromClause: [{ RangeVar: { schemaname: schema, relname: name, inh: true, relpersistence: 'p', alias: { aliasname: 'm' } } }],
  });
  return {
    rows: mappedRows(stmt, new Map()),
    query: { stmt, tables: [{ schema, name, columns: new Set(names), isWhole: false }], columns: new Set() },
  };
}
