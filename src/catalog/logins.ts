/** What signing in reads and writes: users with their stored passwords, tokens given out by get_token and the token page, sessions that were ended. */
import { type Call, type CatalogDb, type Row, sql } from './db.ts';
import { fold } from './snapshot.ts';

/** A user as somebody signs in. `password`: the stored hash, null where there is none. */
export interface Login {
  readonly id: string;
  readonly name: string;
  readonly active: boolean;
  readonly password: string | null;
}

const BY_NAME = sql`SELECT id, name, active, password FROM kg_catalog.users WHERE key = $1`;
const BY_SESSION = sql`SELECT id, name, active, password FROM kg_catalog.users
  WHERE id = $1::uuid AND NOT EXISTS (SELECT FROM kg_catalog.ended_sessions WHERE id = $2::uuid)`;

const login = (row: Row | undefined): Login | undefined =>
  row === undefined
    ? undefined
    : { id: String(row.id), name: String(row.name), active: row.active === true, password: row.password == null ? null : String(row.password) };

/** A user by name without case. @throws SvcError 503 */
export const findLogin = async (db: CatalogDb, name: string): Promise<Login | undefined> => login((await db.query(BY_NAME, [fold(name)]))[0]);

/** The user of a session that was not ended. @throws SvcError 503 */
export const findSessionUser = async (db: CatalogDb, userId: string, sessionId: string): Promise<Login | undefined> =>
  login((await db.query(BY_SESSION, [userId, sessionId]))[0]);

const END_SESSION = sql`INSERT INTO kg_catalog.ended_sessions (id, until) VALUES ($1::uuid, $2::timestamptz) ON CONFLICT DO NOTHING`;

/** Ends a session before its time; kept until the session would have ended by itself (ISO 8601). */
export const endSession = (id: string, until: string): Call => ({ sql: END_SESSION, params: [id, until] });

// two requests of one user at once would each miss the other's token
const LOCK_USER = sql`SELECT id FROM kg_catalog.users WHERE id = $1::uuid FOR UPDATE`;
const INSERT = sql`INSERT INTO kg_catalog.tokens (id, user_id, hash, label, expires) VALUES ($1::uuid, $2::uuid, $3, $4, $5::timestamptz)`;
const REVOKE_OLDER = sql`UPDATE kg_catalog.tokens SET revoked = now() WHERE id IN (
    SELECT id FROM kg_catalog.tokens WHERE user_id = $1::uuid AND label = $2 AND id <> $3::uuid AND revoked IS NULL AND (expires IS NULL OR expires > now())
    ORDER BY created DESC, id OFFSET $4::int)
  RETURNING id`;

/** How many tokens of one user and origin live. */
export const LIVE_TOKENS = 20;

/** A token to be given out. `label`: where; `expires`: ISO 8601. */
export interface GivenToken {
  readonly id: string;
  readonly userId: string;
  readonly hash: string;
  readonly label: string;
  readonly expires: string;
}

/** Stores a token and revokes the user's older ones of that label beyond the newest 20. @returns whether any was revoked. @throws SvcError 503 */
export async function storeToken(db: CatalogDb, token: GivenToken, audit: Call): Promise<boolean> {
  const [, , revoked] = await db.batch([
    { sql: LOCK_USER, params: [token.userId] },
    { sql: INSERT, params: [token.id, token.userId, token.hash, token.label, token.expires] },
    { sql: REVOKE_OLDER, params: [token.userId, token.label, token.id, LIVE_TOKENS - 1] },
    audit,
  ]);
  return (revoked?.length ?? 0) > 0;
}
