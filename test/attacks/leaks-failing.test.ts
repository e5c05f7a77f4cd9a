/** Conditions that fail, or do not end, on one hidden value: the answer is the same whether a hidden row has the value or not. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { TestService } from '../support/service.ts';
import { oneIn, sizesOf } from '../support/sizes.ts';
import { Crew } from './editors-crew.ts';
import { on, worker } from './editors-model.ts';

const SIZES = sizesOf('attacks/leaks-failing');

let crew: Crew;
let s: TestService;
beforeAll(async () => {
  crew = await Crew.open();
  s = crew.service;
  await s.database.exec('ALTER TABLE crew.t_worker ALTER fname TYPE text COLLATE "POSIX", ALTER ssn TYPE text COLLATE "C"');
});
afterAll(() => s?.close());

const FAR = (day: string): string =>
  `EXISTS (SELECT 1 FROM (SELECT ${day} AS d OFFSET 0) v WHERE CASE WHEN w.salary = # THEN v.d ELSE TIMESTAMP '2020-01-01 00:00' END IS NOT NULL)`;
const PRODUCT = Array.from({ length: 30 }, (_, i) => `svc.num n${i}`).join(', ');
const NEVER = Array.from({ length: 30 }, (_, i) => `n${i}.n = -1`).join(' OR ');

/** A view over a cross product, a view that does the work itself, and a concept whose mapping does. */
const AMPLIFIERS = [
  `CREATE VIEW crossed AS SELECT ${Array.from({ length: 30 }, (_, i) => `n${i}.n AS n${i}`).join(', ')} FROM ${PRODUCT}`,
  `CREATE VIEW endless AS SELECT c.n0 AS n FROM vsvc.crossed c WHERE ${NEVER.replaceAll('.n =', ' =')}`,
  `CREATE CONCEPT product (product_id bigint, PRIMARY KEY (product_id)); CREATE MAPPING m_product INTO (product) AS SELECT n0.n AS product_id FROM ${PRODUCT.replaceAll('svc.num', 'crew.t_num')} WHERE ${NEVER}`,
];

const CONDITIONS: readonly (readonly [string, string])[] = [
  ['a day of another order', FAR("DATE '1/1/294277'")],
  ['a day with points', FAR("DATE '1.1.294277'")],
  ['a day without separators', FAR("DATE '2942770101'")],
  ['a name next to a text of another collation', "CASE WHEN w.salary = # THEN CASE WHEN w.given = 'q' THEN name 'x' ELSE w.given END = 'y' ELSE true END"],
  ['a star compared as a whole row', "EXISTS (SELECT 1 FROM (SELECT 'x' AS v OFFSET 0) h WHERE CASE WHEN w.salary = # THEN w.* = h.* ELSE true END)"],
  ['texts of two collations', 'w.salary = # AND w.given = w.ssn'],
  ['an order of texts of two collations', 'w.salary = # AND w.given < w.ssn'],
  ['a text of one of two collations', "w.salary = # AND lower(CASE WHEN w.grade > 0 THEN w.given ELSE w.ssn END) = 'q'"],
  ['a sub-query without an end', `EXISTS (SELECT 1 FROM ${PRODUCT} WHERE w.salary = # AND (${NEVER}))`],
  ['a view of a product', `EXISTS (SELECT 1 FROM vsvc.crossed c WHERE w.salary = # AND (${NEVER.replaceAll('.n =', ' =')}))`],
  ['a view without an end', 'EXISTS (SELECT 1 FROM vsvc.endless WHERE w.salary = #)'],
  ['a list from a view without an end', 'w.salary = # AND w.grade IN (SELECT n FROM vsvc.endless)'],
  ['a mapping without an end', 'EXISTS (SELECT 1 FROM svc.product WHERE w.salary = #)'],
];
const POLICIES: readonly (readonly [what: string, condition: string, turn: number])[] = [
  ['a path', `"works_in[firm].country" = 'DE'`, 0],
  ['a sub-query', "EXISTS (SELECT 1 FROM svc.firm f WHERE f.country = 'DE' AND f.firm_id = grade)", 1],
];

describe.each(POLICIES)('under a policy with %s', (_, policy, turn) => {
  it.each(oneIn(SIZES.everyOfPolicy, CONDITIONS, turn))('%s reveals nothing about a hidden row', async (__, condition) => {
    const ontology = await crew.ontology(...AMPLIFIERS, on(policy));
    // 3000 is the salary of a hidden worker; no worker has 3001
    const answers = ['3000', '3001'].map((salary) =>
      s.query(`SELECT w.given FROM svc.worker w WHERE w.salary = 1 OR ${condition.replaceAll('#', salary)}`, ontology, crew.tokens.rob),
    );
    const [one, other] = (await Promise.all(answers)).map(({ status, json }) => [status, json.data]);
    expect(one).toEqual(other);
    expect(one?.[0]).toBe(200);
  });
});

/** Calculated properties whose values do not fit their types for every row. */
const RESULTS: readonly (readonly [string, string])[] = [
  ['bigint', 'ssn'],
  ['decimal(2,0)', 'salary'],
  ['date', 'given'],
  ['json', 'given'],
  ['boolean', 'given'],
  ['uuid', 'ssn'],
  ['bigint', "CASE WHEN grade > 0 THEN 'x' ELSE '1' END"],
  ['smallint', 'COALESCE(NULLIF(salary * 9, 1), 0)'],
  ['date', 'lower(ssn)'],
];

describe.each(POLICIES)('under a policy with %s', (_, policy, turn) => {
  it.each(oneIn(SIZES.everyOfPolicy, RESULTS, turn))(
    'a calculated property of type %s over %s reveals nothing about a hidden row',
    async (type, expression) => {
      const property = `CREATE PROPERTY result ${type} AS SELECT ${expression}; CREATE CONCEPT some INHERITS (worker) FROM svc.worker WHERE true`;
      const ontology = await crew.ontology(property, worker({ more: `result ${type}` }), on(policy));
      for (const concept of ['worker', 'some']) {
        // 104 is the key of a hidden worker; 999 is not a key
        for (const id of [104, 999]) {
          const { status, json } = await s.query(`SELECT given FROM svc.${concept} WHERE result IS NOT NULL AND being_id = ${id}`, ontology, crew.tokens.rob);
          expect([status, json.data], `${concept} ${id}`).toEqual([200, []]);
        }
      }
    },
  );
});

/** Comparisons of two types that PostgreSQL converts to one, which cannot represent a stored number or date. */
const CONVERSIONS: readonly string[] = [
  'b.amount = b.ratio',
  'b.amount < CAST(1 AS double precision)',
  'b.tiny = b.ratio',
  'coalesce(b.tiny, CAST(1 AS real)) > 0',
  'coalesce(b.amount, b.ratio) IS NOT NULL',
  'greatest(b.amount, b.ratio) > 0',
  'b.amount IN (SELECT x.ratio FROM svc.ledger x)',
  'coalesce(b.day, b.at_time) IS NOT NULL',
  "CASE WHEN b.ledger_id > 0 THEN b.day ELSE CAST('2020-01-01' AS timestamptz) END IS NOT NULL",
  'coalesce(b.day, localtimestamp) IS NOT NULL',
  'b.amount > ALL (SELECT cume_dist() OVER (ORDER BY n.n) AS r FROM svc.num n)',
  'b.amount IN (SELECT r.r FROM vsvc.ranked r)',
  'b.same_amount',
  "b.day < CAST('2020-01-01 10:00' AS timestamp)",
];

describe.each([
  ['a path', '"kept_by[firm].country" = \'DE\''],
  ['a sub-query', "firm_id IN (SELECT f.firm_id FROM svc.firm f WHERE f.country = 'DE')"],
])('a stored value that does not fit the type of another, under a policy with %s', (_, policy) => {
  let ontology: string;
  beforeAll(async () => {
    await s.database.exec('DROP TABLE IF EXISTS crew.t_ledger');
    await s.database.exec(
      `CREATE TABLE crew.t_ledger AS SELECT id, CASE WHEN id = 105 THEN '1e400'::numeric ELSE 1 END AS amount, 1::float8 AS ratio,
       CASE WHEN id = 105 THEN '1e-390'::numeric(400, 390) ELSE 1 END::numeric(400, 390) AS tiny,
       CASE WHEN id = 105 THEN '300000-01-01'::date ELSE '2020-01-01' END AS day, timestamp '2020-01-01' AS at_time, firm FROM crew.t_worker`,
    );
    ontology = await crew.ontology(
      'CREATE VIEW ranked AS SELECT DISTINCT percent_rank() OVER (ORDER BY n) AS r FROM svc.num',
      `CREATE PROPERTY same_amount boolean AS SELECT amount = ratio;
       CREATE CONCEPT ledger (ledger_id bigint, amount decimal, ratio double, tiny decimal(400, 390), same_amount boolean, day date, at_time timestamp, firm_id bigint, PRIMARY KEY (ledger_id),
       CONSTRAINT kept_by FOREIGN KEY (firm_id) REFERENCES firm (firm_id));
       CREATE MAPPING m_ledger INTO (ledger) AS SELECT id AS ledger_id, amount, ratio, tiny, day, at_time, firm AS firm_id FROM crew.t_ledger`,
      on(policy, 'ledger'),
    );
  });
  it.each(CONVERSIONS)('reveals nothing about a hidden row: %s', async (condition) => {
    const { status, json } = await s.query(`SELECT b.ledger_id FROM svc.ledger b WHERE ${condition}`, ontology, crew.tokens.rob);
    expect([status, json.data.length <= 3], JSON.stringify(json)).toEqual([200, true]);
  });
});

/** Comparisons and conversions of types that only a raw view has, with a value of a row that the view filters out. */
const OF_TABLES: readonly string[] = [
  'v.b = v.b',
  'length(v.l) > 1',
  'v.c < v.c',
  'coalesce(v.m, v.m8) IS NULL',
  'v.f = ANY (v.many)',
  'coalesce(v.many, v.ratios) = v.ratios',
  'v.place = v.place',
  'v.same_box',
  'v.same_number',
  'v.either > 0',
];

const COMPUTED = 't.b = t.b AS same_box, t.big = t.f AS same_number, coalesce(t.big, t.f) AS either';

describe('a raw view that filters rows by a join', () => {
  let ontology: string;
  beforeAll(async () => {
    await s.database.exec('CREATE TYPE crew.place AS (b box)');
    await s.database.exec(
      `CREATE TABLE crew.t_plot AS SELECT id, firm, 1::float8 AS f, '{1}'::float8[] AS ratios, '08:00:2b:01:02:03'::macaddr AS m,
       CASE firm WHEN 2 THEN '08:00:2b:01:02:03:04:05'::macaddr8 ELSE '08:00:2b:ff:fe:02:03:04' END AS m8, CASE firm WHEN 2 THEN '{1e400}'::numeric[] ELSE '{1}' END AS many,
       CASE firm WHEN 2 THEN '((1e308,1e308),(-1e308,-1e308))' ELSE '((1,1),(0,0))' END::box AS b, CASE firm WHEN 2 THEN '<(0,0),1e300>' ELSE '<(0,0),1>' END::circle AS c,
       CASE firm WHEN 2 THEN '((-1e308,-1e308),(1e308,1e308))' ELSE '((1,1),(0,0))' END::lseg AS l, CASE firm WHEN 2 THEN '1e400'::numeric ELSE 1 END AS big, NULL::crew.place AS place FROM crew.t_worker`,
    );
    await s.database.exec('UPDATE crew.t_plot SET place = ROW(b)::crew.place');
    ontology = await crew.ontology(
      `CREATE VIEW plots AS SELECT t.id, t.f, t.ratios, t.m, t.m8, t.many, t.b, t.c, t.l, t.place, ${COMPUTED} FROM crew.t_plot t JOIN crew.t_firm f ON f.id = t.firm WHERE f.country = 'DE'`,
      `CREATE CONCEPT plot (plot_id bigint, firm_id bigint, same_box boolean, same_number boolean, either double, PRIMARY KEY (plot_id),
       CONSTRAINT at_firm FOREIGN KEY (firm_id) REFERENCES firm (firm_id));
       CREATE MAPPING m_plot INTO (plot) AS SELECT t.id AS plot_id, t.firm AS firm_id, ${COMPUTED} FROM crew.t_plot t`,
      on('"at_firm[firm].country" = \'DE\'', 'plot'),
    );
  });
  it.each(['v.same_box', 'v.same_number', 'v.either > 0'])('reveals nothing in a mapping with a policy: %s', async (condition) => {
    for (const id of [104, 999]) {
      const sql = `SELECT v.plot_id FROM svc.plot v WHERE CASE WHEN v.plot_id = ${id} THEN ${condition} ELSE false END`;
      const { status, json } = await s.query(sql, ontology, crew.tokens.rob);
      expect([status, json.data], String(id)).toEqual([200, []]);
    }
  });
  it.each(OF_TABLES)('reveals nothing about them: %s', async (condition) => {
    // 104 is the key of a row that the view filters out; 999 is not a key
    for (const id of [104, 999]) {
      const sql = `SELECT v.id FROM vsvc.plots v WHERE CASE WHEN v.id = ${id} THEN ${condition} ELSE false END`;
      const { status, json } = await s.query(sql, ontology, crew.tokens.rob);
      expect([status, json.data], String(id)).toEqual([200, []]);
    }
  });
});
