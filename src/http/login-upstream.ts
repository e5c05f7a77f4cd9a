/** The login page if users log in at an OpenID Connect provider (MCP_OAUTH_ISSUER): the redirect to the provider and the callback. */

import { getCookie, setCookie } from 'hono/cookie';
import { beginSession, sessionEntry } from '../auth/session.ts';
import { loggedLine } from '../errors.ts';
import { requirePlace } from '../oauth/place.ts';
import { beginLogin, finishLogin } from '../oauth/upstream.ts';
import { addressOf, admit } from './admit.ts';
import type { AppContext } from './context.ts';
import { ownOrigin, returnAddress } from './form.ts';
import { escaped, page, pageOf } from './pages.ts';
import { isSecure, putSession, seeOther, sessionSecret } from './session.ts';

const cookieName = (c: AppContext): string => `${isSecure(c) ? '__Host-' : ''}${c.env.runtime.config.product}_login`;

/** Sets the cookie of a login. A `maxAge` of 0 deletes it. */
const putLogin = (c: AppContext, value: string, maxAge: number): void =>
  setCookie(c, cookieName(c), value, { path: '/', httpOnly: true, sameSite: 'Lax', secure: isSecure(c), maxAge });

const redirectUri = (c: AppContext): string => `${requirePlace(c.env.runtime.config, c.req.raw).issuer}/${c.env.runtime.config.product}/login/callback`;

/** Redirects the browser to the provider. Without a return address it shows a link instead, so that logging out does not log in again. */
export async function toProvider(c: AppContext, returnTo: string | null): Promise<Response> {
  const { product } = c.env.runtime.config;
  if (returnTo === null) {
    const link = `/${product}/login?${new URLSearchParams({ return_to: `/${product}/login` })}`;
    return page(c, 200, pageOf(product, `Log in to ${product}`, `<h1>Log in to ${product}</h1>\n<p><a href="${escaped(link)}">Log in</a></p>`));
  }
  // each request asks the provider for its metadata while it cannot be reached
  await admit(c, `login:${addressOf(c.req.raw.headers)}`);
  const { location, cookie } = await beginLogin(c.env.runtime, sessionSecret(c), redirectUri(c), returnTo);
  putLogin(c, cookie, 600);
  return seeOther(c, location);
}

/** Handles the redirect from the provider. */
export async function fromProvider(c: AppContext): Promise<Response> {
  const { runtime } = c.env;
  const secret = sessionSecret(c);
  await admit(c, `login:${addressOf(c.req.raw.headers)}`);
  const back = redirectUri(c);
  const cookie = getCookie(c, cookieName(c));
  putLogin(c, '', 0);
  const { login, controllers, claims, returnTo } = await finishLogin(runtime, secret, back, new URL(`${back}${new URL(c.req.url).search}`), cookie);
  const { value, session } = await beginSession(secret, login, controllers, runtime.now());
  const server = await runtime.oauth?.at(requirePlace(runtime.config, c.req.raw), runtime);
  await server?.storeClaims(session, claims);
  const entry = runtime.db.batch([sessionEntry('login', session, c.get('requestId'))]);
  runtime.waitUntil(entry.catch((error: unknown) => runtime.log({ level: 'error', event: 'audit_failed', message: loggedLine(error) })));
  putSession(c, value);
  return seeOther(c, returnAddress(returnTo, ownOrigin(c)) ?? `/${runtime.config.product}/login`);
}
