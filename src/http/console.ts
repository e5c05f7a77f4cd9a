/**
 * The console: its static files, and the API token that a logged-in browser gets for it (docs/console.md). The console uses the public API with that token; it
 * has no other rights.
 */
import { zValidator } from '@hono/zod-validator';
import type { MiddlewareHandler } from 'hono';
import { z } from 'zod';
import { authenticate } from '../auth/authenticate.ts';
import { enterByLink, LINK_CODE, LINK_MS, makeLink } from '../auth/link.ts';
import { beginSession, sessionEntry, tokenOf } from '../auth/session.ts';
import { issueToken } from '../auth/sign-in.ts';
import { forbidden, notFound, unauthorized } from '../errors.ts';
import { addressOf, admit } from './admit.ts';
import { json } from './answers.ts';
import { requireJson } from './body.ts';
import type { AppContext, AppEnv } from './context.ts';
import { unknownPath } from './docs-files.ts';
import { checkOrigin, checkPlace, readFormText } from './form.ts';
import { isLocal } from './guards.ts';
import { jsonOf, malformedBody } from './input.ts';
import { onPage } from './login.ts';
import { pageFailure } from './pages.ts';
import { checkForm, currentSession, formToken, putSession, seeOther, sessionSecret } from './session.ts';

/** The lifetime of a token of the console, in milliseconds. The console renews it while it is used. */
const CONSOLE_TOKEN_MS = 15 * 60_000;

/** Only the console's own files may run, and it may send requests only to this service. `blob:` and `data:` are images that it draws itself. */
const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "connect-src 'self'",
  "img-src 'self' data: blob:",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

/** `/` leads to the console. */
export const toConsole = (c: AppContext): Response => seeOther(c, `/${c.env.runtime.config.product}/console/`);

const linkUsed = () => forbidden('link_used', 'This link was used before, or has expired', { hint: 'npm start prints a new one each time' });

/** Answers 404 to a name that no file of the build has. */
export const checkFile: MiddlewareHandler<AppEnv> = zValidator('param', z.object({ file: z.string().regex(/^[A-Za-z0-9_-]+\.(?:js|css)$/) }), (result) => {
  if (!result.success) throw unknownPath();
});

/** Answers with a page to a link whose code has another form. */
export const checkCode: MiddlewareHandler<AppEnv> = zValidator('query', z.object({ code: z.string().regex(LINK_CODE) }), (result, c) =>
  result.success ? undefined : pageFailure(c as AppContext, linkUsed()),
);

/** The page. Its links are relative, so the path must end with a slash. */
export const index = onPage(showIndex);
/** `/console/enter`: logs the browser in by a link. @throws SvcError 403 `link_used` */
export const enter = onPage(enterOnce);

function showIndex(c: AppContext): Promise<Response> | Response {
  const { pathname } = new URL(c.req.url);
  if (!pathname.endsWith('/')) return seeOther(c, `${pathname}/`);
  return file(c, 'index.html', 'no-cache');
}

// the names of these files have a digest of their content
export const asset = (c: AppContext): Promise<Response> => file(c, `assets/${c.req.param('file') ?? ''}`, 'public, max-age=31536000, immutable');

const TYPES: Readonly<Record<string, string>> = { html: 'text/html; charset=utf-8', js: 'text/javascript; charset=utf-8', css: 'text/css; charset=utf-8' };

/** Sends a file of the build. @throws SvcError 404 `unknown_path`, `console_not_built` */
async function file(c: AppContext, name: string, caching: string): Promise<Response> {
  const { assets } = c.env;
  if (assets === undefined) throw notFound('console_not_built', 'The console is not part of this installation', { hint: 'Run npm run build:console' });
  const type = TYPES[name.slice(name.lastIndexOf('.') + 1)];
  if (type === undefined) throw unknownPath();
  const found = await assets.fetch(new Request(`https://assets.invalid/${name}`));
  if (found.status !== 200) throw unknownPath();
  const headers = new Headers({
    'content-type': type,
    'cache-control': caching,
    'content-security-policy': POLICY,
    'referrer-policy': 'no-referrer',
    'x-content-type-options': 'nosniff',
    'x-frame-options': 'DENY',
    'x-request-id': c.get('requestId'),
  });
  const etag = found.headers.get('etag');
  if (etag !== null) headers.set('etag', etag);
  if (etag !== null && c.req.header('if-none-match') === etag) return new Response(null, { status: 304, headers });
  return new Response(found.body, { headers });
}

/** Refuses requests of pages of other sites, and of other hosts of the same site. @throws SvcError 403 `cross_site` */
function checkOwnPage(c: AppContext): void {
  checkPlace(c);
  checkOrigin(c);
  if (!['same-origin', 'none', undefined].includes(c.req.header('sec-fetch-site')))
    throw forbidden('cross_site', 'The request comes from a page of another site', { hint: 'Open the console in your browser' });
}

/**
 * Who is logged in in this browser: `{"user", "form_token", "login"}`. `user` and `form_token` are null without a session; `login` is the path of the login
 * page, null if logging in is not configured.
 */
export async function session(c: AppContext): Promise<Response> {
  checkOwnPage(c);
  const { config } = c.env.runtime;
  const headers = { 'cache-control': 'no-store' };
  if (config.sessionSecret === null) return json(c, 200, { user: null, form_token: null, login: null }, headers);
  const current = await currentSession(c);
  const login = `/${config.product}/login?${new URLSearchParams({ return_to: `/${config.product}/console/` })}`;
  if (current === null) return json(c, 200, { user: null, form_token: null, login }, headers);
  return json(c, 200, { user: current.userName, form_token: await formToken(c, current), login }, headers);
}

/** Issues an API token of 15 minutes to the logged-in user: `{"token", "user", "lifetime"}`, the lifetime in seconds. @throws SvcError 401 `not_logged_in`; 403 */
export async function token(c: AppContext): Promise<Response> {
  const { runtime } = c.env;
  checkOwnPage(c);
  requireJson(c.req.raw);
  const form = '{"form_token": "<form_token of GET console/session>"}';
  const body = jsonOf(await readFormText(c));
  const formText = typeof body === 'object' && body !== null && 'form_token' in body ? body.form_token : undefined;
  if (typeof formText !== 'string') throw malformedBody(form, 'form_token');
  const current = await currentSession(c);
  const missing = () => unauthorized('not_logged_in', 'Nobody is logged in in this browser', { hint: 'Log in, or enter an API token' });
  if (current === null) throw missing();
  await checkForm(c, formText, current);
  await admit(c, `user:${current.userId}`);
  const issued = await issueToken(runtime, current.login, current.controllers, 'console', CONSOLE_TOKEN_MS / 86_400_000, c.get('requestId'), {
    id: current.id,
    until: tokenOf(current),
  });
  if (issued === null) throw missing();
  return json(c, 200, { token: issued, user: current.userName, lifetime: CONSOLE_TOKEN_MS / 1000 }, { 'cache-control': 'no-store' });
}

/** On a developer's machine: a link that logs its caller in once, `{"link", "lifetime"}`. @throws SvcError 404 elsewhere */
export async function link(c: AppContext): Promise<Response> {
  const { runtime } = c.env;
  if (!isLocal(runtime.config)) throw unknownPath();
  sessionSecret(c);
  const caller = await authenticate(c.req.raw.headers, runtime.config, runtime);
  // the session would not have the tenant and the claims of a JWT
  if (caller.principal.credential === 'jwt')
    throw forbidden('token_required', 'Links are made with API tokens', { hint: 'Send a user API token in the header x-api-key' });
  const code = await makeLink(runtime, caller);
  return json(c, 200, { link: `/${runtime.config.product}/console/enter?code=${code}`, lifetime: LINK_MS / 1000 }, { 'cache-control': 'no-store' });
}

async function enterOnce(c: AppContext): Promise<Response> {
  const { runtime } = c.env;
  if (!isLocal(runtime.config)) throw unknownPath();
  checkOwnPage(c);
  // no page of the service leads here, but the return address of a login could: the browser would get the session of the user who made the link
  if (c.req.header('sec-fetch-site') === 'same-origin') throw linkUsed();
  await admit(c, `login:${addressOf(c.req.raw.headers)}`);
  const entered = await enterByLink(runtime, c.req.query('code') ?? '');
  if (entered === null) throw linkUsed();
  const { value, session: begun } = await beginSession(sessionSecret(c), entered.login, entered.controllers, runtime.now(), entered.madeWith);
  await runtime.db.batch([sessionEntry('login', begun, c.get('requestId'))]);
  putSession(c, value);
  return seeOther(c, `/${runtime.config.product}/console/`);
}
