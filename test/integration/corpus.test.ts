/**
 * The corpora of refused and accepted statements through the whole service: refused statements never reach the datasource,
 * accepted ones return the rows of the same statement over plain views. `npm test` runs all
 * but some of the refused ones that test/unit/planner/guard.test.ts has.
 */
import type { PGlite } from '@electric-sql/pglite';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { memoryDatabase } from '../support/databases/memory.ts';
import { startService, type TestService } from '../support/service.ts';
import { oneIn, sizesOf } from '../support/sizes.ts';
import { ACCEPTED } from '../unit/planner/corpus/accepted.ts';
import { MODEL, TABLES } from '../unit/planner/corpus/model.ts';
import { GUARD_CODES, REFUSED } from '../unit/planner/corpus/refused.ts';

const SIZES = sizesOf('integration/corpus');

let service: TestService;
let plain: PGlite;

beforeAll(async () => {
  service = await startService();
  for (const sql of TABLES) await service.database.exec(sql);
  await service.rows(`CREATE ONTOLOGY shop; ${MODEL}`);
  plain = await memoryDatabase();
  for (const sql of [...TABLES, ...VIEWS]) await plain.exec(sql);
  service.reached();
});
afterAll(async () => {
  await service.close();
  await plain.close();
});

/** The concepts of the model as views over the tables: columns in the order of `SELECT *`. */
const SELECTS: Readonly<Record<string, string>> = {
  city: `SELECT 'city:' || town_no AS entity_id, 'city' AS entity_type, town AS entity_label, town_no AS city_id, town AS name, heads AS population FROM shop.t_town`,
  customer: `SELECT 'customer:' || no AS entity_id, 'customer' AS entity_type, concat_ws(' ', fname, lname) AS entity_label, no AS customer_id, fname AS first_name,
      lname AS last_name, mail AS email, born AS birth_date, town_no AS city_id, seg AS segment, vip, limit_eur AS credit_limit, extra AS attributes FROM shop.t_client`,
  product: `SELECT 'product:' || art AS entity_id, 'product' AS entity_type, label AS entity_label, art AS sku, label AS title, eur AS price, since AS launched
      FROM shop.t_article`,
  order: `SELECT 'order:' || ord AS entity_id, 'order' AS entity_type, ord::text AS entity_label, ord AS order_no, client AS customer_id, at AS placed_at,
      state AS status, freight FROM shop.t_order`,
  line: `SELECT 'line:' || ord || '|' || pos AS entity_id, 'line' AS entity_type, ord || '|' || pos AS entity_label, ord AS order_no, pos AS line_no, art AS sku,
      qty AS quantity, eur AS price FROM shop.t_line`,
};
const LOCATION = `CREATE VIEW dsvc.customer AS SELECT c.*, t.name AS "lives_in[city].name", t.population AS "lives_in[city].population" FROM svc.customer c
  LEFT JOIN svc.city t ON t.city_id = c.city_id`;
const VIEWS: readonly string[] = [
  ...['svc', 'esvc', 'dsvc'].map((s) => `CREATE SCHEMA ${s}`),
  ...Object.entries(SELECTS).map(([name, sql]) => `CREATE VIEW svc."${name}" AS ${sql}`),
  LOCATION,
];

/** Statements with paths, whose names no view has or which PostgreSQL truncates at 63 bytes: hand-written equivalents. */
const BY_HAND: Readonly<Record<string, string>> = {
  'a long path': `SELECT t.name AS city, sum(l.quantity) AS q FROM svc.line l LEFT JOIN svc."order" o USING (order_no)
    LEFT JOIN svc.customer c ON c.customer_id = o.customer_id LEFT JOIN svc.city t ON t.city_id = c.city_id GROUP BY 1`,
  'an inverse path': `SELECT t.name, count(c.entity_id) AS n FROM svc.city t LEFT JOIN svc.customer c ON c.city_id = t.city_id GROUP BY t.name`,
  'a transitive path with its level': `SELECT v.a AS "knows[customer*2].first_name", v.b AS "knows[customer*2]_transitivity_level"
    FROM (VALUES ('Bo', 1), ('Cy', 2), ('Cy', 1), (NULL, NULL)) v(a, b)`,
  'a link column': `SELECT c.first_name, k.since AS "knows[customer]_since" FROM svc.customer c LEFT JOIN shop.t_knows k ON k.a = c.customer_id`,
  'a wildcard path': `SELECT c.first_name, t.entity_id AS "lives_in[city].entity_id", t.entity_type AS "lives_in[city].entity_type",
      t.entity_label AS "lives_in[city].entity_label", t.city_id AS "lives_in[city].city_id", t.name AS "lives_in[city].name",
      t.population AS "lives_in[city].population" FROM svc.customer c LEFT JOIN svc.city t ON t.city_id = c.city_id`,
};
/** Its rows differ in each run. */
const BY_CHANCE = new Set(['random numbers', 'the clock']);
/** Every article has been sold, so the result is empty. */
const WITHOUT_ROWS = 'set operations';

/** Each row as PostgreSQL's JSON with the keys in order; sorted if the statement has no order of its own. */
const rowsOf = (texts: readonly string[]): string[] => [...texts].sort();

/** Statements that the guard refuses are all in its own test. */
const TRIED = [
  ...REFUSED.filter((r) => !r.guard),
  ...oneIn(
    SIZES.everyRefused,
    REFUSED.filter((r) => r.guard),
    0,
  ),
];

describe('statements that must not run', () => {
  it('are many', () => expect(REFUSED.length).toBeGreaterThanOrEqual(150));

  it.each(TRIED)('$family: $name', async ({ sql, family }) => {
    const { status, json, text } = await service.query(sql, 'shop');
    expect([status, json.status], text).toEqual([400, 'error']);
    // the parser refuses statements other than queries, before the guard sees them
    const codes = [
      GUARD_CODES[family],
      'unknown_statement',
      'unknown_schema',
      'unknown_concept',
      'unknown_column',
      'unknown_property',
      'syntax_error',
      'not_supported',
    ];
    if (family !== 'script') expect(codes, text).toContain(json.code);
    expect(service.reached()).toEqual([]);
  });

  it('have changed nothing', async () => {
    const counted = 'SELECT (SELECT count(*) FROM shop.t_line)::int AS lines, (SELECT count(*) FROM shop.t_town)::int AS towns';
    expect(await service.database.exec(counted)).toEqual([{ lines: 4, towns: 3 }]);
  });
});

describe('statements that must run', () => {
  it('are many', () => expect(Object.keys(ACCEPTED).length).toBeGreaterThanOrEqual(100));

  it.each(Object.entries(ACCEPTED))('%s', async (name, sql) => {
    const { status, text } = await service.query(sql, 'shop');
    expect(status, text).toBe(200);
    // a path may also ask, once a minute, which foreign keys are enforced
    expect(service.reached().filter((body) => !body.includes('pg_catalog.pg_constraint'))).toHaveLength(1);
    if (BY_CHANCE.has(name)) return;
    // the texts of the rows, so that numbers are compared with every digit and keys in order
    const mine = await service.database.exec("SELECT e::text AS row FROM json_array_elements(($1::json) -> 'data') e", [text]);
    const theirs = await plain.query<{ row: string }>(`SELECT row_to_json("~")::text AS row FROM (${BY_HAND[name] ?? sql}\n) "~"`);
    expect(theirs.rows.length > 0, 'has rows').toBe(name !== WITHOUT_ROWS);
    expect(rowsOf(mine.map((r) => r.row as string))).toEqual(rowsOf(theirs.rows.map((r) => r.row)));
  });
});

describe('a deeply nested statement', () => {
  const repeat = (n: number, text: string): string => text.repeat(n);
  const derived = (n: number): string => {
    let sql = 'SELECT name FROM svc.city';
    for (let i = 0; i < n; i++) sql = `SELECT x${i}.name FROM (${sql}) x${i}`;
    return sql;
  };
  it.each([
    ['1,000 CASEs', `SELECT ${repeat(1000, 'CASE WHEN true THEN ')}1${repeat(1000, ' END')} AS a`],
    ['5,000 UNIONs', `SELECT${repeat(5000, ' UNION SELECT')}`],
    ['20,000 brackets', `SELECT ${repeat(20_000, '(')}1${repeat(20_000, ')')} AS a`],
    ['20,000 brackets around a query', `${repeat(20_000, '(')}SELECT 1 AS a${repeat(20_000, ')')}`],
    ['5,000 additions', `SELECT 1${repeat(5000, ' + 1')} AS a`],
    ['3,000 NOTs', `SELECT name FROM svc.city WHERE ${repeat(3000, 'NOT ')}true`],
    ['2,000 sub-queries', `SELECT ${repeat(2000, '(SELECT ')}1${repeat(2000, ')')} AS a`],
    ['1,000 calls', `SELECT ${repeat(1000, 'abs(')}1${repeat(1000, ')')} AS a FROM svc.city`],
    ['5,000 casts', `SELECT 1${repeat(5000, '::int')} AS a`],
    ['300 derived tables over a concept', derived(300)],
    ['1,000 joins', `SELECT 1 AS a FROM svc.city c0 ${Array.from({ length: 1000 }, (_, i) => `JOIN svc.city c${i + 1} ON true`).join(' ')}`],
  ])('%s', async (_name, sql) => {
    const { status, json, text } = await service.query(sql, 'shop');
    expect([status, json.code], text.slice(0, 500)).toEqual([400, 'too_complex']);
    expect(service.reached()).toEqual([]);
    expect(await service.rows('SELECT name FROM svc.city ORDER BY name LIMIT 1', 'shop')).toEqual([{ name: 'Berlin' }]);
    service.reached();
  });

  it('may still be wide', async () => {
    const ids = Array.from({ length: 2000 }, (_, i) => `city_id = ${i + 2}`).join(' OR ');
    expect(await service.rows(`SELECT name FROM svc.city WHERE ${ids} ORDER BY name`, 'shop')).toEqual([{ name: 'Gent' }, { name: 'Nowhere' }]);
    expect(await service.rows(derived(30), 'shop')).toHaveLength(3);
  });
});
