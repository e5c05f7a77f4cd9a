/** The version of the catalog's tables. */
import { type CatalogDb, sql } from './db.ts';

/** The newest file of the folder `migrations`, without its extension. The service needs all of them. A unit test compares it with the folder. */
export const LATEST_MIGRATION = '020_job_starts';

/** The name of the newest migration that was applied, or undefined if the catalog has no migrations. @throws SvcError 503 `catalog_unavailable`; DbError */
export async function appliedMigration(db: CatalogDb): Promise<string | undefined> {
  const [row] = await db.query(sql`SELECT max(name) AS name FROM kg_catalog.migrations`);
  return typeof row?.name === 'string' ? row.name.replace(/\.sql$/, '') : undefined;
}
