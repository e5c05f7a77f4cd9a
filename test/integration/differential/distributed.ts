/**
 * A Citus cluster that runs the statements of generated cases (SERVER=citus, CITUS_URL). It uses the schemas t and cached there. The tables of a world are distributed
 * by one of their columns without NULL, which their names and columns choose, or are reference tables. LAYOUT=n chooses others.
 */
import pg from 'pg';
import { faultOf } from '../../../src/engine/faults.ts';
import { PLACEMENTS, placementsIn } from '../../../src/engine/placements.ts';
import type { Target } from '../../../src/planner/index.ts';
import { targetFor } from '../../../src/planner/lower/placed.ts';
import type { CaseDatabase } from './databases.ts';
import { SCHEMA } from './ddl.ts';
import { Rng } from './rng.ts';

const { CITUS_URL, LAYOUT = '0' } = process.env;

const NEW_TABLES = `SELECT c.oid::regclass::text AS name, array_agg(a.attname::text ORDER BY a.attnum) AS columns, array_agg(a.atttypid::regtype::text ORDER BY a.attnum) AS types
  FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 WHERE c.relnamespace = to_regnamespace('${SCHEMA}') AND c.relkind = 'r'
  AND NOT EXISTS (SELECT FROM pg_dist_partition p WHERE p.logicalrelid = c.oid) GROUP BY c.oid ORDER BY 1`;

export async function onCitus(): Promise<CaseDatabase> {
  if (!CITUS_URL) throw new Error('SERVER=citus needs CITUS_URL');
  const client = new pg.Client({
    connectionString: CITUS_URL,
    options: '-c TimeZone=UTC -c jit=off -c citus.shard_count=4 -c statement_timeout=10s -c client_min_messages=warning',
  });
  await client.connect();
  // the service's endpoint refuses a statement for which Citus has lost rows
  let hasLost = false;
  client.on('notice', ({ code }) => {
    hasLost ||= code === 'CIINF';
  });
  const asText = { getTypeParser: () => (value: unknown) => value };
  const first = async (sql: string, params: readonly string[] = []): Promise<string[]> => {
    hasLost = false;
    const { rows } = await client.query<[string]>({ text: sql, values: [...params], rowMode: 'array', types: asText } as pg.QueryArrayConfig);
    if (hasLost) throw Object.assign(new Error('Citus has lost rows'), { code: '0A000' });
    return rows.map(([value]) => value);
  };
  let target: Target | undefined;
  return {
    exec: async (sql) => {
      // one by one: Citus cannot do all of this in one transaction
      for (const statement of sql.split(/;\s*(?=CREATE |DROP |INSERT |$)/)) if (statement.trim()) await client.query(statement);
      const { rows } = await client.query<{ name: string; columns: string[]; types: string[] }>({ text: NEW_TABLES });
      for (const table of rows) await place(table, first);
      if (rows.length > 0) target = targetFor(placementsIn((await client.query<string[]>({ text: PLACEMENTS.sql, rowMode: 'array' })).rows));
    },
    read: first,
    close: () => client.end(),
    distributed: {
      target: () => target,
      refuses: (error) => {
        const { code, message } = error as { readonly code?: string; readonly message?: string };
        return faultOf(400, JSON.stringify({ code, message })).code === 'feature_not_supported';
      },
    },
  };
}

async function place(
  { name, columns, types }: { readonly name: string; readonly columns: readonly string[]; readonly types: readonly string[] },
  first: (sql: string) => Promise<string[]>,
): Promise<void> {
  const rng = Rng.of(`${LAYOUT} ${name} ${columns.join()}`);
  const column = rng.chance(20) ? undefined : rng.chance(60) ? columns[0] : rng.pick(columns);
  const hasNull = column !== undefined && (await first(`SELECT count(*) FROM ${name} WHERE ${column} IS NULL`))[0] !== '0';
  if (
    column === undefined ||
    hasNull ||
    !/^(smallint|integer|bigint|text|character|numeric|date|uuid|boolean|double|timestamp)/.test(types[columns.indexOf(column)] as string)
  )
    await first(`SELECT create_reference_table('${name}')`);
  else await first(`SELECT create_distributed_table('${name}', '${column}')`);
}
