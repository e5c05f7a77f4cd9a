/** CACHE CUBE of cubes over to-one paths: the rows against SQL on the tables, for whom the table is read, and which cubes are refused. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { DEVELOPER } from '../../dev/roles.ts';
import { startService, type TestService } from '../support/service.ts';
import { TestCaches } from './support/caches.ts';

const TABLES = [
  'CREATE SCHEMA shop',
  'CREATE SCHEMA cached',
  "CREATE COLLATION shop.nocase (provider = icu, locale = 'und-u-ks-level2', deterministic = false)",
  'CREATE TABLE shop.t_region (id integer PRIMARY KEY, name text)',
  "INSERT INTO shop.t_region VALUES (1, 'North'), (2, 'South')",
  'CREATE TABLE shop.t_firm (id integer PRIMARY KEY, segment text, nick text COLLATE shop.nocase, region integer, rating numeric(4,1), weight float8)',
  "INSERT INTO shop.t_firm VALUES (1, 'BUILDING', 'ab', 1, 1.5, 0.1), (2, 'MACHINERY', 'AB', NULL, 2.5, 0.2), (3, NULL, 'c', 2, NULL, 0.3)",
  'CREATE TABLE shop.t_person (id integer PRIMARY KEY, segment text, region integer)',
  "INSERT INTO shop.t_person VALUES (11, 'BUILDING', 2), (12, 'HOME', 9)",
  'CREATE TABLE shop.t_sale (id integer PRIMARY KEY, buyer integer, referrer integer, day date, qty integer, price numeric(10,2))',
  `INSERT INTO shop.t_sale SELECT i, CASE WHEN i % 9 = 0 THEN NULL ELSE (ARRAY[1, 2, 3, 11, 12, 77])[1 + i % 6] END, 1 + i % 4, date '2024-01-30' + i % 3, i % 11, i * 1.37
    FROM generate_series(1, 300) i`,
  'CREATE TABLE shop.t_twin (id integer, label text)',
  "INSERT INTO shop.t_twin VALUES (1, 'one'), (1, 'uno'), (2, 'two')",
];
const MODEL = `CREATE ONTOLOGY shop;
CREATE CONCEPT region (id integer, name string, PRIMARY KEY (id));
CREATE PROPERTY first_label string AS SELECT "twinned[twin].label";
CREATE PROPERTY nick string AS SELECT "sold_to[buyer].segment";
CREATE MEASURE ratings decimal AS SELECT SUM(rating);
CREATE CONCEPT buyer (id integer, segment string, region_no integer, PRIMARY KEY (id),
  CONSTRAINT located_in FOREIGN KEY (region_no) REFERENCES region (id));
CREATE CONCEPT firm (rating decimal(4,1), weight double, ratings MEASURE decimal) INHERITS (buyer);
CREATE CONCEPT person INHERITS (buyer);
CREATE CONCEPT builder INHERITS (buyer) FROM svc.buyer WHERE segment = 'BUILDING';
CREATE CONCEPT twin (id integer, label string, PRIMARY KEY (id));
CREATE CONCEPT sale (id integer, buyer_no integer, twin_no integer, day date, qty integer, price decimal(10,2), nick string, first_label string, PRIMARY KEY (id),
  CONSTRAINT sold_to FOREIGN KEY (buyer_no) REFERENCES buyer (id) INVERSEOF bought,
  CONSTRAINT twinned FOREIGN KEY (twin_no) REFERENCES twin (id));
CREATE MAPPING m_region INTO region AS SELECT id, name FROM shop.t_region;
CREATE MAPPING m_firm INTO firm AS SELECT id, segment, region AS region_no, rating, weight FROM shop.t_firm;
CREATE MAPPING m_person INTO person AS SELECT id, segment, region AS region_no FROM shop.t_person;
CREATE MAPPING m_twin INTO twin AS SELECT id, label FROM shop.t_twin;
CREATE MAPPING m_sale INTO sale AS SELECT id, buyer AS buyer_no, referrer AS twin_no, day, qty, price FROM shop.t_sale;
CREATE ONTOLOGY CUBE sales AS SELECT day, "sold_to[buyer].segment" AS segment, "sold_to[buyer].located_in[region].name", "sold_to[firm].rating" AS rating,
  "sold_to[builder].id" AS builder, "sold_to[buyer].entity_id" AS who, SUM(qty) AS pieces, COUNT("sold_to[buyer].id") AS known,
  SUM(price * "sold_to[firm].rating") AS rated, MAX("sold_to[firm].weight") AS heaviest FROM dsvc.sale WHERE "sold_to[buyer].id" < 70 OR buyer_no IS NULL`;
const REGION = '"sold_to[buyer].located_in[region].name"';
const CACHE = "CACHE CUBE sales OPTIONS (schema = 'cached')";

/** Queries that the table answers, and SQL on the tables. */
const JOINED = `shop.t_sale s LEFT JOIN (SELECT id, segment, region, rating FROM shop.t_firm UNION ALL SELECT id, segment, region, NULL FROM shop.t_person) b ON b.id = s.buyer
  LEFT JOIN shop.t_region r ON r.id = b.region WHERE (b.id < 70 OR s.buyer IS NULL)`;
const CACHED: readonly (readonly [string, string])[] = [
  [
    'SELECT segment, pieces, known FROM vsvc.sales ORDER BY segment NULLS FIRST',
    `SELECT b.segment, sum(s.qty)::int AS pieces, count(b.id)::int AS known FROM ${JOINED} GROUP BY 1 ORDER BY 1 NULLS FIRST`,
  ],
  [
    `SELECT ${REGION} AS region, rated FROM vsvc.sales WHERE segment = 'BUILDING' OR segment IS NULL ORDER BY 1`,
    `SELECT r.name AS region, sum(s.price * b.rating)::float8 AS rated FROM ${JOINED} AND (b.segment = 'BUILDING' OR b.segment IS NULL) GROUP BY 1 ORDER BY 1`,
  ],
  [
    `SELECT s.day, SUM(s.pieces) FILTER (WHERE s.${REGION} IS NULL) AS p, COUNT(*) AS n FROM vsvc.sales s GROUP BY s.day HAVING SUM(s.known) > 1 ORDER BY s.day`,
    `SELECT s.day::text, (sum(s.qty) FILTER (WHERE r.name IS NULL))::int AS p, count(*)::int AS n FROM ${JOINED} GROUP BY 1 HAVING count(b.id) > 1 ORDER BY 1`,
  ],
  [
    'SELECT builder, rating, SUM(pieces) AS p FROM vsvc.sales GROUP BY ROLLUP (builder, rating) ORDER BY 1, 2, 3',
    `SELECT CASE WHEN b.segment = 'BUILDING' THEN b.id END AS builder, b.rating::float8, sum(s.qty)::int AS p FROM ${JOINED} GROUP BY ROLLUP (1, 2) ORDER BY 1, 2, 3`,
  ],
  // an alias is no column that the table lacks
  [
    'SELECT pieces AS heaviest, segment AS who FROM vsvc.sales ORDER BY 2',
    `SELECT sum(s.qty)::int AS heaviest, b.segment AS who FROM ${JOINED} GROUP BY 2 ORDER BY 2`,
  ],
  ['SELECT pieces, known FROM vsvc.sales', `SELECT sum(s.qty)::int AS pieces, count(b.id)::int AS known FROM ${JOINED}`],
];
/** Queries that read the rows: of an id, and of a float. */
const LIVE = ['SELECT who, pieces FROM vsvc.sales ORDER BY 1', 'SELECT segment, heaviest FROM vsvc.sales ORDER BY 1'];

const SEVERAL = 'a path of the cube leads to several rows, but the model has at most one';

let service: TestService;
let caches: TestCaches;

async function asked(sql: string, token?: string): Promise<{ rows: Record<string, unknown>[]; isCached: boolean; text: string }> {
  const { rows, asOf, text } = await caches.asked(sql, token);
  return { rows, isCached: asOf !== null, text };
}

beforeAll(async () => {
  service = await startService({ tables: TABLES, settings: (database) => ({ DATASOURCE_MAIN_WRITER: database.secret(DEVELOPER) }) });
  caches = new TestCaches(service);
  await service.rows(MODEL, 'shop');
});
afterAll(() => service.close());

describe('a cached cube over to-one paths', () => {
  it('gives the rows of SQL on the tables, and the bytes of live answers', async () => {
    const queries = [...CACHED.map(([sql]) => sql), ...LIVE];
    const live: string[] = [];
    for (const sql of queries) live.push((await asked(sql)).text);
    await service.rows(CACHE, 'shop');
    for (const [i, sql] of queries.entries()) {
      const { text, rows, isCached } = await asked(sql);
      expect([text, isCached], sql).toEqual([live[i], i < CACHED.length]);
      const tables = CACHED[i]?.[1];
      if (tables) expect(rows, sql).toEqual(await service.database.superuser(tables));
    }
    const logical = async (): Promise<string> => JSON.stringify(await service.rows(`EXPLAIN (LOGICAL) ${CACHED[1]?.[0]}`, 'shop'));
    const cached = await logical();
    await service.rows('UNCACHE CUBE sales', 'shop');
    expect(await logical()).toBe(cached);
  });

  it('is live under a policy, a mask or a missing right of any concept on its paths', async () => {
    await service.rows(CACHE, 'shop');
    const all = await service.user('all', 'QUERY ON ALL ontology.shop', 'QUERY ON datasource.main');
    const sql = 'SELECT segment, pieces FROM vsvc.sales ORDER BY 1';
    expect((await asked(sql, all)).isCached).toBe(true);
    const policies = [
      "CREATE POLICY p ON CONCEPT region TO USER all USING (name = 'North')",
      "CREATE POLICY p ON CONCEPT buyer TO USER all USING (segment <> 'BUILDING')",
      'CREATE POLICY p ON CONCEPT firm TO USER all USING (id = 2)',
      'CREATE POLICY p ON CONCEPT builder TO USER all USING (id = 1)',
      'CREATE POLICY p ON PROPERTY segment MASK NULL EXCEPT USER admin',
      'CREATE POLICY p ON PROPERTY name OF CONCEPT region MASK FULL EXCEPT USER admin',
    ];
    for (const policy of policies) {
      await service.rows(policy, 'shop');
      expect([(await asked(sql, all)).isCached, (await asked(sql)).isCached], policy).toEqual([false, true]);
      await service.rows('DROP POLICY p', 'shop');
    }
    await service.rows("CREATE POLICY p ON CONCEPT region TO USER all USING (name = 'North')", 'shop');
    const north = await asked(`SELECT ${REGION} AS region, SUM(known) AS n FROM vsvc.sales GROUP BY 1 ORDER BY 1`, all);
    expect(north.rows.map((r) => r.region)).toEqual(['North', null]);
    await service.rows('DROP POLICY p', 'shop');
    // a mapping that leaves out rows hides them from callers who may not query its tables
    await service.rows('CREATE OR REPLACE MAPPING m_region INTO region AS SELECT id, name FROM shop.t_region WHERE id > 0', 'shop');
    await service.rows(CACHE, 'shop');
    const reader = await service.user('reader', 'QUERY ON ALL ontology.shop');
    expect([(await asked(sql, reader)).isCached, (await asked(sql, all)).isCached]).toEqual([false, true]);
    const some = await service.user('some', 'QUERY ON ontology.shop.concept.sale', 'QUERY ON ontology.shop.view.sales', 'QUERY ON datasource.main');
    expect((await asked(sql, some)).isCached).toBe(false);
  });

  it('ends with a change of a mapping or concept on its paths', async () => {
    const changes = [
      "CREATE OR REPLACE MAPPING m_region INTO region AS SELECT id, name FROM shop.t_region WHERE name <> 'South'",
      'CREATE OR REPLACE MAPPING m_person INTO firm AS SELECT id, segment, region AS region_no FROM shop.t_person',
      "CREATE OR REPLACE CONCEPT builder INHERITS (buyer) FROM svc.buyer WHERE segment IN ('BUILDING', 'HOME')",
    ];
    for (const change of changes) {
      await service.rows(CACHE, 'shop');
      expect((await asked(CACHED[0]?.[0] ?? '')).isCached, change).toBe(true);
      await service.rows(change, 'shop');
      expect((await asked(CACHED[0]?.[0] ?? '')).isCached, change).toBe(false);
    }
  });
});

describe('CACHE CUBE', () => {
  it('refuses a to-one path that leads to several rows in the data', async () => {
    const cube = 'CREATE OR REPLACE ONTOLOGY CUBE twins AS SELECT "twinned[twin].label" AS label, SUM(qty) AS pieces FROM dsvc.sale';
    await service.rows(cube, 'shop');
    const cache = "CACHE CUBE twins OPTIONS (schema = 'cached')";
    expect(await caches.refusal(cache)).toBe(SEVERAL);
    expect((await asked('SELECT pieces FROM vsvc.twins')).isCached).toBe(false);
    // a calculated property joins the path too
    await service.rows('CREATE ONTOLOGY CUBE labels AS SELECT day, MAX(first_label) AS label FROM dsvc.sale', 'shop');
    expect(await caches.refusal("CACHE CUBE labels OPTIONS (schema = 'cached')")).toBe(SEVERAL);
    // the condition joins the path in each query, so all queries have the same rows
    await service.rows(`${cube} WHERE "twinned[twin].label" <> 'two'`, 'shop');
    const live = await asked('SELECT pieces FROM vsvc.twins');
    await service.rows(cache, 'shop');
    expect(await asked('SELECT pieces FROM vsvc.twins')).toEqual({ ...live, isCached: true });
    await service.database.exec("DELETE FROM shop.t_twin WHERE label = 'uno'");
    await service.rows(`${cube}; ${cache}`, 'shop');
    expect((await asked('SELECT pieces FROM vsvc.twins')).isCached).toBe(true);
  });

  it('refuses such a path in a calculated property, unless each query joins it', async () => {
    await service.database.exec("INSERT INTO shop.t_twin VALUES (1, 'ein')");
    await service.rows(
      `CREATE PROPERTY tag string AS SELECT "twinned[twin].label";
      CREATE CONCEPT tagged (tag string) INHERITS (sale);
      CREATE MAPPING m_tagged INTO tagged AS SELECT id, buyer AS buyer_no, referrer AS twin_no, day, qty, price FROM shop.t_sale`,
      'shop',
    );
    const cubes = {
      dimension: 'SELECT day, tag, SUM(qty) AS pieces, COUNT(id) AS n FROM dsvc.tagged',
      measure: 'SELECT day, SUM(qty) AS pieces, MAX(tag) AS last FROM dsvc.tagged',
      filter: "SELECT day, SUM(qty) AS pieces, COUNT(*) FILTER (WHERE tag = 'one') AS n FROM dsvc.tagged",
      both: `SELECT "twinned[twin].label" AS label, SUM(qty) AS pieces FROM dsvc.tagged WHERE tag <> 'two'`,
    };
    for (const [name, sql] of Object.entries(cubes)) {
      await service.rows(`CREATE ONTOLOGY CUBE tags_${name} AS ${sql}`, 'shop');
      expect(await caches.refusal(`CACHE CUBE tags_${name} OPTIONS (schema = 'cached')`), name).toBe(SEVERAL);
      expect((await asked(`SELECT pieces FROM vsvc.tags_${name}`)).isCached, name).toBe(false);
    }
    await service.rows("CREATE ONTOLOGY CUBE tags AS SELECT tag, SUM(qty) AS pieces FROM dsvc.tagged WHERE tag <> 'two'", 'shop');
    const live = await asked('SELECT pieces FROM vsvc.tags');
    await service.rows("CACHE CUBE tags OPTIONS (schema = 'cached')", 'shop');
    expect(await asked('SELECT pieces FROM vsvc.tags')).toEqual({ ...live, isCached: true });
    const joined = "FROM shop.t_sale s JOIN shop.t_twin t ON t.id = s.referrer WHERE t.label <> 'two'";
    expect(live.rows).toEqual(await service.database.superuser(`SELECT sum(s.qty)::int AS pieces ${joined}`));
    await service.database.exec("DELETE FROM shop.t_twin WHERE label = 'ein'");
    await service.rows("CACHE CUBE tags_dimension OPTIONS (schema = 'cached')", 'shop');
    expect((await asked('SELECT pieces FROM vsvc.tags_dimension')).isCached).toBe(true);
  });

  it('refuses to-many paths, measures of other concepts, and collations that may be nondeterministic anywhere', async () => {
    const cubes = {
      many: 'SELECT "bought[sale].day" AS day, COUNT(id) AS n FROM dsvc.buyer',
      other: 'SELECT day, "measure.sold_to[firm].ratings" AS r FROM dsvc.sale',
      counted: 'SELECT name, MAX("~located_in[buyer].bought[sale].qty") AS q FROM dsvc.region',
    };
    for (const [name, sql] of Object.entries(cubes)) {
      await service.rows(`CREATE ONTOLOGY CUBE ${name} AS ${sql}`, 'shop');
      expect(await caches.refusal(`CACHE CUBE ${name} OPTIONS (schema = 'cached')`)).toContain(
        `the cube \`${name}\` cannot be cached: it follows a path that may`,
      );
    }
    await service.rows(
      `CREATE OR REPLACE MAPPING m_firm INTO firm AS SELECT id, nick AS segment, region AS region_no, rating, weight FROM shop.t_firm;
      CREATE ONTOLOGY CUBE nicks AS SELECT nick, COUNT(id) AS n FROM dsvc.sale`,
      'shop',
    );
    for (const name of ['sales', 'nicks'])
      expect(await caches.refusal(`CACHE CUBE ${name} OPTIONS (schema = 'cached')`)).toContain('has a collation other than the default, C and POSIX');
  });
});
