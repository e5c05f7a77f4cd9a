/** The layouts of tables on Citus in the catalog. Snapshots have the digest of a layout and the time when it was read (docs/design/caches.md#where-a-datasource-has-its-tables). */
import { fold } from '../ontology/names.ts';
import { type CatalogDb, sql } from './db.ts';

const READ = sql`SELECT placements FROM kg_catalog.datasources WHERE key = $1 AND placements_digest = $2`;
// found by the variable: a datasource that has another one by now does not get the text
const KEEP = sql`UPDATE kg_catalog.datasources SET placements = $2::text, placed = CASE WHEN $2::text IS NOT NULL THEN now() END,
  placements_digest = left(encode(sha256(convert_to($2::text, 'UTF8')), 'hex'), 32) WHERE secret = $1`;

/** The text with a digest; undefined if the datasource has another one by now. @throws SvcError 503 */
export async function storedPlacements(db: CatalogDb, datasource: string, digest: string): Promise<string | undefined> {
  const [row] = await db.query(READ, [fold(datasource), digest]);
  return row === undefined ? undefined : String(row.placements);
}

/**
 * Stores what was read now.
 * @param secret the variable of the datasource
 * @param text null: it is not on Citus
 * @throws SvcError 503
 */
export async function keepPlacements(db: CatalogDb, secret: string, text: string | null): Promise<void> {
  await db.query(KEEP, [secret, text]);
}
