/** Reading from a hot standby server, which cancels a statement that conflicts with changes it must replay. */
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { postgresPrograms, type ScratchPostgres, startScratchPostgres, startStandby } from '../../dev/scratch-postgres.ts';
import { PgBackend } from '../../dev/sql/pg-backend.ts';
import { startSqlServer } from '../../dev/sql-server.ts';
import type { Datasource } from '../../src/engine/datasource.ts';
import { httpEngine } from '../../src/engine/engine.ts';
import { operatorText } from '../../src/engine/operator.ts';

const missing = postgresPrograms() === undefined;
if (missing) console.warn('standby.test: no PostgreSQL on this machine; it is skipped');

describe.skipIf(missing)('a hot standby', () => {
  let primary: ScratchPostgres;
  let standby: ScratchPostgres;
  let server: Awaited<ReturnType<typeof startSqlServer>>;
  let ds: Datasource;
  /** The session that has the lock. */
  let lock: pg.Client;

  beforeAll(async () => {
    primary = await startScratchPostgres();
    await primary.exec('CREATE TABLE t AS SELECT i, 0 AS round FROM generate_series(1, 2000) i');
    standby = await startStandby(primary, ['max_standby_streaming_delay=0']);
    server = await startSqlServer({ backend: new PgBackend(() => ({ connectionString: standby.url })) });
    lock = new pg.Client({ connectionString: standby.url });
    await lock.connect();
    await lock.query('SELECT pg_advisory_lock(1)');
    ds = { name: 'main', url: standby.url, endpoint: server.endpoint };
  });
  afterAll(async () => {
    await lock?.end();
    await server?.close();
    await standby?.stop();
    await primary?.stop();
  });

  const waitFor = async (sql: string): Promise<void> => {
    await expect.poll(async () => (await standby.exec(sql)) as unknown, { interval: 50 }).toEqual([{ yes: true }]);
  };
  /** When the last statement started that was cancelled. */
  let cancelled = '-infinity';
  const running = (): string => `FROM pg_stat_activity WHERE state = 'active' AND query LIKE '%slow%' AND pid <> pg_backend_pid()
    AND backend_xmin IS NOT NULL AND query_start > '${cancelled}'`;
  /** Removes row versions that a running statement of the standby could need, and waits until the standby has cancelled it. */
  const conflict = async (round: number): Promise<void> => {
    await waitFor(`SELECT count(*) = 1 AS yes ${running()}`);
    const [{ started }] = (await standby.exec(`SELECT max(query_start)::text AS started ${running()}`)) as [{ started: string }];
    cancelled = started;
    await primary.exec(`UPDATE t SET round = ${round}`);
    await primary.exec('VACUUM t');
    await waitFor(`SELECT count(*) = 0 AS yes FROM pg_stat_activity WHERE state = 'active' AND query_start = '${started}' AND pid <> pg_backend_pid()`);
  };
  /** Reads rows, and then waits while somebody has the lock. */
  const read = async (): Promise<unknown> => {
    const sql = `SELECT json_build_object('rounds', min(round), 'slow', pg_advisory_xact_lock_shared(1)::text) FROM public.t WHERE i > 0`;
    const { stream } = await httpEngine.rows(ds, { text: operatorText(sql), timeoutMs: 60_000, maxBytes: 1e6, owner: 'ann' });
    return await new Response(stream).json();
  };

  it('has a cancelled statement repeated once', async () => {
    const rows = read();
    await conflict(1);
    await lock.query('SELECT pg_advisory_unlock(1)');
    expect(await rows).toEqual([{ rounds: 1, slow: '' }]);
  });

  it('gives 503 with retry-after if it cancels the repeated statement too', async () => {
    await lock.query('SELECT pg_advisory_lock(1)');
    const outcome = read().then(
      () => undefined,
      (error: unknown) => error,
    );
    await conflict(2);
    await conflict(3);
    expect(await outcome).toMatchObject({ status: 503, code: 'datasource_conflict', headers: { 'retry-after': '1' } });
  });
});
