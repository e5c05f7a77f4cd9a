/** Stored texts: what a plan notes of them. */
import { expect, it } from 'vitest';
import { PlanState } from '../../../../src/planner/plan-state.ts';
import { context, graph } from '../company.ts';

it('whether a mapping leaves out rows can be asked without effect on the plan', () => {
  const mappings = graph.concepts.flatMap((c) => (c.rows.kind === 'mappings' ? c.rows.sources.map((s) => s.mapping) : []));
  const state = new PlanState({ ...context, queriesTables: () => false });
  const facts = JSON.stringify(state.facts);
  const answers = mappings.map((m) => state.texts.leavesOut(m));
  expect(mappings.length).toBeGreaterThan(3);
  expect([state.texts.tables.length, state.texts.datasources.size, JSON.stringify(state.facts)]).toEqual([0, 0, facts]);
  expect(mappings.map((m) => state.texts.mapping(m).leavesOut)).toEqual(answers);
  expect([state.texts.tables.length > 0, state.texts.datasources.size > 0]).toEqual([true, true]);
});
