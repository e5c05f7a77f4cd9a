/** The embedded database: deeply nested statements, which PostgreSQL refuses itself before the stack of its thread is full, and prepared statements. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { CATALOG_OWNER } from '../../dev/roles.ts';
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

  describe('prepares statements of the catalog that it gets again', () => {
    const catalog = (sql: string, params: unknown[] = []) => db.exec(sql, params, CATALOG_OWNER);
    const prepared = async () => (await db.superuser("SELECT statement FROM pg_prepared_statements WHERE statement LIKE '%kg_catalog.thing%'")).length;
    const READ = 'SELECT * FROM kg_catalog.thing WHERE n = $1';
    beforeAll(() => catalog('CREATE TABLE kg_catalog.thing (n int)'));

    it('and plans them again after their table has changed', async () => {
      for (let i = 0; i < 3; i++) await catalog('INSERT INTO kg_catalog.thing VALUES ($1)', [i]);
      for (let i = 0; i < 3; i++) expect(await catalog(READ, [i])).toEqual([{ n: i }]);
      expect(await prepared()).toBe(2);
      await db.superuser("ALTER TABLE kg_catalog.thing ADD COLUMN id text DEFAULT 'x'");
      for (let i = 0; i < 3; i++) expect(await catalog(READ, [i])).toEqual([{ n: i, id: 'x' }]);
    });

    it('and knows the new types of their parameters', async () => {
      const write = 'INSERT INTO kg_catalog.typed VALUES ($1)';
      const read = 'SELECT * FROM kg_catalog.typed WHERE n = $1';
      await catalog('CREATE TABLE kg_catalog.typed (n int)');
      for (let i = 0; i < 3; i++) {
        await catalog(write, [i]);
        await catalog(read, [i]);
      }
      await db.superuser('ALTER TABLE kg_catalog.typed ALTER n TYPE bigint');
      await catalog(write, [5_000_000_000]);
      expect(await catalog(read, [5_000_000_000])).toHaveLength(1);
      await catalog(write, [5_000_000_001]);
      await db.superuser('DROP TABLE kg_catalog.typed');
      await catalog('CREATE TABLE kg_catalog.typed (n text)');
      await catalog(write, ['x']);
      expect(await catalog(read, ['x'])).toEqual([{ n: 'x' }]);
    });

    it('also after a caller has deallocated them', async () => {
      for (let i = 0; i < 2; i++) await catalog(READ, [i]);
      expect(await prepared()).toBeGreaterThan(0);
      await catalog('DEALLOCATE ALL');
      for (let i = 0; i < 3; i++) expect(await catalog(READ, [i])).toEqual([{ n: i, id: 'x' }]);
    });

    it('and leaves no statement that a caller has prepared', async () => {
      for (const name of ['mine', 'mine']) await db.exec(`PREPARE ${name} AS SELECT 1`);
      expect(await db.superuser("SELECT name FROM pg_prepared_statements WHERE name = 'mine'")).toEqual([]);
    });
  });
});
