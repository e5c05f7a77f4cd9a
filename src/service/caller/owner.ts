/** Who owns a result, and under which keys an asynchronous statement counts. */
import type { Principal } from '../../auth/authenticate.ts';
import { sha256 } from '../../auth/tokens.ts';

/**
 * Returns the owner of a result: a digest of the user, of the tenant and claims of its credential, and of its actor. A result that was made with one claim
 * cannot be read with another claim.
 */
export const ownerOf = ({ userId, tenant, claims, actor }: Principal): Promise<string> =>
  sha256(JSON.stringify([userId, tenant, Object.entries(claims).sort(([a], [b]) => (a < b ? -1 : 1)), actor?.userId ?? null]));

/**
 * The keys under which a statement counts. Normally this is its user. With impersonation there are two: the pair of both users, so that neither uses up the
 * other's limit, and all impersonated statements of the actor.
 */
export const countedAs = ({ userId, actor }: Pick<Principal, 'userId' | 'actor'>): readonly string[] =>
  actor === undefined ? [userId] : [`${actor.userId}:${userId}`, `${actor.userId}:all`];
