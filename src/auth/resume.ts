/** A caller who was authenticated before, for work that goes on after the request. */
import { fold, loadSnapshot, type Snapshot, type SnapshotOptions } from '../catalog/snapshot.ts';
import { unauthorized } from '../errors.ts';
import { type Caller, type Principal, principalOf } from './authenticate.ts';
import { can } from './grants.ts';

/** What has to be kept of a caller to go on as it. */
export type Earlier = Pick<Principal, 'userId' | 'credential' | 'tenant' | 'claims' | 'actor' | 'controllers' | 'isAdmin'>;

/** What has to be kept of a principal to go on as it. */
export const earlierOf = ({ userId, credential, tenant, claims, actor, controllers, isAdmin }: Principal): Earlier => ({
  userId,
  credential,
  tenant,
  claims,
  actor,
  controllers,
  isAdmin,
});

const over = () => unauthorized('invalid_token', 'The user of this statement may no longer use the service');

/**
 * The same user with the rights that the catalog has now; with `fresh: false`, those of a snapshot of the usual age. A caller who was not an administrator
 * does not become one: the promotion may have revoked its credential, which is not checked again here.
 * @throws SvcError 401 `invalid_token` where the user is gone or not active, or its actor may no longer act as it; 503 `catalog_unavailable`
 */
export async function resume(earlier: Earlier, options: SnapshotOptions): Promise<Caller> {
  const { principal: now, snapshot } = await current(earlier, options);
  const principal = now.isAdmin && !earlier.isAdmin ? withoutAdmin(now) : now;
  if (principal.actor !== undefined) {
    const { principal: actor } = await current({ ...earlier, userId: principal.actor.userId, actor: undefined }, options);
    if (!can(actor, 'auth', ['user', principal.name]) || (principal.isAdmin && !actor.isAdmin)) throw over();
  }
  return { principal, snapshot, refresh: () => resume(earlier, { ...options, fresh: true }) };
}

async function current({ userId, ...came }: Earlier, options: SnapshotOptions): Promise<{ readonly principal: Principal; readonly snapshot: Snapshot }> {
  const snapshot = await loadSnapshot({ kind: 'user', id: userId }, { fresh: true, ...options });
  const { user } = snapshot;
  if (user === null || !user.active) throw over();
  const { credential, tenant, claims, actor, controllers } = came;
  return { principal: principalOf(user, snapshot, { credential, tenant, claims, actor, controllers }), snapshot };
}

/** The user with all its rights but those of the role `admin`. */
const withoutAdmin = (principal: Principal): Principal => ({
  ...principal,
  isAdmin: false,
  roles: principal.roles.filter((name) => fold(name) !== 'admin'),
  grants: principal.grants.filter((grant) => grant.role !== 'admin'),
});
