/**
 * Every function of PostgreSQL that a caller may not call, in every spelling: as a call, as an attribute, in every place of SQL and of a model. All are
 * refused when they are planned or checked, before any database.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { loadNodeParser } from '../../src/cli/node-parser.ts';
import { SvcError } from '../../src/errors.ts';
import { compile } from '../../src/ontology/compile.ts';
import type { Concept, Graph } from '../../src/ontology/graph.ts';
import { EMPTY_MODEL, type Model } from '../../src/ontology/model.ts';
import { ALLOWED_FUNCTIONS } from '../../src/planner/guard/index.ts';
import { checkModel, type PlanContext, planSelect } from '../../src/planner/index.ts';
import { checkMaskExpression, checkRowCondition } from '../../src/planner/policy-check.ts';
import { type Declared, RefusedByVerifier, verify } from '../../src/planner/verify/index.ts';
import { databases } from '../support/analysis/database.ts';
import { DEEP, patience } from '../support/generated.ts';

const parser = await loadNodeParser();

/** Names of functions that may not be called. */
let forbidden: readonly string[];
/** Those of them that can be written without quotes. */
let plain: ReadonlySet<string>;
beforeAll(async () => {
  const all = await databases();
  const names = new Set<string>();
  const keywords = new Set<string>();
  for (const db of all) {
    for (const { n } of await db.query("SELECT DISTINCT proname::text AS n FROM pg_proc WHERE pronamespace = 'pg_catalog'::regnamespace")) names.add(String(n));
    for (const { n } of await db.query("SELECT word AS n FROM pg_get_keywords() WHERE catcode <> 'U'")) keywords.add(String(n));
    await db.close();
  }
  forbidden = [...names].filter((n) => !ALLOWED_FUNCTIONS.has(n)).sort();
  plain = new Set(forbidden.filter((n) => /^[a-z_][a-z0-9_]*$/.test(n) && !keywords.has(n)));
}, 120_000);

// an error for each of some hundred thousand statements: their stacks are of no use
const { stackTraceLimit } = Error;
beforeAll(() => {
  Error.stackTraceLimit = 0;
});
afterAll(() => {
  Error.stackTraceLimit = stackTraceLimit;
});

/** Two concepts; no property is called as a function. `more`: what a model says beside them. */
function modelOf(more: Partial<Model> = {}): Model {
  const property = (name: string, type: string) => ({ name, type, multi: false, description: null, tags: {}, expression: null });
  const concept = (name: string, properties: readonly string[]) => ({
    name,
    parents: [],
    properties,
    multi: [],
    measures: [],
    primaryKey: ['zq_id'],
    label: ['zq_name'],
    relationships: [],
    description: null,
    tags: {},
    logic: null,
  });
  const mapping = (name: string, sql: string) => ({
    name,
    kind: 'concept' as const,
    concept: name.slice(2),
    property: null,
    link: null,
    datasource: 'main',
    sql,
    columns: [{ name: 'zq_id' }, { name: 'zq_name' }],
  });
  return {
    ...EMPTY_MODEL,
    ...more,
    properties: [property('zq_id', 'bigint'), property('zq_name', 'string'), ...(more.properties ?? [])],
    concepts: [concept('zq_one', ['zq_id', 'zq_name', ...(more.properties ?? []).map((p) => p.name)]), ...(more.concepts ?? [])].map((c) =>
      c.name === 'zq_one' ? { ...c, measures: (more.measures ?? []).map((m) => m.name) } : c,
    ),
    mappings: [mapping('m_zq_one', 'SELECT id AS zq_id, label AS zq_name FROM raw.one'), ...(more.mappings ?? [])].map((m) => ({
      ...m,
      concept: m.concept === null ? null : m.name === 'm_zq_one' ? 'zq_one' : m.concept,
    })),
  };
}

const contextOf = (graph: Graph): PlanContext => ({ graph, parser, product: 'svc', activeDatasource: 'main' });
const context = contextOf(compile(modelOf(), 'zq'));
const quoted = (name: string): string => `"${name}"`;

/** How a statement is refused: its code; undefined where it is not. Anything but a 400 is a fault. */
function refusal(run: () => unknown): string | undefined {
  try {
    run();
    return undefined;
  } catch (error) {
    if (!(error instanceof SvcError) || error.status !== 400) throw error;
    return error.code;
  }
}
const planned = (text: string): string | undefined => refusal(() => planSelect(context, { text, offset: 0 }));

/** Names for which `make` gives a statement that is not refused, or refused for what says nothing: bad syntax. */
function passing(names: Iterable<string>, make: (name: string) => string | undefined): string[] {
  const wrong: string[] = [];
  for (const name of names) {
    const code = make(name);
    if (code === undefined || code === 'syntax_error') wrong.push(`${name}${code === undefined ? '' : ` (${code})`}`);
  }
  return wrong;
}

/** A way to write a function, and one that is allowed: the statement itself is sound. `some`: another place of a way that is tried with every name. */
interface Spelling {
  readonly what: string;
  readonly sql: (f: string) => string;
  readonly sound?: string;
  readonly some?: true;
}

/** The names that a spelling is tried with: all, or every eighth one, others for each spelling. */
const namesFor = ({ what, some }: Spelling): readonly string[] => (some && !DEEP ? forbidden.filter((_, i) => (i + what.length) % 8 === 0) : forbidden);

const CALLS: readonly Spelling[] = [
  { what: 'a call', sql: (f) => `SELECT ${f}('x') AS v`, sound: 'upper' },
  { what: 'a call without arguments', sql: (f) => `SELECT ${f}() AS v`, sound: 'now' },
  { what: 'a call with several arguments', sql: (f) => `SELECT ${f}('x', 1, NULL) AS v`, sound: 'lpad', some: true },
  { what: 'a call with a named argument', sql: (f) => `SELECT ${f}(days => 1) AS v`, sound: 'make_interval', some: true },
  { what: 'a call with VARIADIC', sql: (f) => `SELECT ${f}(VARIADIC ARRAY['x']) AS v`, sound: 'concat', some: true },
  { what: 'a qualified call', sql: (f) => `SELECT pg_catalog.${f}('x') AS v`, sound: 'upper' },
  { what: 'a call on a column', sql: (f) => `SELECT ${f}(c.zq_name) AS v FROM svc.zq_one c`, sound: 'upper' },
  { what: 'a call on a whole row', sql: (f) => `SELECT ${f}(c) AS v FROM svc.zq_one c`, sound: 'to_jsonb', some: true },
  { what: 'a call in FROM', sql: (f) => `SELECT v FROM ${f}('x') AS v`, sound: 'upper' },
  { what: 'a qualified call in FROM', sql: (f) => `SELECT v FROM pg_catalog.${f}('x') AS v`, sound: 'upper', some: true },
  { what: 'a call in ROWS FROM', sql: (f) => `SELECT * FROM ROWS FROM (generate_series(1, 2), ${f}('x')) AS r (n, v)`, sound: 'upper' },
  { what: 'a call with a column list', sql: (f) => `SELECT r.a FROM ${f}('{}') AS r (a int)`, sound: 'json_to_record', some: true },
  { what: 'a call in LATERAL', sql: (f) => `SELECT v FROM svc.zq_one c, LATERAL ${f}(c.zq_name) AS v`, sound: 'upper', some: true },
  { what: 'an aggregate', sql: (f) => `SELECT ${f}(zq_id) AS v FROM svc.zq_one`, sound: 'count' },
  { what: 'an aggregate of all rows', sql: (f) => `SELECT ${f}(*) AS v FROM svc.zq_one`, sound: 'count', some: true },
  {
    what: 'an aggregate with DISTINCT and ORDER BY',
    sql: (f) => `SELECT ${f}(DISTINCT zq_id ORDER BY zq_id) AS v FROM svc.zq_one`,
    sound: 'array_agg',
    some: true,
  },
  { what: 'an aggregate with FILTER', sql: (f) => `SELECT ${f}(zq_id) FILTER (WHERE zq_id > 1) AS v FROM svc.zq_one`, sound: 'count' },
  { what: 'an ordered-set aggregate', sql: (f) => `SELECT ${f}(0.5) WITHIN GROUP (ORDER BY zq_id) AS v FROM svc.zq_one`, sound: 'percentile_disc', some: true },
  { what: 'a window function', sql: (f) => `SELECT ${f}(zq_id) OVER (ORDER BY zq_id) AS v FROM svc.zq_one`, sound: 'count' },
  {
    what: 'a window function over a named window',
    sql: (f) => `SELECT ${f}(zq_id) OVER w AS v FROM svc.zq_one WINDOW w AS (ORDER BY zq_id)`,
    sound: 'count',
    some: true,
  },
  { what: 'an argument of an aggregate', sql: (f) => `SELECT count(${f}('x')) AS v FROM svc.zq_one`, sound: 'upper' },
  { what: 'the FILTER of an aggregate', sql: (f) => `SELECT count(*) FILTER (WHERE ${f}('x') IS NULL) AS v FROM svc.zq_one`, sound: 'upper', some: true },
  { what: 'the order of an aggregate', sql: (f) => `SELECT array_agg(zq_id ORDER BY ${f}('x')) AS v FROM svc.zq_one`, sound: 'upper', some: true },
  { what: 'WHERE', sql: (f) => `SELECT zq_id FROM svc.zq_one WHERE ${f}('x') IS NULL`, sound: 'upper', some: true },
  { what: 'ORDER BY', sql: (f) => `SELECT zq_id FROM svc.zq_one ORDER BY ${f}(zq_name)`, sound: 'upper', some: true },
  {
    what: 'GROUP BY and HAVING',
    sql: (f) => `SELECT count(*) AS n FROM svc.zq_one GROUP BY ${f}(zq_name) HAVING ${f}('x') IS NULL`,
    sound: 'upper',
    some: true,
  },
  {
    what: 'a sub-query',
    sql: (f) => `SELECT (SELECT ${f}('x')) AS v FROM svc.zq_one WHERE EXISTS (SELECT 1 WHERE ${f}('x') IS NULL)`,
    sound: 'upper',
    some: true,
  },
  { what: 'a common table expression', sql: (f) => `WITH w AS (SELECT ${f}('x') AS v) SELECT v FROM w`, sound: 'upper', some: true },
  { what: 'a set operation', sql: (f) => `SELECT 'a' AS v UNION ALL SELECT ${f}('x')`, sound: 'upper', some: true },
  { what: 'VALUES', sql: (f) => `VALUES (${f}('x'))`, sound: 'upper', some: true },
  { what: 'LIMIT', sql: (f) => `SELECT zq_id FROM svc.zq_one LIMIT ${f}('x')`, sound: 'length', some: true },
  { what: 'a default of JSON_VALUE', sql: (f) => `SELECT JSON_VALUE('{}', '$.a' DEFAULT ${f}('x') ON EMPTY) AS v`, sound: 'upper', some: true },
];

/** Attributes of what has no fields: refused whatever their name. */
const ATTRIBUTES: readonly Spelling[] = [
  { what: 'a literal', sql: (f) => `SELECT ('x').${f} AS v` },
  { what: 'a number', sql: (f) => `SELECT (1).${f} AS v` },
  { what: 'NULL', sql: (f) => `SELECT (NULL).${f} AS v` },
  { what: 'a cast', sql: (f) => `SELECT ('x'::text).${f} AS v` },
  { what: 'a column', sql: (f) => `SELECT (c.zq_name).${f} AS v FROM svc.zq_one c` },
  { what: 'a bare column', sql: (f) => `SELECT (zq_name).${f} AS v FROM svc.zq_one` },
  { what: 'the entity_id', sql: (f) => `SELECT (entity_id).${f} AS v FROM dsvc.zq_one` },
  { what: 'a column of a sub-select', sql: (f) => `SELECT (x.a).${f} AS v FROM (SELECT 'x'::text AS a) x` },
  { what: 'a column of VALUES', sql: (f) => `SELECT (x.a).${f} AS v FROM (VALUES ('x'::text)) x (a)` },
  { what: 'a call', sql: (f) => `SELECT (lower('X')).${f} AS v` },
  { what: 'an aggregate', sql: (f) => `SELECT (max(zq_name)).${f} AS v FROM svc.zq_one` },
  { what: 'an operation', sql: (f) => `SELECT ('x' || 'y').${f} AS v` },
  { what: 'CASE', sql: (f) => `SELECT (CASE WHEN true THEN 'x' END).${f} AS v` },
  { what: 'COALESCE', sql: (f) => `SELECT (coalesce('x', 'y')).${f} AS v` },
  { what: 'a sub-query', sql: (f) => `SELECT (SELECT 'x'::text).${f} AS v` },
  { what: 'an array', sql: (f) => `SELECT (ARRAY['x']).${f} AS v` },
  { what: 'an element of an array', sql: (f) => `SELECT (ARRAY['x'])[1].${f} AS v` },
  { what: 'a value under a collation', sql: (f) => `SELECT ('x' COLLATE "C").${f} AS v` },
  { what: 'a value of the clock', sql: (f) => `SELECT (current_date).${f} AS v` },
  { what: 'the value of a function in FROM', sql: (f) => `SELECT u.${f} AS v FROM unnest(ARRAY['x']) u` },
  { what: 'the value of a function in FROM, in brackets', sql: (f) => `SELECT (u).${f} AS v FROM unnest(ARRAY['x']) u` },
  { what: 'an attribute', sql: (f) => `SELECT ((ROW('x'::text)).f1).${f} AS v` },
  { what: 'a literal, all of it', sql: (f) => `SELECT (('x').${f}).* ` },
  { what: 'a literal in WHERE', sql: (f) => `SELECT zq_id FROM svc.zq_one WHERE ('x').${f} IS NULL` },
  { what: 'a literal in an argument', sql: (f) => `SELECT count(('x').${f}) AS v FROM svc.zq_one` },
  { what: 'a literal in FROM', sql: (f) => `SELECT g FROM generate_series(1, ('x').${f}) g` },
];

/** Attributes of rows: refused where the row has no such field. */
const FIELDS: readonly Spelling[] = [
  { what: 'an empty row', sql: (f) => `SELECT (ROW()).${f} AS v` },
  { what: 'a row', sql: (f) => `SELECT (ROW('x'::text)).${f} AS v`, sound: 'f1' },
  { what: 'a row in brackets', sql: (f) => `SELECT (('x'::text, 1)).${f} AS v`, sound: 'f2' },
  { what: 'a concept', sql: (f) => `SELECT c.${f} AS v FROM svc.zq_one c`, sound: 'zq_name' },
  { what: 'a concept in dsvc', sql: (f) => `SELECT c.${f} AS v FROM dsvc.zq_one c`, sound: 'zq_name' },
  { what: 'the whole row of a concept', sql: (f) => `SELECT (c).${f} AS v FROM svc.zq_one c`, sound: 'zq_name' },
  { what: 'all columns of a concept', sql: (f) => `SELECT (c.*).${f} AS v FROM svc.zq_one c`, sound: 'zq_name' },
  { what: 'a concept without an alias', sql: (f) => `SELECT zq_one.${f} AS v FROM svc.zq_one`, sound: 'zq_name' },
  { what: 'a concept with its schema', sql: (f) => `SELECT svc.zq_one.${f} AS v FROM svc.zq_one`, sound: 'zq_name' },
  { what: 'a sub-select', sql: (f) => `SELECT x.${f} AS v FROM (SELECT 1 AS a) x`, sound: 'a' },
  { what: 'the whole row of a sub-select', sql: (f) => `SELECT (x).${f} AS v FROM (SELECT 1 AS a) x`, sound: 'a' },
  { what: 'a common table expression', sql: (f) => `WITH x AS (SELECT 1 AS a) SELECT x.${f} AS v FROM x`, sound: 'a' },
  { what: 'the whole row of one', sql: (f) => `WITH x AS (SELECT 1 AS a) SELECT (x).${f} AS v FROM x`, sound: 'a' },
  { what: 'VALUES', sql: (f) => `SELECT x.${f} AS v FROM (VALUES (1)) x (a)`, sound: 'a' },
  { what: 'a row of a sub-select', sql: (f) => `SELECT (x.r).${f} AS v FROM (SELECT ROW(1, 2) AS r) x`, sound: 'f2' },
  { what: 'a call with result columns', sql: (f) => `SELECT (jsonb_each('{}')).${f} AS v`, sound: 'key' },
  { what: 'a function with result columns in FROM', sql: (f) => `SELECT e.${f} AS v FROM jsonb_each('{}') e`, sound: 'key' },
  { what: 'the whole row of one', sql: (f) => `SELECT (e).${f} AS v FROM jsonb_each('{}') e`, sound: 'value' },
  { what: 'a function with a column list', sql: (f) => `SELECT e.${f} AS v FROM json_to_record('{}') AS e (a int)`, sound: 'a' },
  { what: 'ROWS FROM', sql: (f) => `SELECT e.${f} AS v FROM ROWS FROM (generate_series(1, 2), jsonb_each('{}')) e (n, k, w)`, sound: 'k' },
  { what: 'a join under an alias', sql: (f) => `SELECT j.${f} AS v FROM ((SELECT 1 AS a) x CROSS JOIN (SELECT 2 AS b) y) AS j`, sound: 'b' },
  { what: 'the alias of USING', sql: (f) => `SELECT j.${f} AS v FROM (SELECT 1 AS a) x JOIN (SELECT 1 AS a, 2 AS b) y USING (a) AS j`, sound: 'a' },
  { what: 'a concept in ORDER BY', sql: (f) => `SELECT zq_id FROM svc.zq_one c ORDER BY c.${f}`, sound: 'zq_name' },
  { what: 'a concept from a sub-query', sql: (f) => `SELECT zq_id FROM svc.zq_one c WHERE EXISTS (SELECT 1 WHERE c.${f} IS NULL)`, sound: 'zq_name' },
];

describe('the functions that nobody may call', () => {
  it('are most of them', () => {
    expect(forbidden.length).toBeGreaterThan(2000);
    expect(plain.size).toBeGreaterThan(2000);
  });
});

describe('a spelling that is refused for its function only', () => {
  it.each([...CALLS, ...FIELDS].filter((s) => s.sound !== undefined))('$what', ({ sql, sound }) => {
    expect(planned(sql(sound as string))).toBeUndefined();
    expect(planned(sql(quoted(sound as string)))).toBeUndefined();
  });
});

describe.each([
  ['a call as', CALLS],
  ['an attribute of', ATTRIBUTES],
  ['a field of', FIELDS],
] as const)('%s', (_, spellings) => {
  it.each(spellings)('$what', { timeout: patience(60_000) }, (spelling) => {
    expect(passing(namesFor(spelling), (f) => planned(spelling.sql(quoted(f))))).toEqual([]);
  });
});

describe('other spellings of a name', () => {
  const SPELLED: readonly (readonly [what: string, spell: (f: string) => string])[] = [
    ['without quotes', (f) => f],
    ['in upper case', (f) => f.toUpperCase()],
    ['in back-quotes', (f) => `\`${f}\``],
    ['with escapes', (f) => `U&"\\${f.charCodeAt(0).toString(16).padStart(4, '0')}${f.slice(1)}"`],
    ['after a comment', (f) => `/* a */ ${f} -- b\n`],
  ];
  it.each(SPELLED)('of a call, %s', { timeout: patience(60_000) }, (_, spell) => {
    expect(planned(`SELECT ${spell('upper')}('x') AS v`)).toBeUndefined();
    expect(passing(plain, (f) => planned(`SELECT ${spell(f)}('x') AS v`))).toEqual([]);
  });

  it.each(SPELLED)('of an attribute, %s', { timeout: patience(60_000) }, (_, spell) => {
    expect(passing(plain, (f) => planned(`SELECT ('x').${spell(f)} AS v`))).toEqual([]);
  });

  it('in other schemas', () => {
    for (const schema of ['public', 'information_schema', 'svc', 'PG_CATALOG', 'pg_temp'])
      expect(
        passing(forbidden, (f) => planned(`SELECT ${schema}.${quoted(f)}('x') AS v`)),
        schema,
      ).toEqual([]);
  });
});

describe('functions that may be called, as attributes', () => {
  const allowed = [...ALLOWED_FUNCTIONS];
  it.each(ATTRIBUTES)('of $what', { timeout: patience(60_000) }, ({ sql }) => expect(passing(allowed, (f) => planned(sql(quoted(f))))).toEqual([]));

  it.each(FIELDS)('of $what, which has no such field', { timeout: patience(60_000) }, ({ sql }) => {
    expect(passing(allowed, (f) => planned(sql(quoted(f))))).toEqual([]);
  });
});

describe('in a model', () => {
  /** Each name has a piece of its own in one model, so that the model is made once. */
  const pieces = (make: (names: readonly string[]) => Partial<Model>): { readonly graph: Graph; readonly index: ReadonlyMap<string, number> } => ({
    graph: compile(modelOf(make(forbidden)), 'zq'),
    index: new Map(forbidden.map((f, i) => [f, i])),
  });
  type Kind = 'view' | 'logic' | 'property' | 'measure' | 'mapping';
  const checked = (kind: Kind, make: (names: readonly string[]) => Partial<Model>): string[] => {
    const { graph, index } = pieces(make);
    return passing(forbidden, (f) => refusal(() => checkModel(graph, parser, [{ kind, name: `zq_${index.get(f)}`, offset: 0 }])));
  };
  /** A call and an attribute over the text `value`. */
  const BOTH: readonly (readonly [what: string, write: (f: string, value: string) => string])[] = [
    ['as a call', (f, value) => `${quoted(f)}(${value})`],
    ['as an attribute', (f, value) => `(${value}).${quoted(f)}`],
    ['as a qualified call', (f, value) => `pg_catalog.${quoted(f)}(${value})`],
  ];

  describe.each(BOTH)('%s', (_, write) => {
    it('in a calculated property', { timeout: patience(60_000) }, () => {
      const made = checked('property', (names) => ({
        properties: names.map((f, i) => ({ name: `zq_${i}`, type: 'string', multi: false, description: null, tags: {}, expression: write(f, 'zq_name') })),
      }));
      expect(made).toEqual([]);
    });

    it('in a measure', { timeout: patience(60_000) }, () => {
      const made = checked('measure', (names) => ({
        measures: names.map((f, i) => ({
          name: `zq_${i}`,
          type: 'bigint',
          description: null,
          tags: {},
          expression: `COUNT(${write(f, 'zq_name')})`,
          filter: null,
        })),
      }));
      expect(made).toEqual([]);
    });

    it("in a measure's WHERE", { timeout: patience(60_000) }, () => {
      const made = checked('measure', (names) => ({
        measures: names.map((f, i) => ({
          name: `zq_${i}`,
          type: 'bigint',
          description: null,
          tags: {},
          expression: 'COUNT(zq_name)',
          filter: `${write(f, 'zq_name')} IS NULL`,
        })),
      }));
      expect(made).toEqual([]);
    });

    const view = (i: number, sql: string, datasource: string | null = null) => ({
      name: `zq_${i}`,
      cube: false,
      datasource,
      description: null,
      tags: {},
      sql,
      columns: [{ name: 'v' }],
    });

    it('in a view', { timeout: patience(60_000) }, () => {
      expect(checked('view', (names) => ({ views: names.map((f, i) => view(i, `SELECT ${write(f, 'zq_name')} AS v FROM svc.zq_one`)) }))).toEqual([]);
    });

    it.each([
      ['a column', (f: string) => write(f, 'label')],
      ['a qualified column', (f: string) => write(f, 't.label')],
      ['a whole row', (f: string) => write(f, 't')],
    ])('in a view on tables, on %s', { timeout: patience(60_000) }, (_what, value) => {
      const { graph, index } = pieces((names) => ({ views: names.map((f, i) => view(i, `SELECT ${value(f)} AS v FROM raw.one t`, 'main')) }));
      const read = (f: string): string | undefined => refusal(() => planSelect(contextOf(graph), { text: `SELECT v FROM vsvc.zq_${index.get(f)}`, offset: 0 }));
      expect(passing(forbidden, read)).toEqual([]);
    });

    const mapping = (i: number, sql: string) => ({
      name: `zq_${i}`,
      kind: 'concept' as const,
      concept: 'zq_one',
      property: null,
      link: null,
      datasource: 'main',
      sql,
      columns: [{ name: 'zq_id' }, { name: 'zq_name' }],
    });
    it('in a mapping', { timeout: patience(60_000) }, () => {
      const made = checked('mapping', (names) => ({
        mappings: names.map((f, i) => mapping(i, `SELECT t.id AS zq_id, ${write(f, 't.label')} AS zq_name FROM raw.one t`)),
      }));
      expect(made).toEqual([]);
    });

    it("in a mapping's WHERE", { timeout: patience(60_000) }, () => {
      const made = checked('mapping', (names) => ({
        mappings: names.map((f, i) => mapping(i, `SELECT id AS zq_id, label AS zq_name FROM raw.one WHERE ${write(f, 'label')} IS NULL`)),
      }));
      expect(made).toEqual([]);
    });

    it('in the condition of a logic concept', { timeout: patience(60_000) }, () => {
      const made = checked('logic', (names) => ({
        concepts: names.map((f, i) => ({
          name: `zq_${i}`,
          parents: ['zq_one'],
          properties: [],
          multi: [],
          measures: [],
          primaryKey: [],
          label: [],
          relationships: [],
          description: null,
          tags: {},
          logic: { schema: 'svc' as const, concept: 'zq_one', condition: `${write(f, 'zq_name')} IS NULL` },
        })),
      }));
      expect(made).toEqual([]);
    });

    it('in the condition of a policy', { timeout: patience(60_000) }, () => {
      const one = context.graph.concept('zq_one') as Concept;
      expect(passing(forbidden, (f) => refusal(() => checkRowCondition(context, one, `${write(f, 'zq_name')} IS NULL`)))).toEqual([]);
    });

    it('in a mask', { timeout: patience(60_000) }, () => {
      const known = context.graph.model.properties;
      expect(passing(forbidden, (f) => refusal(() => checkMaskExpression(context, known, write(f, 'zq_name'))))).toEqual([]);
    });
  });

  it('as columns of tables in a view on them, the functions that take any row', () => {
    const view = (column: string) => ({
      name: 'zq_v',
      cube: false,
      datasource: 'main',
      description: null,
      tags: {},
      sql: `SELECT t.${column} AS v FROM raw.one t`,
      columns: [{ name: 'v' }],
    });
    const read = (column: string): string | undefined =>
      refusal(() => planSelect(contextOf(compile(modelOf({ views: [view(column)] }), 'zq')), { text: 'SELECT v FROM vsvc.zq_v', offset: 0 }));
    expect(read('label')).toBeUndefined();
    const ofRows = [
      'pg_column_size',
      'pg_column_compression',
      'pg_column_toast_chunk_id',
      'pg_collation_for',
      'hash_record',
      'record_out',
      'record_send',
      'pg_typeof',
    ];
    expect(ofRows.filter((f) => read(f) === undefined)).toEqual([]);
  });
});

describe('the verifier, for itself', () => {
  const declared: Declared = {
    tables: [
      ['svc', 'zq_one'],
      ['dsvc', 'zq_one'],
    ],
    columns: new Set(['zq_id', 'zq_name', 'entity_id']),
    functions: new Set(),
    params: 0,
  };
  const verified = (text: string): string | undefined => {
    try {
      verify(parser, text, declared);
      return undefined;
    } catch (error) {
      if (!(error instanceof RefusedByVerifier)) throw error;
      return error.kind === 'syntax' ? 'syntax_error' : error.kind;
    }
  };

  // `(c).zq_name` of a table and fields of sub-queries are refused, too: PostgreSQL would look for a function
  it.each([...CALLS, ...FIELDS].filter((s) => s.sound !== undefined && !s.sql('').includes('(c).')))('lets $what through', ({ sql, sound }) => {
    expect(verified(sql(quoted(sound as string)))).toBeUndefined();
  });

  it.each([...CALLS.map((s) => ({ ...s, some: true as const })), ...ATTRIBUTES, ...FIELDS])('refuses $what', { timeout: patience(60_000) }, (spelling) => {
    expect(passing(namesFor(spelling), (f) => verified(spelling.sql(quoted(f))))).toEqual([]);
  });

  it.each([...ATTRIBUTES, ...FIELDS])('refuses $what under the names of functions that may be called', ({ sql }) => {
    expect(passing(ALLOWED_FUNCTIONS, (f) => verified(sql(quoted(f))))).toEqual([]);
  });
});
