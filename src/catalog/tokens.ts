/** API tokens in the catalog: their user and their revocation. */
import { type Call, type CatalogDb, sql } from './db.ts';
import { refreshPermissions } from './rights.ts';

const FIND = sql`SELECT t.id, u.id AS user_id, u.name AS user_name FROM kg_catalog.tokens t JOIN kg_catalog.users u ON u.id = t.user_id WHERE t.id = $1::uuid AND t.revoked IS NULL`;
// the tokens of a console may come from a link that the token made; a browser that is logged in otherwise gets a new one
const REVOKE = sql`UPDATE kg_catalog.tokens SET revoked = now() WHERE revoked IS NULL
  AND (id = $1::uuid OR label = 'console' AND user_id = (SELECT user_id FROM kg_catalog.tokens WHERE id = $1::uuid))`;

export interface FoundToken {
  readonly id: string;
  readonly user: { readonly id: string; readonly name: string };
}

/** Finds a token that is not revoked. @param id a uuid @throws SvcError 503 */
export async function findToken(db: CatalogDb, id: string): Promise<FoundToken | undefined> {
  const [row] = await db.query(FIND, [id]);
  return row === undefined ? undefined : { id: String(row.id), user: { id: String(row.user_id), name: String(row.user_name) } };
}

/** Revokes a token, and those of the user's consoles. Rights are checked again for requests with this token that have not committed yet. */
export const revokeToken = (id: string): readonly Call[] => [{ sql: REVOKE, params: [id] }, ...refreshPermissions()];
