/** The conditions of logic concepts and policies, over the columns of a relation. */
import { forbidden } from '../../errors.ts';
import type { Graph, LogicRows } from '../../ontology/graph.ts';
import type { Node } from '../plan/tree.ts';
import type { PlanState } from '../plan-state.ts';
import { noteClock } from '../secure/running-clock.ts';
import { withoutHiddenNames } from './definer.ts';
import { requireReadable } from './readable.ts';
import type { ConceptRelation } from './relation.ts';
import { Resolver } from './resolve.ts';
import { Scope } from './scope.ts';

/** Parses a stored condition and resolves its names against a relation. */
export function resolveCondition(
  state: PlanState,
  owner: object,
  condition: string,
  relation: ConceptRelation,
  offset?: number,
  graph: Graph = state.graph,
): Node {
  const { node, parsed } = state.texts.expression(owner, condition, offset);
  noteClock(state, node);
  const scope = new Scope(undefined);
  scope.add(relation);
  return state.position.inCondition('the concept', () => new Resolver(state, parsed, graph).expression(node, scope));
}

/**
 * The condition of a logic concept over rows of its source concept. Its names are resolved with the current rights of its definer; in the condition of a policy, against the
 * whole model (docs/design/policies.md#where-policies-apply).
 * @throws SvcError 403 `concept_unreadable` if the definer may not read what it names
 */
export function logicCondition(state: PlanState, rows: LogicRows, relation: ConceptRelation): Node {
  const { source, condition, schema } = rows;
  const inWhole = (): Node => resolveCondition(state, rows, condition, relation.as(source, schema));
  if (rows.definer === undefined || state.context.definer === undefined) return inWhole();
  return state.position.framed(withoutHiddenNames('concept', rows.name), () => {
    const graph = state.asDefined(rows);
    if (graph === undefined) return inWhole();
    const seen = graph.concept(source.name);
    if (seen === undefined) throw forbidden('forbidden', 'The definer of the condition may not see its concept');
    requireReadable(seen);
    return resolveCondition(state, rows, condition, relation.as(seen, schema), undefined, graph);
  });
}
