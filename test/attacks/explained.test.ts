/** EXPLAIN and EXPLAIN (LOGICAL) for readers of cubes, views and logic concepts: no name of the stored texts that the reader does not see. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startService, type TestService } from '../support/service.ts';

const TABLES = [
  'CREATE SCHEMA explained',
  'CREATE TABLE explained.hid_t (hid_id bigint PRIMARY KEY, name text, hid_pay bigint, hid_firm bigint, town_id bigint)',
  "INSERT INTO explained.hid_t VALUES (2, 'Bob', 7000, 1, 1), (3, 'Cid', 5000, 2, 2)",
  'CREATE TABLE explained.town (tid bigint PRIMARY KEY, town_name text)',
  "INSERT INTO explained.town VALUES (1, 'Oslo'), (2, 'Rome')",
];
const MODEL = `CREATE ONTOLOGY explained;
  CREATE CONCEPT hid_firm_c (hid_fid bigint, hid_title string, PRIMARY KEY (hid_fid));
  CREATE CONCEPT town (tid bigint, town_name string, PRIMARY KEY (tid));
  CREATE CONCEPT person (id bigint, name string, town_id bigint, PRIMARY KEY (id), CONSTRAINT lives_in FOREIGN KEY (town_id) REFERENCES town (tid) INVERSEOF home_of);
  CREATE CONCEPT hid_worker (hid_pay bigint, hid_firm bigint, CONSTRAINT hid_works FOREIGN KEY (hid_firm) REFERENCES hid_firm_c (hid_fid)) INHERITS (person);
  CREATE CONCEPT rich INHERITS (person) FROM dsvc.person WHERE hid_pay > 6000;
  CREATE CONCEPT acme INHERITS (hid_worker) FROM dsvc.hid_worker WHERE "hid_works[hid_firm_c].hid_title" = 'Acme';
  CREATE MAPPING m_town INTO (town) AS SELECT tid, town_name FROM explained.town;
  CREATE MAPPING m_worker INTO (hid_worker) AS SELECT hid_id AS id, name, hid_pay, hid_firm, town_id FROM explained.hid_t`;
const WRITTEN = `
  CREATE ONTOLOGY VIEW hid_view AS SELECT hid_pay AS hid_amount, name AS hid_called FROM svc.hid_worker WHERE hid_pay > 5500;
  CREATE ONTOLOGY VIEW plain AS SELECT hid_called AS f, hid_amount AS total FROM vsvc.hid_view;
  CREATE ONTOLOGY CUBE c1 AS SELECT upper("hid_works[hid_firm_c].hid_title") AS f, SUM(hid_pay) AS total FROM dsvc.hid_worker WHERE hid_pay > 5500;
  CREATE ONTOLOGY CUBE c2 AS SELECT hid_called AS f, SUM(hid_amount) AS total FROM vsvc.hid_view;
  CREATE ONTOLOGY CUBE c3 AS SELECT hid_n AS f, SUM(hid_p) AS total FROM (SELECT name AS hid_n, hid_pay AS hid_p FROM svc.hid_worker WHERE hid_pay > 1) hid_x;
  CREATE ONTOLOGY CUBE c4 AS SELECT hid_n AS f, SUM(hid_p) AS total
    FROM svc.town hid_t JOIN (SELECT name AS hid_n, hid_pay AS hid_p, town_id AS hid_i FROM svc.hid_worker) hid_x ON hid_x.hid_i = hid_t.tid`;

const FORMS = [
  'SELECT f, total FROM R ORDER BY f',
  'SELECT * FROM R',
  'SELECT c AS j FROM R c',
  'SELECT to_jsonb(c) AS j FROM R c',
  "SELECT upper(f) AS g, SUM(total) AS t FROM R WHERE f <> 'x' GROUP BY 1 HAVING SUM(total) > 3 ORDER BY upper(f)",
  "SELECT f AS g, SUM(total) AS t FROM R WHERE f <> 'x' GROUP BY g HAVING SUM(total) > 3 ORDER BY upper(g)",
  'SELECT t.town_name, c.f, SUM(c.total) AS s FROM svc.town t JOIN R c ON c.f = t.town_name GROUP BY 1, 2',
  'SELECT t.town_name FROM svc.town t WHERE EXISTS (SELECT f FROM R c WHERE c.f = t.town_name)',
  'SELECT f FROM R c WHERE EXISTS (SELECT 1 FROM svc.town t WHERE t.town_name = c.f) GROUP BY f',
  'SELECT f FROM R c WHERE f IN (SELECT town_name FROM svc.town t WHERE t.town_name = c.f OR c.f IS NULL) GROUP BY f',
  'SELECT (SELECT max(t.town_name) FROM svc.town t WHERE t.town_name > c.f) AS m FROM R c GROUP BY c.f',
  'SELECT (SELECT v.column1 FROM (VALUES (c.f)) v) AS m FROM R c GROUP BY c.f',
  'SELECT DISTINCT ON (f) f, total FROM R GROUP BY f, total',
  'SELECT f, rank() OVER w AS k FROM R GROUP BY f WINDOW w AS (ORDER BY f)',
  'SELECT f, x.a FROM R c, LATERAL (SELECT c.f AS a) x GROUP BY 1, 2',
  'SELECT f, x.a FROM R c CROSS JOIN LATERAL (SELECT t.town_name AS a FROM svc.town t WHERE t.town_name = c.f) x GROUP BY 1, 2',
  'SELECT c.f, x AS a FROM R c, LATERAL regexp_split_to_table(c.f, 1::text) x GROUP BY 1, 2',
  'SELECT f FROM R GROUP BY GROUPING SETS ((f), ())',
  'WITH w AS (SELECT f, total FROM R) SELECT f FROM w UNION SELECT town_name FROM svc.town ORDER BY 1',
  'SELECT f FROM R JOIN (SELECT town_name AS f FROM svc.town) t USING (f) GROUP BY f',
  'SELECT f FROM R NATURAL JOIN (SELECT town_name AS f FROM svc.town) t GROUP BY f',
  'SELECT j.f FROM (R c JOIN (SELECT town_name AS g FROM svc.town) t ON c.f = t.g) AS j GROUP BY j.f',
];
const OTHERS = [
  'SELECT "_type_of_rich" AS r FROM dsvc.person',
  'SELECT "_type_of_acme" AS r, name FROM dsvc.person',
  'SELECT name FROM dsvc.person p WHERE "_type_of_rich" AND EXISTS (SELECT 1 FROM svc.town t WHERE t.tid = p.town_id AND p."_type_of_acme")',
  'SELECT name, "lives_in[town].town_name" AS t FROM dsvc.acme',
  'SELECT COUNT(*) AS n FROM dsvc.acme WHERE "lives_in[town].town_name" = \'Oslo\'',
  'SELECT "lives_in[town].town_name", COUNT(entity_id) AS n FROM dsvc.rich GROUP BY 1',
];

let s: TestService;
let reader: string;
beforeAll(async () => {
  s = await startService({ tables: TABLES });
  await s.rows(MODEL);
  // the views have a definer whose rights are not those of the reader
  const all = ['EDIT ON ontology.explained', ...['town', 'person', 'hid_worker', 'hid_firm_c'].map((c) => `QUERY ON ontology.explained.concept.${c}`)];
  const writer = await s.user('writer', ...all, 'QUERY ON ontology.explained.view.hid_view');
  await s.rows(WRITTEN, 'explained', writer);
  const concepts = ['person', 'town', 'rich', 'acme'].map((c) => `QUERY ON ontology.explained.concept.${c}`);
  reader = await s.user('reader', ...concepts, ...['plain', 'c1', 'c2', 'c3', 'c4'].map((v) => `QUERY ON ontology.explained.view.${v}`));
});
afterAll(() => s?.close());

describe('a reader who sees no names of the stored texts', () => {
  /** The number of answers that are plans or rows, by relation. */
  const answered = new Map<string, number>();

  it.each([...FORMS, ...OTHERS])('%s', async (form) => {
    for (const relation of OTHERS.includes(form) ? [''] : ['plain', 'c1', 'c2', 'c3', 'c4']) {
      const statement = form.replaceAll(/\bR\b/g, `vsvc.${relation}`);
      // a statement that was planned before is explained from a kept plan
      for (const before of ['EXPLAIN (LOGICAL) ', '', 'EXPLAIN ', 'EXPLAIN (LOGICAL) ']) {
        const { status, text } = await s.query(before + statement, 'explained', reader);
        expect(text, before + statement).not.toMatch(/hid_|explained\./);
        expect(status, `${before}${statement} ${text}`).toBeLessThan(500);
        if (status === 200) answered.set(relation, (answered.get(relation) ?? 0) + 1);
        if (before !== '' && relation === 'plain') expect(status, `${before}${statement} ${text}`).toBe(200);
      }
    }
  });

  it('gets answers, not only errors', () => {
    const relations = ['', 'plain', 'c1', 'c2', 'c3', 'c4'];
    expect(relations.map((relation) => [relation, (answered.get(relation) ?? 0) >= (relation === '' ? 4 * OTHERS.length : 40)])).toEqual(
      relations.map((r) => [r, true]),
    );
  });
});

describe('a plan with too many names', () => {
  it('is refused, because PostgreSQL would not interrupt it', async () => {
    const names = (text: string): string => Array.from({ length: 1500 }, () => text).join(', ');
    const statement = `SELECT COUNT(*) AS n FROM svc.town t, (VALUES (${names('1')})) q(${names('n')})`;
    const refused = await s.query(`EXPLAIN ${statement}`, 'explained');
    expect([refused.status, refused.text]).toEqual([400, expect.stringMatching(/too_complex.*EXPLAIN \(LOGICAL\)/s)]);
    for (const before of ['', 'EXPLAIN (LOGICAL) ']) expect(await s.query(before + statement, 'explained')).toMatchObject({ status: 200 });
  });
});
