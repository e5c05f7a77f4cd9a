/** Restores a caller that was authenticated before, for work that continues after its request. */
import { fold, loadSnapshot, type Snapshot, type SnapshotOptions } from '../catalog/snapshot.ts';
import { unauthorized } from '../errors.ts';
import { type Caller, type Principal, principalOf } from './authenticate.ts';
import { can } from './grants.ts';
import { sha256 } from './tokens.ts';

/** The state of a caller that `resume` needs. */
export type Earlier = Pick<Principal, 'userId' | 'credential' | 'tenant' | 'claims' | 'actor' | 'controllers' | 'isAdmin'>;

/** Extracts the state that `resume` needs from a principal. */
export const earlierOf = ({ userId, credential, tenant, claims, actor, controllers, isAdmin }: Principal): Earlier => ({
  userId,
  credential,
  tenant,
  claims,
  actor,
  controllers,
  isAdmin,
});

/** The maker of a job, as it is stored. */
export interface Maker extends Earlier {
  /** The digest of ADMIN_TOKEN, if that was the maker's credential. */
  readonly adminToken?: string | undefined;
}

/** A digest of ADMIN_TOKEN that is stored with what it made; undefined: it is not set. */
export const digestOfAdmin = async ({ adminToken }: { readonly adminToken: string | null }): Promise<string | undefined> =>
  adminToken === null ? undefined : sha256(`maker:${adminToken}`);

/** The same as `resume`, for the maker of a job, whose credential may have ended long ago. @throws SvcError as `resume`; 401 `invalid_token` if it was another ADMIN_TOKEN */
export async function resumeMaker(maker: Maker, options: SnapshotOptions & { readonly config: { readonly adminToken: string | null } }): Promise<Caller> {
  if (maker.credential === 'admin_token' && maker.adminToken === undefined)
    throw unauthorized('invalid_token', 'An earlier release made this job for ADMIN_TOKEN, without a note of which one: an administrator must replace the job');
  if (maker.credential === 'admin_token' && maker.adminToken !== (await digestOfAdmin(options.config)))
    throw unauthorized('invalid_token', 'ADMIN_TOKEN has changed since it made this job: an administrator must replace the job');
  return resume(maker, options);
}

const noLongerValid = () => unauthorized('invalid_token', 'The user of this statement may no longer use the service');

/**
 * Returns the same user with its current rights; with `fresh: false`, a cached snapshot may be used. A caller that was not an administrator does not become
 * one, because the promotion may have revoked its credential, which is not checked again here.
 * @throws SvcError 401 `invalid_token` if the user was dropped or is not active, or its actor may no longer impersonate it; 503 `catalog_unavailable`
 */
export async function resume(earlier: Earlier, options: SnapshotOptions): Promise<Caller> {
  const { principal: now, snapshot } = await current(earlier, options);
  const principal = now.isAdmin && !earlier.isAdmin ? withoutAdmin(now) : now;
  if (principal.actor !== undefined) {
    const { principal: actor } = await current({ ...earlier, userId: principal.actor.userId, actor: undefined }, options);
    if (!can(actor, 'auth', ['user', principal.name]) || (principal.isAdmin && !actor.isAdmin)) throw noLongerValid();
  }
  return { principal, snapshot, refresh: () => resume(earlier, { ...options, fresh: true }) };
}

async function current({ userId, ...origin }: Earlier, options: SnapshotOptions): Promise<{ readonly principal: Principal; readonly snapshot: Snapshot }> {
  const snapshot = await loadSnapshot({ kind: 'user', id: userId }, { fresh: true, ...options });
  const { user } = snapshot;
  if (user === null || !user.active) throw noLongerValid();
  const { credential, tenant, claims, actor, controllers } = origin;
  return { principal: principalOf(user, snapshot, { credential, tenant, claims, actor, controllers }), snapshot };
}

/** Removes the role `admin` and its rights. */
const withoutAdmin = (principal: Principal): Principal => ({
  ...principal,
  isAdmin: false,
  roles: principal.roles.filter((name) => fold(name) !== 'admin'),
  grants: principal.grants.filter((grant) => grant.role !== 'admin'),
});
