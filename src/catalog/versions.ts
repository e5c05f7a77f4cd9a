/** Bodies of ontology versions: immutable, kept by uuid without age, in memory and in KV. */
import { cacheOf } from '../cache.ts';
import { SvcError } from '../errors.ts';
import { parseModel } from '../ontology/compact.ts';
import { MODEL_FORMAT, type Model } from '../ontology/model.ts';
import { type CatalogDb, sql } from './db.ts';
import type { KeyValues } from './kv.ts';

/** A model of more bytes than this (as JSON) is not stored. */
export const MODEL_BYTES = 12 * 1024 * 1024;

const bodies = cacheOf<Model>('model');

const READ = sql`SELECT content::text AS content, format FROM kg_catalog.ontology_versions WHERE version = $1::uuid AND ontology_id = $2::uuid`;
const LIST = sql`SELECT version, (to_json(created AT TIME ZONE 'UTC') #>> '{}') || '+00:00' AS created, created_by, statement FROM kg_catalog.ontology_versions WHERE ontology_id = $1::uuid AND ($2::uuid IS NULL OR version = $2::uuid) ORDER BY seq DESC`;
const FIND = sql`SELECT seq FROM kg_catalog.ontology_versions WHERE version = $1::uuid`;

/** For how long KV keeps a body; after that the catalog is asked again. */
const KV_SECONDS = 30 * 86_400;

/** Where bodies are read: KV, where there is one, spares isolates that do not have them in memory the catalog. */
export interface ModelSource {
  readonly db: CatalogDb;
  readonly kv?: KeyValues | undefined;
  readonly waitUntil?: ((work: Promise<unknown>) => void) | undefined;
}

/** The model of a version, or undefined where the ontology has no such version. @throws SvcError 503 */
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

/** Remembers the body of a version; `characters`: length of its JSON. */
export function keepModel(ontologyId: string, version: string, model: Model, characters: number): void {
  bodies.set(`${ontologyId}/${version}`, model, characters * 3);
}

/** One line of SHOW VERSIONS. */
export interface VersionRow {
  readonly id: string;
  readonly created: string;
  readonly created_by: string;
  readonly statement: string;
}

/** All versions of an ontology, the newest first; or `version` alone. @throws SvcError 503 */
export async function listVersions(db: CatalogDb, ontologyId: string, version: string | null = null): Promise<readonly VersionRow[]> {
  const rows = await db.query(LIST, [ontologyId, version]);
  return rows.map((row) => ({ id: String(row.version), created: String(row.created), created_by: String(row.created_by), statement: String(row.statement) }));
}

/** Whether a version was written: asked after a request whose answer got lost. @throws SvcError 503 */
export async function versionExists(db: CatalogDb, version: string): Promise<boolean> {
  return (await db.query(FIND, [version])).length > 0;
}
