/** An ontology with many long policies can be changed where they do not read it. */
import { describe, expect, it } from 'vitest';
import { Budget } from '../../../../src/budget.ts';
import type { PolicyRow } from '../../../../src/catalog/policies.ts';
import type { GrantRow, Privilege } from '../../../../src/catalog/snapshot.ts';
import { keepModel } from '../../../../src/catalog/versions.ts';
import { loadNodeParser } from '../../../../src/cli/node-parser.ts';
import { compile } from '../../../../src/ontology/compile.ts';
import type { Graph } from '../../../../src/ontology/graph.ts';
import type { Model } from '../../../../src/ontology/model.ts';
import { Touched } from '../../../../src/planner/touched/index.ts';
import { Names } from '../../../../src/planner/touched/names-in-texts.ts';
import { type Scripted, scripted, type World } from '../../../support/scripted.ts';
import { run } from '../../ontology/script.ts';

const parser = await loadNodeParser();
const { model } = run(
  `CREATE CONCEPT city (id bigint, note string, PRIMARY KEY (id));
CREATE CONCEPT "old town" (id bigint, PRIMARY KEY (id)) INHERITS (city);
CREATE CONCEPT tree (tree_id bigint, height bigint, PRIMARY KEY (tree_id));
CREATE CONCEPT ΑΣ (k bigint, PRIMARY KEY (k));
CREATE CONCEPT kind (kind_id bigint, PRIMARY KEY (kind_id));
CREATE CONCEPT known INHERITS (kind) FROM svc.kind WHERE EXISTS (SELECT 1 FROM svc.thing t WHERE t.entity_id IS NOT NULL);
CREATE VIEW counted AS SELECT count(*) AS n FROM svc.thing;
CREATE VIEW tall AS SELECT height FROM svc.tree`.replace('id bigint, PRIMARY KEY (id)) INHERITS', 'since bigint) INHERITS'),
);

const policy = (i: number, condition: string): PolicyRow =>
  ({ kind: 'row', name: `p${i}`, key: `p${i}`, concept: 'city', condition, grantees: [], isPublic: true }) as PolicyRow;

const grant = (privilege: Privilege, resource: readonly string[], all: boolean): GrantRow => ({ privilege, resource, key: resource, all, grantOption: false });
/** A user who may edit and query everything, but not make policies. */
const EDITOR = {
  isAdmin: false,
  grants: [
    ...(['edit', 'query', 'access'] as const).map((privilege) => grant(privilege, ['ontology', 'm'], true)),
    grant('query', ['datasource', 'main'], false),
  ],
};

/** Runs a script on an ontology with policies on `city`, by default as an administrator. */
function edit(script: string, policies: readonly PolicyRow[], { before = model, principal = {} }: Editing = {}): Promise<Scripted> {
  const id = crypto.randomUUID();
  keepModel(id, id, before, 1000);
  const place = { datasources: ['main'], active: 'main' };
  const row = {
    id,
    name: 'm',
    key: 'm',
    description: null,
    version: id,
    seq: 1,
    cacheGeneration: 1,
    policyGeneration: 1,
    allowedFunctions: null,
    policies,
    ...place,
  };
  return scripted(script, { parser, principal, snapshot: { ontologies: [row] }, ontology: 'm' });
}

interface Editing {
  readonly before?: Model;
  readonly principal?: World['principal'];
}

const TREE = 'CREATE OR REPLACE CONCEPT tree (tree_id bigint, height bigint, leaves bigint, PRIMARY KEY (tree_id))';

/** The same model with rows and links. */
const mapped = run(
  `CREATE MAPPING m_city INTO (city) AS SELECT id, note FROM t.cities;
CREATE MAPPING m_tree INTO (tree) AS SELECT tree_id, height FROM t.trees;
CREATE OR REPLACE CONCEPT kind (kind_id bigint, PRIMARY KEY (kind_id), CONSTRAINT of_tree MULTIREFERENCE tree);
CREATE MAPPING m_of (CONSTRAINT of_tree FOREIGN KEY (b) REFERENCES tree (tree_id), CONSTRAINT "~of_tree" FOREIGN KEY (a) REFERENCES kind (kind_id)) AS SELECT a, b FROM t.of_tree`,
  model,
).model;

const long = (count: number): readonly PolicyRow[] => Array.from({ length: count }, (_, i) => policy(i, `id = 1${` OR id = ${i}`.repeat(200)}`));

describe('an ontology with long policies', () => {
  it('can be changed where they do not read it', async () => {
    expect((await edit(TREE, long(100))).code).toBe('accepted');
    const { spending } = await edit(`${TREE}; DROP VIEW tall; ALTER CONCEPT city UPDATE TAG a = 'b'`, long(100));
    expect(spending.models.units).toBeLessThan(1_000_000);
  });

  it('is checked with all of them if a change concerns them all', async () => {
    expect((await edit('CREATE OR REPLACE CONCEPT city (id bigint, note string, more string, PRIMARY KEY (id))', long(100))).code).toBe('too_complex');
  });
});

describe.each([
  ['without rows', model],
  ['with rows', mapped],
])('an editor who may not make policies, of a model %s', (_, before) => {
  it('can change what no long policy reads', async () => {
    const { code, spending } = await edit(TREE, long(200), { before, principal: EDITOR });
    expect(code).toBe('accepted');
    expect(spending.models.units).toBeLessThan(1_000_000);
  });

  it('can change what one of the policies on a concept reads, and the long ones do not', async () => {
    const { code, spending } = await edit(TREE, [...long(200), policy(200, 'EXISTS (SELECT 1 FROM svc.tree WHERE height > 4)')], { before, principal: EDITOR });
    expect(code).toBe('accepted');
    expect(spending.models.units).toBeLessThan(1_000_000);
  });

  it('can change what an invalid policy does not read', async () => {
    expect((await edit(TREE, [policy(1, 'gone.f(id) > 1')], { before, principal: EDITOR })).code).toBe('accepted');
  });

  it('may not change what a policy reads', async () => {
    const policies = [...long(2), policy(7, 'EXISTS (SELECT 1 FROM svc.tree WHERE height > 4)')];
    const taller = 'CREATE OR REPLACE PROPERTY height bigint AS SELECT tree_id';
    expect((await edit(taller, policies, { before, principal: EDITOR })).code).toBe('forbidden');
  });
});

describe('a policy', () => {
  const broken = [policy(1, 'gone.f(id) > 1')];

  it('that has become invalid prevents only the changes that it concerns', async () => {
    expect((await edit(TREE, broken)).code).toBe('accepted');
    expect((await edit('CREATE OR REPLACE CONCEPT city (id bigint, more string, PRIMARY KEY (id))', broken)).code).toBe('in_use');
  });

  it.each([
    ['names a concept in a path', `"x[tree].height" > 1`, true],
    ['names a concept with another case', 'EXISTS (SELECT 1 FROM svc.TREE)', true],
    ['names a type', '"_type_of_tree" IS NOT NULL', true],
    ['reads a view over it', 'EXISTS (SELECT 1 FROM vsvc.tall)', true],
    ['reads all rows', 'EXISTS (SELECT 1 FROM svc.thing)', true],
    ['reads a view over all rows', 'EXISTS (SELECT 1 FROM vsvc.counted)', true],
    ['reads a logic concept over all rows', 'EXISTS (SELECT 1 FROM svc.known)', true],
    ['has an identifier with escapes', 'u&"tre\\0065" = 1', true],
    ['has an identifier with a quote', '"a""b" = 1', true],
    ['has a longer name', 'trees > 1 AND "my tree_" > 2', false],
    ['reads another concept', 'EXISTS (SELECT 1 FROM svc."old town")', false],
  ])('that %s is %s checked', (_, condition, expected) => {
    const touched = new Touched(compile(model, 'm'), compile(run(TREE, model).model, 'm'));
    expect(touched.hasRule({ concept: 'city', conditions: [{ policy: 'p', condition }] })).toBe(expected);
  });

  it('that reads the columns of a descendant of a changed concept, through its other parent, is checked', () => {
    const kin = run('CREATE CONCEPT d (id bigint); CREATE CONCEPT c (x bigint); CREATE CONCEPT child INHERITS (d, c)').model;
    const after = run('CREATE OR REPLACE CONCEPT c (y bigint)', kin).model;
    const touched = new Touched(compile(kin, 'm'), compile(after, 'm'));
    expect(touched.hasRule({ concept: 'city', conditions: [{ policy: 'p', condition: 'EXISTS (SELECT x FROM svc.d)' }] })).toBe(true);
  });

  it('that reads a name with a letter of two lower-case forms, or with a blank, is checked', () => {
    const after = run(
      'CREATE OR REPLACE CONCEPT ΑΣ (k bigint, more bigint, PRIMARY KEY (k)); CREATE OR REPLACE CONCEPT "old town" INHERITS (city)',
      model,
    ).model;
    const touched = new Touched(compile(model, 'm'), compile(after, 'm'));
    for (const text of ['EXISTS (SELECT 1 FROM svc.ΑΣ)', '"r[ΑΣ].Σ" > 1', '"r[Old Town].id" > 1']) expect([text, touched.reaches(text)]).toEqual([text, true]);
    expect(touched.reaches('height > 1')).toBe(false);
  });
});

describe('a name', () => {
  const isFound = (name: string, text: string): boolean => {
    const names = new Names();
    names.add(name);
    return names.areIn(text);
  };

  it.each([
    ['type_of_tree', '"r[city]_type_of_tree" > 1'],
    ['_type_of_tree', '"r[city]__type_of_tree" > 1'],
    ['1st', '"r[city]_1st" > 1'],
    ['my tree', '"_type_of_My Tree" IS NOT NULL'],
    ['my tree', '"my my tree" > 1'],
    ['-tree', '"r[-Tree*2].-tree" > 1'],
    ['%', '"%" > 1'],
    ['~back-to', '"back-to[tree].height" > 1'],
    ['a"b', '`a"b` > 1'],
  ])('%s is found in %s', (name, text) => expect(isFound(name, text)).toBe(true));

  it.each([
    ['my tree', '"army tree" > 1'],
    ['a-b', '"a-" > 1 AND "-b" > 2'],
  ])('%s is not found in %s', (name, text) => expect(isFound(name, text)).toBe(false));

  it('with a blank costs as much as one without', () => {
    const unitsWith = (separator: string): number => {
      const name = (i: number): string => `"my${separator}column${separator}${i}"`;
      const all = Array.from({ length: 400 }, (_, i) => i);
      const concept = `CREATE CONCEPT city (id bigint, ${all.map((i) => `${name(i)} bigint`).join(', ')}, PRIMARY KEY (id))`;
      const calculated = all.map((i) => `CREATE PROPERTY calculated${i} bigint AS SELECT ${name(i)} + ${name(i)}`);
      const before = run([concept, ...calculated].join(';\n')).model;
      const graphs = [before, run('CREATE CONCEPT tree (height bigint)', before).model].map((m) => compile(m, 'm')) as [Graph, Graph];
      const budget = new Budget({ nodes: 1e9, steps: 1e9, entries: 1e9, units: 1e9 }, 'the script');
      budget.run(() => new Touched(...graphs), 0);
      return budget.units;
    };
    expect(unitsWith(' ')).toBeLessThan(3 * unitsWith('_'));
  });
});
