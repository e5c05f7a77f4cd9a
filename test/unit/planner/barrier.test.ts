/** Hidden rows: expressions that may raise an error must not be evaluated on them. */
import { describe, expect, it } from 'vitest';
import { graphOf } from '../../../examples/world/graph.ts';
import { SvcError } from '../../../src/errors.ts';
import { compile } from '../../../src/ontology/compile.ts';
import { lensOf } from '../../../src/ontology/lens.ts';
import type { Model } from '../../../src/ontology/model.ts';
import { castsAlways } from '../../../src/planner/facts/column-types.ts';
import { planSelect } from '../../../src/planner/index.ts';
import { withTypes } from '../../support/typed.ts';
import { context, graph as untyped } from './company.ts';

const graph = compile(withTypes(untyped.model), 'company');

/** A caller who may read these concepts and views, and sees nothing else. */
const who = (concepts: readonly string[], views: readonly string[] = []) =>
  lensOf(graph, {
    concept: (name) => concepts.includes(name),
    view: (name) => views.includes(name),
    readsConcept: (name) => concepts.includes(name),
    readsView: (name) => views.includes(name),
    columnsOf: () => [],
  });
const hasBarrier = (sql: string, seen = graph): boolean =>
  planSelect({ ...context, graph: seen, whole: graph }, { text: sql, offset: 0 }).sql.includes('OFFSET 0');

describe('an expression that may raise an error', () => {
  it.each([
    ['SELECT name FROM svc.rich WHERE 1 / party_id > 0', ['rich'], [], true],
    ['SELECT name FROM svc.rich WHERE party_id > 0', ['rich'], [], false],
    ['SELECT name FROM svc.rich WHERE 1 / party_id > 0', ['rich', 'employee'], [], false],
    ['SELECT name, "located[town].name" FROM dsvc.rich WHERE 1 / party_id > 0', ['rich', 'town'], [], true],
    ["SELECT name FROM vsvc.staff WHERE name LIKE 'x%'", [], ['staff'], true],
    ["SELECT name FROM vsvc.staff WHERE name = 'x'", [], ['staff'], false],
    ['SELECT 1 / party_id AS n FROM svc.town, svc.employee', ['town', 'employee'], [], false],
  ])('%s, for a caller who may read %s %s', (sql, concepts, views, expected) => expect(hasBarrier(sql, who(concepts, views))).toBe(expected));

  it('needs no barrier if the rows may be read in another way', () => {
    expect(hasBarrier('SELECT name FROM svc.rich WHERE 1 / party_id > 0')).toBe(false);
    expect(hasBarrier("SELECT name FROM vsvc.staff WHERE name LIKE 'x%'")).toBe(false);
  });
});

/** A caller who may query the whole ontology, and no table. */
const inOntology = (sql: string, model = graph.model): string =>
  planSelect({ ...context, graph: compile(model, 'company'), queriesTables: () => false }, { text: sql, offset: 0 }).sql;

describe('a condition of SQL over tables', () => {
  const mapped = (sql: string) => ({ ...graph.model, mappings: graph.model.mappings.map((m) => (m.name === 'm_town' ? { ...m, sql } : m)) });
  const WHERE = "SELECT id AS town_id, label AS name FROM raw.towns WHERE label <> 'x'";

  it.each([
    ["SELECT town_id FROM svc.town WHERE name LIKE 'a%'", WHERE, true],
    ["SELECT town_id FROM svc.town WHERE name = 'a'", WHERE, false],
    ["SELECT town_id FROM svc.town WHERE name LIKE 'a%'", 'SELECT id AS town_id, label AS name FROM raw.towns', false],
    ["SELECT town_id FROM svc.town WHERE name LIKE 'a%'", 'SELECT id AS town_id, label AS name FROM raw.towns JOIN raw.other USING (id)', true],
    ["SELECT town_id FROM svc.town WHERE name LIKE 'a%'", 'SELECT DISTINCT id AS town_id, label AS name FROM raw.towns', true],
    ['SELECT "located[town].name" AS n FROM dsvc.person WHERE "located[town].name" LIKE \'a%\'', WHERE, true],
    ['SELECT 1 / town_id AS n FROM svc.town', WHERE, true],
  ])('%s over %s', (sql, mapping, expected) => expect(inOntology(sql, mapped(mapping)).includes('OFFSET 0')).toBe(expected));

  it('is below the barrier, with the comparisons that are pushed down', () => {
    expect(inOntology("SELECT town_id FROM svc.town WHERE name LIKE 'a%' AND town_id = 5", mapped(WHERE))).toMatch(
      /WHERE label <> 'x' AND id::bigint = 5 OFFSET 0/,
    );
  });

  it('computes no value if a policy hides further rows', () => {
    const rows = [{ concept: 'town', conditions: [{ policy: 'p', condition: 'town_id < 9' }] }];
    const access = { rows, masks: [], caller: { username: 'x', roles: [], claims: {} }, maskKey: '' };
    const { sql } = planSelect(
      { ...context, graph: compile(mapped(WHERE), 'company'), access, queriesTables: () => false },
      { text: 'SELECT name FROM svc.town WHERE 1 / town_id > 0', offset: 0 },
    );
    expect(sql).toMatch(/\(SELECT (\w+ AS "~\d+"(, )?)+ FROM raw\.towns WHERE label <> 'x' OFFSET 0\)/);
    expect(sql.match(/OFFSET 0/g)).toHaveLength(2);
  });

  it('is not a barrier if the caller may query the datasource', () => {
    const sql = planSelect(
      { ...context, graph: compile(mapped(WHERE), 'company'), queriesTables: () => true },
      { text: "SELECT town_id FROM svc.town WHERE name LIKE 'a%'", offset: 0 },
    ).sql;
    expect(sql).not.toContain('OFFSET 0');
  });

  it('is a barrier in links and multi-value properties too', () => {
    const model = {
      ...graph.model,
      mappings: graph.model.mappings.map((m) => (m.name === 'm_knows' || m.name === 'm_nick' ? { ...m, sql: `${m.sql} WHERE a > 0` } : m)),
    };
    expect(inOntology('SELECT "knows[person]_since" AS s FROM dsvc.employee WHERE name LIKE \'a%\'', model)).toMatch(/acquaintances WHERE a > 0 OFFSET 0/);
    expect(inOntology("SELECT nickname AS n FROM dsvc.employee WHERE name LIKE 'a%'", model)).toMatch(/nicknames WHERE a > 0 OFFSET 0/);
  });

  it('hides what belongs to the rows that it leaves out, also if the remaining rows are cached', () => {
    const model = { ...graph.model, mappings: graph.model.mappings.map((m) => (m.name === 'm_employee' ? { ...m, sql: `${m.sql} WHERE pay > 0` } : m)) };
    const employees = (mapping: { readonly name: string }) =>
      mapping.name === 'm_employee' ? { mapping: mapping.name, schema: 'kept', name: 'm_1', asOf: 0 } : undefined;
    const planned = (cached?: typeof employees): string =>
      planSelect(
        { ...context, graph: compile(model, 'company'), queriesTables: () => false, cached },
        { text: 'SELECT 1 / LENGTH(nickname) AS n FROM dsvc.employee', offset: 0 },
      ).sql;
    for (const sql of [planned(), planned(employees)]) expect(sql).toMatch(/nicknames.* WHERE EXISTS .*OFFSET 0/s);
  });

  it('is a barrier in raw views', () => {
    const view = { name: 'raw', cube: false, datasource: 'main', description: null, tags: {}, columns: [{ name: 'n', type: 'text' }] };
    const over = (sql: string) => inOntology("SELECT n FROM vsvc.raw WHERE n LIKE 'a%'", { ...graph.model, views: [{ ...view, sql }] });
    expect(over('SELECT label AS n FROM raw.towns WHERE id > 5')).toContain('OFFSET 0');
    expect(over('SELECT label AS n FROM raw.towns')).not.toContain('OFFSET 0');
  });
});

describe('a cube that leaves out rows', () => {
  const cube = (sql: string) => ({ name: 'c', cube: true, datasource: null, description: null, tags: {}, columns: [], sql });
  const outcome = (definition: string, sql: string, concepts: readonly string[] = []): string => {
    const whole = compile({ ...graph.model, views: [cube(definition)] }, 'company');
    const seen = lensOf(whole, {
      concept: (name) => concepts.includes(name),
      view: () => true,
      readsConcept: (name) => concepts.includes(name),
      readsView: () => true,
      columnsOf: () => [],
    });
    try {
      return planSelect({ ...context, graph: seen, whole }, { text: sql, offset: 0 }).sql;
    } catch (error) {
      return error instanceof SvcError ? `${error.status} ${error.code}` : String(error);
    }
  };
  const PLAIN = "SELECT name AS n, COUNT(*) AS k FROM svc.town WHERE name <> 'x'";
  const LIKE = "SELECT n FROM vsvc.c WHERE n LIKE 'a%'";

  it('evaluates its condition first', () => expect(outcome(PLAIN, LIKE)).toMatch(/WHERE "~\d+"\.name <> 'x' OFFSET 0/));
  it('evaluates it first with a to-one path', () => {
    expect(outcome('SELECT name AS n, COUNT(*) AS k FROM dsvc.person WHERE "located[town].name" <> \'x\'', LIKE)).toMatch(/<> 'x' OFFSET 0/);
  });
  it('has no barrier for a caller who may read the concept', () => expect(outcome(PLAIN, LIKE, ['town'])).not.toContain('OFFSET 0'));
  it('has no barrier if nothing can raise an error', () =>
    expect(outcome(PLAIN, "SELECT n, SUM(k) AS k FROM vsvc.c WHERE n = 'a' GROUP BY n")).not.toContain('OFFSET 0'));
  it.each([
    ['a path to many rows', 'SELECT name AS n, COUNT(*) AS k FROM dsvc.town WHERE "houses[party].name" <> \'x\''],
    ['a join', 'SELECT a.name AS n, COUNT(*) AS k FROM svc.town a JOIN svc.party b ON a.town_id = b.town_id'],
    ['two relations', "SELECT a.name AS n, COUNT(*) AS k FROM svc.town a, svc.party b WHERE a.name <> 'x'"],
    ['a sub-select', "SELECT a.name AS n, COUNT(*) AS k FROM (SELECT name FROM svc.town WHERE name <> 'x') a"],
  ])('refuses expressions that may raise an error over %s', (_what, definition) => {
    expect(outcome(definition, LIKE)).toBe('403 forbidden');
    expect(outcome(definition, "SELECT n FROM vsvc.c WHERE n = 'a'")).toContain('SELECT');
  });
});

describe('expressions that may raise an error, over rows with policies', () => {
  const access = {
    rows: [{ concept: 'employee', conditions: [{ policy: 'p', condition: 'party_id < 100' }] }],
    masks: [],
    caller: { username: 'x', roles: [], claims: {} },
    maskKey: 'k',
  };
  const view = (sql: string) => ({ name: 'v', cube: false, datasource: null, description: null, tags: {}, columns: [{ name: 'g' }, { name: 'j' }], sql });
  const raisesBarrier = (sql: string, model = graph.model): boolean =>
    planSelect({ ...context, graph: compile(model, 'company'), access }, { text: sql, offset: 0 }).sql.includes('OFFSET 0');
  const retyped = (mapping: string, type: string) => ({
    ...graph.model,
    mappings: graph.model.mappings.map((m) => (m.name === mapping ? { ...m, columns: m.columns.map((c) => ({ ...c, type })) } : m)),
  });

  it.each<readonly [string, string, boolean, Model]>([
    ['nothing', 'SELECT name FROM svc.employee', false, graph.model],
    [
      'a cast of another mapping',
      'SELECT e.name FROM svc.employee e WHERE EXISTS (SELECT 1 FROM svc.town t WHERE t.town_id = e.boss_id)',
      true,
      retyped('m_town', 'text'),
    ],
    ['no cast of another mapping', 'SELECT e.name FROM svc.employee e WHERE EXISTS (SELECT 1 FROM svc.town t WHERE t.town_id = e.boss_id)', false, graph.model],
    ['a cast of a path', 'SELECT "located[town].name" AS n FROM dsvc.employee', true, retyped('m_town', 'bytea')],
    ['a cast of a link', 'SELECT "knows[person].name" AS n FROM dsvc.employee', true, retyped('m_knows', 'text')],
    [
      'a recursion',
      'SELECT name FROM svc.employee e WHERE EXISTS (WITH RECURSIVE r (a) AS (SELECT e.party_id UNION ALL SELECT a FROM r) SELECT 1 FROM r WHERE a = 0)',
      true,
      graph.model,
    ],
    [
      'an aggregate of a view',
      'SELECT name FROM svc.employee e WHERE EXISTS (SELECT 1 FROM vsvc.v WHERE v.g = e.party_id)',
      true,
      { ...graph.model, views: [view('SELECT town_id AS g, json_object_agg(name, 1) AS j FROM svc.town GROUP BY town_id')] },
    ],
    [
      'no aggregate of a view',
      'SELECT name FROM svc.employee e WHERE EXISTS (SELECT 1 FROM vsvc.v WHERE v.g = e.party_id)',
      false,
      { ...graph.model, views: [view('SELECT town_id AS g, count(*) AS j FROM svc.town GROUP BY town_id')] },
    ],
    ['an aggregate of the statement itself', 'SELECT sum(salary) AS s FROM svc.employee', false, graph.model],
    [
      'an aggregate of a sub-query',
      'SELECT name FROM svc.employee e WHERE EXISTS (SELECT sum(t.town_id) AS s FROM svc.town t WHERE t.town_id = e.party_id)',
      true,
      graph.model,
    ],
  ])('%s', (_what, sql, expected, model) => expect(raisesBarrier(sql, model)).toBe(expected));
});

describe('a cast of a column to numeric', () => {
  const column = (type: string, precision?: number, scale = 0) => ({
    name: 'c',
    type,
    ...(precision === undefined ? {} : { modifier: (precision << 16) + scale + 4 }),
  });
  it.each([
    [column('numeric', 12, 2), 'numeric(12,2)', true],
    [column('numeric', 10, 2), 'numeric(12,2)', true],
    [column('numeric', 12, 3), 'numeric(12,2)', false],
    [column('numeric', 13, 2), 'numeric(12,2)', false],
    [column('numeric'), 'numeric(12,2)', false],
    [column('numeric'), 'numeric', true],
    [column('int4'), 'numeric(12,2)', true],
    [column('int8'), 'numeric(12,2)', false],
    [column('int8'), 'numeric(19)', true],
    [column('float8'), 'numeric(12,2)', false],
    [column('text'), 'numeric(12,2)', false],
  ])('%o to %s', (from, to, always) => expect(castsAlways(from, to)).toBe(always));
});

describe('columns with different collations', () => {
  const WHERE = "SELECT id AS town_id, label AS name, code AS zip FROM raw.towns WHERE label <> 'x'";
  const collated = (name?: string, zip?: string) => ({
    ...graph.model,
    mappings: graph.model.mappings.map((m) =>
      m.name === 'm_town'
        ? {
            ...m,
            sql: WHERE,
            columns: [
              ...m.columns.filter((c) => c.name !== 'name'),
              { name: 'name', type: 'text', ...(name === undefined ? {} : { collation: name }) },
              { name: 'zip', type: 'text', ...(zip === undefined ? {} : { collation: zip }) },
            ],
          }
        : m,
    ),
  });
  const SQL = "SELECT town_id FROM svc.town WHERE name = 'a'";

  it.each([
    ['"C"', '"POSIX"', true],
    ['"C"', '"C"', false],
    ['"C"', undefined, false],
    ['', undefined, true],
  ])('%s and %s', (name, zip, expected) => {
    const sql = inOntology(SQL, collated(name, zip));
    expect(sql.includes('OFFSET 0')).toBe(expected);
    if (!expected) expect(sql).toBe(inOntology(SQL, collated()));
  });

  it('are compared above the barrier if PostgreSQL derives no collation', () => {
    const conditions = (sql: string) => sql.split("'a'").length - 1;
    expect(conditions(inOntology(SQL, collated('"C"', '"POSIX"')))).toBe(2);
    expect(conditions(inOntology(SQL, collated('')))).toBe(1);
  });
});

describe('a comparison of the caller over a property that is calculated over paths', () => {
  const SCRIPT = `CREATE PROPERTY place string AS SELECT "located[town].name"; CREATE PROPERTY pets bigint AS SELECT COUNT("keeps[pet].pet_id");
    CREATE CONCEPT town (town_id bigint, name string, PRIMARY KEY (town_id));
    CREATE CONCEPT person (person_id bigint, town_id bigint, place string, pets bigint, PRIMARY KEY (person_id), CONSTRAINT located FOREIGN KEY (town_id) REFERENCES town (town_id));
    CREATE CONCEPT pet (pet_id bigint, person_id bigint, PRIMARY KEY (pet_id), CONSTRAINT kept_by FOREIGN KEY (person_id) REFERENCES person (person_id) INVERSEOF keeps);
    CREATE MAPPING m_town INTO town AS SELECT id AS town_id, label AS name FROM raw.towns; CREATE MAPPING m_pet INTO pet AS SELECT id AS pet_id, owner AS person_id FROM raw.pets;
    CREATE MAPPING m_person INTO person AS SELECT id AS person_id, town AS town_id FROM raw.people`;
  const people = compile(withTypes(graphOf(SCRIPT, 'people', context.parser).model), 'people');
  const rows = [{ concept: 'person', conditions: [{ policy: 'p', condition: `"located[town].name" = 'x'` }] }];
  const access = { rows, masks: [], caller: { username: 'x', roles: [], claims: {} }, maskKey: '' };
  const planned = (sql: string, isGuarded: boolean): string =>
    planSelect({ ...context, graph: people, queriesTables: () => false, ...(isGuarded ? { access } : {}) }, { text: sql, offset: 0 }).sql;
  const NARROWED = /FROM raw\.people WHERE id(::\w+)? = 5/;

  it.each([
    ["SELECT place FROM svc.person WHERE entity_id = 'person:5'", false, true],
    ["SELECT place, 1 / person_id AS n FROM svc.person WHERE entity_id = 'person:5'", false, true],
    ["SELECT place FROM svc.person WHERE entity_id = 'person:5'", true, true],
    ['SELECT place, 1 / person_id AS n FROM svc.person WHERE person_id = 5', true, false],
    ["SELECT place, 1 / person_id AS n FROM svc.person WHERE entity_id = 'person:5'", true, false],
    ['SELECT pets, 1 / person_id AS n FROM svc.person WHERE person_id = 5', true, true],
    ['SELECT 1 / person_id AS n FROM svc.person WHERE person_id = 5', true, true],
  ])('%s, with a policy: %s, reaches the table: %s', (sql, isGuarded, reaches) => expect(NARROWED.test(planned(sql, isGuarded))).toBe(reaches));
});
