/**
 * Statements that change users, roles and grants. Each increments the number that caches compare to detect a change of
 * rights (docs/design/rights-and-visibility.md#changes-of-rights).
 */
import { fold } from '../ontology/names.ts';
import { type Call, type CatalogDb, call, sql } from './db.ts';
import { idList } from './promotion.ts';
import type { Privilege } from './snapshot.ts';

/** Notifies caches that rights have changed. */
export const CHANGED = sql`UPDATE kg_catalog.state SET permissions = permissions + 1`;
// aborts a batch that would leave the service without an active administrator: a second row of `state` violates its check constraint (23514)
const SOME_ADMIN = sql`INSERT INTO kg_catalog.state (id, mask_key) SELECT 2, '' WHERE NOT EXISTS (
  SELECT FROM kg_catalog.role_members m JOIN kg_catalog.roles r ON r.id = m.role_id JOIN kg_catalog.users u ON u.id = m.user_id WHERE r.key = 'admin' AND u.active)`;

const SET_PASSWORD = sql`UPDATE kg_catalog.users SET password = $2, password_by = $3::uuid[] WHERE id = $1`;
// the user may have signed in with the e-mail at an identity provider: those sessions end, as after a change of the password
const SET_EMAIL = sql`UPDATE kg_catalog.users SET email = $2, email_key = $3, email_by = $4::uuid[], login_generation = login_generation + 1 WHERE id = $1`;
// the tenant decides whose JSON Web Tokens identify the user
const SET_TENANT = sql`UPDATE kg_catalog.users SET tenant = $2, login_generation = login_generation + 1 WHERE id = $1`;
// sessions and OAuth grants end permanently: setting the user active again does not restore them
const SET_ACTIVE = sql`UPDATE kg_catalog.users SET active = $2, login_generation = login_generation + CASE WHEN $2 THEN 0 ELSE 1 END WHERE id = $1`;
const REVOKE_CONSOLE = sql`UPDATE kg_catalog.tokens SET revoked = now() WHERE user_id = $1::uuid AND label = 'console' AND revoked IS NULL`;
/** Revokes the tokens that a user's consoles have: they end with its sessions. */
export const revokeConsoleTokens = (userId: string): readonly Call[] => [call(REVOKE_CONSOLE, userId), call(CHANGED)];
const DROP_USER = sql`DELETE FROM kg_catalog.users WHERE id = $1`;
const CREATE_ROLE = sql`INSERT INTO kg_catalog.roles (id, name, key) VALUES ($1, $2, $3)`;
const DROP_ROLE = sql`DELETE FROM kg_catalog.roles WHERE id = $1`;
const ADD_MEMBER = sql`INSERT INTO kg_catalog.role_members (role_id, user_id) VALUES ($1, $2) ON CONFLICT DO NOTHING`;
const REMOVE_MEMBER = sql`DELETE FROM kg_catalog.role_members WHERE role_id = $1 AND user_id = $2`;
/** Deletes the grants on an object: its kind and its folded name. */
export const DELETE_GRANTS = sql`DELETE FROM kg_catalog.grants WHERE resource_key -> 0 = to_jsonb($1::text) AND resource_key -> 1 = to_jsonb($2::text)`;
const REVOKE_USER = sql`DELETE FROM kg_catalog.grants WHERE user_id = $1 AND privilege = $2 AND resource_key = $3::jsonb AND is_all = $4`;
const REVOKE_ROLE = sql`DELETE FROM kg_catalog.grants WHERE role_id = $1 AND privilege = $2 AND resource_key = $3::jsonb AND is_all = $4`;

/** Sets a password and ends the user's sessions and OAuth grants. @param password the hash to store @param by ids of the users who set it */
export const setPassword = (id: string, password: string, by: readonly string[]): readonly Call[] => [
  call(SET_PASSWORD, id, password, idList(by)),
  ...revokeConsoleTokens(id),
];
/** Sets or removes the e-mail and ends the user's sessions and OAuth grants. @param by ids of the users who set it */
export const setEmail = (id: string, email: string | null, by: readonly string[]): readonly Call[] => [
  call(SET_EMAIL, id, email, email === null ? null : fold(email), idList(by)),
  ...revokeConsoleTokens(id),
];
/** Sets the tenant of a user and ends its sessions and OAuth grants. */
export const setTenant = (id: string, tenant: string): readonly Call[] => [call(SET_TENANT, id, tenant), ...revokeConsoleTokens(id)];
const SET_NAMES = sql`UPDATE kg_catalog.users SET first_name = coalesce($2, first_name), last_name = coalesce($3, last_name) WHERE id = $1`;
/** Sets the first and the last name of a user; null leaves a name as it is. */
export const setNames = (id: string, firstName: string | null, lastName: string | null): readonly Call[] => [call(SET_NAMES, id, firstName, lastName)];
const TENANT = sql`SELECT tenant FROM kg_catalog.users WHERE id = $1`;
/** The tenant of a user, or null if the user has no tenant. @throws SvcError 503 */
export async function tenantOf(db: CatalogDb, id: string): Promise<string | null> {
  const [row] = await db.query(TENANT, [id]);
  return typeof row?.tenant === 'string' ? row.tenant : null;
}
/** Sets a user active or inactive. Setting it inactive ends its sessions and OAuth grants; its API tokens become valid again when it is set active. */
export const setActive = (id: string, active: boolean): readonly Call[] => [
  call(SET_ACTIVE, id, active),
  call(SOME_ADMIN),
  ...(active ? [call(CHANGED)] : revokeConsoleTokens(id)),
];
/** Drops a user with its tokens, grants and memberships, and the grants of others on it. Fails with 23503 if a policy names the user. */
export const dropUser = (id: string, name: string): readonly Call[] => [
  call(DROP_USER, id),
  call(DELETE_GRANTS, 'user', fold(name)),
  call(SOME_ADMIN),
  call(CHANGED),
];
export const createRole = (id: string, name: string): readonly Call[] => [call(CREATE_ROLE, id, name, fold(name))];
/** Drops a role with its grants and members, and the grants of others on it. Fails with 23503 if a policy names the role. */
export const dropRole = (id: string, name: string): readonly Call[] => [call(DROP_ROLE, id), call(DELETE_GRANTS, 'role', fold(name)), call(CHANGED)];
export const addMember = (roleId: string, userId: string): readonly Call[] => [call(ADD_MEMBER, roleId, userId), call(CHANGED)];
export const removeMember = (roleId: string, userId: string): readonly Call[] => [call(REMOVE_MEMBER, roleId, userId), call(SOME_ADMIN), call(CHANGED)];
export const revoke = (g: {
  readonly grantee: { readonly kind: 'user' | 'role'; readonly id: string };
  readonly privilege: Privilege;
  readonly resource: readonly string[];
  readonly all: boolean;
}): readonly Call[] => [
  call(g.grantee.kind === 'user' ? REVOKE_USER : REVOKE_ROLE, g.grantee.id, g.privilege, JSON.stringify(g.resource.map(fold)), g.all),
  call(CHANGED),
];
export const refreshPermissions = (): readonly Call[] => [call(CHANGED)];

// a concurrent DELETE of the row waits for this lock, and then also deletes the new grant
const LOCK_RESOURCE = {
  user: sql`SELECT id FROM kg_catalog.users WHERE key = $1 FOR KEY SHARE`,
  role: sql`SELECT id FROM kg_catalog.roles WHERE key = $1 FOR KEY SHARE`,
  ontology: sql`SELECT id FROM kg_catalog.ontologies WHERE key = $1 FOR KEY SHARE`,
  datasource: sql`SELECT id FROM kg_catalog.datasources WHERE key = $1 FOR KEY SHARE`,
  agent: sql`SELECT id FROM kg_catalog.agents WHERE key = $1 FOR KEY SHARE`,
} as const;
// a second row of `state` violates its check constraint (23514), which aborts the batch
const RESOURCE_GONE = {
  user: sql`INSERT INTO kg_catalog.state (id, mask_key) SELECT 2, '' WHERE NOT EXISTS (SELECT FROM kg_catalog.users WHERE key = $1 AND id::text = coalesce($2, id::text))`,
  role: sql`INSERT INTO kg_catalog.state (id, mask_key) SELECT 2, '' WHERE NOT EXISTS (SELECT FROM kg_catalog.roles WHERE key = $1 AND id::text = coalesce($2, id::text))`,
  ontology: sql`INSERT INTO kg_catalog.state (id, mask_key) SELECT 2, '' WHERE NOT EXISTS (SELECT FROM kg_catalog.ontologies WHERE key = $1 AND id::text = coalesce($2, id::text))`,
  datasource: sql`INSERT INTO kg_catalog.state (id, mask_key) SELECT 2, '' WHERE NOT EXISTS (SELECT FROM kg_catalog.datasources WHERE key = $1 AND id::text = coalesce($2, id::text))`,
  agent: sql`INSERT INTO kg_catalog.state (id, mask_key) SELECT 2, '' WHERE NOT EXISTS (SELECT FROM kg_catalog.agents WHERE key = $1 AND id::text = coalesce($2, id::text))`,
} as const;

/** The first part of a resource that has two or more parts. */
export type ResourceKind = keyof typeof LOCK_RESOURCE;

/**
 * Aborts the batch (23514) if the named object was dropped concurrently. A grant refers to an object by name and would apply to the next object with that name.
 * @param id id of the object that the caller has rights on; null: any object with that name
 */
export const requireExists = (kind: ResourceKind, name: string, id: string | null): readonly Call[] => [
  call(LOCK_RESOURCE[kind], fold(name)),
  call(RESOURCE_GONE[kind], fold(name), id),
];

const SAME_RIGHTS = sql`INSERT INTO kg_catalog.state (id, mask_key) SELECT 2, '' WHERE EXISTS (SELECT FROM kg_catalog.state WHERE permissions <> $1::bigint)`;

/** Aborts the batch (23514) if rights were changed since a snapshot with that number was read. */
export const requireSameRights = (permissions: number): Call => call(SAME_RIGHTS, permissions);

const NO_ADMIN = sql`INSERT INTO kg_catalog.state (id, mask_key) SELECT 2, '' WHERE NOT EXISTS (
  SELECT FROM kg_catalog.role_members m JOIN kg_catalog.roles r ON r.id = m.role_id JOIN kg_catalog.users u ON u.id = m.user_id
  WHERE r.key = 'admin' AND u.active AND u.id = $1::uuid)`;

/** Aborts the batch (23514) if the user is no longer an active administrator. */
export const requireAdmin = (userId: string): Call => call(NO_ADMIN, userId);

/** True if a call increments the number that caches compare to detect a change of rights. */
export const changesRights = ({ sql: statement }: Call): boolean => statement === CHANGED;

const TOKENS = sql`SELECT id FROM kg_catalog.tokens WHERE user_id = $1::uuid AND revoked IS NULL AND (expires IS NULL OR expires > now())`;

/** The ids of a user's valid tokens. @throws SvcError 503 */
export const validTokens = async (db: CatalogDb, userId: string): Promise<readonly string[]> => (await db.query(TOKENS, [userId])).map((t) => String(t.id));

// a kind of objects has no name: null
const GRANTS_ON = sql`SELECT privilege, resource_key::text AS key, is_all FROM kg_catalog.grants
  WHERE (user_id = $1::uuid OR role_id = $1::uuid) AND resource_key -> 0 = to_jsonb($2::text) AND resource_key -> 1 IS NOT DISTINCT FROM to_jsonb($3::text)`;

/** What a user or role has at most one grant for: a privilege on a resource, or on all of it. */
export interface GrantKey {
  readonly privilege: Privilege;
  readonly resource: readonly string[];
  readonly all: boolean;
}

/** A text that only equal keys have. */
export const grantKeyText = ({ privilege, resource, all }: GrantKey): string => JSON.stringify([privilege, all, ...resource.map(fold)]);

/** The grants of a user or role on an object and its parts, as texts. @throws SvcError 503 */
export async function grantsOn(db: CatalogDb, granteeId: string, [kind = '', name]: readonly string[]): Promise<readonly string[]> {
  const rows = await db.query(GRANTS_ON, [granteeId, fold(kind), name === undefined ? null : fold(name)]);
  return rows.map((g) => grantKeyText({ privilege: g.privilege as Privilege, resource: JSON.parse(String(g.key)) as string[], all: g.is_all === true }));
}

// a role counts as one grant more
const RIGHTS_OF = sql`WITH m AS (SELECT role_id FROM kg_catalog.role_members WHERE user_id = $1::uuid)
  SELECT ((SELECT count(*) FROM kg_catalog.grants WHERE user_id = $1::uuid OR role_id = $1::uuid) + (SELECT count(*) FROM m)
    + (SELECT count(*) FROM kg_catalog.grants WHERE role_id IN (SELECT role_id FROM m)))::int AS n`;

/** How many grants and roles a user has, with the grants of its roles; of a role, its grants. @throws SvcError 503 */
export const rightsOf = async (db: CatalogDb, granteeId: string): Promise<number> => Number((await db.query(RIGHTS_OF, [granteeId]))[0]?.n ?? 0);

// `h` has the users and the roles whose grants they have; a place without a name is a kind of objects
const RIGHTS_ON = sql`WITH o AS (SELECT DISTINCT p ->> 0 AS kind, p ->> 1 AS name FROM json_array_elements($2::json) p),
    named AS (SELECT kind, name FROM o WHERE name IS NOT NULL), kinds AS (SELECT kind FROM o WHERE name IS NULL),
    u AS (SELECT $1::uuid AS id UNION SELECT user_id FROM kg_catalog.role_members WHERE role_id = $1::uuid AND $3),
    m AS (SELECT u.id, m.role_id FROM u JOIN kg_catalog.role_members m ON m.user_id = u.id),
    h AS (SELECT id, id AS holder FROM u UNION ALL SELECT id, role_id FROM m),
    a AS (SELECT user_id AS holder, resource_key AS k FROM kg_catalog.grants WHERE user_id IN (SELECT holder FROM h)
      UNION ALL SELECT role_id, resource_key FROM kg_catalog.grants WHERE role_id IN (SELECT holder FROM h)),
    g AS (SELECT holder, count(*) AS n FROM a WHERE (k ->> 0, k ->> 1) IN (SELECT kind, name FROM named) OR k ->> 0 IN (SELECT kind FROM kinds) GROUP BY 1),
    r AS (SELECT m.id, count(*) AS n FROM m JOIN kg_catalog.roles ON roles.id = m.role_id
      WHERE ('role', roles.key) IN (SELECT kind, name FROM named) OR 'role' IN (SELECT kind FROM kinds) GROUP BY 1)
  SELECT coalesce(max(n), 0)::int AS n FROM (SELECT sum(n) AS n FROM (SELECT h.id, g.n FROM h JOIN g USING (holder) UNION ALL SELECT id, n FROM r) e GROUP BY id) s`;

/**
 * Counts a user's grants on some objects and their parts, including those of its roles, and how many of the objects are roles of the user.
 * @param places kinds and folded names of the objects; a kind without a name means all of its objects
 * @param withMembers if true, the grantee may be a role, and the result is the maximum of the role and its members
 * @throws SvcError 503
 */
export async function rightsOn(db: CatalogDb, granteeId: string, places: readonly (readonly string[])[], withMembers: boolean): Promise<number> {
  if (places.length === 0) return 0;
  return Number((await db.query(RIGHTS_ON, [granteeId, JSON.stringify(places), withMembers]))[0]?.n ?? 0);
}

const ADMIN_STATE = sql`SELECT
  EXISTS (SELECT FROM kg_catalog.role_members m JOIN kg_catalog.roles r ON r.id = m.role_id WHERE r.key = 'admin' AND m.user_id = $1::uuid) AS admin,
  EXISTS (SELECT FROM kg_catalog.role_members m JOIN kg_catalog.roles r ON r.id = m.role_id JOIN kg_catalog.users u ON u.id = m.user_id
          WHERE r.key = 'admin' AND u.active AND u.id <> $1::uuid) AS others`;

/** @returns whether a user is an administrator, and whether there is another active administrator @throws SvcError 503 */
export async function adminState(db: CatalogDb, userId: string): Promise<{ readonly admin: boolean; readonly others: boolean }> {
  const [row] = await db.query(ADMIN_STATE, [userId]);
  return { admin: row?.admin === true, others: row?.others === true };
}

const HAS_EMAIL = sql`SELECT 1 AS one FROM kg_catalog.users WHERE email_key IN (SELECT json_array_elements_text($1::json)) AND id <> $2::uuid LIMIT 1`;

/** True if a user other than `except` has one of these texts as its e-mail, ignoring case. @throws SvcError 503 */
export const isEmailOfAnother = async (db: CatalogDb, texts: readonly string[], except: string): Promise<boolean> =>
  (await db.query(HAS_EMAIL, [JSON.stringify(texts.map(fold)), except])).length > 0;

const IS_MEMBER = sql`SELECT 1 AS one FROM kg_catalog.role_members WHERE role_id = $1::uuid AND user_id = $2::uuid`;

/** True if a user has a role. @throws SvcError 503 */
export const isMember = async (db: CatalogDb, roleId: string, userId: string): Promise<boolean> => (await db.query(IS_MEMBER, [roleId, userId])).length > 0;

const HAS_GRANT = sql`SELECT 1 AS one FROM kg_catalog.grants WHERE (user_id = $1::uuid OR role_id = $1::uuid) AND privilege = $2 AND resource_key = $3::jsonb AND is_all = $4`;

/** True if exactly this grant exists. @throws SvcError 503 */
export const hasGrant = async (db: CatalogDb, granteeId: string, privilege: Privilege, resource: readonly string[], all: boolean): Promise<boolean> =>
  (await db.query(HAS_GRANT, [granteeId, privilege, JSON.stringify(resource.map(fold)), all])).length > 0;
