/** Cached mappings, cubes and views in the catalog: their options, and the tables that their refreshes make (migrations/016). */
import { fold } from '../ontology/names.ts';
import { type Call, type CatalogDb, call, sql } from './db.ts';

/** The key of the cache of a cube or view. No mapping has such a name: names have no brackets. */
export const viewKey = (kind: 'cube' | 'view', name: string): string => `${kind}[${fold(name)}]`;

/** The cube or view of a key, with its folded name; undefined for the key of a mapping. */
export function viewOfKey(key: string): { readonly kind: 'cube' | 'view'; readonly name: string } | undefined {
  const [, kind, name] = /^(cube|view)\[(.*)\]$/.exec(key) ?? [];
  return name === undefined ? undefined : { kind: kind as 'cube' | 'view', name };
}

/** The options of a cache. */
export interface CacheOptions {
  readonly schema: string;
  readonly indexes: boolean;
  /** In seconds. */
  readonly maxAge: number;
  /** null: every refresh reads all rows. */
  readonly incremental: Incremental | null;
}

/** The options of an incremental refresh, which reads only changed rows. */
export interface Incremental {
  /** The column of the mapping that grows with each change of a row. */
  readonly column: string;
  /** In seconds; of a column of integers, in its own unit. */
  readonly overlap: number;
  /** Every n-th refresh reads all rows. */
  readonly fullEvery: number;
}

/** The current table of a cache, from which an increment is made. */
export interface BaseTable extends Pick<NewTable, 'secret' | 'connection' | 'digest' | 'schema' | 'table'> {
  readonly id: string;
  /** When its rows were read, as text. */
  readonly asOf: string;
  /** The number of increments since all rows were read. */
  readonly increments: number;
}

/** A table to create. */
export interface NewTable {
  readonly ontologyId: string;
  readonly mappingKey: string;
  readonly datasource: string;
  readonly secret: string;
  readonly connection: string;
  readonly digest: string;
  readonly schema: string;
  readonly table: string;
}

const SET = sql`INSERT INTO kg_catalog.mapping_caches (ontology_id, mapping_key, mapping, schema_name, indexes, max_age_s, incremental) VALUES ($1, $2, $3, $4, $5, $6, $7::jsonb)
  ON CONFLICT (ontology_id, mapping_key) DO UPDATE SET mapping = excluded.mapping`;
// an UPDATE, which creates no cache: it may have been removed since it was found
const NAME = sql`UPDATE kg_catalog.mapping_caches SET mapping = $3 WHERE ontology_id = $1 AND mapping_key = $2`;
const REMOVE = sql`WITH gone AS (DELETE FROM kg_catalog.mapping_caches WHERE ontology_id = $1 AND mapping_key = $2)
  UPDATE kg_catalog.cache_tables SET drop_after = now() + make_interval(secs => $3::int)
  WHERE ontology_id = $1 AND mapping_key = $2 AND rows IS NOT NULL AND drop_after = 'infinity'`;
const FIND = sql`SELECT schema_name, indexes, max_age_s, incremental::text AS incremental FROM kg_catalog.mapping_caches WHERE ontology_id = $1 AND mapping_key = $2`;
const PLACE = sql`SELECT t.datasource FROM kg_catalog.cache_tables t LEFT JOIN kg_catalog.mapping_caches c ON c.current = t.id
  WHERE t.ontology_id = $1 AND t.mapping_key = $2 ORDER BY c.current IS NULL, t.id DESC LIMIT 1`;
const BASE = sql`SELECT t.id::text AS id, t.secret, t.connection, t.digest, t.schema_name, t.table_name, t.as_of::text AS as_of, t.increments
  FROM kg_catalog.mapping_caches c JOIN kg_catalog.cache_tables t ON t.id = c.current
  WHERE c.ontology_id = $1 AND c.mapping_key = $2 AND c.incremental = $3::jsonb`;
// A table that is being created is dropped 3 hours after its refresh, or the last step of it, has begun, so `drop_after` shows that time.
// Two refreshes must not both count the tables before either has inserted its own: the lock ends with the transaction, and the next statement sees what was
// committed before
const LOCK = sql`SELECT pg_advisory_xact_lock(hashtextextended('kg_catalog.cache_tables ' || $1, 0))`;
const BEGIN = sql`INSERT INTO kg_catalog.cache_tables (ontology_id, mapping_key, datasource, secret, connection, digest, schema_name, table_name, drop_after)
  SELECT $1::uuid, $2, $3, $4, $5, $6, $7, $8, now() + interval '3 hours'
  WHERE (SELECT count(*) FROM kg_catalog.cache_tables WHERE secret = $4 AND rows IS NULL AND drop_after - interval '3 hours' > now() - make_interval(secs => $10::int)) < $9::int
  RETURNING id::text AS id`;
const CONTINUE = sql`UPDATE kg_catalog.cache_tables SET drop_after = now() + interval '3 hours' WHERE id = $1::bigint AND rows IS NULL RETURNING id::text AS id`;
// A refresh that began later may have ended earlier; then its table, which has a higher id, stays. The moments do not decide it: the clock may have been changed.
// The options may have changed since they were read: a refresh without options keeps
// them. Only a user who may create policies may raise the age of rows that policies read. An increment is used only if its base is still the current table:
// another current table may have all rows on request
const FLIP = sql`WITH made AS (
  SELECT id, ontology_id, mapping_key FROM kg_catalog.cache_tables WHERE id = $1::bigint
), old AS (
  SELECT c.ontology_id, c.mapping_key, c.current FROM kg_catalog.mapping_caches c JOIN made m USING (ontology_id, mapping_key)
  WHERE CASE WHEN $9::bigint IS NOT NULL THEN c.current = $9::bigint
    ELSE c.current IS NULL OR c.current < m.id END
  FOR UPDATE OF c
), flipped AS (
  UPDATE kg_catalog.mapping_caches c SET current = $1::bigint, error = NULL, failed = NULL,
    schema_name = coalesce($4, c.schema_name), indexes = coalesce($5::boolean, c.indexes),
    max_age_s = CASE WHEN $7::boolean OR NOT EXISTS (SELECT FROM kg_catalog.policies p WHERE p.ontology_id = c.ontology_id)
      THEN coalesce($6::int, c.max_age_s) ELSE least(c.max_age_s, $6::int) END,
    incremental = CASE WHEN $4::text IS NULL THEN c.incremental WHEN $7::boolean OR c.incremental = $8::jsonb
      OR NOT EXISTS (SELECT FROM kg_catalog.policies p WHERE p.ontology_id = c.ontology_id) THEN $8::jsonb END
  FROM old WHERE c.ontology_id = old.ontology_id AND c.mapping_key = old.mapping_key RETURNING c.max_age_s
), retired AS (
  UPDATE kg_catalog.cache_tables SET drop_after = now() + make_interval(secs => $3::int) WHERE id IN (SELECT current FROM old)
)
UPDATE kg_catalog.cache_tables SET rows = $2::bigint, drop_after = CASE WHEN EXISTS (SELECT FROM flipped) THEN 'infinity' ELSE now() END,
  increments = coalesce((SELECT b.increments + 1 FROM kg_catalog.cache_tables b WHERE b.id = $9::bigint), 0),
  full_as_of = (SELECT coalesce(b.full_as_of, b.as_of) FROM kg_catalog.cache_tables b WHERE b.id = $9::bigint)
WHERE id = $1::bigint
RETURNING floor(extract(epoch FROM as_of) * 1000)::bigint::text AS as_of, (SELECT max_age_s FROM flipped) AS max_age_s`;
// -1 rows: the refresh has ended, but its transaction may still be in progress
const FAIL = sql`WITH failed AS (
  UPDATE kg_catalog.mapping_caches SET error = $2, failed = now()
  WHERE $2::text IS NOT NULL AND (ontology_id, mapping_key) = (SELECT ontology_id, mapping_key FROM kg_catalog.cache_tables WHERE id = $1::bigint)
)
UPDATE kg_catalog.cache_tables SET rows = CASE WHEN $3::boolean THEN 0 ELSE -1 END, drop_after = CASE WHEN $3::boolean THEN now() ELSE drop_after END
WHERE id = $1::bigint AND rows IS NULL`;
// Tables that nothing reads: retired ones, those of dropped ontologies and datasources, and those that have been too old for a day. The order is random, so
// that tables that cannot be dropped do not block others
const DUE = sql`SELECT t.id::text AS id, t.secret, t.schema_name, t.table_name FROM kg_catalog.cache_tables t LEFT JOIN kg_catalog.mapping_caches c ON c.current = t.id
  WHERE CASE WHEN c.current IS NULL THEN t.drop_after <= now() OR (t.rows >= 0 AND NOT EXISTS (SELECT FROM kg_catalog.ontologies o WHERE o.id = t.ontology_id))
    ELSE t.as_of + make_interval(secs => c.max_age_s) + interval '1 day' < now() OR NOT EXISTS (SELECT FROM kg_catalog.datasources d WHERE d.secret = t.secret) END
  ORDER BY random() LIMIT 100`;
const DROPPED = sql`DELETE FROM kg_catalog.cache_tables WHERE id = $1::bigint`;
const LIST = sql`SELECT c.mapping, c.mapping_key, coalesce(t.schema_name, c.schema_name) AS schema_name, c.max_age_s, c.error, c.failed, t.datasource, t.digest, t.table_name, t.rows::text AS rows,
    floor(extract(epoch FROM t.as_of) * 1000)::bigint::text AS as_of, coalesce(t.full_as_of, t.as_of)::text AS last_full, c.incremental->>'column' AS incremental
  FROM kg_catalog.mapping_caches c LEFT JOIN kg_catalog.cache_tables t ON t.id = c.current WHERE c.ontology_id = $1 ORDER BY c.mapping_key`;

/** Creates a cache. If it exists, its options stay: `flipTable` changes them. */
export const makeCache = (ontologyId: string, mapping: { readonly key: string; readonly name: string }, options: CacheOptions): Call =>
  call(SET, ontologyId, mapping.key, mapping.name, options.schema, options.indexes, options.maxAge, jsonOf(options.incremental));

/** Changes the case of the mapping's name in its cache. */
export const nameCache = (ontologyId: string, mapping: { readonly key: string; readonly name: string }): Call =>
  call(NAME, ontologyId, mapping.key, mapping.name);

/** Removes a cache. Its table is dropped after `graceSeconds`. */
export const removeCache = (ontologyId: string, mappingKey: string, graceSeconds: number): Call => call(REMOVE, ontologyId, mappingKey, graceSeconds);

/** Reads the options of a cache; undefined if the mapping has none. @throws SvcError 503 */
export async function findCache(db: CatalogDb, ontologyId: string, mappingKey: string): Promise<CacheOptions | undefined> {
  const [row] = await db.query(FIND, [ontologyId, mappingKey]);
  if (row === undefined) return undefined;
  const { column, overlap, fullEvery } = (row.incremental === null ? {} : JSON.parse(String(row.incremental))) as Partial<Incremental>;
  const incremental = column === undefined || overlap === undefined || fullEvery === undefined ? null : { column, overlap, fullEvery };
  return { schema: String(row.schema_name), indexes: row.indexes === true, maxAge: Number(row.max_age_s), incremental };
}

/** The name of the datasource that has the tables of a cache; undefined if it has none. @throws SvcError 503 */
export async function datasourceOfCache(db: CatalogDb, ontologyId: string, mappingKey: string): Promise<string | undefined> {
  const [row] = await db.query(PLACE, [ontologyId, mappingKey]);
  return row === undefined ? undefined : String(row.datasource);
}

const jsonOf = (incremental: Incremental | null | undefined): string | null => (incremental == null ? null : JSON.stringify(incremental));

/**
 * Reads the current table of a cache. Only a table that was made with the same column and overlap has seen all changes.
 * @returns undefined without such a table, or if the cache has other options for increments by now @throws SvcError 503
 */
export async function findBase(db: CatalogDb, ontologyId: string, mappingKey: string, incremental: Incremental): Promise<BaseTable | undefined> {
  const [row] = await db.query(BASE, [ontologyId, mappingKey, jsonOf(incremental)]);
  if (row === undefined) return undefined;
  const text = (name: string): string => String(row[name]);
  const table = { schema: text('schema_name'), table: text('table_name'), secret: text('secret'), connection: text('connection'), digest: text('digest') };
  return { ...table, id: text('id'), asOf: text('as_of'), increments: Number(row.increments) };
}

/**
 * Records a table before it is created, with the time at which its rows are read.
 * @param limit how many tables of the datasource may be created at once, and how long that takes at most
 * @returns its id; undefined if the limit is reached @throws SvcError 503
 */
export async function beginTable(db: CatalogDb, t: NewTable, limit: { readonly most: number; readonly seconds: number }): Promise<string | undefined> {
  const values = [t.ontologyId, t.mappingKey, t.datasource, t.secret, t.connection, t.digest, t.schema, t.table];
  const [, [row] = []] = await db.batch([call(LOCK, t.secret), call(BEGIN, ...values, limit.most, limit.seconds)]);
  return row === undefined ? undefined : String(row.id);
}

/** Records that a table is still being created. @returns false if the refresh has ended @throws SvcError 503 */
export const continueTable = async (db: CatalogDb, id: string): Promise<boolean> => (await db.query(CONTINUE, [id])).length > 0;

/** What a finished refresh changes. */
export interface Flip {
  /** The options that the statement has; null: the cache keeps its own. */
  readonly options: CacheOptions | null;
  /** False: in an ontology with policies, `maxAge` does not become longer. */
  readonly mayLengthen: boolean;
  readonly graceSeconds: number;
  /** The id of the table from which an increment was made; null: all rows were read. */
  readonly base: string | null;
}

/**
 * Makes a finished table the current one of its cache. The previous one is dropped after `graceSeconds`.
 * @returns the time of its rows, and the `maxAge` of the cache; undefined if the cache was removed, has a newer table, or no longer has the base of the increment
 * @throws SvcError 503
 */
export async function flipTable(
  db: CatalogDb,
  id: string,
  rows: string,
  { options, mayLengthen, graceSeconds, base }: Flip,
): Promise<{ readonly asOf: number; readonly maxAge: number | undefined }> {
  const values = [options?.schema ?? null, options?.indexes ?? null, options?.maxAge ?? null];
  const [row] = await db.query(FLIP, [id, rows, graceSeconds, ...values, mayLengthen, jsonOf(options?.incremental), base]);
  return { asOf: Number(row?.as_of), maxAge: row?.max_age_s == null ? undefined : Number(row.max_age_s) };
}

/**
 * Records that a table could not be created.
 * @param message null: another table is created in its place, so the refresh has not failed
 * @param ended true: the transaction that makes it has ended; false: it may still run, so the table is dropped when it cannot run any more. Neither counts in
 * `beginTable` @throws SvcError 503
 */
export async function failTable(db: CatalogDb, id: string, message: string | null, ended: boolean): Promise<void> {
  await db.query(FAIL, [id, message, ended]);
}

/** A table that must be dropped. */
export interface DueTable {
  readonly id: string;
  readonly secret: string;
  readonly schema: string;
  readonly table: string;
}

/** The tables to drop, at most 100. @throws SvcError 503 */
export async function dueTables(db: CatalogDb): Promise<readonly DueTable[]> {
  const rows = await db.query(DUE);
  return rows.map((r) => ({ id: String(r.id), secret: String(r.secret), schema: String(r.schema_name), table: String(r.table_name) }));
}

/** Records that a table was dropped. @throws SvcError 503 */
export async function tableDropped(db: CatalogDb, id: string): Promise<void> {
  await db.query(DROPPED, [id]);
}

/** A cache with its current table, for SYS_CACHES. */
export interface ListedCache {
  readonly mapping: string;
  readonly key: string;
  /** That of the current table; without one, that of the options. */
  readonly schema: string;
  readonly maxAge: number;
  readonly error: string | null;
  /** The time of the error, as text. */
  readonly failed: string | null;
  /** The column by which increments find changed rows. */
  readonly incremental: string | null;
  /** When all rows were read, as text. */
  readonly lastFull: string | null;
  /** The current table; null: no refresh has ended. */
  readonly table: { readonly name: string; readonly datasource: string; readonly digest: string; readonly rows: number; readonly asOf: number } | null;
}

/** Reads the caches of an ontology. @throws SvcError 503 */
export async function listCaches(db: CatalogDb, ontologyId: string): Promise<readonly ListedCache[]> {
  const rows = await db.query(LIST, [ontologyId]);
  const text = (value: unknown): string | null => (value === null ? null : String(value));
  return rows.map((r) => ({
    mapping: String(r.mapping),
    key: String(r.mapping_key),
    schema: String(r.schema_name),
    maxAge: Number(r.max_age_s),
    error: text(r.error),
    failed: text(r.failed),
    incremental: text(r.incremental),
    lastFull: text(r.last_full),
    table:
      r.table_name === null
        ? null
        : { name: String(r.table_name), datasource: String(r.datasource), digest: String(r.digest), rows: Number(r.rows), asOf: Number(r.as_of) },
  }));
}
