/** The object of a row of aggregates, made in their own block for a distributed datasource: it is the same text. Any database runs both forms. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { loadNodeParser } from '../../../src/cli/node-parser.ts';
import { ANYWHERE, targetFor } from '../../../src/planner/lower/placed.ts';
import { verify } from '../../../src/planner/verify/index.ts';
import { PlannedTables } from '../../support/planned.ts';

const parser = await loadNodeParser();
const TABLES = `CREATE SCHEMA s; CREATE TABLE s.stay (no integer PRIMARY KEY, g text, nights integer, price numeric(9, 2), rate float8, since timestamptz, tags text[]);
  INSERT INTO s.stay SELECT n, CASE WHEN n % 3 > 0 THEN E'g"\\\\' || n % 3 END, n % 5, n * 1.10, CASE n WHEN 4 THEN 'NaN' ELSE n / 7.0 END, timestamptz '2020-01-01 00:00:00Z' + n * interval '1 day 1.5 s', ARRAY['a', NULL]
    FROM generate_series(1, 20) n`;
const MODEL = `CREATE ONTOLOGY one_row;
  CREATE CONCEPT stay (no integer, g string, nights integer, price decimal, rate float, since timestamp, PRIMARY KEY (no));
  CREATE MAPPING m_stay INTO stay AS SELECT no, g, nights, price, rate, since FROM s.stay`;
const TARGET = targetFor(new Map([['["s","stay"]', { column: 'no', group: 1 }]]));

let tables: PlannedTables;
beforeAll(async () => {
  tables = await PlannedTables.open(TABLES, MODEL, 'one_row');
});
afterAll(() => tables?.close());

describe('the row is made where its values are computed', () => {
  it.each([
    'SELECT COUNT(*) AS n FROM svc.stay',
    'SELECT COUNT(*) AS "The ""n""", MAX(g) AS "ä:{}" FROM svc.stay',
    'SELECT SUM(price) AS a, AVG(price) AS b, MAX(rate) AS c, MIN(since) AS d, BOOL_AND(nights < 9) AS e, MAX(g) AS f FROM svc.stay',
    'SELECT SUM(nights) AS none, COUNT(g) AS n, MAX(g) AS g FROM svc.stay WHERE no > 99',
    'SELECT JSON_AGG(nights ORDER BY no) AS list, ARRAY_AGG(g ORDER BY no DESC) AS texts, STRING_AGG(g, \'","\' ORDER BY no) AS joined FROM svc.stay WHERE no < 5',
    'SELECT COUNT(*) AS n FROM svc.stay HAVING COUNT(*) > 19',
    'SELECT COUNT(*) AS n FROM svc.stay HAVING COUNT(*) > 20',
    "SELECT CASE WHEN COUNT(*) > 3 THEN 'many' ELSE NULL END AS many, COUNT(*) FILTER (WHERE nights > 3) * 1.50 AS x FROM svc.stay ORDER BY 1",
    'SELECT COUNT(*) AS n, MAX(g) AS g FROM svc.stay ORDER BY n DESC, 1, MAX(g)',
    'WITH few AS (SELECT nights FROM svc.stay WHERE no < 9) SELECT SUM(nights) AS n, (SELECT MAX(nights) FROM few) AS m FROM few',
    'SELECT SUM(n) AS n FROM (SELECT nights, COUNT(*) AS n FROM svc.stay GROUP BY nights) q',
  ])('%s', async (query) => {
    const { sql, declared, rowLength } = tables.plan(query, { target: () => TARGET });
    verify(parser, sql, declared);
    expect(sql).not.toContain('row_to_json');
    // it says which values there are, so answers of other plans are not kept under the same key
    expect(rowLength).toBe(0);
    expect(await tables.rows(query, { target: () => TARGET }), sql).toEqual(await tables.rows(query));
  });

  it('with the limit of the request', async () => {
    for (const [options, rows] of [
      [{ limit: 5 }, 1],
      [{ limit: 0 }, 0],
      [{ offset: 1 }, 0],
      [{ limit: 3, offset: 0 }, 1],
    ] as const) {
      const { sql } = tables.plan('SELECT COUNT(*) AS n FROM svc.stay ORDER BY n', { target: () => TARGET }, options);
      expect(sql).not.toContain('row_to_json');
      expect((await tables.db.query(sql)).rows, sql).toHaveLength(rows);
    }
  });
});

describe('the row is made outside', () => {
  it.each([
    'SELECT g, COUNT(*) AS n FROM svc.stay GROUP BY g',
    'SELECT no FROM svc.stay',
    'SELECT DISTINCT COUNT(*) AS n FROM svc.stay',
    'SELECT COUNT(*) AS n FROM svc.stay LIMIT 1',
    'SELECT 1 AS one, COUNT(*) AS n FROM svc.stay',
    'SELECT COUNT(*) OVER () AS n FROM svc.stay',
    'SELECT COUNT(*) AS n, random() < 2 AS r FROM svc.stay',
    'SELECT COUNT(*) AS n FROM svc.stay UNION ALL SELECT 1',
    `SELECT 'a' COLLATE "C" AS c, COUNT(*) AS n FROM svc.stay`,
    'SELECT COUNT(*) AS n FROM svc.stay ORDER BY GENERATE_SERIES(1, 3)',
    'SELECT COUNT(*) AS n FROM svc.stay ORDER BY n, MAX(g)',
    // deeper than an expression of PostgreSQL may be
    `SELECT ${Array.from({ length: 1600 }, (_, i) => `SUM(nights + ${i}) AS c${i}`).join(', ')} FROM svc.stay`,
  ])('%s', async (query) => {
    const { sql, rowLength } = tables.plan(query, { target: () => TARGET });
    expect(sql).toContain('row_to_json');
    expect(rowLength).toBeGreaterThan(0);
    expect(await tables.rows(query, { target: () => TARGET }), sql).toEqual(await tables.rows(query));
  });

  it.each([
    // these aggregates are those of sub-queries: PostgreSQL has a row of each stay
    'SELECT (SELECT SUM(u.x) FROM UNNEST(ARRAY[nights, no]) AS u(x)) AS s FROM svc.stay ORDER BY s DESC',
    'SELECT (SELECT SUM(u) FROM GENERATE_SERIES(1, no) u) AS s FROM svc.stay ORDER BY no DESC',
    'SELECT (SELECT MAX(x) FROM (VALUES (no), (nights)) v(x)) AS s FROM svc.stay ORDER BY s DESC',
  ])('and in the order of the query: %s', async (query) => {
    const plan = tables.plan(query, { target: () => TARGET });
    const plain = tables.plan(query);
    const { rows } = await tables.db.query(plan.sql, [...plan.params]);
    expect(rows, plan.sql).toHaveLength(20);
    expect(rows, plan.sql).toEqual((await tables.db.query(plain.sql, [...plain.params])).rows);
  });

  it('if ORDER BY reads a value of the caller, or may raise an error', async () => {
    const run = (query: string, bound: string[]) => {
      const { sql, params } = tables.plan(query, { target: () => TARGET }, { bound });
      return tables.db.query(sql, [...params]);
    };
    expect((await run('SELECT COUNT(*) AS n FROM svc.stay ORDER BY COUNT(*) + $1', ['1'])).rows).toEqual([{ row: { n: 20 } }]);
    expect((await run('SELECT COUNT(*) AS n FROM svc.stay WHERE no > $1 ORDER BY MAX(nights) + $2', ['1', '2'])).rows).toEqual([{ row: { n: 19 } }]);
    await expect(run('SELECT COUNT(*) AS n FROM svc.stay ORDER BY 1 / (COUNT(*) - 20)', [])).rejects.toThrow('division by zero');
    await expect(run('SELECT COUNT(*) AS n FROM svc.stay ORDER BY 3', [])).rejects.toThrow();
  });

  it('if a function of the datasource may return several rows, or has the name of an aggregate', async () => {
    await tables.db.exec(`CREATE SCHEMA own; CREATE FUNCTION own.twice(integer) RETURNS SETOF integer LANGUAGE sql IMMUTABLE AS 'SELECT $1 UNION ALL SELECT $1 + 1';
      CREATE FUNCTION own.max(integer) RETURNS integer LANGUAGE sql IMMUTABLE AS 'SELECT $1'`);
    const allowedFunctions = new Set(['own.twice', 'own.max']);
    for (const [query, count] of [
      ['SELECT COUNT(*) AS n, own.twice(3) AS t FROM svc.stay', 2],
      ['SELECT own.max(nights) AS m FROM svc.stay', 20],
    ] as const) {
      const found = await tables.rows(query, { target: () => TARGET, allowedFunctions });
      expect(found).toHaveLength(count);
      expect(found).toEqual(await tables.rows(query, { allowedFunctions }));
      expect(tables.plan(query, { target: () => TARGET, allowedFunctions }).sql).toContain('row_to_json');
    }
  });

  it('if no table is known to be distributed', () => {
    for (const target of [targetFor(new Map([['["s","stay"]', null]])), ANYWHERE])
      expect(tables.plan('SELECT COUNT(*) AS n FROM svc.stay', { target: () => target }).sql).toContain('row_to_json');
  });
});
