/** Constant expressions and conversions that make PostgreSQL use much memory or time when it plans a statement, which it does not interrupt. */
import { describe, expect, it } from 'vitest';
import { Budget, PLAN_LIMITS } from '../../src/budget.ts';
import { faultOf } from '../unit/planner/company.ts';

const many = (n: number, text: string, between = ' OR '): string => Array(n).fill(text).join(between);
const range = (n: number, text: (i: number) => string, between = ', '): string => Array.from({ length: n }, (_, i) => text(i)).join(between);
const nested = (n: number, before: string, inner: string, after: string): string => before.repeat(n) + inner + after.repeat(n);
const outcome = (sql: string): string => faultOf(sql).replace(/:.*/s, '');

/** 3 MB that is read 1,000 times: PostgreSQL computes and keeps it once for each reference. */
const READ = many(1000, 'x IS NULL');
const TEXT = "repeat('x', 3000000)";
/** Rows in each other around a value. */
const rows = (value: string): string => `${nested(60, 'ROW(', value, ')')} IS NULL AS a`;
const LONG = "repeat('x', 20000000)";
/** Texts that become many values. */
const LIST = (n: number, item = '1'): string => `('{' || repeat('${item},', ${n}) || '${item}}')`;
const DOCUMENT = (n: number): string => `('[' || repeat('1,', ${n}) || '1]')`;
/** A number of copies that is no constant. */
const UNKNOWN = (item: string): string => `(SELECT '{' || repeat('${item},', i * 15000000) || '${item}}' AS t FROM generate_series(1, 1) i OFFSET 0) v`;

it.each([
  ['repeat', `SELECT ${nested(60, "length(repeat('x', 1 + ", '1', '))')} AS a`],
  ['round', `SELECT ${nested(60, 'length(round(2.5, abs(1 + ', '1', '))::text)')} AS a`],
])('calls in the length of each other are measured once: %s', (_what, sql) => {
  const budget = new Budget(PLAN_LIMITS, 'the plan');
  budget.run(() => faultOf(sql));
  expect(budget.steps).toBeGreaterThan(1_000);
  expect(budget.steps).toBeLessThan(60_000);
});

describe('are refused', () => {
  it.each([
    // 2.2 GB and 15 s, with a timeout of 3 s
    ['rows in each other', `SELECT ${nested(100, 'ROW(', "repeat('x', 30000000)", ')')} IS NULL AS a`],
    ['arrays in each other', `SELECT ${nested(5, 'ARRAY[', "repeat('x', 30000000)", ']')} IS NULL AS a`],
    // 1.6 GB, and more with each second
    ['a text of a sub-select', `SELECT ${READ} AS a FROM (SELECT ${TEXT} AS x) v`],
    ['a text of WITH', `WITH v AS NOT MATERIALIZED (SELECT ${TEXT} AS x) SELECT ${READ} AS a FROM v`],
    ['a text of VALUES', `SELECT ${READ} AS a FROM (VALUES (${TEXT})) v(x)`],
    ['a text of LATERAL', `SELECT ${READ} AS a FROM svc.town, LATERAL (SELECT ${TEXT} AS x) v`],
    ['a function in FROM', `SELECT ${READ} AS a FROM ${TEXT} AS v(x)`],
    ['a condition on a grouped text', `SELECT count(*) AS n FROM (SELECT ${TEXT} AS x FROM svc.town GROUP BY 1) v WHERE ${READ}`],
    ['an alias in ORDER BY', `SELECT ${TEXT} AS x FROM svc.town ORDER BY ${READ}`],
    ['an operand of BETWEEN', `SELECT ${many(500, "(x BETWEEN 'a' AND 'b') IS NULL")} AS a FROM (SELECT ${TEXT} AS x) v`],
    ['a condition on a concept with several mappings', "SELECT count(*) AS n FROM svc.party WHERE name <> repeat('x', 30000000)"],
    ['a text whose length is computed', `SELECT ${range(50, (i) => `repeat('x', abs(-30000000)) IS NULL AS x${i}`)}`],
    ['a text whose length is a product', `SELECT ${range(50, (i) => `repeat('x', 3000 * 10000) IS NULL AS x${i}`)}`],
    // 12 s
    ['powers of negative numbers', `SELECT ${range(300, (i) => `length(power(2.5, abs(-130000))::text) AS x${i}`)}`],
    ['a length from a negative number', "SELECT length(initcap(repeat('x', ascii(name) * 0 + abs(-600000000)))) AS a FROM svc.person"],
    // 1.2 GB and 6 s, with a timeout of 3 s
    ['a constant that COALESCE selects', `SELECT ${rows(`coalesce(${LONG}, name)`)} FROM svc.town`],
    ['a constant that CASE selects', `SELECT ${rows(`CASE WHEN true THEN ${LONG} ELSE name END`)} FROM svc.town`],
    ['NULL of an operator', `SELECT ${rows(`coalesce(NULL || name, ${LONG})`)} FROM svc.town`],
    ['a length that CASE selects', `SELECT ${rows("repeat('x', CASE WHEN true THEN 20000000 ELSE town_id::int END)")} FROM svc.town`],
    ['an array of a value that COALESCE selects', `SELECT ${rows('array_fill(coalesce(0, town_id::int), ARRAY[3000000])')} FROM svc.town`],
    ['a short text of a sub-select', `SELECT ${rows(`v.x, ${LONG}`)} FROM (SELECT 'a'::text AS x) v`],
    ['a short text of a function in FROM', `SELECT ${rows(`v.x, ${LONG}`)} FROM lower('X') AS v(x)`],
    ['a length of a sub-select', `SELECT ${rows("repeat('x', v.n)")} FROM (SELECT 20000000 AS n) v`],
    ['a length of VALUES', `SELECT ${rows("repeat('x', v.n * 100)")} FROM (VALUES (200000)) v(n)`],
    ['a length of a function in FROM', `SELECT ${rows("repeat('x', v.n)")} FROM abs(-20000000) AS v(n)`],
    ['slices', `SELECT ${nested(60, '(', "(ARRAY[repeat('x', 8000000)])", '[1:3])')} IS NULL AS a`],
    ['bits', `SELECT ${nested(300, '~(', "B'1'::bit(50000000)", ')')} IS NULL AS a`],
    ['a length less a negative number', `SELECT ${range(30, (i) => `repeat('x', 5 - -30000000) IS NULL AS x${i}`)}`],
    // 990 MB: for each column that is equal
    [
      'a text that many columns are equal to',
      `SELECT count(*) AS n FROM svc.town ${range(49, (i) => `JOIN svc.town t${i} USING (name)`, ' ')} WHERE name = repeat('x', 20000000)`,
    ],
  ])('constants: %s', (_what, sql) => {
    expect(outcome(sql)).toBe('too_complex');
  });

  // 2 MB of `1,` as jsonb[] take 2.4 GB and 16 s
  it.each([
    ['a document', `SELECT ${DOCUMENT(5_000_000)}::jsonb IS NULL AS a`],
    ['an array of documents', `SELECT ${LIST(200_000)}::jsonb[] IS NULL AS a`],
    ['an array of texts', `SELECT count(t::text[]) AS n FROM ${UNKNOWN('1')}`],
    ['a set of ranges', `SELECT ${LIST(1_000_000, '[1,2)')}::int4multirange IS NULL AS a`],
    ['an array of elements that become documents', `SELECT string_to_array(repeat('1,', 1000000), ',')::jsonb[] IS NULL AS a`],
    ['a document of unknown length', `SELECT count(t::jsonb) AS n FROM ${UNKNOWN('1')}`],
    ['an array of unknown length', `SELECT count(t::jsonb[]) AS n FROM ${UNKNOWN('1')}`],
    ['ranges of unknown length', `SELECT count(t::nummultirange) AS n FROM ${UNKNOWN('(,1)')}`],
    ['a column of a record', `SELECT count(*) AS n FROM json_to_record(('{"a":"{' || repeat('1,', 3000000) || '1}"}')::json) AS t(a jsonb[])`],
    [
      'a column of records',
      `SELECT count(*) AS n FROM json_to_recordset(('[{"a":"{' || repeat('[1,2),', 1000000) || '[1,2)}"}]')::json) AS t(a int4multirange)`,
    ],
  ])('conversions: %s', (_what, sql) => {
    expect(outcome(sql)).toBe('too_complex');
  });
});

it.each([
  "SELECT repeat('x', 3 * 4) AS a, repeat('x', abs(-3)) AS b, lpad('x', 3 * 4) AS c, repeat('x', -5) AS d, repeat('x', 2 + abs(-3)) AS f, array_fill(0, ARRAY[-1 + 3]) AS e",
  "SELECT repeat('=', extract(day from now())::int) AS a, repeat('*', (SELECT count(*) FROM svc.town)::int) AS b",
  `SELECT ${many(10, 'x IS NULL')} AS a FROM (SELECT ${TEXT} AS x) v`,
  `SELECT ${READ} AS a FROM (SELECT ${TEXT} AS x OFFSET 0) v`,
  "SELECT ROW(repeat('x', 10000000)) IS NULL AS a",
  `SELECT ${range(100, (i) => `(name::jsonb ->> '${i}') AS c${i}`)} FROM svc.town`,
  `SELECT '[${many(10_000, '1', ',')}]'::jsonb AS a, '{${many(5000, '1', ',')}}'::int[] AS b, '{${many(5000, '1', ',')}}'::jsonb[] AS c`,
  `SELECT ('[' || string_agg('{"a":' || name || '}', ',') || ']')::jsonb AS a FROM svc.town`,
  `SELECT array_agg(name)::text[] AS a, (SELECT json_agg(t) FROM svc.town t)::jsonb AS b FROM svc.town`,
  `WITH RECURSIVE r(t, n) AS (SELECT '1', 1 UNION ALL SELECT t || ',1', n + 1 FROM r WHERE n < 10) SELECT ('[' || t || ']')::jsonb AS a FROM r`,
  `SELECT t.* FROM svc.town x, jsonb_to_recordset(x.name::jsonb) AS t(${range(50, (i) => `c${i} jsonb, d${i} int[]`)})`,
  "SELECT coalesce(repeat('#', (town_id / 10)::int), '') || ' ' || 'x' AS a, upper(CASE WHEN town_id > 3 THEN repeat('#', town_id::int) ELSE '' END) AS b FROM svc.town",
  "WITH p AS (SELECT 30 AS width) SELECT rpad(t.name, p.width) || repeat('#', p.width) || '|' AS a, repeat('-', p.width * 2) AS b FROM svc.town t, p",
  "WITH p AS (SELECT extract(day from now() - date '2024-01-01')::int AS n, CURRENT_DATE AS d) SELECT repeat('#', n) || '|' AS a, repeat('#', extract(day from d)::int) AS b FROM p",
  "WITH p AS (SELECT name, repeat('#', town_id::int) AS bar FROM svc.town) SELECT upper(coalesce(bar, '-')) AS a, lower(bar) || '|' AS b FROM p",
  'SELECT * FROM jsonb_to_recordset((SELECT jsonb_agg(t) FROM svc.town t)) AS t(a int, b text, c jsonb)',
  `SELECT count(*) AS n FROM svc.town ${range(9, (i) => `JOIN svc.town t${i} USING (name)`, ' ')} WHERE name = '${many(12_000, 'x', '')}'`,
  'SELECT json_agg(round(salary, party_id::int)) AS m FROM svc.employee',
])('are usual: %#', (sql) => {
  expect(faultOf(sql)).toBe('no error');
});
