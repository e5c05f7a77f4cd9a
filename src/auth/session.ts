/**
 * Sessions of the login page. A session is a cookie that is signed with SESSION_SECRET (HMAC-SHA256). It contains the user, the
 * start of the session, and a digest of the stored password, so that a new password ends the session. Each request asks the
 * catalog whether the user is active and the session was not ended.
 */
import { audit } from '../catalog/changes.ts';
import type { CatalogDb } from '../catalog/db.ts';
import { endSession, findSessionUser, type Login, lockUser } from '../catalog/logins.ts';
import { UNKNOWN_USER } from '../catalog/promotion.ts';
import { revokeConsoleTokens } from '../catalog/rights.ts';
import { forgetSnapshots } from '../catalog/snapshot.ts';
import { NO_TOKEN } from './link.ts';
import { equalHashes } from './tokens.ts';

/** The lifetime of a session: a working day. */
const SESSION_MS = 8 * 60 * 60 * 1000;
/** The minimum length of SESSION_SECRET. A shorter secret could be found from a cookie by brute force. */
export const SECRET_CHARACTERS = 32;

/** A valid session. */
export interface Session {
  readonly id: string;
  readonly userId: string;
  readonly userName: string;
  /** Ids of the users who control the login: those who set the password, or the e-mail by which a login provider identified the user. */
  readonly controllers: readonly string[];
  /** The user's row when the session was checked. A token is issued only while the row is unchanged. */
  readonly login: Login;
  /** When the user signed in, and when the session ends, in milliseconds since 1970. */
  readonly began: number;
  readonly ends: number;
  /** If a link began the session: the id of the API token that made the link, with which the session ends; an id of zeros for ADMIN_TOKEN. Null otherwise. */
  readonly madeWith: string | null;
}

interface Sealed {
  readonly id: string;
  readonly user: string;
  readonly began: number;
  readonly password: string;
  readonly controllers: readonly string[];
  readonly madeWith?: string | null;
}

type Bytes = Uint8Array<ArrayBuffer>;

/** HMAC-SHA256 of a text with SESSION_SECRET, in base64url. A signature for one `purpose` is not valid for another. */
export async function signed(secret: string, purpose: string, text: string): Promise<string> {
  const key = await crypto.subtle.importKey('raw', utf8(secret), { name: 'HMAC', hash: 'SHA-256' }, false, ['sign']);
  return Buffer.from(await crypto.subtle.sign('HMAC', key, utf8(`${purpose}\0${text}`))).toString('base64url');
}

/**
 * Begins a session of a user who has just signed in.
 * @param controllers ids of the users who control the login
 * @param madeWith as in `Session`
 * @returns the session and the value of its cookie
 */
export async function beginSession(
  secret: string,
  login: Login,
  controllers: readonly string[],
  now: number,
  madeWith: string | null = null,
): Promise<{ readonly value: string; readonly session: Session }> {
  const id = crypto.randomUUID();
  const sealed: Sealed = { id, user: login.id, began: now, password: await passwordDigest(secret, login), controllers, madeWith };
  const text = Buffer.from(JSON.stringify(sealed)).toString('base64url');
  return {
    value: `${text}.${await signed(secret, 'session', text)}`,
    session: { id, userId: login.id, userName: login.name, controllers, login, began: now, ends: now + SESSION_MS, madeWith },
  };
}

/** Finds the session of a cookie's value; null if the value is invalid or the session has ended. @throws SvcError 503 `catalog_unavailable` */
export async function findSession(secret: string, value: string, db: CatalogDb, now: number): Promise<Session | null> {
  const [text = '', signature = '', more] = value.split('.');
  if (more !== undefined || !equalHashes(await signed(secret, 'session', text), signature)) return null;
  const { id, user, began, password, controllers = [UNKNOWN_USER], madeWith = null } = JSON.parse(Buffer.from(text, 'base64url').toString('utf8')) as Sealed;
  if (now >= began + SESSION_MS) return null;
  const login = await findSessionUser(db, user, id, tokenOf({ madeWith }));
  if (login?.active !== true || !equalHashes(await passwordDigest(secret, login), password)) return null;
  return { id, userId: login.id, userName: login.name, controllers, login, began, ends: began + SESSION_MS, madeWith };
}

/** The id of the API token that ends a session when it ends; null if no stored token does. */
export const tokenOf = ({ madeWith }: Pick<Session, 'madeWith'>): string | null => (madeWith === NO_TOKEN ? null : madeWith);

/** Ends a session on all isolates, and revokes the user's tokens of the console: other browsers get new ones while they are logged in. @throws SvcError 503 `catalog_unavailable` */
export async function logOut(db: CatalogDb, session: Session, requestId: string): Promise<void> {
  await db.batch([
    lockUser(session.userId),
    endSession(session.id, new Date(session.ends).toISOString()),
    ...revokeConsoleTokens(session.userId),
    sessionEntry('logout', session, requestId),
  ]);
  forgetSnapshots();
}

/** The audit entry of a login or logout. */
export const sessionEntry = (action: 'login' | 'logout', session: Session, requestId: string) =>
  audit({ user: session.userName, credential: 'password', action, object: session.id, ontology: null, digest: null, requestId });

/** Digest of a user's stored password and login generation. A new password or e-mail changes it. The stored hash has a random salt, so setting the same password again changes it, too. */
export const passwordDigest = (secret: string, { id, password, generation }: Login): Promise<string> =>
  signed(secret, 'password', `${id} ${password ?? ''}${generation === '0' ? '' : ` ${generation}`}`);

const utf8 = (text: string): Bytes => new TextEncoder().encode(text);
