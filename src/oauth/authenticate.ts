/** Authenticates OAuth access tokens (docs/design/credentials.md#oauth-access-tokens). A token is valid under the MCP path only, while its user and grant are valid. */
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

/** A caller that was authenticated by an access token. */
export interface OAuthCaller extends Caller {
  readonly principal: Principal & { readonly scopes: readonly string[] };
  /** When the token expires, in milliseconds since 1970. */
  readonly expires: number;
}

/** How long a password digest is cached. A password that another isolate changes is noticed after this time. */
const PASSWORD_MS = 30_000;
/** The id of a session for logins without one. */
export const NO_SESSION = '00000000-0000-4000-8000-000000000000';

interface Known {
  readonly digest: string;
  readonly at: number;
  /** The number `permissions` of the snapshot that was read before the digest. Each change of a password, an e-mail or a role increments it. */
  readonly permissions: number;
}

const known = new ByteStore(256 * 1024).view<Known>('oauth');

/** The digest of a user's stored password with SESSION_SECRET; it is stored with each grant. Null if the user cannot use OAuth. @throws SvcError 503 */
export async function passwordDigestOf({ config, db }: Pick<OAuthParts, 'config' | 'db'>, userId: string): Promise<string | null> {
  if (userId === ADMIN_ID || config.sessionSecret === null) return null;
  const login = await findSessionUser(db, userId, NO_SESSION);
  return login?.active === true ? passwordDigest(config.sessionSecret, login) : null;
}

/**
 * True if a user is active and still has the password of this digest.
 * @param permissions the number of the snapshot with the user's rights. A cached digest is used only if it was read with the same number, so that an old
 *   password is never accepted with new rights. Null: read the digest from the catalog
 * @throws SvcError 503
 */
export async function isPasswordCurrent(parts: OAuthParts, userId: string, digest: string, permissions: number | null): Promise<boolean> {
  const found = known.get(userId);
  const now = parts.now();
  if (found !== undefined && found.permissions === permissions && now - found.at < PASSWORD_MS && equalHashes(found.digest, digest)) return true;
  const current = await passwordDigestOf(parts, userId);
  if (current !== null && permissions !== null) known.set(userId, { digest: current, at: now, permissions }, 200);
  return current !== null && equalHashes(current, digest);
}

/** 401 under the MCP path; its challenge names where to get a token. */
function refused(place: Place | null, product: string): SvcError {
  return unauthorized('invalid_token', 'The access token is not valid', {
    hint: 'Request a new access token',
    headers: { 'www-authenticate': challengeOf(place, product, 'invalid_token') },
  });
}

/**
 * Returns the OAuth access token of a request: a value of `Authorization: Bearer` that is not an API token. Null without such a token, or if another credential
 * precedes it (docs/design/credentials.md#the-order-of-credentials).
 */
export function oauthTokenOf(headers: Headers, { jwt }: Pick<OAuthParts['config'], 'jwt'>): string | null {
  if ((jwt.enabled && headers.has('x-jwt-token')) || headers.has('x-api-key')) return null;
  const token = /^bearer +(\S+) *$/i.exec(headers.get('authorization') ?? '')?.[1];
  return token === undefined || token.startsWith('tk_') ? null : token;
}

/**
 * Authenticates the access token of a request under the MCP path. A revoked grant takes effect immediately, a change of
 * rights or of the password within 60 s.
 * @throws SvcError 401 `invalid_token`; 503 `catalog_unavailable`
 */
export async function authenticateOAuth(token: string, request: Request, parts: OAuthParts): Promise<OAuthCaller> {
  const { config, oauth } = parts;
  const place = placeOf(config, request);
  const invalid = () => refused(place, config.product);
  const ids = partsOf(token);
  if (ids === null || place === null || oauth === undefined) throw invalid();
  const validate = async (fresh: boolean): Promise<OAuthCaller> => {
    // look for the user first: no Durable Object is used for an unknown user
    const snapshot = await loadSnapshot({ kind: 'user', id: ids.userId }, { ...parts, fresh });
    if (snapshot.user === null || !snapshot.user.active) throw invalid();
    const found = await (await oauth.at(place, parts)).validate(token);
    if (found === null || !(await isPasswordCurrent(parts, found.userId, found.password, fresh ? null : snapshot.permissions))) throw invalid();
    const principal = {
      ...principalOf(snapshot.user, snapshot, { credential: 'oauth', controllers: [UNKNOWN_USER], claims: found.claims }),
      scopes: found.scopes,
    };
    return { principal, snapshot, expires: found.expires, refresh: () => validate(true) };
  };
  return validate(false);
}
