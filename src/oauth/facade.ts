/**
 * The KV namespace that the OAuth library is given. It stores records in Durable Objects, so that each read sees the last
 * write, and a write fails if the record was changed since it was read. Create one for each request.
 */
import { sha256 } from '../auth/tokens.ts';
import type { Config } from '../config.ts';
import type { Stores } from './store-object.ts';

/** A record was changed after this request read it: another request has used the same code or token. */
export class RecordChanged extends Error {
  readonly key: string;
  constructor(key: string) {
    super('an OAuth record was changed concurrently');
    this.name = 'RecordChanged';
    this.key = key;
  }
}

const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
const LIBRARY_ID = /^[\w-]{16}$/;

/** The name of the Durable Object with the records of a user. */
export const storeOfUser = (userId: string): string => `user:${userId}`;

/** The name of the Durable Object of a key; null if no record can have that key. */
async function storeOf(key: string): Promise<string | null> {
  const [kind, id = ''] = key.split(':');
  if (kind === 'grant' || kind === 'token') return UUID.test(id) ? storeOfUser(id) : null;
  if (kind === 'client') return LIBRARY_ID.test(key.slice('client:'.length)) ? key : null;
  return `handle:${await sha256(key)}`;
}

interface PutOptions {
  readonly expiration?: number;
  readonly expirationTtl?: number;
  readonly metadata?: unknown;
}

/** A registration without a token expires after this time. Everybody can register clients, and only users can give them tokens. */
const UNUSED_SECONDS = 7 * 86_400;

/**
 * Creates the namespace for one request. The library renews a registration after each request of the token endpoint that succeeds, also after a revocation
 * of an invented token. Here only a request that issues a token renews it.
 */
export function namespaceOf(stores: Stores, mcp: Config['mcp'], now: () => number): KVNamespace {
  const seen = new Map<string, number>();
  let hasIssued = false;
  const namespace = {
    async get(key: string, options?: { readonly type?: string }): Promise<unknown> {
      const text = (await registered(key, mcp)) ?? (await stored(key));
      return text !== null && options?.type === 'json' ? JSON.parse(text) : text;
    },
    async put(key: string, value: string, { expiration, expirationTtl, metadata }: PutOptions = {}): Promise<void> {
      const store = await storeOf(key);
      if (store === null) throw new Error('invalid record key');
      const version = seen.get(key) ?? 0;
      const isUnused = key.startsWith('client:') && !hasIssued;
      if (isUnused && version > 0) return;
      const seconds = isUnused ? UNUSED_SECONDS : expirationTtl;
      const expires = seconds !== undefined ? now() + seconds * 1000 : expiration !== undefined ? expiration * 1000 : null;
      const written = { key, value: isUnused ? endingSoon(value, now()) : value, metadata, expires, seen: version };
      if (!(await stores(store).write(written))) throw new RecordChanged(key);
      seen.set(key, version + 1);
      hasIssued ||= key.startsWith('token:');
    },
    async delete(key: string): Promise<void> {
      const store = await storeOf(key);
      if (store !== null) await stores(store).remove(key);
    },
    async list({ prefix }: { readonly prefix: string }): Promise<unknown> {
      // The library lists the grants of a user. Tokens are not listed, because deleting their grant ends them.
      const store = /^grant:./.test(prefix) ? await storeOf(prefix) : null;
      const keys = store === null ? [] : await stores(store).names(prefix);
      return { keys, list_complete: true, cacheStatus: null };
    },
  };
  async function stored(key: string): Promise<string | null> {
    const store = await storeOf(key);
    if (store === null) return null;
    const found = await stores(store).read(key);
    seen.set(key, found?.version ?? 0);
    return found?.value ?? null;
  }
  return namespace as unknown as KVNamespace;
}

/** A registration with the end from which the library sees that the first token renews it. */
const endingSoon = (value: string, now: number): string =>
  JSON.stringify({ ...(JSON.parse(value) as object), registrationExpiresAt: Math.floor(now / 1000) + UNUSED_SECONDS });

/** The client that is registered in the settings, in the library's format. */
async function registered(key: string, { clientId, clientSecret, issuer, redirectUris }: Config['mcp']): Promise<string | null> {
  // with an issuer, the id and secret are the credentials of this service at the issuer
  if (clientId === null || issuer !== null || key !== `client:${clientId}`) return null;
  return JSON.stringify({
    clientId,
    clientName: clientId,
    redirectUris,
    grantTypes: ['authorization_code', 'refresh_token'],
    responseTypes: ['code'],
    // a client with a secret may send it in the header or in the body
    ...(clientSecret === null
      ? { tokenEndpointAuthMethod: 'none', authMethodExplicit: true }
      : { tokenEndpointAuthMethod: 'client_secret_basic', clientSecret: await sha256(clientSecret) }),
  });
}
