/** CACHE MAPPING ... USING through the routes, with two databases: rows of one are kept in the other, and joined with rows there. */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { DEVELOPER, READER } from '../../dev/roles.ts';
import type { LocalPostgres } from '../../dev/testing.ts';
import { forgetSnapshots } from '../../src/catalog/snapshot.ts';
import { borrowPostgres } from '../support/databases/index.ts';
import { startService, type TestService } from '../support/service.ts';
import { TestCaches } from './support/caches.ts';
import { sentWith } from './support/sent.ts';

const VALUES = `k integer, n numeric, s numeric(8,3), r real, f double precision, c text COLLATE "C", b char(5), v varchar(4), z timestamptz, m timestamp, d date, t time, i interval,
  j json, jb jsonb, u uuid, l text[], nn numeric[], o bytea, a inet, yes boolean, g bigint, x text`;
const TABLES = [
  'CREATE SCHEMA shop',
  `CREATE TABLE shop.t_item (${VALUES})`,
  `INSERT INTO shop.t_item SELECT g, g * 1.10, g / 3.0, g / 3.0, g / 7.0::float8, 'c' || g, CASE WHEN g % 2 = 0 THEN 'B' ELSE 'a' END || g, 'v' || g, '2024-01-01 00:00:00.123456+02'::timestamptz + g * interval '1 day',
     '2024-01-01 10:00:00.000001'::timestamp + g * interval '1 h', '2024-02-27'::date + g, '10:00:00.5'::time, g * interval '1 day 1 s', ('{"b" :  ' || g || ', "a": "]["}')::json, jsonb_build_object('g', g, 'q', '"],["\\'),
     ('00000000-0000-0000-0000-00000000000' || g)::uuid, ARRAY['p,"', NULL, '{}\\'], ARRAY[1.10, NULL, 'NaN'], '\\x00ff5c'::bytea, ('10.0.0.' || g || '/24')::inet, g % 2 = 0, g * 1000000007::bigint * 1000,
     E'],["\\\\\\t\\n\\u00e9\\U0001F600 \\'' || repeat('long ', g) FROM generate_series(1, 5) g`,
  "INSERT INTO shop.t_item (k, n, r, f, z, m, d, jb, l, x) VALUES (9, 'NaN', 'Infinity', '-0', 'infinity', '-infinity', '0044-03-15 BC', 'null', '{}', ''), (10, '1.000', '0.1', '1e300', '0044-03-15 BC', NULL, NULL, NULL, NULL, NULL)",
];
const COLUMNS = VALUES.split(',')
  .map((c) => c.trim().split(' ')[0] as string)
  .filter((c) => !/^\d/.test(c));
const TEXTS = COLUMNS.map((c) => (c === 'k' ? 'k' : c === 'b' ? "'[' || b || ']' AS b" : `${c}::text AS ${c}`)).join(', ');
const ITEM = `k integer, ${COLUMNS.slice(1)
  .map(
    (c) =>
      `${c} ${({ n: 'decimal', s: 'decimal', r: 'double', f: 'double', z: 'timestamp', g: 'bigint', yes: 'boolean', d: 'date' } as Record<string, string>)[c] ?? 'string'}`,
  )
  .join(', ')}`;
const MODEL = `CREATE ONTOLOGY shop;
ALTER ONTOLOGY shop ADD DATASOURCE other;
CREATE CONCEPT item (${ITEM}, PRIMARY KEY (k));
CREATE MAPPING m_item INTO item AS SELECT ${COLUMNS.join(', ')} FROM shop.t_item;
CREATE CONCEPT sale (no integer, k integer, city string, PRIMARY KEY (no), CONSTRAINT of_item FOREIGN KEY (k) REFERENCES item (k));
CREATE MAPPING m_sale INTO sale USING other AS SELECT no, k, city FROM shop.t_sale`;
const CACHE = "CACHE MAPPING m_item USING other OPTIONS (schema = 'cached', max_age = '1 hour')";
const JOIN = 'SELECT s.no, "of_item[item].n" AS n, "of_item[item].x" AS x FROM dsvc.sale s ORDER BY s.no';

let service: TestService;
let caches: TestCaches;
let other: LocalPostgres;
const clock = { ahead: 0 };

const asked: TestCaches['asked'] = (sql, token) => caches.asked(sql, token);

beforeAll(async () => {
  other = await borrowPostgres();
  for (const sql of ['CREATE SCHEMA shop', 'CREATE SCHEMA cached', 'CREATE TABLE shop.t_sale (no integer, k integer, city text)']) await other.exec(sql);
  await other.exec(
    "INSERT INTO shop.t_sale SELECT g, CASE WHEN g % 4 = 0 THEN NULL ELSE g % 10 END, CASE WHEN g % 2 = 0 THEN 'Rome' ELSE 'Oslo' END FROM generate_series(1, 20) g",
  );
  service = await startService({
    tables: TABLES,
    settings: { DATASOURCE_OTHER: other.secret(READER), DATASOURCE_OTHER_WRITER: other.secret(DEVELOPER) },
    parts: { now: () => Date.now() + clock.ahead },
  });
  caches = new TestCaches(service, other);
  await service.rows("CREATE DATASOURCE other TYPE postgres SECRET 'DATASOURCE_OTHER'");
  await service.rows(MODEL, 'shop');
});
afterAll(async () => {
  await service.close();
  await other.close();
});
beforeEach(() => {
  clock.ahead = 0;
});

describe('a mapping that is cached in another datasource', () => {
  it('can be joined with the rows there, and only while the rows are young enough', async () => {
    expect(await service.fault(JOIN, 'shop')).toBe('400 several_datasources');
    const [made] = await service.rows(CACHE, 'shop');
    expect(made).toMatchObject({ mapping: 'm_item', rows: 7 });
    const joined = await asked(JOIN);
    expect(joined.asOf).toBe(made.as_of);
    const items = new Map((await service.database.superuser('SELECT k, n::text AS n, x FROM shop.t_item')).map((r) => [r.k, r]));
    const wanted = (await other.superuser('SELECT no, k FROM shop.t_sale ORDER BY no')).map(({ no, k }) => ({
      no,
      n: items.get(k)?.n ?? null,
      x: items.get(k)?.x ?? null,
    }));
    const numbered = (rows: readonly Record<string, unknown>[]): unknown[] => rows.map((r) => ({ ...r, n: r.n === null ? null : String(Number(r.n)) }));
    expect(numbered(joined.rows)).toEqual(numbered(wanted));
    // a query that needs one datasource reads the mapping's own tables
    expect((await asked('SELECT k FROM svc.item')).asOf).toBeNull();
    const [{ PLAN }] = await service.rows(`EXPLAIN ${JOIN}`, 'shop');
    expect(PLAN).toContain('Cached mapping m_item: rows of cached.m_');
    clock.ahead = 3_600_000;
    expect(await service.fault(JOIN, 'shop')).toBe('400 several_datasources');
  });

  it('can be joined with system tables there, also under a limit', async () => {
    await service.rows(CACHE, 'shop');
    const here = await service.database.superuser('SELECT k FROM shop.t_item');
    const keys = new Set(here.map((r) => r.k));
    const wanted = (await other.superuser('SELECT k FROM shop.t_sale')).filter((r) => keys.has(r.k)).length;
    for (const [table, condition] of [
      ['SYS_CONCEPTS', "c.concept = 'sale'"],
      ['SYS_USERS', "c.user_name = 'admin'"],
    ]) {
      const sql = `SELECT count(*) AS n FROM svc.sale s JOIN svc.item i ON i.k = s.k JOIN ${table} c ON ${condition}`;
      expect((await asked(sql)).rows, table).toEqual([{ n: wanted }]);
      const limited = await service.fetch('/svc/api/query/', {
        method: 'POST',
        headers: { 'content-type': 'application/json', 'x-api-key': service.token, 'results-limit': '5' },
        body: JSON.stringify({ ontology_name: 'shop', query: sql }),
      });
      expect(await limited.text(), table).toContain(`"n":${wanted}}`);
    }
  });

  it('has the same values', async () => {
    await service.rows(CACHE, 'shop');
    const stored = (c: string, i: number): string => (c === 'k' ? 'c1' : c === 'b' ? `'[' || c${i + 1} || ']'` : `c${i + 1}::text`);
    const current = (await service.rows('SHOW CACHES', 'shop'))[0].table_name;
    expect((await caches.tables()).map((t) => `cached.${t}`)).toContain(current);
    const there = await other.superuser(`SELECT ${COLUMNS.map((c, i) => `${stored(c, i)} AS ${c}`).join(', ')} FROM ${current} ORDER BY c1`);
    const here = await service.database.superuser(`SELECT ${TEXTS} FROM shop.t_item ORDER BY k`);
    expect(there).toEqual(here);
    const types = await other.superuser(
      `SELECT string_agg(t.typname, ',' ORDER BY attnum) AS types, string_agg(DISTINCT attcollation::regcollation::text, ',') AS collations FROM pg_attribute a JOIN pg_type t ON t.oid = atttypid WHERE attrelid = '${current}'::regclass AND attnum > 0`,
    );
    const own = await service.database.superuser(
      "SELECT string_agg(t.typname, ',' ORDER BY attnum) AS types, string_agg(DISTINCT attcollation::regcollation::text, ',') AS collations FROM pg_attribute a JOIN pg_type t ON t.oid = atttypid WHERE attrelid = 'shop.t_item'::regclass AND attnum > 0",
    );
    expect(types).toEqual(own);
  });

  it('streams many rows in parts', async () => {
    await service.database.exec("INSERT INTO shop.t_item (k, x) SELECT g, repeat(E'\\u00e9\\\\\"][', 40) || g FROM generate_series(100, 12000) g");
    const counted = await sentWith('INSERT INTO', async () => expect(await service.rows(CACHE, 'shop')).toMatchObject([{ rows: 11908 }]));
    expect(counted.length).toBeGreaterThan(3);
    expect(Math.max(...counted.map((c) => c.length))).toBeLessThan(3_000_000);
    const [{ table_name }] = await service.rows('SHOW CACHES', 'shop');
    const digest = 'count(*)::text AS n, md5(string_agg(%, chr(0) ORDER BY #)) AS d'.replace('chr(0)', "'|'");
    const [there] = await other.superuser(`SELECT ${digest.replace('%', 'c23').replace('#', 'c1')} FROM ${table_name}`);
    const [here] = await service.database.superuser(`SELECT ${digest.replace('%', 'x').replace('#', 'k')} FROM shop.t_item`);
    expect(there).toEqual(here);
    await service.database.exec('DELETE FROM shop.t_item WHERE k >= 100');
    await service.rows(CACHE, 'shop');
  });

  it('is read under the policies, masks and rights of a caller', async () => {
    const all = await service.user('all', 'QUERY ON ALL ontology.shop', 'QUERY ON datasource.main', 'QUERY ON datasource.other');
    const few = await service.user('few', 'QUERY ON ontology.shop.concept.sale');
    const sql = 'SELECT s.no, i.n, i.x FROM svc.sale s JOIN svc.item i ON i.k = s.k ORDER BY s.no';
    const everything = (await asked(sql, all)).rows;
    await service.rows('CREATE POLICY some ON CONCEPT item TO USER all USING (k < 3); CREATE POLICY hide ON PROPERTY x MASK NULL EXCEPT USER admin', 'shop');
    const mine = (await asked(sql, all)).rows;
    const sales = await other.superuser('SELECT no FROM shop.t_sale WHERE k < 3 AND k IN (1, 2, 3, 4, 5, 9) ORDER BY no');
    expect(mine.map((r) => [r.no, r.x])).toEqual(sales.map((r) => [r.no, null]));
    expect(mine.length).toBeGreaterThan(0);
    expect(mine).toEqual(everything.filter((r) => sales.some((s) => s.no === r.no)).map((r) => ({ ...r, x: null })));
    expect((await asked(sql)).rows).toEqual(everything);
    expect(await service.fault(sql, 'shop', few)).toBe('400 unknown_concept');
    await service.rows('DROP POLICY some; DROP POLICY hide', 'shop');
    const editor = await service.user('ed', 'EDIT ON ALL ontology.shop', 'EDIT ON datasource.main');
    expect(await service.fault(CACHE, 'shop', editor)).toBe('403 forbidden');
  });

  it('needs the rights on both datasources, also to see how many rows it has, to read them elsewhere and to end it', async () => {
    await service.rows(CACHE, 'shop');
    const grants = ['EDIT ON ALL ontology.shop', 'QUERY ON ALL ontology.shop', 'QUERY ON datasource.other'];
    const editor = await service.user('half', ...grants, 'EDIT ON datasource.main');
    const both = await service.user('whole', ...grants, 'QUERY ON datasource.main', 'EDIT ON datasource.main', 'EDIT ON datasource.other');
    const there = await service.user('there', ...grants, 'EDIT ON datasource.other');
    const count = async (token: string): Promise<unknown> => (await service.rows('SHOW CACHES', 'shop', token))[0].number_of_rows;
    expect([await count(there), await count(both)]).toEqual([null, 7]);
    for (const sql of ["CACHE MAPPING m_item OPTIONS (schema = 'cached')", 'CACHE MAPPING m_item', 'UNCACHE MAPPING m_item']) {
      expect(await service.fault(sql, 'shop', editor), sql).toBe('403 forbidden');
    }
    expect(await service.fault('UNCACHE MAPPING m_item', 'shop', there)).toBe('403 forbidden');
    expect((await asked(JOIN)).asOf).not.toBeNull();
    await service.rows('UNCACHE MAPPING m_item', 'shop', both);
    expect(await service.rows('SHOW CACHES', 'shop')).toEqual([]);
  });

  it('is not read by a query that calls functions of a datasource, also in a policy, a mask or a property', async () => {
    // the function of the other database gives other values
    const make = (result: string): string => `CREATE FUNCTION shop.twice(n integer) RETURNS integer IMMUTABLE LANGUAGE sql AS 'SELECT ${result}'`;
    await service.database.exec(make('n * 2'));
    await other.exec(make('0'));
    await service.rows(CACHE, 'shop');
    await service.rows("ALTER ONTOLOGY shop SET allowed_functions = 'shop.twice'", 'shop');
    await service.rows(
      `CREATE PROPERTY doubled integer AS SELECT shop.twice(k); CREATE OR REPLACE CONCEPT item (${ITEM}, doubled integer, PRIMARY KEY (k))`,
      'shop',
    );
    const reader = await service.user('caller', 'QUERY ON ALL ontology.shop', 'QUERY ON datasource.main', 'QUERY ON datasource.other');
    const join = (column: string): string => `SELECT s.no, ${column} AS v FROM svc.sale s JOIN svc.item i ON i.k = s.k`;
    expect(await service.fault(join('i.doubled'), 'shop', reader)).toBe('400 several_datasources');
    expect(await service.fault(join('shop.twice(s.k)'), 'shop', reader)).toBe('400 several_datasources');
    expect((await service.query(join('i.doubled'), 'shop', reader)).json.hint).toContain('allowed_functions');
    await asked(join('i.x'), reader);
    for (const policy of [
      'ON CONCEPT item TO USER caller USING (shop.twice(k) > 2)',
      'ON PROPERTY x MASK WITH (shop.twice(length(x))::text) EXCEPT USER admin',
    ]) {
      await service.rows(`CREATE POLICY own ${policy}`, 'shop');
      expect(await service.fault(join('i.x'), 'shop', reader), policy).toBe('400 several_datasources');
      expect((await asked(join('i.x'))).rows.length).toBeGreaterThan(0);
      await service.rows('DROP POLICY own', 'shop');
    }
    await service.rows(`CREATE OR REPLACE CONCEPT item (${ITEM}, PRIMARY KEY (k)); DROP PROPERTY doubled`, 'shop');
    await service.rows("ALTER ONTOLOGY shop SET allowed_functions = ''", 'shop');
  });

  it('is not read after a change of the mapping or of one of the connections', async () => {
    await service.rows(CACHE, 'shop');
    await service.rows("CREATE OR REPLACE DATASOURCE main TYPE postgres SECRET 'DATASOURCE_OTHER'");
    expect(await service.fault(JOIN, 'shop')).toBe('400 several_datasources');
    await service.rows("CREATE OR REPLACE DATASOURCE main TYPE postgres SECRET 'DATASOURCE_MAIN'");
    expect((await asked(JOIN)).asOf).not.toBeNull();
    await service.rows(`CREATE OR REPLACE MAPPING m_item INTO item AS SELECT ${COLUMNS.join(', ')} FROM shop.t_item WHERE k < 4`, 'shop');
    expect(await service.fault(JOIN, 'shop')).toBe('400 several_datasources');
    expect((await service.rows('SHOW CACHES', 'shop'))[0]).toMatchObject({ datasource: 'other', state: 'changed' });
    await service.rows(`CREATE OR REPLACE MAPPING m_item INTO item AS SELECT ${COLUMNS.join(', ')} FROM shop.t_item`, 'shop');
    expect((await service.rows('SHOW CACHES', 'shop'))[0]).toMatchObject({ datasource: 'other', state: 'used' });
    await other.exec(`DROP TABLE ${(await service.rows('SHOW CACHES', 'shop'))[0].table_name}`);
    expect(await service.fault(JOIN, 'shop')).toBe('400 several_datasources');
    await service.rows(CACHE, 'shop');
    expect((await asked(JOIN)).asOf).not.toBeNull();
  });

  it('changes no answer when a refresh is killed at any step, and leaves at most one table too many', async () => {
    await service.rows(CACHE, 'shop');
    const before = (await asked(JOIN)).text;
    await caches.dropDue();
    expect(await caches.tables()).toHaveLength(1);
    let answered = 0;
    await caches.killedAtEachStep(
      () => service.query('CACHE MAPPING m_item USING other', 'shop'),
      async () => {
        const answer = await service.query(JOIN, 'shop');
        // a snapshot in KV may name a table that this test has dropped before its time
        if (answer.status !== 200) return expect(answer.json.code).toBe('several_datasources');
        expect(JSON.parse(answer.text).data).toEqual(JSON.parse(before).data);
        answered++;
      },
    );
    expect(answered).toBeGreaterThan(0);
    forgetSnapshots();
    expect((await asked(JOIN)).text).toBe(before);
  });

  it('refuses what it does not do', async () => {
    await service.database.exec("CREATE TYPE shop.size AS ENUM ('s')");
    // PGlite has few collations
    await service.database.exec('CREATE COLLATION shop.other FROM "POSIX"');
    await service.database.exec('CREATE TABLE shop.t_size (k integer, s shop.size, c text COLLATE shop.other)');
    await service.rows(
      'CREATE CONCEPT sized (k integer, size string, PRIMARY KEY (k)); CREATE MAPPING m_sized INTO sized AS SELECT k, s AS size FROM shop.t_size; CREATE CONCEPT ordered (k integer, c string, PRIMARY KEY (k)); CREATE MAPPING m_ordered INTO ordered AS SELECT k, c FROM shop.t_size',
      'shop',
    );
    const reasons = {
      m_sized: 'the column `size` has a type of the database, which may be another one there',
      m_ordered: 'the column `c` has a collation other than the default, C and POSIX',
    };
    for (const [mapping, why] of Object.entries(reasons)) {
      const message = await caches.refusal(`CACHE MAPPING ${mapping} USING other OPTIONS (schema = 'cached')`);
      expect(message).toBe(`the mapping \`${mapping}\` cannot be cached in another datasource: ${why}`);
    }
    const faults = {
      "CACHE MAPPING m_item USING nowhere OPTIONS (schema = 'cached')": 'unknown_datasource',
      "CACHE MAPPING m_item USING other OPTIONS (schema = 'cached', incremental = 'x')": 'bad_value',
      "CACHE MAPPING m_sale USING main OPTIONS (schema = 'cached')": 'secret_not_set',
    };
    for (const [sql, code] of Object.entries(faults)) expect(await service.fault(sql, 'shop'), sql).toBe(`400 ${code}`);
  });

  it('leaves no table after UNCACHE MAPPING', async () => {
    await service.rows('UNCACHE MAPPING m_item', 'shop');
    expect(await service.fault(JOIN, 'shop')).toBe('400 several_datasources');
    await caches.dropDue();
    expect(await caches.tables()).toEqual([]);
  });
});
