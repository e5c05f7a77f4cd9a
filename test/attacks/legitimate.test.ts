/** Unusual but allowed SQL, in statements and in models: it passes the guard and the verifier, and PostgreSQL runs it. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startService, type TestService } from '../support/service.ts';

const TABLES = [
  'CREATE SCHEMA shop',
  'CREATE SCHEMA "Große Daten"',
  'CREATE TABLE shop.t_city (id bigint PRIMARY KEY, name text, pop int, tags text[], doc jsonb, since timestamptz, "Mixed Col" text, "größe" numeric)',
  'CREATE TABLE shop.t_person (id bigint PRIMARY KEY, name text, city_id bigint, boss_id bigint, born date, pay numeric, active boolean, kind text)',
  'CREATE TABLE "Große Daten"."Bestell Liste" ("Nr" bigint, "Preis €" numeric, "select" text, city bigint, name text)',
  'CREATE TABLE shop.t_lang (person_id bigint, lang text, value text)',
  "CREATE FUNCTION shop.twice(x numeric) RETURNS numeric LANGUAGE sql IMMUTABLE AS 'SELECT x * 2'",
  `CREATE FUNCTION shop.parts() RETURNS TABLE (id bigint, md5 text) LANGUAGE sql STABLE AS 'SELECT id, name FROM shop.t_person'`,
  // functions that return several rows cannot be allowed; a view of the datasource can read them
  'CREATE VIEW shop.v_parts AS SELECT * FROM shop.parts()',
  `INSERT INTO shop.t_city VALUES (1, 'Bern', 130, '{a,b}', '{"a":{"b":[1,2,3]},"k":"v"}', '2020-01-01', 'mix', 1.5), (2, 'Köln', 1000, '{}', '[]', '2021-05-05', null, 2.5)`,
  `INSERT INTO shop.t_person VALUES (1, 'Ann', 1, null, '1990-01-01', 10, true, 'x'), (2, 'Bob', 2, 1, '1985-02-02', 20, false, 'y'), (3, 'Cy', 2, 2, '1999-09-09', 30, true, 'x')`,
  `INSERT INTO "Große Daten"."Bestell Liste" VALUES (1, 9.5, 's', 1, 'n'), (2, 8, 't', 2, 'm')`,
  `INSERT INTO shop.t_lang VALUES (1, 'en', 'x'), (1, 'de', 'y'), (2, 'en', 'z')`,
];

const MODEL = [
  'CREATE ONTOLOGY shop',
  'CREATE CONCEPT city (id bigint, name string, pop int, doc json, since timestamp, "größe" decimal, PRIMARY KEY (id), LABEL (name)); CREATE CONCEPT person (id bigint, name string, city_id bigint, boss_id bigint, born date, pay decimal, active boolean, PRIMARY KEY (id), CONSTRAINT lives_in FOREIGN KEY (city_id) REFERENCES city (id) INVERSEOF has_person, CONSTRAINT boss FOREIGN KEY (boss_id) REFERENCES person (id) INVERSEOF team TRANSITIVE(3), CONSTRAINT nick MULTIVALUE string, CONSTRAINT knows MULTIREFERENCE person INVERSEOF known_by, total MEASURE decimal)',
  `CREATE MAPPING m_city INTO (city) AS SELECT id, name, pop, doc, since, "größe" FROM shop.t_city`,
  'CREATE MAPPING m_person INTO (person) AS SELECT id, name, city_id, boss_id, born, pay, active FROM shop.t_person',
  'CREATE MAPPING m_nick INTO (person) MULTIVALUE nick AS SELECT person_id AS id, value AS nick FROM shop.t_lang',
  'CREATE VIEW v1 AS SELECT name AS "Name!", count(*) AS n FROM dsvc.person GROUP BY 1',
  `CREATE VIEW v2 AS SELECT v."Name!" || 'x' AS y, n FROM vsvc.v1 v WHERE n > 0`,
  'CREATE VIEW v3 AS WITH a AS (SELECT * FROM vsvc.v2) SELECT a.*, row_number() OVER w AS r FROM a WINDOW w AS (ORDER BY y)',
  'CREATE CONCEPT rich FROM dsvc.person WHERE pay > 15',
  'CREATE ONTOLOGY CUBE c1 AS SELECT name, "lives_in[city].name" AS cname, SUM("measure.total") AS total FROM dsvc.person',
];

const STATEMENTS = [
  'SELECT name, nick FROM dsvc.person',
  'SELECT p."knows[person].name", nick FROM dsvc.person p',
  'SELECT p FROM dsvc.person p',
  'SELECT to_jsonb(c) AS c FROM dsvc.city c',
  'SELECT "has_person[person].nick" AS n, count(*) FROM dsvc.city GROUP BY ROLLUP (n)',
  'SELECT "team[person*3].knows[person].name" FROM dsvc.person',
  'SELECT c.n FROM (SELECT name AS n, "has_person[person].name" AS m FROM dsvc.city) c WHERE c.m IS NOT NULL',
  'SELECT * FROM dsvc.thing',
  'SELECT t FROM svc.thing t',
  'SELECT dsvc.person.name FROM dsvc.person',
  'SELECT person.* FROM dsvc.person, svc.city',
  'SELECT PERSON."NAME" FROM SVC.PERSON',
  'SELECT "name" AS "NAME", name AS "näme", id AS "select" FROM svc.person ORDER BY "näme"',
  'SELECT name AS id, id AS name FROM svc.person ORDER BY name, id',
  'SELECT name AS pay FROM svc.person ORDER BY pay',
  'SELECT upper(name) AS name FROM svc.person ORDER BY name',
  'SELECT city_id, active, count(*) AS n FROM svc.person GROUP BY GROUPING SETS ((city_id), (active), ()) ORDER BY 1 NULLS FIRST, 2, n',
  'SELECT city_id, grouping(city_id, active) AS g FROM svc.person GROUP BY CUBE (city_id, active)',
  'SELECT city_id c, count(*) FROM svc.person GROUP BY ROLLUP (c)',
  'SELECT name, sum(pay) OVER w AS s, rank() OVER (w ROWS BETWEEN 1 PRECEDING AND CURRENT ROW) AS r FROM svc.person WINDOW w AS (PARTITION BY city_id ORDER BY id)',
  'SELECT p.name, x.n FROM svc.person p, LATERAL (SELECT count(*) AS n FROM svc.person q WHERE q.city_id = p.city_id) x',
  'SELECT p.name, x.* FROM svc.person p LEFT JOIN LATERAL (VALUES (p.id, p.name)) AS x(a, b) ON true',
  `SELECT v.* FROM (VALUES (1, 'a'), (2, 'b')) AS v("Größe", "select")`,
  `SELECT v.column1, column2 FROM (VALUES (1, 'a'), (2, 'b')) v`,
  'VALUES (1, 2), (3, 4)',
  'SELECT ROW(p.id, p.name) AS r, (ROW(1, 2)).f1 AS f FROM svc.person p',
  'SELECT (p).name AS n, (p).id FROM svc.person p',
  'SELECT (p).* FROM svc.person p',
  'SELECT p FROM svc.person p ORDER BY p.id',
  'SELECT p AS p, p.name AS name FROM svc.person AS p WHERE p IS NOT NULL',
  'SELECT to_jsonb(p) AS j, row_to_json(p) FROM svc.person p',
  'SELECT (SELECT q FROM svc.person q LIMIT 1) AS q',
  'SELECT array_agg(p ORDER BY p.id) AS a FROM svc.person p',
  'WITH a AS (WITH b AS (SELECT id FROM svc.person) SELECT * FROM b), b AS (SELECT id AS x FROM a) SELECT a.id, b.x FROM a, b',
  'WITH person AS (SELECT 1 AS one) SELECT one FROM person',
  'WITH RECURSIVE r(n, path) AS (SELECT id, ARRAY[id] FROM svc.person WHERE boss_id IS NULL UNION ALL SELECT p.id, r.path || p.id FROM r JOIN svc.person p ON p.boss_id = r.n) SELECT * FROM r',
  'WITH RECURSIVE r AS (SELECT id, boss_id FROM svc.person UNION ALL SELECT p.id, p.boss_id FROM r JOIN svc.person p ON p.boss_id = r.id) SEARCH DEPTH FIRST BY id SET o SELECT id, o FROM r ORDER BY o',
  'WITH RECURSIVE r AS (SELECT id, boss_id FROM svc.person UNION ALL SELECT p.id, p.boss_id FROM r JOIN svc.person p ON p.boss_id = r.id) CYCLE id SET is_c USING pth SELECT id, is_c, pth FROM r',
  `SELECT doc -> 'a' -> 'b' ->> 0 AS x, doc #>> '{a,b,1}' AS y, doc @> '{"k":"v"}' AS z FROM svc.city`,
  `SELECT e.key, e.value FROM svc.city c, jsonb_each(c.doc::jsonb) e WHERE jsonb_typeof(c.doc::jsonb) = 'object'`,
  'SELECT (jsonb_each(doc::jsonb)).key FROM svc.city WHERE id = 1',
  'SELECT key, v FROM svc.city, jsonb_each_text(doc::jsonb) AS t(key, v) WHERE id = 1',
  'SELECT c.name, t.x FROM svc.city c CROSS JOIN LATERAL jsonb_to_record(c.doc::jsonb) AS t(k text, x int) WHERE c.id = 1',
  `SELECT x.* FROM json_to_recordset('[{"a":1,"B":2}]') AS x(a int, "B" text)`,
  `SELECT json_agg(json_build_object('n', name) ORDER BY name) FILTER (WHERE active) AS j FROM svc.person`,
  `SELECT jsonb_path_query_array(doc::jsonb, '$.a.b[*] ? (@ > 1)') AS q FROM svc.city WHERE id = 1`,
  'SELECT (ARRAY[1,2,3])[2:3] AS a, (ARRAY[[1,2],[3,4]])[1][2] AS b, ARRAY(SELECT id FROM svc.person ORDER BY id) AS c',
  `SELECT u, o FROM unnest(ARRAY['a','b']) WITH ORDINALITY AS t(u, o)`,
  `SELECT * FROM ROWS FROM (generate_series(1,3), unnest(ARRAY['x','y'])) AS t(a, b)`,
  'SELECT g FROM generate_series(1, 3) g',
  'SELECT g.g + 1 AS h FROM generate_series(1, 3) g',
  'SELECT t FROM unnest(ARRAY[1,2]) AS t',
  'SELECT a.* FROM generate_series(1, 2) AS a("Ä")',
  'SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY pay) AS m, mode() WITHIN GROUP (ORDER BY city_id) AS mo FROM svc.person',
  'SELECT name FROM svc.person WHERE (id, name) IN (SELECT id, name FROM svc.person WHERE active)',
  'SELECT name FROM svc.person WHERE (id, city_id) < (2, 5) AND id = ANY (ARRAY[1,2])',
  `SELECT extract(year FROM born) AS y, born + interval '1 day' AS d, born AT TIME ZONE 'UTC' AS t FROM svc.person`,
  `SELECT position('n' IN name), substring(name FROM 1 FOR 2) AS sub, trim(both 'A' FROM name) AS t, overlay(name PLACING 'x' FROM 1) AS o FROM svc.person`,
  'SELECT DISTINCT ON (city_id) city_id, name FROM svc.person ORDER BY city_id, name DESC',
  'SELECT id FROM svc.person UNION (SELECT id FROM svc.city EXCEPT SELECT 1) ORDER BY id LIMIT 2 OFFSET 1',
  'SELECT id FROM svc.person ORDER BY pay FETCH FIRST 2 ROWS WITH TIES',
  'SELECT "lives_in[city].name", name FROM dsvc.person ORDER BY "lives_in[city].name"',
  'SELECT p."lives_in[city].name" AS city, count(*) FROM dsvc.person p GROUP BY city HAVING count(*) > 0',
  'SELECT name, "boss[person*2].name" FROM dsvc.person',
  'SELECT name, "~lives_in[person].name" FROM dsvc.city',
  'SELECT * FROM vsvc.v3',
  'SELECT v FROM vsvc.v3 v',
  'SELECT * FROM dsvc.rich',
  'SELECT entity_id, entity_label, name FROM dsvc.city',
  'SELECT shop.twice(pay) AS t FROM svc.person',
  'SELECT a.name, b.name AS other FROM svc.person a JOIN svc.person b USING (city_id) ORDER BY a.name',
  'SELECT * FROM svc.person a NATURAL JOIN (SELECT id, pop FROM svc.city) b',
  'SELECT u.id FROM svc.person a JOIN svc.city b USING (id) AS u',
  'SELECT city.name FROM svc.city AS city(a, name)',
  'SELECT c.a, c.b FROM svc.city AS c(a, b)',
  'SELECT count(*) FILTER (WHERE active) OVER (PARTITION BY city_id) AS c FROM svc.person',
  `SELECT CASE name WHEN 'Ann' THEN 1 ELSE 2 END AS c, coalesce(boss_id, 0), nullif(id, 1), greatest(id, 2) FROM svc.person`,
  'SELECT pg_typeof(pay) AS t FROM svc.person',
  'SELECT current_date AS d, now() AS n, localtimestamp AS l',
  `SELECT format('%s-%I', name, 'x') AS f, name LIKE 'A!%' ESCAPE '!' AS l, name SIMILAR TO '%n' AS s, name ~* 'a' AS r FROM svc.person`,
  `SELECT string_agg(DISTINCT name, ',' ORDER BY name) FROM svc.person`,
  'SELECT x.p FROM (SELECT p FROM svc.person p) x',
  'WITH c AS (SELECT p FROM svc.person p) SELECT (c).p FROM c',
  `SELECT svc_has_role('x') AS r`,
  'SELECT "größe" AS "GRÖSSE", "größe" * 2 AS "größe" FROM svc.city ORDER BY "GRÖSSE"',
  'SELECT EXISTS (SELECT FROM svc.person) AS e',
  'SELECT count(*) FROM svc.SYS_PROPERTIES p JOIN svc.SYS_CONCEPTS c ON true',
  'SELECT s FROM svc.SYS_CONCEPTS s',
  'SELECT t.a FROM (TABLE svc.person) AS t(a)',
  'SELECT (ARRAY[p.id, p.city_id])[1] AS first FROM svc.person p GROUP BY p.id, p.city_id',
  'SELECT p.id FROM svc.person p WHERE NOT EXISTS (SELECT 1 FROM svc.person p WHERE p.boss_id = 99)',
  `SELECT name || '' AS name FROM svc.person GROUP BY name ORDER BY name`,
  'SELECT sum(count(*)) OVER () AS c FROM svc.person GROUP BY city_id',
  'SELECT x FROM (SELECT 1 AS x) x',
  'SELECT x.x FROM (SELECT 1 AS x) AS x(x)',
  'SELECT count(p) FROM svc.person p LEFT JOIN svc.city c ON c.id = p.city_id WHERE c IS NULL',
  "SELECT array_to_string(array_agg(format('%s: %s', name, kind)), ', ') AS l FROM (SELECT name, city_id AS kind FROM svc.person) p GROUP BY kind",
  "SELECT array_to_string(ARRAY(SELECT format('%s: %s', x.name, x.pay) FROM svc.person x WHERE x.city_id = c.id), ', ') AS l FROM svc.city c",
  "SELECT array_to_string(ARRAY(SELECT to_char(g, 'YYYY-MM-DD') FROM generate_series(now(), now() + interval '7 days', interval '1 day') AS g), ', ') AS l",
  "SELECT json_build_object('a', json_build_object('rows', json_agg(json_build_object('name', name, 'pay', pay, 'born', born)), 'n', count(*))) AS l FROM svc.person",
  "SELECT ln(power(1.05, length(name))) AS l, string_agg(power(1.05, length(name))::numeric(20,2)::text, ', ') AS m FROM svc.person GROUP BY name",
  'SELECT sqrt(power(1.05, count(*))) AS l, json_agg(round(pay, id::int)) AS m FROM svc.person',
  'SELECT cname, total FROM vsvc.c1',
  'SELECT c.*, 1 AS one FROM vsvc.c1 c',
  'SELECT SUM("measure.total") AS t, "lives_in[city].name" AS c FROM dsvc.person GROUP BY c',
];

/** Columns of a concept, and the text of its mapping, which is also used as a raw view. */
const MAPPINGS: readonly (readonly [columns: string, text: string])[] = [
  ['Nr bigint, preis decimal', 'SELECT "Nr", "Preis €" AS preis FROM "Große Daten"."Bestell Liste"'],
  ['a bigint, b string', 'SELECT l."Nr" AS a, l."select" AS b FROM "Große Daten"."Bestell Liste" l WHERE l."Preis €" > 1'],
  ['id bigint, name string', 'SELECT * FROM shop.t_city'],
  ['id bigint, name string', 'SELECT c.* FROM shop.t_city c'],
  ['id bigint, name string', `SELECT id, 'x' || name AS name FROM shop.t_city ORDER BY name LIMIT 10`],
  ['id bigint, name string', 'SELECT name AS name, id FROM shop.t_city AS name'],
  ['id bigint, n bigint', 'SELECT city_id AS id, count(*) AS n FROM shop.t_person GROUP BY city_id HAVING count(*) > 0'],
  ['id bigint, n bigint', 'SELECT city_id AS id, count(*) AS n FROM shop.t_person GROUP BY id ORDER BY n'],
  ['id bigint, r bigint', 'SELECT id, row_number() OVER w AS r FROM shop.t_person WINDOW w AS (PARTITION BY city_id ORDER BY name)'],
  ['id bigint, city string', 'SELECT p.id, c.name AS city FROM shop.t_person p LEFT JOIN shop.t_city c ON c.id = p.city_id'],
  ['id bigint, lang string', 'SELECT person_id AS id, lang FROM shop.t_person p JOIN shop.t_lang l ON l.person_id = p.id'],
  ['id bigint, name string', 'WITH a AS (SELECT id, name FROM shop.t_city), b AS (SELECT * FROM a) SELECT b.id, b.name FROM b'],
  [
    'id bigint, lvl int',
    'WITH RECURSIVE r AS (SELECT id, 1 AS lvl FROM shop.t_person WHERE boss_id IS NULL UNION ALL SELECT p.id, r.lvl + 1 FROM r JOIN shop.t_person p ON p.boss_id = r.id) SELECT id, lvl FROM r',
  ],
  ['id bigint, x string', 'SELECT c.id, t.x FROM shop.t_city c, LATERAL unnest(c.tags) AS t(x)'],
  ['id bigint, x string, o bigint', 'SELECT c.id, x, o FROM shop.t_city c CROSS JOIN unnest(c.tags) WITH ORDINALITY AS t(x, o)'],
  ['id bigint, k string, v string', `SELECT c.id, e.key AS k, e.value AS v FROM shop.t_city c, jsonb_each_text(c.doc) e WHERE jsonb_typeof(c.doc) = 'object'`],
  ['id bigint, k string', 'SELECT id, key AS k FROM shop.t_city, jsonb_each_text(doc) WHERE id = 1'],
  ['id bigint, k string', 'SELECT c.id, r.k FROM shop.t_city c, jsonb_to_record(c.doc) AS r(k text, a jsonb) WHERE c.id = 1'],
  ['id bigint, el string', `SELECT id, value AS el FROM shop.t_city c CROSS JOIN LATERAL jsonb_array_elements_text(c.doc #> '{a,b}')`],
  ['id bigint, el string', `SELECT id, el FROM shop.t_city c CROSS JOIN LATERAL jsonb_array_elements_text(c.doc #> '{a,b}') el`],
  ['id bigint, v string', `SELECT * FROM (VALUES (1::bigint, 'a'), (2, 'b')) t(id, v)`],
  ['id bigint, v string', `SELECT column1 AS id, column2 AS v FROM (VALUES (1::bigint, 'a')) t`],
  ['id bigint, j json', 'SELECT id, to_jsonb(c) AS j FROM shop.t_city c'],
  ['id bigint, j json', 'SELECT id, row_to_json(t_city) AS j FROM shop.t_city'],
  ['id bigint, ns string', 'SELECT (c).id, (c).name AS ns FROM shop.t_city c'],
  ['id bigint, ns string', 'SELECT id, (SELECT name FROM shop.t_city x WHERE x.id = p.city_id) AS ns FROM shop.t_person p'],
  ['id bigint, ns string', 'SELECT id, name AS ns FROM shop.t_city UNION ALL SELECT id + 100, name FROM shop.t_person'],
  ['id bigint, ns string', 'SELECT id, ns FROM (SELECT id, name AS ns FROM shop.t_city UNION SELECT "Nr", "select" FROM "Große Daten"."Bestell Liste") u'],
  ['id bigint, name string', 'SELECT id, name FROM shop.t_person JOIN (SELECT id AS city_id, pop FROM shop.t_city) c USING (city_id)'],
  ['id bigint, name string', 'SELECT id, name FROM shop.t_person NATURAL JOIN (SELECT id AS city_id, pop FROM shop.t_city) c'],
  ['id bigint, name string', 'SELECT a.id, a.name FROM shop.t_person a NATURAL JOIN shop.t_person b'],
  ['id bigint, m string', 'SELECT id, "Mixed Col" AS m FROM shop.t_city WHERE "größe" IS NOT NULL'],
  ['id bigint, m string', 'SELECT c.a AS id, c.b AS m FROM shop.t_city AS c(a, b)'],
  ['id bigint, m string', 'SELECT DISTINCT ON (city_id) id, name AS m FROM shop.t_person ORDER BY city_id, born DESC'],
  ['id bigint, md decimal', 'SELECT city_id AS id, percentile_cont(0.5) WITHIN GROUP (ORDER BY pay) AS md FROM shop.t_person GROUP BY city_id'],
  ['id bigint, md decimal', 'SELECT id, shop.twice(pay) AS md FROM shop.t_person'],
  ['id bigint, m string', 'SELECT id, kind AS m FROM shop.t_person WHERE (id, kind) IN (SELECT id, kind FROM shop.t_person)'],
  [
    'id bigint, m string',
    'SELECT t.id, t.m FROM (SELECT id, kind AS m, row_number() OVER (PARTITION BY kind ORDER BY born DESC) AS rn FROM shop.t_person) t WHERE t.rn = 1',
  ],
  ['id bigint, m string', 'SELECT id, m FROM shop.t_person, LATERAL (SELECT kind AS m) z'],
  ['id bigint, m string', 'SELECT z.id, z.m FROM (shop.t_person p JOIN shop.t_lang l ON p.id = l.person_id) AS z(id, m)'],
  ['id bigint, m string', 'SELECT u.id, a.name AS m FROM shop.t_person a JOIN shop.t_city b USING (id) AS u'],
  ['id bigint, mt timestamp', `SELECT id, since AT TIME ZONE 'UTC' AS mt FROM shop.t_city`],
  ['id bigint, value string', 'SELECT person_id AS id, value FROM shop.t_lang'],
  ['id bigint, xb bigint', 'SELECT p.id, count(l) AS xb FROM shop.t_person p LEFT JOIN shop.t_lang l ON l.person_id = p.id GROUP BY p.id'],
  ['id bigint, x string', 'SELECT t_city.id, shop.t_city.name AS x FROM shop.t_city'],
  ['id bigint, x string', 'TABLE shop.t_city'],
  ['id bigint, x string', 'SELECT r.id, r.md5 AS x FROM shop.v_parts r(id, md5)'],
];

let s: TestService;
let reader: string;
beforeAll(async () => {
  s = await startService({ tables: TABLES });
  await s.rows(
    [
      'CREATE ONTOLOGY shop',
      "ALTER ONTOLOGY shop SET allowed_functions = 'shop.twice'",
      'CREATE MEASURE total decimal AS SELECT SUM(pay)',
      ...MODEL.slice(1),
    ].join('; '),
    'shop',
  );
  await s.rows("CREATE POLICY pm ON PROPERTY born MASK NULL; CREATE POLICY pr ON CONCEPT city TO PUBLIC USING (pop > 0 AND since > '1999-01-01')", 'shop');
  reader = await s.user('reader', 'QUERY ON ALL ontology.shop');
});
afterAll(() => s?.close());

const outcome = async (sql: string, token: string) => {
  const { status, json } = await s.query(sql, 'shop', token);
  return status === 200 ? 'answered' : JSON.stringify(json);
};

it.each(STATEMENTS)('%s', async (sql) => {
  expect(await outcome(sql, s.token)).toBe('answered');
  expect(await outcome(sql, reader)).toMatch(/^answered$|"code":"masked"/);
});

describe('a mapping, and a raw view', () => {
  it.each(MAPPINGS.map(([columns, text], i) => [text, columns, i] as const))('%s', async (text, columns, i) => {
    const key = columns.split(' ')[0];
    const concept = `CREATE CONCEPT k${i} (${columns}, PRIMARY KEY (${key})); CREATE MAPPING mk${i} INTO (k${i}) AS ${text}`;
    expect(await outcome(`${concept}; CREATE ONTOLOGY VIEW raw${i} USING main AS ${text}`, s.token)).toBe('answered');
    for (const of of [`svc.k${i}`, `dsvc.k${i}`, `vsvc.raw${i}`]) {
      for (const sql of [`SELECT * FROM ${of}`, `SELECT k.*, k AS whole FROM ${of} k`, `SELECT count(*) AS n, array_agg(k) AS a FROM ${of} k`])
        expect(await outcome(sql, s.token), sql).toBe('answered');
    }
  });
});

/** Texts with a name that PostgreSQL would not find either, or with a function whose columns are not listed: an error for the writer, not for the operator. */
const WRONG_NAMES: readonly (readonly [text: string, message: string])[] = [
  ['SELECT p.id, c.name FROM shop.t_person p', 'no table `c`'],
  ['SELECT t_person.id FROM shop.t_person p', 'no table `t_person`'],
  ['SELECT shop.t_person.id FROM shop.t_person p', 'no table `shop.t_person`'],
  ['SELECT p.id FROM (shop.t_person p JOIN shop.t_lang l ON l.person_id = p.id) AS j', 'no table `p`'],
  ['SELECT p.id FROM shop.t_person p, (SELECT p.kind) q', 'no table `p`'],
  ['SELECT id FROM shop.t_person ORDER BY nope.kind', 'no table `nope`'],
  ['SELECT nope.* FROM shop.t_person', 'no table `nope`'],
  ['WITH a AS (SELECT id FROM shop.t_person) SELECT id, kind FROM a', 'no column `kind`'],
  ['SELECT u.id, u.md5 FROM shop.t_person a JOIN shop.t_city b USING (id) AS u', 'no column `md5`'],
  ['SELECT r.id, r.md5 FROM shop.twice(1) r', 'no column `id`'],
];

it.each(WRONG_NAMES)('the error of %s names the name', async (text, message) => {
  for (const [made, code] of [
    [`CREATE ONTOLOGY VIEW wrong USING main AS ${text}`, 'view_failed'],
    [`CREATE CONCEPT wrong (id bigint, PRIMARY KEY (id)); CREATE MAPPING wrong INTO (wrong) AS ${text}`, 'mapping_failed'],
  ] as const) {
    const { status, json } = await s.query(made, 'shop', s.token);
    expect([status, json.code, json.data]).toEqual([400, code, expect.stringContaining(message)]);
  }
});
