/** CACHE CUBE through the routes: which queries read the table and get the same rows, who may be answered from it, and what is left. */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { DEVELOPER } from '../../dev/roles.ts';
import { startService, type TestService } from '../support/service.ts';
import { TestCaches } from './support/caches.ts';

const TABLES = [
  'CREATE SCHEMA shop',
  'CREATE SCHEMA cached',
  'CREATE TABLE shop.t_sale (id integer PRIMARY KEY, city text, kind char(1), day date, qty integer, big bigint, price numeric(10,2), free numeric, weight float8, seen boolean, kg real)',
  `INSERT INTO shop.t_sale SELECT i, CASE i % 4 WHEN 0 THEN NULL WHEN 1 THEN 'Rome' WHEN 2 THEN 'Oslo' ELSE 'Bern' END, chr(65 + i % 3), date '2024-01-30' + i % 5,
    CASE WHEN i % 7 = 0 THEN NULL ELSE i % 11 END, i * 1000000007::bigint, i * 1.37, i / 7.0::numeric, i / 3.0, i % 2 = 0, i FROM generate_series(1, 200) i`,
  'CREATE TABLE shop.t_none (id integer PRIMARY KEY, city text, qty integer)',
];
const MODEL = `CREATE ONTOLOGY shop;
CREATE MEASURE revenue decimal AS SELECT SUM(price * qty);
CREATE MEASURE many decimal(10,1) AS SELECT SUM(price) WHERE qty > 5;
CREATE MEASURE lines bigint AS SELECT COUNT(id);
CREATE MEASURE mean_line decimal AS SELECT round(revenue / lines, 2);
CREATE MEASURE cities bigint AS SELECT COUNT(DISTINCT city);
CREATE CONCEPT sale (id integer, city string, kind string, day date, qty integer, big bigint, price decimal(10,2), free decimal, weight double, seen boolean,
  revenue MEASURE decimal, many MEASURE decimal(10,1), lines MEASURE bigint, mean_line MEASURE decimal, cities MEASURE bigint, PRIMARY KEY (id));
CREATE MAPPING m_sale INTO sale AS SELECT id, city, kind, day, qty, big, price, free, weight, seen FROM shop.t_sale;
CREATE ONTOLOGY CUBE sales AS SELECT city, kind AS sort, day, seen, "measure.revenue" AS revenue, "measure.many" AS many, "measure.mean_line" AS mean_line,
  SUM(qty) AS pieces, SUM(big) AS large, COUNT(qty) AS counted, AVG(qty) AS mean_qty, AVG(big) AS mean_big, AVG(price) AS mean_price, AVG(free) AS mean_free,
  MIN(day) AS first_day, MAX(price) AS top, MIN(city) AS first_city, SUM(CASE WHEN seen THEN qty ELSE 0 END) AS seen_pieces,
  SUM(NULLIF(qty, 3)) / 4 AS not_three FROM dsvc.sale WHERE qty < 10 OR qty IS NULL;
CREATE ONTOLOGY CUBE rough AS SELECT city, weight, day, COUNT(id) AS n, SUM(weight) AS weights, "measure.cities" AS cities FROM dsvc.sale;
CREATE CONCEPT thin (id integer, city string, qty integer, PRIMARY KEY (id));
CREATE MAPPING m_thin INTO thin AS SELECT id, city, qty FROM shop.t_none;
CREATE ONTOLOGY CUBE nothing AS SELECT city, SUM(qty) AS pieces, COUNT(id) AS n, AVG(qty) AS mean FROM dsvc.thin;
CREATE ONTOLOGY CUBE keyed AS SELECT id, SUM(qty) AS pieces FROM dsvc.thin`;
const CACHE = "CACHE CUBE sales OPTIONS (schema = 'cached', max_age = '1 hour')";

/** Queries that the table answers. */
const CACHED = [
  'SELECT city, revenue, mean_line FROM vsvc.sales ORDER BY city',
  'SELECT * FROM vsvc.sales ORDER BY 1, 2, 3, 4',
  'SELECT revenue, many, pieces, large, counted, mean_qty, mean_big, mean_price, mean_free, first_day, top, first_city, seen_pieces, not_three FROM vsvc.sales',
  "SELECT revenue, pieces, counted, COUNT(*) FROM vsvc.sales WHERE city = 'Paris'".replace(
    'revenue, pieces, counted',
    'SUM(revenue), MAX(pieces), MIN(counted)',
  ),
  "SELECT city, COUNT(*) AS n, SUM(mean_price) AS p FROM sales WHERE day > '2024-01-31' GROUP BY city HAVING SUM(counted) > 3 ORDER BY n DESC, city",
  "SELECT extract(month FROM s.day) AS m, SUM(s.revenue) FILTER (WHERE s.sort <> 'A') AS r, COUNT(*) FILTER (WHERE s.city IS NULL) AS n FROM vsvc.sales s GROUP BY 1 ORDER BY 1",
  'SELECT city, sort, GROUPING(city, sort) AS g, SUM(revenue) AS r, AVG(mean_qty) AS q FROM vsvc.sales GROUP BY ROLLUP (city, sort) ORDER BY g, city, sort',
  'SELECT city, seen, GROUPING(city, seen) AS g, SUM(large) AS l FROM vsvc.sales GROUP BY GROUPING SETS ((city), (seen), ()) ORDER BY 1, 2, 3',
  'SELECT DISTINCT seen FROM vsvc.sales WHERE city IS NOT NULL ORDER BY seen',
  'SELECT city FROM vsvc.sales WHERE city IS NULL',
  'SELECT sort, revenue AS r FROM vsvc.sales ORDER BY r DESC LIMIT 2',
  'SELECT q.city, q.r FROM (SELECT city, SUM(revenue) AS r FROM vsvc.sales GROUP BY city) q WHERE q.r > 100 ORDER BY 1',
  'SELECT upper(city) AS up, SUM(pieces) AS p FROM vsvc.sales GROUP BY up ORDER BY 1',
];
/** Queries that read the rows of the concept. */
const LIVE = [
  'SELECT city, COUNT(DISTINCT sort) AS n FROM vsvc.sales GROUP BY city ORDER BY city',
  'SELECT COUNT(city) AS n FROM vsvc.sales',
  'SELECT s.city, SUM(s.revenue) AS r FROM vsvc.sales s JOIN svc.thin t ON t.city = s.city GROUP BY s.city ORDER BY 1',
  'SELECT 1 AS one FROM vsvc.sales LIMIT 3',
  'SELECT city, revenue FROM vsvc.sales WHERE city = (SELECT min(city) FROM svc.sale)',
  'SELECT city, SUM(revenue) AS r, rank() OVER (ORDER BY SUM(revenue)) AS k FROM vsvc.sales GROUP BY city ORDER BY 1',
];

let service: TestService;
let caches: TestCaches;
const clock = { ahead: 0 };

const asked: TestCaches['asked'] = (sql, token) => caches.asked(sql, token);
const TOTAL = 'SELECT SUM(revenue) AS r, COUNT(*) AS n FROM vsvc.sales';
const isCached = (token?: string, sql = TOTAL): Promise<boolean> => caches.isCached(sql, token);

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

describe('a cached cube', () => {
  it('gives the same answers, byte by byte, where the table has what they need, and live ones otherwise', async () => {
    const live = [];
    for (const sql of [...CACHED, ...LIVE]) live.push((await asked(sql)).text);
    const [made] = await service.rows(CACHE, 'shop');
    expect(made).toMatchObject({ cube: 'sales', max_age: 3600 });
    expect(made.rows).toBeLessThan(150);
    for (const [i, sql] of [...CACHED, ...LIVE].entries()) {
      const { text, asOf } = await asked(sql);
      expect(text, sql).toBe(live[i]);
      expect(asOf !== null, sql).toBe(i < CACHED.length);
    }
  });

  it('is read until it is too old', async () => {
    const [made] = await service.rows(CACHE, 'shop');
    const before = await asked(TOTAL);
    expect(before.asOf).toBe(made.as_of);
    await service.database.exec('UPDATE shop.t_sale SET qty = 9 WHERE id = 1');
    expect((await asked(TOTAL)).text).toBe(before.text);
    clock.ahead = 3_600_000;
    const late = await asked(TOTAL);
    expect([late.asOf, late.text === before.text]).toEqual([null, false]);
  });

  it('has no row for an empty concept, and a query has the empty sums', async () => {
    const sql = 'SELECT pieces, n, mean FROM vsvc.nothing';
    const before = await asked(sql);
    await service.rows("CACHE CUBE nothing OPTIONS (schema = 'cached')", 'shop');
    const after = await asked(sql);
    expect([after.text, after.asOf === null]).toEqual([before.text, false]);
    expect(after.rows).toEqual([{ pieces: null, n: 0, mean: null }]);
  });

  it('has indexes of the first eight dimensions', async () => {
    const dimensions = Array.from({ length: 9 }, (_, i) => `city AS d${i + 1}`).join(', ');
    await service.rows(
      `CREATE ONTOLOGY CUBE wide AS SELECT ${dimensions}, SUM(qty) AS pieces FROM dsvc.sale; CACHE CUBE wide OPTIONS (schema = 'cached')`,
      'shop',
    );
    const table = String((await caches.shown('wide'))?.table_name).replace('cached.', '');
    const indexes = await service.database.superuser(`SELECT indexdef FROM pg_indexes WHERE tablename = '${table}'`);
    const columns = indexes.map((i) => /\((.*)\)/.exec(String(i.indexdef))?.[1]);
    expect(columns.sort()).toEqual(Array.from({ length: 8 }, (_, i) => `c${i + 1}`));
    await service.rows('UNCACHE CUBE wide; DROP CUBE wide', 'shop');
  });

  it('leaves out dimensions and measures that cannot be added up', async () => {
    await service.rows("CACHE CUBE rough OPTIONS (schema = 'cached')", 'shop');
    expect(await isCached(undefined, 'SELECT city, n FROM vsvc.rough')).toBe(true);
    for (const column of ['weights', 'cities', 'weight', '*']) expect(await isCached(undefined, `SELECT ${column} FROM vsvc.rough`), column).toBe(false);
    await service.rows('UNCACHE CUBE rough', 'shop');
    expect(await isCached(undefined, 'SELECT city, n FROM vsvc.rough')).toBe(false);
  });

  it('does not take an alias, another column of the same name or another case for a column that it leaves out', async () => {
    await service.rows(
      `CREATE OR REPLACE ONTOLOGY CUBE partly AS SELECT city, kind, weight, COUNT(id) AS n, COUNT(DISTINCT day) AS days, SUM(NULLIF(qty, 2.5)) / 4 AS quarter FROM dsvc.sale;
      CREATE OR REPLACE ONTOLOGY CUBE twin AS SELECT weight AS x, city AS x, COUNT(id) AS n FROM dsvc.sale;
      CREATE OR REPLACE ONTOLOGY CUBE cased AS SELECT weight AS "CITY", city AS "city", COUNT(id) AS n FROM dsvc.sale`,
      'shop',
    );
    const queries = [
      'SELECT weight AS weight, SUM(n) AS n FROM vsvc.partly GROUP BY weight ORDER BY 1',
      'SELECT days AS days FROM vsvc.partly',
      'SELECT upper(city) AS weight, SUM(n) AS n FROM vsvc.partly GROUP BY weight, city ORDER BY 1, 2',
      "SELECT city AS weight, SUM(n) AS n FROM vsvc.partly WHERE weight > '0.5' GROUP BY city ORDER BY 1, 2",
      'SELECT kind AS "Weight", SUM(n) AS n FROM vsvc.partly GROUP BY kind, weight ORDER BY 1, 2',
      'SELECT quarter FROM vsvc.partly',
      'SELECT x, SUM(n) AS n FROM vsvc.twin GROUP BY x ORDER BY 1',
      'SELECT "CITY", SUM(n) AS n FROM vsvc.cased GROUP BY 1 ORDER BY 1',
      'SELECT "city", SUM(n) AS n FROM vsvc.cased GROUP BY 1 ORDER BY 1',
    ];
    const live: string[] = [];
    for (const sql of queries) live.push((await asked(sql)).text);
    for (const cube of ['partly', 'twin', 'cased']) await service.rows(`CACHE CUBE ${cube} OPTIONS (schema = 'cached')`, 'shop');
    for (const cube of ['partly', 'twin', 'cased']) expect(await isCached(undefined, `SELECT n FROM vsvc.${cube}`), cube).toBe(true);
    for (const [i, sql] of queries.entries()) {
      const { text, asOf } = await asked(sql);
      expect([text, asOf], sql).toEqual([live[i], null]);
    }
  });

  it('is not read by a kept plan after the connection of its datasource changed', async () => {
    await service.rows(CACHE, 'shop');
    expect([await isCached(), await isCached()]).toEqual([true, true]);
    await service.rows("CREATE OR REPLACE DATASOURCE main TYPE postgres SECRET 'DATASOURCE_OTHER'");
    expect([await isCached(), await isCached(undefined, `${TOTAL} `)]).toEqual([false, false]);
    await service.rows("CREATE OR REPLACE DATASOURCE main TYPE postgres SECRET 'DATASOURCE_MAIN'");
    expect(await isCached()).toBe(true);
  });

  it('is named by EXPLAIN and SHOW CACHES', async () => {
    await service.rows(CACHE, 'shop');
    const [{ PLAN, SQL }] = await service.rows(`EXPLAIN ${TOTAL}`, 'shop');
    expect(PLAN).toMatch(/Cached cube sales: rows of cached\.c_[0-9a-f]{24}_[0-9a-f]{16} as of 20.*, \d+ s old/);
    expect(SQL).not.toContain('t_sale');
    const logical = async (): Promise<string> => JSON.stringify(await service.rows(`EXPLAIN (LOGICAL) ${CACHED[4]}`, 'shop'));
    const cached = await logical();
    expect(await caches.shown('sales')).toMatchObject({ mapping_name: null, datasource: 'main', state: 'used', error: null });
    await service.rows('UNCACHE CUBE sales', 'shop');
    expect(await logical()).toBe(cached);
  });

  it('is read live if its table is gone', async () => {
    await service.rows(CACHE, 'shop');
    const before = await asked(TOTAL);
    for (const table of await caches.tables()) await service.database.exec(`DROP TABLE cached.${table}`);
    const after = await asked(TOTAL);
    expect([after.text, after.asOf]).toEqual([before.text, null]);
  });
});

describe('who is answered from a cached cube', () => {
  it('is a caller for whom no policy, mask or right changes what the cube reads', async () => {
    await service.rows(CACHE, 'shop');
    const all = await service.user('all', 'QUERY ON ALL ontology.shop', 'QUERY ON datasource.main');
    const some = await service.user('some', 'QUERY ON ontology.shop.view.sales');
    // who may only read the cube is answered live, with the rights of its definer
    expect([await isCached(all), await isCached(some)]).toEqual([true, false]);
    await service.rows("CREATE POLICY other ON CONCEPT thin TO USER all USING (city = 'Rome')", 'shop');
    expect(await isCached(all)).toBe(true);
    await service.rows("CREATE POLICY rome ON CONCEPT sale TO USER all USING (city = 'Rome')", 'shop');
    const mine = await asked('SELECT city, SUM(pieces) AS p FROM vsvc.sales GROUP BY city', all);
    expect([mine.asOf, mine.rows.map((r) => r.city)]).toEqual([null, ['Rome']]);
    expect(await isCached()).toBe(true);
    await service.rows('DROP POLICY rome; CREATE POLICY hide ON PROPERTY city MASK NULL EXCEPT USER admin', 'shop');
    expect([await isCached(all), await isCached()]).toEqual([false, true]);
    expect((await asked('SELECT city, many FROM vsvc.sales', all)).rows).toMatchObject([{ city: null }]);
    await service.rows('DROP POLICY hide', 'shop');
    expect(await isCached(all)).toBe(true);
  });

  it('ends with a change of a measure, the cube or the mapping', async () => {
    const changes = [
      'CREATE OR REPLACE MEASURE revenue decimal AS SELECT SUM(price * qty * 2)',
      "CREATE OR REPLACE MAPPING m_sale INTO sale AS SELECT id, city, kind, day, qty, big, price, free, weight, seen FROM shop.t_sale WHERE city <> 'Oslo'",
      'CREATE OR REPLACE ONTOLOGY CUBE sales AS SELECT city, "measure.revenue" AS revenue FROM dsvc.sale',
    ];
    for (const change of changes) {
      await service.rows(CACHE, 'shop');
      expect(await isCached(), change).toBe(true);
      await service.rows(change, 'shop');
      expect(await isCached(), change).toBe(false);
      expect((await caches.shown('sales')).state).toBe('changed');
    }
  });
});

describe('CACHE CUBE', () => {
  it('needs EDIT on the ontology and on the datasource', async () => {
    const editor = await service.user('ed', 'EDIT ON ALL ontology.shop', 'QUERY ON ALL ontology.shop');
    expect(await service.fault(CACHE, 'shop', editor)).toBe('403 forbidden');
    expect(await service.fault('UNCACHE CUBE sales', 'shop', editor)).toBe('403 forbidden');
  });

  it('refuses what it does not do', async () => {
    await service.rows('CREATE ONTOLOGY CUBE clocked AS SELECT city, SUM(qty) AS q FROM dsvc.thin WHERE id < extract(day FROM now())', 'shop');
    await service.rows('CREATE ONTOLOGY CUBE bare AS SELECT city, COUNT(DISTINCT qty) AS q FROM dsvc.thin', 'shop');
    const reasons = {
      keyed: 'its dimensions contain the primary key',
      clocked: 'it depends on the time or on chance',
      bare: 'it has no measure of sums',
    };
    for (const [cube, why] of Object.entries(reasons))
      expect(await caches.refusal(`CACHE CUBE ${cube} OPTIONS (schema = 'cached')`)).toContain(`the cube \`${cube}\` cannot be cached: ${why}`);
    const faults = {
      "CACHE CUBE nothing OPTIONS (schema = 'cached', incremental = 'qty')": 'not_supported',
      'CACHE CUBE sales USING other': 'not_supported',
      'CACHE CUBE salse': 'unknown_cube',
      'CACHE CUBE nothing OPTIONS (max_age = 1)': 'syntax_error',
      "CACHE CUBE nothing OPTIONS (indexes = 'auto')": 'missing_option',
      'UNCACHE CUBE keyed': 'not_cached',
    };
    for (const [sql, code] of Object.entries(faults)) expect(await service.fault(sql, 'shop'), sql).toBe(`400 ${code}`);
  });

  it('leaves no table after UNCACHE CUBE and DROP ONTOLOGY', async () => {
    await service.rows(CACHE, 'shop');
    await service.rows('UNCACHE CUBE sales', 'shop');
    await service.rows("CACHE CUBE nothing OPTIONS (schema = 'cached')", 'shop');
    await service.rows('DROP ONTOLOGY shop', 'shop');
    await caches.dropDue();
    expect(await caches.tables()).toEqual([]);
  });
});
