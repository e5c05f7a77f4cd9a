/** `kg validate --ontology NAME --data` over a database with faults planted in it. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { CATALOG_OWNER, READER } from '../../dev/roles.ts';
import { physicalColumns } from '../../src/checks/indexes.ts';
import { main } from '../../src/cli/kg.ts';
import { loadNodeParser } from '../../src/cli/node-parser.ts';
import { startService, type TestService } from '../support/service.ts';

const TABLES = [
  `CREATE SCHEMA shop`,
  `CREATE TABLE shop.customer (id integer PRIMARY KEY, name text NOT NULL)`,
  `CREATE TABLE shop.vip (id integer PRIMARY KEY, name text NOT NULL)`,
  `CREATE TABLE shop.country (code text, name text)`,
  `CREATE TABLE shop."order" (no integer PRIMARY KEY, customer_id integer, country text)`,
  `CREATE INDEX ON shop."order" (country)`,
  `CREATE TABLE shop.tag (id integer PRIMARY KEY)`,
  `CREATE TABLE shop.order_tag (no integer, tag integer, PRIMARY KEY (no, tag))`,
  `CREATE TABLE shop.old_order (no integer PRIMARY KEY, customer_id integer, country text)`,
  `CREATE INDEX ON shop.old_order (customer_id, country)`,
  `CREATE INDEX ON shop.old_order (country)`,
  `CREATE TABLE public.plain (id integer PRIMARY KEY)`,
  `INSERT INTO public.plain VALUES (1), (2)`,
  `INSERT INTO shop.customer VALUES (1, 'Ann'), (2, 'Ben'), (3, 'Cy')`,
  `INSERT INTO shop.country VALUES ('A', 'Aland'), ('B', 'Borneo')`,
  `INSERT INTO shop."order" VALUES (10, 1, 'A'), (11, 2, 'B'), (12, NULL, NULL)`,
  `INSERT INTO shop.old_order VALUES (1, 3, 'A')`,
  `INSERT INTO shop.tag VALUES (1), (2)`,
  `INSERT INTO shop.order_tag VALUES (10, 1), (10, 2)`,
  `CREATE TABLE public.sale (sale_no integer PRIMARY KEY, amount numeric, day date, colour text, note text)`,
  `INSERT INTO public.sale SELECT i, i + 0.5, date '2023-12-31' + i, CASE WHEN i < 30 THEN CASE WHEN i % 2 = 0 THEN 'blue' ELSE 'red' END END, 'n' || i FROM generate_series(1, 30) AS i`,
];

const MODEL = `
CREATE CONCEPT customer (id integer, name string, PRIMARY KEY (id));
CREATE CONCEPT vip INHERITS (customer);
CREATE CONCEPT country (code string, country_name string, PRIMARY KEY (code));
CREATE CONCEPT "tag" (tag_id integer, PRIMARY KEY (tag_id));
CREATE CONCEPT shop_order (no integer, customer_id integer, country_code string, PRIMARY KEY (no),
  CONSTRAINT of_customer FOREIGN KEY (customer_id) REFERENCES customer (id) INVERSEOF has_order,
  CONSTRAINT of_country FOREIGN KEY (country_code) REFERENCES country (code),
  CONSTRAINT has_tag MULTIREFERENCE "tag" INVERSEOF tag_of);
CREATE CONCEPT plain (plain_id integer, PRIMARY KEY (plain_id));
CREATE CONCEPT big_order FROM svc.shop_order WHERE no > 10;
CREATE MAPPING map_customer INTO customer AS SELECT id, name FROM shop.customer;
CREATE MAPPING map_vip INTO vip AS SELECT id, name FROM shop.vip;
CREATE MAPPING map_country INTO country AS SELECT c.code, c.name AS country_name FROM shop.country c;
CREATE MAPPING map_tag INTO "tag" AS SELECT id AS tag_id FROM shop.tag;
CREATE MAPPING map_order INTO shop_order AS SELECT no, customer_id, country AS country_code FROM shop."order";
CREATE MAPPING map_old_order INTO shop_order AS SELECT no, customer_id, country AS country_code FROM shop.old_order;
CREATE MAPPING map_plain INTO plain AS SELECT id AS plain_id FROM plain;
CREATE MAPPING map_order_tag (CONSTRAINT has_tag FOREIGN KEY (t) REFERENCES "tag" (tag_id), CONSTRAINT tag_of FOREIGN KEY (o) REFERENCES shop_order (no))
  AS SELECT no AS o, tag AS t FROM shop.order_tag;
CREATE VIEW names AS SELECT name FROM svc.customer WHERE id < 3;
CREATE VIEW raw_names USING main AS SELECT name FROM shop.customer`;

let service: TestService;
beforeAll(async () => {
  service = await startService({ tables: TABLES });
  await service.rows(`CREATE ONTOLOGY shop; ${MODEL}`);
});
afterAll(() => service?.close());

async function kg(...args: string[]) {
  const out: string[] = [];
  const err: string[] = [];
  const env = { CATALOG_URL: service.database.secret(CATALOG_OWNER), DATASOURCE_MAIN: service.database.secret(READER), SESSION_FILE: 'missing.json' };
  const code = await main(args, env, { out: (l) => out.push(l), err: (l) => err.push(l) });
  return { code, out, err: err.join('\n') };
}
const validate = () => kg('validate', '--ontology', 'Shop', '--data');
const about = (lines: readonly string[], code: string) => lines.filter((l) => l.endsWith(`(${code})`));
const exec = (sql: string) => service.database.exec(sql);

describe('validate --data', () => {
  it('counts rows, and stores the counts with the version', async () => {
    const counted =
      "SELECT mapping_name AS m, number_of_rows AS n FROM svc.SYS_CONCEPT_MAPPINGS WHERE concept IN ('customer', 'vip', 'shop_order', 'plain') ORDER BY 1";
    expect((await service.rows(counted, 'shop')).map((r) => r.n)).toEqual([null, null, null, null, null, null]);
    const { code, out } = await validate();
    expect(out.filter((l) => / (error|warning): /.test(l)).filter((l) => !l.endsWith('(missing_index)'))).toEqual([]);
    expect(code).toBe(0);
    expect(out.at(-1)).toMatch(/^shop: rows of 8 mappings, 7 concepts, 2 views counted for version [0-9a-f-]{36}, 0 errors, \d+ warnings$/);
    expect(await service.rows(counted, 'shop')).toEqual([
      { m: 'map_customer', n: 3 },
      { m: 'map_old_order', n: 1 },
      { m: 'map_order', n: 3 },
      { m: 'map_order_tag', n: 2 },
      { m: 'map_plain', n: 2 },
      { m: 'map_vip', n: 0 },
    ]);
    expect(await service.rows('SELECT view_name AS v, number_of_rows AS n FROM svc.SYS_VIEWS ORDER BY 1', 'shop')).toEqual([
      { v: 'names', n: 2 },
      { v: 'raw_names', n: 3 },
    ]);
    expect((await service.rows('SHOW VIEWS', 'shop')).map((r) => r.number_of_rows)).toEqual([2, 3]);
    expect(out).toContain('shop: concept big_order: 2 rows');
    // counted again after a change of the data: the new numbers replace the old ones
    await exec('INSERT INTO public.plain VALUES (3)');
    await validate();
    expect((await service.rows("SELECT number_of_rows AS n FROM svc.SYS_CONCEPT_MAPPINGS WHERE mapping_name = 'map_plain'", 'shop'))[0].n).toBe(3);
  });

  it('counts distinct, smallest, largest and frequent values, and shows them to callers who may read all of them', async () => {
    await service.rows(`CREATE ONTOLOGY trade; CREATE CONCEPT sale (sale_no integer, amount decimal, day date, colour string, note string, PRIMARY KEY (sale_no));
      CREATE PROPERTY kind string AS SELECT 'any';
      CREATE CONCEPT own_sale (own_no integer, kind string, PRIMARY KEY (own_no));
      CREATE MAPPING map_sale INTO sale AS SELECT sale_no, amount, day, colour, note FROM public.sale;
      CREATE MAPPING map_own INTO own_sale AS SELECT sale_no AS own_no, colour AS kind FROM public.sale;
      CREATE VIEW colours AS SELECT colour, day FROM svc.sale;
      CREATE VIEW mine AS SELECT colour FROM svc.sale WHERE note = svc_username();
      CREATE ONTOLOGY CUBE by_colour AS SELECT colour AS colour, SUM(amount) AS total FROM dsvc.sale`);
    const { out } = await kg('validate', '--ontology', 'trade', '--data');
    expect(out).toContain('trade: values of 10 columns counted');
    const read = (token?: string) =>
      service.rows(
        `SELECT target_type AS k, target_name AS t, property_name AS p, distinct_count AS d, non_null_count AS v, null_count AS nulls, min_value AS a, max_value AS z, stats
           FROM svc.SYS_PROPERTIES_STATISTICS WHERE target_name <> 'map_own' ORDER BY 1, 2, 3`,
        'trade',
        token,
      );
    // a query has the calculated value, not the mapping's
    expect(await service.rows("SELECT property_name AS p FROM svc.SYS_PROPERTIES_STATISTICS WHERE target_name = 'map_own'", 'trade')).toEqual([
      { p: 'own_no' },
    ]);
    const expected = await exec(`SELECT count(DISTINCT amount)::integer AS amounts, min(day)::text AS first, max(day)::text AS last FROM public.sale`);
    expect(expected[0]).toEqual({ amounts: 30, first: '2024-01-01', last: '2024-01-30' });
    const all = await read();
    const of = (t: string, p: string) => all.find((r) => r.t === t && r.p === p);
    expect(all.map((r) => `${r.t}.${r.p}`)).toEqual([
      'map_sale.amount',
      'map_sale.colour',
      'map_sale.day',
      'map_sale.note',
      'map_sale.sale_no',
      'by_colour.colour',
      'by_colour.total',
      'colours.colour',
      'colours.day',
    ]);
    expect(of('map_sale', 'amount')).toEqual({
      k: 'mapping',
      t: 'map_sale',
      p: 'amount',
      d: 30,
      v: 30,
      nulls: 0,
      a: '1.5',
      z: '30.5',
      stats: '{"min_value":"1.5","max_value":"30.5"}',
    });
    expect(of('map_sale', 'colour')).toMatchObject({
      d: 2,
      v: 29,
      nulls: 1,
      a: 'blue',
      z: 'red',
      stats: '{"top_k":[{"value":"red","count":15},{"value":"blue","count":14}]}',
    });
    expect(of('map_sale', 'day')).toMatchObject({ d: 30, stats: '{"min_value":"2024-01-01","max_value":"2024-01-30"}' });
    // no two rows have one note: its values are not listed
    expect(JSON.parse(of('map_sale', 'note')?.stats)).toEqual({ min_value: 'n1', max_value: 'n9' });
    expect(of('by_colour', 'total')).toMatchObject({ d: 3, v: 3 });

    const trade = 'ontology.trade';
    const [reader, half, viewer, masked, hidden] = await Promise.all(
      (
        [
          ['st_reader', `QUERY ON ALL ${trade}`],
          ['st_half', `ACCESS ON ALL ${trade}`, `QUERY ON ${trade}.concept.own_sale`],
          ['st_viewer', `QUERY ON ${trade}.view.colours`],
          ['st_masked', `QUERY ON ALL ${trade}`],
          ['st_hidden', `QUERY ON ALL ${trade}`],
        ] as const
      ).map(([name, ...grants]) => service.user(name, ...grants)),
    );
    expect(await read(reader)).toEqual(all);
    expect(await read(half)).toEqual([]);
    // the view reads with the rights of its definer: its statistics need the caller's
    expect(await read(viewer)).toEqual([]);
    await service.rows(`CREATE POLICY no_colour ON PROPERTY colour MASK FULL EXCEPT USER st_reader, USER st_hidden`, 'trade');
    expect((await read(masked)).map((r) => r.p)).toEqual(['amount', 'day', 'note', 'sale_no']);
    expect(await read(reader)).toEqual(all);
    await service.rows(`CREATE POLICY some_rows ON CONCEPT own_sale TO USER st_reader USING (own_no > 1)`, 'trade');
    for (const token of [reader, masked, hidden]) expect(await read(token)).toEqual([]);
    expect(await read()).toEqual(all);
  });

  it('names columns that paths join by without an index, with the index to create', async () => {
    const { out } = await validate();
    expect(
      about(out, 'missing_index')
        .map((l) => /CREATE INDEX.*\)(?= \()/.exec(l)?.[0])
        .sort(),
    ).toEqual(['CREATE INDEX ON shop."order" (customer_id)', 'CREATE INDEX ON shop.country (code)', 'CREATE INDEX ON shop.order_tag (tag)']);
    await exec('CREATE INDEX ON shop.order_tag (tag)');
    expect(about((await validate()).out, 'missing_index')).toHaveLength(2);
  });

  it('warns of foreign keys without a target, of link mappings too', async () => {
    await exec(`UPDATE shop."order" SET customer_id = 99 WHERE no = 11`);
    await exec('INSERT INTO shop.order_tag VALUES (77, 1), (78, 5)');
    const { code, out } = await validate();
    expect(about(out, 'dangling_key')).toEqual([
      'shop: relationship shop_order.of_customer: warning: 1 row of `shop_order` with `customer_id` that no `customer` has (dangling_key)',
      'shop: mapping map_order_tag: warning: 2 rows with `o` that no `shop_order` has (dangling_key)',
      'shop: mapping map_order_tag: warning: 1 row with `t` that no `tag` has (dangling_key)',
    ]);
    expect(code).toBe(0);
    await exec(`UPDATE shop."order" SET customer_id = 2 WHERE no = 11`);
    await exec('DELETE FROM shop.order_tag WHERE no > 20');
  });

  it('fails on keys that are NULL, not unique, or shared by two mappings', async () => {
    await exec(`INSERT INTO shop.country VALUES ('A', 'Again'), (NULL, 'Nowhere')`);
    await exec(`INSERT INTO shop.old_order VALUES (10, 1, 'A')`);
    await exec(`INSERT INTO shop.vip VALUES (2, 'Ben')`);
    const { code, out } = await validate();
    expect(code).toBe(1);
    expect(about(out, 'null_key')).toEqual(['shop: mapping map_country: error: 1 row without a primary key: `code` of `country` must not be NULL (null_key)']);
    expect(about(out, 'key_not_unique')).toEqual([
      'shop: mapping map_country: error: it has more than one row for 1 key of `country`, e.g. country:A (key_not_unique)',
    ]);
    expect(about(out, 'key_shared')).toEqual([
      'shop: concept shop_order: error: the mappings `map_order`, `map_old_order` share 1 key, e.g. shop_order:10: those rows are duplicated in `shop_order` (key_shared)',
    ]);
    expect(about(out, 'duplicate_rows')).toEqual([
      'shop: concept customer: error: the mappings `map_customer`, `map_vip` share 1 key, e.g. customer:2: vip is a customer, so those rows are duplicated in `customer` (duplicate_rows)',
    ]);
    expect(about(out, 'to_one_not_unique')).toEqual([
      'shop: relationship shop_order.of_customer: error: leads to one `customer`, but `id` of it has 1 value in more than one row: paths over it duplicate rows (to_one_not_unique)',
      'shop: relationship shop_order.of_country: error: leads to one `country`, but `code` of it has 1 value in more than one row: paths over it duplicate rows (to_one_not_unique)',
    ]);
    expect(out.at(-1)).toMatch(/, 6 errors, 2 warnings$/);
  });

  it('reads keys of several columns, own and inherited, and a foreign key that refers to one', async () => {
    await exec('CREATE TABLE shop.part (a integer, b text, PRIMARY KEY (a, b))');
    await exec('CREATE TABLE shop.spare (a integer, b text, x integer, y text)');
    await exec(`INSERT INTO shop.part VALUES (1, 'p|q'), (1, 'p%7Cq'), (2, 'r')`);
    await exec(`INSERT INTO shop.spare VALUES (5, 's', 1, 'p|q'), (5, 's', 2, 'none'), (5, NULL, 2, NULL)`);
    await service.rows(`CREATE ONTOLOGY parts;
      CREATE CONCEPT part (a integer, b string, PRIMARY KEY (a, b));
      CREATE CONCEPT spare (x integer, y string, CONSTRAINT replaces FOREIGN KEY (x, y) REFERENCES part (a, b)) INHERITS (part);
      CREATE MAPPING map_part INTO part AS SELECT a, b FROM shop.part;
      CREATE MAPPING map_spare INTO spare AS SELECT a, b, x, y FROM shop.spare`);
    const { code, out } = await kg('validate', '--ontology', 'parts', '--data');
    expect(code).toBe(1);
    expect(out.filter((l) => / (error|warning): /.test(l))).toEqual([
      'parts: mapping map_spare: error: 1 row without a primary key: `a`, `b` of `spare` must not be NULL (null_key)',
      'parts: mapping map_spare: error: it has more than one row for 1 key of `spare`, e.g. part:5|s (key_not_unique)',
      'parts: relationship spare.replaces: error: leads to one `part`, but `a`, `b` of it have 1 value in more than one row: paths over it duplicate rows (to_one_not_unique)',
      'parts: relationship spare.replaces: warning: 1 row of `spare` with `x`, `y` that no `part` has (dangling_key)',
      'parts: relationship spare.replaces: warning: paths join by columns without an index: CREATE INDEX ON shop.spare (x, y) (missing_index)',
      'parts: relationship spare.replaces: warning: paths join by columns without an index: CREATE INDEX ON shop.spare (a, b) (missing_index)',
    ]);
  });

  it('warns of equal rows of link tables, and of links that two mappings share', async () => {
    await exec('CREATE TABLE shop.seen (item integer, place text, since date, note json)');
    await exec('CREATE TABLE shop.seen_too (place text, item integer)');
    // SELECT item, place, since, note::text, count(*) FROM shop.seen GROUP BY 1, 2, 3, 4 HAVING count(*) > 1: (1, 'x'), (2, 'y')
    await exec(
      `INSERT INTO shop.seen VALUES (1, 'x', NULL, '{}'), (1, 'x', NULL, '{}'), (1, 'x', '2024-01-01', '{}'), (2, 'y', NULL, NULL), (2, 'y', NULL, NULL), (2, 'y', NULL, NULL), (3, NULL, NULL, NULL), (3, NULL, NULL, NULL)`,
    );
    await exec(`INSERT INTO shop.seen_too VALUES ('x', 1), ('x', 2), ('z', 3)`);
    await service.rows(`CREATE ONTOLOGY links;
      CREATE CONCEPT item (item_id integer, PRIMARY KEY (item_id), CONSTRAINT seen_at MULTIREFERENCE place INVERSEOF shows);
      CREATE CONCEPT place (code string, PRIMARY KEY (code));
      CREATE MEASURE places bigint AS SELECT COUNT(code);
      CREATE OR REPLACE CONCEPT place (code string, places MEASURE bigint, PRIMARY KEY (code));
      CREATE MAPPING m_item INTO item AS SELECT g AS item_id FROM generate_series(1, 3) g;
      CREATE MAPPING m_place INTO place AS SELECT c AS code FROM unnest(ARRAY['x', 'y', 'z']) c;
      CREATE MAPPING m_seen (CONSTRAINT seen_at FOREIGN KEY (place) REFERENCES place (code), CONSTRAINT shows FOREIGN KEY (item) REFERENCES item (item_id)) AS SELECT item, place, since, note FROM shop.seen;
      CREATE MAPPING m_too (CONSTRAINT shows FOREIGN KEY (item) REFERENCES item (item_id), CONSTRAINT seen_at FOREIGN KEY (place) REFERENCES place (code)) AS SELECT place, item FROM shop.seen_too`);
    const { code, out } = await kg('validate', '--ontology', 'links', '--data');
    expect(code).toBe(0);
    expect(about(out, 'duplicate_link')).toEqual([
      'links: mapping m_seen: warning: 2 links occur more than once, in equal rows: an aggregate over the relationship counts each of them (duplicate_link)',
      'links: relationship item.seen_at: warning: the mappings `m_seen` and `m_too` share 3 links: an aggregate over the relationship counts each of them (duplicate_link)',
    ]);
    expect(about(out, 'not_checked')).toEqual([]);
    // equal rows count each in an aggregate, and each place once in a measure
    expect(
      await service.rows(
        'SELECT item_id, COUNT("seen_at[place].code") AS n, SUM("measure.seen_at[place].places") AS m FROM dsvc.item GROUP BY item_id ORDER BY 1',
        'links',
      ),
    ).toEqual([
      { item_id: 1, n: 4, m: 1 },
      { item_id: 2, n: 4, m: 2 },
      { item_id: 3, n: 1, m: 1 },
    ]);
    await exec('DROP TABLE shop.seen, shop.seen_too');
  });

  it('finds calculated properties and measures that fail on the data', async () => {
    await exec('CREATE TABLE shop.job (no integer PRIMARY KEY, hours integer, days integer, code text)');
    await exec(`INSERT INTO shop.job VALUES (1, 6, 3, '17'), (2, 0, 0, 'x')`);
    await service.rows(`CREATE ONTOLOGY jobs;
      CREATE PROPERTY rate double AS SELECT hours::double precision / days; CREATE PROPERTY safe double AS SELECT hours::double precision / NULLIF(days, 0);
      CREATE PROPERTY code_no integer AS SELECT code::integer;
      CREATE MEASURE per_day double AS SELECT SUM(hours)::double precision / SUM(days); CREATE MEASURE never double AS SELECT SUM(hours) / (SUM(days) - 3)::double precision;
      CREATE MEASURE sure double AS SELECT SUM(hours) / NULLIF(SUM(days), 0)::double precision; CREATE MEASURE twice double AS SELECT per_day * 2;
      CREATE CONCEPT job (no integer, hours integer, days integer, code string, rate double, safe double, code_no integer,
        per_day MEASURE double, never MEASURE double, sure MEASURE double, twice MEASURE double, PRIMARY KEY (no));
      CREATE CONCEPT empty (rate double, per_day MEASURE double) INHERITS (job);
      CREATE MAPPING m_job INTO job AS SELECT no, hours, days, code FROM shop.job`);
    const hint = '; write x / NULLIF(y, 0), which is NULL where y is 0';
    const { code, out } = await kg('validate', '--ontology', 'jobs', '--data');
    expect(code).toBe(1);
    const owned = (lines: string[]) => lines.filter((l) => l.includes('`job`'));
    expect(owned(about(out, 'property_fails'))).toEqual([
      `jobs: property rate: error: it cannot be computed for every row of \`job\`: division by zero${hint} (property_fails)`,
      'jobs: property code_no: error: it cannot be computed for every row of `job`: invalid input syntax for type integer: "x" (property_fails)',
    ]);
    expect(owned(about(out, 'measure_fails'))).toEqual([
      `jobs: measure never: error: it cannot be computed over all rows of \`job\`: division by zero${hint} (measure_fails)`,
      `jobs: measure per_day: warning: it cannot be computed for each group of rows of \`job\`: division by zero${hint} (measure_fails)`,
      `jobs: measure twice: warning: it cannot be computed for each group of rows of \`job\`: division by zero${hint} (measure_fails)`,
    ]);
    expect(out.join()).not.toMatch(/(property|measure) (safe|sure): /);
    await exec('DROP TABLE shop.job');
  });

  it('continues if the database refuses a check', async () => {
    await service.rows(`CREATE ONTOLOGY odd; CREATE CONCEPT odd (id integer, half integer, PRIMARY KEY (id));
      CREATE MAPPING map_odd INTO odd AS SELECT id, 1 / (id - 1) AS half FROM shop.customer;
      CREATE VIEW halves AS SELECT half FROM svc.odd WHERE half > 0`);
    const { code, out } = await kg('validate', '--ontology', 'odd', '--data');
    expect(code).toBe(0);
    expect(about(out, 'not_checked')).toEqual([
      'odd: view halves: warning: could not be checked: division by zero (division_by_zero) (not_checked)',
      // its rows can be counted, its values cannot
      'odd: mapping map_odd: warning: could not be checked: division by zero (division_by_zero) (not_checked)',
    ]);
    expect(await service.rows('SELECT view_name, number_of_rows AS n FROM svc.SYS_VIEWS', 'odd')).toEqual([{ view_name: 'halves', n: null }]);
    expect(out).toContain('odd: concept odd: 3 rows');
  });

  it('reports missing settings', async () => {
    expect(await kg('validate', '--data')).toMatchObject({ code: 2 });
    expect(await kg('validate', 'file.kg', '--data', '--ontology', 'shop')).toMatchObject({ code: 2 });
    expect((await kg('validate', '--data', '--ontology', 'shopp')).err).toBe('unknown ontology shopp; did you mean shop?');
    const err: string[] = [];
    const env = { CATALOG_URL: service.database.secret(CATALOG_OWNER), SESSION_FILE: 'missing.json' };
    expect(await main(['validate', '--data', '--ontology', 'shop'], env, { out: () => undefined, err: (l) => err.push(l) })).toBe(1);
    expect(err.join('\n')).toContain('set DATASOURCE_MAIN');
  });
});

describe('the columns of a mapping', () => {
  it('are read from the table if they are not computed', async () => {
    const parser = await loadNodeParser();
    const read = (sql: string) => Object.fromEntries([...physicalColumns(sql, parser)].map(([name, c]) => [name, `${c.schema}.${c.table}.${c.column}`]));
    expect(read('SELECT a, b::text AS b, t.c AS d FROM t')).toEqual({ a: 'public.t.a', d: 'public.t.c' });
    expect(read('SELECT x.a, y.b, c FROM s.t x JOIN s.u AS y ON x.i = y.i')).toEqual({ a: 's.t.a', b: 's.u.b' });
    expect(read('SELECT a FROM t UNION ALL SELECT a FROM u')).toEqual({});
    expect(read('SELECT a, count(*) FROM t GROUP BY a')).toEqual({});
    expect(read('SELECT a FROM (SELECT 1 AS a) q')).toEqual({});
    expect(read('SELECT `a` FROM t')).toEqual({});
  });
});

describe('advise', () => {
  it('proposes a layout of the tables that the mappings read, with counted rows', async () => {
    // another test adds a row
    await exec('DELETE FROM shop.vip');
    const { code, out, err } = await kg('advise', '--ontology', 'Shop', '--datasource', 'main');
    expect(err).toBe('');
    expect(code).toBe(0);
    expect(out[0]).toBe('-- ontology shop, datasource main');
    expect(out).toContain('-- shop.vip: 0 rows, so each worker gets a copy and joins it without a request');
    expect(out.filter((l) => l.includes('create_distributed_table')).toSorted()).toEqual([
      "SELECT create_distributed_table('public.plain', 'id');",
      `SELECT create_distributed_table('shop."order"', 'customer_id', colocate_with => 'shop.customer');`,
      "SELECT create_distributed_table('shop.country', 'code');",
      "SELECT create_distributed_table('shop.customer', 'id');",
      "SELECT create_distributed_table('shop.old_order', 'customer_id', colocate_with => 'shop.customer');",
      "SELECT create_distributed_table('shop.order_tag', 'tag', colocate_with => 'shop.tag');",
      "SELECT create_distributed_table('shop.tag', 'id');",
    ]);
    const copied = await kg('advise', '--ontology', 'shop', '--small', '1000');
    expect(copied.out.join('\n')).toContain('one server is enough');
  });

  it.each([
    [['--ontology', 'shpo'], 'unknown ontology shpo; did you mean shop?'],
    [['--ontology', 'shop', '--datasource', 'other'], 'the datasource other is not attached to shop'],
  ])('%j fails', async (args, message) => {
    const { code, err } = await kg('advise', ...args);
    expect(code).toBe(1);
    expect(err).toContain(message);
  });
});
