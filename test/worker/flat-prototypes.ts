/**
 * Setup of every test file in the Workers runtime. The wrapper of vitest-pool-workers for an entrypoint or a Durable Object puts another proxy around the
 * prototype of its class whenever it makes an instance, which each request does. A lookup then passes as many proxies as there were requests, and a file of n
 * requests takes time in n². All these proxies do the same, so the first one is used again.
 */
interface Flat {
  /** How often a proxy was used again. */
  reused: number;
}
const runtime = globalThis as { Proxy: ProxyConstructor; flatPrototypes?: Flat };

function flatten(): Flat {
  const flat = { reused: 0 };
  const RealProxy = runtime.Proxy;
  const ofPrototypes = new WeakSet<object>();
  runtime.Proxy = new RealProxy(RealProxy, {
    construct(target, [of, handler]: [object, ProxyHandler<object>]) {
      if (ofPrototypes.has(of)) {
        flat.reused++;
        return of;
      }
      const proxy = new target(of, handler);
      if (String(handler.get).includes('getUnknownPrototypeKey')) ofPrototypes.add(proxy);
      return proxy;
    },
  });
  return flat;
}
runtime.flatPrototypes ??= flatten();

export const flat: Flat = runtime.flatPrototypes;
