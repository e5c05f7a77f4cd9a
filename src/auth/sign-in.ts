/** Signing in with user name and password, for get_token and the login page (docs/design/credentials.md#signing-in-by-password). */

import { audit } from '../catalog/changes.ts';
import type { CatalogDb } from '../catalog/db.ts';
import { findLogin, type Login, storeToken } from '../catalog/logins.ts';
import { fold, forgetSnapshots } from '../catalog/snapshot.ts';
import { loggedLine, SvcError } from '../errors.ts';
import type { UserPassword } from './bearer.ts';
import { verifyPassword } from './passwords.ts';
import { Slots } from './slots.ts';
import { type Attempts, LEASE_MS, MOST_DELAY_MS } from './throttle.ts';
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

/** Attempts that run at once: of one address, fewer than of one user name, so that no single address takes all of a user's. */
const MOST_OF_ADDRESS = 5;
const MOST_OF_USER = 10;

/**
 * Judges user and password. Null: wrong, for whatever reason, at the same cost: one look into the catalog, one slow hash.
 * The answer is held back as the failures of that user name and that address demand. `given` null is no attempt (what came
 * is not signed, or too old): it is refused at once, without a hash, and is not counted.
 * @param address where the attempt comes from
 * @throws SvcError 429 `too_many_requests`: too many attempts of the user name, of the address or of the isolate run at once; 503 `catalog_unavailable`
 */
export async function signIn(parts: SignInParts, given: UserPassword | null, address: string): Promise<Login | null> {
  if (given === null) return null;
  const begun = await begin(parts, given.user, address);
  let user: Login | null;
  let release: () => void = () => undefined;
  try {
    release = takeHere();
    user = await judge(parts.db, given);
  } catch (error) {
    release();
    await begun.cancel();
    throw error;
  }
  try {
    // without the objects, the isolate's own slot is what bounds the attempts that wait
    if (begun.counted) release();
    const delay = await begun.settle(user === null);
    if (delay > 0) await parts.pause?.(delay);
  } finally {
    release();
  }
  return user;
}

async function judge(db: CatalogDb, given: UserPassword): Promise<Login | null> {
  const name = isName(given.user) ? given.user : '';
  const password = given.password.length <= PASSWORD_CHARACTERS ? given.password : '';
  const login = await findLogin(db, name);
  const right = await verifyPassword(password, login?.password ?? null);
  return right && login?.active === true ? login : null;
}

const tooMany = () =>
  new SvcError(429, 'too_many_requests', 'Too many attempts to sign in run at once', {
    hint: `Try again in ${RETRY_SECONDS} seconds`,
    headers: { 'retry-after': String(RETRY_SECONDS) },
  });
/** An attempt runs until its answer is sent, so one ends within the longest delay. */
const RETRY_SECONDS = Math.ceil(MOST_DELAY_MS / 1000) + 1;

/** Attempts that one isolate judges at once, of all users and addresses. A hash holds its only thread and 16 MiB. */
const MOST_HERE = 32;
const here = new Slots(Date.now);

function takeHere(): () => void {
  const ticket = here.take(MOST_HERE, LEASE_MS);
  if (ticket === null) throw tooMany();
  return () => here.release(ticket);
}

/** An attempt that is counted as running. */
interface Begun {
  /** False: no object counts it. */
  readonly counted: boolean;
  settle(failed: boolean): Promise<number>;
  cancel(): Promise<void>;
}

/** Counts an attempt before it is judged. @throws SvcError 429 `too_many_requests` */
async function begin({ attempts, log }: SignInParts, user: string, address: string): Promise<Begun> {
  if (attempts === undefined) return { counted: false, settle: async () => 0, cancel: async () => undefined };
  const faulty = (error: unknown) => log({ level: 'error', event: 'throttle_failed', message: loggedLine(error) });
  // an address that is over its bound does not reach the user's object
  const keys = [
    [`address:${await sha256(address)}`, MOST_OF_ADDRESS],
    [`user:${await sha256(fold(user))}`, MOST_OF_USER],
  ] as const;
  const tickets = new Map<string, string>();
  const cancel = async (): Promise<void> => {
    await Promise.all([...tickets].map(([key, ticket]) => attempts.cancel(key, ticket).catch(faulty)));
  };
  for (const [key, most] of keys) {
    try {
      const ticket = await attempts.begin(key, most);
      if (ticket !== null) {
        tickets.set(key, ticket);
        continue;
      }
    } catch (error) {
      faulty(error);
      continue;
    }
    await cancel();
    throw tooMany();
  }
  const settle = async (failed: boolean): Promise<number> => {
    const delays = keys.map(([key]) =>
      attempts.settle(key, failed, tickets.get(key)).catch((error: unknown) => {
        faulty(error);
        return MOST_DELAY_MS; // neither unlimited tries nor a lock-out
      }),
    );
    return Math.max(...(await Promise.all(delays)));
  };
  return { counted: tickets.size === keys.length, settle, cancel };
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
