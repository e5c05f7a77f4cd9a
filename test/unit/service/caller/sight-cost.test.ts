/** What the part of a model that a caller sees costs, if the caller has a grant for each of thousands of concepts. */
import { expect, it, vi } from 'vitest';
import { Budget } from '../../../../src/budget.ts';
import type { GrantRow, Privilege } from '../../../../src/catalog/snapshot.ts';
import { loadNodeParser } from '../../../../src/cli/node-parser.ts';
import { compile } from '../../../../src/ontology/compile.ts';
import type { Concept } from '../../../../src/ontology/graph.ts';
import type { ConceptDef, RelationshipDef } from '../../../../src/ontology/model.ts';
import { EMPTY_MODEL } from '../../../../src/ontology/model.ts';
import { definitionsSeenBy, seenBy, sightKey } from '../../../../src/service/caller/sight.ts';

const parser = await loadNodeParser();
const CONCEPTS = 2000;

const key = (i: number): RelationshipDef => {
  const to = Math.floor(i / 2);
  return { name: `r${i}`, kind: 'fk', target: `c${to}`, source: [`x${i}`], references: [`x${to}`], inverse: null, transitive: null, description: null };
};
const concept = (i: number): ConceptDef => ({
  name: `c${i}`,
  parents: i % 5 === 4 ? [`c${i - 4}`] : [],
  properties: [`x${i}`],
  multi: [],
  measures: [],
  primaryKey: [],
  label: [],
  relationships: [key(i)],
  description: null,
  tags: {},
  logic: null,
});
const property = (i: number) => ({ name: `x${i}`, type: 'bigint', multi: false, description: null, tags: {}, expression: null });
const modelOf = (concepts: readonly ConceptDef[]) => ({ ...EMPTY_MODEL, concepts, properties: concepts.map((_, i) => property(i)) });
const model = modelOf(Array.from({ length: CONCEPTS }, (_, i) => concept(i)));

/** A caller with a grant for each concept but every tenth. */
const holderWith = (privilege: (i: number) => Privilege) => ({
  isAdmin: false,
  grants: model.concepts
    .map((c, i): GrantRow => {
      const resource = ['ontology', 'world', 'concept', c.name];
      return { privilege: privilege(i), resource, key: resource, all: false, grantOption: false };
    })
    .filter((_, i) => i % 10 !== 7),
});

it('needs no list of relationships for each concept', () => {
  const whole = compile(model, 'world');
  const budget = new Budget({ nodes: 1e9, steps: 1e9, entries: 1e9 }, 'the sight');
  const seen = budget.run(() =>
    seenBy(
      holderWith(() => 'query'),
      whole,
      parser,
    ),
  );
  expect(seen.model.concepts).toHaveLength(0.9 * CONCEPTS);
  expect(seen.model.concepts.filter((c) => c.relationships.length === 0).length).toBeGreaterThan(0.05 * CONCEPTS);
  expect(budget.entries).toBeLessThan(CONCEPTS / 2);
});

it('is one graph for rows and definitions if all that is visible may be read', () => {
  const whole = compile(model, 'world');
  const holder = holderWith(() => 'query');
  expect(definitionsSeenBy(holder, whole, parser)).toBe(seenBy(holder, whole, parser));
});

it('shares the model of two graphs that differ in what may be read', () => {
  const whole = compile(model, 'world');
  const holder = holderWith((i) => (i % 2 === 0 ? 'query' : 'access'));
  const [rows, definitions] = [seenBy(holder, whole, parser), definitionsSeenBy(holder, whole, parser)];
  expect(definitions.model).toBe(rows.model);
  expect([rows.concept('c1')?.readable, definitions.concept('c1')?.readable]).toEqual([false, true]);
});

it('does not share the model if it depends on what may be read', () => {
  // a relationship to c1 includes one to c3, which inherits from c1 and may not be read
  const includes = { ...key(2), name: 'wide', source: ['x2'], target: 'c1', includes: ['narrow'] };
  const narrow = { ...key(2), name: 'narrow', target: 'c3', references: ['x3'] };
  const concepts = model.concepts.slice(0, 5).map((c, i) => (i === 2 ? { ...c, relationships: [includes, narrow] } : i === 3 ? { ...c, parents: ['c1'] } : c));
  const whole = compile(modelOf(concepts), 'world');
  const holder = holderWith((i) => (i === 3 ? 'access' : 'query'));
  const included = (graph: typeof whole) => graph.model.concepts[2]?.relationships[0]?.includes;
  // c4 is hidden
  holder.grants.splice(4, 1);
  expect(included(seenBy(holder, whole, parser))).toBeUndefined();
  expect(included(definitionsSeenBy(holder, whole, parser))).toEqual(['narrow']);
});

it('reads the properties of descendants once for all measures of a concept', () => {
  const measures = Array.from({ length: 4000 }, (_, i) => ({
    name: `m${i}`,
    type: 'bigint',
    description: null,
    tags: {},
    expression: `SUM(x${i % CONCEPTS})`,
    filter: null,
  }));
  const concepts = model.concepts.map((c, i) => ({
    ...c,
    relationships: [],
    parents: i === 0 ? [] : ['c0'],
    measures: i === 0 ? measures.map((m) => m.name) : [],
  }));
  const whole = compile({ ...modelOf(concepts), measures }, 'world');
  const root = whole.concept('c0') as Concept;
  const listed = vi.spyOn(Object.getPrototypeOf(root), 'descendants', 'get');
  const seen = seenBy(
    holderWith(() => 'query'),
    whole,
    parser,
  );
  // not for each of the 4,000 measures
  expect(listed.mock.calls.length).toBeLessThan(100);
  listed.mockRestore();
  expect(seen.model.measures).toHaveLength(0.9 * measures.length);
});

it('has a short key, which changes with the grants of a script', () => {
  const holder = holderWith(() => 'query');
  const before = sightKey(holder, 'World');
  expect(before.length).toBeLessThan(60);
  expect(sightKey({ isAdmin: false, grants: [...holder.grants] }, 'world')).toBe(before);
  holder.grants.push({ ...(holder.grants[0] as GrantRow), key: ['ontology', 'world', 'concept', 'c7'] });
  expect(sightKey(holder, 'world')).not.toBe(before);
});
