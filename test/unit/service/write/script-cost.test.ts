/** What the checks of a script cost: how often its SQL is parsed, and when a script that is too large is refused. */
import { describe, expect, it, vi } from 'vitest';
import { graphOf } from '../../../../examples/world/graph.ts';
import type { Caller } from '../../../../src/auth/authenticate.ts';
import { Budget } from '../../../../src/budget.ts';
import { loadNodeParser } from '../../../../src/cli/node-parser.ts';
import { readConfig } from '../../../../src/config.ts';
import { SvcError } from '../../../../src/errors.ts';
import { parseStatement } from '../../../../src/language/classify.ts';
import { splitScript } from '../../../../src/language/split.ts';
import type { ModelStatement, Statement } from '../../../../src/language/statements.ts';
import { Places } from '../../../../src/ontology/apply.ts';
import { EMPTY_MODEL } from '../../../../src/ontology/model.ts';
import { validate } from '../../../../src/ontology/validate.ts';
import { WriteRun } from '../../../../src/service/ops/write-run.ts';
import type { Runtime } from '../../../../src/service/runtime.ts';
import { Spending } from '../../../../src/service/spending.ts';
import { Draft } from '../../../../src/service/write/draft.ts';
import { WrittenPieces } from '../../../../src/service/write/written-pieces.ts';
import { scripted } from '../../../support/scripted.ts';

const parser = await loadNodeParser();
const connection = JSON.stringify({ url: 'postgres://u:p@db.localhost/x', endpoint: 'http://127.0.0.1:1/sql' });
const config = readConfig({ DATASOURCE_MAIN: connection });
const caller = {
  principal: { userId: 'a', name: 'a', isAdmin: true, roles: [], grants: [], credential: 'api_token', tenant: null, claims: {} },
  snapshot: { datasources: [{ id: 'main', name: 'main', key: 'main', type: 'postgres', secret: Object.keys(config.datasourceSecrets)[0] }], ontologies: [] },
} as unknown as Caller;

/** Applies and checks a script of a new ontology. @returns the code of its error, the position of it, and how many texts were parsed */
async function cost(script: string) {
  let parsed = 0;
  let asked = 0;
  const counting = {
    parse: (sql: string) => {
      parsed++;
      return parser.parse(sql);
    },
  };
  vi.spyOn(globalThis, 'fetch').mockImplementation(async (_address, init) => {
    const body = JSON.parse(String(init?.body)) as { query: string; queries?: readonly { query: string }[] };
    asked++;
    const results = (body.queries ?? [body]).map(({ query }) => ({
      fields: query.endsWith('LIMIT 0') ? [{ name: 'id', dataTypeID: 20 }] : [],
      rows: query.includes('pg_collation_for') ? [['"default"']] : [],
    }));
    return Response.json(body.queries === undefined ? results[0] : { results });
  });
  const runtime = { config, parser: counting, now: () => 0, waitUntil: () => undefined, log: () => undefined } as unknown as Runtime;
  const spending = new Spending();
  const draft = Draft.create({ runtime, spending }, caller, 'm', null, '');
  const end = (error?: SvcError) => {
    const { nodes, steps, entries, units } = spending.models;
    return { code: error?.code ?? 'accepted', offset: error?.offset, parsed, asked, nodes, steps, entries, units };
  };
  try {
    for (const source of splitScript(script)) await draft.apply(parseStatement(source) as ModelStatement);
    await draft.graph();
    return end();
  } catch (error) {
    if (!(error instanceof SvcError)) throw error;
    return end(error);
  }
}

const range = (n: number, text: (i: number) => string, separator = ''): string => Array.from({ length: n }, (_, i) => text(i)).join(separator);
const BASE = 'CREATE CONCEPT city (id bigint, PRIMARY KEY (id));CREATE MAPPING m INTO city AS SELECT id FROM raw.t;';
const where = (n: number, name: string): string => range(n, (i) => `${name} = ${i}`, ' OR ');

describe('the SQL of a script', () => {
  it.each([
    ['a mapping', (i: number) => `CREATE MAPPING m${i} INTO city AS SELECT id FROM raw.t${i};`],
    ['a view on tables', (i: number) => `CREATE VIEW v${i} AS SELECT id FROM raw.t${i};`],
  ])('is parsed when it is applied, checked and verified: %s', async (_what, statement) => {
    const of = async (n: number) => cost(`${BASE}${range(n, statement)}`);
    const [few, more] = [await of(2), await of(12)];
    expect([few.code, more.code]).toEqual(['accepted', 'accepted']);
    expect(more.parsed - few.parsed).toBe(30);
  });

  it.each([
    ['1,500 mappings with conditions of 40 parts', range(1500, (i) => `CREATE MAPPING m${i} INTO city AS SELECT id FROM raw.t${i} WHERE ${where(40, 'k')};`)],
    ['3,000 views', range(3000, (i) => `CREATE VIEW v${i} AS SELECT id FROM svc.city WHERE id = ${i};`)],
  ])('is refused before it is checked if the checks would exceed the budget: %s', async (_what, statements) => {
    const { code, offset, parsed, units } = await cost(BASE + statements);
    const applied = `${BASE}${statements}`.slice(0, offset).split(';').length - 1;
    expect(code).toBe('too_complex');
    // the first statement has no SQL, and the last one is the refused one
    expect([parsed - applied, units < 9_000_000]).toEqual([0, true]);
  });

  it('is refused before it is planned if many concepts list it', async () => {
    const written = `${range(200, (i) => `CREATE PROPERTY p${i} int AS SELECT id + ${i};`)}${range(400, (i) => `CREATE CONCEPT c${i} (${range(150, (j) => `p${j} int`, ',')}) INHERITS (city);`)}`;
    const { code, nodes } = await cost(BASE + written);
    expect([code, nodes]).toEqual(['too_complex', 0]);
  });

  it('is planned only for the concepts that list it', async () => {
    const of = async (concepts: number) =>
      cost(`${BASE}CREATE CONCEPT d (${range(500, (i) => `p${i} int`, ',')}) INHERITS (city);${range(concepts, (i) => `CREATE CONCEPT c${i} INHERITS (d);`)}
        ${range(20, (i) => `CREATE PROPERTY q${i} int AS SELECT id + ${i};`)}CREATE CONCEPT e (${range(20, (i) => `q${i} int`, ',')}) INHERITS (city);`);
    const [few, more] = [await of(5), await of(25)];
    expect([few.code, more.code]).toEqual(['accepted', 'accepted']);
    // each concept was searched for each of 20 properties: 20 * 20 * 500 steps
    expect(more.steps - few.steps).toBeLessThan(100_000);
  });

  it('counts once if a statement replaces another, and not after its checks', async () => {
    const one = 'CREATE OR REPLACE MAPPING m INTO city AS SELECT id FROM raw.t;';
    const { code, units } = await cost(`${BASE}${range(2000, () => one)}`);
    expect([code, units < 6_000_000]).toEqual(['accepted', true]);
  });
});

it('a line of concepts is refused before its ancestors are listed, in any order', async () => {
  const { code, entries } = await cost(BASE + range(1500, (i) => `CREATE CONCEPT c${i} INHERITS (${i === 1499 ? 'city' : `c${i + 1}`});`));
  expect([code, entries]).toEqual(['too_complex', 0]);
});

describe('what is dropped or replaced without SQL is not expected to be checked:', () => {
  it.each([
    ['a view', (i: number) => `CREATE VIEW v${i} AS SELECT id FROM svc.city;DROP VIEW v${i};`],
    ['a mapping', (i: number) => `CREATE MAPPING m${i} INTO city AS SELECT id FROM raw.t;DROP MAPPING m${i};`],
    ['a calculated property', (i: number) => `CREATE PROPERTY p${i} int AS SELECT id + 1;CREATE OR REPLACE PROPERTY p${i} int;DROP PROPERTY p${i};`],
    ['a measure', (i: number) => `CREATE MEASURE p${i} bigint AS SELECT COUNT(id);DROP MEASURE p${i};`],
    [
      'a logic concept',
      (i: number) => `CREATE CONCEPT c${i} INHERITS (city) FROM svc.city WHERE id = ${i};CREATE OR REPLACE CONCEPT c${i};DROP CONCEPT c${i};`,
    ],
  ])('%s', (_what, statements) => {
    const pieces = new WrittenPieces();
    const expected = splitScript(statements(1)).map((source) => {
      pieces.note(parseStatement(source) as ModelStatement, EMPTY_MODEL, 1000);
      return [pieces.expected > 0, pieces.values().length];
    });
    expect(expected).toEqual([[true, 1], ...expected.slice(1).map(() => [false, 0])]);
  });

  it('2,500 views, each dropped again', async () => {
    const pairs = range(2500, (i) => `CREATE VIEW v${i} AS SELECT id FROM svc.city;DROP VIEW v${i};`);
    const [none, some] = [await cost(BASE), await cost(BASE + pairs)];
    // the datasource is asked only about the mapping that remains
    expect([some.code, some.asked]).toEqual(['accepted', none.asked]);
  });
});

describe('a script that exceeds the budget in any case', () => {
  /** Begins a script as a request does. @returns the code and position of its error */
  const begin = async (script: string) => {
    const spending = new Spending();
    const runtime = { config, parser, now: () => 0, waitUntil: () => undefined, log: () => undefined } as unknown as Runtime;
    const whole = { ...caller, snapshot: { ...caller.snapshot, isWhole: true, agents: [] } } as unknown as Caller;
    const begun = { request: { runtime, spending }, script: { sql: script, ontology: '' }, statements: splitScript(script).map(parseStatement), caller: whole };
    const error: unknown = await WriteRun.of({ ...begun, row: undefined } as never).then(
      () => undefined,
      (e: unknown) => e,
    );
    if (error !== undefined && !(error instanceof SvcError)) throw error;
    return { code: error?.code ?? 'begun', offset: error?.offset ?? 0, units: spending.models.units };
  };
  const mapping = (i: number): string => `CREATE MAPPING m${i} INTO city AS SELECT id FROM raw.t${i} WHERE ${where(40, 'k')};`;
  const view = (i: number, verb = 'CREATE'): string => `${verb} VIEW v${i} AS SELECT id FROM svc.city WHERE id = ${i};`;

  it.each([
    ['2,400 mappings with conditions of 40 parts', BASE + range(2400, mapping)],
    ['9,000 views', BASE + range(9000, view)],
    ['a line of 5,000 concepts', BASE + range(5000, (i) => `CREATE CONCEPT c${i} INHERITS (${i ? `c${i - 1}` : 'city'});`)],
    ['20,000 properties', BASE + range(20_000, (i) => `CREATE PROPERTY p${i} int;`)],
    ['5,000 views, and 3,000 of them again', BASE + range(5000, view) + range(3000, (i) => view(i, 'CREATE OR REPLACE'))],
  ])('is refused before its first statement is applied: %s', async (_what, script) => {
    const { code, offset, units } = await begin(script);
    expect([code, units]).toEqual(['too_complex', 0]);
    expect(script.slice(offset)).toMatch(/^CREATE/);
  });

  it.each([
    ['views that are dropped', range(9000, (i) => `${view(i)}DROP VIEW v${i};`)],
    ['a view that is replaced', range(9000, () => view(1, 'CREATE OR REPLACE'))],
    ['views that may exist', range(9000, (i) => `CREATE VIEW IF NOT EXISTS v${i} AS SELECT id FROM svc.city;`)],
    [
      'concepts in a line that is dropped',
      `${range(3000, (i) => `CREATE CONCEPT c${i} INHERITS (${i ? `c${i - 1}` : 'city'});`)}CREATE OR REPLACE CONCEPT c0;`,
    ],
    ['concepts that may exist', range(5000, (i) => `CREATE CONCEPT IF NOT EXISTS c${i} INHERITS (${i ? `c${i - 1}` : 'city'});`)],
    ['properties that are dropped', range(12_000, (i) => `CREATE PROPERTY p${i} int;DROP PROPERTY p${i};`)],
    ['properties of several ontologies', range(4, () => `DROP ONTOLOGY m;CREATE ONTOLOGY m;${range(6000, (i) => `CREATE PROPERTY p${i} int;`)}`)],
    ['views that a rollback removes', range(5, (i) => `${range(1500, (j) => view(1500 * i + j))}ROLLBACK ONTOLOGY m TO VERSION '${i}';`)],
  ])('does not count the checks of %s', async (_what, statements) => {
    expect((await begin(BASE + statements)).code).toBe('begun');
  });
});

it('the elements of a concept are freed when it is applied', async () => {
  const script = 'CREATE ONTOLOGY m; CREATE CONCEPT city (id bigint, PRIMARY KEY (id)); CREATE CONCEPT town (mayor string) INHERITS (city);';
  const statements = splitScript(script).map(parseStatement);
  const runtime = { config, parser, now: () => 0, waitUntil: () => undefined, log: () => undefined } as unknown as Runtime;
  const whole = { ...caller, snapshot: { ...caller.snapshot, isWhole: true, agents: [] } } as unknown as Caller;
  const request = { runtime, spending: new Spending(), caller: whole, about: () => undefined };
  const begun = { request, script: { sql: script, ontology: '' }, statements, caller: whole, row: undefined };
  const run = await WriteRun.of(begun as never);
  await run.dry();
  const elements = (list: readonly Statement[]) => list.flatMap((s) => (s.kind === 'create_concept' ? [s.elements.length + s.parents.length] : []));
  expect([elements(statements), elements(run.statements)]).toEqual([
    [2, 2],
    [0, 0],
  ]);
  expect(run.statements.map((s) => ('name' in s ? s.name.text : ''))).toEqual(['m', 'city', 'town']);
});

describe('what DROP searches counts:', () => {
  /** The units of a statement and a DROP after it, in a model that a script has made. */
  const unitsOf = async (model: string, pair: (i: number) => string): Promise<number> => {
    const [few, more] = [await cost(`${BASE}${model}${range(2, pair)}`), await cost(`${BASE}${model}${range(12, pair)}`)];
    expect([few.code, more.code]).toEqual(['accepted', 'accepted']);
    return (more.units - few.units) / 10;
  };
  const text = 'x'.repeat(60_000);
  it.each([
    [
      'a concept, in the texts of views',
      `CREATE VIEW v AS SELECT '${text}' AS a, id FROM svc.city;`,
      (i: number) => `CREATE CONCEPT d${i};DROP CONCEPT d${i};`,
    ],
    ['a property, in expressions', `CREATE PROPERTY v string AS SELECT '${text}';`, (i: number) => `CREATE PROPERTY d${i} int;DROP PROPERTY d${i};`],
    [
      'a measure, in expressions',
      `CREATE PROPERTY v string AS SELECT '${text}';`,
      (i: number) => `CREATE MEASURE d${i} bigint AS SELECT 1;DROP MEASURE d${i};`,
    ],
    [
      'a view, in the texts of views',
      `CREATE VIEW v AS SELECT '${text}' AS a, id FROM svc.city;`,
      (i: number) => `CREATE VIEW d${i} AS SELECT id FROM raw.t;DROP VIEW d${i};`,
    ],
  ])('%s', async (_what, model, pair) => {
    const more = (await unitsOf(model, pair)) - (await unitsOf('', pair));
    expect(more).toBeGreaterThan(text.length / 50);
  });

  it('a property, in the lists of concepts', async () => {
    const listed = await unitsOf(`CREATE CONCEPT w (${range(1000, (i) => `p${i} int`, ',')});`, (i) => `CREATE PROPERTY d${i} int;DROP PROPERTY d${i};`);
    const unlisted = await unitsOf(
      range(1000, (i) => `CREATE PROPERTY p${i} int;`),
      (i) => `CREATE PROPERTY d${i} int;DROP PROPERTY d${i};`,
    );
    expect(listed - unlisted).toBeGreaterThan(900);
  });

  it('a concept, in the names of other concepts', async () => {
    const pair = (i: number): string => `CREATE CONCEPT d${i};DROP CONCEPT d${i};`;
    const more =
      (await unitsOf(
        range(1000, (i) => `CREATE CONCEPT c${i};`),
        pair,
      )) - (await unitsOf('', pair));
    expect(more).toBeGreaterThan(1000);
    // the names of the other concepts are not read again
    expect(more).toBeLessThan(2000);
  });
});

it('each policy of an ontology counts for each concept that a script drops', async () => {
  const policies = Array.from({ length: 500 }, (_, i) => ({ concept: `other${i}`, kind: 'rows', property: null, name: `p${i}`, condition: 'true', roles: [] }));
  const spending = new Spending();
  const runtime = { config, parser, now: () => 0, waitUntil: () => undefined, log: () => undefined } as unknown as Runtime;
  const draft = Draft.create({ runtime, spending }, caller, 'm', null, '');
  draft.withPolicies(policies as never);
  const units = async (text: string): Promise<number> => {
    const before = spending.models.units;
    for (const source of splitScript(text)) await draft.apply(parseStatement(source) as ModelStatement);
    return spending.models.units - before;
  };
  expect(await units('CREATE CONCEPT d; DROP CONCEPT d;')).toBeGreaterThan(500);
});

describe('a budget with expected units', () => {
  const limits = { nodes: 1000, steps: 1000, entries: 1000, units: 100 };
  it('refuses more than fits, and nothing once they are used', () => {
    const budget = new Budget(limits, 'the script');
    budget.expect(100);
    expect(() => budget.expect(101, 7)).toThrow(expect.objectContaining({ code: 'too_complex', offset: 7 }));
    budget.expect(0);
    expect(budget.run(() => 'done')).toBe('done');
  });
});

describe('a script that checks its model many times pays for each time:', () => {
  const model = `${BASE}${range(1000, (i) => `CREATE PROPERTY p${i} int;`)}CREATE PROPERTY q int DESCRIPTION '${'x'.repeat(40_000)}';`.replace(
    /CREATE MAPPING[^;]+;/,
    '',
  );
  const change = (i: number): string => `ALTER CONCEPT city UPDATE TAG t = '${i}';`;
  const unitsOf = async (more: (i: number) => string): Promise<number> => {
    const [few, many] = [await scripted(model + range(2, more), { parser }), await scripted(model + range(12, more), { parser })];
    expect([few.code, many.code]).toEqual(['accepted', 'accepted']);
    return (many.spending.models.units - few.spending.models.units) / 10;
  };

  it.each([
    ['statements that read', (i: number) => `${change(i)}SHOW VIEWS;`, 10_000],
    // a version of 100 kB is kept until the script ends
    ['versions', (i: number) => `${change(i)}CREATE ROLE r${i};`, 60_000],
  ])('%s', async (_what, statement, least) => {
    expect((await unitsOf(statement)) - (await unitsOf(change))).toBeGreaterThan(least);
  });

  it('policies that read what it changes', async () => {
    const policies = (n: number): string => range(n, (i) => `CREATE POLICY a${i} ON CONCEPT city TO PUBLIC USING (id > ${i});`);
    const remap = (i: number): string => `CREATE OR REPLACE MAPPING m INTO city AS SELECT id FROM raw.t${i};`;
    const units = async (n: number, times: number) =>
      (await scripted(BASE + policies(n) + range(times, (i) => `${remap(i)}SHOW VIEWS;`), { parser })).spending.models.units;
    const [once, twice, more] = [await units(20, 1), await units(20, 2), await units(20, 3)];
    expect(more - twice).toBeCloseTo(twice - once);
    const without = (await units(0, 2)) - (await units(0, 1));
    expect(twice - once - without).toBeGreaterThan(20 * 4500);
  });
});

it('a script that is too large because it checks its model in turn with policies that its model affects says how to write it', async () => {
  const first = 'CREATE CONCEPT c (k int, PRIMARY KEY (k));';
  const concept = (i: number): string => `CREATE CONCEPT c${i} INHERITS (c);`;
  const policy = (i: number): string => `CREATE POLICY a${i} ON CONCEPT c TO PUBLIC USING (k > ${i});`;
  const inTurn = await scripted(first + range(100, (i) => concept(i) + policy(i)), { parser });
  const apart = await scripted(first + range(100, concept) + range(100, policy), { parser });
  const views = await scripted(`${first}${range(4000, (i) => `CREATE VIEW v${i} AS SELECT k FROM svc.c WHERE k > ${i};`)}`, { parser });
  expect([inTurn.code, apart.code, views.code]).toEqual(['too_complex', 'accepted', 'too_complex']);
  expect([inTurn.error?.hint, views.error?.hint]).toEqual([
    'Write the statements about the model before those that read or change other objects, so that it is checked once; or split the script',
    'Reference fewer objects, or split it',
  ]);
});

describe('a script that checks its model once pays nothing more for it:', () => {
  const concepts = (n: number): string => range(n, (i) => `CREATE CONCEPT c${i} (k${i} int, PRIMARY KEY (k${i}));`);
  it('the units of a check are those of its closures', async () => {
    const unitsOf = async (n: number): Promise<number> => (await scripted(concepts(n), { parser })).spending.models.units;
    // a concept: 100 and 2 for each of 47 characters, twice, and its closures
    expect(((await unitsOf(1100)) - (await unitsOf(1000))) / 100).toBeLessThan(550);
  });

  it('a model of 2,700 concepts with mappings is accepted', async () => {
    const n = 2700;
    const mappings = range(n, (i) => `CREATE MAPPING m${i} INTO c${i} AS SELECT id AS k${i}, c1 AS p${i} FROM app.table_${i};`);
    const { code } = await scripted(concepts(n).replaceAll(/(k(\d+)) int,/g, '$1 int, p$2 string,') + mappings, { parser });
    expect(code).toBe('accepted');
  });

  it('30 calculated properties that 1,000 concepts list are accepted', async () => {
    const listing = range(1000, (i) => `CREATE CONCEPT c${i} (${range(30, (j) => `p${j} int`, ',')}) INHERITS (city);`);
    const properties = range(30, (i) => `CREATE PROPERTY p${i} int AS SELECT id + ${i};`);
    const { code } = await scripted(`CREATE CONCEPT city (id bigint, PRIMARY KEY (id));${properties}${listing}`, { parser });
    expect(code).toBe('accepted');
  });
});

it('a condition that reads its own kind too deeply is refused with its place', async () => {
  const script = `${BASE}${range(400, (i) => `CREATE CONCEPT c${i} INHERITS (city) FROM svc.city WHERE ${i === 399 ? 'true' : `EXISTS (SELECT 1 FROM svc.c${i + 1} x)`};`)}`;
  const { code, error } = await scripted(script, { parser });
  const place = `CREATE ONTOLOGY m;${script}`.slice(error?.offset ?? 0);
  expect([code, error?.message, place.slice(0, 6)]).toEqual(['too_complex', expect.stringContaining('is nested too deeply'), 'EXISTS']);
});

it('properties of concepts that a script does not write are not compared with their mappings again', () => {
  const concepts = range(
    50,
    (i) =>
      `CREATE CONCEPT c${i} (k${i} int, PRIMARY KEY (k${i}));CREATE MAPPING m${i} INTO c${i} AS SELECT ${range(101, (j) => `x AS ${j === 0 ? `k${i}` : `x${j}`}`, ',')} FROM t;`,
  );
  const graph = graphOf(concepts, 'm', parser);
  const stepsOf = (places: Places | undefined): number => {
    const budget = new Budget({ nodes: 1e9, steps: 1e9, entries: 1e9 }, 'all');
    budget.run(() => validate(graph, places));
    return budget.steps;
  };
  const places = new Places();
  places.set(7, 'concept', 'c3');
  places.set(9, 'mapping', 'm4');
  // each of them has 101 columns, which are also searched for unused ones
  expect(stepsOf(undefined) - stepsOf(new Places())).toBeGreaterThanOrEqual(50 * 101);
  expect(stepsOf(places) - stepsOf(new Places())).toBeGreaterThanOrEqual(2 * 101);
  expect(stepsOf(places) - stepsOf(new Places())).toBeLessThan(5 * 101);
});

it('a model whose concepts inherit too many properties is refused, though no statement reads them', async () => {
  const { code, error } = await scripted(
    `${BASE}CREATE CONCEPT w (${range(300, (i) => `p${i} int`, ',')}) INHERITS (city);${range(1500, (i) => `CREATE CONCEPT v${i} INHERITS (w);`)}`,
    {
      parser,
    },
  );
  expect([code, error?.message]).toEqual(['too_complex', 'the script becomes too large']);
});
