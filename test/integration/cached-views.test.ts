/** CACHE VIEW through the routes: which queries read the table and get the same rows, who may be answered from it, and what is left. */
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { DEVELOPER } from '../../dev/roles.ts';
import { forgetSnapshots } from '../../src/catalog/snapshot.ts';
import { startService, type TestService } from '../support/service.ts';
import { rowsAnswer } from '../unit/engine/fake.ts';
import { TestCaches } from './support/caches.ts';

const TABLES = [
  'CREATE SCHEMA shop',
  'CREATE SCHEMA cached',
  'CREATE TABLE shop.t_city (id integer PRIMARY KEY, name text, note text)',
  `INSERT INTO shop.t_city SELECT i, 'City ' || i, CASE WHEN i % 3 = 0 THEN NULL ELSE chr(64 + i) END FROM generate_series(1, 9) i`,
  'CREATE TABLE shop.t_sale (id integer PRIMARY KEY, city_id integer, day date, at timestamptz, qty integer, price numeric(10,2), weight float8, more json, kind char(3))',
  `INSERT INTO shop.t_sale SELECT i, CASE WHEN i % 11 = 0 THEN NULL ELSE i % 9 + 1 END, date '2024-01-30' + i % 5, timestamptz '2024-02-01 10:00Z' + i * interval '1 hour',
    CASE WHEN i % 7 = 0 THEN NULL ELSE i % 13 END, i * 1.37, i / 3.0, json_build_object('b', i, 'a', 'x'), chr(65 + i % 3) FROM generate_series(1, 200) i`,
];
const MODEL = `CREATE ONTOLOGY shop;
CREATE MEASURE revenue decimal AS SELECT SUM(price * qty);
CREATE CONCEPT city (id integer, name string, note string, PRIMARY KEY (id));
CREATE CONCEPT sale (id integer, city_id integer, day date, at timestamptz, qty integer, price decimal(10,2), weight double, more json, kind string,
  revenue MEASURE decimal, PRIMARY KEY (id), CONSTRAINT in_city FOREIGN KEY (city_id) REFERENCES city (id));
CREATE MAPPING m_city INTO city AS SELECT id, name, note FROM shop.t_city;
CREATE MAPPING m_sale INTO sale AS SELECT id, city_id, day, at, qty, price, weight, more, kind FROM shop.t_sale;
CREATE ONTOLOGY VIEW lines AS SELECT id, city_id, day, at, qty, price, weight, more, kind, "in_city[city].name" AS city, qty * price AS worth FROM dsvc.sale WHERE qty IS NOT NULL;
CREATE ONTOLOGY VIEW per_city AS SELECT "in_city[city].name" AS city, SUM("measure.revenue") AS revenue, COUNT(DISTINCT kind) AS kinds, AVG(weight) AS mean FROM dsvc.sale GROUP BY 1;
CREATE ONTOLOGY VIEW best AS SELECT city, revenue, rank() OVER (ORDER BY revenue DESC) AS place FROM vsvc.per_city;
CREATE ONTOLOGY VIEW raw USING main AS SELECT kind, count(*) AS n, max(more::text) AS top, min(qty) / 2.0 AS half FROM shop.t_sale GROUP BY kind;
CREATE ONTOLOGY VIEW plain USING main AS SELECT id, note FROM shop.t_city`;
const VIEWS = ['lines', 'per_city', 'best', 'raw', 'plain'];
const cache = (view: string): string => `CACHE VIEW ${view} OPTIONS (schema = 'cached', max_age = '1 hour')`;

/** Queries that a table answers, each on its own or joined with live rows. */
const CACHED = [
  'SELECT * FROM vsvc.lines ORDER BY id',
  'SELECT city, SUM(worth) AS w, MAX(at) AS last FROM vsvc.lines WHERE price > 20 GROUP BY city HAVING COUNT(*) > 2 ORDER BY w DESC, city',
  'SELECT l.id, c.note FROM vsvc.lines l JOIN svc.city c ON c.id = l.city_id WHERE l.qty > 9 ORDER BY 1',
  'SELECT s.id, (SELECT SUM(l.qty) FROM vsvc.lines l WHERE l.city_id = s.city_id) AS q FROM svc.sale s WHERE s.id < 9 ORDER BY 1',
  'SELECT a.city, b.revenue FROM vsvc.lines a LEFT JOIN vsvc.per_city b USING (city) WHERE a.id < 20 ORDER BY a.id',
  'WITH l AS (SELECT day, qty FROM lines) SELECT day, SUM(qty) AS q FROM l GROUP BY day UNION ALL SELECT NULL, COUNT(*) FROM vsvc.raw ORDER BY 1, 2',
  'SELECT x.id, x."Worth" FROM vsvc.lines AS x (id, c, d, a, q, p, w, m, k, t, "Worth") ORDER BY 2 DESC LIMIT 3',
  'SELECT * FROM vsvc.per_city ORDER BY city',
  'SELECT * FROM vsvc.best ORDER BY place, city',
  'SELECT * FROM vsvc.raw ORDER BY kind',
  'SELECT p.note, c.name FROM vsvc.plain p JOIN svc.city c USING (id) ORDER BY c.id',
  "SELECT id, more->>'b' AS b FROM vsvc.lines WHERE kind = 'B' AND day = '2024-02-01' ORDER BY id",
  'SELECT DISTINCT kind FROM vsvc.lines WHERE EXISTS (SELECT 1 FROM vsvc.raw r WHERE r.kind = lines.kind AND r.n > 1) ORDER BY 1',
];
/** Queries in which a stored text names the views. */
const LIVE = ['SELECT city, w FROM vsvc.above ORDER BY 1', 'SELECT kind, n FROM vsvc.kinds ORDER BY 1'];

let service: TestService;
let caches: TestCaches;
const clock = { ahead: 0 };

const asked: TestCaches['asked'] = (sql, token) => caches.asked(sql, token);
const isCached: TestCaches['isCached'] = (sql, token) => caches.isCached(sql, token);
const COUNT = 'SELECT COUNT(*) AS n FROM vsvc.lines';

beforeAll(async () => {
  service = await startService({
    tables: TABLES,
    settings: (database) => ({ DATASOURCE_MAIN_WRITER: database.secret(DEVELOPER), DATASOURCE_OTHER: database.secret(DEVELOPER) }),
    parts: { now: () => Date.now() + clock.ahead },
  });
  caches = new TestCaches(service);
  await service.rows(MODEL, 'shop');
});
afterAll(() => service.close());
beforeEach(() => {
  clock.ahead = 0;
});

describe('a cached view', () => {
  it('gives the same answers, byte by byte, wherever a text of the caller names it', async () => {
    await service.rows(
      `CREATE ONTOLOGY VIEW above AS SELECT city, SUM(worth) AS w FROM vsvc.lines GROUP BY city; CREATE ONTOLOGY CUBE kinds AS SELECT kind, SUM(n) AS n FROM vsvc.raw`,
      'shop',
    );
    const all = [...CACHED, ...LIVE];
    const live: string[] = [];
    for (const sql of all) live.push((await asked(sql)).text);
    for (const view of VIEWS) {
      const [made] = await service.rows(cache(view), 'shop');
      expect(made).toMatchObject({ view, max_age: 3600 });
    }
    for (const [i, sql] of all.entries()) {
      const { text, asOf } = await asked(sql);
      expect(text, sql).toBe(live[i]);
      expect(asOf !== null, sql).toBe(i < CACHED.length);
    }
  });

  it('keeps the rows of hand-written SQL, and indexes of the keys', async () => {
    await service.rows(cache('lines'), 'shop');
    const name = (await caches.shown('lines')).table_name;
    const [made] = await service.database.superuser(
      `SELECT count(*)::int AS n, (SELECT string_agg(a.attname, ',' ORDER BY a.attnum) FROM pg_index i JOIN pg_attribute a ON a.attrelid = i.indrelid AND a.attnum = i.indkey[0] WHERE i.indrelid = '${name}'::regclass) AS keys,
        (SELECT string_agg(format_type(atttypid, atttypmod), ',' ORDER BY attnum) FROM pg_attribute WHERE attrelid = '${name}'::regclass AND attnum > 0) AS types FROM ${name}`,
    );
    const [wanted] = await service.database.superuser('SELECT count(*)::int AS n FROM shop.t_sale WHERE qty IS NOT NULL');
    expect(made).toMatchObject({ n: wanted?.n, keys: 'c1,c2' });
    expect(made?.types).toBe('integer,integer,date,timestamp with time zone,integer,numeric(10,2),double precision,jsonb,text,text,numeric');
  });

  it('is read until it is too old', async () => {
    const [made] = await service.rows(cache('lines'), 'shop');
    const before = await asked(COUNT);
    expect(before.asOf).toBe(made.as_of);
    await service.database.exec('UPDATE shop.t_sale SET qty = 1 WHERE id = 7');
    expect((await asked(COUNT)).text).toBe(before.text);
    clock.ahead = 3_600_000;
    const late = await asked(COUNT);
    expect([late.asOf, late.text === before.text]).toEqual([null, false]);
    await service.database.exec('UPDATE shop.t_sale SET qty = NULL WHERE id = 7');
  });

  it('is made for where Citus has its tables, with the same rows and the same digest', async () => {
    await service.rows(
      `CREATE CONCEPT spot (id integer, name string, PRIMARY KEY (id)); CREATE MAPPING m_spot_1 INTO spot AS SELECT id, name FROM shop.t_city WHERE id < 5;
CREATE MAPPING m_spot_2 INTO spot AS SELECT id, name FROM shop.t_city WHERE id > 4; CREATE ONTOLOGY VIEW pairs AS SELECT a.id, b.name FROM svc.spot a JOIN svc.spot b ON b.id = a.id;
CREATE CONCEPT couple (id integer, name string, PRIMARY KEY (id)); CREATE MAPPING m_couple INTO couple AS SELECT u.id, c.name
  FROM (SELECT id FROM shop.t_city WHERE id < 5 UNION ALL SELECT id FROM shop.t_city WHERE id > 6) u JOIN shop.t_city c ON c.id = u.id`,
      'shop',
    );
    const made: string[] = [];
    const real = globalThis.fetch;
    const fetched = vi.spyOn(globalThis, 'fetch').mockImplementation(async (input, init) => {
      const body = String(init?.body);
      // no table is known, so each of them may be distributed
      if (body.includes('pg_dist_partition')) return rowsAnswer([])(JSON.parse(body));
      if (body.includes('CREATE TABLE')) made.push(body);
      return real(input, init);
    });
    const table = async () => {
      await service.rows(`${cache('pairs')}; ${cache('m_couple').replace('VIEW', 'MAPPING')}`, 'shop');
      const names = ['pairs', 'm_couple'].map(async (name) => String((await caches.shown(name)).table_name).slice(0, -16));
      const texts = ['SELECT * FROM vsvc.pairs ORDER BY id', 'SELECT id, name FROM svc.couple ORDER BY id'].map(async (sql) => (await asked(sql)).text);
      return Promise.all([...names, ...texts]);
    };
    try {
      const before = await table();
      await service.database.superuser("UPDATE kg_catalog.datasources SET placements = '[]', placements_digest = 'x', placed = now() WHERE key = 'main'");
      forgetSnapshots();
      expect(await table()).toEqual(before);
      expect(made.map((m) => m.includes('OFFSET 0'))).toEqual([false, false, true, true]);
      await service.rows('UNCACHE MAPPING m_couple', 'shop');
    } finally {
      fetched.mockRestore();
      await service.database.superuser("UPDATE kg_catalog.datasources SET placements = NULL, placements_digest = NULL, placed = NULL WHERE key = 'main'");
      forgetSnapshots();
    }
  });

  it('is named by EXPLAIN and SHOW CACHES', async () => {
    await service.rows(cache('lines'), 'shop');
    const [{ PLAN, SQL }] = await service.rows(`EXPLAIN ${COUNT}`, 'shop');
    expect(PLAN).toMatch(/Cached view lines: rows of cached\.v_[0-9a-f]{24}_[0-9a-f]{16} as of 20.*, \d+ s old/);
    expect(SQL).not.toContain('t_sale');
    const logical = async (): Promise<string> => JSON.stringify(await service.rows(`EXPLAIN (LOGICAL) ${CACHED[2]}`, 'shop'));
    const cached = await logical();
    expect(await caches.shown('lines')).toMatchObject({ mapping_name: null, cube_name: null, datasource: 'main', state: 'used', error: null });
    await service.rows('UNCACHE VIEW lines', 'shop');
    expect(await logical()).toBe(cached);
    expect(await isCached(COUNT)).toBe(false);
  });

  it('is read live if its table is gone, or after the connection of its datasource changed', async () => {
    await service.rows(cache('lines'), 'shop');
    const before = await asked(COUNT);
    await service.rows("CREATE OR REPLACE DATASOURCE main TYPE postgres SECRET 'DATASOURCE_OTHER'");
    expect(await isCached(COUNT)).toBe(false);
    await service.rows("CREATE OR REPLACE DATASOURCE main TYPE postgres SECRET 'DATASOURCE_MAIN'");
    expect(await isCached(COUNT)).toBe(true);
    for (const table of await caches.tables()) await service.database.exec(`DROP TABLE cached.${table}`);
    const after = await asked(COUNT);
    expect([after.text, after.asOf]).toEqual([before.text, null]);
  });

  it('keeps its rows when a refresh fails', async () => {
    await service.rows(
      'CREATE ONTOLOGY VIEW risky AS SELECT id, 100 / qty AS share FROM dsvc.sale WHERE qty <> 0; CREATE ONTOLOGY VIEW broken AS SELECT id, 100 / qty AS share FROM dsvc.sale',
      'shop',
    );
    await service.rows(cache('risky'), 'shop');
    const sql = 'SELECT SUM(share) AS s FROM vsvc.risky';
    const before = await asked(sql);
    expect(await service.fault(cache('broken'), 'shop')).toMatch(/^400 /);
    await service.database.exec('ALTER TABLE shop.t_sale RENAME COLUMN qty TO quantity');
    expect(await service.fault('CACHE VIEW risky', 'shop')).toMatch(/^400 /);
    expect(await asked(sql)).toEqual(before);
    await service.database.exec('ALTER TABLE shop.t_sale RENAME COLUMN quantity TO qty');
    expect(await caches.shown('risky')).toMatchObject({
      state: 'used',
      error: expect.stringMatching(/./),
    });
    await service.rows('UNCACHE VIEW risky; UNCACHE VIEW broken; DROP VIEW risky; DROP VIEW broken', 'shop');
  });
});

describe('who is answered from a cached view', () => {
  it('is a caller for whom no policy, mask or right changes what the view reads', async () => {
    for (const view of VIEWS) await service.rows(cache(view), 'shop');
    const all = await service.user('all', 'QUERY ON ALL ontology.shop', 'QUERY ON datasource.main');
    const some = await service.user('some', 'QUERY ON ontology.shop.view.lines', 'QUERY ON ontology.shop.view.plain');
    const none = await service.user('none', 'QUERY ON ontology.shop.concept.city');
    expect([await isCached(COUNT, all), await isCached(COUNT, some)]).toEqual([true, false]);
    // a raw view that leaves out no rows is the same for all who may read it
    expect(await isCached('SELECT note FROM vsvc.plain', some)).toBe(true);
    expect(await service.fault(COUNT, 'shop', none)).toBe('400 unknown_view');
    await service.rows("CREATE POLICY one ON CONCEPT city TO USER all USING (name = 'City 1')", 'shop');
    const mine = await asked('SELECT city, COUNT(*) AS n FROM vsvc.lines GROUP BY city ORDER BY city', all);
    expect(mine.asOf).toBeNull();
    expect(mine.rows.map((r) => r.city)).toEqual(['City 1', null]);
    expect(await isCached(COUNT)).toBe(true);
    // a table of the same statement may be read, and the policy applies to the other part
    const both = await asked('SELECT c.name, r.n FROM svc.city c CROSS JOIN vsvc.raw r ORDER BY 2, 1', all);
    expect([both.asOf === null, [...new Set(both.rows.map((r) => r.name))]]).toEqual([false, ['City 1']]);
    await service.rows('DROP POLICY one; CREATE POLICY hide ON PROPERTY price MASK NULL EXCEPT USER admin', 'shop');
    expect([await isCached(COUNT, all), await isCached(COUNT)]).toEqual([false, true]);
    expect((await asked('SELECT DISTINCT price, worth FROM vsvc.lines', all)).rows).toEqual([{ price: null, worth: null }]);
    await service.rows('DROP POLICY hide', 'shop');
    expect(await isCached(COUNT, all)).toBe(true);
  });

  it('ends with a change of what the view reads', async () => {
    const changes = [
      "CREATE OR REPLACE MAPPING m_sale INTO sale AS SELECT id, city_id, day, at, qty, price, weight, more, kind FROM shop.t_sale WHERE kind <> 'A'",
      'CREATE OR REPLACE ONTOLOGY VIEW lines AS SELECT id, city_id, day, at, qty, price, weight, more, kind, "in_city[city].name" AS city, qty * 2 * price AS worth FROM dsvc.sale WHERE qty IS NOT NULL',
    ];
    for (const change of changes) {
      await service.rows(cache('lines'), 'shop');
      expect(await isCached(COUNT), change).toBe(true);
      await service.rows(change, 'shop');
      expect(await isCached(COUNT), change).toBe(false);
      expect((await caches.shown('lines')).state).toBe('changed');
    }
  });
});

describe('CACHE VIEW', () => {
  it('needs EDIT on the ontology and on the datasource', async () => {
    await service.rows(cache('lines'), 'shop');
    const editor = await service.user('ed', 'EDIT ON ALL ontology.shop', 'QUERY ON ALL ontology.shop');
    expect(await service.fault(cache('lines'), 'shop', editor)).toBe('403 forbidden');
    expect(await service.fault('UNCACHE VIEW lines', 'shop', editor)).toBe('403 forbidden');
  });

  it('refuses what it does not do', async () => {
    await service.rows(
      `CREATE ONTOLOGY VIEW clocked AS SELECT id FROM dsvc.sale WHERE day < current_date; CREATE ONTOLOGY VIEW mine AS SELECT id FROM dsvc.sale WHERE kind = svc_username();
      CREATE ONTOLOGY VIEW chance USING main AS SELECT id, random() AS r FROM shop.t_sale; CREATE ONTOLOGY VIEW constant AS SELECT 1 AS one`,
      'shop',
    );
    const reasons = {
      clocked: 'it depends on the time or on chance',
      mine: 'its rows depend on the caller',
      chance: 'it depends on the time or on chance',
      constant: 'it reads no datasource, or several',
    };
    for (const [view, why] of Object.entries(reasons)) expect(await caches.refusal(cache(view))).toBe(`the view \`${view}\` cannot be cached: ${why}`);
    const faults = {
      "CACHE VIEW lines OPTIONS (schema = 'cached', incremental = 'id')": 'not_supported',
      'CACHE VIEW lines USING other': 'not_supported',
      'CACHE VIEW liens': 'unknown_view',
      'CACHE VIEW kinds': 'unknown_view',
      'CACHE CUBE lines': 'unknown_cube',
      'CACHE CONCEPT sale': 'not_supported',
      "CACHE VIEW best OPTIONS (indexes = 'some', schema = 'cached')": 'bad_value',
      'UNCACHE VIEW clocked': 'not_cached',
    };
    for (const [sql, code] of Object.entries(faults)) expect(await service.fault(sql, 'shop'), sql).toBe(`400 ${code}`);
  });

  it('changes no answer when a refresh is killed at any step, and leaves at most one table too many', async () => {
    await service.rows(cache('lines'), 'shop');
    const before = (await asked(COUNT)).text;
    await caches.killedAtEachStep(
      () => service.query('CACHE VIEW lines', 'shop'),
      async () => expect((await asked(COUNT)).text).toBe(before),
    );
    // a snapshot in KV may name a table that this test has dropped before its time
    forgetSnapshots();
    expect((await asked(COUNT)).asOf).not.toBeNull();
  });

  it('leaves no table after UNCACHE VIEW, DROP VIEW and DROP ONTOLOGY', async () => {
    for (const view of VIEWS) await service.rows(cache(view), 'shop');
    await service.rows('UNCACHE VIEW best; DROP VIEW best', 'shop');
    await service.rows('DROP CUBE kinds; DROP VIEW raw', 'shop');
    await service.rows('UNCACHE VIEW raw', 'shop');
    await service.rows('DROP ONTOLOGY shop', 'shop');
    await caches.dropDue();
    expect(await caches.tables()).toEqual([]);
  });
});
