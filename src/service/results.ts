/**
 * The result cache (RESULT_CACHE_TTL): answers of single SELECTs as bytes, in the isolate's memory and in KV, under a key
 * that holds all that an answer depends on. It is asked when rights have been judged and the statement is planned, so an
 * entry is found only by who would get the very same rows.
 */
import { cacheOf } from '../cache.ts';
import { type KeyValues, LEAST_SECONDS } from '../catalog/kv.ts';
import type { OntologyRow } from '../catalog/snapshot.ts';
import type { Plan, PlanContext } from '../planner/index.ts';
import { policyDigest } from './policy-digest.ts';
import type { Runtime, ServiceRequest } from './runtime.ts';

/** Larger answers are not kept. */
export const RESULT_BYTES = 1024 * 1024;

/** What the cache did for an answer (`x-cache`). */
export type CacheState = 'hit' | 'miss' | 'bypass';

/** What a request says of the cache. */
export interface ResultWish {
  /** The form in which the rows are to be sent: format and presentation. */
  readonly form: string;
  /** The caller wants no kept answer, and none is kept of this one. */
  readonly bypass: boolean;
  /** Tells what the cache did. */
  readonly tell: (state: CacheState) => void;
}

/** The rows of an answer as they were sent, without what stood around them. */
export interface KeptRows {
  readonly bytes: Uint8Array<ArrayBuffer>;
  /** How many rows they are. */
  readonly rows: number;
}

/** Where the answer of one plan in one form is kept. */
export interface ResultPlace {
  /** The kept answer, where it is young enough. */
  find(): Promise<KeptRows | undefined>;
  /** Keeps an answer, if it is small enough. */
  keep(kept: KeptRows): void;
}

/** For how many seconds results are kept; 0: they are not. */
export const resultSeconds = ({ config, kv }: Pick<Runtime, 'config' | 'kv'>): number =>
  kv === undefined || config.resultCacheTtlSeconds === 0 ? 0 : Math.max(config.resultCacheTtlSeconds, LEAST_SECONDS);

interface Stamped extends KeptRows {
  readonly at: number;
}

const memory = cacheOf<Stamped>('result');

/** What stands in KV beside the bytes. */
interface Stamp {
  readonly at: number;
  readonly rows: number;
}
const isStamp = (stamp: unknown): stamp is Stamp =>
  typeof stamp === 'object' && stamp !== null && Number.isFinite((stamp as Stamp).at) && Number.isFinite((stamp as Stamp).rows);

/** What an answer depends on. */
export interface ResultOf {
  /** The ontology's cache generation and version stand in its row. */
  readonly ontology: OntologyRow;
  /** `connection`: a digest (`connectionDigest`). */
  readonly datasource: { readonly name: string; readonly connection: string };
  readonly plan: Plan;
  readonly access: PlanContext['access'];
}

/** The place of an answer; undefined: the cache is off, or the request goes past it. */
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
    plan.sql,
    plan.params,
    // the SQL of rows that are folded has short keys: what they are called stands in the shape alone
    plan.nested,
    plan.shape,
    results.form,
    await policyDigest(access),
  ]);
  // a stamp from the future is of a clock that cannot be right
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
