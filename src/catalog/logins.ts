/** What sign-in reads and writes: users with their password hashes, tokens issued by get_token and the token page, ended sessions. */
import { type Call, type CatalogDb, DbError, type Row, sql } from './db.ts';
import { idList, LOCK_USER } from './promotion.ts';
import { fold } from './snapshot.ts';

/** A user at sign-in. `password` is the stored hash, or null if the user has no password. */
export interface Login {
  readonly id: string;
  readonly name: string;
  readonly active: boolean;
  readonly password: string | null;
  /** Incremented to end sessions and OAuth grants without a change of the password. */
  readonly generation: string;
  /** Ids of the users who control the password; empty if unknown. */
  readonly passwordBy: readonly string[];
}

const BY_NAME = sql`SELECT id, name, active, password, login_generation::text AS generation, to_json(coalesce(password_by, '{}'))::text AS password_by FROM kg_catalog.users WHERE key = $1`;
const BY_SESSION = sql`SELECT id, name, active, password, login_generation::text AS generation, to_json(coalesce(password_by, '{}'))::text AS password_by FROM kg_catalog.users
  WHERE id = $1::uuid AND NOT EXISTS (SELECT FROM kg_catalog.ended_sessions WHERE id = $2::uuid)
    AND ($3::uuid IS NULL OR EXISTS (SELECT FROM kg_catalog.tokens k WHERE k.id = $3::uuid AND k.user_id = $1::uuid AND k.revoked IS NULL AND (k.expires IS NULL OR k.expires > now())))`;

/** The login of a row with the columns id, name, active, password, generation and password_by. */
export const loginOf = (row: Row | undefined): Login | undefined =>
  row === undefined
    ? undefined
    : {
        id: String(row.id),
        name: String(row.name),
        active: row.active === true,
        password: row.password == null ? null : String(row.password),
        generation: String(row.generation),
        passwordBy: JSON.parse(String(row.password_by)) as readonly string[],
      };

/** Finds a user by name, ignoring case. @throws SvcError 503 */
export const findLogin = async (db: CatalogDb, name: string): Promise<Login | undefined> => loginOf((await db.query(BY_NAME, [fold(name)]))[0]);

/** Finds the user of a session; undefined if the session was ended. @param token id of an API token that ends the session when it ends @throws SvcError 503 */
export const findSessionUser = async (db: CatalogDb, userId: string, sessionId: string, token: string | null = null): Promise<Login | undefined> =>
  loginOf((await db.query(BY_SESSION, [userId, sessionId, token]))[0]);

const END_SESSION = sql`INSERT INTO kg_catalog.ended_sessions (id, until) VALUES ($1::uuid, $2::timestamptz) ON CONFLICT DO NOTHING`;

/** Ends a session before it expires. @param until when the session would have expired (ISO 8601); the row is kept until then */
export const endSession = (id: string, until: string): Call => ({ sql: END_SESSION, params: [id, until] });

/** Waits for other transactions that issue tokens to the user, and makes them wait. */
export const lockUser = (userId: string): Call => ({ sql: LOCK_USER, params: [userId] });

// the subquery yields NULL if the login has ended, and the NOT NULL column rejects it (23502)
const INSERT = sql`INSERT INTO kg_catalog.tokens (id, user_id, hash, label, expires, created_by) VALUES ($1::uuid,
  (SELECT id FROM kg_catalog.users WHERE id = $2::uuid AND active AND password IS NOT DISTINCT FROM $7 AND login_generation = $8::bigint
    AND NOT EXISTS (SELECT FROM kg_catalog.ended_sessions e WHERE e.id = $9::uuid)
    AND ($10::uuid IS NULL OR EXISTS (SELECT FROM kg_catalog.tokens k WHERE k.id = $10::uuid AND k.user_id = $2::uuid AND k.revoked IS NULL AND (k.expires IS NULL OR k.expires > now())))),
  $3, $4, LEAST($5::timestamptz, (SELECT expires FROM kg_catalog.tokens WHERE id = $10::uuid)), $6::uuid[])`;
const REVOKE_OLDER = sql`UPDATE kg_catalog.tokens SET revoked = now() WHERE id IN (
    SELECT id FROM kg_catalog.tokens WHERE user_id = $1::uuid AND label = $2 AND id <> $3::uuid AND revoked IS NULL AND (expires IS NULL OR expires > now())
    ORDER BY created DESC, id OFFSET $4::int)
  RETURNING id`;

/** The number of valid tokens that a user may have for each label. */
export const MAX_TOKENS = 20;

/** A token to be issued. `label` names the place that issues it; `expires` is ISO 8601; `by` has the ids of the users who control the login. */
export interface GivenToken {
  readonly id: string;
  readonly hash: string;
  readonly label: string;
  readonly expires: string;
  readonly by: readonly string[];
  /** The id of the session that asks for the token, or null for a request without a session. */
  readonly session: string | null;
  /** The id of an API token that this one must not outlive, or null for a token with a lifetime of its own. */
  readonly until: string | null;
}

/**
 * Stores a token, and revokes the user's oldest tokens with that label if there are more than 20.
 * @param login the user's login, as read when the user signed in
 * @returns true if a token was revoked; undefined if the login has ended and nothing was stored
 * @throws SvcError 503
 */
export async function storeToken(
  db: CatalogDb,
  login: Pick<Login, 'id' | 'password' | 'generation'>,
  token: GivenToken,
  audit: Call,
): Promise<boolean | undefined> {
  try {
    const [, , revoked] = await db.batch([
      // without the lock, two concurrent requests of a user would not see each other's token
      { sql: LOCK_USER, params: [login.id] },
      {
        sql: INSERT,
        params: [token.id, login.id, token.hash, token.label, token.expires, idList(token.by), login.password, login.generation, token.session, token.until],
      },
      { sql: REVOKE_OLDER, params: [login.id, token.label, token.id, MAX_TOKENS - 1] },
      audit,
    ]);
    return (revoked?.length ?? 0) > 0;
  } catch (error) {
    if (error instanceof DbError && error.sqlstate === '23502') return undefined;
    throw error;
  }
}
