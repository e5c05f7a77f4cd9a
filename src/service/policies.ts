/**
 * Row policies and masks: which are in force for a caller (docs/design/policies.md#policies-in-force), whether one is valid on a model, and how it is printed.
 */
import type { Caller, Principal } from '../auth/authenticate.ts';
import { canAll, canGrant } from '../auth/grants.ts';
import type { PolicyRow, StoredMask } from '../catalog/policies.ts';
import type { OntologyRow } from '../catalog/snapshot.ts';
import { badRequest, forbidden, SvcError } from '../errors.ts';
import { type PrintedPolicy, printMask } from '../language/print-policy.ts';
import type { Concept, Graph } from '../ontology/graph.ts';
import type { PropertyDef } from '../ontology/model.ts';
import { fold } from '../ontology/names.ts';
import { findType } from '../ontology/types.ts';
import type { Access, CallerFacts, MaskRule, RowRule } from '../planner/access.ts';
import { checkMaskExpression, checkRowCondition } from '../planner/policy-check.ts';
import type { PlanContext } from '../planner/work.ts';
import type { Printed } from './detail.ts';
import { quoted } from './lookup.ts';

/** What conditions and masks may read of who asks. */
export const factsOf = (principal: Principal): CallerFacts => ({
  username: principal.name,
  roles: principal.roles,
  claims: principal.claims ?? {},
});

/** Whether a policy names the user, or a role of it; PUBLIC aside. */
function names(policy: PolicyRow, principal: Principal): boolean {
  const roles = new Set(principal.roles.map(fold));
  return policy.grantees.some((g) => (g.kind === 'user' ? g.id === principal.userId : roles.has(fold(g.name))));
}

/**
 * The policies in force for a caller on an ontology; undefined for admins, whom they do not bind, and where none concerns the
 * caller. Pure.
 */
export function accessOf({ principal, snapshot }: Caller, ontology: Pick<OntologyRow, 'policies'>): Access | undefined {
  if (principal.isAdmin || ontology.policies.length === 0) return undefined;
  const rows = new Map<string, { concept: string; conditions: { policy: string; condition: string }[] }>();
  const masks: MaskRule[] = [];
  for (const policy of ontology.policies) {
    const named = names(policy, principal);
    if (policy.kind === 'mask') {
      if (!named) masks.push({ policy: policy.name, property: policy.property, concept: policy.concept, mask: policy.mask });
      continue;
    }
    const key = fold(policy.concept);
    const rule = rows.get(key) ?? { concept: policy.concept, conditions: [] };
    rows.set(key, rule);
    if (policy.isPublic || named) rule.conditions.push({ policy: policy.name, condition: policy.condition });
  }
  if (rows.size === 0 && masks.length === 0) return undefined;
  const all: readonly RowRule[] = [...rows.values()];
  return { rows: all, masks, caller: factsOf(principal), maskKey: snapshot.maskKey };
}

/** What of an access decides a plan, as a part of a cache's key: equal texts, equal plans. */
export function accessKey(access: Access | undefined): string {
  if (access === undefined) return '';
  const { rows, masks, caller } = access;
  return JSON.stringify([
    rows.map((r) => [r.concept, r.conditions.map((c) => [c.policy, c.condition])]),
    masks.map((m) => [m.policy, m.property, m.concept, Object.entries(m.mask).sort(([a], [b]) => (a < b ? -1 : 1))]),
    factsKey(caller),
    access.maskKey,
  ]);
}

/** The same of who asks. */
export const factsKey = ({ username, roles, claims }: CallerFacts): string =>
  JSON.stringify([username, [...roles].sort(), Object.entries(claims).sort(([a], [b]) => (a < b ? -1 : 1))]);

/** Whether a caller may make and drop the policies of an ontology, and change what they depend on. */
export const mayMakePolicies = (principal: Principal, ontology: string): boolean => canGrant(principal, 'edit', ['ontology', ontology], true);

/** @throws SvcError 403 for who may not make and drop the policies of an ontology */
export function requirePolicyRight(principal: Principal, ontology: string, offset: number): void {
  if (mayMakePolicies(principal, ontology)) return;
  throw forbidden('forbidden', `This needs EDIT ON ALL ontology.${ontology} with grant option`, { offset, hint: 'Ask an administrator for the right' });
}

/** Where the parts of a policy stand in the script that makes it. */
export interface PolicyPlaces {
  readonly concept: number;
  readonly property: number;
  readonly sql: number;
  readonly mask: number;
}

const unknown = (kind: string, name: string, offset: number | undefined) => badRequest(`unknown_${kind}`, `unknown ${kind} ${quoted(name)}`, { offset });

/**
 * Whether a policy holds on a model: what it names exists, its SQL plans, its mask suits the type. Errors of a stored one
 * (`places` undefined) tell no position.
 * @throws SvcError 400
 */
export function checkPolicy(context: Omit<PlanContext, 'graph'>, graph: Graph, policy: PolicyRow, places?: PolicyPlaces): void {
  const plan: PlanContext = { ...context, graph };
  const concept = policy.concept === null ? undefined : graph.concept(policy.concept);
  if (policy.concept !== null && concept === undefined) throw unknown('concept', policy.concept, places?.concept);
  if (policy.kind === 'row') {
    if (concept !== undefined) checkRowCondition(plan, concept, policy.condition, places?.sql);
    return;
  }
  const def = propertyOf(graph, concept, policy.property);
  if (def === undefined) throw unknown('property', policy.property, places?.property);
  checkMask(plan, def, concept, policy.mask, places);
}

/** A property of the concept, its own, inherited or derived; without a concept any of the ontology. */
function propertyOf(graph: Graph, concept: Concept | undefined, name: string): PropertyDef | undefined {
  const def = graph.property(name);
  if (def === undefined || concept === undefined) return def;
  return [...concept.properties, ...concept.multi].some((p) => p.def === def) ? def : undefined;
}

function checkMask(context: PlanContext, def: PropertyDef, concept: Concept | undefined, mask: StoredMask, places: PolicyPlaces | undefined): void {
  if ((mask.kind === 'partial' || mask.kind === 'hash') && findType(def.type)?.family !== 'text') {
    throw badRequest('bad_mask', `${mask.kind.toUpperCase()} masks texts, and ${quoted(def.name)} is of type ${def.type}`, {
      offset: places?.mask,
      hint: 'FULL and NULL mask every type, WITH gives a value of the type',
    });
  }
  if (mask.kind !== 'with') return;
  const known = concept === undefined ? context.graph.model.properties.filter((p) => !p.multi) : concept.properties.map((p) => p.def);
  checkMaskExpression(context, [...known, def], mask.expression, places?.sql);
}

/**
 * That a changed model still has what policies name and read.
 * @throws SvcError 400 `in_use` naming the first policy that would not hold any more
 */
export function checkPolicies(context: Omit<PlanContext, 'graph'>, graph: Graph, policies: readonly PolicyRow[], offset: number | undefined): void {
  for (const policy of policies) {
    try {
      checkPolicy(context, graph, policy);
    } catch (error) {
      if (error instanceof SvcError && error.status === 400) throw namedBy(policy, error.message, offset);
      throw error;
    }
  }
}

/** 400 `in_use`: what is taken away is named by a policy. */
export const namedBy = (policy: PolicyRow, why: string, offset: number | undefined): SvcError =>
  badRequest('in_use', `the policy ${quoted(policy.name)} would not hold any more: ${why}`, { offset, hint: `DROP POLICY ${quoted(policy.name)} first` });

/** As a policy is printed, its SQL with the product's names. */
export function printedPolicy(policy: PolicyRow, print: Printed): PrintedPolicy {
  const { name, grantees } = policy;
  if (policy.kind === 'row')
    return { name, grantees, concept: policy.concept, property: null, isPublic: policy.isPublic, condition: print(policy.condition, 'expression'), mask: null };
  const { mask } = policy;
  const told = mask.kind === 'with' ? { ...mask, expression: print(mask.expression, 'expression') } : mask;
  return { name, grantees, concept: policy.concept, property: policy.property, isPublic: false, condition: null, mask: told };
}

/** A row of SYS_POLICIES: policy_name, kind, concept, property, grantees, definition. */
export type PolicyLine = readonly [string, string, string | null, string | null, string, string | null];

/**
 * The policies that a caller is told of: admins of all; others of those that name them, a role of theirs or PUBLIC, on what they
 * see. What a policy says is told to who sees all that it may read.
 */
export function policyLines({ principal }: Caller, ontology: OntologyRow, graph: Graph, print: Printed): readonly PolicyLine[] {
  const whole = canAll(principal, 'access', ['ontology', ontology.name]);
  const seen = ontology.policies.filter((p) => {
    if (principal.isAdmin) return true;
    if (!names(p, principal) && !(p.kind === 'row' && p.isPublic)) return false;
    return (p.concept === null || graph.concept(p.concept) !== undefined) && (p.kind === 'row' || graph.property(p.property) !== undefined);
  });
  return seen.map((p) => {
    const printed = printedPolicy(p, print);
    const own = principal.isAdmin
      ? p.grantees
      : p.grantees.filter((g) => (g.kind === 'user' ? g.id === principal.userId : principal.roles.some((r) => fold(r) === fold(g.name))));
    const grantees = [...(printed.isPublic ? ['PUBLIC'] : []), ...own.map((g) => `${g.kind.toUpperCase()} ${g.name}`)].join(', ');
    const definition = printed.mask === null ? (printed.condition ?? '') : printMask(printed.mask);
    return [p.name, p.kind, p.concept, p.kind === 'mask' ? p.property : null, grantees, whole ? definition : null];
  });
}
