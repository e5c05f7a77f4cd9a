/** The values of table columns as values of properties. */
import type { ColumnDef } from '../../ontology/model.ts';
import { call, cast, type Node } from '../plan/tree.ts';

/**
 * The value of a table's column in a declared SQL type. As a text it is PostgreSQL's output of the value. For `inet` the cast to text is something else: it adds `/32` to an
 * address without a mask (Network Address Functions in PostgreSQL's manual).
 */
export const columnValue = (column: Node, type: string, given: Pick<ColumnDef, 'type'> | undefined): Node =>
  type === 'text' && given?.type === 'inet' ? call('abbrev', [column]) : cast(column, type);
