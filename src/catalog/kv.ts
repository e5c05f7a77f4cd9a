/**
 * Workers KV as the service uses it: a place that spares reads and is never the truth. What lies there may be old, so
 * whoever reads it judges its age by a stamp inside; a fault or a slow answer of KV is a miss, never an error
 * (docs/storage.md lists all kinds of entries).
 */

import { open, type Sealing, seal } from './seal.ts';

/** As much of a KV namespace as is used. */
export type Namespace = Pick<KVNamespace, 'getWithMetadata' | 'put'>;

/** An entry; `stamp` is what it was put with, unknown until it is looked at. */
export interface Entry<T> {
  readonly value: T;
  readonly stamp: unknown;
}

export interface KeyValues {
  /** The name of an entry: a digest of all that it depends on, so that a key tells nobody a token, a name or a text. */
  key(kind: Kind, parts: readonly unknown[]): Promise<string>;
  /** Undefined: it is not there, or KV did not answer in time. */
  text(key: string): Promise<Entry<string> | undefined>;
  bytes(key: string): Promise<Entry<Uint8Array<ArrayBuffer>> | undefined>;
  /** Puts an entry for so many seconds; one that cannot be put is none. */
  put(key: string, value: string | Uint8Array, seconds: number, stamp?: unknown): Promise<void>;
  /** As `text` and `put`, for what decides rights: nobody but the service can read it, make it, or move it under another key. */
  sealed(key: string): Promise<string | undefined>;
  putSealed(key: string, value: string, seconds: number): Promise<void>;
}

/** What is kept, by the first word of its key. */
export type Kind = 'snapshot' | 'model' | 'result';

/** Raised where the form of an entry changes: releases of different forms never meet. */
const FORMATS: Readonly<Record<Kind, number>> = { snapshot: 1, model: 1, result: 1 };

/** KV takes no shorter life. */
export const LEAST_SECONDS = 60;
/** Longer than this nothing is asked to live. */
const MOST_SECONDS = 365 * 86_400;
/** KV that takes longer is no help: the source is asked instead. */
const PATIENCE_MS = 500;

const encoder = new TextEncoder();

async function digest(text: string): Promise<string> {
  const bytes = new Uint8Array(await crypto.subtle.digest('SHA-256', encoder.encode(text)));
  return Array.from(bytes, (b) => b.toString(16).padStart(2, '0')).join('');
}

/** What a service has of its own. `scope` tells it apart from another one that was given the same namespace; `secret` seals. */
export interface Owner {
  readonly scope: string;
  readonly secret: string;
}

/** The entries of a service in a namespace. */
export function keyValues(namespace: Namespace, { scope, secret }: Owner): KeyValues {
  const sealing = (key: string): Sealing => ({ secret, purpose: 'kv', place: key });
  const kv: KeyValues = {
    key: async (kind, parts) => `${kind}.${FORMATS[kind]}.${await digest(JSON.stringify([scope, ...parts]))}`,
    text: (key) => found(namespace.getWithMetadata(key, 'text')),
    bytes: async (key) => {
      const entry = await found<ArrayBuffer>(namespace.getWithMetadata(key, 'arrayBuffer'));
      return entry === undefined ? undefined : { ...entry, value: new Uint8Array(entry.value) };
    },
    put: async (key, value, seconds, stamp) => {
      const options = { expirationTtl: Math.min(Math.max(seconds, LEAST_SECONDS), MOST_SECONDS), ...(stamp === undefined ? {} : { metadata: stamp }) };
      // e.g. a second write of one key in one second
      await namespace.put(key, value, options).catch(() => undefined);
    },
    sealed: async (key) => {
      const entry = await kv.bytes(key);
      return entry === undefined ? undefined : open(entry.value, sealing(key));
    },
    putSealed: async (key, value, seconds) => kv.put(key, await seal(value, sealing(key)), seconds),
  };
  return kv;
}

async function found<T>(reading: Promise<{ readonly value: T | null; readonly metadata: unknown }>): Promise<Entry<T> | undefined> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const tooLate = new Promise<undefined>((resolve) => {
    timer = setTimeout(() => resolve(undefined), PATIENCE_MS);
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
