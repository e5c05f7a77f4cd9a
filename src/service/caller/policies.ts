/**
 * Row policies and masks: which of them apply to a caller (docs/design/policies.md#policies-in-force), whether one is valid for a model, and how it is printed.
 */
import type { Caller, Principal } from '../../auth/authenticate.ts';
import { canAll, canGrant } from '../../auth/grants.ts';
import { visited } from '../../budget.ts';
import type { PolicyRow } from '../../catalog/policies.ts';
import type { OntologyRow } from '../../catalog/snapshot.ts';
import { badRequest, forbidden, quoted, type SvcError } from '../../errors.ts';
import { type PrintedPolicy, printMask } from '../../language/print-policy.ts';
import type { Graph } from '../../ontology/graph.ts';
import { fold } from '../../ontology/names.ts';
import type { Access, CallerFacts, MaskRule, RowRule } from '../../planner/secure/access.ts';
import { findOntology } from './lookup.ts';
import { tablesOf } from './sight.ts';
import type { Printed } from './texts.ts';

/** The properties of the caller that conditions and masks may read. */
export const factsOf = (principal: Principal): CallerFacts => ({
  username: principal.name,
  roles: principal.roles,
  claims: principal.claims ?? {},
});

/** True if a policy names the user or one of its roles. PUBLIC is not considered. */
function names(policy: PolicyRow, principal: Principal): boolean {
  const roles = new Set(principal.roles.map(fold));
  return policy.grantees.some((g) => (g.kind === 'user' ? g.id === principal.userId : roles.has(fold(g.name))));
}

/**
 * Returns the policies that apply to a caller on an ontology; undefined if no policy applies. Policies do not apply to
 * administrators. Pure.
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

/**
 * Whether a caller sees every row that statements about an ontology may read: it may query all of the ontology and all of its datasources, and no policy applies to
 * it. `edits`: it may also edit the ontology. Without an ontology only administrators see everything.
 */
export function seesAllRows(caller: Caller, name: string | undefined): 'edits' | 'reads' | undefined {
  const { principal } = caller;
  if (principal.isAdmin) return 'edits';
  const ontology = name === undefined ? undefined : findOntology(caller, name);
  if (ontology === undefined || !canAll(principal, 'query', ['ontology', ontology.name])) return undefined;
  if (tablesOf(principal, ontology) !== undefined || accessOf(caller, ontology) !== undefined) return undefined;
  return canAll(principal, 'edit', ['ontology', ontology.name]) ? 'edits' : 'reads';
}

/** So many characters of a key cost a step of a budget: policies may have millions. */
const CHARACTERS_OF_A_STEP = 16;

/** A cache key for the policies that a plan depends on: equal keys imply equal plans. */
export function accessKey(access: Access | undefined): string {
  if (access === undefined) return '';
  const { rows, masks, caller } = access;
  const key = JSON.stringify([
    rows.map((r) => [r.concept, r.conditions.map((c) => [c.policy, c.condition])]),
    masks.map((m) => [m.policy, m.property, m.concept, Object.entries(m.mask).sort(([a], [b]) => (a < b ? -1 : 1))]),
    factsKey(caller),
    access.maskKey,
  ]);
  visited(key.length / CHARACTERS_OF_A_STEP);
  return key;
}

/** A cache key for the properties of the caller. */
export const factsKey = ({ username, roles, claims }: CallerFacts): string =>
  JSON.stringify([username, [...roles].sort(), Object.entries(claims).sort(([a], [b]) => (a < b ? -1 : 1))]);

/** True if the caller may create and drop policies of an ontology, and change what they depend on. */
export const mayMakePolicies = (principal: Principal, ontology: string): boolean => canGrant(principal, 'edit', ['ontology', ontology], true);

/** @throws SvcError 403 if the caller may not create and drop policies of an ontology */
export function requirePolicyRight(principal: Principal, ontology: string, offset: number): void {
  if (mayMakePolicies(principal, ontology)) return;
  throw forbidden('forbidden', `This needs EDIT ON ALL ontology.${ontology} with grant option`, { offset, hint: 'Ask an administrator for the right' });
}

/** 400 `in_use`: the change would make a policy invalid. */
export const usedByPolicy = (policy: PolicyRow, why: string, offset: number | undefined): SvcError =>
  badRequest('in_use', `the policy ${quoted(policy.name)} would become invalid: ${why}`, { offset, hint: `DROP POLICY ${quoted(policy.name)} first` });

/** Prepares a policy for printing: its SQL gets the product's names. */
export function printedPolicy(policy: PolicyRow, print: Printed): PrintedPolicy {
  const { name, grantees } = policy;
  if (policy.kind === 'row')
    return { name, grantees, concept: policy.concept, property: null, isPublic: policy.isPublic, condition: print(policy.condition, 'expression'), mask: null };
  const { mask } = policy;
  const printedMask = mask.kind === 'with' ? { ...mask, expression: print(mask.expression, 'expression') } : mask;
  return { name, grantees, concept: policy.concept, property: policy.property, isPublic: false, condition: null, mask: printedMask };
}

/** A row of SYS_POLICIES: policy_name, kind, concept, property, grantees, definition. */
export type PolicyLine = readonly [string, string, string | null, string | null, string, string | null];

/**
 * Lists the policies that a caller may see. Administrators see all policies. Other users see those that name them, one of
 * their roles or PUBLIC, on objects that they see; the definition is shown only to users who see the whole ontology.
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
