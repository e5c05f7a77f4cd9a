/**
 * The result cache (RESULT_CACHE_TTL): answers of single SELECTs as bytes, in the isolate's memory and in KV. The key contains
 * everything that an answer depends on. The cache is used after rights were checked and the statement was planned, so that a
 * caller finds only entries with the rows that it would get itself.
 */
import { cacheOf } from '../../cache.ts';
import { type KeyValues, MIN_TTL_SECONDS } from '../../catalog/kv.ts';
import type { OntologyRow } from '../../catalog/snapshot.ts';
import type { Plan, PlanContext } from '../../planner/index.ts';
import { policyDigest } from '../caller/policy-digest.ts';
import type { KeptRows, Runtime, ServiceRequest } from '../runtime.ts';

/** Larger answers are not cached. */
export const RESULT_BYTES = 1024 * 1024;

/** The place of an answer in the cache: one plan in one format. */
export interface ResultPlace {
  /** Returns the cached answer, unless it is too old. */
  find(): Promise<KeptRows | undefined>;
  /** Caches an answer, unless it is too large. */
  keep(kept: KeptRows): void;
}

/** How long results are cached, in seconds; 0: not cached. */
export const resultSeconds = ({ config, kv }: Pick<Runtime, 'config' | 'kv'>): number =>
  kv === undefined || config.resultCacheTtlSeconds === 0 ? 0 : Math.max(config.resultCacheTtlSeconds, MIN_TTL_SECONDS);

interface Stamped extends KeptRows {
  readonly at: number;
}

const memory = cacheOf<Stamped>('result');

/** The metadata of an entry in KV. */
interface Stamp {
  readonly at: number;
  readonly rows: number;
}
const isStamp = (stamp: unknown): stamp is Stamp =>
  typeof stamp === 'object' && stamp !== null && Number.isFinite((stamp as Stamp).at) && Number.isFinite((stamp as Stamp).rows);

/** What an answer depends on. */
export interface ResultOf {
  /** The row has the ontology's version and cache generation. */
  readonly ontology: OntologyRow;
  /** `connection`: a digest (`connectionDigest`). */
  readonly datasource: { readonly name: string; readonly connection: string };
  readonly plan: Plan;
  readonly access: PlanContext['access'];
}

/** Returns the place of an answer; undefined if the cache is off or the request bypasses it. */
export async function resultPlace({ runtime, caller, results }: ServiceRequest, of: ResultOf): Promise<ResultPlace | undefined> {
  const { kv, now, waitUntil } = runtime;
  const seconds = resultSeconds(runtime);
  if (kv === undefined || seconds === 0 || results === undefined || results.bypass) return undefined;
  const { ontology, datasource, plan, access } = of;
  const key = await kv.key('result', [
    caller.snapshot.cacheGeneration,
    ontology.id,
    ontology.cacheGeneration,
    ontology.version,
    datasource.name,
    datasource.connection,
    // the form of the JSON of a row depends on what is known of the datasource; the keys are in the shape
    plan.sql.slice(plan.rowLength),
    plan.params,
    // the SQL of rows that are folded has short keys; the names are only in the shape
    plan.nested,
    plan.shape,
    results.form,
    await policyDigest(access),
  ]);
  // a timestamp in the future comes from a wrong clock
  const isYoung = (at: number): boolean => Math.abs(now() - at) < seconds * 1000;
  return {
    find: () => find(kv, key, isYoung),
    keep: ({ bytes, rows }) => {
      if (bytes.length > RESULT_BYTES) return;
      const at = now();
      memory.set(key, { bytes, rows, at }, bytes.length + 100);
      waitUntil(kv.put(key, bytes, seconds, { at, rows } satisfies Stamp));
    },
  };
}

async function find(kv: KeyValues, key: string, isYoung: (at: number) => boolean): Promise<KeptRows | undefined> {
  const near = memory.get(key);
  if (near !== undefined && isYoung(near.at)) return near;
  const entry = await kv.bytes(key);
  if (entry === undefined || !isStamp(entry.stamp) || !isYoung(entry.stamp.at)) return undefined;
  const { at, rows } = entry.stamp;
  memory.set(key, { bytes: entry.value, rows, at }, entry.value.length + 100);
  return { bytes: entry.value, rows };
}
