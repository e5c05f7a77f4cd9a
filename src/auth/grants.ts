/**
 * The algebra of grants (docs/design/rights-and-visibility.md#privileges-and-resources): EDIT includes QUERY includes ACCESS; ALL covers everything below a
 * resource. Pure.
 */

import { fold, type GrantRow, type Privilege } from '../catalog/snapshot.ts';

/** The parts of a resource, e.g. ['ontology', 'store', 'concept', 'city']; they match without case. */
export type Resource = readonly string[];

/** What `can` judges by. */
export interface Holder {
  readonly isAdmin: boolean;
  readonly grants: readonly GrantRow[];
}

const RANK: Readonly<Record<Privilege, number>> = { auth: 0, access: 1, query: 2, edit: 3 };

/** Whether having `held` means having `wanted`. AUTH stands by itself. */
export const includes = (held: Privilege, wanted: Privilege): boolean =>
  held === wanted || (held !== 'auth' && wanted !== 'auth' && RANK[held] >= RANK[wanted]);

const isPrefix = (prefix: Resource, of: Resource): boolean => prefix.length <= of.length && prefix.every((part, i) => part === of[i]);

/** Whether a grant reaches a resource (in the compared form). */
const reaches = (grant: GrantRow, resource: Resource): boolean =>
  grant.all ? isPrefix(grant.key, resource) : grant.key.length === resource.length && isPrefix(grant.key, resource);

/** Whether the holder has the privilege on that very resource. Admins have all. */
export function can(holder: Holder, privilege: Privilege, resource: Resource): boolean {
  if (holder.isAdmin) return true;
  const key = resource.map(fold);
  return holder.grants.some((grant) => includes(grant.privilege, privilege) && reaches(grant, key));
}

/** Whether the holder has the privilege on the resource and on everything below it. */
export function canAll(holder: Holder, privilege: Privilege, resource: Resource): boolean {
  if (holder.isAdmin) return true;
  const key = resource.map(fold);
  return holder.grants.some((grant) => grant.all && includes(grant.privilege, privilege) && isPrefix(grant.key, key));
}

/** Whether the holder may know of the resource: a right on it, or on something below it (a grant on a concept shows the name of its ontology). */
export function canSee(holder: Holder, resource: Resource): boolean {
  if (holder.isAdmin) return true;
  const key = resource.map(fold);
  return holder.grants.some((grant) => reaches(grant, key) || (grant.key.length > key.length && isPrefix(key, grant.key)));
}

/** Whether the holder may hand the privilege on: a grant with grant option that covers what is to be granted. */
export function canGrant(holder: Holder, privilege: Privilege, resource: Resource, all: boolean): boolean {
  if (holder.isAdmin) return true;
  const key = resource.map(fold);
  return holder.grants.some(
    (grant) => grant.grantOption && includes(grant.privilege, privilege) && (all ? grant.all && isPrefix(grant.key, key) : reaches(grant, key)),
  );
}
