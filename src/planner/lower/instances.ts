/** The instances of logic concepts among rows that the caller reads as rows of another concept. */
import type { Concept } from '../../ontology/graph.ts';
import type { PlanState } from '../plan-state.ts';
import { isRefusedAsMasked, refusedAsMasked } from '../secure/policies.ts';
import type { RowFilter } from './narrow.ts';
import { conceptSource } from './sources.ts';

/**
 * The filter of the rows that are instances of logic concepts: `concept`, and those between it and its rows. Their conditions are tested over true values, so they must not
 * read a property that is masked for the caller: which rows are instances would show its value. The rows of the concept itself are refused in the same cases.
 * @throws SvcError 403 `masked`
 */
export function instancesOnly(state: PlanState, concept: Concept, instancesOf: readonly Concept[]): RowFilter | undefined {
  if (instancesOf.length === 0) return undefined;
  if (readsMasked(state, concept)) throw refusedAsMasked('a concept to which links refer', 'a property whose values are masked for you');
  return { comparisons: [], instancesOf };
}

/** The states of plans that `readsMasked` makes. There, links that refer to a logic concept need no test: conditions are tested over all links. */
const TRIALS = new WeakSet<PlanState>();

/** True if the caller cannot read the rows of a logic concept because its condition, or one below it, reads a masked property. */
function readsMasked(state: PlanState, concept: Concept): boolean {
  const { policies } = state;
  if (policies === undefined || !policies.hasMasks || TRIALS.has(state)) return false;
  let known = policies.readingMasked.get(concept.name);
  if (known === undefined) {
    const trial = state.trial({ definer: undefined });
    TRIALS.add(trial);
    known = isRefused(() => void conceptSource(trial, concept, new Map()));
    policies.readingMasked.set(concept.name, known);
  }
  return known;
}

function isRefused(plan: () => void): boolean {
  try {
    plan();
    return false;
  } catch (error) {
    if (isRefusedAsMasked(error)) return true;
    throw error;
  }
}
