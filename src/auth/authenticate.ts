/** Credential → Principal (decisions 8, as far as it goes now): `x-api-key`, else `Authorization: Bearer tk_...`. */
import type { GrantRow, Snapshot, SnapshotOptions } from '../catalog/snapshot.ts';
import { loadSnapshot } from '../catalog/snapshot.ts';
import { unauthorized } from '../errors.ts';
import type { Holder } from './grants.ts';
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
  readonly credential: 'admin_token' | 'api_token';
}

/** A caller and what was read of the catalog when the credential was judged. */
export interface Caller {
  readonly principal: Principal;
  readonly snapshot: Snapshot;
  /** The same caller by a snapshot read now. @throws as `authenticate` */
  refresh(): Promise<Caller>;
}

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
 * @throws SvcError 401 `credential_missing`, `invalid_token`; 503 `catalog_unavailable`
 */
export async function authenticate(headers: Headers, adminToken: string | null, options: SnapshotOptions): Promise<Caller> {
  const key = headers.get('x-api-key');
  if (key !== null) return byToken(key, adminToken, options);
  const authorization = headers.get('authorization');
  if (authorization === null) throw missing();
  const bearer = /^bearer +(\S+) *$/i.exec(authorization)?.[1];
  if (bearer === undefined) throw invalid();
  return byToken(bearer, adminToken, options);
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

async function byToken(token: string, adminToken: string | null, options: SnapshotOptions): Promise<Caller> {
  const known = hashes.get(token);
  const hash = known ?? (await sha256(token));
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
    };
    return { principal, snapshot, refresh: () => byToken(token, adminToken, { ...options, fresh: true }) };
  }
  if (known === undefined && !isToken(token)) throw invalid();
  const snapshot = await loadSnapshot({ kind: 'token', hash }, options);
  const { user } = snapshot;
  if (snapshot.token === null || user === null || !user.active || snapshot.token.revoked) throw invalid();
  if (snapshot.token.expires !== null && snapshot.token.expires <= options.now()) throw invalid();
  keepHash(token, hash);
  const principal: Principal = {
    userId: user.id,
    name: user.name,
    isAdmin: snapshot.roles.some((role) => role.key === 'admin'),
    roles: snapshot.roles.map((role) => role.name),
    grants: snapshot.grants,
    credential: 'api_token',
  };
  return { principal, snapshot, refresh: () => byToken(token, adminToken, { ...options, fresh: true }) };
}
