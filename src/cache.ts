/**
 * The memory of an isolate (docs/design/caches.md#the-store-of-an-isolate): one least-recently-used store, counted in bytes, shared by all caches of the
 * isolate. It contains finished values only, never a promise, stream or client of a request: a promise shared between requests is cancelled with the request
 * that made it (docs/design/platform-rules.md#state-of-a-module).
 */

/** 32 MiB of the 128 MB that an isolate has. */
export const CACHE_BYTES = 32 * 1024 * 1024;

interface Entry {
  readonly value: unknown;
  readonly bytes: number;
}

/** A view on the shared store under one name; keys of different names never meet. */
export interface Cache<T> {
  get(key: string): T | undefined;
  /** Keeps `value`, said to take `bytes`; a value larger than half of the store is not kept. */
  set(key: string, value: T, bytes: number): void;
  delete(key: string): void;
  /** Forgets all entries of this name. */
  clear(): void;
}

/** A byte-counted least-recently-used store; `cacheOf` gives views on the isolate's own one. */
export class ByteStore {
  readonly #limit: number;
  readonly #entries = new Map<string, Entry>();
  #bytes = 0;

  constructor(limit: number) {
    this.#limit = limit;
  }

  /** Bytes that the entries are said to take. */
  get bytes(): number {
    return this.#bytes;
  }

  get(key: string): unknown {
    const entry = this.#entries.get(key);
    if (entry === undefined) return undefined;
    this.#entries.delete(key);
    this.#entries.set(key, entry);
    return entry.value;
  }

  set(key: string, value: unknown, bytes: number): void {
    this.delete(key);
    if (bytes > this.#limit / 2) return;
    this.#entries.set(key, { value, bytes });
    this.#bytes += bytes;
    for (const [oldest] of this.#entries) {
      if (this.#bytes <= this.#limit) break;
      this.delete(oldest);
    }
  }

  delete(key: string): void {
    const entry = this.#entries.get(key);
    if (entry === undefined) return;
    this.#entries.delete(key);
    this.#bytes -= entry.bytes;
  }

  clear(prefix: string): void {
    for (const key of [...this.#entries.keys()]) if (key.startsWith(prefix)) this.delete(key);
  }

  /** A view under `name`. */
  view<T>(name: string): Cache<T> {
    const prefix = `${name}\u0000`;
    return {
      get: (key) => this.get(prefix + key) as T | undefined,
      set: (key, value, bytes) => this.set(prefix + key, value, bytes + 2 * (prefix.length + key.length) + 64),
      delete: (key) => this.delete(prefix + key),
      clear: () => this.clear(prefix),
    };
  }
}

const store = new ByteStore(CACHE_BYTES);

/** The cache called `name` in the isolate's shared store. */
export const cacheOf = <T>(name: string): Cache<T> => store.view<T>(name);
