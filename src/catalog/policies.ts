/** Row policies and masks in the catalog (docs/design/policies.md#where-policies-are-kept): attached to an ontology, not part of a version. */
import { fold } from '../ontology/names.ts';
import { type Call, call, sql } from './db.ts';

/** What replaces a masked value. The planner's `Mask` (planner/secure/access.ts) has the same form. */
export type StoredMask =
  | { readonly kind: 'full' }
  | { readonly kind: 'null' }
  | { readonly kind: 'hash' }
  | { readonly kind: 'partial'; readonly first: number; readonly filler: string; readonly last: number }
  | { readonly kind: 'with'; readonly expression: string };

/** A user or a role that a policy names. */
export interface PolicyGranteeRow {
  readonly kind: 'user' | 'role';
  readonly id: string;
  readonly name: string;
}

interface Common {
  readonly name: string;
  readonly key: string;
  /** The users and roles that a row policy admits, or that a mask exempts. */
  readonly grantees: readonly PolicyGranteeRow[];
}

/** A policy of an ontology. Names of concepts and properties are as declared; its SQL uses neutral names. */
export type PolicyRow =
  | (Common & { readonly kind: 'row'; readonly concept: string; readonly isPublic: boolean; readonly condition: string })
  | (Common & { readonly kind: 'mask'; readonly concept: string | null; readonly property: string; readonly mask: StoredMask });

/** An ontology whose policies are changed, with the version and the policy generation that the change was checked against. */
export interface PolicyPlace {
  readonly ontologyId: string;
  readonly version: string;
  /** The policy generation before the change. */
  readonly generation: number;
}

const BUMP = sql`UPDATE kg_catalog.ontologies SET policy_generation = policy_generation + 1 WHERE id = $1 AND version = $2::uuid AND policy_generation = $3`;
// the subquery yields NULL if the ontology was changed concurrently, and the NOT NULL column rejects it (23502)
const CREATE = sql`INSERT INTO kg_catalog.policies (id, ontology_id, name, key, kind, concept, property, to_public, condition, mask, created_by)
  VALUES ($1, (SELECT id FROM kg_catalog.ontologies WHERE id = $2 AND version = $3::uuid AND policy_generation = $4), $5, $6, $7, $8, $9, $10, $11, $12::json, $13)`;
const NAME_USER = sql`INSERT INTO kg_catalog.policy_grantees (policy_id, position, user_id) VALUES ($1, $2, $3)`;
const NAME_ROLE = sql`INSERT INTO kg_catalog.policy_grantees (policy_id, position, role_id) VALUES ($1, $2, $3)`;
const DROP = sql`DELETE FROM kg_catalog.policies WHERE ontology_id = $1 AND key = $2`;

/** Creates a policy. If `replace`, deletes the policy with that name first. Fails with 23502 if the ontology or its policies were changed concurrently. */
export function createPolicy(place: PolicyPlace, policy: PolicyRow, createdBy: string, replace: boolean): readonly Call[] {
  const id = crypto.randomUUID();
  const { ontologyId, version, generation } = place;
  const row = policy.kind === 'row';
  return [
    call(BUMP, ontologyId, version, generation),
    ...(replace ? [call(DROP, ontologyId, policy.key)] : []),
    call(
      CREATE,
      id,
      ontologyId,
      version,
      generation + 1,
      policy.name,
      policy.key,
      policy.kind,
      policy.concept,
      row ? null : policy.property,
      row && policy.isPublic,
      row ? policy.condition : null,
      row ? null : JSON.stringify(policy.mask),
      createdBy,
    ),
    ...policy.grantees.map((g, position) => call(g.kind === 'user' ? NAME_USER : NAME_ROLE, id, position, g.id)),
  ];
}

/** Drops a policy. It needs no guard: every object that is valid with the policy is valid without it. */
export const dropPolicy = (ontologyId: string, name: string): readonly Call[] => [call(DROP, ontologyId, fold(name))];
