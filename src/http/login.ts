/** The login page and what it is for: logging in and out, and the page that gives a logged-in user an API token. */
import type { UserPassword } from '../auth/bearer.ts';
import { beginSession, logOut, type Session, sessionEntry } from '../auth/session.ts';
import { giveToken, signIn } from '../auth/sign-in.ts';
import { forbidden, loggedLine, notFound, SvcError } from '../errors.ts';
import { addressOf, admit } from './admit.ts';
import { json } from './answers.ts';
import { readFormText } from './body.ts';
import type { AppContext } from './context.ts';
import { checkOrigin, checkPlace, ownOrigin, returnAddress } from './form.ts';
import { loggedInPage, loginPage } from './login-page.ts';
import { fromProvider, toProvider } from './login-upstream.ts';
import { page, pageFailure, pageStyle } from './pages.ts';
import { checkForm, currentSession, dropSession, formToken, putSession, requireLogin, seeOther, sessionSecret, toLogin } from './session.ts';

type Handler = (c: AppContext) => Promise<Response> | Response;
/** Adds a route below the product's name; other methods of its path are 405. */
export type AddRoute = (methods: readonly string[], path: string, handler: Handler) => void;

/** The routes of this file: `/login`, `/login/callback`, `/logout` and `/get_<product>_user_token`. */
export function loginRoutes(route: AddRoute, product: string): void {
  route(['GET'], '/login/style.css', pageStyle);
  route(['GET', 'POST'], '/login', onPage(login));
  route(['GET'], '/login/callback', onPage(callback));
  route(['POST'], '/logout', onPage(logout));
  route(['GET'], `/get_${product}_user_token`, onPage(userToken));
}

/** A page that knows its user by a cookie: on its own host alone, its refusals as pages. */
export const onPage =
  (handler: Handler): Handler =>
  async (c) => {
    try {
      checkPlace(c);
      return await handler(c);
    } catch (error) {
      return pageFailure(c, error);
    }
  };

const FORM_TYPE = /^application\/x-www-form-urlencoded\s*(?:;|$)/i;

/** The fields of a form. @throws SvcError 415; 413 `body_too_large`; 400 `malformed_body` */
export async function readForm(c: AppContext): Promise<URLSearchParams> {
  if (!FORM_TYPE.test(c.req.header('content-type') ?? '')) throw new SvcError(415, 'unsupported_media_type', 'This path takes the form of its page');
  return new URLSearchParams(await readFormText(c.req.raw));
}

const productOf = (c: AppContext): string => c.env.runtime.config.product;

async function login(c: AppContext): Promise<Response> {
  if (c.req.method === 'POST') return sendLogin(c);
  const returnTo = returnAddress(c.req.query('return_to'), ownOrigin(c));
  const session = await currentSession(c);
  if (session !== null)
    return returnTo === null ? page(c, 200, loggedInPage(productOf(c), session.userName, await formToken(c, session))) : seeOther(c, returnTo);
  return atProvider(c) ? toProvider(c, returnTo) : form(c, 200, { returnTo, user: '', message: null });
}

const form = async (c: AppContext, status: number, shown: { readonly returnTo: string | null; readonly user: string; readonly message: string | null }) =>
  page(c, status, loginPage({ product: productOf(c), formToken: await formToken(c, null), ...shown }));

/** Whether users log in elsewhere, and no password is taken here. */
const atProvider = (c: AppContext): boolean => c.env.runtime.config.mcp.issuer !== null;

function callback(c: AppContext): Promise<Response> {
  if (!atProvider(c)) throw notFound('unknown_path', 'There is nothing under this path');
  return fromProvider(c);
}

async function sendLogin(c: AppContext): Promise<Response> {
  const { runtime } = c.env;
  if (atProvider(c)) throw forbidden('login_elsewhere', 'No password is taken here', { hint: 'Open the login page' });
  const secret = sessionSecret(c);
  checkOrigin(c);
  const fields = await readForm(c);
  const given: UserPassword = { user: fields.get('user') ?? '', password: fields.get('password') ?? '' };
  const returnTo = returnAddress(fields.get('return_to'), ownOrigin(c));
  try {
    await checkForm(c, fields.get('form_token'), null);
  } catch (error) {
    if (!(error instanceof SvcError && error.code === 'form_expired')) throw error;
    return form(c, 403, { returnTo, user: given.user, message: 'The form was too old, or your browser keeps no cookies. Try again.' });
  }
  const address = addressOf(c.req.raw.headers);
  await admit(c, `login:${address}`);
  const user = await signIn(runtime, given, address);
  if (user === null) return form(c, 401, { returnTo, user: given.user, message: 'User name or password is wrong.' });
  const { value, session } = await beginSession(secret, user, user.passwordBy, runtime.now());
  runtime.waitUntil(runtime.db.batch([sessionEntry('login', session, c.get('requestId'))]).catch((error: unknown) => logged(c, error)));
  putSession(c, value);
  return seeOther(c, returnTo ?? `/${productOf(c)}/login`);
}

const logged = (c: AppContext, error: unknown): void =>
  c.env.runtime.log({ level: 'error', event: 'audit_failed', request_id: c.get('requestId'), message: loggedLine(error) });

async function logout(c: AppContext): Promise<Response> {
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

/** `{"token": "tk_..."}`, fresh, for who is logged in. */
async function userToken(c: AppContext): Promise<Response> {
  const { runtime } = c.env;
  checkTokenRequest(c);
  const { pathname, search } = new URL(c.req.url);
  const session: Session | Response = await requireLogin(c, `${pathname}${search}`);
  if (session instanceof Response) return session;
  const token = await giveToken(runtime, session.login, session.controllers, 'get_svc_user_token', runtime.config.apiTokenTtlDays, c.get('requestId'));
  // the login has ended since the session was judged
  if (token === null) return toLogin(c, `${pathname}${search}`);
  return json(c, 200, { token }, { 'cache-control': 'no-store' });
}

/** A GET that makes something: not by another site's page, not by a browser that guesses what comes next. @throws SvcError 403, 405 */
function checkTokenRequest(c: AppContext): void {
  const hint = 'Open the address itself in your browser';
  // a page of another host of the same site sends the cookie too
  if (!['same-origin', 'none', undefined].includes(c.req.header('sec-fetch-site')))
    throw forbidden('cross_site', 'A page of another site asks for this', { hint });
  if (/\bprefetch\b/.test(c.req.header('sec-purpose') ?? '')) throw forbidden('prefetch', 'Tokens are not made ahead', { hint });
  if (c.req.raw.method === 'HEAD') throw new SvcError(405, 'method_not_allowed', 'This path does not take that method', { headers: { allow: 'GET' } });
}
