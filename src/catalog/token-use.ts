/** The last use of API tokens in the catalog. It has a file of its own because every request needs it, and no other statement on tokens. */
import { type CatalogDb, sql } from './db.ts';

const USED = sql`UPDATE kg_catalog.tokens SET last_used = now() WHERE id = $1::uuid AND (last_used IS NULL OR last_used < now() - interval '1 minute')`;

/** Records that a token was used, at most once a minute. @throws SvcError 503 */
export async function noteUse(db: CatalogDb, id: string): Promise<void> {
  await db.query(USED, [id]);
}
