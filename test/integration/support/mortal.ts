/** A process of the service that ends in the middle of its work: from then on it reaches nothing, and nothing that it waits for arrives. */
import { AsyncLocalStorage } from 'node:async_hooks';
import { cacheOf } from '../../../src/cache.ts';
import type { Namespace } from '../../../src/catalog/kv.ts';
import { forgetSnapshots } from '../../../src/catalog/snapshot.ts';

/** What is kept in memory between requests. */
const REMEMBERED = ['model', 'graph', 'lens', 'text', 'plan', 'result', 'engine.role-settings', 'references', 'targets'];

/** When a process ends: before its n-th request is sent, or after it had its effect. */
export interface End {
  readonly n: number;
  readonly isSent: boolean;
}

const never = new Promise<never>(() => undefined);

class Life {
  readonly #end: End | undefined;
  readonly #sockets = new AbortController();
  readonly #died: () => void;
  /** The requests so far. */
  count = 0;

  constructor(end: End | undefined, died: () => void) {
    this.#end = end;
    this.#died = died;
  }

  get isDead(): boolean {
    return this.#sockets.signal.aborted;
  }

  /** Ends with the connections. */
  get signal(): AbortSignal {
    return this.#sockets.signal;
  }

  /** Does one request, if the process lives. Its answer arrives if the process lives on. @param request gets true if the process ends after it */
  async does<T>(request: (isLast: boolean) => Promise<T>): Promise<T> {
    if (this.isDead) return never;
    const isLast = ++this.count === this.#end?.n;
    if (isLast && !this.#end?.isSent) return this.#dies();
    const answer = await request(isLast);
    if (isLast) return this.#dies();
    return this.isDead ? never : answer;
  }

  #dies(): Promise<never> {
    this.#sockets.abort();
    this.#died();
    return never;
  }
}

const lives = new AsyncLocalStorage<Life>();
const inLife = <T>(request: () => Promise<T>): Promise<T> => lives.getStore()?.does(request) ?? request();

/** An object whose methods are requests. */
function counted<T extends object>(of: T): T {
  return new Proxy(of, {
    get: (target, name) => {
      const value: unknown = Reflect.get(target, name);
      return typeof value === 'function' ? (...values: unknown[]) => inLife(() => value.apply(target, values)) : value;
    },
  });
}

/** A namespace of KV whose calls are requests of a process. */
export const mortalNamespace = (namespace: Namespace): Namespace => counted(namespace);
/** The storage of a Durable Object whose calls are requests of a process. */
export const mortalStorage = <T extends object>(storage: T): T => counted(storage);

/** Replaces `fetch`, so that requests belong to processes. @returns puts it back */
export function mortalFetch(): () => void {
  const real = globalThis.fetch;
  globalThis.fetch = (input, init) => {
    const life = lives.getStore();
    if (life === undefined) return real(input, init);
    return life.does(async (isLast) => {
      const signals = [life.signal, ...(init?.signal ? [init.signal] : [])];
      const answer = await real(input, { ...init, signal: AbortSignal.any(signals) });
      // the transaction ends with the last byte
      if (isLast) await answer.text();
      return answer;
    });
  };
  return () => {
    globalThis.fetch = real;
  };
}

/**
 * Runs work in a process of its own, which ends with it or as `end` says. The next process has nothing of its memory.
 * @returns the number of its requests
 */
export async function lived(work: () => Promise<unknown>, end?: End): Promise<number> {
  let died = (): void => undefined;
  const death = new Promise<void>((resolve) => {
    died = resolve;
  });
  const life = new Life(end, died);
  await Promise.race([lives.run(life, work), death]);
  forgetSnapshots(0);
  for (const name of REMEMBERED) cacheOf(name).clear();
  return life.count;
}
