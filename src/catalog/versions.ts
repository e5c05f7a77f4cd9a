/** Bodies of ontology versions: immutable, kept in memory by uuid without age. */
import { cacheOf } from '../cache.ts';
import { SvcError } from '../errors.ts';
import { MODEL_FORMAT, type Model } from '../ontology/model.ts';
import { type CatalogDb, sql } from './db.ts';

/** A model of more bytes than this (as JSON) is not stored. */
export const MODEL_BYTES = 12 * 1024 * 1024;

const bodies = cacheOf<Model>('model');

const READ = sql`SELECT content::text AS content, format FROM kg_catalog.ontology_versions WHERE version = $1::uuid AND ontology_id = $2::uuid`;
const LIST = sql`SELECT version, (to_json(created AT TIME ZONE 'UTC') #>> '{}') || '+00:00' AS created, created_by, statement FROM kg_catalog.ontology_versions WHERE ontology_id = $1::uuid AND ($2::uuid IS NULL OR version = $2::uuid) ORDER BY seq DESC`;
const FIND = sql`SELECT seq FROM kg_catalog.ontology_versions WHERE version = $1::uuid`;

/** The model of a version, or undefined where the ontology has no such version. @throws SvcError 503 */
export async function readModel(db: CatalogDb, ontologyId: string, version: string): Promise<Model | undefined> {
  const known = bodies.get(`${ontologyId}/${version}`);
  if (known !== undefined) return known;
  const [row] = await db.query(READ, [version, ontologyId]);
  if (row === undefined) return undefined;
  if (Number(row.format) > MODEL_FORMAT) throw new SvcError(503, 'newer_model', 'This ontology was written by a newer release of the service');
  const text = String(row.content);
  const model = JSON.parse(text) as Model;
  keepModel(ontologyId, version, model, text.length);
  return model;
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
