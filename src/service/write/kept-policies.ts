/** Checks that a changed model does not weaken policies, if its writer may not create policies. */
import type { PolicyRow } from '../../catalog/policies.ts';
import { forbidden, quoted } from '../../errors.ts';
import { compile } from '../../ontology/compile.ts';
import type { Graph } from '../../ontology/graph.ts';
import type { Model } from '../../ontology/model.ts';
import { type ModelContext, type PolicyRules, weakened } from '../../planner/enforcement/index.ts';

/** Returns the rules of all policies of an ontology, regardless of grantees. */
export function rulesOf(policies: readonly PolicyRow[]): PolicyRules {
  const rows = Map.groupBy(
    policies.filter((p) => p.kind === 'row'),
    (p) => p.concept,
  );
  return {
    rows: [...rows].map(([concept, all]) => ({ concept, conditions: all.map((p) => ({ policy: p.name, condition: p.condition })) })),
    masks: policies.flatMap((p) => (p.kind === 'mask' ? [{ policy: p.name, property: p.property, concept: p.concept, mask: p.mask }] : [])),
  };
}

/** A modelling statement of a script: its offset, and the model after it. */
export interface Step {
  readonly offset: number;
  readonly model: Model;
}

/** The statements between two versions: the first ones, and the offset of the last one. */
export interface Steps {
  readonly steps: readonly Step[];
  readonly last: number;
}

/** The maximum number of statements that are searched for the one that weakens a policy. */
export const MAX_SEARCHED = 16;

/** Returns the offset of the first statement that weakens a policy; for a long script, that of the last statement. */
function firstWeakening({ steps, last }: Steps, weakens: (graph: Graph) => boolean, ontology: string): number {
  if (steps.length > MAX_SEARCHED) return last;
  let [low, high] = [0, steps.length - 1];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (weakens(compile((steps[middle] as Step).model, ontology))) high = middle;
    else low = middle + 1;
  }
  return steps[high]?.offset ?? last;
}

/**
 * Checks that a change of a model does not weaken policies. The error names only what the caller sees (`seen`), neither the policy nor hidden objects.
 * @param steps the statements between the two versions
 * @throws SvcError 403 `forbidden`; 400 `too_complex` if a policy is too complex to be compared
 */
export function requireKeptPolicies(
  context: ModelContext,
  versions: { readonly before: Graph; readonly after: Graph; readonly seen: () => Graph },
  policies: readonly PolicyRow[],
  steps: Steps,
): void {
  const { before, after } = versions;
  const rules = rulesOf(policies);
  const found = weakened(context, before, after, rules);
  if (found === undefined) return;
  const seen = versions.seen();
  const concept = found.concept === null ? undefined : seen.concept(found.concept);
  const isSeen = found.property !== null && concept !== undefined && (seen.property(found.property) ?? concept.relationship(found.property)[0]) !== undefined;
  const of = concept === undefined ? 'a concept' : `${isSeen ? `${quoted(found.property ?? '')} of ` : ''}the concept ${quoted(concept.name)}`;
  const what = found.by === 'enforced' ? `what a policy on ${of} depends on` : `what ${of} discloses of data that a policy protects`;
  throw forbidden('forbidden', `This changes ${what}, which needs EDIT ON ALL ontology.${after.ontology} WITH GRANT OPTION`, {
    offset: firstWeakening(steps, (graph) => weakened(context, before, graph, rules) !== undefined, after.ontology),
    hint: 'Users who may create policies may change what policies depend on',
  });
}
