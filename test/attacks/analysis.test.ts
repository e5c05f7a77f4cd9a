/**
 * An independent check of the SQL of plans: PostgreSQL's own analysis. The test creates a view of each statement that the planner accepts; all objects that PostgreSQL
 * resolved in it (functions, operators, types, relations, collations) must be on the verifier's lists. CASES=n uses n generated queries.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { loadNodeParser } from '../../src/cli/node-parser.ts';
import { type Declared, verify } from '../../src/planner/verify/index.ts';
import { type AnalysisDatabase, databases } from '../support/analysis/database.ts';
import { withLiterals } from '../support/analysis/literals.ts';
import { outside } from '../support/analysis/outside.ts';
import { forms } from '../support/corpora/forms.ts';
import { generatedCorpora } from '../support/corpora/generated.ts';
import type { Corpus, Planned } from '../support/corpora/index.ts';
import { written } from '../support/corpora/written.ts';
import { patience } from '../support/generated.ts';
import { sizesOf } from '../support/sizes.ts';
import { COLUMNS } from '../unit/planner/verify/columns.ts';
import { declared as small } from '../unit/planner/verify/verified.ts';

const SIZES = sizesOf('attacks/analysis');

const GENERATED = Number(process.env.CASES ?? SIZES.queries);

const parser = await loadNodeParser();
let all: readonly AnalysisDatabase[];
beforeAll(async () => {
  all = await databases();
});
afterAll(async () => {
  for (const db of all ?? []) await db.close();
});

/** Runs `work` with tables that are dropped afterwards. */
async function withTables<T>(db: AnalysisDatabase, tables: readonly string[], work: () => Promise<T>): Promise<T> {
  await db.run('BEGIN');
  try {
    for (const statement of tables) await db.run(statement);
    return await work();
  } finally {
    await db.run('ROLLBACK');
  }
}

/** Errors of the caller's own statement that only PostgreSQL detects; features that an older version does not have. */
const EXPECTED = [/^42803 /, /^42883 function any_value/, /^42601 syntax error at or near "(:|JSON|ABSENT|NULL|RETURNING)"/, /^42704 collation "de-x-icu"/];

interface Tried {
  statements: number;
  /** Statements that PostgreSQL does not accept as a view. */
  errors: number;
}

/** Objects outside of the lists in the statements of a corpus, in one database. */
async function findings(db: AnalysisDatabase, corpus: Corpus, planned: readonly Planned[], tried: Tried): Promise<string[]> {
  const statements = planned.map(({ plan }) => withLiterals(parser, plan.sql, plan.params));
  const analyses = await withTables(db, corpus.tables, () => db.analyse(statements));
  return analyses.flatMap((analysis, i) => {
    const { text, declared } = planned[i] as Planned;
    tried.statements++;
    if (analysis.error !== undefined) {
      tried.errors++;
      return EXPECTED.some((e) => e.test(analysis.error as string)) ? [] : [`${corpus.name}, ${db.version}: ${analysis.error}\n  ${text}`];
    }
    return outside(analysis, declared).map((found) => `${corpus.name}, ${db.version}: ${found}\n  ${text}\n  ${statements[i]}`);
  });
}

/** The statements of a corpus, or of one in `every` of its questions; each passes the verifier. */
function verified(corpus: Corpus, every = 1): Planned[] {
  const planned = [...corpus.planned(every)];
  for (const { plan, declared } of planned) verify(parser, plan.sql, declared);
  return planned;
}

let turn = 0;
/** The databases for the next corpus: all; or one, which is the embedded one every fourth time, because it takes three times as long as a server. */
const takingTurns = (): readonly AnalysisDatabase[] => {
  turn++;
  return SIZES.servers >= all.length ? all : all.slice(turn % 4 === 0 ? 0 : -1).slice(0, 1);
};

describe('what PostgreSQL resolves is on the lists', () => {
  it('in hand-written statements', { timeout: patience(120_000) }, async () => {
    const tried: Tried = { statements: 0, errors: 0 };
    const found: string[] = [];
    let asked = 0;
    for (const [i, corpus] of [forms(parser), ...written(parser)].entries()) {
      const planned = verified(corpus, i === 0 ? 1 : SIZES.everyQuestion);
      const dbs = takingTurns();
      asked += dbs.length * planned.length;
      found.push(...(await Promise.all(dbs.map((db) => findings(db, corpus, planned, tried)))).flat());
    }
    expect(found).toEqual([]);
    expect(tried.statements).toBe(asked);
    expect(tried.statements).toBeGreaterThan((1500 / SIZES.everyQuestion) * Math.min(SIZES.servers, all.length));
    expect(tried.errors).toBeLessThan(0.01 * tried.statements);
  });

  it(`in ${GENERATED} generated ones`, { timeout: patience(240_000) }, async () => {
    const tried: Tried = { statements: 0, errors: 0 };
    for (const corpus of generatedCorpora(parser, GENERATED, GENERATED)) {
      const dbs = takingTurns();
      const planned = verified(corpus);
      const found = await Promise.all(dbs.map((db) => findings(db, corpus, planned, tried)));
      expect(found.flat()).toEqual([]);
    }
    expect(tried.statements).toBeGreaterThan(0.8 * GENERATED);
    expect(tried.errors).toBeLessThan(0.01 * tried.statements);
  });

  it('in the columns and fields that the verifier accepts as such', async () => {
    const tables = [
      'CREATE SCHEMA s',
      'CREATE SCHEMA ext',
      'CREATE TABLE s.t (a text, b text, c text)',
      'CREATE TABLE s.u (a text, b text, c text)',
      'CREATE TABLE s."T x" (a text)',
      "CREATE FUNCTION ext.f(text) RETURNS text LANGUAGE sql IMMUTABLE AS 'SELECT $1'",
      "CREATE FUNCTION ext.f(int) RETURNS text LANGUAGE sql IMMUTABLE AS 'SELECT $1::text'",
    ];
    const wrapped = COLUMNS.map((sql) => `SELECT row_to_json(r) AS r FROM (${withLiterals(parser, sql, ['', ''])}) r`);
    for (const db of all) {
      const analyses = await withTables(db, tables, () => db.analyse(wrapped));
      const wrong = analyses.flatMap((a, i) => (a.error === undefined ? outside(a, small) : [a.error]).map((w) => `${w}\n  ${wrapped[i]}`));
      // JSON_VALUE is newer
      expect(wrong.filter((w) => db.version >= 170_000 || !w.includes('JSON_VALUE'))).toEqual([]);
    }
  });
});

describe('the reader of stored queries', () => {
  const TABLES = [
    'CREATE SCHEMA s',
    'CREATE SCHEMA other',
    'CREATE TABLE s.t (a int, b text, c regclass)',
    'CREATE TABLE s.secret (a int)',
    "CREATE FUNCTION other.plus(int, int) RETURNS int LANGUAGE sql IMMUTABLE AS 'SELECT $1 + $2'",
    'CREATE OPERATOR other.+ (LEFTARG = int, RIGHTARG = int, FUNCTION = other.plus)',
    "CREATE TYPE other.mood AS ENUM ('good')",
    'CREATE AGGREGATE other.total (int) (SFUNC = int4pl, STYPE = int)',
  ];
  const declared: Declared = { tables: [{ schema: 's', name: 't', columns: new Set(), isWhole: true }], functions: new Set(), params: 0 };
  interface Found {
    readonly what: string;
    readonly sql: string;
    readonly expected: RegExp | undefined;
    /** The first version that supports it. */
    readonly from?: number;
  }
  const FOUND = (
    [
      ['nothing', 'SELECT upper(b) AS x, a + 1 AS y FROM s.t ORDER BY a', undefined],
      [
        'nothing in names that look like fields',
        'SELECT ":funcid 2626".a AS ":funcid 2626", b AS "{X :opno 1}", 1 AS ":relid" FROM s.t AS ":funcid 2626"',
        undefined,
      ],
      ['a forbidden function', 'SELECT pg_sleep(1) IS NULL AS x', /^function pg_catalog\.pg_sleep/],
      ['a function in attribute notation', "SELECT ('search_path'::text).current_setting AS x", /^function pg_catalog\.current_setting/],
      ['a function of a row', 'SELECT t.pg_column_size AS x FROM s.t', /^function pg_catalog\.pg_column_size/],
      ['a function in FROM', 'SELECT x FROM pg_ls_dir($$.$$) x', /^function pg_catalog\.pg_ls_dir/],
      ['a function in ROWS FROM', 'SELECT x FROM ROWS FROM (generate_series(1, 2), pg_ls_dir($$.$$)) r (n, x)', /^function pg_catalog\.pg_ls_dir/],
      ['a window function of another schema', 'SELECT other.total(a) OVER () AS x FROM s.t', /^function other\.total/],
      ['an aggregate of another schema', 'SELECT other.total(a) AS x FROM s.t', /^function other\.total/],
      [
        'a text next to a regclass, which becomes one',
        "SELECT (CASE WHEN a = 1 THEN 's.secret' ELSE c END)::text AS x FROM s.t",
        /^type pg_catalog\.regclass \(.*consttype/,
      ],
      [
        'a text that becomes a regtype in CASE',
        "SELECT (CASE WHEN true THEN 'int4' ELSE pg_typeof(1) END)::text AS x",
        /^type pg_catalog\.regtype \(.*(casetype|consttype)/,
      ],
      ['the same in UNION', "SELECT x::text AS x FROM (SELECT pg_typeof(1) AS x UNION ALL SELECT 'int4') u", /^type pg_catalog\.regtype/],
      ['the same in VALUES', "SELECT x::text AS x FROM (VALUES (pg_typeof(1)), ('int4')) u (x)", /^type pg_catalog\.regtype/],
      ['a cast to regclass', "SELECT 'pg_class'::regclass::text AS x", /^type pg_catalog\.regclass/],
      ['a cast of an array to regclass', 'SELECT (ARRAY[b]::regclass[])::text AS x FROM s.t', /^type pg_catalog\._regclass/],
      ['another table', 'SELECT a FROM s.secret', /^relation s\.secret/],
      ['another table in a sub-query', 'SELECT a FROM s.t WHERE EXISTS (SELECT 1 FROM s.secret)', /^relation s\.secret/],
      ['a catalog', 'SELECT relname::text AS x FROM pg_class', /^relation pg_catalog\.pg_class/],
      ['the row of another table', 'SELECT NULL::s.secret IS NULL AS x', /^type s\.secret/],
      ['an operator of another schema', 'SELECT a OPERATOR(other.+) 1 AS x FROM s.t', /^operator other\.\+/],
      ['the function of an operator of another schema', 'SELECT a OPERATOR(other.+) 1 AS x FROM s.t', /^function other\.plus/],
      ['a type of another schema', "SELECT 'good'::other.mood::text AS x", /^type other\.mood/],
      ['XML', 'SELECT XMLELEMENT(NAME a)::text AS x', /^node XMLEXPR/],
      ['a sample of a table', 'SELECT a FROM s.t TABLESAMPLE system (1)', /^node TABLESAMPLECLAUSE/],
      ['a type that JSON is read as', "SELECT JSON_VALUE('\"pg_class\"', '$' RETURNING regclass)::text AS x", /^type pg_catalog\.regclass/, 170_000],
      ['a type that columns of JSON are read as', "SELECT x::text AS x FROM json_to_record('{}') AS r (x regclass)", /^type pg_catalog\.regclass/],
      ['nothing in a collation of the list', 'SELECT b COLLATE "ucs_basic" < $$x$$ AS x FROM s.t', undefined],
    ] as const
  ).map(([what, sql, expected, from]): Found => ({ what, sql, expected, ...(from === undefined ? {} : { from }) }));

  it.each(FOUND)('finds $what', async ({ sql, expected, from = 0 }) => {
    for (const db of all) {
      if (db.version < from) continue;
      const [analysis] = await withTables(db, TABLES, () => db.analyse([sql]));
      expect(analysis?.error).toBeUndefined();
      const found = outside(analysis as NonNullable<typeof analysis>, declared);
      if (expected === undefined) expect(found).toEqual([]);
      else
        expect(
          found.some((f) => expected.test(f)),
          `${found.join('\n')}`,
        ).toBe(true);
    }
  });

  it('reports why a statement is refused, and leaves no state', async () => {
    for (const db of all) {
      const [bad, good] = await withTables(db, TABLES, () => db.analyse(['SELECT nothing FROM s.t', 'SELECT a FROM s.t']));
      expect(bad?.error).toMatch(/^42703 /);
      expect(good?.resolved.map((r) => r.name)).toContain('t');
      expect(await db.query("SELECT count(*)::int AS n FROM pg_class WHERE relname IN ('made', 't')")).toEqual([{ n: 0 }]);
    }
  });
});
