/**
 * Credential → Principal: `x-jwt-token` if JWTs are enabled, else `x-api-key`, else `Authorization: Bearer tk_...`
 * (docs/design/credentials.md#the-order-of-credentials).
 */
import type { GrantRow, Snapshot, SnapshotKey, SnapshotOptions } from '../catalog/snapshot.ts';
import { fold, loadSnapshot } from '../catalog/snapshot.ts';
import type { Config } from '../config.ts';
import { unauthorized } from '../errors.ts';
import type { Holder } from './grants.ts';
import { jwtFault, type VerifiedJwt, verifyJwt } from './jwt.ts';
import { tokenUsed } from './last-used.ts';
import { tenantKey } from './tenants.ts';
import { equalHashes, isToken, sha256 } from './tokens.ts';

/** The built-in administrator's row (migrations/001). */
export const ADMIN_ID = '00000000-0000-4000-8000-000000000001';

/** Who asks. */
export interface Principal extends Holder {
  readonly userId: string;
  readonly name: string;
  readonly isAdmin: boolean;
  readonly roles: readonly string[];
  readonly grants: readonly GrantRow[];
  readonly credential: 'admin_token' | 'api_token' | 'jwt' | 'oauth';
  /** Whose JWT it was, as variables have it (`DEFAULT`, `ACME`); null for who came without one. */
  readonly tenant: string | null;
  /** Claims of the JWT as texts, for svc_claim(); empty for who came without one. */
  readonly claims: Readonly<Record<string, string>>;
  /** What an OAuth access token is good for; undefined: the credential was none. */
  readonly scopes?: readonly string[] | undefined;
  /**
   * Ids of the other users who control the credential: who made the token, or who set the e-mail by which it names the user. UNKNOWN_USER: the list is not
   * complete. With an actor: the actor and the users who control the actor's credential.
   */
  readonly controllers: readonly string[];
  /** Who came in this user's place (impersonate.ts); undefined: the user itself. */
  readonly actor?: { readonly userId: string; readonly name: string } | undefined;
}

/** A caller and what was read of the catalog when the credential was judged. */
export interface Caller {
  readonly principal: Principal;
  readonly snapshot: Snapshot;
  /** The same caller by a snapshot read now. @throws as `authenticate` */
  refresh(): Promise<Caller>;
}

export interface AuthOptions extends SnapshotOptions {
  /** For what the operator has to know of keys that cannot be had. */
  readonly log: (line: Readonly<Record<string, unknown>>) => void;
}

/** The settings that say which credentials there are. */
export type AuthSettings = Pick<Config, 'adminToken' | 'jwt'>;

const CHALLENGE = { 'www-authenticate': 'Bearer realm="svc"' };

const missing = () =>
  unauthorized('credential_missing', 'This needs a credential', { hint: 'Send a user API token in the header x-api-key', headers: CHALLENGE });
const invalid = () =>
  unauthorized('invalid_token', 'The API token is not valid', {
    hint: 'Send a user API token in the header x-api-key; it begins with tk_',
    headers: CHALLENGE,
  });

/**
 * Judges the credential of a request. A credential that is present but bad never falls through to another one.
 * @throws SvcError 401 `credential_missing`, `invalid_token`, and those of JWTs; 503 `catalog_unavailable`
 */
export async function authenticate(headers: Headers, { adminToken, jwt }: AuthSettings, options: AuthOptions): Promise<Caller> {
  const token = jwt.enabled ? headers.get('x-jwt-token') : null;
  if (token !== null) return byJwt(await verifyJwt(token, headers.get('x-jwt-tenant-id'), jwt, options), options);
  const key = headers.get('x-api-key');
  if (key !== null) return byToken(key, adminToken, options);
  const authorization = headers.get('authorization');
  if (authorization === null) throw missing();
  const bearer = /^bearer +(\S+) *$/i.exec(authorization)?.[1];
  if (bearer === undefined) throw invalid();
  return byToken(bearer, adminToken, options);
}

/** Who a user is, by what the catalog says of it and how it came. */
export const principalOf = (
  user: NonNullable<Snapshot['user']>,
  { roles, grants }: Snapshot,
  came: Pick<Principal, 'credential' | 'controllers'> & Partial<Pick<Principal, 'tenant' | 'claims' | 'actor'>>,
): Principal => ({
  userId: user.id,
  name: user.name,
  // ADMIN_TOKEN makes an administrator of its own user, not of those in whose place it comes
  isAdmin: (came.credential === 'admin_token' && came.actor === undefined) || roles.some((role) => role.key === 'admin'),
  roles: roles.map((role) => role.name),
  grants,
  tenant: null,
  claims: {},
  ...came,
});

/**
 * The ids that are stored with a token, password or e-mail that the caller makes: the caller (or its actor), and the users who control its own
 * credential. Of an administrator only its own id is stored.
 */
export function makersOf({ isAdmin, userId, actor, controllers }: Principal): readonly string[] {
  const who = actor?.userId ?? userId;
  return isAdmin ? [who] : [...new Set([who, ...controllers])];
}

/** The user that a JWT names. @throws SvcError 401 `user_not_found`; 503 */
async function byJwt(jwt: VerifiedJwt, options: AuthOptions): Promise<Caller> {
  const key: SnapshotKey = { kind: 'name', name: jwt.name, email: jwt.email };
  const snapshot = await loadSnapshot(key, options);
  const { user } = snapshot;
  // the built-in administrator is ADMIN_TOKEN's; an account of that name at a provider is not to become it
  if (user === null || !user.active || user.id === ADMIN_ID) throw jwtFault('user_not_found');
  if (user.tenant !== null && tenantKey(user.tenant) !== jwt.tenant) throw jwtFault('user_not_found');
  // an e-mail decides whose tokens name the user, so whoever set it controls the credential
  const controllers = fold(user.name) === fold(jwt.name) ? [] : user.emailBy;
  const principal = principalOf(user, snapshot, { credential: 'jwt', controllers, tenant: jwt.tenant, claims: jwt.claims });
  return { principal, snapshot, refresh: () => byJwt(jwt, { ...options, fresh: true }) };
}

let adminHash: { readonly token: string; readonly hash: string } | undefined;

/** Hashes of tokens that were found valid here; whether they still are is judged each time. */
const hashes = new Map<string, string>();
const KEPT_HASHES = 500;

function keepHash(token: string, hash: string): void {
  if (hashes.has(token)) return;
  if (hashes.size >= KEPT_HASHES) hashes.clear();
  hashes.set(token, hash);
}

async function hashOfAdmin(token: string): Promise<string> {
  if (adminHash?.token !== token) adminHash = { token, hash: await sha256(token) };
  return adminHash.hash;
}

async function byToken(token: string, adminToken: string | null, options: AuthOptions): Promise<Caller> {
  const known = hashes.get(token);
  // one that is mistyped is refused without asking anybody; ADMIN_TOKEN of another form is none
  if (known === undefined && !isToken(token)) throw invalid();
  const hash = known ?? (await sha256(token));
  const refresh = (): Promise<Caller> => byToken(token, adminToken, { ...options, fresh: true });
  if (adminToken !== null && equalHashes(hash, await hashOfAdmin(adminToken))) {
    keepHash(token, hash);
    const snapshot = await loadSnapshot({ kind: 'user', id: ADMIN_ID }, options);
    const principal: Principal = {
      userId: ADMIN_ID,
      name: snapshot.user?.name ?? 'admin',
      isAdmin: true,
      roles: ['admin'],
      grants: [],
      credential: 'admin_token',
      controllers: [],
      tenant: null,
      claims: {},
    };
    return { principal, snapshot, refresh };
  }
  const snapshot = await loadSnapshot({ kind: 'token', hash }, options);
  const { user } = snapshot;
  if (snapshot.token === null || user === null || !user.active || snapshot.token.revoked) throw invalid();
  if (snapshot.token.expires !== null && snapshot.token.expires <= options.now()) throw invalid();
  keepHash(token, hash);
  tokenUsed(snapshot.token.id, options);
  return { principal: principalOf(user, snapshot, { credential: 'api_token', controllers: snapshot.token.by }), snapshot, refresh };
}
