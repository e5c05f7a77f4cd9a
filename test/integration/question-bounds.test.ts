/** The relations that a statement of a question may read: the names in its own text decide, in every place, for every caller and with cached plans. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { SvcError } from '../../src/errors.ts';
import { type Ran, runSelect } from '../../src/llm/statement.ts';
import { cutRows } from '../../src/nesting/cut.ts';
import { startService, type TestService } from '../support/service.ts';

const MODEL = `CREATE ONTOLOGY shop;
  CREATE MEASURE total decimal AS SELECT SUM(amount);
  CREATE CONCEPT staff (staff_no bigint, name string, pay decimal, PRIMARY KEY (staff_no), LABEL (name));
  CREATE CONCEPT sale (sale_no bigint, status string, amount decimal, staff_no bigint, total MEASURE decimal, PRIMARY KEY (sale_no),
    CONSTRAINT made_by FOREIGN KEY (staff_no) REFERENCES staff (staff_no) INVERSEOF made);
  CREATE CONCEPT big_sale FROM svc.sale WHERE amount > 10;
  CREATE MAPPING m1 INTO staff AS SELECT staff_no, name, pay FROM shop.t_staff;
  CREATE MAPPING m2 INTO sale AS SELECT sale_no, status, amount, staff_no FROM shop.t_sale;
  CREATE ONTOLOGY VIEW open_sales AS SELECT sale_no, amount FROM svc.sale WHERE status = 'open';
  CREATE ONTOLOGY VIEW twice AS SELECT o.sale_no, s.name FROM vsvc.open_sales o, svc.staff s;
  CREATE ONTOLOGY CUBE by_status AS SELECT status AS status, (SELECT MIN(name) FROM svc.staff) AS least, "measure.total" AS total
    FROM dsvc.sale WHERE EXISTS (SELECT FROM svc.staff);
  CREATE ONTOLOGY CUBE other_cube AS SELECT status AS status, "measure.total" AS total FROM dsvc.sale`;

let s: TestService;
const tokens: Record<string, string> = {};

beforeAll(async () => {
  s = await startService({
    tables: [
      'CREATE SCHEMA shop',
      'CREATE TABLE shop.t_staff (staff_no bigint PRIMARY KEY, name text, pay numeric)',
      'CREATE TABLE shop.t_sale (sale_no bigint PRIMARY KEY, status text, amount numeric, staff_no bigint)',
      "INSERT INTO shop.t_staff VALUES (1, 'Ann', 100), (2, 'Ben', 200)",
      "INSERT INTO shop.t_sale SELECT n, CASE WHEN n % 2 = 0 THEN 'open' ELSE 'paid' END, n, n % 2 + 1 FROM generate_series(1, 20) n",
    ],
  });
  await s.rows(MODEL);
  await s.rows('CREATE USER vera; GRANT QUERY ON ontology.shop.view.by_status TO USER vera; GRANT QUERY ON ontology.shop.view.twice TO USER vera');
  tokens.vera = (await s.rows('CREATE TOKEN FOR vera'))[0].token;
});
afterAll(() => s?.close());

/** Runs a statement within named relations (an empty list means all). */
async function ran(sql: string, names: readonly string[] | null, { user, most = 100 }: { user?: string; most?: number } = {}): Promise<Ran> {
  const request = await s.request(user === undefined ? s.token : (tokens[user] ?? ''));
  return runSelect({ request, ontology: 'shop', collect: cutRows, admits: (r) => names === null || names.includes(`${r.kind} ${r.name}`) }, sql, most);
}
async function outcome(...args: Parameters<typeof ran>): Promise<string> {
  try {
    const { rows } = await ran(...args);
    return `${rows.length} rows`;
  } catch (error) {
    if (error instanceof SvcError) return `${error.code} ${error.message}`;
    throw error;
  }
}

/** Ways to read staff if only sales may be read. */
const OUTSIDE: Readonly<Record<string, string>> = {
  FROM: 'SELECT name FROM svc.staff',
  'another schema': 'SELECT name FROM esvc.staff',
  'no schema': 'SELECT name FROM staff',
  'another case': 'SELECT name FROM SVC.STAFF',
  quotes: 'SELECT name FROM "svc"."staff"',
  'back-quotes': 'SELECT name FROM `dsvc`.`Staff`',
  'a join': 'SELECT s.amount FROM svc.sale s JOIN svc.staff t ON t.staff_no = s.staff_no',
  'a comma': 'SELECT s.amount FROM svc.sale s, svc.staff t',
  'a sub-select': 'SELECT * FROM (SELECT name FROM svc.staff) x, svc.sale s',
  LATERAL: 'SELECT x.name FROM svc.sale s, LATERAL (SELECT name FROM svc.staff t WHERE t.staff_no = s.staff_no) x',
  'a CTE': 'WITH x AS (SELECT name FROM svc.staff) SELECT x.name FROM x, svc.sale',
  'a CTE that nobody reads': 'WITH x AS (SELECT name FROM svc.staff) SELECT amount FROM svc.sale',
  'a CTE inside a CTE': 'WITH x AS (WITH y AS (SELECT name FROM svc.staff) SELECT * FROM y) SELECT * FROM x, svc.sale',
  'a CTE that is called as it': 'WITH staff AS (SELECT name FROM svc.staff) SELECT name FROM staff, svc.sale',
  'a CTE that is called as what may be read': 'WITH sale AS (SELECT name FROM svc.staff) SELECT name FROM sale',
  'a recursive CTE': 'WITH RECURSIVE x(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM x, svc.staff WHERE n < 2) SELECT n FROM x, svc.sale',
  UNION: 'SELECT status FROM svc.sale UNION ALL SELECT name FROM svc.staff',
  EXCEPT: 'SELECT status FROM svc.sale EXCEPT SELECT name FROM svc.staff',
  'UNION in a sub-select': 'SELECT * FROM (SELECT status FROM svc.sale INTERSECT SELECT name FROM svc.staff) x',
  'the select list': 'SELECT (SELECT MAX(name) FROM svc.staff) AS n FROM svc.sale',
  WHERE: 'SELECT amount FROM svc.sale WHERE staff_no IN (SELECT staff_no FROM svc.staff)',
  EXISTS: 'SELECT amount FROM svc.sale WHERE EXISTS (SELECT FROM svc.staff)',
  HAVING: 'SELECT COUNT(*) AS n FROM svc.sale HAVING COUNT(*) > (SELECT COUNT(*) FROM svc.staff)',
  'ORDER BY': 'SELECT amount FROM svc.sale s ORDER BY (SELECT name FROM svc.staff t WHERE t.staff_no = s.staff_no)',
  'GROUP BY': 'SELECT COUNT(*) AS n FROM svc.sale s GROUP BY (SELECT MAX(name) FROM svc.staff)',
  LIMIT: 'SELECT amount FROM svc.sale LIMIT (SELECT COUNT(*) FROM svc.staff)',
  OFFSET: 'SELECT amount FROM svc.sale OFFSET (SELECT COUNT(*) FROM svc.staff)',
  ON: 'SELECT a.amount FROM svc.sale a JOIN svc.sale b ON a.sale_no = (SELECT MAX(staff_no) FROM svc.staff)',
  'an aggregate': 'SELECT SUM((SELECT MAX(pay) FROM svc.staff)) AS n FROM svc.sale',
  FILTER: 'SELECT COUNT(*) FILTER (WHERE staff_no IN (SELECT staff_no FROM svc.staff)) AS n FROM svc.sale',
  'a window': 'SELECT SUM(amount) OVER (PARTITION BY (SELECT MAX(name) FROM svc.staff)) AS n FROM svc.sale',
  CASE: 'SELECT CASE WHEN amount > 1 THEN (SELECT MAX(name) FROM svc.staff) END AS n FROM svc.sale',
  "a measure's FILTER": 'SELECT SUM(`measure.total`) FILTER (WHERE staff_no IN (SELECT staff_no FROM svc.staff)) AS n FROM dsvc.sale',
  "a cube's condition": 'SELECT status, total FROM vsvc.by_status WHERE status IN (SELECT name FROM svc.staff)',
  "a cube's FILTER": 'SELECT SUM(total) FILTER (WHERE EXISTS (SELECT FROM svc.staff)) AS n FROM vsvc.by_status',
  'another item of FROM next to a cube': 'SELECT c.status FROM vsvc.by_status c, LATERAL (SELECT name FROM svc.staff LIMIT 1) x',
  ARRAY: 'SELECT ARRAY(SELECT name FROM svc.staff) AS n FROM svc.sale',
  ALL: 'SELECT amount FROM svc.sale WHERE amount > ALL (SELECT pay FROM svc.staff)',
  'a function in FROM': 'SELECT g FROM svc.sale, generate_series(1, (SELECT MAX(staff_no) FROM svc.staff)) g',
  VALUES: 'SELECT v.column1 FROM svc.sale, (VALUES ((SELECT MAX(name) FROM svc.staff))) v',
  TABLE: 'TABLE svc.staff',
  'TABLE of a UNION': 'SELECT 1 FROM svc.sale UNION ALL (SELECT 1 FROM (TABLE svc.staff) t)',
  'a view': 'SELECT sale_no FROM vsvc.twice',
  'a view without schema': 'SELECT sale_no FROM twice',
  'a cube': 'SELECT status, total FROM vsvc.other_cube',
  'a logic concept': 'SELECT entity_id FROM svc.big_sale',
  'the root': 'SELECT entity_id FROM svc.thing',
  'a system table': 'SELECT concept FROM svc.SYS_CONCEPTS',
  'a system table without schema': 'SELECT a.amount FROM svc.sale a, SYS_CONCEPTS',
  'a system table in EXISTS': 'SELECT amount FROM svc.sale WHERE EXISTS (SELECT FROM svc.SYS_USERS)',
};

describe('a statement of a question', () => {
  it.each(Object.entries(OUTSIDE))('reads nothing outside of its scope through %s', async (_name, sql) => {
    expect(await outcome(sql, ['concept sale', 'view open_sales', 'view by_status'])).toMatch(/^outside_scope /);
    expect(await outcome(sql, ['concept sale', 'view open_sales', 'view by_status'], { most: 0 })).toMatch(/^outside_scope /);
  });

  it('is refused also if its plan is cached, and accepted with another scope', async () => {
    const sql = 'SELECT name FROM svc.staff ORDER BY name';
    expect(await outcome(sql, null)).toBe('2 rows');
    expect(await outcome(sql, ['concept sale'])).toMatch(/^outside_scope /);
    expect(await outcome(sql, ['concept staff'])).toBe('2 rows');
    expect(await outcome(sql, [])).toMatch(/^outside_scope /);
  });

  it('may define names that other relations have', async () => {
    expect(await outcome('WITH staff AS (SELECT amount FROM svc.sale) SELECT amount FROM staff', ['concept sale'])).toBe('20 rows');
    expect(await outcome('SELECT staff.amount FROM svc.sale staff', ['concept sale'])).toBe('20 rows');
  });

  it('reads views and cubes by their own names, not by what they read', async () => {
    expect(await outcome('SELECT sale_no FROM vsvc.twice', ['view twice'])).toBe('20 rows');
    expect(await outcome('SELECT status, least, total FROM vsvc.by_status', ['view by_status'])).toBe('2 rows');
    expect(await outcome('SELECT SUM(total) AS t FROM vsvc.by_status b', ['view by_status'])).toBe('1 rows');
    expect((await ran('SELECT status, least, total FROM vsvc.by_status', null)).relations).toEqual([{ kind: 'view', schema: 'vsvc', name: 'by_status' }]);
  });

  it('reveals nothing of what a cube reads to callers who may read only the cube', async () => {
    expect((await ran('SELECT status, least, total FROM vsvc.by_status ORDER BY status', null, { user: 'vera' })).relations).toEqual([
      { kind: 'view', schema: 'vsvc', name: 'by_status' },
    ]);
    expect(await outcome('SELECT status, least, total FROM vsvc.by_status', ['view by_status'], { user: 'vera' })).toBe('2 rows');
  });

  it('is one SELECT', async () => {
    for (const sql of [
      'SELECT 1 FROM svc.sale; SELECT 2 FROM svc.sale',
      'EXPLAIN SELECT 1 FROM svc.sale',
      'SHOW CONCEPTS',
      'DESC svc.sale',
      'DROP CONCEPT sale',
    ]) {
      expect(await outcome(sql, null)).toMatch(/^not_one_select /);
    }
    for (const sql of ['VALUES (1)', 'SELECT 1', 'SELECT * FROM generate_series(1, 3)']) expect(await outcome(sql, null)).toMatch(/^reads_nothing /);
    expect(await outcome('SELECT relname FROM pg_catalog.pg_class', null)).toMatch(/^forbidden_relation /);
    expect(await outcome('SELECT * FROM kg_catalog.users', null)).toMatch(/^forbidden_relation /);
    expect(await outcome('SELECT amount INTO x FROM svc.sale', null)).toMatch(/^forbidden|^unsupported/);
    expect(await outcome('SELECT amount FROM svc.sale FOR UPDATE', null)).toMatch(/^forbidden|^unsupported/);
  });

  it.each([
    ['SELECT sale_no FROM svc.sale ORDER BY sale_no DESC LIMIT 3 OFFSET 2', 100, [18, 17, 16], false],
    ['SELECT sale_no FROM svc.sale ORDER BY sale_no DESC LIMIT 3 OFFSET 2', 2, [18, 17], true],
    ['SELECT sale_no FROM svc.sale ORDER BY sale_no DESC LIMIT 3', 3, [20, 19, 18], false],
    ['SELECT sale_no FROM svc.sale WHERE sale_no > 18 UNION ALL SELECT sale_no FROM svc.sale WHERE sale_no = 1 ORDER BY 1', 2, [1, 19], true],
    ['SELECT sale_no FROM svc.sale ORDER BY amount DESC FETCH FIRST 2 ROWS WITH TIES', 5, [20, 19], false],
    ['WITH x AS (SELECT sale_no FROM svc.sale ORDER BY 1 LIMIT 4) SELECT sale_no FROM x ORDER BY 1 DESC', 3, [4, 3, 2], true],
    ['SELECT sale_no FROM svc.sale LIMIT 0', 3, [], false],
    ['SELECT sale_no FROM svc.sale ORDER BY 1 LIMIT 5', 0, [], false],
  ])('returns the rows of its own text: %s', async (sql, most, numbers, truncated) => {
    const { rows, truncated: cut } = await ran(sql, null, { most });
    expect([rows.map((r) => r.sale_no), cut]).toEqual([numbers, truncated]);
  });
});
