/** OAuth access token → caller (docs/design/credentials.md#oauth-access-tokens): valid under the MCP path only, as long as its user and grant are. */
import { ADMIN_ID, type Caller, type Principal, principalOf } from '../auth/authenticate.ts';
import { passwordDigest } from '../auth/session.ts';
import { equalHashes } from '../auth/tokens.ts';
import { ByteStore } from '../cache.ts';
import { findSessionUser } from '../catalog/logins.ts';
import { UNKNOWN_USER } from '../catalog/promotion.ts';
import { loadSnapshot } from '../catalog/snapshot.ts';
import { type SvcError, unauthorized } from '../errors.ts';
import { challengeOf, placeOf } from './place.ts';
import { partsOf } from './request.ts';
import type { OAuthParts, Place } from './types.ts';

/** A caller who came with an access token. */
export interface OAuthCaller extends Caller {
  readonly principal: Principal & { readonly scopes: readonly string[] };
  /** When the token ends, in milliseconds since 1970. */
  readonly expires: number;
}

/** A password that was changed elsewhere is noticed after so long. */
const PASSWORD_MS = 30_000;
const NO_SESSION = '00000000-0000-4000-8000-000000000000';

interface Known {
  readonly digest: string;
  readonly at: number;
  /** The number `permissions` of the snapshot that was read before it; each new password, e-mail and role raises that number. */
  readonly permissions: number;
}

const known = new ByteStore(256 * 1024).view<Known>('oauth');

/** A digest of a user's stored password under SESSION_SECRET, which a grant keeps; null where the user may do nothing. @throws SvcError 503 */
export async function passwordOf({ config, db }: Pick<OAuthParts, 'config' | 'db'>, userId: string): Promise<string | null> {
  if (userId === ADMIN_ID || config.sessionSecret === null) return null;
  const login = await findSessionUser(db, userId, NO_SESSION);
  return login?.active === true ? passwordDigest(config.sessionSecret, login) : null;
}

/**
 * Whether a user is active and still has the password of that digest.
 * @param permissions the number of the snapshot with the user's rights. A password that was read up to 30 s ago is used only with the same number, so that new
 *   rights never meet an old password. Null: the catalog is asked
 * @throws SvcError 503
 */
export async function userHolds(parts: OAuthParts, userId: string, digest: string, permissions: number | null): Promise<boolean> {
  const found = known.get(userId);
  const now = parts.now();
  if (found !== undefined && found.permissions === permissions && now - found.at < PASSWORD_MS && equalHashes(found.digest, digest)) return true;
  const current = await passwordOf(parts, userId);
  if (current !== null && permissions !== null) known.set(userId, { digest: current, at: now, permissions }, 200);
  return current !== null && equalHashes(current, digest);
}

/** 401 under the MCP path, with where to get a token. */
function refused(place: Place | null, product: string): SvcError {
  return unauthorized('invalid_token', 'The access token is not valid', {
    hint: 'Ask for a new one',
    headers: { 'www-authenticate': challengeOf(place, product, 'invalid_token') },
  });
}

/**
 * The credential of a request that may be an access token (docs/design/credentials.md#the-order-of-credentials): `Authorization: Bearer` that is not an API
 * token, if no other credential comes first.
 */
export function oauthTokenOf(headers: Headers, { jwt }: Pick<OAuthParts['config'], 'jwt'>): string | null {
  if ((jwt.enabled && headers.has('x-jwt-token')) || headers.has('x-api-key')) return null;
  const token = /^bearer +(\S+) *$/i.exec(headers.get('authorization') ?? '')?.[1];
  return token === undefined || token.startsWith('tk_') ? null : token;
}

/**
 * Judges the access token of a request under the MCP path. Revoked grants end at once, changed rights and passwords
 * within 60 s.
 * @throws SvcError 401 `invalid_token`; 503 `catalog_unavailable`
 */
export async function judgeOAuthBearer(token: string, request: Request, parts: OAuthParts): Promise<OAuthCaller> {
  const { config, oauth } = parts;
  const place = placeOf(config, request);
  const invalid = () => refused(place, config.product);
  const ids = partsOf(token);
  if (ids === null || place === null || oauth === undefined) throw invalid();
  const judge = async (fresh: boolean): Promise<OAuthCaller> => {
    // asked first: of who is no user no object is looked up
    const snapshot = await loadSnapshot({ kind: 'user', id: ids.userId }, { ...parts, fresh });
    if (snapshot.user === null || !snapshot.user.active) throw invalid();
    const found = await oauth.at(place, parts).validate(token);
    if (found === null || !(await userHolds(parts, found.userId, found.password, fresh ? null : snapshot.permissions))) throw invalid();
    const principal = {
      ...principalOf(snapshot.user, snapshot, { credential: 'oauth', controllers: [UNKNOWN_USER], claims: found.claims }),
      scopes: found.scopes,
    };
    return { principal, snapshot, expires: found.expires, refresh: () => judge(true) };
  };
  return judge(false);
}
