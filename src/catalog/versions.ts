/** Bodies of ontology versions. They are immutable, so memory and KV cache them by uuid without a limit on their age. */
import { cacheOf } from '../cache.ts';
import { SvcError } from '../errors.ts';
import { parseModel } from '../ontology/compact.ts';
import { MODEL_FORMAT, type Model } from '../ontology/model.ts';
import { type CatalogDb, type Row, sql } from './db.ts';
import type { KeyValues } from './kv.ts';

/** The largest size of a stored model, in bytes of JSON. */
export const MODEL_BYTES = 12 * 1024 * 1024;

const bodies = cacheOf<Model>('model');

const READ = sql`SELECT content::text AS content, format FROM kg_catalog.ontology_versions WHERE version = $1::uuid AND ontology_id = $2::uuid`;
// limited in number, and the statements in total bytes: each may have a MiB, and an isolate has 128
const LIST = sql`SELECT version, (to_json(created AT TIME ZONE 'UTC') #>> '{}') || '+00:00' AS created, created_by, CASE WHEN size <= 4000000 THEN statement END AS statement
  FROM (SELECT *, sum(octet_length(statement)) OVER (ORDER BY seq DESC) AS size
    FROM (SELECT * FROM kg_catalog.ontology_versions WHERE ontology_id = $1::uuid ORDER BY seq DESC LIMIT 10000) v) sized
  ORDER BY seq DESC`;
const LIST_NAMES = sql`SELECT version, (to_json(created AT TIME ZONE 'UTC') #>> '{}') || '+00:00' AS created, created_by, NULL AS statement
  FROM kg_catalog.ontology_versions WHERE ontology_id = $1::uuid AND ($2::uuid IS NULL OR version = $2::uuid) ORDER BY seq DESC LIMIT 10000`;
const FIND = sql`SELECT seq FROM kg_catalog.ontology_versions WHERE version = $1::uuid`;

/** How long KV keeps a body. */
const KV_SECONDS = 30 * 86_400;

/** Where bodies are read from: the catalog, and KV if there is one. */
export interface ModelSource {
  readonly db: CatalogDb;
  readonly kv?: KeyValues | undefined;
  readonly waitUntil?: ((work: Promise<unknown>) => void) | undefined;
}

/** Reads the model of a version; undefined if the ontology has no such version. @throws SvcError 503 `catalog_unavailable`, `newer_model` */
export async function readModel({ db, kv, waitUntil }: ModelSource, ontologyId: string, version: string): Promise<Model | undefined> {
  const known = bodies.get(`${ontologyId}/${version}`);
  if (known !== undefined) return known;
  const key = await kv?.key('model', [MODEL_FORMAT, ontologyId, version]);
  const stored = key === undefined ? undefined : (await kv?.text(key))?.value;
  const model = stored === undefined ? undefined : parsed(stored);
  if (stored !== undefined && model !== undefined) {
    keepModel(ontologyId, version, model, stored.length);
    return model;
  }
  const [row] = await db.query(READ, [version, ontologyId]);
  if (row === undefined) return undefined;
  if (Number(row.format) > MODEL_FORMAT) throw new SvcError(503, 'newer_model', 'This ontology was written by a newer release of the service');
  const text = String(row.content);
  if (kv !== undefined && key !== undefined) waitUntil?.(kv.put(key, text, KV_SECONDS));
  const read = parseModel(text);
  keepModel(ontologyId, version, read, text.length);
  return read;
}

function parsed(text: string): Model | undefined {
  try {
    return parseModel(text);
  } catch {
    return undefined;
  }
}

/** Keeps the body of a version in memory. @param characters length of its JSON */
export function keepModel(ontologyId: string, version: string, model: Model, characters: number): void {
  bodies.set(`${ontologyId}/${version}`, model, characters * 3);
}

/** One line of SHOW VERSIONS. */
export interface VersionRow {
  readonly id: string;
  readonly created: string;
  readonly created_by: string;
  /** Null if it was not asked for, or is beyond the limit. */
  readonly statement: string | null;
}

/** Lists the newest 10,000 versions of an ontology, newest first, with the statements of the newest, up to 4 million bytes together. @throws SvcError 503 */
export const listVersions = async (db: CatalogDb, ontologyId: string): Promise<readonly VersionRow[]> => (await db.query(LIST, [ontologyId])).map(lineOf);

/** The same without statements. @param version only this one; null: all @throws SvcError 503 */
export const nameVersions = async (db: CatalogDb, ontologyId: string, version: string | null): Promise<readonly VersionRow[]> =>
  (await db.query(LIST_NAMES, [ontologyId, version])).map(lineOf);

const lineOf = (row: Row): VersionRow => ({
  id: String(row.version),
  created: String(row.created),
  created_by: String(row.created_by),
  statement: row.statement == null ? null : String(row.statement),
});

/** True if a version was written. Used after a commit whose answer was lost. @throws SvcError 503 */
export async function versionExists(db: CatalogDb, version: string): Promise<boolean> {
  return (await db.query(FIND, [version])).length > 0;
}
