/** Signs users in with name and password, for get_token and the login page (docs/design/credentials.md#signing-in-by-password). */

import { audit } from '../catalog/changes.ts';
import type { CatalogDb } from '../catalog/db.ts';
import { findLogin, type Login, storeToken } from '../catalog/logins.ts';
import { fold, forgetSnapshots } from '../catalog/snapshot.ts';
import { loggedLine, SvcError } from '../errors.ts';
import type { UserPassword } from './bearer.ts';
import { verifyPassword } from './passwords.ts';
import { Slots } from './slots.ts';
import { type Attempts, LEASE_MS, MAX_DELAY_MS } from './throttle.ts';
import { createToken, sha256 } from './tokens.ts';

/** The parts of `Runtime` that signing in needs. */
export interface SignInParts {
  readonly db: CatalogDb;
  readonly now: () => number;
  readonly log: (line: Readonly<Record<string, unknown>>) => void;
  /** Undefined: attempts are not counted. */
  readonly attempts?: Attempts | undefined;
  /** Waits; undefined: answers are not delayed. */
  readonly pause?: ((ms: number) => Promise<void>) | undefined;
}

/** No user has a longer password: CREATE USER does not accept it in one statement. */
const PASSWORD_CHARACTERS = 64 * 1024;

/** True if the name is valid for a user. Invalid names are not looked up (PostgreSQL does not accept NUL), but take the same time. */
const isName = (name: string): boolean => /^[^\u0000-\u001f\u007f-\u009f]{1,256}$/.test(name);

/** The most concurrent attempts. An address has fewer than a user name, so that no single address can use up all attempts of a user. */
const MAX_PER_ADDRESS = 5;
const MAX_PER_USER = 10;

/**
 * Checks user and password. Every attempt costs one query of the catalog and one slow hash, regardless of the outcome. The answer is delayed according to the
 * earlier failures of the user name and of the address.
 * @param given null: the request has no valid credentials (not signed, or expired). It is refused immediately, without a hash, and is not counted.
 * @param address address of the client
 * @returns null if the user name or password is wrong, for any reason
 * @throws SvcError 429 `too_many_requests` if too many attempts of the user name, of the address or of the isolate run at the same time; 503
 *   `catalog_unavailable`
 */
export async function signIn(parts: SignInParts, given: UserPassword | null, address: string): Promise<Login | null> {
  if (given === null) return null;
  const begun = await begin(parts, given.user, address);
  let user: Login | null;
  let release: () => void = () => undefined;
  try {
    release = takeIsolateSlot();
    user = await checkPassword(parts.db, given);
  } catch (error) {
    release();
    await begun.cancel();
    throw error;
  }
  try {
    // if no Durable Object counts the attempt, the isolate's slot also bounds the attempts that are being delayed
    if (begun.counted) release();
    if (user !== null) await begun.remember();
    const delay = await begun.settle(user === null);
    if (delay > 0) await parts.pause?.(delay);
  } finally {
    release();
  }
  return user;
}

async function checkPassword(db: CatalogDb, given: UserPassword): Promise<Login | null> {
  const name = isName(given.user) ? given.user : '';
  const password = given.password.length <= PASSWORD_CHARACTERS ? given.password : '';
  const login = await findLogin(db, name);
  const right = await verifyPassword(password, login?.password ?? null);
  return right && login?.active === true ? login : null;
}

const tooMany = () =>
  new SvcError(429, 'too_many_requests', 'Too many concurrent attempts to sign in', {
    hint: `Try again in ${RETRY_SECONDS} seconds`,
    headers: { 'retry-after': String(RETRY_SECONDS) },
  });
/** An attempt ends when its answer is sent, so at least one ends within the longest delay. */
const RETRY_SECONDS = Math.ceil(MAX_DELAY_MS / 1000) + 1;

/** The most concurrent attempts of one isolate, of all users and addresses. A hash blocks the isolate's only thread and needs 16 MiB. */
const MAX_PER_ISOLATE = 32;
const isolateSlots = new Slots(Date.now);

function takeIsolateSlot(): () => void {
  const ticket = isolateSlots.take(MAX_PER_ISOLATE, LEASE_MS);
  if (ticket === null) throw tooMany();
  return () => isolateSlots.release(ticket);
}

/** An attempt that is counted as running. */
interface Begun {
  /** False if no Durable Object counts it. */
  readonly counted: boolean;
  settle(failed: boolean): Promise<number>;
  /** Notes that the user has signed in from the address. */
  remember(): Promise<void>;
  cancel(): Promise<void>;
}

/** Counts an attempt before it is checked. @throws SvcError 429 `too_many_requests` */
async function begin({ attempts, log }: SignInParts, user: string, address: string): Promise<Begun> {
  if (attempts === undefined) return { counted: false, settle: async () => 0, remember: async () => undefined, cancel: async () => undefined };
  const logFault = (error: unknown) => log({ level: 'error', event: 'throttle_failed', message: loggedLine(error) });
  const pair = `pair:${await sha256(JSON.stringify([fold(user), address]))}`;
  // an address from which the user has signed in does not need the user's object: others cannot use up its attempts there, nor delay them
  const ofUser = async (): Promise<readonly [string, number]> => {
    const isKnown = await attempts.isKnown(pair).catch((error: unknown) => {
      logFault(error);
      return false;
    });
    return isKnown ? [pair, MAX_PER_ADDRESS] : [`user:${await sha256(fold(user))}`, MAX_PER_USER];
  };
  // an address that exceeds its limit reaches no object of a user
  const places = [async () => [`address:${await sha256(address)}`, MAX_PER_ADDRESS] as const, ofUser];
  const keys: string[] = [];
  const tickets = new Map<string, string>();
  const cancel = async (): Promise<void> => {
    await Promise.all([...tickets].map(([key, ticket]) => attempts.cancel(key, ticket).catch(logFault)));
  };
  for (const place of places) {
    const [key, most] = await place();
    keys.push(key);
    try {
      const ticket = await attempts.begin(key, most);
      if (ticket !== null) {
        tickets.set(key, ticket);
        continue;
      }
    } catch (error) {
      logFault(error);
      continue;
    }
    await cancel();
    throw tooMany();
  }
  const settle = async (failed: boolean): Promise<number> => {
    const delays = keys.map((key) =>
      attempts.settle(key, failed, tickets.get(key)).catch((error: unknown) => {
        logFault(error);
        return MAX_DELAY_MS; // allows neither unlimited attempts nor a lock-out
      }),
    );
    return Math.max(...(await Promise.all(delays)));
  };
  const remember = (): Promise<void> => attempts.remember(pair).catch(logFault);
  return { counted: tickets.size === keys.length, settle, remember, cancel };
}

/** The place that issues a token; it becomes the token's label. */
export type TokenOrigin = 'get_token' | 'get_svc_user_token' | 'console';

/**
 * Issues an API token for a user who has signed in. Each user keeps at most 20 tokens of an origin: an older one is revoked.
 * @param by ids of the users who control the login
 * @param session id of the session of the login, and the id of an API token that the new one must not outlive; null if the login has no session
 * @returns null if the login or the session has ended since
 * @throws SvcError 503 `catalog_unavailable`
 */
export async function issueToken(
  { db, now }: Pick<SignInParts, 'db' | 'now'>,
  login: Login,
  by: readonly string[],
  origin: TokenOrigin,
  ttlDays: number,
  requestId: string,
  session: { readonly id: string; readonly until: string | null } | null = null,
): Promise<string | null> {
  const token = createToken();
  const id = crypto.randomUUID();
  const expires = new Date(now() + ttlDays * 86_400_000).toISOString();
  const credential = origin === 'get_token' ? 'bearer' : 'session';
  const entry = audit({ user: login.name, credential, action: 'give_token', object: id, ontology: null, digest: null, requestId });
  const revoked = await storeToken(
    db,
    login,
    { id, hash: await sha256(token), label: origin, expires, by, session: session?.id ?? null, until: session?.until ?? null },
    entry,
  );
  if (revoked === true) forgetSnapshots();
  return revoked === undefined ? null : token;
}
