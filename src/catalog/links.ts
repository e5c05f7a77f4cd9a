/** Links that log a user in once (src/auth/link.ts). */
import { type Call, type CatalogDb, sql } from './db.ts';
import { type Login, loginOf } from './logins.ts';
import { idList } from './promotion.ts';

const INSERT = sql`INSERT INTO kg_catalog.login_links (hash, user_id, expires, created_by, generation, password)
  SELECT $1, id, $3::timestamptz, $4::uuid[], login_generation, sha256(convert_to(coalesce(password, ''), 'UTF8')) FROM kg_catalog.users WHERE id = $2::uuid AND active`;
// a session lasts for 8 hours
const OLD = sql`DELETE FROM kg_catalog.login_links WHERE expires < now() - interval '8 hours'`;
const TAKE = sql`WITH taken AS (UPDATE kg_catalog.login_links SET used = now() WHERE hash = $1 AND used IS NULL AND expires > now() RETURNING user_id, created_by, generation, password)
  SELECT u.id, u.name, u.active, u.password, u.login_generation::text AS generation, to_json(coalesce(u.password_by, '{}'))::text AS password_by, to_json(t.created_by)::text AS created_by
  FROM taken t JOIN kg_catalog.users u ON u.id = t.user_id
  WHERE u.active AND u.login_generation = t.generation AND sha256(convert_to(coalesce(u.password, ''), 'UTF8')) = t.password
    AND ($2::uuid IS NULL OR EXISTS (SELECT FROM kg_catalog.tokens k WHERE k.id = $2::uuid AND k.user_id = u.id AND k.revoked IS NULL AND (k.expires IS NULL OR k.expires > now())))`;

/** Stores a link, and deletes those whose sessions have ended. @throws SvcError 503 */
export async function storeLink(
  db: CatalogDb,
  link: { readonly hash: string; readonly userId: string; readonly expires: string; readonly by: readonly string[] },
): Promise<void> {
  const calls: readonly Call[] = [
    { sql: OLD, params: [] },
    { sql: INSERT, params: [link.hash, link.userId, link.expires, idList(link.by)] },
  ];
  await db.batch(calls);
}

/** Marks a link as used and returns its user, and the ids of the users who control the link. @param token id of the API token that made it; null for ADMIN_TOKEN @returns null if the link is unknown, used or expired @throws SvcError 503 */
export async function takeLink(
  db: CatalogDb,
  hash: string,
  token: string | null,
): Promise<{ readonly login: Login; readonly controllers: readonly string[] } | null> {
  const [row] = await db.query(TAKE, [hash, token]);
  const login = loginOf(row);
  return login === undefined ? null : { login, controllers: JSON.parse(String(row?.created_by)) as readonly string[] };
}
