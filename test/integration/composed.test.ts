/**
 * Symmetric and containing relationships (docs/design/paths-and-cardinality.md#symmetric-and-containing-relationships) over random pairs, against
 * hand-written SQL on the tables: hops in both directions, aggregates, measures, calculated properties and walks.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { SEED } from '../support/generated.ts';
import { PlannedTables } from '../support/planned.ts';
import { Rng } from './differential/rng.ts';

const random = Rng.of(String(SEED));
/** A whole number from 0, below `n`. */
const pick = (n: number): number => random.int(0, n - 1);

const PEOPLE = 24;
/** A value of a reference: sometimes NULL, and sometimes one that no row has. */
const someone = (): string => (pick(9) === 0 ? 'NULL' : String(1 + pick(PEOPLE + 3)));
const links = (n: number): string => Array.from({ length: n }, () => `(${someone()}, ${someone()}, ${pick(3)})`).join(', ');

const TABLES = `
CREATE TABLE person (id int PRIMARY KEY, name text, boss int, twin_of text);
INSERT INTO person SELECT i, 'p' || i, NULL, NULL FROM generate_series(1, ${PEOPLE}) i;
${Array.from({ length: PEOPLE }, (_, i) => `UPDATE person SET boss = ${someone()}, twin_of = 'p' || ${someone()} WHERE id = ${i + 1};`).join('\n')}
CREATE TABLE knows (a int, b bigint, w int);
INSERT INTO knows VALUES ${links(30)}, (1, 2, 0), (2, 1, 1), (3, 3, 1), (1, 2, 2);
CREATE TABLE helps (a int, b int, w int);
INSERT INTO helps VALUES ${links(20)}, (1, 2, 0);
CREATE TABLE named (a text, b text);
INSERT INTO named SELECT 'p' || a, 'p' || b FROM helps;
CREATE TABLE spot (x int, y int, nx int, ny int);
INSERT INTO spot SELECT x, y, CASE WHEN (x * y) % 3 > 0 THEN 1 + (x * 2 + y) % 4 END, 1 + (x + y * 3) % 3 FROM generate_series(1, 4) x, generate_series(1, 3) y;
`;

const linkOf = (r: string, table: string, keys = 'id', concept = 'person', back = concept): string =>
  `CREATE MAPPING map_${r} (CONSTRAINT ${r} FOREIGN KEY (b) REFERENCES ${concept} (${keys}), CONSTRAINT \`~${r}\` FOREIGN KEY (a) REFERENCES ${back} (${keys})) AS SELECT a, b${table === 'named' ? '' : ', w'} FROM ${table};`;
const MODEL = `
CREATE ONTOLOGY people;
CREATE PROPERTY contacts int AS SELECT COUNT("friend[person].id");
CREATE MEASURE persons bigint AS SELECT COUNT(id);
CREATE CONCEPT person (id bigint, name string, boss bigint, twin_of string, contacts int, persons MEASURE bigint, PRIMARY KEY (id), LABEL (name),
  CONSTRAINT under FOREIGN KEY (boss) REFERENCES person (id) INVERSEOF over TRANSITIVE,
  CONSTRAINT twin FOREIGN KEY (twin_of) REFERENCES person (name) SYMMETRIC TRANSITIVE,
  CONSTRAINT beside FOREIGN KEY (boss) REFERENCES person (id) SYMMETRIC,
  CONSTRAINT friend MULTIREFERENCE person SYMMETRIC TRANSITIVE,
  CONSTRAINT helps MULTIREFERENCE person INVERSEOF helped,
  CONSTRAINT named_help MULTIREFERENCE person,
  CONSTRAINT contact MULTIREFERENCE person INCLUDES (under, helps) TRANSITIVE(4),
  CONSTRAINT contacted MULTIREFERENCE person INCLUDES (over, helped),
  CONSTRAINT acquainted MULTIREFERENCE person INCLUDES (contact, friend, named_help),
  CONSTRAINT close MULTIREFERENCE person INCLUDES (helps) SYMMETRIC TRANSITIVE,
  CONSTRAINT chief FOREIGN KEY (boss) REFERENCES lead (id) INVERSEOF chief_of TRANSITIVE,
  CONSTRAINT led MULTIREFERENCE lead TRANSITIVE,
  CONSTRAINT reports FOREIGN KEY (boss) REFERENCES person (id) INCLUDES (helps, leads) TRANSITIVE);
CREATE CONCEPT lead (CONSTRAINT leads MULTIREFERENCE lead TRANSITIVE, CONSTRAINT follows FOREIGN KEY (boss) REFERENCES lead (id)) INHERITS (person);
CREATE CONCEPT other INHERITS (person);
CREATE CONCEPT even INHERITS (person) FROM svc.person WHERE id % 2 = 0;
CREATE CONCEPT spot (x int, y int, nx int, ny int, PRIMARY KEY (x, y),
  CONSTRAINT after FOREIGN KEY (nx, ny) REFERENCES spot (x, y), CONSTRAINT near MULTIREFERENCE spot INCLUDES (after) SYMMETRIC TRANSITIVE);
CREATE MAPPING map_lead INTO lead AS SELECT id, name, boss, twin_of FROM person WHERE id % 3 = 0;
CREATE MAPPING map_other INTO other AS SELECT id, name, boss, twin_of FROM person WHERE id % 3 > 0;
CREATE MAPPING map_spot INTO spot AS SELECT x, y, nx, ny FROM spot;
${linkOf('friend', 'knows')}
CREATE MAPPING map_helps (CONSTRAINT helps FOREIGN KEY (b) REFERENCES person (id), CONSTRAINT helped FOREIGN KEY (a) REFERENCES person (id)) AS SELECT a, b FROM helps;
${linkOf('named_help', 'named', 'name')}
${linkOf('close', 'knows')}
${linkOf('leads', 'knows', 'id', 'lead')}
${linkOf('led', 'knows', 'id', 'lead', 'person')}
`;

/** The pairs of each relationship in SQL on the tables. A value that no row has counts here, and the joins of \`HOP\` leave it out. */
const KEYS = 'SELECT a, b FROM knows';
const FRIEND = `(${KEYS} UNION SELECT b, a FROM knows)`;
const HELPS = 'SELECT a, b FROM helps';
const UNDER = 'SELECT id AS a, boss AS b FROM person';
const NAMED = 'SELECT x.id AS a, y.id AS b FROM named n JOIN person x ON x.name = n.a JOIN person y ON y.name = n.b';
const LEADS = `${KEYS} WHERE a % 3 = 0 AND b % 3 = 0`;
const TWIN = 'SELECT x.id AS a, y.id AS b FROM person x JOIN person y ON y.name = x.twin_of';
const CONTACT = `${UNDER} UNION ${HELPS}`;
const PAIRS: Readonly<Record<string, string>> = {
  friend: FRIEND,
  '~friend': FRIEND,
  twin: `(${TWIN} UNION SELECT b, a FROM (${TWIN}) t)`,
  beside: `(${UNDER} UNION SELECT boss, id FROM person)`,
  contact: `(${CONTACT})`,
  '~contact': `(SELECT b AS a, a AS b FROM (${CONTACT}) c)`,
  contacted: `(SELECT b AS a, a AS b FROM (${CONTACT}) c)`,
  acquainted: `(${CONTACT} UNION SELECT * FROM ${FRIEND} f UNION ${NAMED})`,
  close: `(${KEYS} UNION SELECT b, a FROM knows UNION ${HELPS} UNION SELECT b, a FROM helps)`,
  reports: `(${UNDER} UNION ${HELPS} UNION ${LEADS})`,
  '~reports': `(SELECT b AS a, a AS b FROM (${UNDER} UNION ${HELPS} UNION ${LEADS}) r)`,
};

let tables: PlannedTables;
beforeAll(async () => {
  tables = await PlannedTables.open(TABLES, MODEL, 'people');
});
afterAll(() => tables.close());

describe('hops', () => {
  for (const [r, pairs] of Object.entries(PAIRS)) {
    it(`${r}: each pair once`, async () => {
      const hop = `LEFT JOIN (SELECT f.a, t.id, t.name FROM ${pairs} f JOIN person t ON t.id = f.b) f ON f.a = p.id`;
      await tables.expectValues(
        `SELECT id, "${r}[person].id" AS other, "${r}[person].name" AS name FROM dsvc.person`,
        `SELECT p.id, f.id, f.name FROM person p ${hop}`,
      );
      await tables.expectValues(
        `SELECT id, COUNT("${r}[person].id") AS n FROM dsvc.person GROUP BY id`,
        `SELECT p.id, COUNT(f.id) FROM person p ${hop} GROUP BY p.id`,
      );
      await tables.expectValues(
        `SELECT id, SUM("measure.${r}[person].persons") AS n FROM dsvc.person GROUP BY id`,
        `SELECT p.id, COUNT(f.id) FROM person p ${hop} GROUP BY p.id`,
      );
      await tables.expectValues(`SELECT id FROM dsvc.person WHERE "${r}[person].id" = 2`, `SELECT p.id FROM person p ${hop} WHERE f.id = 2`);
      await tables.expectValues(`SELECT "${r}[person].name" AS name FROM dsvc.person WHERE id = 1`, `SELECT f.name FROM person p ${hop} WHERE p.id = 1`);
      await tables.expectValues(
        `SELECT id, "${r}[lead].id" AS other FROM dsvc.even`,
        `SELECT p.id, f.id FROM person p LEFT JOIN (SELECT f.a, t.id FROM ${pairs} f JOIN person t ON t.id = f.b WHERE t.id % 3 = 0) f ON f.a = p.id WHERE p.id % 2 = 0`,
      );
      await tables.expectValues(
        `SELECT id, "${r}[person].under[person].name" AS boss, "${r}[person].friend[person].id" AS more FROM dsvc.person`,
        `SELECT p.id, b.name, g.id FROM person p LEFT JOIN (SELECT f.a, t.id, t.boss FROM ${pairs} f JOIN person t ON t.id = f.b) f ON f.a = p.id
           LEFT JOIN person b ON b.id = f.boss LEFT JOIN (SELECT f.a, t.id FROM ${FRIEND} f JOIN person t ON t.id = f.b) g ON g.a = f.id`,
      );
    });
  }

  it('two of them in one query do not multiply each other', () =>
    tables.expectValues(
      'SELECT id, COUNT("friend[person].id") AS friends, COUNT("contact[person].id") AS contacts FROM dsvc.person GROUP BY id',
      `SELECT id, (SELECT COUNT(*) FROM ${FRIEND} f JOIN person t ON t.id = f.b WHERE f.a = p.id), (SELECT COUNT(*) FROM (${CONTACT}) f JOIN person t ON t.id = f.b WHERE f.a = p.id) FROM person p`,
    ));
  it('a calculated property counts the pairs', () =>
    tables.expectValues(
      'SELECT id, contacts FROM svc.person',
      `SELECT id, (SELECT COUNT(*)::int FROM ${FRIEND} f JOIN person t ON t.id = f.b WHERE f.a = p.id) FROM person p`,
    ));
  it('keys of two columns', () =>
    tables.expectValues(
      'SELECT x, y, "near[spot].x" AS ox, "near[spot].y" AS oy FROM dsvc.spot',
      `SELECT p.x, p.y, f.x, f.y FROM spot p LEFT JOIN (SELECT f.*, t.x, t.y FROM (SELECT x AS ax, y AS ay, nx AS bx, ny AS by FROM spot UNION SELECT nx, ny, x, y FROM spot) f
         JOIN spot t ON t.x = f.bx AND t.y = f.by) f ON f.ax = p.x AND f.ay = p.y`,
    ));
  it('the pairs have no link columns', () => {
    expect(() => tables.plan('SELECT "friend[person]_w" FROM dsvc.person')).toThrow(/has no column `w`/);
    expect(() => tables.plan('SELECT "contact[person]_w" FROM dsvc.person')).toThrow(/has no column `w`/);
  });
});

describe('walks', () => {
  const CHIEF = 'SELECT id AS a, boss AS b FROM person WHERE boss % 3 = 0';
  const DOWN: readonly (readonly [walk: string, start: string, pairs: string])[] = [
    ['chief[lead*3]', 'person', CHIEF],
    ['chief_of[person*3]', 'lead', `SELECT b AS a, a AS b FROM (${CHIEF}) c`],
    ['led[lead*3]', 'person', `${KEYS} WHERE b % 3 = 0`],
    ['~led[person*3]', 'lead', 'SELECT b AS a, a AS b FROM knows WHERE b % 3 = 0'],
  ];
  it.each(DOWN)('%s from %s, to a concept below and back', async (walk, start, pairs) => {
    await tables.expectValues(
      `SELECT id, "${walk}.id" AS other, "${walk}_transitivity_level" AS level FROM dsvc.${start}`,
      `WITH RECURSIVE e AS (SELECT f.a, f.b FROM (${pairs}) f JOIN person x ON x.id = f.a JOIN person y ON y.id = f.b),
        w AS (SELECT a AS start, b AS at, 1 AS level FROM e UNION SELECT w.start, e.b, w.level + 1 FROM w JOIN e ON e.a = w.at WHERE w.level < 3),
        s AS (SELECT start, at, MIN(level) AS level FROM w GROUP BY start, at)
       SELECT p.id, s.at, s.level FROM person p LEFT JOIN s ON s.start = p.id ${start === 'lead' ? 'WHERE p.id % 3 = 0' : ''}`,
    );
  });
  for (const [r, pairs] of Object.entries(PAIRS).filter(([name]) => /^~?(friend|twin|contact|close|reports)$/.test(name))) {
    it(`${r}: the nodes within three steps, with the length of the shortest walk`, async () => {
      // from each person, the distinct ends of walks of 1 to 3 steps along pairs of two rows
      const walk = `WITH RECURSIVE e AS (SELECT f.a, f.b FROM ${pairs} f JOIN person x ON x.id = f.a JOIN person y ON y.id = f.b),
        w AS (SELECT a AS start, b AS at, 1 AS level FROM e UNION SELECT w.start, e.b, w.level + 1 FROM w JOIN e ON e.a = w.at WHERE w.level < 3),
        s AS (SELECT start, at, MIN(level) AS level FROM w GROUP BY start, at)`;
      await tables.expectValues(
        `SELECT id, "${r}[person*3].id" AS other, "${r}[person*3]_transitivity_level" AS level FROM dsvc.person`,
        `${walk} SELECT p.id, s.at, s.level FROM person p LEFT JOIN s ON s.start = p.id`,
      );
      await tables.expectValues(
        `SELECT id, "${r}[person*3]_transitivity_level" AS level FROM dsvc.person WHERE "${r}[person*3].id" = 2`,
        `${walk} SELECT p.id, s.level FROM person p JOIN s ON s.start = p.id WHERE s.at = 2`,
      );
    });
  }
});
