/** Checks whether policies are valid for a model. */
import { stepsOfStored, visited } from '../../budget.ts';
import type { PolicyRow, StoredMask } from '../../catalog/policies.ts';
import { badRequest, didYouMean, nearest, quoted, SvcError } from '../../errors.ts';
import type { Concept, Graph } from '../../ontology/graph.ts';
import type { PropertyDef } from '../../ontology/model.ts';
import { findType } from '../../ontology/types.ts';
import { checkMaskExpression, checkRowCondition } from '../../planner/enforcement/policy-check.ts';
import type { PlanContext } from '../../planner/plan/context.ts';
import { Touched } from '../../planner/touched/index.ts';
import { usedByPolicy } from '../caller/policies.ts';

/** Offsets of the parts of a policy in the script that creates it. */
export interface PolicyPlaces {
  readonly concept: number;
  readonly property: number;
  readonly sql: number;
  readonly mask: number;
}

/** Names a similar name only to the writer of the policy, who sees the whole ontology. */
function unknown(kind: string, name: string, offset: number | undefined, known: readonly { readonly name: string }[]): SvcError {
  const near = offset === undefined ? undefined : nearest(name, new Set(known.map((k) => k.name)));
  return badRequest(`unknown_${kind}`, `unknown ${kind} ${quoted(name)}${didYouMean(near)}`, { offset });
}

/**
 * Checks that a policy is valid for a model: the objects that it names exist, its SQL can be planned, and its mask suits the
 * type.
 * @param places undefined for a stored policy; errors then have no position
 * @throws SvcError 400
 */
export function checkPolicy(context: Omit<PlanContext, 'graph'>, graph: Graph, policy: PolicyRow, places?: PolicyPlaces): void {
  const plan: PlanContext = { ...context, graph };
  const concept = policy.concept === null ? undefined : graph.concept(policy.concept);
  if (policy.concept !== null && concept === undefined) throw unknown('concept', policy.concept, places?.concept, graph.model.concepts);
  if (policy.kind === 'row') {
    if (concept !== undefined) checkRowCondition(plan, concept, policy.condition, places?.sql);
    return;
  }
  const def = propertyOf(graph, concept, policy.property);
  if (def === undefined)
    throw unknown('property', policy.property, places?.property, concept === undefined ? graph.model.properties : concept.properties.map((p) => p.def));
  checkMask(plan, def, concept, policy.mask, places);
}

/** Finds a property of the concept, including inherited and derived ones; without a concept, a property of the ontology. */
function propertyOf(graph: Graph, concept: Concept | undefined, name: string): PropertyDef | undefined {
  const def = graph.property(name);
  if (def === undefined || concept === undefined) return def;
  return [...concept.properties, ...concept.multi].some((p) => p.def === def) ? def : undefined;
}

function checkMask(context: PlanContext, def: PropertyDef, concept: Concept | undefined, mask: StoredMask, places: PolicyPlaces | undefined): void {
  if ((mask.kind === 'partial' || mask.kind === 'hash') && findType(def.type)?.family !== 'text') {
    throw badRequest('bad_mask', `${mask.kind.toUpperCase()} masks only texts, but ${quoted(def.name)} is of type ${def.type}`, {
      offset: places?.mask,
      hint: 'FULL and NULL mask values of every type; WITH can return a value of the type',
    });
  }
  if (mask.kind !== 'with') return;
  const known = concept === undefined ? context.graph.model.properties.filter((p) => !p.multi) : concept.properties.map((p) => p.def);
  checkMaskExpression(context, [...known, def], mask.expression, places?.sql);
}

/** The versions between which a model changes. */
export interface Changed {
  /** The version that the policies are valid for; undefined for no version, so that all policies are checked. */
  readonly before: Graph | undefined;
  readonly after: Graph;
}

/** True if a change of the model may affect whether a policy is valid. */
function concerns(touched: Touched, policy: PolicyRow): boolean {
  return policy.kind === 'row'
    ? touched.hasRule({ concept: policy.concept, conditions: [{ policy: policy.name, condition: policy.condition }] })
    : touched.hasMask(policy);
}

/**
 * Checks that policies are still valid for a changed model. Those that the change does not affect are not planned.
 * @param again true: a request has checked them before, and pays for most of the cost of a new policy
 * @throws SvcError 400 `in_use`, which names the first policy that would become invalid
 */
export function checkPolicies(
  context: Omit<PlanContext, 'graph'>,
  { before, after }: Changed,
  policies: readonly PolicyRow[],
  offset: number | undefined,
  again = false,
): void {
  if (policies.length === 0) return;
  const touched = before && new Touched(before, after);
  for (const policy of policies) {
    if (touched !== undefined && !concerns(touched, policy)) continue;
    if (again) visited(stepsOfStored(policy.kind === 'row' ? policy.condition.length : 0) / 2);
    try {
      checkPolicy(context, after, policy);
    } catch (error) {
      if (error instanceof SvcError && error.status === 400) throw usedByPolicy(policy, error.message, offset);
      throw error;
    }
  }
}
