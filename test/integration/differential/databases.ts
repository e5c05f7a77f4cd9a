/**
 * Databases that run the statements of generated cases: PGlite in process, or, with SERVER=postgres, a PostgreSQL server of this machine; with SERVER=standby
 * the statements of queries run on a hot standby of it, with SERVER=citus on the cluster of CITUS_URL (distributed.ts).
 */
import pg from 'pg';
import { type ScratchPostgres, startScratchPostgres, startStandby } from '../../../dev/scratch-postgres.ts';
import type { Target } from '../../../src/planner/index.ts';
import { memoryDatabase } from '../../support/databases/memory.ts';

export interface CaseDatabase {
  /** Runs statements that write. */
  exec(sql: string): Promise<unknown>;
  /** The first column of a query's rows, as text. */
  read(sql: string, params: readonly string[]): Promise<readonly string[]>;
  close(): Promise<void>;
  /** A distributed database. */
  readonly distributed?: {
    /** What plans need for where the tables are. */
    target(): Target | undefined;
    /** True for an error that the service takes for a refusal. */
    refuses(error: unknown): boolean;
  };
}

/** The database that SERVER names. @throws Error if it names a server and this machine has none */
export async function caseDatabase(): Promise<CaseDatabase> {
  const { SERVER: kind = 'memory' } = process.env;
  if (kind === 'memory') return inMemory();
  if (kind === 'citus') return (await import('./distributed.ts')).onCitus();
  if (kind !== 'postgres' && kind !== 'standby') throw new Error('SERVER must be memory, postgres, standby or citus');
  return onServer(kind === 'standby');
}

async function inMemory(): Promise<CaseDatabase> {
  const db = await memoryDatabase();
  return {
    exec: (sql) => db.exec(sql),
    // json comes back as its text
    read: async (sql, params) =>
      (await db.query<[string]>(sql, [...params], { rowMode: 'array', parsers: { 114: (v: string) => v } })).rows.map(([json]) => json),
    close: () => db.close(),
  };
}

async function onServer(hasStandby: boolean): Promise<CaseDatabase> {
  const primary = await startScratchPostgres();
  const open: { end(): Promise<unknown> }[] = [];
  const servers: ScratchPostgres[] = [primary];
  // compiling a statement of many joins takes seconds; what is committed must be written before its position is asked for
  const connect = async ({ url }: ScratchPostgres): Promise<pg.Client> => {
    const client = new pg.Client({ connectionString: url, options: '-c TimeZone=UTC -c jit=off -c synchronous_commit=local' });
    await client.connect();
    open.push(client);
    return client;
  };
  const writer = await connect(primary);
  if (hasStandby) servers.unshift(await startStandby(primary));
  const reader = hasStandby ? await connect(servers[0] as ScratchPostgres) : writer;
  const asText = { getTypeParser: () => (value: unknown) => value };
  let isCurrent = !hasStandby;
  return {
    exec: async (sql) => {
      isCurrent = !hasStandby;
      await writer.query(sql);
    },
    read: async (sql, params) => {
      if (!isCurrent) await replayed(writer, reader);
      isCurrent = true;
      const { rows } = await reader.query<[string]>({ text: sql, values: [...params], rowMode: 'array', types: asText } as pg.QueryArrayConfig);
      return rows.map(([json]) => json);
    },
    close: async () => {
      for (const client of open) await client.end();
      for (const server of servers) await server.stop();
    },
  };
}

/** Waits until a standby has replayed all that its primary has written. */
async function replayed(primary: pg.Client, standby: pg.Client): Promise<void> {
  const { rows } = await primary.query('SELECT pg_current_wal_flush_lsn()::text AS lsn');
  for (;;) {
    const { rows: answer } = await standby.query('SELECT pg_last_wal_replay_lsn() >= $1::pg_lsn AS there', [rows[0].lsn]);
    if (answer[0].there === true) return;
    await new Promise((resolve) => setTimeout(resolve, 2));
  }
}
