/** References that foreign keys of the database enforce: a query that reads only the reference does not join what it refers to, and has the rows of SQL on the tables. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { enforcedIn } from '../../bench/tpch/typed.ts';
import type { PlanContext } from '../../src/planner/index.ts';
import { PlannedTables } from '../support/planned.ts';

const TABLES = `
CREATE TABLE team (code text PRIMARY KEY, name text);
INSERT INTO team VALUES ('a', 'A'), ('b', 'B'), ('c', NULL);
CREATE TABLE person (id int PRIMARY KEY, team text REFERENCES team, boss int REFERENCES person, big bigint);
INSERT INTO person VALUES (1, 'a', NULL, 1), (2, 'a', 1, 2), (3, 'b', 1, NULL), (4, NULL, 2, 4), (5, 'c', 4, 1);
CREATE TABLE knows (a int REFERENCES person, b int REFERENCES person, since int);
INSERT INTO knows VALUES (1, 2, 2001), (2, 3, 2002), (3, 1, 2003), (2, 3, 2004), (4, NULL, 2005), (NULL, 5, 2006), (5, 5, NULL), (1, 4, 2007);
-- references that nothing enforces, or not for all rows
CREATE TABLE loose (a int, b int);
INSERT INTO loose VALUES (1, 2), (1, 77), (2, 3), (88, 1), (3, NULL), (77, 77), (2, 77);
CREATE TABLE swapped (a int, b int REFERENCES person);
INSERT INTO swapped VALUES (77, 1), (2, 3), (NULL, 2);
CREATE TABLE late (a int, b int);
INSERT INTO late VALUES (1, 2), (1, 77), (2, 3);
ALTER TABLE late ADD FOREIGN KEY (b) REFERENCES person NOT VALID;
CREATE TABLE idle (a int, b int REFERENCES person);
ALTER TABLE idle DISABLE TRIGGER ALL;
INSERT INTO idle VALUES (1, 2), (1, 77), (2, 3);
CREATE TABLE above (a int, b int REFERENCES person);
CREATE TABLE below () INHERITS (above);
INSERT INTO above VALUES (1, 2);
INSERT INTO below VALUES (1, 77), (2, 3);
`;

/** A many-to-many relationship of persons for each table of links, and concepts that have not all rows of the table. */
const LINKS = ['knows', 'loose', 'late', 'idle', 'above', 'swapped'];
const MODEL = `
CREATE ONTOLOGY teams;
CREATE CONCEPT team (code string, name string, PRIMARY KEY (code));
CREATE CONCEPT some_team (code string, PRIMARY KEY (code));
CREATE CONCEPT either (code string, PRIMARY KEY (code));
CREATE CONCEPT person (id int, team string, boss int, PRIMARY KEY (id),
  CONSTRAINT in_team FOREIGN KEY (team) REFERENCES team (code) INVERSEOF has_member,
  CONSTRAINT in_some FOREIGN KEY (team) REFERENCES some_team (code),
  CONSTRAINT in_either FOREIGN KEY (team) REFERENCES either (code),
  CONSTRAINT reports_to FOREIGN KEY (boss) REFERENCES person (id) INVERSEOF leads TRANSITIVE,
  ${LINKS.map((l) => `CONSTRAINT ${l} MULTIREFERENCE person INVERSEOF ${l}_by TRANSITIVE`).join(', ')});
CREATE CONCEPT led INHERITS (person) FROM svc.person WHERE boss IS NOT NULL;
CREATE MAPPING m_team INTO team AS SELECT code, name FROM team;
CREATE MAPPING m_some INTO some_team AS SELECT code FROM team WHERE name IS NOT NULL;
CREATE MAPPING m_either INTO either AS SELECT code FROM team;
CREATE MAPPING m_or INTO either AS SELECT code FROM team;
CREATE MAPPING m_person INTO person AS SELECT id, team, boss FROM person;
${LINKS.map((l) => `CREATE MAPPING m_${l} (CONSTRAINT ${l} FOREIGN KEY (b) REFERENCES person (id), CONSTRAINT ${l}_by FOREIGN KEY (a) REFERENCES person (id)) AS SELECT a, b FROM ${l === 'swapped' ? 'swapped AS s(b, a)' : l};`).join('\n')}
`;

let tables: PlannedTables;
let enforces: PlanContext['enforces'];
const ask = async (): Promise<void> => {
  enforces = await enforcedIn((sql) => tables.db.query(sql));
};
beforeAll(async () => {
  tables = await PlannedTables.open(TABLES, MODEL, 'teams');
  await ask();
});
afterAll(() => tables.close());

/** What is read of the far end, with its SQL over the alias of the table by hand. */
const READ = (far: string, key: string): readonly (readonly [string, string])[] => [
  [`COUNT("${far}.${key}")`, `count(f.${key})`],
  [`COUNT(DISTINCT "${far}.${key}")`, `count(DISTINCT f.${key})`],
  [`MAX("${far}.${key}")`, `max(f.${key})`],
  [`COUNT("${far}.entity_id")`, `count(f.${key})`],
];

/** Queries with the same rows in SQL by hand, which joins everything, and the table that is not read for them at the far end, if any. */
const linksOf = (l: string): string => (l === 'swapped' ? '(SELECT b AS a, a AS b FROM swapped)' : l);
function* cases(): Generator<readonly [query: string, byHand: string]> {
  const joins = [
    ...LINKS.flatMap((l) => [
      [`${l}[person]`, `LEFT JOIN (${linksOf(l)} l JOIN person f ON f.id = l.b) ON l.a = p.id`, 'id'] as const,
      [`${l}_by[person]`, `LEFT JOIN (${linksOf(l)} l JOIN person f ON f.id = l.a) ON l.b = p.id`, 'id'] as const,
      [
        `reports_to[person].${l}[person]`,
        `LEFT JOIN person m ON m.id = p.boss LEFT JOIN (${linksOf(l)} l JOIN person f ON f.id = l.b) ON l.a = m.id`,
        'id',
      ] as const,
      [
        `${l}[person].reports_to[person]`,
        `LEFT JOIN (${linksOf(l)} l JOIN person m ON m.id = l.b) ON l.a = p.id LEFT JOIN person f ON f.id = m.boss`,
        'id',
      ] as const,
      [
        `${l}[person].in_team[team]`,
        `LEFT JOIN (${linksOf(l)} l JOIN person m ON m.id = l.b) ON l.a = p.id LEFT JOIN team f ON f.code = m.team`,
        'code',
      ] as const,
    ]),
    ['in_team[team]', 'LEFT JOIN team f ON f.code = p.team', 'code'] as const,
    ['in_some[some_team]', 'LEFT JOIN team f ON f.code = p.team AND f.name IS NOT NULL', 'code'] as const,
    ['in_either[either]', 'LEFT JOIN (SELECT * FROM team UNION ALL SELECT * FROM team) f ON f.code = p.team', 'code'] as const,
    ['reports_to[person]', 'LEFT JOIN person f ON f.id = p.boss', 'id'] as const,
    ['reports_to[person].in_team[team]', 'LEFT JOIN person m ON m.id = p.boss LEFT JOIN team f ON f.code = m.team', 'code'] as const,
    ['leads[person]', 'LEFT JOIN person f ON f.boss = p.id', 'id'] as const,
  ];
  for (const [far, from, key] of joins) {
    for (const [concept, where] of [
      ['person', 'true'],
      ['led', 'p.boss IS NOT NULL'],
    ] as const) {
      for (const [read, byHand] of READ(far, key)) {
        yield [`SELECT id, ${read} AS v FROM dsvc.${concept} GROUP BY id`, `SELECT p.id, ${byHand} AS v FROM person p ${from} WHERE ${where} GROUP BY p.id`];
        yield [`SELECT ${read} AS v FROM dsvc.${concept}`, `SELECT ${byHand} AS v FROM person p ${from} WHERE ${where}`];
      }
      yield [`SELECT id, "${far}.${key}" AS v FROM dsvc.${concept}`, `SELECT p.id, f.${key} AS v FROM person p ${from} WHERE ${where}`];
      yield [`SELECT id FROM dsvc.${concept} WHERE "${far}.${key}" IS NULL`, `SELECT p.id FROM person p ${from} WHERE ${where} AND f.${key} IS NULL`];
      const some = key === 'id' ? '3' : `'a'`;
      yield [`SELECT id FROM dsvc.${concept} WHERE "${far}.${key}" = ${some}`, `SELECT p.id FROM person p ${from} WHERE ${where} AND f.${key} = ${some}`];
    }
  }
}

/** Walks with the rows of a recursion by hand that checks each node. */
function* walks(): Generator<readonly [query: string, byHand: string]> {
  for (const l of LINKS) {
    for (const [name, from, to] of [
      [l, 'a', 'b'],
      [`${l}_by`, 'b', 'a'],
    ] as const) {
      const found = `WITH RECURSIVE w(s, n, d) AS (SELECT p.id, f.id, 1 FROM person p JOIN ${linksOf(l)} l ON l.${from} = p.id JOIN person f ON f.id = l.${to}
        UNION SELECT w.s, f.id, d + 1 FROM w JOIN ${linksOf(l)} l ON l.${from} = w.n JOIN person f ON f.id = l.${to} WHERE d < 4)
        SELECT s AS id, n AS v, min(d) AS d FROM w GROUP BY s, n`;
      const path = `${name}[person*4]`;
      yield [
        `SELECT id, "${path}.id" AS v, "${path}_transitivity_level" AS d FROM dsvc.person`,
        `SELECT p.id, w.v, w.d FROM person p LEFT JOIN (${found}) w USING (id)`,
      ];
      yield [`SELECT id FROM dsvc.person WHERE "${path}.id" = 3`, `SELECT id FROM (${found}) w WHERE v = 3`];
    }
  }
}

describe('the rows', () => {
  it('are those of SQL by hand, with enforced references and without', async () => {
    let fewer = 0;
    let all = 0;
    for (const [query, byHand] of [...cases(), ...walks()]) {
      const expected = await tables.rowsByHand(byHand);
      expect(await tables.rows(query), query).toEqual(expected);
      expect(await tables.rows(query, { enforces }), query).toEqual(expected);
      all++;
      if (tables.plan(query, { enforces }).sql !== tables.plan(query).sql) fewer++;
    }
    expect(all).toBeGreaterThan(700);
    expect(fewer).toBeGreaterThan(200);
  });
});

const reads = (query: string, table: string, changes: Partial<PlanContext> = { enforces }): number =>
  tables.plan(query, changes).sql.match(new RegExp(`(FROM|JOIN) (public\\.)?${table}\\b`, 'g'))?.length ?? 0;

describe('what is joined', () => {
  it.each([
    ['SELECT COUNT("knows[person].id") FROM dsvc.person', 'person', 1],
    ['SELECT COUNT("knows[person].team") FROM dsvc.person', 'person', 2],
    ['SELECT COUNT("loose[person].id") FROM dsvc.person', 'person', 2],
    ['SELECT COUNT("late[person].id") FROM dsvc.person', 'person', 2],
    ['SELECT COUNT("idle[person].id") FROM dsvc.person', 'person', 2],
    ['SELECT COUNT("above[person].id") FROM dsvc.person', 'person', 2],
    ['SELECT COUNT("swapped[person].id") FROM dsvc.person', 'person', 2],
    ['SELECT id, "in_team[team].code" FROM dsvc.person', 'team', 0],
    ['SELECT id, "in_team[team].name" FROM dsvc.person', 'team', 1],
    ['SELECT id, "in_some[some_team].code" FROM dsvc.person', 'team', 1],
    ['SELECT id, "in_either[either].code" FROM dsvc.person', 'team', 2],
    ['SELECT id, "knows[person*3].id" FROM dsvc.person', 'person', 2],
    ['SELECT id, "loose[person*3].id" FROM dsvc.person', 'person', 4],
  ])('%s reads %s %i times', (query, table, n) => {
    expect(reads(query, table)).toBe(n);
  });

  it('is everything for a caller with a row policy', () => {
    const access: PlanContext['access'] = {
      rows: [{ concept: 'team', conditions: [{ policy: 'p', condition: `code <> 'a'` }] }],
      masks: [],
      caller: { username: 'u', roles: [], claims: {} },
      maskKey: '',
    };
    expect(reads('SELECT id, "in_team[team].code" FROM dsvc.person', 'team', { enforces, access })).toBe(1);
  });

  it('is named in the plan, and is joined again when the foreign key is gone', async () => {
    const query = 'SELECT COUNT("knows[person].id") AS n FROM dsvc.person';
    expect(tables.plan(query, { enforces }).trusted).toHaveLength(1);
    await tables.db.exec('ALTER TABLE knows DROP CONSTRAINT knows_b_fkey; INSERT INTO knows VALUES (1, 99)');
    await ask();
    expect(tables.plan(query, { enforces }).trusted).toEqual([]);
    expect(await tables.rows(query, { enforces })).toEqual(
      await tables.rowsByHand('SELECT count(f.id) AS n FROM knows l JOIN person p ON p.id = l.a JOIN person f ON f.id = l.b'),
    );
  });

  it('is everything where the database may hide rows of the table', async () => {
    expect(reads('SELECT id, "in_team[team].code" FROM dsvc.person', 'team')).toBe(0);
    await tables.db.exec('ALTER TABLE team ENABLE ROW LEVEL SECURITY');
    await ask();
    expect(reads('SELECT id, "in_team[team].code" FROM dsvc.person', 'team')).toBe(1);
  });
});
