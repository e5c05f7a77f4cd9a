/** That a changed model leaves policies what they enforce, where its writer may not make policies. */
import type { PolicyRow } from '../catalog/policies.ts';
import { forbidden } from '../errors.ts';
import { compile } from '../ontology/compile.ts';
import type { Graph } from '../ontology/graph.ts';
import type { Model } from '../ontology/model.ts';
import { type ModelContext, type PolicyRules, weakened } from '../planner/enforcement/index.ts';
import { quoted } from './lookup.ts';

/** The policies of an ontology, for whomever they are. */
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

/** A modelling statement of a script: where it begins, and the model after it. */
export interface Step {
  readonly offset: number;
  readonly model: Model;
}

/** The statements between two versions: the first of them, and where the last one begins. */
export interface Steps {
  readonly steps: readonly Step[];
  readonly last: number;
}

/** So many statements at most are searched for the one that a refusal points at. */
export const MOST_SEARCHED = 16;

/** Where the first statement begins after which a policy is weakened; of a long script the last one. */
function firstWeakening({ steps, last }: Steps, weakens: (graph: Graph) => boolean, ontology: string): number {
  if (steps.length > MOST_SEARCHED) return last;
  let [low, high] = [0, steps.length - 1];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (weakens(compile((steps[middle] as Step).model, ontology))) high = middle;
    else low = middle + 1;
  }
  return steps[high]?.offset ?? last;
}

/**
 * That a change of a model leaves policies what they enforce. The refusal is in terms of what the caller sees (`seen`): neither the policy nor
 * what is hidden is named.
 * @param steps the statements between the two versions
 * @throws SvcError 403 `forbidden`
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
  const what = found.by === 'enforced' ? `what a policy on ${of} depends on` : `what ${of} shows of what a policy keeps back`;
  throw forbidden('forbidden', `This changes ${what}: it needs EDIT ON ALL ontology.${after.ontology} WITH GRANT OPTION`, {
    offset: firstWeakening(steps, (graph) => weakened(context, before, graph, rules) !== undefined, after.ontology),
    hint: 'Who may make policies may change what they depend on',
  });
}
