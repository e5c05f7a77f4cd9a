/** Names of a query: the order of look-up. */
import type { PGlite } from '@electric-sql/pglite';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { memoryDatabase } from '../../support/databases/memory.ts';
import { plan, sqlOf } from '../../unit/planner/company.ts';

let db: PGlite;
beforeAll(async () => {
  db = await memoryDatabase();
  await db.exec(`CREATE SCHEMA raw;
    CREATE TABLE raw.towns (id bigint, label text); INSERT INTO raw.towns VALUES (1, 'Ulm'), (2, 'Gent');
    CREATE TABLE raw.staff (id bigint, called text, town bigint, born date, boss bigint, firm bigint, pay numeric);
    INSERT INTO raw.staff VALUES (10, 'Ann', 1, NULL, NULL, 20, 2000), (11, 'Bo', 2, NULL, 10, 20, 900), (12, 'Cy', 2, NULL, 10, 21, 1500);
    CREATE TABLE raw.firms (id bigint, called text, town bigint, code uuid); INSERT INTO raw.firms VALUES (20, 'Acme', 2, NULL), (21, 'Bolt', 1, NULL);
    CREATE TABLE raw.guests (id bigint, called text, town bigint, born date); INSERT INTO raw.guests VALUES (30, 'Di', 1, NULL);`);
});
afterAll(() => db.close());

const rows = async (sql: string): Promise<unknown[]> => {
  const { sql: text, params } = plan(sql);
  return (await db.query<{ row: unknown }>(text, [...params])).rows.map((r) => r.row);
};

describe('a name is looked up', () => {
  it.each([
    ['without regard to case', 'SELECT NAME AS n, "Name" AS m, "NAME" AS o FROM SVC.TOWN WHERE Town_Id = 1', [{ n: 'Ulm', m: 'Ulm', o: 'Ulm' }]],
    ['in dsvc if there is no schema', 'SELECT "works_for[firm].name" AS f FROM employee WHERE name = \'Ann\'', [{ f: 'Acme' }]],
    ['as a common table expression before a concept', "WITH town AS (SELECT 'cte' AS name) SELECT name FROM town", [{ name: 'cte' }]],
    ['as a concept if there is a schema', "WITH town AS (SELECT 'cte' AS name) SELECT name FROM svc.town WHERE town_id = 1", [{ name: 'Ulm' }]],
    [
      'in the nearest block',
      'SELECT t.name, (SELECT max(t.name) FROM svc.firm t) AS inner_name FROM svc.town t WHERE t.town_id = 1',
      [{ name: 'Ulm', inner_name: 'Bolt' }],
    ],
    [
      'in the block around it',
      "SELECT f.name FROM svc.firm f WHERE EXISTS (SELECT 1 FROM svc.town WHERE town.town_id = f.town_id AND town.name = 'Ulm')",
      [{ name: 'Bolt' }],
    ],
    [
      'in a block two levels out',
      'SELECT name FROM svc.firm f WHERE (SELECT (SELECT count(*) FROM svc.town t WHERE t.town_id = f.town_id AND f.town_id = 1)) = 1',
      [{ name: 'Bolt' }],
    ],
    [
      'in the items before, with LATERAL',
      'SELECT f.name, x.t FROM svc.firm f, LATERAL (SELECT t.name AS t FROM svc.town t WHERE t.town_id = f.town_id) x ORDER BY 1',
      [
        { name: 'Acme', t: 'Gent' },
        { name: 'Bolt', t: 'Ulm' },
      ],
    ],
    ['by the alias', 'SELECT a.name, b.name AS other FROM svc.town a JOIN svc.town b ON a.town_id < b.town_id', [{ name: 'Ulm', other: 'Gent' }]],
    ['as an alias of the select list in WHERE', "SELECT upper(name) AS loud FROM svc.town WHERE loud = 'ULM'", [{ loud: 'ULM' }]],
    ['as a column before an alias in WHERE', "SELECT 'x' AS name, town_id FROM svc.town WHERE name = 'Ulm'", [{ name: 'x', town_id: 1 }]],
    [
      'as a column before an alias in GROUP BY',
      "SELECT 'x' AS name, count(*) AS n FROM svc.town GROUP BY name",
      [
        { name: 'x', n: 1 },
        { name: 'x', n: 1 },
      ],
    ],
    ['as an alias before a column in ORDER BY', 'SELECT - town_id AS town_id FROM svc.town ORDER BY town_id', [{ town_id: -2 }, { town_id: -1 }]],
    ['as an alias inside an ORDER BY expression', 'SELECT - town_id AS town_id FROM svc.town ORDER BY town_id + 0', [{ town_id: -2 }, { town_id: -1 }]],
    ['as an alias in HAVING', 'SELECT town_id, count(*) AS n FROM svc.employee GROUP BY town_id HAVING n > 1', [{ town_id: 2, n: 2 }]],
    [
      'as a merged column of USING',
      'SELECT town_id, count(*) AS n FROM svc.town JOIN svc.employee USING (town_id) GROUP BY town_id ORDER BY 1',
      [
        { town_id: 1, n: 1 },
        { town_id: 2, n: 2 },
      ],
    ],
    ['as a renamed column', "SELECT x, y FROM svc.town AS t(i, u, v, x, y) WHERE y = 'Ulm'", [{ x: 1, y: 'Ulm' }]],
    ['as an output column of a set operation', "SELECT name AS n FROM svc.town UNION ALL SELECT 'A' ORDER BY n", [{ n: 'A' }, { n: 'Gent' }, { n: 'Ulm' }]],
    [
      'as a path of the block around it',
      'SELECT e.name FROM dsvc.employee e WHERE EXISTS (SELECT 1 FROM svc.town t WHERE t.name = e."works_for[firm].located[town].name" AND t.town_id = 1)',
      [{ name: 'Cy' }],
    ],
    [
      'apart for two aliases',
      'SELECT a."works_for[firm].name" AS x, b."works_for[firm].name" AS y FROM dsvc.employee a JOIN dsvc.employee b ON a.boss_id = b.party_id ORDER BY 1',
      [
        { x: 'Acme', y: 'Acme' },
        { x: 'Bolt', y: 'Acme' },
      ],
    ],
    [
      'in a recursive common table expression',
      "WITH RECURSIVE up(id, n) AS (SELECT party_id, 0 FROM svc.employee WHERE name = 'Bo' UNION ALL SELECT e.boss_id, n + 1 FROM up JOIN svc.employee e ON e.party_id = up.id WHERE e.boss_id IS NOT NULL) SELECT max(n) AS n FROM up",
      [{ n: 1 }],
    ],
    ['in a whole row', "SELECT to_json(x) ->> 'name' AS n FROM (SELECT name FROM svc.town WHERE town_id = 1) x", [{ n: 'Ulm' }]],
    [
      'in a named window',
      'SELECT name, rank() OVER w AS r FROM svc.town WINDOW w AS (ORDER BY name) ORDER BY 2',
      [
        { name: 'Gent', r: 1 },
        { name: 'Ulm', r: 2 },
      ],
    ],
  ])('%s', async (_how, sql, expected) => {
    expect(await rows(sql), sqlOf(sql)).toEqual(expected);
  });
});
