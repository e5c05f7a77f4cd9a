/** The names of unaliased columns, against those that PostgreSQL itself gives. */
import type { PGlite } from '@electric-sql/pglite';
import type { Node } from '@pgsql/types';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { loadNodeParser } from '../../../src/cli/node-parser.ts';
import { compile } from '../../../src/ontology/compile.ts';
import { EMPTY_MODEL } from '../../../src/ontology/model.ts';
import { planSelect } from '../../../src/planner/index.ts';
import { columnName } from '../../../src/planner/read/names.ts';
import { memoryDatabase } from '../../support/databases/memory.ts';
import { generated, patience } from '../../support/generated.ts';
import { sizesOf } from '../../support/sizes.ts';

const SIZES = sizesOf('integration/planner/names');

const parser = await loadNodeParser();
let db: PGlite;
beforeAll(async () => {
  db = await memoryDatabase();
});
afterAll(() => db.close());

const FROM = `FROM (SELECT 1 AS a, 'x'::text AS "B c", ARRAY[1, 2] AS arr, '{"k": [1]}'::jsonb AS j, ROW(1, 'y') AS rec, DATE '2024-01-02' AS d) t`;

/** The names in the parse tree of a select list. */
function plannedNames(list: string): string[] {
  const stmt = parser.parse(`SELECT ${list} ${FROM}`).stmts[0]?.stmt as { SelectStmt: { targetList: Node[] } };
  return stmt.SelectStmt.targetList.map((t) => columnName(('ResTarget' in t ? t.ResTarget.val : undefined) as Node));
}
const given = async (list: string): Promise<string[]> => (await db.query(`SELECT ${list} ${FROM} LIMIT 0`)).fields.map((f) => f.name);

describe('the name of a column', () => {
  it.each([
    'a, t.a, "B c", t."B c", (a), (t).a, (((a)))',
    '1, NULL, true, $$x$$, 1.5, -1, - a, +a, a + 1, NOT true, a IS NULL, true IS UNKNOWN, a = 1, a IN (1, 2), a BETWEEN 1 AND 2, "B c" LIKE $$x$$',
    "a::text, 1::text, 1::pg_catalog.int8, 'x'::varchar(3), (a + 1)::numeric(3, 1), CAST(1 AS double precision), CAST(a AS double precision), 1::int::text, '{1}'::int[], (SELECT 1)::text",
    "date '2024-01-01', interval '1' day, timestamptz '2024-01-01', bool 'true', B'1', char 'x', 'x'::char, 1::float, 1::real, 1::bigint, true::bool",
    'arr[1], arr[1:2], (arr)[1], (ARRAY[1, 2])[1], (array_agg(a) OVER ())[1], (array_append(arr, 1))[2]',
    "j -> 'k', j['k'], j['k'][0], (j)['k'], j #> '{k}'",
    'upper("B c"), pg_catalog.upper("B c"), UPPER("B c"), "upper"("B c"), count(*) OVER (), sum(a) OVER (ORDER BY a), coalesce(a, 1), nullif(a, 1), greatest(a, 1), least(a, 1)',
    "extract(year FROM d), substring('abc' FROM 1 FOR 2), position('a' IN 'abc'), trim('a'), trim(LEADING 'x' FROM 'a'), trim(TRAILING FROM 'a'), overlay('abc' PLACING 'x' FROM 1), normalize('a'), 'a' IS NORMALIZED, d::timestamp AT TIME ZONE 'UTC', (d, d) OVERLAPS (d, d), 'a' SIMILAR TO 'b', COLLATION FOR ('a'::text)",
    'CASE WHEN true THEN a END, CASE WHEN true THEN 1 ELSE a END, CASE WHEN true THEN a ELSE 1 END, CASE WHEN true THEN 1 ELSE abs(a) END, CASE a WHEN 1 THEN 2 ELSE (SELECT 1 AS z) END, CASE WHEN true THEN 1 ELSE 2::bigint END',
    'ARRAY[1], ARRAY[a], ARRAY(SELECT 1), ROW(1), ROW(a, 1), (a, 1), EXISTS (SELECT 1), NOT EXISTS (SELECT 1), 1 = ANY (SELECT 1), 1 IN (SELECT 1), (a, 1) = (SELECT 1, 1)',
    '(SELECT 1), (SELECT a), (SELECT 1 AS z), (SELECT z FROM (SELECT 1 AS z) q), (SELECT 1 AS y UNION SELECT 2 AS x), (VALUES (1)), (SELECT upper($$x$$)), (SELECT 1::text), ((SELECT 1 AS z) + 1), (SELECT (SELECT 1 AS z))',
    '"B c" COLLATE "C", upper("B c") COLLATE "C", $$x$$ COLLATE "C"',
    'current_date, current_time, current_time(0), current_timestamp, current_timestamp(0), localtime, localtime(0), localtimestamp, localtimestamp(0)',
    "json_object('a': 1), json_object('{a,1}'), json_array(1), json_array(SELECT 1), json_value('1', '$'), json_query('1', '$'), json_exists('1', '$'), json_scalar(1), json_serialize('1'), json('1'), '1' IS JSON",
    'make_interval(days => 1), concat(VARIADIC ARRAY[$$a$$]), gen_random_uuid()',
  ])('%s', async (list) => expect(plannedNames(list)).toEqual(await given(list)));

  it.each([
    'count(*), sum(a), array_agg(a ORDER BY a), percentile_cont(0.5) WITHIN GROUP (ORDER BY a), count(*) FILTER (WHERE true), mode() WITHIN GROUP (ORDER BY a)',
    "json_objectagg('a': a), json_arrayagg(a), json_agg(a)",
  ])('of an aggregate: %s', async (list) => expect(plannedNames(list)).toEqual(await given(list)));

  it('of GROUPING', async () => {
    const sql = `SELECT grouping(a) ${FROM} GROUP BY ROLLUP (a)`;
    const stmt = parser.parse(sql).stmts[0]?.stmt as { SelectStmt: { targetList: { ResTarget: { val: Node } }[] } };
    expect(stmt.SelectStmt.targetList.map((t) => columnName(t.ResTarget.val))).toEqual((await db.query(sql)).fields.map((f) => f.name));
  });
});

/** Expressions of type integer, text or array, from the forms whose names depend on what is inside. */
const { expression } = fc.letrec<{ readonly expression: string; readonly int: string; readonly text: string; readonly array: string }>((tie) => {
  const int = tie('int');
  const text = tie('text');
  return {
    int: fc.oneof(
      { depthSize: 'small', withCrossShrink: true },
      fc.constantFrom('a', 't.a', '1', '(t).a', 'NULL::int', 'extract(day FROM d)::int'),
      int.map((e) => `(${e})`),
      int.map((e) => `(${e})::int`),
      int.map((e) => `abs(${e})`),
      int.map((e) => `- (${e})`),
      int.map((e) => `(SELECT ${e})`),
      int.map((e) => `(SELECT ${e} AS "Inner")`),
      int.map((e) => `(SELECT ${e} UNION ALL SELECT 2 AS second LIMIT 1)`),
      fc.tuple(int, int).map(([x, y]) => `(${x} + ${y})`),
      fc.tuple(int, int).map(([x, y]) => `coalesce(${x}, ${y})`),
      fc.tuple(int, int).map(([x, y]) => `nullif(${x}, ${y})`),
      fc.tuple(int, int).map(([x, y]) => `greatest(${x}, ${y})`),
      fc.tuple(int, int).map(([x, y]) => `CASE WHEN true THEN ${x} ELSE ${y} END`),
      int.map((e) => `CASE WHEN true THEN ${e} END`),
      tie('array').map((e) => `(${e})[1]`),
      text.map((e) => `length(${e})`),
    ),
    text: fc.oneof(
      { depthSize: 'small', withCrossShrink: true },
      fc.constantFrom('"B c"', "'x'", "(j ->> 'k')", 't."B c"', "text 'y'"),
      text.map((e) => `upper(${e})`),
      text.map((e) => `(${e})::varchar(5)::text`),
      text.map((e) => `(${e}) COLLATE "C"`),
      int.map((e) => `CAST(${e} AS text)`),
      text.map((e) => `trim(${e})`),
      fc.tuple(text, text).map(([x, y]) => `(${x} || ${y})`),
    ),
    array: fc.oneof(
      { depthSize: 'small', withCrossShrink: true },
      fc.constantFrom('arr', 't.arr'),
      int.map((e) => `ARRAY[${e}]`),
      int.map((e) => `ARRAY(SELECT ${e})`),
      tie('array').map((e) => `(${e})[1:1]`),
      tie('array').map((e) => `(${e})::int[]`),
    ),
    expression: fc.oneof(int, text, tie('array')),
  };
});

describe('a sub-select with a star', () => {
  const graph = compile(EMPTY_MODEL, 'empty');
  it.each([
    '(SELECT * FROM (SELECT 1 AS z) q)',
    '(SELECT q.* FROM (SELECT 1 AS "Zed") q)::text',
    '(SELECT * FROM (SELECT 1) q)',
    '(SELECT (SELECT * FROM (SELECT 1 AS z) q))',
    '(SELECT * FROM (SELECT 1 AS z) q UNION SELECT 1)',
    '(SELECT * FROM (VALUES (1)) q)',
    '(SELECT * FROM generate_series(1, 1))',
    '(WITH w AS (SELECT 1 AS z) TABLE w)',
    'CASE WHEN true THEN 1 ELSE (SELECT * FROM (SELECT 1 AS z) q) END',
    'abs((SELECT * FROM (SELECT 1 AS z) q))',
  ])('names its column as PostgreSQL does: %s', async (item) => {
    const plan = planSelect({ graph, parser, product: 'svc', activeDatasource: 'main' }, { text: `SELECT ${item}`, offset: 0 });
    const { rows } = await db.query<{ row: object }>(plan.sql);
    expect(Object.keys(rows[0]?.row ?? {})).toEqual((await db.query(`SELECT ${item}`)).fields.map((f) => f.name));
  });
});

describe('the names of generated expressions', () => {
  it(
    'are those of PostgreSQL',
    async () => {
      await fc.assert(
        fc.asyncProperty(fc.array(expression, { minLength: 1, maxLength: 8 }), async (list) => {
          expect(plannedNames(list.join(', '))).toEqual(await given(list.join(', ')));
        }),
        generated(SIZES.lists, SIZES.lists),
      );
    },
    patience(60_000),
  );
});

it('has a name over 63 bytes in a refusal as the caller wrote it', () => {
  const graph = compile(EMPTY_MODEL, 'empty');
  const long = 'f'.repeat(80);
  const text = `SELECT ${long}(1)`;
  expect(() => planSelect({ graph, parser, product: 'svc', activeDatasource: 'main' }, { text, offset: 0 })).toThrow(`function \`${long}\` is not allowed`);
});
