/** Cached mappings of odd tables: names in quotes, long names, types of the database, no rows, several mappings of which some are cached; and what DROP ONTOLOGY leaves in two databases. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { DEVELOPER, READER } from '../../dev/roles.ts';
import type { LocalPostgres } from '../../dev/testing.ts';
import { forgetSnapshots } from '../../src/catalog/snapshot.ts';
import { sweepCaches } from '../../src/service/write/refresh-cache.ts';
import { borrowPostgres } from '../support/databases/index.ts';
import { startService, type TestService } from '../support/service.ts';
import { TestCaches } from './support/caches.ts';

/** Names of 63 bytes, and one with quotes, dots and letters that PostgreSQL would fold. */
const [LONG_TABLE, LONG_COLUMN] = [`t_${'x'.repeat(61)}`, `c_${'é'.repeat(30)}y`];
const SCHEMA = '"My ""own"".Shop"';
const TABLES = [
  'CREATE SCHEMA cached',
  `CREATE SCHEMA ${SCHEMA}`,
  `CREATE TYPE ${SCHEMA}."Size" AS ENUM ('small', 'large')`,
  `CREATE DOMAIN ${SCHEMA}."Code" AS varchar(8) CHECK (VALUE <> '')`,
  `CREATE TYPE ${SCHEMA}.pair AS (a integer, b text)`,
  `CREATE TABLE ${SCHEMA}."T.Odd" (id integer GENERATED ALWAYS AS IDENTITY, "Name" text, size ${SCHEMA}."Size", code ${SCHEMA}."Code", pair ${SCHEMA}.pair,
     cash money, span int4range, spans tstzrange, bits bit varying(9), mac macaddr, vec tsvector, pt point, nums numeric[], grid int[], twice integer GENERATED ALWAYS AS (7) STORED,
     days interval, tz timetz, c "char", n name, j json, big numeric(30, 10))`,
  `INSERT INTO ${SCHEMA}."T.Odd" ("Name", size, code, pair, cash, span, spans, bits, mac, vec, pt, nums, grid, days, tz, c, n, j, big)
     SELECT 'n' || g, (ARRAY['small', 'large'])[1 + g % 2]::${SCHEMA}."Size", 'c' || g, ROW(g, 'b"' || g)::${SCHEMA}.pair, g * 1.5::numeric::money, int4range(g, g + 3), tstzrange('-infinity', '2024-01-01+00'),
       g::bit(4)::bit varying(9), ('08:00:2b:01:02:0' || g)::macaddr, 'a fat cat'::tsvector, point(g, 1.1), ARRAY[1.10, NULL, 'NaN'], '[0:1]={1,2}', '1 mon -2 days 03:00:00.5', '10:00+02', 'x', 'nn', '{"b" : 1, "a":2, "b":3}', g / 3.0
     FROM generate_series(1, 5) g`,
  `INSERT INTO ${SCHEMA}."T.Odd" ("Name") VALUES (NULL)`,
  `CREATE TABLE ${SCHEMA}.${LONG_TABLE} (id integer, ${LONG_COLUMN} text)`,
  `INSERT INTO ${SCHEMA}.${LONG_TABLE} VALUES (1, 'one'), (7, 'seven')`,
  `CREATE TABLE ${SCHEMA}.empty (id integer, v text)`,
];
const TEXTS = 'size code pair cash span spans bits mac vec pt nums grid days tz c n j'.split(' ');
const ODD = `id, "Name" AS name, ${TEXTS.join(', ')}, big, twice`;
const PROPERTIES = `id integer, name string, ${TEXTS.map((t) => `${t} string`).join(', ')}, big decimal, twice integer`;

let service: TestService;
let other: LocalPostgres;
let caches: TestCaches;
beforeAll(async () => {
  other = await borrowPostgres();
  await other.exec('CREATE SCHEMA cached');
  await other.exec('CREATE TABLE public.t_sale (no integer)');
  await other.exec('INSERT INTO public.t_sale SELECT generate_series(1, 9)');
  service = await startService({
    tables: TABLES,
    settings: (database) => ({
      DATASOURCE_MAIN_WRITER: database.secret(DEVELOPER),
      DATASOURCE_OTHER: other.secret(READER),
      DATASOURCE_OTHER_WRITER: other.secret(DEVELOPER),
    }),
  });
  caches = new TestCaches(service);
  await service.rows("CREATE DATASOURCE other TYPE postgres SECRET 'DATASOURCE_OTHER'");
  await service.rows(
    `CREATE ONTOLOGY shop;
ALTER ONTOLOGY shop ADD DATASOURCE other;
CREATE CONCEPT odd (${PROPERTIES}, PRIMARY KEY (id));
CREATE MAPPING m_odd INTO odd AS SELECT ${ODD} FROM ${SCHEMA}."T.Odd";
CREATE MAPPING m_long INTO odd AS SELECT id, ${LONG_COLUMN} AS name FROM ${SCHEMA}.${LONG_TABLE};
CREATE MAPPING m_empty INTO odd AS SELECT id, v AS name FROM ${SCHEMA}.empty;
CREATE CONCEPT sale (no integer, PRIMARY KEY (no));
CREATE MAPPING m_sale INTO sale USING other AS SELECT no FROM public.t_sale;
CREATE ONTOLOGY CUBE per AS SELECT name, twice, SUM(big) AS s, AVG(big) AS a, COUNT(id) AS n, MAX(name) AS m FROM dsvc.odd`,
    'shop',
  );
});
afterAll(async () => {
  await service?.close();
  await other?.close();
});

const names = [...PROPERTIES.matchAll(/(\w+) \w+(?:,|$)/g)].map((m) => m[1] as string);
const QUERIES = [
  `SELECT ${names.join()} FROM svc.odd ORDER BY id NULLS LAST, name`,
  ...names.flatMap((n) => [
    `SELECT ${n}, COUNT(*) AS rows FROM svc.odd GROUP BY ${n} ORDER BY ${n}`,
    `SELECT id FROM svc.odd WHERE ${n} IS NOT NULL ORDER BY ${n}, id`,
  ]),
  "SELECT id FROM svc.odd WHERE size > 'small' ORDER BY id",
  "SELECT id FROM svc.odd WHERE name = 'seven'",
  'SELECT twice, s, a, n, m FROM vsvc.per ORDER BY twice',
  'SELECT name, s FROM vsvc.per WHERE twice = 7 ORDER BY name',
  'SELECT COUNT(*) AS n FROM svc.odd a JOIN svc.odd b ON a.id = b.id',
];
async function answers(): Promise<string[]> {
  forgetSnapshots();
  const texts: string[] = [];
  for (const sql of QUERIES) texts.push(`${sql}: ${(await service.query(sql, 'shop')).text.replace(/"request_id":"[^"]*"/, '')}`);
  return texts;
}

it('answers are the same, whichever of the mappings are cached, and those of cubes over them', async () => {
  const live = await answers();
  expect(live.filter((t) => t.includes('"status":"error"')).length).toBeLessThan(live.length / 4);
  for (const sql of [
    "CACHE MAPPING m_odd OPTIONS (schema = 'cached')",
    "CACHE CUBE per OPTIONS (schema = 'cached')",
    "CACHE MAPPING m_long OPTIONS (schema = 'cached', incremental = 'id')",
    'CACHE MAPPING m_long',
    "CACHE MAPPING m_empty OPTIONS (schema = 'cached')",
  ]) {
    await service.rows(sql, 'shop');
    expect(await answers(), sql).toEqual(live);
  }
  const [{ PLAN }] = await service.rows('EXPLAIN SELECT id FROM svc.odd', 'shop');
  for (const m of ['m_odd', 'm_long', 'm_empty']) expect(PLAN).toContain(`Cached mapping ${m}`);
});

it('are the same in another database, or refused; a script may remove a cache and make it again', async () => {
  const message = await caches.refusal("CACHE MAPPING m_odd USING other OPTIONS (schema = 'cached')");
  expect(message).toContain('cannot be cached in another datasource');
  for (const m of ['m_long', 'm_empty']) await service.rows(`UNCACHE MAPPING ${m}; CACHE MAPPING ${m} USING other OPTIONS (schema = 'cached')`, 'shop');
  await service.rows('UNCACHE MAPPING m_odd; DROP MAPPING m_odd', 'shop');
  expect(await service.rows('SELECT s.no, o.name FROM svc.sale s JOIN svc.odd o ON o.id = s.no ORDER BY s.no', 'shop')).toEqual([
    { no: 1, name: 'one' },
    { no: 7, name: 'seven' },
  ]);
});

it('leave no table in either database after DROP ONTOLOGY, also if one of them cannot be reached then', async () => {
  const tables = async (): Promise<number> => {
    const sql = "SELECT tablename FROM pg_tables WHERE schemaname = 'cached'";
    return (await service.database.superuser(sql)).length + (await other.superuser(sql)).length;
  };
  await service.rows("CACHE MAPPING m_long OPTIONS (schema = 'cached')", 'shop');
  expect(await tables()).toBeGreaterThan(2);
  const real = globalThis.fetch;
  let isDown = true;
  const host = new URL(other.endpoint).host;
  globalThis.fetch = async (input, init) => {
    const headers = new Headers(init?.headers);
    if (isDown && String(input).includes(host) && headers.get('neon-connection-string')?.includes(`//${DEVELOPER}:`)) throw new TypeError('unreachable');
    return real(input, init);
  };
  try {
    // a copy that fails leaves its table, if it can, and the ontology is dropped then
    expect((await service.query("CACHE MAPPING m_empty USING other OPTIONS (schema = 'cached')", 'shop')).status).toBe(502);
    await service.rows('DROP ONTOLOGY shop; DROP DATASOURCE other');
    await caches.dropDue();
    expect(await tables()).toBeGreaterThan(0);
  } finally {
    isDown = false;
    globalThis.fetch = real;
  }
  await sweepCaches((await service.request(service.token)).runtime);
  expect(await tables()).toBe(0);
  expect(await service.database.superuser('SELECT table_name FROM kg_catalog.cache_tables')).toEqual([]);
});
