/**
 * The in-memory cache of an isolate (docs/design/caches.md#the-store-of-an-isolate): one least-recently-used store with a limit in bytes, which all caches of
 * the isolate share. It contains finished values only, never a promise, stream or client: a promise is cancelled with the request that created it
 * (docs/design/platform-rules.md#state-of-a-module).
 */

/** 32 MiB. An isolate has 128 MB. */
export const CACHE_BYTES = 32 * 1024 * 1024;

interface Entry {
  readonly value: unknown;
  readonly bytes: number;
}

/** A named view of a store. Keys of different views are distinct. */
export interface Cache<T> {
  get(key: string): T | undefined;
  /** Stores a value. @param bytes its estimated size; a value larger than half of the store is not stored */
  set(key: string, value: T, bytes: number): void;
  delete(key: string): void;
  /** Deletes all entries of this view. */
  clear(): void;
}

/** A least-recently-used store with a limit in bytes. `cacheOf` returns views of the isolate's store. */
export class ByteStore {
  readonly #limit: number;
  readonly #entries = new Map<string, Entry>();
  #bytes = 0;

  constructor(limit: number) {
    this.#limit = limit;
  }

  /** The estimated size of all entries. */
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
    // NaN is refused too: a sum that is not a number would evict every entry from then on
    if (!(bytes <= this.#limit / 2)) return;
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

  /** Returns the view with a name. */
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

/** Returns the cache with a name in the isolate's shared store. */
export const cacheOf = <T>(name: string): Cache<T> => store.view<T>(name);
