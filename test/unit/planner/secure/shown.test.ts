/** Conditions on properties of descendants, for callers who may not query all descendants: they narrow the mappings whose values the caller sees, and no others. */
import { expect, it } from 'vitest';
import { graphOf } from '../../../../examples/world/graph.ts';
import { compile } from '../../../../src/ontology/compile.ts';
import type { Graph } from '../../../../src/ontology/graph.ts';
import { lensOf } from '../../../../src/ontology/lens.ts';
import { planSelect } from '../../../../src/planner/index.ts';
import { context } from '../company.ts';

const { model } = graphOf(
  `CREATE CONCEPT animal (id bigint, PRIMARY KEY (id));
  CREATE CONCEPT bear (claws bigint) INHERITS (animal);
  CREATE CONCEPT polar_bear INHERITS (bear);
  CREATE CONCEPT fish (fins bigint) INHERITS (animal);
  CREATE MAPPING m_bear INTO bear AS SELECT id, claws FROM zoo.bears;
  CREATE MAPPING m_polar INTO polar_bear AS SELECT id, claws FROM zoo.polar;
  CREATE MAPPING m_two INTO bear AS SELECT id, claws FROM zoo.pandas WHERE claws = 2;
  CREATE MAPPING m_none INTO bear AS SELECT id FROM zoo.clawless;
  CREATE MAPPING m_fish INTO fish AS SELECT id, fins FROM zoo.fish;`,
  'zoo',
  context.parser,
);
const graph = compile({ ...model, mappings: model.mappings.map((m) => ({ ...m, columns: m.columns.map((c) => ({ ...c, type: 'int4' })) })) }, 'zoo');

/** The mappings' SELECTs in the plan for a caller who may query these concepts, or all of them. */
function branches(sql: string, ...concepts: string[]): string[] {
  const sees = (name: string): boolean => concepts.includes(name);
  const seen: Graph =
    concepts.length === 0 ? graph : lensOf(graph, { concept: sees, view: () => true, readsConcept: sees, readsView: () => true, columnsOf: () => [] });
  const plan = planSelect({ ...context, graph: seen }, { text: sql, offset: 0 }).sql;
  return (/FROM \((SELECT [^()]* FROM zoo\.[^()]*)\)/.exec(plan)?.[1] ?? '').split(' UNION ALL ');
}

const BEARS = 'SELECT claws::bigint AS claws, id::bigint AS id FROM zoo.bears WHERE claws = 3';
const POLAR = 'SELECT claws::bigint AS claws, id::bigint AS id FROM zoo.polar WHERE claws = 3';
const CLAWS = 'SELECT id, claws FROM esvc.animal WHERE claws = 3';

it('narrow the mappings as for a caller who sees everything, if the caller sees all values', () => {
  expect(branches(CLAWS)).toEqual([BEARS, POLAR]);
  expect(branches(CLAWS, 'animal', 'bear', 'polar_bear')).toEqual([BEARS, POLAR]);
  expect(branches(CLAWS, 'animal', 'bear')).toEqual([BEARS, POLAR]);
});

it('do not read a column whose values the caller may not see', () => {
  expect(branches(CLAWS, 'animal', 'polar_bear')).toEqual([
    'SELECT NULL::bigint AS claws, id::bigint AS id FROM zoo.bears',
    'SELECT NULL::bigint AS claws, id::bigint AS id FROM zoo.pandas WHERE claws = 2',
    POLAR,
  ]);
});
