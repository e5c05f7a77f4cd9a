/**
 * The users, roles and grants that a caller sees (docs/design/rights-and-visibility.md#users-roles-and-grants-in-lists): administrators see all of them, other
 * users see themselves and what they have rights on.
 */
import type { Caller } from '../../auth/authenticate.ts';
import { canSee, type Resource } from '../../auth/grants.ts';
import type { AccessLists } from '../../catalog/access.ts';
import { quoteBack } from '../../language/quote.ts';
import { fold } from '../../ontology/names.ts';

/** Formats a resource as in GRANT: `ontology.store.concept.city`. Parts that are not plain words are quoted with backquotes. */
export const resourceText = (resource: Resource): string => resource.map((part) => (/^[\p{L}_][\p{L}\p{N}_]*$/u.test(part) ? part : quoteBack(part))).join('.');

/** Removes everything from the lists that the caller may not see. */
export function visibleAccess({ principal }: Caller, lists: AccessLists): AccessLists {
  if (principal.isAdmin) return lists;
  const own = fold(principal.name);
  const roles = new Set(principal.roles.map(fold));
  const isOwn = (kind: 'user' | 'role', name: string): boolean => (kind === 'user' ? fold(name) === own : roles.has(fold(name)));
  const seesUser = (name: string): boolean => isOwn('user', name) || canSee(principal, ['user', name]);
  const seesRole = (name: string): boolean => isOwn('role', name) || canSee(principal, ['role', name]);
  const members = lists.roles.filter((r) => seesRole(r.role)).map((r) => (r.user !== null && seesUser(r.user) ? r : { role: r.role, user: null }));
  // a role without visible members is listed once
  const named = new Set(members.filter((r) => r.user !== null).map((r) => r.role));
  const bare = new Set<string>();
  return {
    users: lists.users.filter((u) => seesUser(u.name)),
    roles: members.filter((r) => {
      if (r.user !== null) return true;
      if (named.has(r.role) || bare.has(r.role)) return false;
      bare.add(r.role);
      return true;
    }),
    grants: lists.grants.filter((g) => isOwn(g.kind, g.grantee) || (canSee(principal, [g.kind, g.grantee]) && canSee(principal, g.resource))),
  };
}
