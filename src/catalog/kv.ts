/**
 * Workers KV as a cache; the catalog is always authoritative. An entry may be stale, so readers check its age by a
 * timestamp in the entry. An error or a slow answer of KV is a cache miss, not an error. Each entry is encrypted and bound
 * to its key. An entry of another key, one that was changed, and one that the service did not write are misses too.
 * docs/storage.md lists all kinds of entries.
 */

import { openBytes, type Sealing, sealBytes } from './seal.ts';

/** The part of the KV namespace interface that is used. */
export type Namespace = Pick<KVNamespace, 'getWithMetadata' | 'put'>;

/** An entry. `stamp` is the metadata that it was stored with. An earlier entry of the same key is valid with its own stamp. */
export interface Entry<T> {
  readonly value: T;
  readonly stamp: unknown;
}

export interface KeyValues {
  /** The key of an entry: a digest of everything that it depends on. A key discloses no token, name or text. */
  key(kind: Kind, parts: readonly unknown[]): Promise<string>;
  /** Reads an entry; undefined if the service stored no such entry under this key, or KV did not answer in time. */
  text(key: string): Promise<Entry<string> | undefined>;
  bytes(key: string): Promise<Entry<Uint8Array<ArrayBuffer>> | undefined>;
  /** Stores an entry for a number of seconds. Errors are ignored. */
  put(key: string, value: string | Uint8Array<ArrayBuffer>, seconds: number, stamp?: unknown): Promise<void>;
  /** Reads an entry that does not exist. @throws Error if KV fails */
  ping(): Promise<void>;
}

/** The kinds of entries: the first word of the key. */
export type Kind = 'snapshot' | 'model' | 'result';

/** Format versions: increment when the entry format changes, so that releases with different formats do not read each other's entries. */
const FORMATS: Readonly<Record<Kind, number>> = { snapshot: 2, model: 2, result: 2 };

/** The shortest time to live that KV accepts. */
export const MIN_TTL_SECONDS = 60;
/** The longest time to live that is requested. */
const MAX_TTL_SECONDS = 365 * 86_400;
/** A read that takes longer is a cache miss. */
const READ_TIMEOUT_MS = 500;

const encoder = new TextEncoder();

async function digest(text: string): Promise<string> {
  const bytes = new Uint8Array(await crypto.subtle.digest('SHA-256', encoder.encode(text)));
  return Array.from(bytes, (b) => b.toString(16).padStart(2, '0')).join('');
}

/** Identifies a service. `scope` separates its entries from those of other services in the same namespace; `secret` is the encryption secret. */
export interface Owner {
  readonly scope: string;
  readonly secret: string;
}

/** Reads and writes a service's entries in a namespace. */
export function keyValues(namespace: Namespace, { scope, secret }: Owner): KeyValues {
  const sealing = (key: string, stamp: unknown): Sealing => ({ secret, purpose: 'kv', place: JSON.stringify([key, stamp ?? null]) });
  const kv: KeyValues = {
    key: async (kind, parts) => `${kind}.${FORMATS[kind]}.${await digest(JSON.stringify([scope, ...parts]))}`,
    text: async (key) => {
      const entry = await kv.bytes(key);
      return entry && { ...entry, value: new TextDecoder().decode(entry.value) };
    },
    bytes: async (key) => {
      const entry = await found<ArrayBuffer>(namespace.getWithMetadata(key, 'arrayBuffer'));
      const value = entry && (await openBytes(new Uint8Array(entry.value), sealing(key, entry.stamp)));
      return value && { value, stamp: entry.stamp };
    },
    put: async (key, value, seconds, stamp) => {
      const sealed = await sealBytes(typeof value === 'string' ? encoder.encode(value) : value, sealing(key, stamp));
      const options = { expirationTtl: Math.min(Math.max(seconds, MIN_TTL_SECONDS), MAX_TTL_SECONDS), ...(stamp === undefined ? {} : { metadata: stamp }) };
      // KV rejects, for example, a second write to a key within one second
      await namespace.put(key, sealed, options).catch(() => undefined);
    },
    ping: async () => void (await namespace.getWithMetadata('ready', 'text')),
  };
  return kv;
}

async function found<T>(reading: Promise<{ readonly value: T | null; readonly metadata: unknown }>): Promise<Entry<T> | undefined> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const tooLate = new Promise<undefined>((resolve) => {
    timer = setTimeout(() => resolve(undefined), READ_TIMEOUT_MS);
  });
  try {
    const answer = await Promise.race([reading, tooLate]);
    return answer === undefined || answer.value === null ? undefined : { value: answer.value, stamp: answer.metadata };
  } catch {
    return undefined;
  } finally {
    clearTimeout(timer);
  }
}
