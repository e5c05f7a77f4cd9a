/** OAuth's routes (docs/design/credentials.md#oauth-access-tokens): metadata, token and registration for clients; consent and the list of grants for users. */
import type { Hono } from 'hono';
import { ADMIN_ID } from '../auth/authenticate.ts';
import { passwordDigest, type Session, signed } from '../auth/session.ts';
import { equalHashes } from '../auth/tokens.ts';
import { isLoopback } from '../config.ts';
import { badRequest, forbidden, loggedLine, SvcError } from '../errors.ts';
import { oauthEntry } from '../oauth/audit.ts';
import { requirePlace, resourceMetadata } from '../oauth/place.ts';
import { formTarget, scopesOf } from '../oauth/request.ts';
import type { Asked, AuthorizationServer, ProtocolPath } from '../oauth/types.ts';
import { addressOf, admit } from './admit.ts';
import { json } from './answers.ts';
import { readFormText, readText } from './body.ts';
import type { AppContext, AppEnv } from './context.ts';
import { checkOrigin } from './form.ts';
import { type AddRoute, onPage, readForm } from './login.ts';
import { consentPage, grantsPage, refusedPage } from './oauth-pages.ts';
import { page } from './pages.ts';
import { checkForm, currentSession, formToken, requireLogin, seeOther, sessionSecret } from './session.ts';

/** Anybody may register a client, and the registration is kept for months. */
const REGISTRATION_CHARACTERS = 16 * 1024;

/** Adds the routes. The documents of RFC 8414 and 9728 stand at the root, and also with the path of the MCP server appended. */
export function oauthRoutes(app: Hono<AppEnv>, route: AddRoute, product: string): void {
  const mcp = `/${product}/api/mcp`;
  for (const path of ['', mcp]) {
    app.all(`/.well-known/oauth-authorization-server${path}`, (c) => protocol(c, 'metadata'));
    app.all(`/.well-known/oauth-protected-resource${path}`, describeResource);
  }
  app.all(`/${product}/oauth/token`, (c) => protocol(c, 'token'));
  app.all(`/${product}/oauth/register`, (c) => protocol(c, 'register'));
  route(['GET', 'POST'], '/oauth/authorize', onPage(authorize));
  route(['GET', 'POST'], '/oauth/grants', onPage(grants));
}

/** @throws SvcError 503 `not_configured`; 421 `misdirected_request` */
function serverOf(c: AppContext): AuthorizationServer {
  const { runtime } = c.env;
  const place = requirePlace(runtime.config, c.req.raw);
  if (runtime.oauth === undefined || runtime.config.sessionSecret === null) {
    throw new SvcError(503, 'not_configured', 'OAuth is not configured', { hint: 'The operator of the service has to set SESSION_SECRET' });
  }
  return runtime.oauth.at(place, runtime);
}

async function protocol(c: AppContext, path: ProtocolPath): Promise<Response> {
  const server = serverOf(c);
  if (path === 'register' && !c.env.runtime.config.mcp.dcrEnabled)
    return json(c, 404, { error: 'not_found', error_description: 'Clients do not register here' });
  if (path !== 'metadata' && c.req.method === 'POST') await admit(c, `oauth:${addressOf(c.req.raw.headers)}`);
  const body = c.req.raw.body === null ? null : await (path === 'token' ? readFormText : readText)(c.req.raw);
  if (path === 'register' && body !== null && body.length > REGISTRATION_CHARACTERS)
    return json(c, 400, { error: 'invalid_client_metadata', error_description: `A registration has at most ${REGISTRATION_CHARACTERS} characters` });
  const answer = await server.protocol(c.req.raw, path, body);
  const response = new Response(answer.body, answer);
  response.headers.set('x-request-id', c.get('requestId'));
  response.headers.set('x-content-type-options', 'nosniff');
  if (path === 'metadata') response.headers.set('cache-control', 'no-cache');
  return response;
}

/** RFC 9728. It tells nobody a secret, so every page may read it. */
function describeResource(c: AppContext): Response {
  const headers = { 'access-control-allow-origin': '*', 'cache-control': 'no-cache' };
  if (c.req.method === 'OPTIONS') return new Response(null, { status: 204, headers: { ...headers, 'access-control-allow-headers': '*' } });
  if (c.req.method !== 'GET') throw new SvcError(405, 'method_not_allowed', 'This path does not take that method', { headers: { allow: 'GET' } });
  return json(c, 200, resourceMetadata(requirePlace(c.env.runtime.config, c.req.raw)), headers);
}

/** The page that asks the user, and its form. */
async function authorize(c: AppContext): Promise<Response> {
  const server = serverOf(c);
  const { pathname, search } = new URL(c.req.url);
  if (c.req.method === 'POST') checkOrigin(c);
  const fields = c.req.method === 'POST' ? await readForm(c) : null;
  // judged before anybody logs in: who asks wrongly is told so at once
  const asked = await server.read(search);
  if ('refused' in asked) {
    if (asked.location !== null) return refuse(c, asked.refused, asked.location);
    throw badRequest('invalid_request', asked.refused, { hint: 'Start again in the program that sent you here' });
  }
  const session = await requireLogin(c, `${pathname}${search}`);
  if (session instanceof Response) return session;
  return fields === null ? ask(c, asked, session, search) : decide(c, server, asked, session, fields, search);
}

/**
 * Tells a client what is wrong with its request. Anybody may register a client, so the browser goes by itself only to a program on its own computer or to an
 * address of the settings; to others the user goes by a link (RFC 9700, 4.11.2: the service is no open redirector).
 */
function refuse(c: AppContext, why: string, location: string): Response {
  const { product, mcp } = c.env.runtime.config;
  const { protocol: scheme, hostname, host, origin, pathname } = new URL(location);
  const known = mcp.issuer === null && mcp.clientId !== null && mcp.redirectUris.some((uri) => uri.startsWith(`${origin}${pathname}`));
  if (known || (scheme === 'http:' && isLoopback(hostname))) return leave(c, location);
  return page(c, 400, refusedPage({ product, why, location, host }));
}

/** Ties a form to its session and to the request that it shows. */
const consentToken = (c: AppContext, session: Session, search: string): Promise<string> =>
  signed(sessionSecret(c), 'consent', `${session.id} ${session.userId} ${search}`);

async function ask(c: AppContext, asked: Asked, session: Session, search: string): Promise<Response> {
  const { product } = c.env.runtime.config;
  const token = await consentToken(c, session, search);
  const html = consentPage({ product, user: session.userName, asked, action: `/${product}/oauth/authorize${search}`, token });
  return page(c, 200, html, { formAction: formTarget(asked.redirectUri) });
}

async function decide(c: AppContext, server: AuthorizationServer, asked: Asked, session: Session, fields: URLSearchParams, search: string): Promise<Response> {
  const { runtime } = c.env;
  if (!equalHashes(await consentToken(c, session, search), fields.get('form_token') ?? '')) {
    throw forbidden('form_expired', 'The form is not one of this browser, or is too old', { hint: 'Start again in the program that sent you here' });
  }
  if (fields.get('decision') !== 'allow') return leave(c, server.deny(asked));
  // of the login that was judged: read again, it could be a new one, with which all that the old one gave has ended
  const password = session.userId === ADMIN_ID ? null : await passwordDigest(sessionSecret(c), session.login);
  if (password === null) throw forbidden('form_expired', 'This user may no longer use the service');
  const wanted = fields.getAll('scope');
  const scopes = scopesOf(asked.scopes.filter((scope) => wanted.includes(scope)));
  const location = await server.approve(asked, { session, scopes, password });
  runtime.waitUntil(runtime.db.batch([oauthEntry('oauth_grant', session, asked.clientId, c.get('requestId'))]).catch((error: unknown) => logged(c, error)));
  return leave(c, location);
}

const logged = (c: AppContext, error: unknown): void =>
  c.env.runtime.log({ level: 'error', event: 'audit_failed', request_id: c.get('requestId'), message: loggedLine(error) });

/** Sends the browser to a client's address that was judged; the policy of the page that it leaves lets it go there. */
function leave(c: AppContext, location: string): Response {
  return new Response(null, {
    status: 302,
    headers: { location, 'cache-control': 'no-store', 'referrer-policy': 'no-referrer', 'x-request-id': c.get('requestId') },
  });
}

/** What the user has granted, with a way to take it back. */
async function grants(c: AppContext): Promise<Response> {
  const { runtime } = c.env;
  const { product } = runtime.config;
  const server = serverOf(c);
  if (c.req.method === 'GET') {
    const session = await requireLogin(c, `/${product}/oauth/grants`);
    if (session instanceof Response) return session;
    const [given, token] = await Promise.all([server.grants(session.userId), formToken(c, session)]);
    return page(c, 200, grantsPage({ product, user: session.userName, grants: given, token }));
  }
  checkOrigin(c);
  const fields = await readForm(c);
  const session = await currentSession(c);
  await checkForm(c, fields.get('form_token'), session);
  const grant = fields.get('grant') ?? '';
  if (session !== null && (await server.revoke(session.userId, grant))) {
    await runtime.db.batch([oauthEntry('oauth_revoke', session, grant, c.get('requestId'))]).catch((error: unknown) => logged(c, error));
  }
  return seeOther(c, `/${product}/oauth/grants`);
}
