/** Links that log a user in once (src/auth/link.ts). */
import { type Call, type CatalogDb, sql } from './db.ts';
import { type Login, loginOf } from './logins.ts';
import { idList } from './promotion.ts';

const INSERT = sql`INSERT INTO kg_catalog.login_links (hash, user_id, expires, created_by) VALUES ($1, $2::uuid, $3::timestamptz, $4::uuid[])`;
const OLD = sql`DELETE FROM kg_catalog.login_links WHERE expires < now()`;
const TAKE = sql`WITH taken AS (DELETE FROM kg_catalog.login_links WHERE hash = $1 RETURNING user_id, expires, created_by)
  SELECT u.id, u.name, u.active, u.password, u.login_generation::text AS generation, to_json(coalesce(u.password_by, '{}'))::text AS password_by, to_json(t.created_by)::text AS created_by
  FROM taken t JOIN kg_catalog.users u ON u.id = t.user_id WHERE u.active AND t.expires > now()`;

/** Stores a link, and deletes the expired ones. @throws SvcError 503 */
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

/** Deletes a link and returns its user, and the ids of the users who control the link. @returns null if there is no valid link @throws SvcError 503 */
export async function takeLink(db: CatalogDb, hash: string): Promise<{ readonly login: Login; readonly controllers: readonly string[] } | null> {
  const [row] = await db.query(TAKE, [hash]);
  const login = loginOf(row);
  return login === undefined ? null : { login, controllers: JSON.parse(String(row?.created_by)) as readonly string[] };
}
