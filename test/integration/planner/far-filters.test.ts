/** Comparisons at the far tables of joins, for a datasource whose tables are distributed: statements have the same rows. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { loadNodeParser } from '../../../src/cli/node-parser.ts';
import type { PlanContext } from '../../../src/planner/index.ts';
import { decorrelate } from '../../../src/planner/lower/decorrelate.ts';
import { dropRepeated, sendFilters } from '../../../src/planner/lower/far-filters.ts';
import { targetFor } from '../../../src/planner/lower/placed.ts';
import { printSelect } from '../../../src/planner/print/index.ts';
import { verify } from '../../../src/planner/verify/index.ts';
import { cpuSeconds } from '../../support/cpu.ts';
import { patience, SEED } from '../../support/generated.ts';
import { PlannedTables } from '../../support/planned.ts';
import { sizesOf } from '../../support/sizes.ts';
import { Rng } from '../differential/rng.ts';

const SIZES = sizesOf('integration/planner/far-filters');

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

// the other column of the join gets the value, too, so that Citus finds the shard of its rows, also if the table of the comparison is a union or is collected
it.each([
  ['SELECT label FROM dsvc.guest WHERE "lives_in[town].tid" = 3', '= 3'],
  ['SELECT label FROM dsvc.guest WHERE 3 = "lives_in[town].tid" AND "lives_in[town].tid" < 5', '3 = '],
  ['SELECT label FROM dsvc.guest WHERE "near[spot].sid" IN (3)', 'IN (3)'],
  ['SELECT g.label FROM dsvc.guest g JOIN dsvc.town t ON g.v > 3 AND t.land = g.town WHERE t.land = 1', '= 1'],
  ['SELECT g.label FROM dsvc.guest g JOIN dsvc.town t ON g.v > 3 WHERE t.land = g.town AND t.land = 1', '= 1'],
  ['SELECT g.v FROM dsvc.guest g JOIN (SELECT tid AS town, name FROM dsvc.town) t USING (town) WHERE t.town = 3', '= 3'],
  ['SELECT q.v FROM (SELECT g.v, t.land FROM dsvc.guest g JOIN dsvc.town t ON TRUE WHERE t.land = g.town) q WHERE q.land = 1', '= 1'],
])('leaves a value of a column that a join equates with another one: %s', async (query, comparison) => {
  expect(await sent(query)).toBeGreaterThan(0);
  const { sql } = tables.plan(query, ALL);
  expect(sql.slice(sql.lastIndexOf(' WHERE '))).toContain(comparison);
  expect((await tables.rows(query)).length).toBeGreaterThan(0);
});

it.each([
  'SELECT label FROM dsvc.guest WHERE "lives_in[town].tid" <= 3',
  'SELECT label FROM dsvc.guest WHERE "lives_in[town].tid" IN (3, 4)',
  'SELECT g.label FROM dsvc.guest g JOIN dsvc.town t ON t.tid = g.town WHERE t.land = 1',
  'SELECT g.label FROM dsvc.guest g JOIN dsvc.town t ON t.tid = g.town AND t.land = 1 WHERE t.land = 1',
])('leaves no other comparison of such a join: %s', (query) => {
  const { sql } = tables.plan(query, ALL);
  expect(sql.slice(sql.lastIndexOf(' WHERE '))).toMatch(/^ WHERE [\w."~]+ IS DISTINCT FROM NULL/);
});

it.each(['<>', '='])('takes time in proportion to the number of comparisons: %s', (operator) => {
  const conditions = Array.from({ length: 8000 }, (_, n) => `q.a ${operator} ${n}`).join(' AND ');
  const [raw] = parser.parse(`SELECT 1 FROM (SELECT t.c AS a FROM s.u LEFT JOIN (SELECT y AS c, z AS k FROM s.t) t ON t.k = u.k) q WHERE ${conditions}`).stmts;
  if (!raw?.stmt || !('SelectStmt' in raw.stmt)) throw new Error('it is one SELECT');
  const before = process.cpuUsage();
  const repeated = sendFilters(raw.stmt.SelectStmt, () => true, true);
  dropRepeated(repeated);
  expect(cpuSeconds(before)).toBeLessThan(1);
  expect(repeated.length).toBe(8000);
  expect(printSelect(raw.stmt.SelectStmt)).toMatch(/WHERE q\.a IS DISTINCT FROM NULL$/);
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

/** Items of FROM with the columns that a condition may compare: [column, true for a text]. */
type Columns = readonly (readonly [column: string, isText: boolean])[];
const ofGuest = (g: string): Columns => [
  [`${g}"lives_in[town].name"`, true],
  [`${g}"lives_in[town].tid"`, false],
  [`${g}"lives_in[town].land"`, false],
  [`${g}"lives_in[town].lies_in[land].size"`, false],
  [`${g}"near[spot].name"`, true],
  [`${g}"near[spot].sid"`, false],
  [`${g}"near[spot].size"`, false],
  [`${g}v`, false],
  [`${g}label`, true],
];
const ITEMS: readonly { readonly from: string; readonly keys: readonly string[]; readonly columns: Columns }[] = [
  {
    from: 'dsvc.guest',
    keys: ['id', 'town', 'v'],
    columns: [
      ['label', true],
      ['town', false],
      ['v', false],
    ],
  },
  {
    from: 'dsvc.town',
    keys: ['tid', 'land'],
    columns: [
      ['name', true],
      ['tid', false],
      ['land', false],
    ],
  },
  {
    from: 'dsvc.land',
    keys: ['lid'],
    columns: [
      ['size', false],
      ['lid', false],
    ],
  },
  {
    from: 'dsvc.spot',
    keys: ['sid', 'size'],
    columns: [
      ['name', true],
      ['sid', false],
      ['size', false],
    ],
  },
];

class Queries {
  readonly #rng: Rng;

  constructor(seed: string) {
    this.#rng = Rng.of(seed);
  }

  #condition([column, isText]: Columns[number]): string {
    const rng = this.#rng;
    const value = (): string => (rng.chance(4) ? 'NULL' : isText ? `'${rng.pick(['t', 't', 'g'])}${rng.int(0, 3)}'` : `${rng.int(0, rng.chance(50) ? 3 : 14)}`);
    const operator = rng.pick(['=', '=', '<>', '<', '>=']);
    return rng.pick([
      `${column} ${operator} ${value()}`,
      `${column} ${operator} ${value()}`,
      `${value()} ${operator} ${column}`,
      `${column} IN (${value()}, ${value()})`,
      `${column} BETWEEN ${value()} AND ${value()}`,
      `${column} BETWEEN SYMMETRIC ${value()} AND ${value()}`,
      `${column} NOT IN (${value()})`,
      `${column} IS NULL`,
      `(${column} = ${value()} OR ${column} IS NULL)`,
      `${column} IS DISTINCT FROM ${value()}`,
    ]);
  }

  #where(columns: Columns): string {
    const rng = this.#rng;
    return Array.from({ length: rng.int(1, 3) }, () => this.#condition(rng.pick(columns))).join(' AND ');
  }

  #joined(): { readonly from: string; readonly columns: Columns; readonly value: string } {
    const rng = this.#rng;
    let from = '';
    const columns: [string, boolean][] = [];
    const keys: string[] = [];
    for (const i of Array.from({ length: rng.int(2, 3) }).keys()) {
      const item = rng.pick(ITEMS);
      const filtered = rng.chance(25) ? `(SELECT * FROM ${item.from} WHERE ${this.#where(item.columns)})` : item.from;
      const key = rng.pick(item.keys);
      if (i > 0) from += ` ${rng.pick(['JOIN', 'LEFT JOIN', 'LEFT JOIN', 'RIGHT JOIN', 'FULL JOIN'])} `;
      from += `${filtered} i${i}`;
      if (i > 0) from += ` ON i${i}.${key} = ${rng.pick(keys)}`;
      keys.push(...item.keys.map((k) => `i${i}.${k}`));
      columns.push(...item.columns.map(([c, isText]): [string, boolean] => [`i${i}.${c}`, isText]));
    }
    return { from, columns, value: columns.map(([c], i) => `${c} AS c${i}`).join(', ') };
  }

  next(): string {
    const rng = this.#rng;
    const { from, columns, value } = this.#joined();
    const renamed = (alias: string): Columns => columns.map(([, isText], i) => [`${alias}.c${i}`, isText]);
    const inner = rng.chance(40) ? ` WHERE ${this.#where(columns)}` : '';
    return rng.pick([
      () => `SELECT label, v FROM dsvc.guest WHERE ${this.#where(ofGuest(''))}`,
      () => `SELECT label, v FROM dsvc.guest WHERE ${this.#where(ofGuest(''))}`,
      () => `SELECT label, COUNT(*) AS n, MAX("near[spot].size") AS m FROM dsvc.guest WHERE ${this.#where(ofGuest(''))} GROUP BY label`,
      () => `SELECT ${value} FROM ${from} WHERE ${this.#where(columns)}`,
      () => `SELECT ${value} FROM ${from} WHERE ${this.#where(columns)}`,
      () => `SELECT * FROM (SELECT ${value} FROM ${from}${inner}) q WHERE ${this.#where(renamed('q'))}`,
      () =>
        `WITH w AS (SELECT ${value} FROM ${from}${inner}) SELECT a.c0 AS a0, b.c0 AS b0, b.c1 AS b1 FROM w a LEFT JOIN w b ON a.c1 = b.c1 WHERE ${this.#where(renamed(rng.pick(['a', 'b'])))}`,
      () =>
        `SELECT g.label, q.c0 FROM dsvc.guest g ${rng.pick(['LEFT', 'FULL'])} JOIN (SELECT ${value} FROM ${from}${inner}) q ON q.c1 = g.town WHERE ${this.#where([...renamed('q'), ...ofGuest('g.')])}`,
      () =>
        `SELECT t.name FROM dsvc.town t WHERE ${rng.pick(['', 'NOT '])}EXISTS (SELECT 1 FROM dsvc.guest g WHERE g.town = t.tid AND ${this.#where(ofGuest('g.'))})`,
      () => `SELECT t.name, (SELECT COUNT(*) FROM dsvc.guest g WHERE g.town = t.tid AND ${this.#where(ofGuest('g.'))}) AS n FROM dsvc.town t`,
    ])();
  }

  /** Some of the tables, distributed. */
  placed(): Partial<PlanContext> {
    return this.#rng.chance(40) ? ALL : distributed(...['guest', 'town', 'land', 'isle'].filter(() => this.#rng.chance(60)));
  }
}

const comparesNull = (sql: string): number => sql.split('IS DISTINCT FROM NULL').length;

it(`generated statements have the same rows in ${SIZES.queries} cases`, { timeout: patience(120_000) }, async () => {
  await tables.db.exec(
    'BEGIN; UPDATE s.town SET name = NULL WHERE tid IN (3, 8); UPDATE s.town SET land = NULL WHERE tid = 4; UPDATE s.isle SET name = NULL WHERE iid = 11',
  );
  const queries = new Queries(`far ${SEED}`);
  const counts = { replaced: 0, rows: 0 };
  for (let n = 0; n < SIZES.queries; n++) {
    const query = queries.next();
    const placed = queries.placed();
    const expected = await tables.rows(query);
    for (const changes of [placed, { ...placed, rewrite: decorrelate }]) {
      const { sql } = tables.plan(query, changes);
      expect(await tables.rows(query, changes), `${query}\n${sql}`).toEqual(expected);
      if (comparesNull(sql) === comparesNull(tables.plan(query).sql)) continue;
      counts.replaced++;
      if (expected.length > 0) counts.rows++;
    }
  }
  await tables.db.exec('ROLLBACK');
  console.log(`far filters: ${JSON.stringify(counts)}`);
  expect(counts.rows).toBeGreaterThan(SIZES.queries / 8);
});
