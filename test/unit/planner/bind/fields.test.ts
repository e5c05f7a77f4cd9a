import { describe, expect, it } from 'vitest';
import { graphOf } from '../../../../examples/world/graph.ts';
import { loadNodeParser } from '../../../../src/cli/node-parser.ts';
import { SvcError } from '../../../../src/errors.ts';
import { compile } from '../../../../src/ontology/compile.ts';
import { checkModel, planSelect } from '../../../../src/planner/index.ts';
import { PlanState } from '../../../../src/planner/plan-state.ts';
import { context, faultOf, graph, sqlOf } from '../company.ts';

/** PostgreSQL calls current_setting in each of these. */
const CALLS = [
  "SELECT ('search_path').current_setting",
  'SELECT (\'search_path\')."current_setting"',
  "SELECT (CAST('search_path' AS text)).current_setting",
  "SELECT ('search_path'::text).current_setting.length",
  "SELECT (lower('search_path')).current_setting",
  "SELECT (ARRAY['search_path'])[1].current_setting",
  "SELECT ('a' || 'b').current_setting",
  "SELECT (CASE WHEN true THEN 'a' END).current_setting",
  "SELECT (SELECT 'a'::text).current_setting",
  "SELECT (ROW('a'::text)).f1.current_setting",
  "SELECT ((ROW('a'::text)).f1).current_setting",
  "SELECT (ROW('a'::text)).f2",
  "SELECT (jsonb_each('{}')).current_setting",
  "SELECT ((jsonb_each('{}')).key).current_setting",
  "SELECT ('SELECT 1').ts_stat",
  "SELECT (('SELECT 1').ts_stat).*",
  "SELECT ('x').*",
  'SELECT (NULL::int4).pg_stat_get_activity',
  'SELECT (2::float8).pg_sleep',
  "SELECT (ROW(ROW(1, 'a'), 2)).f1.f2",
  "SELECT (x.r).f1.f2 FROM (SELECT ROW(ROW(1, 'a'), 2) AS r) x",
  "SELECT (x.r).f2 FROM (SELECT (ROW(ROW(1, 'a'), 2)).f1 AS r) x",
  'SELECT (a).current_setting FROM (SELECT 1 AS a) y',
  'SELECT (y.a).current_setting FROM (SELECT 1 AS a) y',
  'SELECT (a)[1].current_setting FROM (SELECT ARRAY[1] AS a) y',
  'WITH y AS (SELECT 1 AS a) SELECT (a).current_setting FROM y',
  'SELECT (column1).current_setting FROM (VALUES (1)) y',
  "SELECT (column1).f1 FROM (VALUES (ROW('a'))) y",
  "SELECT (x).current_setting FROM unnest(ARRAY['a']) x",
  'SELECT (x).current_setting FROM generate_series(1, 2) x',
  'SELECT (name).upper FROM svc.employee',
  'SELECT (e.name).upper FROM svc.employee e',
  'SELECT (entity_id).length FROM svc.employee',
  'SELECT ("works_for[firm].name").md5 FROM dsvc.employee',
  'SELECT (nickname).upper FROM dsvc.employee',
  'SELECT (_type_of_rich).text FROM dsvc.employee',
  'SELECT (max(name)).upper FROM svc.employee',
  "SELECT 1 AS x FROM svc.employee WHERE (name).upper = 'A'",
  'SELECT name AS n FROM svc.employee GROUP BY name HAVING (max(name)).upper IS NULL',
  'SELECT name AS n FROM svc.employee ORDER BY (n).upper',
  'SELECT count(*) FILTER (WHERE (name).upper IS NULL) AS n FROM svc.employee',
  'SELECT count(*) OVER (PARTITION BY (name).upper) AS n FROM svc.employee',
  'SELECT 1 AS x FROM svc.employee a JOIN svc.employee b ON (a.name).upper = b.name',
  'SELECT 1 AS x FROM svc.employee e, LATERAL (SELECT (e.name).upper) x',
  'SELECT 1 AS x FROM svc.employee e, generate_series(1, (e.name).length) g',
  'SELECT 1 AS x LIMIT (1).int4',
  "SELECT (x.r).f2 FROM (SELECT ROW('a') AS r UNION SELECT ROW('b')) x",
  'SELECT 1 AS x FROM svc.employee WHERE EXISTS (SELECT (name).upper)',
];

/** PostgreSQL reads each of these as a function of a whole row. */
const NO_COLUMNS: readonly (readonly [string, string])[] = [
  ['SELECT (e).to_jsonb FROM svc.employee e', 'unknown_column'],
  ['SELECT (e.*).to_jsonb FROM svc.employee e', 'unknown_column'],
  ['SELECT e.to_jsonb FROM svc.employee e', 'unknown_property'],
  ['SELECT e.text FROM svc.employee e', 'unknown_property'],
  ['SELECT (y).row_to_json FROM (SELECT 1 AS x) y', 'unknown_column'],
  ['SELECT y.row_to_json FROM (SELECT 1 AS x) y', 'unknown_column'],
  ['WITH y AS (SELECT 1 AS x) SELECT (y).to_jsonb FROM y', 'unknown_column'],
  ['WITH y AS (SELECT 1 AS x) SELECT y.row_to_json FROM y', 'unknown_column'],
  ["SELECT (e).to_json FROM jsonb_each('{}') e", 'unknown_column'],
  ["SELECT x.current_setting FROM unnest(ARRAY['a']) x", 'unknown_column'],
  ['SELECT (e)."works_for[firm].name" FROM svc.employee e', 'wrong_schema'],
];

const codeOf = (make: () => unknown): string => {
  try {
    make();
  } catch (e) {
    if (e instanceof SvcError) return e.code;
    throw e;
  }
  return 'accepted';
};

describe('a field that may be a call is refused', () => {
  it.each(CALLS)('%s', (sql) => expect(codeOf(() => sqlOf(sql))).toBe('forbidden_function'));
  it.each(NO_COLUMNS)('%s', (sql, code) => expect(codeOf(() => sqlOf(sql))).toBe(code));

  it('with the position of the value', () => {
    expect(faultOf('SELECT name, («e».name).upper FROM svc.employee e')).toMatch(/^forbidden_function: `upper` is not known to be a field of this value/);
    expect(faultOf("SELECT 1, («'a'»).upper")).toMatch(/^forbidden_function: `upper` [^(]*$/);
    expect(faultOf('SELECT («e»).upper FROM svc.employee e')).toMatch(/^unknown_column: unknown column `upper` of `e`[^(]*$/);
  });
});

describe('a known field of a value', () => {
  it.each([
    ['SELECT (e).name AS a FROM svc.employee e', 'SELECT e.name AS a FROM svc.employee e'],
    ['SELECT (e).name FROM svc.employee e', 'SELECT e.name FROM svc.employee e'],
    ['SELECT (e.*).name AS a FROM svc.employee e', 'SELECT e.name AS a FROM svc.employee e'],
    ['SELECT (e).* FROM svc.employee e', 'SELECT e.* FROM svc.employee e'],
    ['SELECT (e)."works_for[firm].name" AS a FROM dsvc.employee e', 'SELECT e."works_for[firm].name" AS a FROM dsvc.employee e'],
    [
      "SELECT e.name AS a FROM svc.employee e WHERE (e).name = 'x' ORDER BY (e).name",
      "SELECT e.name AS a FROM svc.employee e WHERE e.name = 'x' ORDER BY e.name",
    ],
    ['SELECT (e).name AS a, count(*) AS n FROM svc.employee e GROUP BY e.name', 'SELECT e.name AS a, count(*) AS n FROM svc.employee e GROUP BY e.name'],
    ['SELECT (x).a FROM (SELECT name AS a FROM svc.employee) x', 'SELECT x.a FROM (SELECT name AS a FROM svc.employee) x'],
    ['WITH x AS (SELECT name AS a FROM svc.employee) SELECT (x).a FROM x', 'WITH x AS (SELECT name AS a FROM svc.employee) SELECT x.a FROM x'],
    ["SELECT (e).key AS k FROM jsonb_each('{}') e", "SELECT e.key AS k FROM jsonb_each('{}') e"],
    ['SELECT (s).salary FROM vsvc.staff s', 'SELECT s.salary FROM vsvc.staff s'],
  ])('%s', (field, plain) => expect(sqlOf(field)).toBe(sqlOf(plain)));

  it.each([
    ['SELECT (ROW(name, 1)).f1 AS a FROM svc.employee', /\(ROW\(.*\)\)\.f1/],
    ["SELECT (jsonb_each('{}')).key AS a", /\(jsonb_each\('\{\}'\)\)\.key/],
    ['SELECT (x.r).f2 AS a FROM (SELECT ROW(1, name) AS r FROM svc.employee) x', /\(x\.r\)\.f2/],
    ['WITH x (q) AS (SELECT ROW(1, name) FROM svc.employee) SELECT (q).f2 AS a FROM x', /\(x\.q\)\.f2/],
    ['SELECT ROW(1, 2) AS r FROM svc.employee ORDER BY (r).f1', /\(ROW\(1, 2\)\)\.f1 AS ("~\d+").* ORDER BY \1\)/],
    ["SELECT (ARRAY['a'])[1] AS a, (string_to_array('a', ','))[1:2] AS b", /\[1:2\]/],
  ])('%s', (sql, printed) => expect(sqlOf(sql)).toMatch(printed));

  it('the star of a composite value expands to its fields', () => {
    expect(planSelect(context, { text: "SELECT (jsonb_each('{}')).*, (ROW(1, 2)).*", offset: 0 }).columns).toEqual(['key', 'value', 'f1', 'f2']);
  });
});

describe('in the texts of a model', () => {
  const made = (script: string) => graphOf(`CREATE CONCEPT c (k bigint, n string, p string, PRIMARY KEY (k)); ${script}`, 'm', parser);
  const check = (kind: Parameters<typeof checkModel>[2][number]['kind'], name: string, script: string): string =>
    codeOf(() => checkModel(made(script), parser, [{ kind, name, offset: 0 }]));

  it.each([
    ['property', 'q', "CREATE PROPERTY q string AS SELECT ('search_path').current_setting"],
    ['property', 'q', 'CREATE PROPERTY q string AS SELECT (n).upper'],
    ['measure', 'm', 'CREATE MEASURE m bigint AS SELECT COUNT((n).upper)'],
    ['measure', 'm', "CREATE MEASURE m bigint AS SELECT COUNT(n) WHERE (n).upper = 'A'"],
    ['view', 'v', 'CREATE VIEW v AS SELECT (n).upper AS u FROM svc.c'],
    ['mapping', 'mm', 'CREATE MAPPING mm INTO c AS SELECT id AS k, (name).upper AS n FROM raw.t'],
    ['logic', 'l', "CREATE CONCEPT l INHERITS (c) FROM svc.c WHERE (n).upper = 'A'"],
  ] as const)('%s', (kind, name, script) => expect(check(kind, name, script)).toBe('forbidden_function'));
});

const parser = await loadNodeParser();

describe('in SQL over tables', () => {
  const work = new PlanState(context);
  const run = (sql: string): string => work.texts.tableSql({ sql, columns: [] } as never);
  it.each([
    ['SELECT t.a FROM raw.t', 'SELECT t.a FROM raw.t'],
    ['SELECT (t).a, (x).b FROM t, raw.u AS x', 'SELECT t.a, x.b FROM public.t, raw.u AS x'],
    ['SELECT (x.*).a FROM raw.t x WHERE (x).b = 1', 'SELECT x.a FROM raw.t AS x WHERE x.b = 1'],
    ['SELECT x.a, t.count FROM (SELECT a FROM raw.t) x, raw.t', 'SELECT x.a, t.count FROM (SELECT a FROM raw.t) AS x, raw.t'],
    ['WITH x AS (SELECT a, * FROM raw.t) SELECT x.anything FROM x', 'WITH x AS (SELECT a, * FROM raw.t) SELECT x.anything FROM x'],
    ['SELECT e.key, (e).value FROM raw.t, jsonb_each(t.j) e', 'SELECT e.key, e.value FROM raw.t, jsonb_each(t.j) AS e'],
    ['SELECT r.anything FROM raw.t, jsonb_populate_record(t, t.j) r', 'SELECT r.anything FROM raw.t, jsonb_populate_record(t, t.j) AS r'],
    ['SELECT (ROW(t.a, 1)).f1, (x.r).f2 FROM raw.t, LATERAL (SELECT ROW(t.a, 2) AS r) x', /\(ROW\(t\.a, 1\)\)\.f1, \(x\.r\)\.f2/],
    ['SELECT x.c FROM raw.t AS x (a, b)', 'SELECT x.c FROM raw.t AS x(a, b)'],
    ['SELECT j.a FROM (raw.t JOIN raw.u USING (id)) AS j', /SELECT j\.a/],
  ])('%s', (sql, printed) => (typeof printed === 'string' ? expect(run(sql)).toBe(printed) : expect(run(sql)).toMatch(printed)));

  it.each([
    ['SELECT (a).upper FROM raw.t', 'forbidden_function'],
    ['SELECT (t.a).upper FROM raw.t', 'forbidden_function'],
    ['SELECT (t).a.upper FROM raw.t', 'forbidden_function'],
    ['SELECT 1 AS x FROM raw.t WHERE (a).upper IS NULL', 'forbidden_function'],
    ['SELECT 1 AS x FROM raw.t JOIN raw.u ON (t.a).upper IS NULL', 'forbidden_function'],
    ['SELECT 1 AS x FROM raw.t, generate_series(1, (t.a).length)', 'forbidden_function'],
    ['SELECT 1 AS x FROM raw.t ORDER BY (a).upper', 'forbidden_function'],
    ['SELECT a FROM raw.t UNION SELECT (b).upper FROM raw.u', 'forbidden_function'],
    ['SELECT a FROM raw.t LIMIT (1).int4', 'forbidden_function'],
    ['SELECT t.pg_column_size FROM raw.t', 'forbidden_function'],
    ['SELECT t.pg_typeof FROM raw.t', 'forbidden_function'],
    ['SELECT (t).record_out FROM raw.t', 'forbidden_function'],
    ['SELECT x.to_json FROM (SELECT a FROM raw.t) x', 'unknown_column'],
    ['WITH x AS (SELECT a FROM raw.t) SELECT (x).to_json FROM x', 'unknown_column'],
    ['SELECT e.to_json FROM raw.t, jsonb_each(t.j) e', 'unknown_column'],
    ['SELECT x.f FROM generate_series(1, 2) x', 'unknown_column'],
  ])('%s', (sql, code) => expect(codeOf(() => run(sql))).toBe(code));
});

describe('pg_typeof', () => {
  it('returns a text, so that a text combined with it is not read as the name of a type', () => {
    expect(sqlOf("SELECT CASE WHEN true THEN 'x' ELSE pg_typeof(1) END AS x")).toContain('ELSE pg_typeof(1)::text END');
    expect(sqlOf('SELECT pg_typeof(pg_typeof(1)) AS x')).toContain('pg_typeof(pg_typeof(1)::text)::text');
    expect(sqlOf('SELECT x FROM pg_typeof(1) x')).toContain('CAST(pg_typeof(1) AS text)');
    expect(planSelect(context, { text: 'SELECT pg_typeof(1)', offset: 0 }).columns).toEqual(['pg_typeof']);
  });
});

describe('columns of types that must not be combined with texts', () => {
  const model = {
    ...graph.model,
    views: [
      {
        name: 'raw_types',
        cube: false,
        datasource: 'main',
        description: null,
        tags: {},
        sql: 'SELECT id, kind FROM raw.t',
        columns: [
          { name: 'id', type: 'int4' },
          { name: 'kind', type: 'regclass' },
        ],
      },
    ],
    mappings: graph.model.mappings.map((m) =>
      m.name === 'm_knows' ? { ...m, columns: m.columns.map((c) => (c.name === 'since' ? { ...c, type: 'oid' } : c)) } : m,
    ),
  };
  const sql = (text: string): string => planSelect({ ...context, graph: compile(model, 'company') }, { text, offset: 0 }).sql;

  it('are cast to text in raw views', () => expect(sql('SELECT kind FROM vsvc.raw_types')).toContain('.c1::text AS c1'));
  it('are cast to text in links', () => expect(sql('SELECT "knows[person]_since" AS s FROM dsvc.employee')).toContain('since::text'));
  it('are not cast if the type is harmless', () => expect(sqlOf('SELECT "knows[person]_since" AS s FROM dsvc.employee')).not.toContain('since::text'));
});
