/** Comparisons at the far tables of joins, for a datasource whose tables are distributed: statements have the same rows. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { loadNodeParser } from '../../../src/cli/node-parser.ts';
import type { PlanContext } from '../../../src/planner/index.ts';
import { decorrelate } from '../../../src/planner/lower/decorrelate.ts';
import { sendFilters } from '../../../src/planner/lower/far-filters.ts';
import { targetFor } from '../../../src/planner/lower/placed.ts';
import { printSelect } from '../../../src/planner/print/index.ts';
import { verify } from '../../../src/planner/verify/index.ts';
import { PlannedTables } from '../../support/planned.ts';

const parser = await loadNodeParser();
const TABLES = `CREATE SCHEMA s; CREATE TABLE s.town (tid integer PRIMARY KEY, name text, land integer, since date); INSERT INTO s.town SELECT n, 't' || n % 4, n % 3, date '2000-01-01' + n FROM generate_series(1, 9) n;
  CREATE TABLE s.land (lid integer PRIMARY KEY, size integer); INSERT INTO s.land VALUES (0, 10), (1, 20);
  CREATE TABLE s.isle (iid integer PRIMARY KEY, name text, code varchar(3)); INSERT INTO s.isle SELECT n, 't' || n % 3, n FROM generate_series(10, 14) n;
  CREATE TABLE s.guest (id integer PRIMARY KEY, label text, town integer, v integer); INSERT INTO s.guest SELECT n, 'g' || n % 3, nullif(n % 11, 5), n FROM generate_series(1, 40) n;`;
const MODEL = `CREATE ONTOLOGY far;
  CREATE CONCEPT land (lid integer, size integer, PRIMARY KEY (lid));
  CREATE CONCEPT town (tid integer, name string, land integer, since date, PRIMARY KEY (tid), CONSTRAINT lies_in FOREIGN KEY (land) REFERENCES land (lid) INVERSEOF towns);
  CREATE CONCEPT guest (id integer, label string, town integer, v integer, PRIMARY KEY (id), CONSTRAINT lives_in FOREIGN KEY (town) REFERENCES town (tid) INVERSEOF houses,
    CONSTRAINT near FOREIGN KEY (town) REFERENCES spot (sid) INVERSEOF guests);
  CREATE CONCEPT spot (sid integer, name string, size integer, PRIMARY KEY (sid));
  CREATE MAPPING m_spot_town INTO spot AS SELECT tid AS sid, name, land AS size FROM s.town;
  CREATE MAPPING m_spot_isle INTO spot AS SELECT iid AS sid, name, iid + 1 AS size FROM s.isle WHERE iid <> 12;
  CREATE MAPPING m_land INTO land AS SELECT lid, size FROM s.land;
  CREATE MAPPING m_town INTO town AS SELECT tid, name, land, since FROM s.town;
  CREATE MAPPING m_guest INTO guest AS SELECT id, label, town, v FROM s.guest;`;

const distributed = (...names: string[]): Partial<PlanContext> => {
  const target = targetFor(new Map(names.map((name, group) => [JSON.stringify(['s', name]), { column: 'x', group }])));
  return { target: () => target };
};
const ALL = distributed('guest', 'town', 'land', 'isle');

let tables: PlannedTables;
beforeAll(async () => {
  tables = await PlannedTables.open(TABLES, MODEL, 'far');
});
afterAll(() => tables?.close());

/** The number of comparisons that a statement has at the tables of far sides. Its rows are those without knowledge of the datasource. */
async function sent(query: string, changes: Partial<PlanContext> = ALL): Promise<number> {
  const { sql, declared } = tables.plan(query, changes);
  verify(parser, sql, declared);
  expect(await tables.rows(query, changes), sql).toEqual(await tables.rows(query));
  expect(await tables.rows(query, { ...changes, rewrite: decorrelate }), sql).toEqual(await tables.rows(query));
  return [...sql.matchAll(/FROM s\.\w+ WHERE /g)].length - [...tables.plan(query).sql.matchAll(/FROM s\.\w+ WHERE /g)].length;
}

it.each([
  ['SELECT label, v FROM dsvc.guest WHERE "lives_in[town].name" = \'t1\'', 1],
  ["SELECT label FROM dsvc.guest WHERE \"lives_in[town].name\" IN ('t1', 't2') AND v > 7", 1],
  ['SELECT label FROM dsvc.guest WHERE \'t2\' <= "lives_in[town].name" AND "lives_in[town].tid" BETWEEN 2 AND 6', 1],
  ['SELECT SUM(v) AS v FROM dsvc.guest WHERE "lives_in[town].lies_in[land].size" = 20', 1],
  ['SELECT label FROM dsvc.guest WHERE "lives_in[town].name" = \'t1\' AND "lives_in[town].lies_in[land].size" < 15', 2],
  ["SELECT label FROM dsvc.guest WHERE \"lives_in[town].since\" < DATE '2000-01-05' - INTERVAL '1 day' + INTERVAL '2 days'", 1],
  // in each part of a union that has a column there
  ['SELECT label FROM dsvc.guest WHERE "near[spot].name" = \'t1\'', 1],
  ['SELECT label FROM dsvc.guest WHERE "near[spot].name" <> \'t1\' AND "near[spot].size" > 0', 1],
  ["SELECT g.label, t.name FROM dsvc.guest g LEFT JOIN dsvc.town t ON t.tid = g.town WHERE t.name <> 't1'", 1],
])('repeats the comparison: %s', async (query, count) => {
  expect(await sent(query)).toBe(count);
  expect((await tables.rows(query)).length).toBeGreaterThan(0);
});

it.each([
  // a row without a partner meets these
  'SELECT label FROM dsvc.guest WHERE "lives_in[town].name" IS NULL',
  'SELECT label FROM dsvc.guest WHERE "lives_in[town].name" = \'t1\' OR v = 5',
  "SELECT label FROM dsvc.guest WHERE COALESCE(\"lives_in[town].name\", 't1') = 't1'",
  'SELECT label FROM dsvc.guest WHERE "lives_in[town].name" NOT IN (\'t1\')',
  'SELECT label FROM dsvc.guest WHERE v = 5',
  'SELECT t.name, q.n FROM dsvc.town t LEFT JOIN (SELECT town, COUNT(*) AS n FROM dsvc.guest GROUP BY town) q ON q.town = t.tid WHERE q.n > 1',
  'SELECT t.name, q.v FROM dsvc.town t JOIN (SELECT town, v FROM dsvc.guest ORDER BY v LIMIT 3) q ON q.town = t.tid WHERE q.v > 1',
  "SELECT g.label FROM dsvc.guest g JOIN (SELECT sid, name FROM dsvc.spot UNION SELECT tid, name FROM dsvc.town) q ON q.sid = g.town WHERE q.name = 't1'",
  "SELECT g.label FROM dsvc.guest g JOIN (SELECT sid, name FROM dsvc.spot ORDER BY sid LIMIT 5) q ON q.sid = g.town WHERE q.name = 't1'",
  'SELECT g.label FROM dsvc.town t FULL JOIN dsvc.guest g ON t.tid = g.town WHERE g.v > 4',
])('repeats nothing: %s', async (query) => {
  expect(await sent(query)).toBe(0);
});

it.each([
  ['"lives_in[town].name" > \'t0\' AND "lives_in[town].name" <= \'t2\'', ['guest."~3"']],
  ['"lives_in[town].name" > \'t0\' AND \'t3\' > "lives_in[town].name" AND "lives_in[town].tid" IN (1, 2, 3)', ['guest."~3"', 'guest."~4"']],
  ['"lives_in[town].name" > \'t0\' AND v > 7', ['guest."~3"']],
])('leaves only a comparison with NULL in WHERE: %s', async (condition, columns) => {
  const query = `SELECT label FROM dsvc.guest WHERE ${condition}`;
  const { sql } = tables.plan(query, ALL);
  const where = /\) AS guest WHERE (.*)$/.exec(sql)?.[1] ?? '';
  expect([...where.matchAll(/([\w."~]+) IS DISTINCT FROM NULL/g)].map(([, column]) => column)).toEqual(columns);
  expect(where).not.toMatch(/'t|\bIN\b/);
  expect((await tables.rows(query, ALL)).length).toBeGreaterThan(0);
});

it('leaves a comparison that not all parts of a union repeat', () => {
  const { sql } = tables.plan('SELECT label FROM dsvc.guest WHERE "near[spot].size" > 1', ALL);
  expect(sql).toMatch(/ > 1( |$)/);
  expect(sql).not.toContain('IS DISTINCT FROM NULL');
});

it('only at distributed tables', async () => {
  const query = 'SELECT label FROM dsvc.guest WHERE "lives_in[town].name" = \'t1\'';
  expect(await sent(query, distributed('guest'))).toBe(0);
  expect(await sent(query, distributed('town'))).toBe(1);
});

// the texts of a part of a union may have another collation than those of the union
it.each([
  'SELECT label FROM dsvc.guest WHERE "near[spot].name" < \'t2\'',
  'SELECT label FROM dsvc.guest WHERE \'t1\' <= "near[spot].name"',
  "SELECT label FROM dsvc.guest WHERE \"near[spot].name\" BETWEEN 't0' AND 't1'",
])('repeats no order of texts in a union: %s', async (query) => {
  expect(await sent(query)).toBe(0);
});

it('repeats an equality of texts in a union only if their collations are deterministic', () => {
  const repeats = (condition: string, isExact: boolean): boolean => {
    const [raw] = parser.parse(
      `SELECT u.a FROM (SELECT x::text AS a, y::integer AS b FROM s.t UNION ALL SELECT v::text, w::integer FROM s.t) AS u WHERE ${condition}`,
    ).stmts;
    if (!raw?.stmt || !('SelectStmt' in raw.stmt)) throw new Error('it is one SELECT');
    sendFilters(raw.stmt.SelectStmt, () => true, isExact, true);
    return /FROM s\.t WHERE x.* UNION .* FROM s\.t WHERE v|FROM s\.t WHERE y.* UNION .* FROM s\.t WHERE w/.test(printSelect(raw.stmt.SelectStmt));
  };
  for (const condition of ["u.a = 'c'", "u.a IN ('c', 'd')", "u.a <> 'c'"])
    expect([true, false].map((isExact) => repeats(condition, isExact))).toEqual([true, false]);
  for (const condition of ["u.a < 'c'", "u.a BETWEEN 'c' AND 'd'"]) expect([true, false].map((isExact) => repeats(condition, isExact))).toEqual([false, false]);
  for (const condition of ['u.b = 1', 'u.b < 1']) expect([true, false].map((isExact) => repeats(condition, isExact))).toEqual([true, true]);
});

it('in all parts of a union, after the condition of the mapping', () => {
  const { sql } = tables.plan('SELECT label FROM dsvc.guest WHERE "near[spot].name" = \'t1\' AND "near[spot].size" > 0', ALL);
  expect(sql).toMatch(/FROM s\.town WHERE name::text = 't1' AND land::integer > 0 UNION ALL/);
  // the size is computed there
  expect(sql).toMatch(/FROM s\.isle WHERE iid <> 12 AND name::text = 't1'/);
  expect(sql).not.toMatch(/iid \+ 1\)::integer > 0/);
});
