/** Walks with a query for each step, from the first rows of an order in which several rows are equal. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { walkSteps } from '../../src/planner/lower/walk-together.ts';
import { PlannedTables } from '../support/planned.ts';

// another read of the first rows may take another index, and so other rows with the same group
const TABLES = `
CREATE TABLE town (id int PRIMARY KEY, name text, grp int);
INSERT INTO town SELECT i, 'n' || i % 7, i % 3 FROM generate_series(1, 4000) AS i;
CREATE TABLE town2 (id bigint PRIMARY KEY, name text, grp bigint);
INSERT INTO town2 SELECT i, 'n' || i % 7, 9 FROM generate_series(4001, 4020) AS i;
CREATE INDEX ON town (grp, id DESC);
CREATE INDEX ON town (grp, name, id);
CREATE TABLE road (a int, b int);
INSERT INTO road SELECT i, 1 + (i * 13 + 5) % 4000 FROM generate_series(1, 4000) AS i;
`;
const MODEL = `
CREATE ONTOLOGY towns;
CREATE CONCEPT town (id bigint, name string, grp bigint, PRIMARY KEY (id), CONSTRAINT road MULTIREFERENCE town INVERSEOF road_from TRANSITIVE);
CREATE MAPPING m INTO town AS SELECT id, name, grp FROM town;
CREATE MAPPING m2 INTO town AS SELECT id, name, grp FROM town2;
CREATE MAPPING m_road (CONSTRAINT road FOREIGN KEY (b) REFERENCES town (id), CONSTRAINT road_from FOREIGN KEY (a) REFERENCES town (id)) AS SELECT a, b FROM road;
`;

let tables: PlannedTables;
beforeAll(async () => {
  tables = await PlannedTables.open(TABLES, MODEL, 'towns');
  await tables.db.exec('VACUUM ANALYZE');
});
afterAll(() => tables?.close());

it('reach nodes from each row that is shown', async () => {
  const query = 'SELECT id, name, "road[town*2].id" AS reached FROM dsvc.town ORDER BY grp LIMIT 5';
  const rows = await tables.rows(query, { target: () => ({ apply: () => [], walksOver: () => walkSteps }) });
  const { rows: links } = await tables.db.query<{ a: number; b: number }>(
    'SELECT a, b FROM road UNION SELECT r.a, s.b FROM road AS r JOIN road AS s ON s.a = r.b',
  );
  const reachable = new Set(links.map(({ a, b }) => `${a} ${b}`));
  expect(rows).toHaveLength(5);
  for (const row of rows) {
    const { id, reached } = JSON.parse(row);
    expect(reachable, row).toContain(`${id} ${reached}`);
  }
});
