/** Values, order and comparisons of cached rows are those of the mapping's own tables. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { DEVELOPER } from '../../dev/roles.ts';
import { startService, type TestService } from '../support/service.ts';

const LONG = `column_${'x'.repeat(70)}`;
const TABLES = [
  'CREATE SCHEMA shop',
  'CREATE SCHEMA cached',
  "CREATE TYPE shop.size AS ENUM ('small', 'large', 'huge')",
  'CREATE DOMAIN shop.code AS text CHECK (length(VALUE) < 9)',
  `CREATE TABLE shop.t (k integer, n numeric, s numeric(8,3), r real, f double precision, a inet, e shop.size, d shop.code, c text COLLATE "C", b char(5), v varchar(4),
     z timestamptz, t time, i interval, j jsonb, u uuid, l text[], o bytea)`,
  `INSERT INTO shop.t SELECT g, g * 1.10, g / 3.0, g / 3.0, g / 7.0::float8, ('10.0.0.' || g)::inet, (ARRAY['small', 'large', 'huge'])[1 + g % 3]::shop.size, 'c' || g,
     CASE WHEN g % 2 = 0 THEN 'B' ELSE 'a' END || g, 'x' || g, 'v' || g, '2024-01-01 00:00:00.123456+02'::timestamptz + g * interval '1 day', '10:00'::time, g * interval '1 day 1 s',
     jsonb_build_object('g', g), ('00000000-0000-0000-0000-00000000000' || g)::uuid, ARRAY['p', NULL], '\\x00ff'::bytea FROM generate_series(1, 5) g`,
  'INSERT INTO shop.t (k) VALUES (NULL), (NULL)',
  "INSERT INTO shop.t (k, n, r, f, z) VALUES (9, 'NaN', 'Infinity', '-0', 'infinity'), (9, '1.000', '0.1', '1e300', '0044-03-15 BC')",
];
const PROPERTIES =
  'k integer, n decimal, s decimal, r double, f double, a string, e string, d string, c string, b string, v string, z timestamp, t time, i string, j string, u string, w string, q integer, y string';
const SELECT = `SELECT k, n, s, r, f, a, e, d, c, b, v, z, t, i, j, u, 'w' AS w, NULL AS q, v AS ${LONG}, c || v AS y FROM shop.t`;

let service: TestService;
beforeAll(async () => {
  service = await startService({ tables: TABLES, settings: (database) => ({ DATASOURCE_MAIN_WRITER: database.secret(DEVELOPER) }) });
  await service.rows(
    `CREATE ONTOLOGY shop; CREATE CONCEPT item (${PROPERTIES}, ${LONG} string, PRIMARY KEY (k)); CREATE MAPPING m INTO item AS ${SELECT}`,
    'shop',
  );
});
afterAll(() => service.close());

it('values, order and comparisons are the same', async () => {
  const names = [...PROPERTIES.matchAll(/(\w+) \w+(?:,|$)/g)].map((m) => m[1] as string);
  const queries = [
    `SELECT ${names.join()}, ${LONG} FROM svc.item ORDER BY f, n`,
    ...names.flatMap((n) => [
      `SELECT ${n} FROM svc.item ORDER BY ${n} DESC`,
      `SELECT ${n}, COUNT(*) AS rows FROM svc.item GROUP BY ${n} ORDER BY ${n}`,
      `SELECT COUNT(*) AS rows, MAX(${n}) AS m FROM svc.item`,
    ]),
    "SELECT k FROM svc.item WHERE e > 'huge' ORDER BY k",
    "SELECT k FROM svc.item WHERE b = 'x1'",
    "SELECT k FROM svc.item WHERE c < 'a' ORDER BY k",
    "SELECT k FROM svc.item WHERE a < '10.0.0.3' ORDER BY k",
    'SELECT k FROM svc.item WHERE r = 0.1',
    "SELECT k FROM svc.item WHERE z > TIMESTAMP '2024-01-03' ORDER BY k",
  ];
  const answers = async () => {
    const texts: string[] = [];
    for (const sql of queries) texts.push(`${sql}: ${(await service.query(sql, 'shop')).text.replace(/"request_id":"[^"]*"/, '')}`);
    return texts;
  };
  const live = await answers();
  await service.rows("CACHE MAPPING m OPTIONS (schema = 'cached')", 'shop');
  const [{ PLAN }] = await service.rows('EXPLAIN SELECT k FROM svc.item', 'shop');
  expect(PLAN).toContain('Cached mapping m');
  expect(await answers()).toEqual(live);
  expect(live.filter((t) => t.includes('"error"')).length).toBeLessThan(live.length / 2);
});
