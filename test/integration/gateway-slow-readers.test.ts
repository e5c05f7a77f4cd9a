/** Callers of the gateway that do not read their answers: the connections to PostgreSQL that they keep from others. */
import { request } from 'node:http';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { postgresPrograms, type ScratchPostgres, startScratchPostgres } from '../../dev/scratch-postgres.ts';
import { PgBackend } from '../../dev/sql/pg-backend.ts';
import { type SqlServer, startSqlServer } from '../../dev/sql-server.ts';

const LARGE = "SELECT n, repeat('x', 1000) FROM generate_series(1, 40000) AS g(n)";
/** Each login has connections of its own. */
const headersOf = (login: string) => ({ 'neon-connection-string': `postgres://${login}:p@h/postgres`, 'neon-array-mode': 'true' });
/** More than `slowMs` and the time for some MB, which the buffers take. */
const LONG_MS = 5000;

describe.skipIf(postgresPrograms() === undefined)('a caller that does not read', () => {
  let scratch: ScratchPostgres;
  let hasty: SqlServer;
  let patient: SqlServer;
  const ends: (() => unknown)[] = [];
  beforeAll(async () => {
    scratch = await startScratchPostgres();
    const start = (patienceMs: number) => {
      const backend = new PgBackend(({ database }) => ({ connectionString: scratch.url, database }), { max: 2, slowMs: 300, patienceMs });
      return startSqlServer({ backend, limits: { holdBytes: 64 * 1024 } });
    };
    [hasty, patient] = await Promise.all([start(200), start(60_000)]);
  });
  afterAll(async () => {
    for (const end of ends) end();
    await Promise.all([hasty?.close(), patient?.close()]);
    await scratch?.stop();
  });

  /** Asks for 40 MB and reads the first bytes only; with `pace`, a little more from time to time. */
  function unread({ endpoint }: SqlServer, login: string, pace?: number, query = LARGE): Promise<{ readonly getsRest: () => Promise<boolean> }> {
    return new Promise((resolve) => {
      const asked = request(endpoint, { method: 'POST', headers: headersOf(login), agent: false }, (response) => {
        const pause = () => response.pause();
        response.on('error', () => undefined).on('data', pause);
        response.once('data', () => {
          const reading = pace === undefined ? undefined : setInterval(() => response.resume(), pace);
          response.once('close', () => clearInterval(reading));
          // a response that is paused does not notice its end
          const getsRest = () =>
            new Promise<boolean>((done) => {
              response.once('close', () => done(response.complete));
              response.off('data', pause).resume();
            });
          resolve({ getsRest });
        });
      });
      ends.push(() => asked.destroy());
      asked.on('error', () => undefined).end(JSON.stringify({ query, params: [] }));
    });
  }
  const sent = ({ endpoint }: SqlServer, login: string, query: string) =>
    fetch(endpoint, { method: 'POST', headers: headersOf(login), body: JSON.stringify({ query, params: [] }) });
  const one = async (server: SqlServer, login: string, query = 'SELECT 1'): Promise<number> => (await sent(server, login, query)).status;
  const long = () => new Promise((resolve) => setTimeout(resolve, LONG_MS));

  it.concurrent('keeps its connection while no other request waits for one', async () => {
    const reader = await unread(hasty, 'alone');
    expect([await one(hasty, 'alone'), await one(hasty, 'alone')]).toEqual([200, 200]);
    await long();
    expect([await one(hasty, 'alone'), await reader.getsRest()]).toEqual([200, true]);
  });

  it.concurrent('keeps its connection if another one becomes free soon', async () => {
    const reader = await unread(patient, 'soon');
    await long();
    expect(await Promise.all([one(patient, 'soon', 'SELECT pg_sleep(0.5)'), one(patient, 'soon')])).toEqual([200, 200]);
    expect(await reader.getsRest()).toBe(true);
  });

  it.concurrent.each([undefined, 400])('loses it to a request that waits, also if it reads a little every %s ms', async (pace) => {
    const login = `every_${pace}`;
    const readers = await Promise.all([unread(hasty, login, pace), unread(hasty, login, pace), unread(hasty, login, pace)]);
    expect(await Promise.all(Array.from({ length: 6 }, () => one(hasty, login)))).toEqual([200, 200, 200, 200, 200, 200]);
    const whole = await Promise.all(readers.map((reader) => reader.getsRest()));
    expect(whole.filter((isWhole) => !isWhole).length).toBeGreaterThanOrEqual(2);
  });

  it('of an answer that has ended keeps no connection', async () => {
    // one row, which the buffers do not take
    const large = "SELECT repeat('x', 24000000)";
    const readers = await Promise.all([unread(patient, 'ended', undefined, large), unread(patient, 'ended', undefined, large)]);
    expect(await one(patient, 'ended')).toBe(200);
    expect(await Promise.all(readers.map((reader) => reader.getsRest()))).toEqual([true, true]);
  });

  it('gets the whole answer if it reads', async () => {
    const answers = await Promise.all(
      Array.from({ length: 3 }, async () => ((await (await sent(hasty, 'reads', LARGE)).json()) as { rows: unknown[] }).rows.length),
    );
    expect(answers).toEqual([40_000, 40_000, 40_000]);
  });
});
