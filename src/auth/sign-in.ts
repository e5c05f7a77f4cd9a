/** Signing in by user name and password: for get_token and the login page (decisions 8). */

import { audit } from '../catalog/changes.ts';
import type { CatalogDb } from '../catalog/db.ts';
import { findLogin, type Login, storeToken } from '../catalog/logins.ts';
import { fold, forgetSnapshots } from '../catalog/snapshot.ts';
import { loggedLine } from '../errors.ts';
import type { UserPassword } from './bearer.ts';
import { verifyPassword } from './passwords.ts';
import { type Attempts, MOST_DELAY_MS } from './throttle.ts';
import { createToken, sha256 } from './tokens.ts';

/** The parts of the service that signing in needs; `Runtime` has them. */
export interface SignInParts {
  readonly db: CatalogDb;
  readonly now: () => number;
  readonly log: (line: Readonly<Record<string, unknown>>) => void;
  /** Undefined: attempts are not counted. */
  readonly attempts?: Attempts | undefined;
  /** Waits; undefined: nothing is waited for. */
  readonly pause?: ((ms: number) => Promise<void>) | undefined;
}

/** Longer texts are no password that CREATE USER took in one statement. */
const PASSWORD_CHARACTERS = 64 * 1024;

/** A name that a user can have: others are not asked for (PostgreSQL takes no zero byte), at the same cost. */
const isName = (name: string): boolean => /^[^\u0000-\u001f\u007f-\u009f]{1,256}$/.test(name);

/**
 * Judges user and password. Null: wrong, for whatever reason, at the same cost: one look into the catalog, one slow hash.
 * The answer is held back as the failures of that user name and that address demand. `given` null is no attempt (what came
 * is not signed, or too old): it is refused at once, without a hash, and is not counted.
 * @param address where the attempt comes from
 * @throws SvcError 503 `catalog_unavailable`
 */
export async function signIn(parts: SignInParts, given: UserPassword | null, address: string): Promise<Login | null> {
  if (given === null) return null;
  const name = isName(given.user) ? given.user : '';
  const password = given.password.length <= PASSWORD_CHARACTERS ? given.password : '';
  const login = await findLogin(parts.db, name);
  const right = await verifyPassword(password, login?.password ?? null);
  const user = right && login?.active === true ? login : null;
  await hold(parts, given.user, address, user === null);
  return user;
}

async function hold({ attempts, pause, log }: SignInParts, user: string, address: string, failed: boolean): Promise<void> {
  if (attempts === undefined) return;
  const keys = [`user:${await sha256(fold(user))}`, `address:${await sha256(address)}`];
  const delays = await Promise.all(
    keys.map((key) =>
      attempts.settle(key, failed).catch((error: unknown) => {
        log({ level: 'error', event: 'throttle_failed', message: loggedLine(error) });
        return MOST_DELAY_MS; // neither unlimited tries nor a lock-out
      }),
    ),
  );
  const delay = Math.max(...delays);
  if (delay > 0) await pause?.(delay);
}

/** Where tokens are given out, which is their label. */
export type TokenOrigin = 'get_token' | 'get_svc_user_token';

/**
 * A fresh API token of a user who has logged in; of one user and origin the newest 20 live. Null: the login has ended meanwhile.
 * @param by ids of the users who control the login
 * @throws SvcError 503 `catalog_unavailable`
 */
export async function giveToken(
  { db, now }: Pick<SignInParts, 'db' | 'now'>,
  login: Login,
  by: readonly string[],
  origin: TokenOrigin,
  ttlDays: number,
  requestId: string,
): Promise<string | null> {
  const token = createToken();
  const id = crypto.randomUUID();
  const expires = new Date(now() + ttlDays * 86_400_000).toISOString();
  const credential = origin === 'get_token' ? 'bearer' : 'session';
  const entry = audit({ user: login.name, credential, action: 'give_token', object: id, ontology: null, digest: null, requestId });
  const revoked = await storeToken(db, login, { id, hash: await sha256(token), label: origin, expires, by }, entry);
  if (revoked === true) forgetSnapshots();
  return revoked === undefined ? null : token;
}
