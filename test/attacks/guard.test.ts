/** Attacks on the allowed functions, as requests: the statement, the answer, and its position. None reaches the datasource. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startService, type TestService } from '../support/service.ts';

let s: TestService;
let token: string;

beforeAll(async () => {
  s = await startService();
  await s.database.exec('CREATE SCHEMA shop');
  await s.database.exec('CREATE TABLE shop.t_city (id bigint PRIMARY KEY, name text, info jsonb)');
  await s.database.exec(`INSERT INTO shop.t_city VALUES (1, 'Berlin', '{"zip": "10115"}'), (2, 'Lyon', '{"zip": "69001"}')`);
  await s.rows(
    `CREATE ONTOLOGY shop; CREATE CONCEPT city (id bigint, name string, info json, PRIMARY KEY (id));
CREATE MAPPING m INTO (city) AS SELECT id, name, info FROM shop.t_city; CREATE USER rex; GRANT QUERY ON ALL ontology.shop TO USER rex; GRANT EDIT ON ALL ontology.shop TO USER rex;
GRANT QUERY ON datasource.main TO USER rex`,
    'shop',
  );
  token = String((await s.rows('CREATE TOKEN FOR rex'))[0]?.token);
  s.reached();
});
afterAll(() => s?.close());

const headers = (type: string): Record<string, string> => ({ 'x-api-key': token, 'content-type': type });
async function ask(sql: string) {
  const body = JSON.stringify({ ontology_name: 'shop', query: sql });
  const response = await s.fetch('/svc/api/query', { method: 'POST', headers: headers('application/json'), body });
  // biome-ignore lint/suspicious/noExplicitAny: answers of every shape
  return { status: response.status, json: (await response.json()) as any };
}

/** The attack, its code, and the text at the position of the answer. */
type Attack = readonly [sql: string, code: string, at: string];
const FIELD = 'forbidden_function';
const ATTACKS: Readonly<Record<string, readonly Attack[]>> = {
  'a field that PostgreSQL reads as a call': [
    ["SELECT ('SELECT 1').ts_stat", FIELD, "'SELECT 1'"],
    ['SELECT (NULL::int4).pg_stat_get_activity', FIELD, '::'],
    ['SELECT (id::int4).pg_terminate_backend FROM svc.city', FIELD, '::'],
    ["SELECT ('server_version').current_setting", FIELD, "'server_version'"],
    ['SELECT (2::float8).pg_sleep', FIELD, '::'],
    ["SELECT ('pg_class').regclass", FIELD, "'pg_class'"],
    ["SELECT (upper('x')).pg_sleep", FIELD, 'upper'],
    ['SELECT ((SELECT 2::float8)).pg_sleep', FIELD, '((SELECT'],
    ['SELECT (ARRAY[1.0]).pg_sleep', FIELD, 'ARRAY'],
    ["SELECT (ARRAY['a'])[1].current_setting", FIELD, 'ARRAY'],
    ["SELECT (CASE WHEN true THEN 'a' END).ts_stat", FIELD, 'CASE'],
    ["SELECT (coalesce('a', 'b')).ts_stat", FIELD, 'coalesce'],
    ['SELECT (ROW(1, 2)).pg_sleep', FIELD, 'ROW'],
    ["SELECT (r).current_setting FROM (VALUES ('server_version')) AS r", 'unknown_column', 'r)'],
    ['SELECT (c).pg_sleep FROM svc.city c', 'unknown_column', 'c)'],
    ['SELECT (c.name).ts_stat FROM svc.city c', FIELD, 'c.name'],
    ['SELECT name FROM svc.city c WHERE (c.id::float8).pg_sleep IS NULL', FIELD, '::'],
    ['SELECT count((name).ts_stat) FROM svc.city', FIELD, 'name'],
    ['SELECT name FROM svc.city ORDER BY (name).ts_stat', FIELD, 'name)'],
  ],
  'a call': [
    ['SELECT pg_sleep(1)', FIELD, 'pg_sleep'],
    ['SELECT pg_catalog.pg_sleep(1)', FIELD, 'pg_catalog.pg_sleep'],
    ['SELECT "pg_sleep"(1)', FIELD, '"pg_sleep"'],
    ["SELECT * FROM ts_stat('SELECT 1')", FIELD, 'ts_stat'],
    ["SELECT * FROM ROWS FROM (ts_stat('SELECT 1'), generate_series(1, 2)) AS r", FIELD, 'ts_stat'],
    ["SELECT query_to_xml('SELECT 1', true, true, '') FROM svc.city", FIELD, 'query_to_xml'],
    ['SELECT count(*) FILTER (WHERE pg_sleep(1) IS NULL) FROM svc.city', FIELD, 'pg_sleep'],
    ['SELECT pg_sleep(id) OVER () FROM svc.city', FIELD, 'pg_sleep'],
    ['SELECT public.upper(name) FROM svc.city', FIELD, 'public.upper'],
    ['WITH w AS (SELECT lo_get(1)) SELECT 1 FROM w', FIELD, 'lo_get'],
  ],
  'a look-up in the catalog': [
    ["SELECT 'shop.t_city'::regclass", 'forbidden_type', 'regclass'],
    ["SELECT CAST('shop.t_city' AS pg_catalog.regclass)", 'forbidden_type', 'pg_catalog'],
    ['SELECT id::numeric(id, 2) FROM svc.city', 'unsupported_syntax', 'id, 2'],
    ['SELECT CAST(id AS numeric((SELECT 1))) FROM svc.city', 'unsupported_syntax', '(SELECT 1)'],
    ['SELECT name::bit(n) FROM svc.city', 'unsupported_syntax', 'n) FROM'],
    ["SELECT regclass 'shop.t_city'", 'forbidden_type', 'regclass'],
    ["SELECT ARRAY['shop.t_city']::regclass[]", 'forbidden_type', 'regclass'],
    ["SELECT to_regclass('shop.t_city')", FIELD, 'to_regclass'],
    ["SELECT * FROM json_to_record('{}') AS r (a regclass)", 'forbidden_type', 'regclass'],
    ['SELECT * FROM pg_catalog.pg_class', 'forbidden_relation', 'pg_catalog'],
    ['SELECT c.ctid FROM svc.city c', 'forbidden_column', 'c.ctid'],
    ['SELECT c.tableoid FROM svc.city c', 'forbidden_column', 'c.tableoid'],
  ],
};

describe.each(Object.entries(ATTACKS))('%s', (_, attacks) => {
  it.each(attacks)('%s', async (sql, code, at) => {
    const { status, json } = await ask(sql);
    expect([status, json.code]).toEqual([400, code]);
    expect(sql.slice(json.position - 1).slice(0, at.length)).toBe(at);
    expect((await ask(`EXPLAIN ${sql}`)).json.code).toBe(code);
    expect(s.reached()).toEqual([]);
  });
});

describe('an untyped constant next to the name of a type', () => {
  // pg_typeof returns a regtype: PostgreSQL would look up a constant that is compared or united with it in the catalog
  const AROUND: readonly ((constant: string) => string)[] = [
    (c) => `SELECT CASE WHEN true THEN '${c}' ELSE pg_typeof(1) END AS v`,
    (c) => `SELECT '${c}' AS v UNION ALL SELECT pg_typeof(1)`,
    (c) => `SELECT v.column1 AS v FROM (VALUES ('${c}'), (pg_typeof(1))) AS v`,
    (c) => `SELECT coalesce('${c}', pg_typeof(1)) AS v`,
    (c) => `SELECT pg_typeof(1) = '${c}' AS v`,
    (c) => `SELECT pg_typeof(1) IN ('${c}', 'text') AS v`,
    (c) => `SELECT ARRAY['${c}', pg_typeof(1)] AS v`,
    (c) => `SELECT nullif(pg_typeof(1), '${c}') AS v`,
    (c) => `SELECT pg_typeof(1) BETWEEN '${c}' AND '${c}' AS v`,
  ];
  it.each(AROUND)('reveals nothing about tables: %s', async (sql) => {
    // the row type of a table is a type with the table's name
    const there = await ask(sql('shop.t_city'));
    const missing = await ask(sql('shop.t_nono'));
    expect(there.status).toBe(200);
    expect(JSON.stringify(there.json.data).replaceAll('t_city', 't_nono')).toBe(JSON.stringify(missing.json.data));
    s.reached();
  });
});

describe('a field that a value has', () => {
  it.each([
    ['SELECT (c).name FROM svc.city c ORDER BY 1', [{ name: 'Berlin' }, { name: 'Lyon' }]],
    ['SELECT (q).n FROM (SELECT name AS n FROM svc.city) q ORDER BY 1', [{ n: 'Berlin' }, { n: 'Lyon' }]],
    ['WITH w AS (SELECT 7 AS a) SELECT (w).a FROM w', [{ a: 7 }]],
    [`SELECT (jsonb_each('{"k": 1}'::jsonb)).key`, [{ key: 'k' }]],
    [`SELECT (jsonb_each(info)).value FROM svc.city WHERE id = 1`, [{ value: '10115' }]],
    ['SELECT (ROW(1, 2)).f2 AS b', [{ b: 2 }]],
  ])('is selected: %s', async (sql, rows) => {
    const { json } = await ask(sql);
    expect(json.data).toEqual(rows);
  });
});

describe('a sub-query in an expression over one row', () => {
  it('is refused within JSON_ARRAY, too', async () => {
    const query = 'JSON_ARRAY(SELECT name FROM shop.t_city)';
    expect(
      (
        await ask(
          `CREATE PROPERTY names string AS SELECT ${query}; CREATE OR REPLACE CONCEPT city (id bigint, name string, info json, names string, PRIMARY KEY (id))`,
        )
      ).json.code,
    ).toBe('bad_expression');
    await expect(s.rows(`CREATE POLICY m ON PROPERTY name MASK WITH (${query})`, 'shop')).rejects.toThrow('bad_expression');
  });
});
