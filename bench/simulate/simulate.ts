/**
 * Simulates the isolates of a service at many locations: which requests find what they need in memory or in Workers KV, and what reaches the catalog. Pure, apart
 * from the store, which is the service's own. Times are in seconds.
 */
import { ByteStore, CACHE_BYTES } from '../../src/cache.ts';

/** What callers do. */
export interface Load {
  readonly tenants: number;
  /** Callers of a tenant, each with a token. */
  readonly callers: number;
  readonly locations: number;
  readonly requestsPerDay: number;
  readonly startsPerDay: number;
  /** How long an isolate lives on average. */
  readonly lifetime: number;
}

/** What the service does. */
export interface Design {
  readonly snapshotBytes: number;
  readonly modelBytes: number;
  /** Workers KV: none; an entry is visible at its location at once; or a miss is cached at the location for a minute. */
  readonly kv: 'none' | 'at once' | 'misses cached';
}

/** Counts per second, and distributions over requests or isolates. */
export interface Simulated {
  readonly isolates: number;
  readonly snapshotReads: number;
  readonly modelReads: number;
  readonly auditWrites: number;
  readonly kvReads: number;
  readonly kvWrites: number;
  /** The part of requests that found the caller's rights in memory. */
  readonly fromMemory: number;
  /** The part that found them in KV. */
  readonly fromKv: number;
  /** Ages of the rights that requests used, sorted. */
  readonly ages: readonly number[];
  /** Bytes in the stores of isolates at the end, sorted. */
  readonly stores: readonly number[];
}

const MAX_AGE = 60;
const REFRESH_AGE = 30;
const AUDIT_COLLECTS = 0.3;
const KV_MISS = 60;
/** The part of a tenant's requests that come from its home. */
const AT_HOME = 0.8;
const DAY = 86_400;

/** Random numbers from 0 to 1, the same for each run (mulberry32). */
export function random(seed: number): () => number {
  let a = seed;
  return () => {
    a = (a + 0x6d2b79f5) | 0;
    let t = Math.imul(a ^ (a >>> 15), 1 | a);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** Chooses among n with weights 1, 1/2, 1/3 and so on. */
function zipf(n: number, next: () => number): () => number {
  const sums = new Float64Array(n);
  let sum = 0;
  for (let i = 0; i < n; i++) {
    sum += 1 / (i + 1);
    sums[i] = sum;
  }
  return () => {
    const wanted = next() * sum;
    let [low, high] = [0, n - 1];
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((sums[middle] as number) < wanted) low = middle + 1;
      else high = middle;
    }
    return low;
  };
}

class Isolate {
  readonly store = new ByteStore(CACHE_BYTES);
  readonly rights = this.store.view<number>('snapshot');
  readonly models = this.store.view<true>('model');
  readonly ends: number;
  audited = Number.NEGATIVE_INFINITY;
  constructor(ends: number) {
    this.ends = ends;
  }
}

/** Runs `warmUp` and then `measured` seconds. */
export function simulate(load: Load, design: Design, { warmUp = 600, measured = 600, seed = 1 } = {}): Simulated {
  const next = random(seed);
  const [tenantOf, placeOf] = [zipf(load.tenants, next), zipf(load.locations, next)];
  const homes = Array.from({ length: load.tenants }, placeOf);
  const lifetime = (): number => -Math.log(1 - next()) * load.lifetime;
  const all = Math.round((load.startsPerDay / DAY) * load.lifetime);
  const harmonic = Array.from({ length: load.locations }, (_, i) => 1 / (i + 1)).reduce((a, b) => a + b, 0);
  const places = Array.from({ length: load.locations }, (_, i) => ({
    isolates: Array.from({ length: Math.max(1, Math.round(all / (i + 1) / harmonic)) }, () => new Isolate(lifetime())),
    kv: new Map<string, number>(),
    misses: new Map<string, number>(),
  }));
  const perSecond = load.requestsPerDay / DAY;
  const n = { requests: 0, snapshotReads: 0, modelReads: 0, auditWrites: 0, kvReads: 0, kvWrites: 0, memory: 0, shared: 0 };
  const ages: number[] = [];
  let now = 0;
  let counts = 0;
  for (;;) {
    now += -Math.log(1 - next()) / perSecond;
    if (now >= warmUp + measured) break;
    counts = now >= warmUp ? 1 : 0;
    const tenant = tenantOf();
    const place = places[next() < AT_HOME ? (homes[tenant] as number) : placeOf()] as (typeof places)[number];
    const at = Math.floor(next() * place.isolates.length);
    let isolate = place.isolates[at] as Isolate;
    if (isolate.ends < now) {
      isolate = new Isolate(now + lifetime());
      place.isolates[at] = isolate;
    }
    const caller = `${tenant}/${Math.floor(next() * load.callers)}`;
    n.requests += counts;

    const read = (): void => {
      n.snapshotReads += counts;
      isolate.rights.set(caller, now, design.snapshotBytes);
      if (design.kv === 'none') return;
      n.kvWrites += counts;
      place.kv.set(caller, now);
    };
    const fromKv = (): number | undefined => {
      if (design.kv === 'none') return undefined;
      n.kvReads += counts;
      const isMiss = now - (place.misses.get(caller) ?? Number.NEGATIVE_INFINITY) < KV_MISS;
      const found = isMiss ? undefined : place.kv.get(caller);
      if (found !== undefined && now - found < MAX_AGE) return found;
      if (design.kv === 'misses cached' && !isMiss) place.misses.set(caller, now);
      return undefined;
    };
    let verified = isolate.rights.get(caller);
    if (verified !== undefined && now - verified < MAX_AGE) n.memory += counts;
    else {
      verified = fromKv();
      if (verified !== undefined) {
        n.shared += counts;
        isolate.rights.set(caller, verified, design.snapshotBytes);
      }
    }
    if (counts === 1) ages.push(verified === undefined ? 0 : now - verified);
    if (verified === undefined || now - verified >= REFRESH_AGE) read();

    if (isolate.models.get(String(tenant)) === undefined) {
      if (design.kv === 'none') n.modelReads += counts;
      else n.kvReads += counts;
      isolate.models.set(String(tenant), true, design.modelBytes);
    }
    if (now - isolate.audited >= AUDIT_COLLECTS) {
      n.auditWrites += counts;
      isolate.audited = now;
    }
  }
  const rate = (count: number): number => count / measured;
  return {
    isolates: places.reduce((sum, { isolates }) => sum + isolates.length, 0),
    snapshotReads: rate(n.snapshotReads),
    modelReads: rate(n.modelReads),
    auditWrites: rate(n.auditWrites),
    kvReads: rate(n.kvReads),
    kvWrites: rate(n.kvWrites),
    fromMemory: n.memory / n.requests,
    fromKv: n.shared / n.requests,
    ages: ages.sort((a, b) => a - b),
    stores: places.flatMap(({ isolates }) => isolates.map(({ store }) => store.bytes)).sort((a, b) => a - b),
  };
}
