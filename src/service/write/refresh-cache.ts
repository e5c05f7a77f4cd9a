/** Makes and drops the tables of cached mappings. A refresh that ends early leaves at most a table that the catalog knows and that the sweep drops. */
import type { Caller } from '../../auth/authenticate.ts';
import { type CacheOptions, dueTables, failTable, flipTable, tableDropped } from '../../catalog/caches.ts';
import { type DatasourceRow, forgetSnapshots, MAX_AGE_MS } from '../../catalog/snapshot.ts';
import type { Config } from '../../config.ts';
import { type CachedIndex, type CachedRows, dropCachedTable, type Increment, makeCachedTable, type TableName } from '../../engine/cached-table.ts';
import { type Datasource, parseDatasourceSecret } from '../../engine/datasource.ts';
import { DatasourceFault } from '../../engine/errors.ts';
import { type Copy, type TransferColumn, transferTable } from '../../engine/transfer.ts';
import { SvcError } from '../../errors.ts';
import type { Graph } from '../../ontology/graph.ts';
import type { MappingDef } from '../../ontology/model.ts';
import { sameName } from '../../ontology/names.ts';
import { cachedColumn } from '../../planner/read/cached-rows.ts';
import type { Verified } from '../../planner/verify/index.ts';
import { connectionDigest, datasourceOf } from '../caller/datasource.ts';
import type { Runtime, Steps } from '../runtime.ts';
import { beginRefresh, copyOf, paused } from './copy-steps.ts';
import { type Growing, growingOf } from './increments.ts';

/** A statement of a refresh may take this long. */
const REFRESH_MS = 600_000;
const DROP_MS = 10_000;
/** A table has at most so many indexes. */
const MOST_INDEXES = 8;
const MOST_CHARACTERS = 1000;

/** Types whose values a btree index has. */
const INDEXED = /^(bool|int[248]|float[48]|numeric|text|varchar|bpchar|char|name|uuid|date|time|timetz|timestamp|timestamptz|inet|cidr|bytea)$/;
/** Those of them whose values may be too long for an index. */
const LONG = /^(numeric|text|varchar|bpchar|bytea)$/;

/** The variable with the connection of a datasource's writer. */
export const writerSecret = (secret: string): string => `${secret}_WRITER`;

/** How long a table may still be read after another one has taken its place: another isolate's snapshot names it, or a statement reads it. */
export const graceSeconds = ({ statementTimeoutMs, asyncTimeoutMs }: Config): number =>
  Math.ceil((MAX_AGE_MS + Math.max(statementTimeoutMs, asyncTimeoutMs)) / 1000);

/** A mapping, cube or view to cache. */
export interface CacheTarget {
  readonly ontologyId: string;
  /** The key of the cache. */
  readonly key: string;
  /** A digest of what decides the rows. */
  readonly digest: string;
  /** The first letter of the names of its tables. */
  readonly letter: 'm' | 'c' | 'v';
  readonly datasource: DatasourceRow;
  /** The variable of its writer. */
  readonly writer: string;
  /** Where the table is made, and with what. */
  readonly options: CacheOptions;
  /** True: the statement has these options, so they become those of the cache. */
  readonly isWritten: boolean;
  /** True: the caller may make rows older that policies read. */
  readonly mayLengthen: boolean;
  readonly rows: Verified;
  /** The reference tables that the rows rely on. */
  readonly relied: readonly string[];
  /** The tables and views that the rows are read from. */
  readonly sources: readonly TableName[];
  /** Those that matter most first. */
  readonly indexes: readonly CachedIndex[];
  /** The columns with numbers of rows that must be the same. */
  readonly counted?: CachedRows['counted'];
  /** The positions of the columns of the key; undefined: the rows have no key. */
  readonly rowKey: readonly number[] | undefined;
  /** Set if the rows are those of another datasource. */
  readonly from?: { readonly name: string; readonly columns: readonly TransferColumn[] } | undefined;
  /** undefined: it is a cube or view, which is always read in full. */
  readonly mapping: MappingDef | undefined;
}

interface Refreshed {
  readonly asOf: number;
  readonly count: number;
  /** The `maxAge` of the cache. */
  readonly maxAge: number;
}

/**
 * Reads the rows of a mapping into a new table, and lets the cache name it.
 * @returns undefined: the next step goes on
 * @throws SvcError 400, 502, 503, 504, also if `signal` ends it; the cache then keeps its table
 */
export async function refreshCache(runtime: Runtime, caller: Caller, target: CacheTarget, signal?: AbortSignal, steps?: Steps): Promise<Refreshed | undefined> {
  const { ontologyId, key: mappingKey, digest, letter, datasource, options, indexes, isWritten, mayLengthen, mapping, rowKey, from } = target;
  const { rows, relied, sources, counted } = target;
  const reader = datasourceOf(runtime, caller, datasource.name);
  const writer = writerOf(runtime, datasource.name, datasource.secret);
  const connection = (await connectionDigest(runtime, caller, datasource.name)) ?? '';
  const table = { schema: options.schema, name: `${letter}_${digest}_${crypto.randomUUID().replaceAll('-', '').slice(0, 16)}` };
  const { key, secret } = datasource;
  const { incremental } = options;
  const growing =
    incremental === null || rowKey === undefined || mapping === undefined
      ? undefined
      : await growingOf(runtime.db, { ontologyId, cacheKey: mappingKey, mapping, key: rowKey, incremental, secret, connection, digest });
  const of = { ontologyId, mappingKey, datasource: key, secret, connection, digest, schema: table.schema, table: table.name };
  const begun = await beginRefresh(runtime, of, REFRESH_MS / 1000, steps);
  const { id } = begun;
  let copy: Copy | undefined;
  let made: Made;
  try {
    copy = from && copyOf(runtime, { mapping, rowKey, incremental }, begun.after, steps);
    const all = { ...table, name: begun.table, rows, relied, sources, indexes: indexes.slice(0, MOST_INDEXES), counted, key: growing?.key };
    const limits = { timeoutMs: REFRESH_MS, signal };
    const transfer = from && { source: datasourceOf(runtime, caller, from.name), columns: from.columns };
    const divided = copy;
    const make: Make = (increment) =>
      transfer && divided ? transferTable(reader, writer, all, transfer, limits, divided, increment) : makeCachedTable(reader, writer, all, limits, increment);
    made = await makeRows(make, copy?.isOrdered || begun.after !== undefined ? undefined : growing);
  } catch (error) {
    const isKept = paused(error, id, { ...of, table: begun.table }, copy, steps);
    if (isKept) return undefined;
    const fault = error instanceof SvcError ? error : undefined;
    // without an answer of the database, the table may still be made; one with rows of another datasource may be left
    const message = isKept === false ? null : (fault?.message ?? 'the refresh failed').slice(0, MOST_CHARACTERS);
    await failTable(runtime.db, id, message, fault?.status === 400 && from === undefined);
    await sweepCaches(runtime);
    if (isKept === false) return undefined;
    throw error;
  }
  const flip = { options: isWritten ? options : null, mayLengthen, graceSeconds: graceSeconds(runtime.config), base: made.base };
  const { asOf, maxAge = options.maxAge } = await flipTable(runtime.db, id, made.count, flip);
  forgetSnapshots();
  await sweepCaches(runtime);
  return { asOf, count: Number(made.count), maxAge };
}

interface Made {
  readonly count: string;
  /** The table from which an increment was made; null: all rows were read. */
  readonly base: string | null;
}

/** Makes a table. @param increment undefined: it gets all rows @returns the number of its rows, as text */
type Make = (increment: Increment | undefined) => Promise<string>;

/** Makes a table by an increment if there is one. If a statement of it fails, all rows are read: the older table may be gone, or the types may have changed. */
async function makeRows(make: Make, growing: Growing | undefined): Promise<Made> {
  const { base, rows } = growing?.increment ?? {};
  if (base !== undefined) {
    try {
      return { count: await make(rows), base: base.id };
    } catch (error) {
      const isStatement = error instanceof SvcError && error.status < 503 && error.cause instanceof DatasourceFault && error.cause.sqlstate !== undefined;
      if (!isStatement) throw error;
    }
  }
  return { count: await make(undefined), base: null };
}

/** Drops the tables of caches that nothing reads any more. What fails is logged, and tried again by the next sweep. */
export async function sweepCaches(runtime: Pick<Runtime, 'db' | 'config' | 'log'>): Promise<void> {
  try {
    for (const { id, secret, schema, table } of await dueTables(runtime.db)) {
      try {
        await dropCachedTable(writerOf(runtime, 'writer', secret), { schema, name: table }, DROP_MS);
        await tableDropped(runtime.db, id);
      } catch (error) {
        const message = error instanceof SvcError && error.cause instanceof Error ? error.cause.message : String(error);
        runtime.log({ level: 'warn', event: 'cache_not_dropped', schema, table, message });
      }
    }
  } catch (error) {
    runtime.log({ level: 'warn', event: 'caches_not_swept', message: String(error) });
  }
}

/** @throws SvcError 502 `datasource_failed` */
function writerOf({ config }: Pick<Runtime, 'config'>, name: string, secret: string): Datasource {
  const value = config.datasourceSecrets[writerSecret(secret)];
  if (value === undefined) throw new SvcError(502, 'datasource_failed', `the variable ${writerSecret(secret)} is not set`);
  return { name, ...parseDatasourceSecret(value) };
}

/** The columns of the indexes of a cached mapping: the key, and the ends of relationships. */
export function indexesOf(graph: Graph, mapping: MappingDef): readonly CachedIndex[] {
  const concept = graph.whole.concept(mapping.concept ?? '');
  const lists =
    mapping.link !== null
      ? [mapping.link.forward.columns, mapping.link.back.columns]
      : [(concept?.key?.properties ?? []).map((p) => p.name), ...(concept?.relationships ?? []).map((r) => r.source.map((p) => p.name))];
  const indexes: CachedIndex[] = [];
  for (const list of lists) {
    const positions = list.map((name) => mapping.columns.findIndex((c) => sameName(c.name, name)));
    if (positions.length === 0 || positions.some((i) => i < 0 || !INDEXED.test(mapping.columns[i]?.type ?? ''))) continue;
    const columns = positions.map(cachedColumn);
    const isShort = !positions.some((i) => LONG.test(mapping.columns[i]?.type ?? ''));
    if (!indexes.some((index) => columns.every((c, i) => index.columns[i] === c))) indexes.push({ columns, isShort });
  }
  return indexes;
}
