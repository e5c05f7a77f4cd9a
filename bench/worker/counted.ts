/** The service, with Durable Objects that count their requests, how long these take, and the rows that they write. */
import {
  AsyncStatement as Async,
  OAuthStore as OAuth,
  McpPrincipal as Principal,
  ScheduledJob as Scheduled,
  default as service,
  LoginThrottle as Throttle,
} from '../../src/index.ts';

interface Count {
  requests: number;
  ms: number;
  rowsWritten: number;
}

const counts: Record<string, Count> = {};

type Method = (...args: unknown[]) => unknown;
// biome-ignore lint/suspicious/noExplicitAny: constructors of objects with different environments
type Class = abstract new (...args: any[]) => object;

/** Wraps the methods of a class, so that each call is one request of `name`. */
function counted<C extends Class>(name: string, of: C, methods: readonly string[]): C {
  const count: Count = { requests: 0, ms: 0, rowsWritten: 0 };
  counts[name] = count;
  const prototype = of.prototype as Record<string, Method>;
  for (const method of methods) {
    const own = prototype[method] as Method;
    prototype[method] = async function (this: { readonly ctx: DurableObjectState }, ...args: unknown[]) {
      const { storage } = this.ctx;
      watch(storage, count);
      const begun = Date.now();
      count.requests++;
      try {
        return await own.apply(this, args);
      } finally {
        count.ms += Date.now() - begun;
      }
    };
  }
  return of;
}

const watched = new WeakSet<object>();

/** Counts the rows that a storage writes: SQL says how many, a value and an alarm are one row each. */
function watch(storage: DurableObjectStorage, count: Count): void {
  if (watched.has(storage)) return;
  watched.add(storage);
  const { sql } = storage;
  const exec = sql.exec.bind(sql);
  Object.defineProperty(sql, 'exec', {
    value: (...args: Parameters<typeof exec>) => {
      const cursor = exec(...args);
      count.rowsWritten += cursor.rowsWritten;
      return cursor;
    },
  });
  for (const name of ['put', 'delete', 'setAlarm'] as const) {
    const own = storage[name].bind(storage) as Method;
    Object.defineProperty(storage, name, {
      value: (...args: unknown[]) => {
        count.rowsWritten++;
        return own(...args);
      },
    });
  }
}

export const McpPrincipal = counted('mcp', Principal, ['post', 'leave', 'open', 'close', 'message']);
export const AsyncStatement = counted('async', Async, ['start', 'poll', 'piece', 'take', 'release', 'alarm']);
export const LoginThrottle = counted('throttle', Throttle, ['begin', 'settle', 'cancel', 'alarm']);
export const OAuthStore = counted('oauth', OAuth, ['read', 'write', 'remove', 'names', 'isSpent', 'alarm']);
export const ScheduledJob = counted('jobs', Scheduled, ['wake', 'ping', 'alarm']);

export default {
  fetch: (request, env, context) => (new URL(request.url).pathname === '/counts' ? Response.json(counts) : service.fetch(request, env, context)),
} satisfies ExportedHandler<Env>;
