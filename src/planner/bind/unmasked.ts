/** Decides whether a text reads the true or the masked value of a column, and refuses masked properties where they must not be read. */
import type { Concept } from '../../ontology/graph.ts';
import type { PropertyDef } from '../../ontology/model.ts';
import type { Wanted } from '../plan/wanted.ts';
import type { PlanState } from '../plan-state.ts';
import { refuseMasked } from '../secure/policies.ts';

type OwnColumn = Extract<Wanted, { kind: 'property' | 'entity_id' | 'entity_type' | 'entity_label' }>;

/**
 * A column as the text at this position may read it. The condition of a policy reads true values. The condition of a logic concept must not read a property that is
 * masked for the caller.
 * @throws SvcError 403 `masked`
 */
export function valueFor(state: PlanState, concept: Concept, wanted: OwnColumn): Wanted {
  if (!state.policies) return wanted;
  if (state.position.isTrusted) return { ...wanted, actual: true };
  for (const def of readBy(concept, wanted)) requireUnmasked(state, concept, def);
  return wanted;
}

/** The properties from which a column is computed. */
function readBy(concept: Concept, wanted: OwnColumn): readonly PropertyDef[] {
  if (wanted.kind === 'property') return [wanted.def];
  if (wanted.kind === 'entity_type') return [];
  return [...(concept.key?.properties ?? []), ...(wanted.kind === 'entity_label' ? concept.label : [])];
}

/** Refuses a masked property in the condition of a logic concept. Elsewhere it does nothing. @throws SvcError 403 `masked` */
export function requireUnmasked(state: PlanState, concept: Concept, def: PropertyDef): void {
  const { condition, isTrusted } = state.position;
  if (condition !== undefined && !isTrusted) refuseMasked(state, concept, def, condition);
}
