/** Row policies and masks in the catalog (docs/design/policies.md#where-policies-are-kept): attached to an ontology, not part of a version. */
import { fold } from '../ontology/names.ts';
import { type Call, type Param, type Sql, sql } from './db.ts';

/** What stands instead of a masked value; the planner's `Mask` (planner/access.ts) has the same form. */
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
  /** Whom a row policy admits; whom a mask spares. */
  readonly grantees: readonly PolicyGranteeRow[];
}

/** A policy of an ontology; names of concepts and properties as declared, SQL with neutral names. */
export type PolicyRow =
  | (Common & { readonly kind: 'row'; readonly concept: string; readonly isPublic: boolean; readonly condition: string })
  | (Common & { readonly kind: 'mask'; readonly concept: string | null; readonly property: string; readonly mask: StoredMask });

/** The ontology whose policies are changed, in the version and with the policies by which the change was judged. */
export interface PolicyPlace {
  readonly ontologyId: string;
  readonly version: string;
  /** As it was before the change. */
  readonly generation: number;
}

const call = (statement: Sql, ...params: Param[]): Call => ({ sql: statement, params });

const BUMP = sql`UPDATE kg_catalog.ontologies SET policy_generation = policy_generation + 1 WHERE id = $1 AND version = $2::uuid AND policy_generation = $3`;
// null where the ontology is another one by now, which the column refuses (23502)
const CREATE = sql`INSERT INTO kg_catalog.policies (id, ontology_id, name, key, kind, concept, property, to_public, condition, mask, created_by)
  VALUES ($1, (SELECT id FROM kg_catalog.ontologies WHERE id = $2 AND version = $3::uuid AND policy_generation = $4), $5, $6, $7, $8, $9, $10, $11, $12::json, $13)`;
const NAME_USER = sql`INSERT INTO kg_catalog.policy_grantees (policy_id, position, user_id) VALUES ($1, $2, $3)`;
const NAME_ROLE = sql`INSERT INTO kg_catalog.policy_grantees (policy_id, position, role_id) VALUES ($1, $2, $3)`;
const DROP = sql`DELETE FROM kg_catalog.policies WHERE ontology_id = $1 AND key = $2`;

/** A policy, in the place of the one of its name where `replace`. Fails (23502) where the ontology or its policies were changed meanwhile. */
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

/** Nothing that was judged by a policy fails to hold without it: no guard. */
export const dropPolicy = (ontologyId: string, name: string): readonly Call[] => [call(DROP, ontologyId, fold(name))];
