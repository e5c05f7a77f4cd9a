/** The login page, logging in and out, and the page that issues an API token to a logged-in user. */
import type { UserPassword } from '../auth/bearer.ts';
import { beginSession, logOut, type Session, sessionEntry } from '../auth/session.ts';
import { issueToken, signIn } from '../auth/sign-in.ts';
import { forbidden, notFound, SvcError } from '../errors.ts';
import { addressOf, admit } from './admit.ts';
import { json } from './answers.ts';
import { logAuditFault } from './audit.ts';
import type { AppContext } from './context.ts';
import { checkOrigin, checkPlace, ownOrigin, readFormText, returnAddress } from './form.ts';
import { loggedInPage, loginPage } from './login-page.ts';
import { fromProvider, toProvider } from './login-upstream.ts';
import { page, pageFailure } from './pages.ts';
import { checkForm, currentSession, dropSession, formToken, putSession, requireLogin, seeOther, sessionSecret, toLogin } from './session.ts';

type Handler = (c: AppContext) => Promise<Response> | Response;

/** Wraps a page with cookie authentication: checks the host and answers errors with pages. */
export function onPage(handler: Handler): Handler {
  return async (c) => {
    try {
      checkPlace(c);
      return await handler(c);
    } catch (error) {
      return pageFailure(c, error);
    }
  };
}

/** `/login`: the page and its form. */
export const login: Handler = onPage(showLogin);
/** `/login/callback`: the redirect from the provider. */
export const callback: Handler = onPage(returned);
/** `/logout`. */
export const logout: Handler = onPage(endSession);
/** `/get_<product>_user_token`. */
export const userToken: Handler = onPage(issue);

const FORM_TYPE = /^application\/x-www-form-urlencoded\s*(?:;|$)/i;

/** Reads the fields of a form. @throws SvcError 415; 413 `body_too_large`; 400 `malformed_body` */
export async function readForm(c: AppContext): Promise<URLSearchParams> {
  if (!FORM_TYPE.test(c.req.header('content-type') ?? '')) throw new SvcError(415, 'unsupported_media_type', 'This path accepts only the form of its page');
  return new URLSearchParams(await readFormText(c));
}

const productOf = (c: AppContext): string => c.env.runtime.config.product;

async function showLogin(c: AppContext): Promise<Response> {
  if (c.req.method === 'POST') return sendLogin(c);
  const returnTo = returnAddress(c.req.query('return_to'), ownOrigin(c));
  const session = await currentSession(c);
  if (session !== null)
    return returnTo === null ? page(c, 200, loggedInPage(productOf(c), session.userName, await formToken(c, session))) : seeOther(c, returnTo);
  return usesProvider(c) ? toProvider(c, returnTo) : form(c, 200, { returnTo, user: '', message: null });
}

const form = async (c: AppContext, status: number, shown: { readonly returnTo: string | null; readonly user: string; readonly message: string | null }) =>
  page(c, status, loginPage({ product: productOf(c), formToken: await formToken(c, null), ...shown }));

/** True if users log in at a provider and this service accepts no passwords. */
const usesProvider = (c: AppContext): boolean => c.env.runtime.config.mcp.issuer !== null;

function returned(c: AppContext): Promise<Response> {
  if (!usesProvider(c)) throw notFound('unknown_path', 'This path does not exist');
  return fromProvider(c);
}

async function sendLogin(c: AppContext): Promise<Response> {
  const { runtime } = c.env;
  if (usesProvider(c)) throw forbidden('login_elsewhere', 'Passwords are not accepted here', { hint: 'Open the login page' });
  const secret = sessionSecret(c);
  checkOrigin(c);
  const fields = await readForm(c);
  const given: UserPassword = { user: fields.get('user') ?? '', password: fields.get('password') ?? '' };
  const returnTo = returnAddress(fields.get('return_to'), ownOrigin(c));
  try {
    await checkForm(c, fields.get('form_token'), null);
  } catch (error) {
    if (!(error instanceof SvcError && error.code === 'form_expired')) throw error;
    return form(c, 403, { returnTo, user: given.user, message: 'The form has expired, or your browser does not accept cookies. Try again.' });
  }
  const address = addressOf(c.req.raw.headers);
  await admit(c, `login:${address}`);
  const user = await signIn(runtime, given, address);
  if (user === null) return form(c, 401, { returnTo, user: given.user, message: 'User name or password is wrong.' });
  const { value, session } = await beginSession(secret, user, user.passwordBy, runtime.now());
  runtime.waitUntil(runtime.db.batch([sessionEntry('login', session, c.get('requestId'))]).catch((error: unknown) => logAuditFault(c, error)));
  putSession(c, value);
  return seeOther(c, returnTo ?? `/${productOf(c)}/login`);
}

async function endSession(c: AppContext): Promise<Response> {
  checkOrigin(c);
  const fields = await readForm(c);
  const session = await currentSession(c);
  if (session !== null) {
    await checkForm(c, fields.get('form_token'), session);
    await logOut(c.env.runtime.db, session, c.get('requestId'));
  }
  dropSession(c);
  return seeOther(c, `/${productOf(c)}/login`);
}

/** Issues a new token to the logged-in user: `{"token": "tk_..."}`. */
async function issue(c: AppContext): Promise<Response> {
  const { runtime } = c.env;
  checkTokenRequest(c);
  const { pathname, search } = new URL(c.req.url);
  const session: Session | Response = await requireLogin(c, `${pathname}${search}`);
  if (session instanceof Response) return session;
  const token = await issueToken(runtime, session.login, session.controllers, 'get_svc_user_token', runtime.config.apiTokenTtlDays, c.get('requestId'), {
    id: session.id,
    until: null,
  });
  // the login has ended since the session was checked
  if (token === null) return toLogin(c, `${pathname}${search}`);
  return json(c, 200, { token }, { 'cache-control': 'no-store' });
}

/** Refuses requests from pages of other sites and prefetches, because this GET creates a token. @throws SvcError 403, 405 */
function checkTokenRequest(c: AppContext): void {
  const hint = 'Open the address directly in your browser';
  // pages of other hosts of the same site also send the cookie
  if (!['same-origin', 'none', undefined].includes(c.req.header('sec-fetch-site')))
    throw forbidden('cross_site', 'The request comes from a page of another site', { hint });
  if (/\bprefetch\b/.test(c.req.header('sec-purpose') ?? '')) throw forbidden('prefetch', 'Tokens are not issued for a prefetch', { hint });
  if (c.req.raw.method === 'HEAD') throw new SvcError(405, 'method_not_allowed', 'This path does not support this method', { headers: { allow: 'GET' } });
}
