/** A KV namespace in memory that keeps all entries regardless of their age, and counts calls. */
import type { Namespace } from '../../src/catalog/kv.ts';

export interface MemoryNamespace extends Namespace {
  readonly entries: Map<string, { value: string | ArrayBuffer; metadata: unknown; seconds: number }>;
  reads: number;
  /** True: calls fail. */
  down: boolean;
}

export function memoryNamespace(): MemoryNamespace {
  const made = {
    entries: new Map(),
    reads: 0,
    down: false,
    getWithMetadata: async (key: string, type: 'text' | 'arrayBuffer') => {
      made.reads++;
      if (made.down) throw new Error('KV GET failed: 500');
      const entry = made.entries.get(key);
      if (entry === undefined) return { value: null, metadata: null, cacheStatus: null };
      const isText = typeof entry.value === 'string';
      if (isText !== (type === 'text')) throw new Error('read as another type than it was written');
      return { value: isText ? entry.value : entry.value.slice(0), metadata: entry.metadata ?? null, cacheStatus: null };
    },
    put: async (key: string, value: string | Uint8Array, options: { expirationTtl: number; metadata?: unknown }) => {
      if (made.down) throw new Error('KV PUT failed: 429');
      if (key.length > 512 || options.expirationTtl < 60) throw new Error('KV takes no such entry');
      made.entries.set(key, {
        value: typeof value === 'string' ? value : new Uint8Array(value).buffer,
        metadata: options.metadata === undefined ? null : JSON.parse(JSON.stringify(options.metadata)),
        seconds: options.expirationTtl,
      });
    },
  };
  return made as unknown as MemoryNamespace;
}
