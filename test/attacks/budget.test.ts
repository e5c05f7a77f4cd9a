/** Statements and scripts that expand: each is planned within its budget, or refused with the name of what has grown. */
import { describe, expect, it } from 'vitest';
import { graphOf } from '../../examples/world/graph.ts';
import { Budget, growing, made, PLAN_LIMITS, SCRIPT_LIMITS, visited } from '../../src/budget.ts';
import { loadNodeParser } from '../../src/cli/node-parser.ts';
import { SvcError } from '../../src/errors.ts';
import { parseStatement } from '../../src/language/classify.ts';
import { createSqlReader } from '../../src/language/expressions.ts';
import { splitScript } from '../../src/language/split.ts';
import type { ModelStatement, RollbackOntology } from '../../src/language/statements.ts';
import { applyStatement, finish, Places } from '../../src/ontology/apply.ts';
import { compile } from '../../src/ontology/compile.ts';
import { EMPTY_MODEL, type Model, type PropertyDef } from '../../src/ontology/model.ts';
import { validate } from '../../src/ontology/validate.ts';
import { checkModel, planSelect } from '../../src/planner/index.ts';
import { accessKey } from '../../src/service/caller/policies.ts';
import { systemTables } from '../../src/service/describe/system.ts';
import { makesHidden } from '../../src/service/write/edit-rights.ts';
import { requireUsable } from '../../src/service/write/writers.ts';
import { conceptOf } from '../support/concepts.ts';
import { HEAVY_SCRIPTS, HEAVY_STATEMENTS } from '../support/heavy.ts';
import { oneIn, sizesOf } from '../support/sizes.ts';
import { context } from '../unit/planner/company.ts';

const SIZES = sizesOf('attacks/budget');

const parser = await loadNodeParser();
const UNLIMITED = { nodes: Number.POSITIVE_INFINITY, steps: Number.POSITIVE_INFINITY, entries: Number.POSITIVE_INFINITY };

interface Outcome {
  readonly code: string;
  readonly message: string;
  readonly offset: number | undefined;
  readonly nodes: number;
  readonly steps: number;
}

function outcomeOf(make: () => void): Outcome {
  const all = new Budget(UNLIMITED, 'all');
  let fault: SvcError | undefined;
  all.run(() => {
    try {
      make();
    } catch (error) {
      if (!(error instanceof SvcError)) throw error;
      fault = error;
    }
  });
  return { code: fault?.code ?? 'planned', message: fault?.message ?? '', offset: fault?.offset, nodes: all.nodes, steps: all.steps };
}

/** Statements and scripts that were tried before. */
const tried = new Map<string, Outcome>();
function once(text: string, make: (text: string) => Outcome): Outcome {
  const outcome = tried.get(text) ?? make(text);
  tried.set(text, outcome);
  return outcome;
}

const plan = (sql: string): Outcome => once(sql, () => outcomeOf(() => planSelect(context, { text: sql, offset: 7 })));
const script = (text: string): Outcome => once(text, applied);

/** A script as the service applies and checks it. */
function applied(text: string): Outcome {
  const budget = new Budget(SCRIPT_LIMITS, 'the script');
  const apply = { ...createSqlReader(parser, 'svc'), ontology: 'm', datasources: ['main'], activeDatasource: 'main', product: 'svc', places: new Places() };
  return outcomeOf(() => {
    let model = EMPTY_MODEL;
    for (const source of splitScript(text)) {
      const statement = parseStatement(source) as Exclude<ModelStatement, RollbackOntology>;
      model = budget.run(() => applyStatement(model, statement, apply), source.offset);
    }
    const checked = budget.run(() => finish(EMPTY_MODEL, model, apply));
    budget.run(() => checkModel(checked.graph, parser, checked.pieces));
  });
}

describe('a statement', () => {
  it('is short enough to be sent', () => {
    expect(Object.keys(HEAVY_STATEMENTS).length).toBeGreaterThanOrEqual(50);
    expect(Object.entries(HEAVY_STATEMENTS).filter(([, sql]) => Buffer.byteLength(sql) > 64 * 1024)).toEqual([]);
  });

  it.each(Object.entries(HEAVY_STATEMENTS))('%s', (_what, sql) => {
    const { code, nodes, steps } = plan(sql);
    expect(['planned', 'too_complex', 'duplicate_column', 'unknown_column']).toContain(code);
    // one more node exceeds it
    expect(nodes).toBeLessThanOrEqual(PLAN_LIMITS.nodes + 100);
    expect(steps).toBeLessThanOrEqual(PLAN_LIMITS.steps + 10_000);
  });

  it.each([
    ['an alias of 1,000 parts, named 1,000 times', 'the alias `a`'],
    ['an alias of 4,000 parts, named 4,000 times', 'the alias `a`'],
    ['an alias in HAVING', 'the alias `a`'],
    ['a whole row 20,000 times', 'the row of `t`'],
    ['16,000 wildcards', 'the columns of `*`'],
    ['columns that double in each CTE', 'the columns of `*`'],
  ])('is refused with the name of what has grown: %s', (what, grown) => {
    const { code, message, offset } = plan(HEAVY_STATEMENTS[what] as string);
    expect([code, offset]).toEqual(['too_complex', 7]);
    expect(message).toBe(`the plan of the statement becomes too large; the larger part of it comes from ${grown}`);
  });

  it('is refused if its sort expressions are compared with its columns for too long', () =>
    expect(plan(HEAVY_STATEMENTS['sort expressions that differ from columns at their end'] as string).code).toBe('too_complex'));

  it.each([['a list of 60 KB'], ['a cube of twelve columns'], ['2,500 aggregates'], ['a list of 4,500 keys'], ['a whole row 200 times']])(
    'is planned: %s',
    (what) => expect(plan(HEAVY_STATEMENTS[what] as string).code).toBe('planned'),
  );

  it('costs about the same with a key in GROUP BY, however many expressions are grouped and columns are read', () => {
    const grouped = (key: string): string =>
      `SELECT count(*) AS n FROM svc.employee GROUP BY ${key}, ${Array.from({ length: 3000 }, () => '1+1').join()} HAVING salary IN (${Array.from({ length: 3000 }, () => 'salary').join()})`;
    const cost = (sql: string): number => {
      const costs = [1, 2].map(() => {
        const begun = process.cpuUsage();
        planSelect(context, { text: sql, offset: 0 });
        const { user, system } = process.cpuUsage(begun);
        return user + system;
      });
      return Math.min(...costs);
    };
    expect(cost(grouped('entity_id')) / cost(grouped('salary'))).toBeLessThan(4);
  });

  it('leaves at least a tenth of the budget unused if it is written by hand', () => {
    const columns = Array.from({ length: 300 }, (_, i) => `salary + ${i} AS c${i}`).join(', ');
    const ctes = Array.from({ length: 30 }, (_, i) => `x${i} AS (SELECT ${i ? `a + 1 AS a FROM x${i - 1}` : '1 AS a'})`).join(', ');
    const joins = Array.from({ length: 19 }, (_, i) => `JOIN svc.town c${i + 1} ON c${i + 1}.town_id = c${i}.town_id`).join(' ');
    for (const sql of [`SELECT ${columns} FROM svc.employee`, `WITH ${ctes} SELECT a FROM x29`, `SELECT count(*) AS n FROM svc.town c0 ${joins}`]) {
      const { code, nodes, steps } = plan(sql);
      expect(code).toBe('planned');
      expect(nodes).toBeLessThan(PLAN_LIMITS.nodes / 10);
      expect(steps).toBeLessThan(PLAN_LIMITS.steps / 10);
    }
  });
});

describe('a script', () => {
  it('is short enough to be sent', () => expect(Object.entries(HEAVY_SCRIPTS).filter(([, text]) => Buffer.byteLength(text) > 1024 * 1024)).toEqual([]));

  it.each(oneIn(SIZES.everyScript, Object.entries(HEAVY_SCRIPTS), 0))('%s', (_what, text) => {
    const { code, nodes, steps } = script(text);
    expect(code).toBe('too_complex');
    expect(nodes).toBeLessThanOrEqual(SCRIPT_LIMITS.nodes + PLAN_LIMITS.nodes + 100);
    expect(steps).toBeLessThanOrEqual(SCRIPT_LIMITS.steps + PLAN_LIMITS.steps + 100_000);
  });

  it('names what has grown', () => {
    expect(script(HEAVY_SCRIPTS['17 views that double'] as string).message).toMatch(
      /^the plan of the view `q\d+` becomes too large; the larger part of it comes from the view `q\d+`$/,
    );
    expect(script(HEAVY_SCRIPTS['18 calculated properties that double'] as string).message).toMatch(
      /^the plan of the calculated property `q\d+` becomes too large; /,
    );
  });

  it('is applied with 2,000 concepts of 20 properties', () => {
    const concepts = Array.from(
      { length: 2000 },
      (_, i) => `CREATE CONCEPT c${i} (k${i} bigint, ${Array.from({ length: 20 }, (_, p) => `p${i}_${p} string`).join(', ')}, PRIMARY KEY (k${i}));`,
    ).join('\n');
    expect(script(concepts).code).toBe('planned');
  });

  it('pays for the parts of the rows of logic concepts that unmapped concepts have', () => {
    const mapping = (c: string): string => `CREATE MAPPING m_${c} INTO ${c} AS SELECT id FROM raw.t;`;
    const logic = Array.from({ length: 60 }, (_, i) => `CREATE CONCEPT l${i} INHERITS (top) FROM svc.${i ? `l${i - 1}` : 'top'} WHERE id > 0;`).join('');
    const parts = Array.from(
      { length: 100 },
      (_, i) =>
        `CREATE CONCEPT d${i} INHERITS (top);${mapping(`d${i}`)}CREATE CONCEPT k${i} INHERITS (d${i}) FROM svc.d${i} WHERE id > 0;CREATE CONCEPT u${i} INHERITS (l59, k${i});`,
    ).join('');
    const { code, nodes } = script(`CREATE CONCEPT top (id bigint, PRIMARY KEY (id));${mapping('top')}${logic}${parts}`);
    expect(code).toBe('planned');
    // a concept has about 600 bytes
    expect(nodes).toBeGreaterThan(100 * 60 * 20);
  });

  it('is refused for many small costs together', () => {
    const limits = { nodes: 10, steps: 100, entries: 10, units: 150 };
    const both = (): void => {
      made(5);
      visited(60);
    };
    expect(outcomeOf(() => new Budget(limits, 'x').run(both)).code).toBe('too_complex');
    expect(outcomeOf(() => new Budget({ ...limits, units: 160 }, 'x').run(both)).code).toBe('planned');
  });

  it('is applied if it is a large model', () => {
    const concepts = Array.from(
      { length: 500 },
      (_, i) =>
        `CREATE CONCEPT c${i} (k${i} bigint, ${Array.from({ length: 20 }, (_, p) => `p${i}_${p} string`).join(', ')}, PRIMARY KEY (k${i})${i ? `, CONSTRAINT r${i} FOREIGN KEY (k${i}) REFERENCES c${i - 1} (k${i - 1}) INVERSEOF s${i}` : ''});
CREATE MAPPING m${i} INTO c${i} AS SELECT id AS k${i}, ${Array.from({ length: 20 }, (_, p) => `x${p} AS p${i}_${p}`).join(', ')} FROM raw.t${i};`,
    ).join('\n');
    const { code, nodes, steps } = script(concepts);
    expect(code).toBe('planned');
    expect(nodes).toBeLessThan(SCRIPT_LIMITS.nodes / 4);
    expect(steps).toBeLessThan(SCRIPT_LIMITS.steps / 4);
  });
});

describe('the description of a model', () => {
  const caller = { principal: { isAdmin: true, grants: [], roles: [] }, snapshot: { ontologies: [], datasources: [], agents: [] } };
  const read = (concepts: number, mappings: number, table: string): Outcome => {
    const chain = Array.from({ length: concepts }, (_, i) => ({
      ...{ name: `c${i}`, parents: i === 0 ? [] : [`c${i - 1}`], properties: i === 0 ? ['k'] : [], multi: [], measures: [], primaryKey: [], label: [] },
      ...{ relationships: [], description: null, tags: {}, logic: null },
    }));
    const bottom = Array.from({ length: mappings }, (_, i) => ({
      ...{ name: `m${i}`, kind: 'concept' as const, concept: `c${concepts - 1}`, property: null, link: null, datasource: 'main' },
      ...{ sql: `SELECT k FROM raw.some_table_${i}`, columns: [{ name: 'k' }] },
    }));
    const model = {
      ...EMPTY_MODEL,
      properties: [{ name: 'k', type: 'string', multi: false, description: null, tags: {}, expression: null }],
      concepts: chain,
      mappings: bottom,
    };
    const system = systemTables({ caller, graph: compile(model, 'm'), parser, product: 'svc' } as never);
    return outcomeOf(() => void system(table));
  };

  it('is limited', () => {
    expect(read(20, 100, 'SYS_CONCEPT_PROPERTIES').code).toBe('planned');
    const { code, message } = read(900, 2000, 'SYS_CONCEPT_PROPERTIES');
    expect([code, message]).toEqual(['too_complex', 'the system table SYS_CONCEPT_PROPERTIES becomes too large']);
  });
});

/** The model of a script, without its checks. */
function modelOf(text: string): Model {
  const apply = { ...createSqlReader(parser, 'svc'), ontology: 'm', datasources: ['main'], activeDatasource: 'main', product: 'svc', places: new Places() };
  return splitScript(text).reduce(
    (model: Model, source) => applyStatement(model, parseStatement(source) as Exclude<ModelStatement, RollbackOntology>, apply),
    EMPTY_MODEL,
  );
}

it('a plan reads the columns of the mappings of a relationship in linear time', () => {
  const readsOf = (n: number): number => {
    const links = Array.from(
      { length: n },
      (_, i) =>
        `CREATE MAPPING l${i} (CONSTRAINT near FOREIGN KEY (b) REFERENCES t (id), CONSTRAINT close FOREIGN KEY (a) REFERENCES t (id)) AS SELECT a, b FROM raw.l${i}`,
    );
    const model = modelOf(
      `CREATE CONCEPT t (id bigint, PRIMARY KEY (id), CONSTRAINT near MULTIREFERENCE t INVERSEOF close); CREATE MAPPING m INTO (t) AS SELECT id FROM raw.t; ${links.join('; ')}`,
    );
    let reads = 0;
    const counted = model.mappings.map(({ columns, ...mapping }) => ({
      ...mapping,
      get columns() {
        reads++;
        return columns;
      },
    }));
    const graph = compile({ ...model, mappings: counted }, 'm');
    reads = 0;
    planSelect({ ...context, graph }, { text: 'SELECT "near[t].id" AS a FROM dsvc.t', offset: 0 });
    return reads;
  };
  expect(readsOf(200)).toBeLessThan(2.5 * readsOf(100));
});

/** Values whose `key` counts how often it is read. */
function counting<T extends object>(key: string, reads: { count: number }, value: T): T {
  const read = (value as Record<string, unknown>)[key];
  return Object.defineProperty({ ...value }, key, {
    enumerable: true,
    get: () => {
      reads.count++;
      return read;
    },
  });
}

describe('names that a statement has twice are found in linear time:', () => {
  const named = (text: string, n: number): string => Array.from({ length: n }, (_, i) => `${text}${i}`).join(', ');
  const applyContext = { ...createSqlReader(parser, 'svc'), ontology: 'm', datasources: ['main'], activeDatasource: 'main', product: 'svc' };
  /** How often the texts of names are read while a statement is applied. */
  const readsOf = (text: string): number => {
    const reads = { count: 0 };
    const name = (n: { readonly text: string; readonly offset: number }) => counting('text', reads, n);
    const element = (e: object): object =>
      Object.fromEntries(
        Object.entries(e).map(([key, value]) => [key, key === 'name' ? name(value) : Array.isArray(value) && key !== 'tags' ? value.map(name) : value]),
      );
    const statement = parseStatement({ text, offset: 0 }) as Exclude<ModelStatement, RollbackOntology>;
    const counted = {
      ...statement,
      ...('parents' in statement ? { parents: statement.parents.map(name), elements: statement.elements.map(element) } : {}),
    } as typeof statement;
    const columnsOf: typeof applyContext.columnsOf = (sql) => applyContext.columnsOf(sql)?.map((c) => counting('name', reads, c)) ?? null;
    applyStatement(EMPTY_MODEL, counted, { ...applyContext, columnsOf, places: new Places() });
    return reads.count;
  };
  const statements: Readonly<Record<string, (n: number) => string>> = {
    'the parents of a concept': (n) => `CREATE CONCEPT c INHERITS (${named('p', n)})`,
    'the properties of its key': (n) => `CREATE CONCEPT c (a int, PRIMARY KEY (${named('k', n)}))`,
    'its relationships': (n) =>
      `CREATE CONCEPT c (a int, ${Array.from({ length: n }, (_, i) => `CONSTRAINT r${i} FOREIGN KEY (a) REFERENCES c (a)`).join(', ')})`,
    'the parts of a relationship': (n) => `CREATE CONCEPT c (CONSTRAINT r MULTIREFERENCE c INCLUDES (${named('i', n)}))`,
    'the columns of a mapping': (n) => `CREATE MAPPING m INTO c AS SELECT ${named('x', n)} FROM t`,
  };
  it.each(Object.entries(statements))('%s', (_what, statement) => {
    const reads = readsOf(statement(100));
    expect(reads).toBeGreaterThanOrEqual(100);
    expect(readsOf(statement(200))).toBeLessThan(2.5 * reads);
  });

  it('the properties of a concept that its calculated properties read', () => {
    const readsOfModel = (n: number): number => {
      const model = modelOf(
        `${Array.from({ length: n }, (_, i) => `CREATE PROPERTY q${i} int AS SELECT p${n - 1 - i} + 1`).join('; ')}; CREATE CONCEPT c (a int, ${named('p', n)}, ${named('q', n)}, PRIMARY KEY (a))`.replaceAll(
          /\b([pq]\d+)(?=[,)])/g,
          '$1 int',
        ),
      );
      const reads = { count: 0 };
      const counted = { ...model, properties: model.properties.map((p) => counting('name', reads, p)) };
      finish(EMPTY_MODEL, counted, { ...applyContext, places: new Places() });
      return reads.count;
    };
    expect(readsOfModel(200)).toBeLessThan(2.5 * readsOfModel(100));
  });

  it('the views of a model, of which a script drops many', () => {
    const views = Array.from({ length: 100 }, (_, i) => `v${i}`);
    const model = modelOf(`CREATE CONCEPT c (a int, PRIMARY KEY (a)); ${views.map((v) => `CREATE VIEW ${v} AS SELECT a FROM svc.c`).join('; ')}`);
    const reads = { count: 0 };
    let dropped: Model = { ...model, views: model.views.map((v) => counting('name', reads, v)) };
    for (const v of views) {
      const statement = parseStatement({ text: `DROP VIEW ${v}`, offset: 0 }) as Exclude<ModelStatement, RollbackOntology>;
      dropped = applyStatement(dropped, statement, { ...applyContext, places: new Places() });
    }
    expect(dropped.views).toEqual([]);
    expect(reads.count).toBeLessThan(10 * views.length);
  });

  it('the columns of mappings that provide no property', () => {
    const readsOfModel = (n: number): number => {
      const model = modelOf(
        `CREATE CONCEPT c (a int, ${named('p', n).replaceAll(/(p\d+)/g, '$1 int')}, PRIMARY KEY (a)); CREATE MAPPING m INTO c AS SELECT a, ${named('x', n)} FROM t`,
      );
      const reads = { count: 0 };
      const mappings = model.mappings.map((m) => ({ ...m, columns: m.columns.map((column) => counting('name', reads, column)) }));
      expect(validate(compile({ ...model, mappings }, 'm')).filter((w) => w.code === 'unused_column')).toHaveLength(n);
      return reads.count;
    };
    expect(readsOfModel(200)).toBeLessThan(2.5 * readsOfModel(100));
  });
});

describe('relationships are checked in linear time:', () => {
  const names = (n: number, text: (i: number) => string): string => Array.from({ length: n }, (_, i) => text(i)).join(', ');
  /** How often the names of properties and relationships are read while a script is completed. */
  const readsOf = (text: string): number => {
    const reads = { count: 0 };
    const model = modelOf(text);
    const named = <T extends { readonly name: string }>(list: readonly T[]) =>
      list.map((x) => counting('name', reads, 'target' in x ? counting('target', reads, x) : x));
    const counted = {
      ...model,
      properties: named(model.properties),
      concepts: model.concepts.map((c) => ({ ...c, relationships: named(c.relationships) })),
    };
    const apply = { ...createSqlReader(parser, 'svc'), ontology: 'm', datasources: ['main'], activeDatasource: 'main', product: 'svc', places: new Places() };
    const { graph } = finish(counted, counted, apply);
    for (const c of graph.concepts) c.relationships.length;
    return reads.count;
  };
  it.each([
    [
      'their inverse names',
      (n: number) =>
        `CREATE CONCEPT b (b_id int, PRIMARY KEY (b_id)); CREATE CONCEPT a (a_id int, PRIMARY KEY (a_id), ${names(n, (i) => `CONSTRAINT r${i} MULTIREFERENCE b INVERSEOF s${i}`)})`,
    ],
    [
      'both of their declarations',
      (n: number) =>
        `CREATE CONCEPT b (b_id int, PRIMARY KEY (b_id), ${names(n, (i) => `CONSTRAINT s${i} MULTIREFERENCE a`)}); CREATE CONCEPT a (a_id int, PRIMARY KEY (a_id), ${names(n, (i) => `CONSTRAINT r${i} MULTIREFERENCE b INVERSEOF s${i}`)})`,
    ],
    [
      'the properties of any concept that they refer to',
      (n: number) =>
        `CREATE CONCEPT b (${names(n, (i) => `p${i} int`)}); CREATE CONCEPT a (a_id int, PRIMARY KEY (a_id), ${names(n, (i) => `CONSTRAINT r${i} FOREIGN KEY (a_id) REFERENCES thing (p${i})`)})`,
    ],
  ])('%s', (_what, script) => {
    const reads = readsOf(script(100));
    expect(reads).toBeGreaterThanOrEqual(100);
    expect(readsOf(script(200))).toBeLessThan(2.5 * reads);
  });
});

it('the tree of a text counts by its size: a text of numbers costs more than a literal of the same length', () => {
  const stepsOf = (sql: string): number => outcomeOf(() => void parser.parse(sql)).steps;
  const literal = stepsOf(`SELECT '${'x'.repeat(20_000)}'`);
  const numbers = stepsOf(`SELECT ${'1,'.repeat(10_000)}1`);
  expect(literal).toBeGreaterThan(5000);
  expect(numbers).toBeGreaterThan(10 * literal);
});

it('policies on each concept of a long line cost a statement little that reads none of them', () => {
  const count = 600;
  const lines = Array.from({ length: count }, (_, i) =>
    i === 0 ? 'CREATE CONCEPT c0 (id bigint, PRIMARY KEY (id))' : `CREATE CONCEPT c${i} INHERITS (c${i - 1})`,
  );
  const mappings = lines.map((_, i) => `CREATE MAPPING m${i} INTO c${i} AS SELECT id FROM s.t${i}`);
  const rows = lines.map((_, i) => ({ concept: `c${i}`, conditions: [{ policy: `p${i}`, condition: 'id > 0' }] }));
  const masks = lines.map((_, i) => ({ policy: `q${i}`, property: 'id', concept: `c${i}`, mask: { kind: 'null' } as const }));
  const cost = <T>(make: () => T): readonly [T, number] => {
    const { user, system } = process.cpuUsage();
    const made = make();
    const after = process.cpuUsage();
    return [made, after.user + after.system - user - system];
  };
  const script = [...lines, ...mappings, 'CREATE CONCEPT z (zid bigint, PRIMARY KEY (zid))', 'CREATE MAPPING mz INTO z AS SELECT zid FROM s.z'].join(';\n');
  const [graph, compiled] = cost(() => graphOf(`${script};`, 'line', parser));
  const access = { rows, masks, caller: { username: 'u', roles: [], claims: {} }, maskKey: 'k' };
  const [{ sql }, planned] = cost(() => planSelect({ ...context, graph, access }, { text: 'SELECT zid FROM svc.z', offset: 0 }));
  expect(sql).toContain('s.z');
  expect(planned).toBeLessThan(compiled / 4);
});

it('statements of editors who see a part of a model do not search all of its concepts each', () => {
  const whole = modelOf('CREATE CONCEPT hidden (secret string); CREATE PROPERTY unused string');
  let reads = 0;
  const concepts = whole.concepts.map(({ properties, ...concept }) => ({
    ...concept,
    get properties() {
      reads++;
      return properties;
    },
  }));
  const hides = (text: string): boolean => makesHidden(parseStatement({ text, offset: 0 }) as ModelStatement, EMPTY_MODEL, { ...whole, concepts });
  expect([hides('CREATE OR REPLACE PROPERTY secret string'), hides('CREATE OR REPLACE PROPERTY unused string')]).toEqual([true, false]);
  const first = reads;
  for (let i = 0; i < 100; i++) hides('CREATE OR REPLACE PROPERTY unused string');
  expect(reads).toBe(first);
});

it('each statement of an editor of some concepts that replaces a property compiles no model, or pays for it', () => {
  const names = ['a', ...Array.from({ length: 1000 }, (_, i) => `free${i}`)];
  const properties: readonly PropertyDef[] = names.map((name) => ({ name, type: 'string', multi: false, description: null, tags: {}, expression: null }));
  const listing = conceptOf('c', ['a']);
  let reads = 0;
  const model: Model = {
    ...EMPTY_MODEL,
    concepts: [listing],
    properties: new Proxy(properties, {
      get: (list, key) => {
        if (key !== 'length') reads++;
        return Reflect.get(list, key);
      },
    }),
  };
  const editor = { isAdmin: false, grants: [] };
  const replace = (name: string): Outcome =>
    outcomeOf(() => {
      const statement = parseStatement({ text: `CREATE OR REPLACE PROPERTY ${name} string`, offset: 0 }) as ModelStatement;
      requireUsable(editor, statement, model, { concept: new Set(['c']), view: new Set() }, 'm');
    });
  expect(replace('free7')).toMatchObject({ code: 'planned' });
  expect(reads).toBe(0);
  expect(replace('a').steps).toBeGreaterThan(1000);
});

it('counts the policies in the key of a plan', () => {
  const keyed = (characters: number): number =>
    outcomeOf(() => {
      const condition = 'x'.repeat(characters);
      accessKey({
        rows: [{ concept: 'c', conditions: [{ policy: 'p', condition }] }],
        masks: [],
        caller: { username: 'u', roles: [], claims: {} },
        maskKey: '',
      });
    }).steps;
  expect(keyed(1_600_000) - keyed(0)).toBe(100_000);
});

describe('a budget', () => {
  const small = { nodes: 10, steps: 100, entries: 10 };
  const codeOf = (make: () => void): string => outcomeOf(make).code;

  it('limits nodes and steps', () => {
    expect(codeOf(() => new Budget(small, 'x').run(() => made(11)))).toBe('too_complex');
    expect(codeOf(() => new Budget(small, 'x').run(() => visited(101)))).toBe('too_complex');
    expect(codeOf(() => new Budget(small, 'x').run(() => made(10)))).toBe('planned');
  });

  it('counts all its runs together, including nested ones', () => {
    const budget = new Budget(small, 'x');
    budget.run(() => made(6));
    expect(codeOf(() => budget.run(() => made(6)))).toBe('too_complex');
    const outer = new Budget(small, 'outer');
    expect(codeOf(() => outer.run(() => [1, 2].forEach(() => void new Budget(small, 'inner').run(() => made(6)))))).toBe('too_complex');
  });

  it('counts nothing outside of a run', () => {
    made(1_000_000);
    visited(1_000_000_000);
  });

  it('names the object that used most of it', () => {
    const { message } = outcomeOf(() =>
      new Budget(small, 'the plan').run(() => {
        growing('the view `a`', () => made(2));
        growing('the view `b`', () => made(20));
      }),
    );
    expect(message).toBe('the plan becomes too large; the larger part of it comes from the view `b`');
  });
});
