/** The OAuth routes (docs/design/credentials.md#oauth-access-tokens): metadata, token and registration for clients; consent and the list of grants for users. */
import { ADMIN_ID } from '../auth/authenticate.ts';
import { passwordDigest, type Session, signed } from '../auth/session.ts';
import { equalHashes } from '../auth/tokens.ts';
import { isLoopback } from '../config.ts';
import { badRequest, forbidden, SvcError } from '../errors.ts';
import { oauthEntry } from '../oauth/audit.ts';
import { requirePlace, resourceMetadata } from '../oauth/place.ts';
import { allowsNoPage, formTarget, NO_PAGE, scopesOf } from '../oauth/request.ts';
import type { AuthorizationRequest, AuthorizationServer, ProtocolPath } from '../oauth/types.ts';
import { addressOf, admit } from './admit.ts';
import { json } from './answers.ts';
import { logAuditFault } from './audit.ts';
import { readText } from './body.ts';
import type { AppContext } from './context.ts';
import { checkOrigin, readFormText } from './form.ts';
import { onPage, readForm } from './login.ts';
import { consentPage, grantsPage, refusedPage } from './oauth-pages.ts';
import { page } from './pages.ts';
import { checkForm, currentSession, formToken, requireLogin, seeOther, sessionSecret } from './session.ts';

/** The maximum size of a registration. Anyone can register a client, and registrations are stored for months. */
const REGISTRATION_CHARACTERS = 16 * 1024;

/** `/oauth/authorize`: the consent page and its form. */
export const authorize = onPage(consent);
/** `/oauth/grants`: the list of the user's grants. */
export const grants = onPage(listGrants);

/** @throws SvcError 503 `not_configured`; 421 `misdirected_request` */
async function serverOf(c: AppContext): Promise<AuthorizationServer> {
  const { runtime } = c.env;
  const place = requirePlace(runtime.config, c.req.raw);
  if (runtime.oauth === undefined || runtime.config.sessionSecret === null) {
    throw new SvcError(503, 'not_configured', 'OAuth is not configured', { hint: 'Ask the operator to set SESSION_SECRET' });
  }
  return runtime.oauth.at(place, runtime);
}

/** The protocol's endpoints for clients. */
export async function protocol(c: AppContext, path: ProtocolPath): Promise<Response> {
  const server = await serverOf(c);
  if (path === 'register' && !c.env.runtime.config.mcp.dcrEnabled)
    return json(c, 404, { error: 'not_found', error_description: 'Client registration is disabled' });
  if (path !== 'metadata' && c.req.method === 'POST') await admit(c, `oauth:${addressOf(c.req.raw.headers)}`);
  const body = c.req.raw.body === null ? null : await (path === 'token' ? readFormText : readText)(c);
  if (path === 'register' && body !== null && body.length > REGISTRATION_CHARACTERS)
    return json(c, 400, { error: 'invalid_client_metadata', error_description: `A registration has at most ${REGISTRATION_CHARACTERS} characters` });
  const answer = await server.protocol(c.req.raw, path, body);
  const response = new Response(answer.body, answer);
  response.headers.set('x-request-id', c.get('requestId'));
  response.headers.set('x-content-type-options', 'nosniff');
  if (path === 'metadata') response.headers.set('cache-control', 'no-cache');
  return response;
}

/** The resource metadata (RFC 9728). It contains no secrets, so pages of all origins may read it. */
export function describeResource(c: AppContext): Response {
  const headers = { 'access-control-allow-origin': '*', 'cache-control': 'no-cache' };
  if (c.req.method === 'OPTIONS') return new Response(null, { status: 204, headers: { ...headers, 'access-control-allow-headers': '*' } });
  if (c.req.method !== 'GET') throw new SvcError(405, 'method_not_allowed', 'This path does not support this method', { headers: { allow: 'GET' } });
  return json(c, 200, resourceMetadata(requirePlace(c.env.runtime.config, c.req.raw)), headers);
}

/** The consent page and its form. */
async function consent(c: AppContext): Promise<Response> {
  const server = await serverOf(c);
  const { pathname, search } = new URL(c.req.url);
  if (c.req.method === 'POST') checkOrigin(c);
  // anybody can name a client whose document is fetched
  await admit(c, `oauth:${addressOf(c.req.raw.headers)}`);
  const fields = c.req.method === 'POST' ? await readForm(c) : null;
  // validate before the user logs in, so that an invalid request fails immediately
  const authorization = await server.read(search);
  if ('refused' in authorization) {
    if (authorization.location !== null) return refuse(c, authorization.refused, authorization.location);
    throw badRequest('invalid_request', authorization.refused, { hint: 'Start again from the program that sent you here' });
  }
  // consent always needs a page
  if (allowsNoPage(search)) return refuse(c, NO_PAGE, server.refuseSilent(authorization, (await currentSession(c)) !== null));
  const session = await requireLogin(c, `${pathname}${search}`);
  if (session instanceof Response) return session;
  return fields === null ? showConsent(c, authorization, session, search) : decide(c, server, authorization, session, fields, search);
}

/**
 * Reports an invalid request to the client. Anyone can register a client, so the browser is redirected only to a program on the user's computer or to an address
 * in the settings. For other addresses the user gets a link (RFC 9700, 4.11.2: the service must not be an open redirector).
 */
function refuse(c: AppContext, why: string, location: string): Response {
  const { product, mcp } = c.env.runtime.config;
  const { protocol: scheme, hostname, host, origin, pathname } = new URL(location);
  const known = mcp.issuer === null && mcp.clientId !== null && mcp.redirectUris.some((uri) => uri.startsWith(`${origin}${pathname}`));
  if (known || (scheme === 'http:' && isLoopback(hostname))) return redirectToClient(c, location);
  return page(c, 400, refusedPage({ product, why, location, host }));
}

/** Binds the form to the session and to the authorization request that it shows. */
const consentToken = (c: AppContext, session: Session, search: string): Promise<string> =>
  signed(sessionSecret(c), 'consent', `${session.id} ${session.userId} ${search}`);

async function showConsent(c: AppContext, authorization: AuthorizationRequest, session: Session, search: string): Promise<Response> {
  const { product } = c.env.runtime.config;
  const token = await consentToken(c, session, search);
  const html = consentPage({ product, user: session.userName, authorization, action: `/${product}/oauth/authorize${search}`, token });
  return page(c, 200, html, { formAction: formTarget(authorization.redirectUri) });
}

async function decide(
  c: AppContext,
  server: AuthorizationServer,
  authorization: AuthorizationRequest,
  session: Session,
  fields: URLSearchParams,
  search: string,
): Promise<Response> {
  const { runtime } = c.env;
  if (!equalHashes(await consentToken(c, session, search), fields.get('form_token') ?? '')) {
    throw forbidden('form_expired', 'The form was not opened in this browser, or has expired', { hint: 'Start again from the program that sent you here' });
  }
  if (fields.get('decision') !== 'allow') return redirectToClient(c, server.deny(authorization));
  // use the login that was checked: a login that is read again could be a newer one, which ended the rights of this session
  const password = session.userId === ADMIN_ID ? null : await passwordDigest(sessionSecret(c), session.login);
  if (password === null) throw forbidden('form_expired', 'This user may no longer use the service');
  const wanted = fields.getAll('scope');
  const scopes = scopesOf(authorization.scopes.filter((scope) => wanted.includes(scope)));
  const location = await server.approve(authorization, { session, scopes, password });
  runtime.waitUntil(
    runtime.db.batch([oauthEntry('oauth_grant', session, authorization.clientId, c.get('requestId'))]).catch((error: unknown) => logAuditFault(c, error)),
  );
  return redirectToClient(c, location);
}

/** Redirects the browser to a validated address of a client, which the consent page's CSP allows. */
function redirectToClient(c: AppContext, location: string): Response {
  return new Response(null, {
    status: 302,
    headers: { location, 'cache-control': 'no-store', 'referrer-policy': 'no-referrer', 'x-request-id': c.get('requestId') },
  });
}

/** The list of the user's grants, with a form to revoke them. */
async function listGrants(c: AppContext): Promise<Response> {
  const { runtime } = c.env;
  const { product } = runtime.config;
  const server = await serverOf(c);
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
    await runtime.db.batch([oauthEntry('oauth_revoke', session, grant, c.get('requestId'))]).catch((error: unknown) => logAuditFault(c, error));
  }
  return seeOther(c, `/${product}/oauth/grants`);
}
