/** A database for tests of plans: an installed PostgreSQL, or else PGlite. */
import pg from 'pg';
import type { Answer } from '../../../bench/tpch/typed.ts';
import { startScratchPostgres } from '../../../dev/scratch-postgres.ts';
import { localPostgresAvailable } from '../../../dev/testing.ts';
import { memoryDatabase } from '../../support/databases/memory.ts';

type Row = Record<string, unknown>;

let query: (sql: string, params: readonly unknown[]) => Promise<{ rows: Row[]; fields: Answer['fields'] }>;
let close: () => Promise<void> = async () => {};

/** Starts it and runs statements that create tables. */
export async function openPlans(statements: readonly string[]): Promise<void> {
  if (localPostgresAvailable()) {
    const server = await startScratchPostgres();
    const client = new pg.Client({ connectionString: server.url });
    close = async () => {
      await client.end();
      await server.stop();
    };
    await client.connect();
    query = (sql, params) => client.query(sql, [...params]);
  } else {
    const db = await memoryDatabase();
    close = () => db.close();
    query = (sql, params) => db.query<Row>(sql, [...params]);
  }
  // The data are in memory, so the costs of indexes must be those of memory.
  for (const sql of [...statements, 'VACUUM ANALYZE', 'SET random_page_cost = 1.1', 'SET jit = off', 'SET max_parallel_workers_per_gather = 0'])
    await query(sql, []);
}

export const closePlans = (): Promise<void> => close();

export const answerOf = (sql: string): Promise<Answer> => query(sql, []);
export const rowsOf = async (sql: string, params: readonly unknown[] = []): Promise<Row[]> => (await query(sql, params)).rows;

/** What a plan does. */
export interface Facts {
  /** Tables that are read, each once. */
  readonly tables: readonly string[];
  /** Tables that are read completely, unless a LIMIT stops it: by a scan of the table or of a whole index. */
  readonly scanned: readonly string[];
  /** Whether more than some hundred rows are sorted. */
  readonly sorts: boolean;
  /** Whether a join compared each row with each other one, thousands of times without a match. */
  readonly crosses: boolean;
}

interface PlanNode {
  readonly 'Node Type': string;
  readonly 'Relation Name'?: string;
  readonly 'Index Cond'?: string;
  readonly 'Actual Rows'?: number;
  readonly 'Actual Loops'?: number;
  readonly 'Rows Removed by Filter'?: number;
  readonly 'Rows Removed by Join Filter'?: number;
  readonly Plans?: readonly PlanNode[];
}

/** For a few rows any access is fine. */
const FEW = 300;

/** Runs a statement and returns what its plan did; parts that were never executed are ignored. */
export async function factsOf(sql: string, params: readonly unknown[] = []): Promise<Facts> {
  const [row] = await rowsOf(`EXPLAIN (ANALYZE, TIMING OFF, FORMAT JSON) ${sql}`, params);
  const [{ Plan: plan }] = Object.values(row ?? {})[0] as [{ Plan: PlanNode }];
  const tables = new Set<string>();
  const scanned = new Set<string>();
  let sorts = false;
  let crosses = false;
  const visit = (node: PlanNode): void => {
    const table = node['Relation Name'];
    if ((node['Actual Loops'] ?? 0) > 0) {
      if (table) tables.add(table);
      const read = (node['Actual Rows'] ?? 0) + (node['Rows Removed by Filter'] ?? 0);
      if (table && read > FEW && !node['Index Cond'] && node['Node Type'] !== 'Bitmap Heap Scan') scanned.add(table);
      if ((node['Rows Removed by Join Filter'] ?? 0) > 10_000) crosses = true;
      if (/Sort/.test(node['Node Type']) && (node.Plans ?? []).some((p) => (p['Actual Rows'] ?? 0) > FEW)) sorts = true;
    }
    for (const child of node.Plans ?? []) visit(child);
  };
  visit(plan);
  return { tables: [...tables].sort(), scanned: [...scanned].sort(), sorts, crosses };
}
