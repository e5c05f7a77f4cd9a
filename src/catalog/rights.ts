/**
 * Statements that change users, roles and grants. Each raises the number by which caches notice a change of rights
 * (docs/design/rights-and-visibility.md#changes-of-rights).
 */
import { fold } from '../ontology/names.ts';
import { type Call, type CatalogDb, type Param, type Sql, sql } from './db.ts';
import { idList } from './promotion.ts';
import type { Privilege } from './snapshot.ts';

const call = (statement: Sql, ...params: Param[]): Call => ({ sql: statement, params });

const CHANGED = sql`UPDATE kg_catalog.state SET permissions = permissions + 1`;
// a second row of `state` breaks its check (23514): nothing of a batch is kept that leaves the service without an administrator
const SOME_ADMIN = sql`INSERT INTO kg_catalog.state (id, mask_key) SELECT 2, '' WHERE NOT EXISTS (
  SELECT FROM kg_catalog.role_members m JOIN kg_catalog.roles r ON r.id = m.role_id JOIN kg_catalog.users u ON u.id = m.user_id WHERE r.key = 'admin' AND u.active)`;

const SET_PASSWORD = sql`UPDATE kg_catalog.users SET password = $2, password_by = $3::uuid[] WHERE id = $1`;
// a user may have logged in elsewhere by the e-mail: what began so ends, as with a new password
const SET_EMAIL = sql`UPDATE kg_catalog.users SET email = $2, email_key = $3, email_by = $4::uuid[], login_generation = login_generation + 1 WHERE id = $1`;
// sessions and OAuth grants end for good: they do not come back with a user who is set active again
const SET_ACTIVE = sql`UPDATE kg_catalog.users SET active = $2, login_generation = login_generation + CASE WHEN $2 THEN 0 ELSE 1 END WHERE id = $1`;
const DROP_USER = sql`DELETE FROM kg_catalog.users WHERE id = $1`;
const CREATE_ROLE = sql`INSERT INTO kg_catalog.roles (id, name, key) VALUES ($1, $2, $3)`;
const DROP_ROLE = sql`DELETE FROM kg_catalog.roles WHERE id = $1`;
const ADD_MEMBER = sql`INSERT INTO kg_catalog.role_members (role_id, user_id) VALUES ($1, $2) ON CONFLICT DO NOTHING`;
const REMOVE_MEMBER = sql`DELETE FROM kg_catalog.role_members WHERE role_id = $1 AND user_id = $2`;
const FORGET_GRANTS = sql`DELETE FROM kg_catalog.grants WHERE resource_key -> 0 = to_jsonb($1::text) AND resource_key -> 1 = to_jsonb($2::text)`;
const REVOKE_USER = sql`DELETE FROM kg_catalog.grants WHERE user_id = $1 AND privilege = $2 AND resource_key = $3::jsonb AND is_all = $4`;
const REVOKE_ROLE = sql`DELETE FROM kg_catalog.grants WHERE role_id = $1 AND privilege = $2 AND resource_key = $3::jsonb AND is_all = $4`;

/** `password`: what is stored of it; `by`: ids of who sets it. */
export const setPassword = (id: string, password: string, by: readonly string[]): readonly Call[] => [
  call(SET_PASSWORD, id, password, idList(by)),
  call(CHANGED),
];
/** Sessions and OAuth grants of the user end. `by`: ids of who sets it. */
export const setEmail = (id: string, email: string | null, by: readonly string[]): readonly Call[] => [
  call(SET_EMAIL, id, email, email === null ? null : fold(email), idList(by)),
  call(CHANGED),
];
/** The sessions and OAuth grants of a user who is set inactive end; its API tokens are good again when it is set active. */
export const setActive = (id: string, active: boolean): readonly Call[] => [call(SET_ACTIVE, id, active), call(SOME_ADMIN), call(CHANGED)];
/** Fails (23503) where a policy names the user. Its tokens, grants and memberships go along, and what others were granted on it. */
export const dropUser = (id: string, name: string): readonly Call[] => [
  call(DROP_USER, id),
  call(FORGET_GRANTS, 'user', fold(name)),
  call(SOME_ADMIN),
  call(CHANGED),
];
export const createRole = (id: string, name: string): readonly Call[] => [call(CREATE_ROLE, id, name, fold(name))];
/** Fails (23503) where a policy names the role. */
export const dropRole = (id: string, name: string): readonly Call[] => [call(DROP_ROLE, id), call(FORGET_GRANTS, 'role', fold(name)), call(CHANGED)];
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

// a deletion of the row waits for the lock, and then deletes the new grant too
const LOCK_RESOURCE = {
  user: sql`SELECT id FROM kg_catalog.users WHERE key = $1 FOR KEY SHARE`,
  role: sql`SELECT id FROM kg_catalog.roles WHERE key = $1 FOR KEY SHARE`,
  ontology: sql`SELECT id FROM kg_catalog.ontologies WHERE key = $1 FOR KEY SHARE`,
  datasource: sql`SELECT id FROM kg_catalog.datasources WHERE key = $1 FOR KEY SHARE`,
  agent: sql`SELECT id FROM kg_catalog.agents WHERE key = $1 FOR KEY SHARE`,
} as const;
// a second row of `state` breaks its check (23514), which ends the batch
const RESOURCE_GONE = {
  user: sql`INSERT INTO kg_catalog.state (id, mask_key) SELECT 2, '' WHERE NOT EXISTS (SELECT FROM kg_catalog.users WHERE key = $1 AND id::text = coalesce($2, id::text))`,
  role: sql`INSERT INTO kg_catalog.state (id, mask_key) SELECT 2, '' WHERE NOT EXISTS (SELECT FROM kg_catalog.roles WHERE key = $1 AND id::text = coalesce($2, id::text))`,
  ontology: sql`INSERT INTO kg_catalog.state (id, mask_key) SELECT 2, '' WHERE NOT EXISTS (SELECT FROM kg_catalog.ontologies WHERE key = $1 AND id::text = coalesce($2, id::text))`,
  datasource: sql`INSERT INTO kg_catalog.state (id, mask_key) SELECT 2, '' WHERE NOT EXISTS (SELECT FROM kg_catalog.datasources WHERE key = $1 AND id::text = coalesce($2, id::text))`,
  agent: sql`INSERT INTO kg_catalog.state (id, mask_key) SELECT 2, '' WHERE NOT EXISTS (SELECT FROM kg_catalog.agents WHERE key = $1 AND id::text = coalesce($2, id::text))`,
} as const;

/** What a resource of two or more parts begins with. */
export type ResourceKind = keyof typeof LOCK_RESOURCE;

/**
 * Aborts the batch (23514) if the named thing was dropped meanwhile: a grant names it by its name, and would hold for the next thing of that name.
 * @param id of the thing that the caller's right is on; null: any of that name
 */
export const stillThere = (kind: ResourceKind, name: string, id: string | null): readonly Call[] => [
  call(LOCK_RESOURCE[kind], fold(name)),
  call(RESOURCE_GONE[kind], fold(name), id),
];

const SAME_RIGHTS = sql`INSERT INTO kg_catalog.state (id, mask_key) SELECT 2, '' WHERE EXISTS (SELECT FROM kg_catalog.state WHERE permissions <> $1::bigint)`;

/** Aborts the batch (23514) if rights were changed since a snapshot with that number was read. */
export const sameRights = (permissions: number): Call => call(SAME_RIGHTS, permissions);

const NO_ADMIN = sql`INSERT INTO kg_catalog.state (id, mask_key) SELECT 2, '' WHERE NOT EXISTS (
  SELECT FROM kg_catalog.role_members m JOIN kg_catalog.roles r ON r.id = m.role_id JOIN kg_catalog.users u ON u.id = m.user_id
  WHERE r.key = 'admin' AND u.active AND u.id = $1::uuid)`;

/** Aborts the batch (23514) if the user is no active administrator any more. */
export const isStillAdmin = (userId: string): Call => call(NO_ADMIN, userId);

/** Whether a call raises the number by which caches see that rights changed. */
export const changesRights = ({ sql: statement }: Call): boolean => statement === CHANGED;

const STANDING = sql`SELECT
  EXISTS (SELECT FROM kg_catalog.role_members m JOIN kg_catalog.roles r ON r.id = m.role_id WHERE r.key = 'admin' AND m.user_id = $1::uuid) AS admin,
  EXISTS (SELECT FROM kg_catalog.role_members m JOIN kg_catalog.roles r ON r.id = m.role_id JOIN kg_catalog.users u ON u.id = m.user_id
          WHERE r.key = 'admin' AND u.active AND u.id <> $1::uuid) AS others`;

/** Whether a user is an administrator, and whether there is another active one. @throws SvcError 503 */
export async function adminStanding(db: CatalogDb, userId: string): Promise<{ readonly admin: boolean; readonly others: boolean }> {
  const [row] = await db.query(STANDING, [userId]);
  return { admin: row?.admin === true, others: row?.others === true };
}

const HAS_EMAIL = sql`SELECT 1 AS one FROM kg_catalog.users WHERE email_key IN (SELECT json_array_elements_text($1::json)) AND id <> $2::uuid LIMIT 1`;

/** Whether a user other than `except` has one of these texts as its e-mail, without case. @throws SvcError 503 */
export const isEmailOfAnother = async (db: CatalogDb, texts: readonly string[], except: string): Promise<boolean> =>
  (await db.query(HAS_EMAIL, [JSON.stringify(texts.map(fold)), except])).length > 0;

const IS_MEMBER = sql`SELECT 1 AS one FROM kg_catalog.role_members WHERE role_id = $1::uuid AND user_id = $2::uuid`;

/** @throws SvcError 503 */
export const isMember = async (db: CatalogDb, roleId: string, userId: string): Promise<boolean> => (await db.query(IS_MEMBER, [roleId, userId])).length > 0;

const HAS_GRANT = sql`SELECT 1 AS one FROM kg_catalog.grants WHERE (user_id = $1::uuid OR role_id = $1::uuid) AND privilege = $2 AND resource_key = $3::jsonb AND is_all = $4`;

/** Whether there is that very grant. @throws SvcError 503 */
export const hasGrant = async (db: CatalogDb, granteeId: string, privilege: Privilege, resource: readonly string[], all: boolean): Promise<boolean> =>
  (await db.query(HAS_GRANT, [granteeId, privilege, JSON.stringify(resource.map(fold)), all])).length > 0;
