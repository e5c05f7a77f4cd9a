/** CACHE MAPPING ... USING with two databases of a PostgreSQL server: all values arrive, those of a consistent moment, while the source changes. */
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { postgresPrograms, type ScratchPostgres, startScratchPostgres } from '../../dev/scratch-postgres.ts';
import { startService, type TestService } from '../support/service.ts';
import { type Place, place } from './support/places.ts';

const missing = postgresPrograms() === undefined;
if (missing) console.warn('cached-across.deep.test: no PostgreSQL on this machine; it is skipped');

const ROWS = 60_000;
const COLUMNS = 'id, n, f, r, b, at, day, span, j, l, raw, x';
const TABLE = [
  'CREATE TABLE public.t (id int PRIMARY KEY, n numeric, f float8, r real, b char(6), at timestamptz, day date, span interval, j json, l text[], raw bytea, x text, version int NOT NULL DEFAULT 0)',
  `INSERT INTO public.t SELECT g, g::numeric / 7, random() * 1e300, random(), chr(65 + g % 26), now() + g * interval '1.000001 s', date '0001-01-01' + g, g * interval '1 day -1 us', ('{"a" :' || g || '}')::json,
     ARRAY[g::text, NULL, '"],["'], decode(lpad(to_hex(g), 8, '0'), 'hex'), repeat(chr(200 + g % 5000), g % 90) FROM generate_series(1, ${ROWS}) g`,
];

describe.skipIf(missing)('rows of another database', () => {
  let server: ScratchPostgres;
  let service: TestService;
  const places: Place[] = [];
  const clients: Record<'a' | 'b', pg.Client> = {} as never;

  beforeAll(async () => {
    server = await startScratchPostgres();
    for (const text of [
      'CREATE ROLE reader LOGIN',
      'ALTER ROLE reader SET default_transaction_read_only = on',
      'CREATE ROLE writer LOGIN',
      'CREATE DATABASE a',
      'CREATE DATABASE b',
    ])
      await server.exec(text);
    for (const name of ['a', 'b'] as const) {
      const client = new pg.Client({ connectionString: server.url.replace(/\/[^/]*$/, `/${name}`) });
      await client.connect();
      clients[name] = client;
      const own =
        name === 'a'
          ? [...TABLE, 'GRANT SELECT ON public.t TO reader']
          : ['CREATE TABLE public.u (id int PRIMARY KEY)', 'INSERT INTO public.u SELECT generate_series(1, 100)', 'GRANT SELECT ON public.u TO reader'];
      for (const text of ['CREATE SCHEMA cached', 'GRANT CREATE, USAGE ON SCHEMA cached TO writer', 'GRANT USAGE ON SCHEMA cached TO reader', ...own])
        await client.query(text);
    }
    for (const [role, name] of [
      ['reader', 'a'],
      ['reader', 'b'],
      ['writer', 'b'],
    ] as const)
      places.push(await place(server, role, name));
    const [a = '', b = '', writer = ''] = places.map((p) => p.secret);
    service = await startService({ settings: { DATASOURCE_A: a, DATASOURCE_B: b, DATASOURCE_B_WRITER: writer } });
    await service.rows("CREATE DATASOURCE a TYPE postgres SECRET 'DATASOURCE_A'; CREATE DATASOURCE b TYPE postgres SECRET 'DATASOURCE_B'");
    const types = { id: 'integer', n: 'decimal', f: 'double', r: 'double', version: 'integer' } as Record<string, string>;
    const properties = [...COLUMNS.split(', '), 'version'].map((c) => `${c} ${types[c] ?? 'string'}`).join(', ');
    await service.rows(
      `CREATE ONTOLOGY o; ALTER ONTOLOGY o ADD DATASOURCE a; ALTER ONTOLOGY o ADD DATASOURCE b; CREATE CONCEPT t (${properties}, PRIMARY KEY (id)); CREATE CONCEPT u (id integer, PRIMARY KEY (id));
      CREATE MAPPING m INTO t USING a AS SELECT ${COLUMNS}, version FROM public.t; CREATE MAPPING mu INTO u USING b AS SELECT id FROM public.u`,
      'o',
    );
  });
  afterAll(async () => {
    await service?.close();
    for (const client of Object.values(clients)) await client.end();
    for (const p of places.slice(1)) await p.stop().catch(() => undefined);
    await places[0]?.stop().catch(() => undefined);
  });

  const refreshed = async (): Promise<string> => {
    expect(await service.rows("CACHE MAPPING m USING b OPTIONS (schema = 'cached')", 'o')).toMatchObject([{ rows: ROWS }]);
    return (await service.rows('SHOW CACHES', 'o'))[0].table_name;
  };

  it('have the same values', async () => {
    const table = await refreshed();
    const digest = async (client: pg.Client, columns: readonly string[], from: string): Promise<unknown> => {
      await client.query("SET TimeZone = 'UTC'");
      const { rows } = await client.query(
        `SELECT ${columns.map((c, i) => `md5(string_agg(to_json(${c})::text, '|' ORDER BY ${columns[0]})) AS d${i}`).join(', ')} FROM ${from}`,
      );
      return rows[0];
    };
    const names = COLUMNS.split(', ');
    expect(
      await digest(
        clients.b,
        names.map((_, i) => `c${i + 1}`),
        table,
      ),
    ).toEqual(await digest(clients.a, names, 'public.t'));
    expect(await service.rows('SELECT COUNT(*) AS n, SUM(t.id) AS s FROM svc.u u JOIN svc.t t ON t.id = u.id', 'o')).toEqual([{ n: 100, s: 5050 }]);
  });

  it('are those of one moment', async () => {
    let isDone = false;
    let versions = 0;
    const changing = (async () => {
      while (!isDone) await clients.a.query(`UPDATE public.t SET version = ${++versions} WHERE id IN (1, ${ROWS / 2}, ${ROWS})`);
    })();
    const table = await refreshed();
    isDone = true;
    await changing;
    expect(versions).toBeGreaterThan(2);
    const { rows } = await clients.b.query(`SELECT count(DISTINCT c13)::int AS n FROM ${table} WHERE c1 IN (1, ${ROWS / 2}, ${ROWS})`);
    expect(rows).toEqual([{ n: 1 }]);
  });

  it('are in no table if the source ends during the refresh', async () => {
    const before = await service.rows('SELECT COUNT(*) AS n FROM svc.u u JOIN svc.t t ON t.id = u.id', 'o');
    const running = service.query('CACHE MAPPING m USING b', 'o');
    const count = async (): Promise<number> => (await clients.b.query("SELECT count(*)::int AS n FROM pg_tables WHERE schemaname = 'cached'")).rows[0].n;
    const tables = await count();
    await expect.poll(count, { interval: 5 }).toBe(tables + 1);
    await clients.a.query("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = 'a' AND usename = 'reader'");
    const { status } = await running;
    if (status !== 200) {
      expect(status).toBe(502);
      expect(await count()).toBe(tables);
    }
    expect(await service.rows('SELECT COUNT(*) AS n FROM svc.u u JOIN svc.t t ON t.id = u.id', 'o')).toEqual(before);
  });
});
