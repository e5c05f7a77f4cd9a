/**
 * The session of the user, for the pages with cookie authentication: the token page and the OAuth pages.
 *
 *     const session = await requireLogin(c, returnTo);
 *     if (session instanceof Response) return session;
 */
import { getCookie, setCookie } from 'hono/cookie';
import { findSession, SECRET_CHARACTERS, type Session, signed } from '../auth/session.ts';
import { equalHashes } from '../auth/tokens.ts';
import { forbidden, SvcError } from '../errors.ts';
import type { AppContext } from './context.ts';
import { checkOrigin, ownOrigin } from './form.ts';

export type { Session } from '../auth/session.ts';

/** Returns SESSION_SECRET. @throws SvcError 503 `not_configured` if it is not set or too short */
export function sessionSecret(c: AppContext): string {
  const { config, log } = c.env.runtime;
  if (config.sessionSecret !== null && config.sessionSecret.length >= SECRET_CHARACTERS) return config.sessionSecret;
  log({ level: 'error', event: 'not_configured', variable: 'SESSION_SECRET', message: `SESSION_SECRET must have at least ${SECRET_CHARACTERS} characters` });
  throw new SvcError(503, 'not_configured', 'Logging in is not configured', { hint: 'Ask the operator to set SESSION_SECRET' });
}

/** True if the pages use https. Cookies then have the prefix `__Host-`, which protects them from sibling hosts and requires https. */
export const isSecure = (c: AppContext): boolean => ownOrigin(c).startsWith('https:');
const cookieName = (c: AppContext, what: 'session' | 'form'): string => `${isSecure(c) ? '__Host-' : ''}${c.env.runtime.config.product}_${what}`;

function putCookie(c: AppContext, what: 'session' | 'form', value: string): void {
  setCookie(c, cookieName(c, what), value, {
    path: '/',
    httpOnly: true,
    sameSite: 'Lax',
    secure: isSecure(c),
    ...(value === '' ? { maxAge: 0 } : {}),
  });
}

/** Sets the session cookie. */
export const putSession = (c: AppContext, value: string): void => putCookie(c, 'session', value);
/** Deletes the session cookie. */
export const dropSession = (c: AppContext): void => putCookie(c, 'session', '');

/** Returns the current session; null if the user is not logged in. @throws SvcError 503 `not_configured`, `catalog_unavailable` */
export async function currentSession(c: AppContext): Promise<Session | null> {
  const secret = sessionSecret(c);
  const value = getCookie(c, cookieName(c, 'session'));
  const { db, now } = c.env.runtime;
  return value === undefined ? null : findSession(secret, value, db, now());
}

/**
 * Returns the current session, or a redirect to the login page. A session that a link began is for the console only: what other pages issue would outlive the
 * token that made the link.
 * @param returnTo where the login page redirects to: a path of this service with its query
 * @throws SvcError 403 `login_required` for the session of a link; as `currentSession`
 */
export async function requireLogin(c: AppContext, returnTo: string): Promise<Session | Response> {
  const session = await currentSession(c);
  if (session !== null && session.madeWith !== null)
    throw forbidden('login_required', 'You are signed in by a link, which is for the console only', { hint: 'Log out, and log in again' });
  return session ?? toLogin(c, returnTo);
}

/** Redirects to the login page, which redirects to `returnTo` after the login. */
export const toLogin = (c: AppContext, returnTo: string): Response =>
  seeOther(c, `/${c.env.runtime.config.product}/login?${new URLSearchParams({ return_to: returnTo })}`);

/** Redirects with 303. @param path a path of this service, or the address of the login provider */
export function seeOther(c: AppContext, path: string): Response {
  c.header('cache-control', 'no-store');
  c.header('x-request-id', c.get('requestId'));
  return c.redirect(path, 303);
}

const NONCE = /^[A-Za-z0-9_-]{32}$/;

/**
 * Returns the value of the hidden field `form_token`. It is bound to the session, or without a session to a cookie, which
 * is set if necessary. @throws SvcError 503 `not_configured`
 */
export async function formToken(c: AppContext, session: Session | null): Promise<string> {
  const secret = sessionSecret(c);
  if (session !== null) return signed(secret, 'form', session.id);
  const known = getCookie(c, cookieName(c, 'form'));
  if (known !== undefined && NONCE.test(known)) return signed(secret, 'form', known);
  const nonce = Buffer.from(crypto.getRandomValues(new Uint8Array(24))).toString('base64url');
  putCookie(c, 'form', nonce);
  return signed(secret, 'form', nonce);
}

/**
 * Checks that a form was sent by the service's page in this browser. @throws SvcError 403 `cross_site`; 403 `form_expired`
 * if its token does not belong to this browser; 503 `not_configured`
 */
export async function checkForm(c: AppContext, token: string | null, session: Session | null): Promise<void> {
  checkOrigin(c);
  const secret = sessionSecret(c);
  const bound = session === null ? getCookie(c, cookieName(c, 'form')) : session.id;
  if (bound !== undefined && bound !== '' && token !== null && equalHashes(await signed(secret, 'form', bound), token)) return;
  throw forbidden('form_expired', 'The form was not opened in this browser, or has expired', { hint: 'Allow cookies, open the page again and send its form' });
}
