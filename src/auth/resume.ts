/** A caller who was authenticated before, for work that goes on after the request. */
import type { SnapshotOptions } from '../catalog/snapshot.ts';
import { loadSnapshot } from '../catalog/snapshot.ts';
import { unauthorized } from '../errors.ts';
import { type Caller, type Principal, principalOf } from './authenticate.ts';
import { can } from './grants.ts';

/** What has to be kept of a caller to go on as it. */
export type Earlier = Pick<Principal, 'userId' | 'credential' | 'tenant' | 'claims' | 'actor'>;

/**
 * The same user with the rights that the catalog has now; with `fresh: false`, those of a snapshot of the usual age.
 * @throws SvcError 401 `invalid_token` where the user is gone or not active; 503 `catalog_unavailable`
 */
export async function resume(earlier: Earlier, options: SnapshotOptions): Promise<Caller> {
  const snapshot = await loadSnapshot({ kind: 'user', id: earlier.userId }, { fresh: true, ...options });
  const { user } = snapshot;
  if (user === null || !user.active) throw unauthorized('invalid_token', 'The user of this statement may no longer use the service');
  const { credential, tenant, claims, actor } = earlier;
  if (actor !== undefined) {
    const who = await resume({ userId: actor.userId, credential, tenant, claims }, options);
    if (!can(who.principal, 'auth', ['user', user.name])) throw unauthorized('invalid_token', 'The user of this statement may no longer use the service');
  }
  return {
    principal: principalOf(user, snapshot, { credential, tenant, claims, actor }),
    snapshot,
    refresh: () => resume(earlier, { ...options, fresh: true }),
  };
}
