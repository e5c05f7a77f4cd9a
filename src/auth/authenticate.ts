/**
 * Authenticates requests: by `x-jwt-token` if JWTs are enabled, else by `x-api-key`, else by `Authorization: Bearer tk_...`
 * (docs/design/credentials.md#the-order-of-credentials).
 */
import type { GrantRow, Snapshot, SnapshotKey, SnapshotOptions } from '../catalog/snapshot.ts';
import { fold, loadSnapshot } from '../catalog/snapshot.ts';
import type { Config } from '../config.ts';
import { unauthorized } from '../errors.ts';
import type { Holder } from './grants.ts';
import { jwtFault, tenantKey, type VerifiedJwt } from './jwt-identity.ts';
import { tokenUsed } from './last-used.ts';
import { equalHashes, isToken, sha256 } from './tokens.ts';

/** Id of the built-in administrator (migrations/001). */
export const ADMIN_ID = '00000000-0000-4000-8000-000000000001';

/** An authenticated user with its rights. */
export interface Principal extends Holder {
  readonly userId: string;
  readonly name: string;
  readonly isAdmin: boolean;
  readonly roles: readonly string[];
  readonly grants: readonly GrantRow[];
  readonly credential: 'admin_token' | 'api_token' | 'jwt' | 'oauth';
  /** The tenant of the JWT, spelled as in the names of variables (`DEFAULT`, `ACME`); null without a JWT. */
  readonly tenant: string | null;
  /** Claims of the JWT as texts, for svc_claim(); empty without a JWT. */
  readonly claims: Readonly<Record<string, string>>;
  /** Scopes of the OAuth access token; undefined for other credentials. */
  readonly scopes?: readonly string[] | undefined;
  /**
   * Ids of the other users who control the credential: the creator of the token, or the users who set the e-mail that identifies the user. UNKNOWN_USER is in
   * the list if it is incomplete. With an actor, the list has the actor and the users who control the actor's credential.
   */
  readonly controllers: readonly string[];
  /** The user who impersonates this user (impersonate.ts); undefined without impersonation. */
  readonly actor?: { readonly userId: string; readonly name: string } | undefined;
}

/** A caller, and the snapshot of the catalog that authenticated it. */
export interface Caller {
  readonly principal: Principal;
  readonly snapshot: Snapshot;
  /** Authenticates the same credential again with a new snapshot. @throws as `authenticate` */
  refresh(): Promise<Caller>;
}

export interface AuthOptions extends SnapshotOptions {
  /** Logs failures to fetch keys. */
  readonly log: (line: Readonly<Record<string, unknown>>) => void;
}

/** The settings that decide which credentials are accepted. */
export type AuthSettings = Pick<Config, 'adminToken' | 'jwt'>;

const CHALLENGE = { 'www-authenticate': 'Bearer realm="svc"' };

const missing = () =>
  unauthorized('credential_missing', 'This request needs a credential', { hint: 'Send a user API token in the header x-api-key', headers: CHALLENGE });
const invalid = () =>
  unauthorized('invalid_token', 'The API token is not valid', {
    hint: 'Send a user API token in the header x-api-key; it begins with tk_',
    headers: CHALLENGE,
  });

/**
 * Authenticates a request by its headers. If a credential is present but invalid, other credentials are not tried.
 * @throws SvcError 401 `credential_missing`, `invalid_token` or a code of `jwtFault`; 503 `catalog_unavailable`
 */
export async function authenticate(headers: Headers, { adminToken, jwt }: AuthSettings, options: AuthOptions): Promise<Caller> {
  const token = jwt.enabled ? headers.get('x-jwt-token') : null;
  if (token !== null) {
    const { verifyJwt } = await import('./jwt.ts');
    return byJwt(await verifyJwt(token, headers.get('x-jwt-tenant-id'), jwt, options), options);
  }
  const key = headers.get('x-api-key');
  if (key !== null) return byToken(key, adminToken, options);
  const authorization = headers.get('authorization');
  if (authorization === null) throw missing();
  const bearer = /^bearer +(\S+) *$/i.exec(authorization)?.[1];
  if (bearer === undefined) throw invalid();
  return byToken(bearer, adminToken, options);
}

/** Builds the principal of a user. @param origin the credential, and what follows from it */
export const principalOf = (
  user: NonNullable<Snapshot['user']>,
  { roles, grants }: Snapshot,
  origin: Pick<Principal, 'credential' | 'controllers'> & Partial<Pick<Principal, 'tenant' | 'claims' | 'actor'>>,
): Principal => ({
  userId: user.id,
  name: user.name,
  // ADMIN_TOKEN makes its own user an administrator, but not the users whom it impersonates
  isAdmin: (origin.credential === 'admin_token' && origin.actor === undefined) || roles.some((role) => role.key === 'admin'),
  roles: roles.map((role) => role.name),
  grants,
  tenant: null,
  claims: {},
  ...origin,
});

/**
 * Returns the ids to store with a token, password or e-mail that the caller creates: the caller (or its actor), and the users who control the caller's
 * credential. For an administrator, only its own id is stored.
 */
export function creatorsOf({ isAdmin, userId, actor, controllers }: Principal): readonly string[] {
  const creator = actor?.userId ?? userId;
  return isAdmin ? [creator] : [...new Set([creator, ...controllers])];
}

/** Finds the user of a JWT. @throws SvcError 401 `user_not_found`; 503 */
async function byJwt(jwt: VerifiedJwt, options: AuthOptions): Promise<Caller> {
  const key: SnapshotKey = { kind: 'name', name: jwt.name, email: jwt.email };
  const snapshot = await loadSnapshot(key, options);
  const { user } = snapshot;
  // only ADMIN_TOKEN authenticates the built-in administrator, so that an account with that name at a provider gets no rights
  if (user === null || !user.active || user.id === ADMIN_ID) throw jwtFault('user_not_found');
  if (user.tenant !== null && tenantKey(user.tenant) !== jwt.tenant) throw jwtFault('user_not_found');
  // the e-mail decides which JWTs belong to the user, so the users who set it control the credential
  const controllers = fold(user.name) === fold(jwt.name) ? [] : user.emailBy;
  const principal = principalOf(user, snapshot, { credential: 'jwt', controllers, tenant: jwt.tenant, claims: jwt.claims });
  return { principal, snapshot, refresh: () => byJwt(jwt, { ...options, fresh: true }) };
}

let adminHash: { readonly token: string; readonly hash: string } | undefined;

/** Hashes of tokens that were valid before, to save computing them. The catalog still decides whether a token is valid. */
const hashes = new Map<string, string>();
const MAX_HASHES = 500;

function keepHash(token: string, hash: string): void {
  if (hashes.has(token)) return;
  if (hashes.size >= MAX_HASHES) hashes.clear();
  hashes.set(token, hash);
}

async function hashOfAdmin(token: string): Promise<string> {
  if (adminHash?.token !== token) adminHash = { token, hash: await sha256(token) };
  return adminHash.hash;
}

async function byToken(token: string, adminToken: string | null, options: AuthOptions): Promise<Caller> {
  const known = hashes.get(token);
  // a token with a wrong checksum is refused without I/O; this also applies to ADMIN_TOKEN
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
