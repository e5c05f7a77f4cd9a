/**
 * The algebra of grants (docs/design/rights-and-visibility.md#privileges-and-resources): EDIT includes QUERY includes ACCESS; ALL covers everything below a
 * resource. These functions are pure.
 */

import { fold, type GrantRow, type Privilege } from '../catalog/snapshot.ts';

/** The parts of a resource, such as ['ontology', 'store', 'concept', 'city']. They are compared ignoring case. */
export type Resource = readonly string[];

/** A principal whose rights are checked. */
export interface Holder {
  readonly isAdmin: boolean;
  readonly grants: readonly GrantRow[];
}

const RANK: Readonly<Record<Privilege, number>> = { auth: 0, access: 1, query: 2, edit: 3 };

/** True if the privilege `granted` includes `wanted`. AUTH includes no other privilege, and no other privilege includes AUTH. */
export const includes = (granted: Privilege, wanted: Privilege): boolean =>
  granted === wanted || (granted !== 'auth' && wanted !== 'auth' && RANK[granted] >= RANK[wanted]);

const isPrefix = (prefix: Resource, of: Resource): boolean => prefix.length <= of.length && prefix.every((part, i) => part === of[i]);

/** True if a grant covers a resource (in the form that is compared). */
const covers = (grant: GrantRow, resource: Resource): boolean =>
  grant.all ? isPrefix(grant.key, resource) : grant.key.length === resource.length && isPrefix(grant.key, resource);

/** True if the holder has the privilege on this resource. Administrators have all privileges. */
export function can(holder: Holder, privilege: Privilege, resource: Resource): boolean {
  if (holder.isAdmin) return true;
  const key = resource.map(fold);
  return holder.grants.some((grant) => includes(grant.privilege, privilege) && covers(grant, key));
}

/** True if the holder has the privilege on the resource and on everything below it. */
export function canAll(holder: Holder, privilege: Privilege, resource: Resource): boolean {
  if (holder.isAdmin) return true;
  const key = resource.map(fold);
  return holder.grants.some((grant) => grant.all && includes(grant.privilege, privilege) && isPrefix(grant.key, key));
}

/** True if the holder may see the resource: with any privilege on it or on something below it. For example, a grant on a concept makes the name of its ontology visible. */
export function canSee(holder: Holder, resource: Resource): boolean {
  if (holder.isAdmin) return true;
  const key = resource.map(fold);
  return holder.grants.some((grant) => covers(grant, key) || (grant.key.length > key.length && isPrefix(key, grant.key)));
}

/** True if the holder may grant the privilege: with a grant with grant option that covers it. */
export function canGrant(holder: Holder, privilege: Privilege, resource: Resource, all: boolean): boolean {
  if (holder.isAdmin) return true;
  const key = resource.map(fold);
  return holder.grants.some(
    (grant) => grant.grantOption && includes(grant.privilege, privilege) && (all ? grant.all && isPrefix(grant.key, key) : covers(grant, key)),
  );
}
