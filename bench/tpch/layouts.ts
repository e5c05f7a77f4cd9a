/** The tables of TPC-H on a Citus cluster, in three layouts. */
import type pg from 'pg';
import { faultOf } from '../../src/engine/faults.ts';

/** A layout: the columns by which tables are distributed. The other tables are reference tables. */
export interface Layout {
  readonly name: string;
  readonly columns: Readonly<Record<string, string>>;
  /** The numbers of the queries over the ontology that Citus may refuse. */
  readonly refused: readonly number[];
}

export const LAYOUTS: readonly Layout[] = [
  {
    name: 'each table by its key',
    columns: { lineitem: 'l_orderkey', orders: 'o_orderkey', part: 'p_partkey', partsupp: 'ps_partkey', customer: 'c_custkey', supplier: 's_suppkey' },
    refused: [],
  },
  { name: 'orders with their items', columns: { lineitem: 'l_orderkey', orders: 'o_orderkey' }, refused: [] },
  {
    name: 'orders by customers, items by parts',
    columns: { lineitem: 'l_partkey', part: 'p_partkey', partsupp: 'ps_partkey', orders: 'o_custkey', customer: 'c_custkey' },
    refused: [21],
  },
];

/**
 * Distributes the tables of a schema by the given columns. The other tables become reference tables. Foreign keys are dropped, and unique keys that do not contain
 * the column, because Citus does not accept them.
 */
export async function distribute(client: pg.Client, schema: string, columns: Layout['columns']): Promise<void> {
  const constraints = await client.query(
    `SELECT contype = 'f' AS is_foreign, conrelid::regclass AS t, relname, quote_ident(conname) AS name,
       ARRAY(SELECT attname::text FROM pg_attribute WHERE attrelid = conrelid AND attnum = ANY (conkey)) AS members
     FROM pg_constraint JOIN pg_class c ON c.oid = conrelid WHERE contype IN ('f', 'p', 'u') AND connamespace = $1::regnamespace ORDER BY contype`,
    [schema],
  );
  for (const { is_foreign, t, relname, name, members } of constraints.rows) {
    const column = columns[relname];
    if (is_foreign || (column !== undefined && !members.includes(column))) await client.query(`ALTER TABLE ${t} DROP CONSTRAINT ${name}`);
  }
  const tables = await client.query("SELECT relname FROM pg_class WHERE relnamespace = $1::regnamespace AND relkind = 'r' ORDER BY relname", [schema]);
  for (const { relname } of tables.rows) {
    const column = columns[relname];
    if (column === undefined) await client.query('SELECT create_reference_table($1)', [`${schema}.${relname}`]);
    else await client.query('SELECT create_distributed_table($1, $2)', [`${schema}.${relname}`, column]);
  }
}

/** True for an error that the service takes for a refusal of Citus. */
export function isRefusal(error: unknown): boolean {
  const { code, message } = error as { readonly code?: string; readonly message?: string };
  return faultOf(400, JSON.stringify({ code, message })).code === 'feature_not_supported';
}
