/**
 * Symmetric and containing relationships (docs/design/paths-and-cardinality.md#symmetric-and-containing-relationships) from and to rows that only a logic
 * concept makes instances of the relationship's concept, and pairs that several links of one part give. Against hand-written SQL on the tables.
 */
import { afterAll, beforeAll, describe, it } from 'vitest';
import { PlannedTables } from '../support/planned.ts';

/** Rows 1 to 3 are only places; `noted` has the first two of them, and all towns. */
const TABLES = `
CREATE TABLE place (id int PRIMARY KEY, nearest int, code text);
INSERT INTO place VALUES (1, 11, 'p1'), (2, 13, 'p2'), (3, 12, 'p3');
CREATE TABLE town (id int PRIMARY KEY, nearest int, code text, twin text);
INSERT INTO town VALUES (11, 12, 't1', 'p1'), (12, 2, 't2', 't1'), (13, 11, 't3', 'p2'), (14, NULL, 't4', 't3'), (15, 3, 't5', NULL);
CREATE TABLE road (a int, b int);
INSERT INTO road VALUES (1, 11), (1, 11), (12, 2), (1, 2), (11, 12), (11, 12), (12, 11), (12, 13), (3, 13), (14, 1), (13, 3), (13, 2), (1, 13), (99, 11), (NULL, 12);
`;

const linkOf = (r: string): string =>
  `CREATE MAPPING map_${r} (CONSTRAINT ${r} FOREIGN KEY (b) REFERENCES town (id), CONSTRAINT \`~${r}\` FOREIGN KEY (a) REFERENCES town (id)) AS SELECT a, b FROM road;`;
const MODEL = `
CREATE ONTOLOGY places;
CREATE MEASURE places bigint AS SELECT COUNT(id);
CREATE CONCEPT place (id int, nearest int, code string, PRIMARY KEY (id));
CREATE CONCEPT town (twin string, places MEASURE bigint,
  CONSTRAINT road MULTIREFERENCE town TRANSITIVE,
  CONSTRAINT route MULTIREFERENCE town SYMMETRIC TRANSITIVE,
  CONSTRAINT way MULTIREFERENCE town INCLUDES (road) TRANSITIVE,
  CONSTRAINT next_to FOREIGN KEY (nearest) REFERENCES town (id) SYMMETRIC TRANSITIVE,
  CONSTRAINT twin_of FOREIGN KEY (twin) REFERENCES town (code) SYMMETRIC TRANSITIVE) INHERITS (place);
CREATE CONCEPT noted INHERITS (town) FROM svc.place WHERE id <> 3;
CREATE MAPPING map_place INTO place AS SELECT id, nearest, code FROM place;
CREATE MAPPING map_town INTO town AS SELECT id, nearest, code, twin FROM town;
${linkOf('road')}
${linkOf('route')}
`;

const EVERY = '(SELECT id, nearest, code, NULL AS twin FROM place UNION ALL SELECT id, nearest, code, twin FROM town)';
const NOTED = `(SELECT * FROM ${EVERY} e WHERE id <> 3)`;
/** When a row p leads to a row t. */
const LEADS: Readonly<Record<string, string>> = {
  route: 'EXISTS (SELECT FROM road r WHERE (r.a = p.id AND r.b = t.id) OR (r.b = p.id AND r.a = t.id))',
  '~route': 'EXISTS (SELECT FROM road r WHERE (r.a = p.id AND r.b = t.id) OR (r.b = p.id AND r.a = t.id))',
  way: 'EXISTS (SELECT FROM road r WHERE r.a = p.id AND r.b = t.id)',
  '~way': 'EXISTS (SELECT FROM road r WHERE r.b = p.id AND r.a = t.id)',
  next_to: '(p.nearest = t.id OR t.nearest = p.id)',
  twin_of: '(p.twin = t.code OR t.twin = p.code)',
};

let tables: PlannedTables;
beforeAll(async () => {
  tables = await PlannedTables.open(TABLES, MODEL, 'places');
});
afterAll(() => tables.close());

describe.each(Object.entries(LEADS))('%s', (r, leads) => {
  it('leads from a row of the logic concept to rows of the target, each pair once', async () => {
    await tables.expectValues(`SELECT id, "${r}[town].id" AS other FROM dsvc.noted`, `SELECT p.id, t.id FROM ${NOTED} p LEFT JOIN town t ON ${leads}`);
    await tables.expectValues(`SELECT id, "${r}[town].id" AS other FROM dsvc.town`, `SELECT p.id, t.id FROM town p LEFT JOIN town t ON ${leads}`);
    await tables.expectValues(
      `SELECT id, COUNT("${r}[town].id") AS n FROM dsvc.noted GROUP BY id`,
      `SELECT p.id, COUNT(t.id)::int FROM ${NOTED} p LEFT JOIN town t ON ${leads} GROUP BY p.id`,
    );
    await tables.expectValues(
      `SELECT "${r}[town].id" AS other, SUM("measure.${r}[town].places") AS n FROM dsvc.noted WHERE "${r}[town].id" IS NOT NULL GROUP BY "${r}[town].id"`,
      `SELECT DISTINCT t.id, 1 FROM ${NOTED} p JOIN town t ON ${leads}`,
    );
  });
  it('leads to the rows of a logic concept in the bracket', async () => {
    await tables.expectValues(`SELECT id, "${r}[noted].id" AS other FROM dsvc.noted`, `SELECT p.id, t.id FROM ${NOTED} p LEFT JOIN ${NOTED} t ON ${leads}`);
    await tables.expectValues(`SELECT id, "${r}[noted].id" AS other FROM dsvc.town`, `SELECT p.id, t.id FROM town p LEFT JOIN ${NOTED} t ON ${leads}`);
  });
  it.each([1, 2, 3])('walks of %i steps start at a row of the logic concept and go on from rows of the target', async (depth) => {
    const walk = `WITH RECURSIVE e AS (SELECT p.id AS a, t.id AS b FROM ${EVERY} p JOIN town t ON ${leads}),
      w AS (SELECT a AS start, b AS at, 1 AS level FROM e UNION SELECT w.start, e.b, w.level + 1 FROM w JOIN e ON e.a = w.at WHERE w.level < ${depth}),
      s AS (SELECT start, at, MIN(level) AS level FROM w GROUP BY start, at)`;
    const path = `${r}[town*${depth}]`;
    await tables.expectValues(
      `SELECT id, "${path}.id" AS other, "${path}_transitivity_level" AS level FROM dsvc.noted`,
      `${walk} SELECT p.id, s.at, s.level FROM ${NOTED} p LEFT JOIN s ON s.start = p.id`,
    );
    await tables.expectValues(
      `SELECT id, "${path}_transitivity_level" AS level FROM dsvc.noted WHERE "${path}.id" = 13`,
      `${walk} SELECT p.id, s.level FROM ${NOTED} p JOIN s ON s.start = p.id WHERE s.at = 13`,
    );
    await tables.expectValues(
      `SELECT "${path}.code" AS code, COUNT(*) AS n FROM dsvc.noted GROUP BY "${path}.code"`,
      `${walk} SELECT t.code, COUNT(*)::int FROM ${NOTED} p LEFT JOIN s ON s.start = p.id LEFT JOIN town t ON t.id = s.at GROUP BY t.code`,
    );
  });
});
