/** Reads the definitions of tables from a database. */
import type { Datasource } from '../engine/datasource.ts';
import { type DbTable, readTables as read } from '../engine/tables.ts';

export type { DbColumn, DbForeignKey, DbTable } from '../engine/tables.ts';

const TIMEOUT_MS = 60_000;

/** All tables and views that the role of the datasource may read, ordered by schema and name. @throws SvcError if the datasource cannot be reached */
export const readTables = (datasource: Datasource): Promise<DbTable[]> => read(datasource, TIMEOUT_MS);
