/** A caller who was authenticated before, for work that goes on after the request. */
import type { SnapshotOptions } from '../catalog/snapshot.ts';
import { loadSnapshot } from '../catalog/snapshot.ts';
import { unauthorized } from '../errors.ts';
import type { Caller, Principal } from './authenticate.ts';

/**
 * The same user with the rights that the catalog has now.
 * @throws SvcError 401 `invalid_token` where the user is gone or not active; 503 `catalog_unavailable`
 */
export async function resume(earlier: Pick<Principal, 'userId' | 'credential'>, options: SnapshotOptions): Promise<Caller> {
  const snapshot = await loadSnapshot({ kind: 'user', id: earlier.userId }, { ...options, fresh: true });
  const { user } = snapshot;
  if (user === null || !user.active) throw unauthorized('invalid_token', 'The user of this statement may no longer use the service');
  const isAdmin = earlier.credential === 'admin_token' || snapshot.roles.some((role) => role.key === 'admin');
  const principal: Principal = {
    userId: user.id,
    name: user.name,
    isAdmin,
    roles: snapshot.roles.map((role) => role.name),
    grants: snapshot.grants,
    credential: earlier.credential,
  };
  return { principal, snapshot, refresh: () => resume(earlier, options) };
}
