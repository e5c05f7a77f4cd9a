/**
 * Key sets of identity providers (RFC 7517, 5), fetched from `JWT_<TENANT>_JWKS_URL`. An isolate caches the imported keys,
 * but no promise, which belongs to the request that created it. While one request fetches, the others poll until it is done.
 */

import type { JWK } from 'jose';
import { readBounded } from '../bytes.ts';
import { loggedFault } from '../errors.ts';
import { fits, publicKey } from './jwt-keys.ts';
import type { Tenant } from './tenants.ts';

/** Keys of this age are refreshed in the background. */
export const REFRESH_MS = 5 * 60_000;
/** Keys of this age are not used. This bounds how long a withdrawn key is accepted while its provider cannot be reached. */
export const MAX_AGE_MS = 60 * 60_000;
/** The shortest time between fetches because of an unknown `kid` or a failed fetch. */
export const COOL_DOWN_MS = 30_000;
const TIMEOUT_MS = 5_000;
const MAX_BYTES = 256 * 1024;
const MAX_KEYS = 50;
/** The most keys that are tried for a token without `kid`. */
const MAX_TRIED = 4;
const POLL_MS = 20;

interface ImportedKey {
  readonly kid: string | undefined;
  readonly algorithm: string;
  readonly key: CryptoKey;
}

interface State {
  keys: readonly ImportedKey[];
  /** When the keys were requested; NEVER if there are no keys yet. */
  readAt: number;
  /** When the last fetch ended, successfully or not. */
  triedAt: number;
  /** The start of the running fetch, or NEVER. */
  fetchingSince: number;
}

const NEVER = Number.NEGATIVE_INFINITY;
const states = new WeakMap<Tenant['config'], State>();

/** Clock, background work and log of the request. */
export interface JwksOptions {
  readonly now: () => number;
  readonly waitUntil: (work: Promise<unknown>) => void;
  readonly log: (line: Readonly<Record<string, unknown>>) => void;
}

/** The keys of a provider could not be fetched. The reason has been logged. */
export class JwksUnavailable extends Error {
  constructor(variable: string) {
    super(`${variable}: the keys could not be fetched`);
    this.name = 'JwksUnavailable';
  }
}

/**
 * Returns the keys that match a token's header; an empty list if the provider has no such key. Other key references of the
 * header (`jku`, `x5u`, `jwk`, `x5c`) are ignored.
 * @throws JwksUnavailable
 */
export async function jwksKeys(tenant: Tenant, algorithm: string, kid: string | undefined, options: JwksOptions): Promise<readonly CryptoKey[]> {
  const { now, waitUntil } = options;
  const state = stateOf(tenant);
  const wanted = (): readonly CryptoKey[] =>
    state.keys
      .filter((k) => k.algorithm === algorithm && (kid === undefined || k.kid === kid))
      .slice(0, MAX_TRIED)
      .map((k) => k.key);
  const age = now() - state.readAt;
  if (age >= MAX_AGE_MS) {
    await fetched(tenant, state, options);
    if (now() - state.readAt >= MAX_AGE_MS) throw new JwksUnavailable(`JWT_${tenant.config.id}_JWKS_URL`);
  } else if (age >= REFRESH_MS && mayFetch(state, now())) waitUntil(load(tenant, state, options));
  const keys = wanted();
  if (keys.length > 0 || kid === undefined) return keys;
  await fetched(tenant, state, options);
  return wanted();
}

function stateOf({ config }: Tenant): State {
  let state = states.get(config);
  if (state === undefined) {
    state = { keys: [], readAt: NEVER, triedAt: NEVER, fetchingSince: NEVER };
    states.set(config, state);
  }
  return state;
}

const isFetching = (state: State, now: number): boolean => now - state.fetchingSince < TIMEOUT_MS;
const mayFetch = (state: State, now: number): boolean => !isFetching(state, now) && now - state.triedAt >= COOL_DOWN_MS;

/** Fetches the keys, or waits for the request that is fetching them. Does nothing during the cool-down. */
async function fetched(tenant: Tenant, state: State, options: JwksOptions): Promise<void> {
  const { now } = options;
  if (mayFetch(state, now())) return load(tenant, state, options);
  const since = state.fetchingSince;
  // the fetching request may have been cancelled, so bound the wait
  for (let waited = 0; isFetching(state, now()) && state.fetchingSince === since && waited < TIMEOUT_MS; waited += POLL_MS) {
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }
}

/** Fetches and imports the keys. After an error it keeps the old keys and logs the reason. Never throws. */
async function load({ config, algorithms }: Tenant, state: State, { now, log }: JwksOptions): Promise<void> {
  const begun = now();
  state.fetchingSince = begun;
  try {
    const found = await read(config.jwksUrl ?? '');
    const keys: ImportedKey[] = [];
    for (const jwk of found) {
      for (const algorithm of algorithms) {
        // a key that does not fit or cannot be imported is skipped
        const key = fits(jwk, algorithm) ? await publicKey(jwk, algorithm) : undefined;
        if (key !== undefined) keys.push({ kid: jwk.kid, algorithm, key });
      }
    }
    if (keys.length === 0) throw new Error('it has no key that fits the algorithms of the tenant');
    state.keys = keys;
    state.readAt = begun;
  } catch (error) {
    const variable = `JWT_${config.id}_JWKS_URL`;
    log({ level: 'error', event: 'jwks_unavailable', variable, message: `${variable}: ${loggedFault(error).message || 'the keys could not be fetched'}` });
  } finally {
    state.triedAt = now();
    state.fetchingSince = NEVER;
  }
}

/** Fetches the members of a key set. @throws Error with a message for the operator */
async function read(url: string): Promise<readonly JWK[]> {
  let text: string;
  try {
    // a redirect could lead to an address that is not configured
    const response = await fetch(url, { headers: { accept: 'application/json' }, redirect: 'manual', signal: AbortSignal.timeout(TIMEOUT_MS) });
    if (response.status !== 200) {
      await response.body?.cancel();
      throw new Refused(`it answered ${response.status}`);
    }
    text = await bounded(response);
  } catch (error) {
    throw error instanceof Refused ? error : new Error('it cannot be reached');
  }
  let set: unknown;
  try {
    set = JSON.parse(text);
  } catch {
    throw new Error('its answer is not JSON');
  }
  const keys = typeof set === 'object' && set !== null ? (set as { keys?: unknown }).keys : undefined;
  if (!Array.isArray(keys)) throw new Error('its answer is not a key set');
  return keys.filter((k): k is JWK => typeof k === 'object' && k !== null && (k.kid === undefined || typeof k.kid === 'string')).slice(0, MAX_KEYS);
}

class Refused extends Error {}

async function bounded(response: Response): Promise<string> {
  const { bytes, isCut } = await readBounded(response.body, MAX_BYTES);
  if (isCut) throw new Refused(`its answer is larger than ${MAX_BYTES / 1024} KiB`);
  return new TextDecoder().decode(bytes);
}
