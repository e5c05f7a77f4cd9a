/** Statements whose tables are all collected, for a distributed datasource that refuses them: they have the rows of those that are written. Any database runs both. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { loadNodeParser } from '../../../src/cli/node-parser.ts';
import { decorrelate } from '../../../src/planner/lower/decorrelate.ts';
import { targetFor } from '../../../src/planner/lower/placed.ts';
import { verify } from '../../../src/planner/verify/index.ts';
import { PlannedTables } from '../../support/planned.ts';

const parser = await loadNodeParser();
const REWRITE = { rewrite: decorrelate.next };
const TABLES = `CREATE SCHEMA s; CREATE TABLE s.town (tid integer PRIMARY KEY, name text, size text); INSERT INTO s.town SELECT n, 't' || n % 4, CASE WHEN n = 3 THEN 'large' ELSE n::text END FROM generate_series(1, 9) n;
  CREATE TABLE s.guest (id bigint PRIMARY KEY, label text, kind text, town integer, v integer); INSERT INTO s.guest SELECT n, 'g' || n % 3, CASE WHEN n % 2 = 0 THEN 'a' ELSE 'b' END, nullif(n % 11, 5), n FROM generate_series(1, 40) n;
  CREATE TABLE s.stay (no integer PRIMARY KEY, g bigint, nights integer); INSERT INTO s.stay SELECT n, n % 40, n % 5 FROM generate_series(1, 60) n`;
const MODEL = `CREATE ONTOLOGY all_rows;
  CREATE CONCEPT town (tid integer, name string, size integer, PRIMARY KEY (tid));
  CREATE CONCEPT guest (id integer, label string, town integer, v integer, PRIMARY KEY (id), CONSTRAINT lives_in FOREIGN KEY (town) REFERENCES town (tid) INVERSEOF houses);
  CREATE CONCEPT stay (no integer, g integer, nights integer, town_name string, PRIMARY KEY (no), CONSTRAINT by_guest FOREIGN KEY (g) REFERENCES guest (id) INVERSEOF stays);
  CREATE MAPPING m_town INTO town AS SELECT tid, name, size::integer AS size FROM s.town WHERE size <> 'large';
  CREATE MAPPING m_a INTO guest AS SELECT id, label, town, v FROM s.guest WHERE kind = 'a';
  CREATE MAPPING m_b INTO guest AS SELECT x.id, x.label, x.town, x.v FROM s.guest x WHERE x.kind = 'b';
  CREATE MAPPING m_stay INTO stay AS SELECT y.no, y.g, y.nights, t.name AS town_name FROM s.stay y LEFT JOIN s.guest x ON x.id = y.g LEFT JOIN s.town t ON t.tid = x.town`;

let tables: PlannedTables;
beforeAll(async () => {
  tables = await PlannedTables.open(TABLES, MODEL, 'all_rows');
});
afterAll(() => tables?.close());

/** A table in a statement, and one whose rows are collected. */
const TABLE = /(FROM|JOIN) s\.(town|guest|stay)\b/g;
const COLLECTED = /FROM s\.\w+(?: AS \w+)?(?: WHERE [^()]*)? OFFSET 0\)/g;
const count = (sql: string, pattern: RegExp): number => [...sql.matchAll(pattern)].length;

describe('all tables are collected', () => {
  it.each([
    'SELECT g.id, t.tid FROM svc.guest g, svc.town t WHERE g.v > 38',
    'SELECT g.id, t.tid FROM svc.guest g JOIN svc.town t ON g.town < t.tid AND g.label <> t.name WHERE g.v = 7',
    'SELECT label, "lives_in[town].name" FROM dsvc.guest WHERE "lives_in[town].name" = \'t1\'',
    'SELECT g.label, x.nights FROM svc.guest g LEFT JOIN LATERAL (SELECT s.nights FROM svc.stay s WHERE s.g = g.id ORDER BY s.no DESC LIMIT 1) x ON true',
    'SELECT t.tid FROM svc.town t WHERE t.tid NOT IN (SELECT g.town FROM svc.guest g WHERE g.v > 30 AND g.town > 5) AND t.tid > ANY (SELECT s.nights FROM svc.stay s)',
    'SELECT COUNT(*) AS n FROM svc.guest g, svc.town t',
    'SELECT id FROM svc.guest ORDER BY id LIMIT (SELECT COUNT(*) - 2 FROM svc.town)',
    'WITH RECURSIVE up AS (SELECT g.id, g.town FROM svc.guest g WHERE g.id = 40 UNION SELECT g.id, g.town FROM up u JOIN svc.guest g ON g.id = u.town) SELECT id FROM up',
    'SELECT town_name, SUM(nights) AS n, GROUPING(town_name) AS g FROM svc.stay GROUP BY ROLLUP (town_name)',
    'SELECT name, SUM("houses[guest].v") AS v, COUNT("houses[guest].stays[stay].no") AS n FROM dsvc.town GROUP BY name',
    'SELECT t.tid FROM svc.town t WHERE EXISTS (SELECT 1 FROM svc.guest g WHERE g.town = t.tid AND EXISTS (SELECT 1 FROM svc.stay s WHERE s.g = g.id AND s.nights < t.tid))',
    'SELECT id, random() < 2 AS r FROM svc.guest',
  ])('%s', async (query) => {
    const { sql, declared } = tables.plan(query, REWRITE);
    verify(parser, sql, declared);
    const rows = await tables.rows(query);
    expect(rows.length).toBeGreaterThan(0);
    expect(await tables.rows(query, REWRITE), sql).toEqual(rows);
    expect(count(sql, COLLECTED), sql).toBe(count(sql, TABLE));
  });
});

describe('a recursion reads no table', () => {
  it.each([
    'WITH RECURSIVE up AS (SELECT g.id, g.town FROM svc.guest g WHERE g.id = 40 UNION SELECT g.id, g.town FROM up u JOIN svc.guest g ON g.id = u.town) SELECT id FROM up ORDER BY id DESC LIMIT 3',
    `WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 4), few AS (SELECT t.tid, n.i FROM svc.town t JOIN n ON n.i = t.tid),
      up(id, depth) AS (SELECT f.tid, 0 FROM few f UNION ALL SELECT g.town, u.depth + 1 FROM up u JOIN svc.guest g ON g.id = u.id + 20 LEFT JOIN svc.town t ON t.tid = g.town WHERE u.depth < 3)
      SELECT u.id, u.depth, t.name FROM up u LEFT JOIN svc.town t ON t.tid = u.id ORDER BY 2, 1, 3`,
    `SELECT t.tid, (WITH RECURSIVE up(id) AS (SELECT t.tid UNION SELECT g.town FROM up u JOIN svc.guest g ON g.id = u.id AND EXISTS (SELECT 1 FROM svc.stay y WHERE y.g = g.id)) SELECT COUNT(*) FROM up) AS n
      FROM svc.town t ORDER BY t.tid`,
    `WITH RECURSIVE up AS (SELECT g.id, g.town, g.label FROM svc.guest g WHERE g.id = 40 UNION SELECT g.id, g.town, g.label FROM up u JOIN (SELECT x.id, x.town, x.label FROM svc.guest x ORDER BY x.id LIMIT 30) g ON g.id = u.town)
      SELECT label, COUNT(*) AS n FROM up GROUP BY label ORDER BY label`,
  ])('%s', async (query) => {
    const { sql, declared } = tables.plan(query, REWRITE);
    verify(parser, sql, declared);
    expect(await tables.rows(query, REWRITE), sql).toEqual(await tables.rows(query));
    const recursions = sql.split('WITH RECURSIVE ').slice(1);
    expect(recursions.length).toBeGreaterThan(0);
    for (const recursion of recursions) expect(recursion.slice(0, recursion.search(/ SELECT \* FROM \w+\)/))).not.toMatch(/ s\./);
  });
});

it('no query of the caller takes the place of a table that a recursion reads', async () => {
  for (let n = 1; n <= 12; n++) {
    const query = `WITH RECURSIVE up AS (WITH "~${n}" AS (SELECT 40 AS id, 7 AS town, 'a' AS kind) SELECT g.id, g.town FROM svc.guest g JOIN "~${n}" x ON x.id >= g.id AND g.id > 36
      UNION SELECT g.id, g.town FROM up u JOIN svc.guest g ON g.id = u.town) SELECT id FROM up`;
    const { sql, declared } = tables.plan(query, REWRITE);
    verify(parser, sql, declared);
    expect(sql).toContain('up AS MATERIALIZED');
    expect(await tables.rows(query, REWRITE), sql).toEqual(await tables.rows(query));
  }
});

it.each(['CYCLE id SET seen USING path', 'SEARCH DEPTH FIRST BY id SET place'])('a recursion with %s stays as it is', async (clause) => {
  const query = `WITH RECURSIVE up AS (SELECT g.id, 0 AS n FROM svc.guest g WHERE g.id > 36 UNION ALL SELECT g.id, u.n + 1 FROM up u JOIN svc.guest g ON g.id = u.id - 9 WHERE u.n < 3) ${clause} SELECT id, n FROM up`;
  const { sql } = tables.plan(query, REWRITE);
  expect(sql).not.toContain('MATERIALIZED');
  expect(await tables.rows(query, REWRITE)).toEqual(await tables.rows(query));
});

it('conditions of the mapping and of the caller are applied where rows are collected, and values are computed afterwards', () => {
  const { sql } = tables.plan("SELECT size FROM svc.town WHERE name = 't1'", REWRITE);
  expect(sql).toMatch(/size::integer::integer AS size FROM \(SELECT [^()]*FROM s\.town WHERE size <> 'large' AND name::text = 't1' OFFSET 0\) AS town/);
});

it('so are comparisons of the caller with several mappings', async () => {
  const query = "SELECT g.id, t.tid FROM svc.guest g JOIN svc.town t ON g.town < t.tid WHERE g.v = 7 AND g.label <> 'g2'";
  const { sql } = tables.plan(query, REWRITE);
  expect(await tables.rows(query, REWRITE)).toEqual(await tables.rows(query));
  expect(sql.match(/FROM s\.guest(?: AS x)? WHERE [^()]* AND (?:x\.)?v::integer = 7 [^()]*OFFSET 0\)/g) ?? sql).toHaveLength(2);
});

describe('mappings that join tables have the same rows', () => {
  const joined = 's.guest x LEFT JOIN s.town t ON t.tid = x.town';
  it.each([
    `SELECT x.id, x.label, t.name AS town_name FROM ${joined} WHERE t.tid IS NULL`,
    `SELECT x.id, x.label, t.name AS town_name FROM ${joined} WHERE t.name = 't1' OR t.name IS NULL`,
    `SELECT x.id, x.label, t.name AS town_name FROM ${joined} WHERE t.name IS DISTINCT FROM 't1'`,
    `SELECT x.id, x.label, t.name AS town_name FROM ${joined} WHERE coalesce(t.name, '') <> 't1'`,
    `SELECT x.id, x.label, t.name AS town_name FROM ${joined} WHERE t.name = 't1' AND x.v > 3`,
    `SELECT x.id, x.label, z.name AS town_name FROM ${joined} LEFT JOIN (s.stay y JOIN s.town z ON z.tid = y.nights) ON y.g = x.id WHERE z.name IS NULL`,
    'SELECT coalesce(x.id, -t.tid) AS id, x.label, t.name AS town_name FROM s.guest x FULL JOIN s.town t ON t.tid = x.town WHERE x.label IS NULL',
    'SELECT t.tid AS id, x.label, t.name AS town_name FROM s.guest x RIGHT JOIN s.town t ON t.tid = x.id + 3 WHERE x.label IS NULL',
    `SELECT x.id, x.label, x.kind AS town_name FROM s.guest x WHERE EXISTS (SELECT 1 FROM s.town t LEFT JOIN s.stay y ON y.no = t.tid + 58 WHERE t.tid = x.town AND y.no IS NULL)`,
    `SELECT j.p AS id, j.q AS label, j.r AS town_name FROM (${joined}) AS j (p, q, r)`,
    `SELECT j.id, j.label, j.name AS town_name FROM (${joined}) AS j`,
    `SELECT x.id, x.label, max(t.name) AS town_name FROM ${joined} GROUP BY x.id`,
    `SELECT x.id, min(x.label) AS label, max(t.name) AS town_name FROM ${joined} GROUP BY 1`,
    `SELECT x.id, x.label, max(t.name) AS town_name FROM ${joined} GROUP BY x.id, x.label HAVING x.id > 3`,
  ])('%s', async (mapping) => {
    const own = await tables.withModel(
      `CREATE ONTOLOGY one; CREATE CONCEPT found (id bigint, label string, town_name string, PRIMARY KEY (id)); CREATE MAPPING m INTO found AS ${mapping}`,
      'one',
    );
    const query = 'SELECT id, label, town_name FROM svc.found';
    const { sql, declared } = own.plan(query, REWRITE);
    verify(parser, sql, declared);
    const rows = await own.rows(query);
    expect(rows.length).toBeGreaterThan(0);
    expect(await own.rows(query, REWRITE), sql).toEqual(rows);
  });
});

it('EXISTS over collected rows, if it is no condition of WHERE by itself, has an OFFSET', async () => {
  const query = `SELECT g.id, EXISTS (SELECT 1 FROM svc.stay s WHERE s.g = g.id AND s.nights > g.v) AS e FROM svc.guest g
    WHERE EXISTS (SELECT 1 FROM svc.town t WHERE t.tid < g.town) AND (g.id = 3 OR NOT EXISTS (SELECT 1 FROM svc.town t WHERE t.tid > g.town))`;
  const { sql } = tables.plan(query, REWRITE);
  expect(await tables.rows(query, REWRITE)).toEqual(await tables.rows(query));
  expect(sql.match(/EXISTS \((?:[^()]|\((?:[^()]|\([^()]*\))*\))*? OFFSET 0\)/g)?.length).toBe(2);
});

it('EXISTS over common table expressions has one too, if the datasource is known to be distributed', async () => {
  const target = targetFor(new Map([[JSON.stringify(['s', 'guest']), { column: 'id', group: 1 }]]));
  const query = `WITH a AS MATERIALIZED (SELECT id, v FROM svc.guest), b AS MATERIALIZED (SELECT g, nights FROM svc.stay)
    SELECT a.id, EXISTS (SELECT 1 FROM b WHERE b.g = a.id) AS e FROM a WHERE a.v IN (SELECT nights FROM b)`;
  expect(tables.plan(query, { target: () => target }).sql).toContain('b.g = a.id OFFSET 0)');
  expect(tables.plan(query).sql).not.toContain('OFFSET 0');
  expect(await tables.rows(query, { target: () => target })).toEqual(await tables.rows(query));
});

it('the union of a recursion has no OFFSET, which PostgreSQL refuses, if the datasource is known to be distributed', async () => {
  const target = targetFor(new Map(['guest', 'town'].map((t, group) => [JSON.stringify(['s', t]), { column: t === 'guest' ? 'id' : 'tid', group }])));
  const query = `WITH RECURSIVE up AS (SELECT g.id, g.town FROM svc.guest g WHERE g.id = 40 UNION SELECT g.id, g.town FROM up u JOIN svc.guest g ON g.id = u.town)
    SELECT up.id, t.name FROM up JOIN svc.town t ON t.tid = up.id`;
  expect(await tables.rows(query, { target: () => target })).toEqual(await tables.rows(query));
});

it('so does EXISTS over a table that Citus does not know', async () => {
  const known = ['guest'].map((t) => [JSON.stringify(['s', t]), null] as const);
  const query = 'SELECT g.id, EXISTS (SELECT 1 FROM svc.town t WHERE t.tid = g.id) AS e FROM svc.guest g WHERE g.v IN (SELECT tid FROM svc.town)';
  const unknown = targetFor(new Map(known));
  expect(tables.plan(query, { target: () => unknown }).sql).toContain('t.tid = g.id OFFSET 0)');
  expect(await tables.rows(query, { target: () => unknown })).toEqual(await tables.rows(query));
  for (const town of [null, { column: 'tid', group: 1 }])
    expect(tables.plan(query, { target: () => targetFor(new Map([...known, [JSON.stringify(['s', 'town']), town]])) }).sql).not.toContain(
      't.tid = g.id OFFSET 0)',
    );
});

it('it is tried after the rewrites', () => {
  const plan = tables.plan('SELECT id FROM svc.guest', { rewrite: decorrelate });
  expect(plan.nextRewrite).toBe(decorrelate.next);
  expect(tables.plan('SELECT id FROM svc.guest', REWRITE).nextRewrite).toBeUndefined();
});
