/** Lists users, roles, grants and tokens for system tables and SHOW. The service decides which of them a caller may see. */
import { type CatalogDb, type Row, sql } from './db.ts';
import type { Privilege } from './snapshot.ts';

/** One line per user. Timestamps are ISO 8601 in UTC with microseconds. */
export interface UserLine {
  readonly name: string;
  readonly email: string | null;
  readonly tenant: string | null;
  readonly active: boolean;
  readonly created: string;
  readonly firstName: string | null;
  readonly lastName: string | null;
}

/** One line per role and member. `user` is null if the role has no members. */
export interface RoleLine {
  readonly role: string;
  readonly user: string | null;
}

export interface GrantLine {
  readonly kind: 'user' | 'role';
  readonly grantee: string;
  readonly privilege: Privilege;
  readonly resource: readonly string[];
  readonly all: boolean;
  readonly grantOption: boolean;
}

export interface AccessLists {
  readonly users: readonly UserLine[];
  readonly roles: readonly RoleLine[];
  readonly grants: readonly GrantLine[];
}

const LISTS = sql`SELECT json_build_object(
  'users', (SELECT coalesce(json_agg(json_build_object('name', name, 'email', email, 'tenant', tenant, 'active', active, 'firstName', first_name, 'lastName', last_name,
              'created', (to_json(created AT TIME ZONE 'UTC') #>> '{}') || '+00:00') ORDER BY key), '[]') FROM kg_catalog.users),
  'roles', (SELECT coalesce(json_agg(json_build_object('role', r.name, 'user', u.name) ORDER BY r.key, u.key), '[]')
            FROM kg_catalog.roles r LEFT JOIN kg_catalog.role_members m ON m.role_id = r.id LEFT JOIN kg_catalog.users u ON u.id = m.user_id),
  'grants', (SELECT coalesce(json_agg(json_build_object('kind', CASE WHEN g.user_id IS NULL THEN 'role' ELSE 'user' END, 'grantee', coalesce(u.name, r.name),
               'privilege', g.privilege, 'resource', g.resource, 'all', g.is_all, 'grantOption', g.grant_option)
               ORDER BY coalesce(u.key, r.key), g.user_id IS NULL, g.resource_key::text, g.is_all, g.privilege), '[]')
             FROM kg_catalog.grants g LEFT JOIN kg_catalog.users u ON u.id = g.user_id LEFT JOIN kg_catalog.roles r ON r.id = g.role_id)
)::text AS lists`;

/** Reads all users, role members and grants. @throws SvcError 503 */
export async function readAccess(db: CatalogDb): Promise<AccessLists> {
  const [row] = await db.query(LISTS);
  return JSON.parse(String(row?.lists)) as AccessLists;
}

const TOKENS = sql`SELECT id, label, (to_json(created AT TIME ZONE 'UTC') #>> '{}') || '+00:00' AS created, (to_json(expires AT TIME ZONE 'UTC') #>> '{}') || '+00:00' AS expires,
  (to_json(last_used AT TIME ZONE 'UTC') #>> '{}') || '+00:00' AS last_used FROM kg_catalog.tokens WHERE user_id = $1::uuid AND revoked IS NULL ORDER BY kg_catalog.tokens.created, id`;

const orNull = (row: Row, column: string): string | null => (row[column] == null ? null : String(row[column]));

/** Lists a user's tokens that are not revoked, oldest first. The result has no token values or hashes. @throws SvcError 503 */
export async function listTokens(db: CatalogDb, userId: string): Promise<readonly Readonly<Record<string, string | null>>[]> {
  const rows = await db.query(TOKENS, [userId]);
  return rows.map((row) => ({
    token_id: String(row.id),
    label: orNull(row, 'label'),
    created: orNull(row, 'created'),
    expires: orNull(row, 'expires'),
    last_used: orNull(row, 'last_used'),
  }));
}

const DATASOURCE_OPTIONS = sql`SELECT options::text AS options FROM kg_catalog.datasources WHERE id = $1::uuid`;

/** Reads the OPTIONS of a datasource. @throws SvcError 503 */
export async function datasourceOptions(db: CatalogDb, id: string): Promise<Readonly<Record<string, string>>> {
  const [row] = await db.query(DATASOURCE_OPTIONS, [id]);
  return row === undefined ? {} : (JSON.parse(String(row.options)) as Record<string, string>);
}
