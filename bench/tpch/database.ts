/** A separate PostgreSQL server with the tables of TPC-H, and the ontology over them. */
import { readFile } from 'node:fs/promises';
import pg from 'pg';
import { startScratchPostgres } from '../../dev/scratch-postgres.ts';
import { graphOf } from '../../examples/world/graph.ts';
import type { SqlParser } from '../../src/language/parser.ts';
import type { PlanContext } from '../../src/planner/index.ts';
import { intoPostgres, loadTpch } from './load.ts';
import { withColumnTypes } from './typed.ts';

/** The model of TPC-H for the planner. */
export async function tpchContext(parser: SqlParser, client: pg.Client): Promise<PlanContext> {
  const graph = graphOf(await readFile(new URL('model.kg', import.meta.url), 'utf8'), 'tpch', parser);
  return { graph: await withColumnTypes(graph, (sql) => client.query(sql)), parser, product: 'svc', activeDatasource: 'main', keepsNames: () => true };
}

export interface TpchDatabase {
  readonly client: pg.Client;
  /** The name of the server, for the tables' titles. */
  readonly name: string;
  stop(): Promise<void>;
}

/**
 * Settings for the measurement of both sides: one process per query, without JIT, on data in memory; the cost settings
 * assume that the pages are cached.
 */
const SETTINGS = ['jit = off', 'max_parallel_workers_per_gather = 0', "work_mem = '64MB'", 'random_page_cost = 1.1', "effective_cache_size = '4GB'"];

/** Starts the server and loads it. `settings`: further ones, each `name = value`. */
export async function startTpch(scale: number, settings: readonly string[] = []): Promise<TpchDatabase> {
  const server = await startScratchPostgres();
  const client = new pg.Client({ connectionString: server.url });
  const stop = async () => {
    await client.end().catch(() => undefined);
    await server.stop();
  };
  try {
    await client.connect();
    await loadTpch(intoPostgres(client), scale);
    for (const setting of [...SETTINGS, ...settings]) await client.query(`SET ${setting}`);
    const { rows } = await client.query("SELECT current_setting('server_version') AS version");
    return { client, name: `PostgreSQL ${rows[0]?.version}`, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** Planning and execution of one statement, in milliseconds. */
export async function explained(client: pg.Client, sql: string, params: readonly unknown[] = []): Promise<number> {
  const { rows } = await client.query(`EXPLAIN (ANALYZE, TIMING OFF, FORMAT JSON) ${sql}`, [...params]);
  const [plan] = rows[0]['QUERY PLAN'] as [{ 'Planning Time': number; 'Execution Time': number }];
  return plan['Planning Time'] + plan['Execution Time'];
}

/** The rows of a statement of one column, as PostgreSQL writes them. */
export async function rowsOf(client: pg.Client, sql: string, params: readonly unknown[] = []): Promise<string[]> {
  const { rows } = await client.query(`SELECT r::text FROM (${sql}) q(r)`, [...params]);
  return rows.map((row) => row.r);
}
