/**
 * Revokes credentials when a user becomes an administrator: credentials that another user controls end in the transaction that adds the user to the role.
 * The catalog stores the users who control each token, password and e-mail (migrations/010). Links that others made end by a new generation of the login, and with
 * them the sessions that they began.
 */
import { type Call, type Row, sql } from './db.ts';

/** Represents an unknown user among the users who control a credential. No user has this id. */
export const UNKNOWN_USER = '00000000-0000-0000-0000-000000000000';

/** Formats ids as an array parameter. */
export const idList = (ids: readonly string[]): string => `{${ids.join(',')}}`;

/** What a promotion revoked; 0 and false if the user was already an administrator. */
export interface Promotion {
  /** Number of tokens that were revoked. */
  readonly tokens: number;
  /** Number of AUTH grants on the user that were deleted. */
  readonly authGrants: number;
  readonly password: boolean;
  readonly email: boolean;
}

/** A lock that all statements take which write a credential of the user, so that their transactions run one after the other. */
export const LOCK_USER = sql`SELECT id FROM kg_catalog.users WHERE id = $1::uuid FOR UPDATE`;

// The user and the active administrators are trusted. Rows that were written before migration 010 have no controllers: a password, an e-mail and tokens from
// a login count as controlled by the user, other tokens as controlled by an unknown user.
const PROMOTE = sql`WITH trusted AS (
  SELECT ARRAY(SELECT u.id FROM kg_catalog.role_members m JOIN kg_catalog.users u ON u.id = m.user_id WHERE m.role_id = $1::uuid AND u.active) || $2::uuid AS ids
), subject AS (
  SELECT u.id, u.key, t.ids AS trusted,
    u.password IS NOT NULL AND NOT coalesce(u.password_by, '{}') <@ t.ids AS loses_password,
    u.email IS NOT NULL AND NOT coalesce(u.email_by, '{}') <@ t.ids AS loses_email,
    EXISTS (SELECT FROM kg_catalog.login_links l WHERE l.user_id = u.id AND NOT l.created_by <@ t.ids) AS loses_links
  FROM kg_catalog.users u, trusted t
  WHERE u.id = $2::uuid AND NOT EXISTS (SELECT FROM kg_catalog.role_members m WHERE m.role_id = $1::uuid AND m.user_id = u.id)
), tokens AS (
  UPDATE kg_catalog.tokens t SET revoked = now() FROM subject s
  WHERE t.user_id = s.id AND t.revoked IS NULL AND (t.expires IS NULL OR t.expires > now())
    AND CASE WHEN t.created_by IS NULL THEN coalesce(t.label, '') NOT IN ('get_token', 'get_svc_user_token') ELSE NOT t.created_by <@ s.trusted END
  RETURNING t.id
), auth AS (
  DELETE FROM kg_catalog.grants g USING subject s WHERE g.privilege = 'auth' AND g.resource_key = jsonb_build_array('user', s.key) RETURNING g.id
), credentials AS (
  UPDATE kg_catalog.users u SET login_generation = u.login_generation + 1,
    password = CASE WHEN s.loses_password THEN NULL ELSE u.password END, password_by = CASE WHEN s.loses_password THEN NULL ELSE u.password_by END,
    email = CASE WHEN s.loses_email THEN NULL ELSE u.email END, email_key = CASE WHEN s.loses_email THEN NULL ELSE u.email_key END,
    email_by = CASE WHEN s.loses_email THEN NULL ELSE u.email_by END
  FROM subject s WHERE u.id = s.id AND (s.loses_password OR s.loses_email OR s.loses_links)
)
SELECT (SELECT count(*) FROM tokens)::int AS tokens, (SELECT count(*) FROM auth)::int AS auth_grants,
  EXISTS (SELECT FROM subject WHERE loses_password) AS password, EXISTS (SELECT FROM subject WHERE loses_email) AS email`;

const read = (row: Row | undefined): Promotion => ({
  tokens: Number(row?.tokens ?? 0),
  authGrants: Number(row?.auth_grants ?? 0),
  password: row?.password === true,
  email: row?.email === true,
});

/**
 * Revokes a user's credentials that others control, unless the user already has the role. The same batch adds the user to the role after these calls.
 * @param roleId the role `admin`
 * @param onPromoted called after the commit
 */
export const promote = (roleId: string, userId: string, onPromoted: (promotion: Promotion) => void): readonly Call[] => [
  { sql: LOCK_USER, params: [userId] },
  { sql: PROMOTE, params: [roleId, userId], onRows: (rows) => onPromoted(read(rows[0])) },
];

// a second row of `state` violates its check constraint (23514), which aborts the batch
const NO_ADMIN = sql`INSERT INTO kg_catalog.state (id, mask_key) SELECT 2, '' WHERE EXISTS (
  SELECT FROM kg_catalog.role_members m JOIN kg_catalog.roles r ON r.id = m.role_id WHERE r.key = 'admin' AND m.user_id = $1::uuid)`;

/** Aborts the batch (23514) if the user is an administrator. Used when a caller who is not an administrator changes a user. */
export const requireNotAdmin = (userId: string): readonly Call[] => [
  { sql: LOCK_USER, params: [userId] },
  { sql: NO_ADMIN, params: [userId] },
];
