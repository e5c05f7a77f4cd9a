/** Statements that are nested deeply, on the embedded database: PostgreSQL refuses them itself, before the stack of the thread that runs it is full. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { PgliteHost } from '../../dev/sql/pglite-host.ts';
import { type LocalPostgres, startLocalPostgres } from '../../dev/testing.ts';

/** A list of pairs, which PostgreSQL reads as OR nested as deeply as the list is long. */
const listed = (pairs: number): string => `(n, id) IN (${Array.from({ length: pairs }, (_, i) => `(${i}, 'x${i}')`).join(', ')})`;

describe('the embedded database', () => {
  let db: LocalPostgres;
  beforeAll(async () => {
    db = await startLocalPostgres();
    await db.exec('CREATE TABLE thing (n int, id text)');
    await db.exec("INSERT INTO thing SELECT g, 'x' || g FROM generate_series(1, 100) g");
  });
  afterAll(async () => {
    await db?.close();
  });

  it('runs long lists of pairs', async () => {
    for (const pairs of [7_700, 10_000]) expect(await db.exec(`SELECT count(*)::int AS n FROM thing WHERE ${listed(pairs)}`)).toEqual([{ n: 100 }]);
  });

  it('refuses what exceeds the depth of PostgreSQL, with its error', async () => {
    for (const pairs of [25_000, 60_000])
      await expect(db.exec(`SELECT count(*) FROM thing WHERE ${listed(pairs)}`)).rejects.toMatchObject({
        code: '54001',
        message: /^stack depth limit exceeded/,
      });
    expect(await db.exec('SELECT count(*)::int AS n FROM thing')).toEqual([{ n: 100 }]);
  });

  it('ends if its stack is full, rather than run the rest of the statement, and starts again', async () => {
    const host = new PgliteHost('memory://', 2);
    try {
      const client = await host.client();
      await client.query('CREATE TABLE thing (n int, id text)');
      await expect(client.query(`SELECT count(*) FROM thing WHERE ${listed(15_000)}`, [])).rejects.toThrow(/Connection terminated/);
      const { rows } = await (await host.client()).query('SELECT 1 AS n');
      expect(rows).toEqual([{ n: 1 }]);
    } finally {
      await host.close();
    }
  });
});
