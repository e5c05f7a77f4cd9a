/**
 * Logging in at an OpenID Connect provider (MCP_OAUTH_ISSUER): authorization code with state, nonce, PKCE and the check
 * of `iss` (RFC 9207), by `oauth4webapi`; the user is mapped like that of a JWT. What a login needs when the browser comes
 * back is in a cookie of that browser, signed.
 */
import * as oauth from 'oauth4webapi';
import { ADMIN_ID } from '../auth/authenticate.ts';
import { claimTexts, jwtFault, namesOfClaims } from '../auth/jwt.ts';
import { signed } from '../auth/session.ts';
import { tenantKey } from '../auth/tenants.ts';
import { equalHashes } from '../auth/tokens.ts';
import { findSessionUser, type Login } from '../catalog/logins.ts';
import { fold, loadSnapshot } from '../catalog/snapshot.ts';
import { isSafeAddress } from '../connection.ts';
import { forbidden, loggedLine, SvcError, unauthorized } from '../errors.ts';
import type { Claims as ClaimTexts, OAuthParts } from './types.ts';

/** How long a user may take at the provider. */
const LOGIN_MS = 10 * 60_000;
/** How long what the provider says of itself is not asked again. */
const METADATA_MS = 10 * 60_000;
/** As JSON; of a JWT no more is taken either. */
const MOST_CLAIMS = 16 * 1024;
const NO_SESSION = '00000000-0000-4000-8000-000000000000';

type Server = oauth.AuthorizationServer;

const metadata = new Map<string, { readonly server: Server; readonly at: number }>();

interface Begun {
  readonly state: string;
  readonly nonce: string;
  readonly verifier: string;
  readonly returnTo: string;
  readonly at: number;
}

/** Our side of it: the credentials there, and whether http will do. */
interface Ours {
  readonly issuer: URL;
  readonly client: oauth.Client;
  readonly authentication: oauth.ClientAuth;
  readonly options: { readonly [oauth.allowInsecureRequests]: boolean; readonly signal: AbortSignal };
}

const PATIENCE_MS = 10_000;

/** @throws SvcError 503 `not_configured` */
function ours({ config, log }: Pick<OAuthParts, 'config' | 'log'>): Ours {
  const { issuer, clientId, clientSecret } = config.mcp;
  if (issuer === null || clientId === null || !isSafeAddress(issuer)) {
    const variable = clientId === null ? 'MCP_OAUTH_CLIENT_ID' : 'MCP_OAUTH_ISSUER';
    log({ level: 'error', event: 'not_configured', variable, message: `${variable} is missing, or no https address (http on loopback only)` });
    throw new SvcError(503, 'not_configured', 'Logging in is not configured', { hint: 'The operator of the service has to look at the log' });
  }
  const url = new URL(issuer);
  return {
    issuer: url,
    client: { client_id: clientId },
    authentication: clientSecret === null ? oauth.None() : oauth.ClientSecretBasic(clientSecret),
    options: { [oauth.allowInsecureRequests]: url.protocol === 'http:', signal: AbortSignal.timeout(PATIENCE_MS) },
  };
}

/** What the provider says of itself. @throws SvcError 503 `login_unavailable` */
async function serverOf({ issuer, options }: Ours, parts: Pick<OAuthParts, 'now' | 'log'>): Promise<Server> {
  const found = metadata.get(issuer.href);
  if (found !== undefined && parts.now() - found.at < METADATA_MS) return found.server;
  try {
    const server = await oauth.processDiscoveryResponse(issuer, await oauth.discoveryRequest(issuer, options));
    metadata.set(issuer.href, { server, at: parts.now() });
    return server;
  } catch (error) {
    parts.log({ level: 'error', event: 'login_unavailable', variable: 'MCP_OAUTH_ISSUER', message: loggedLine(error) });
    throw new SvcError(503, 'login_unavailable', 'The login provider cannot be reached', { hint: 'Try again later', cause: error });
  }
}

/**
 * Begins a login. @returns where the browser goes, and the value of a cookie for `finishLogin`
 * @param redirectUri our address to come back to
 * @throws SvcError 503
 */
export async function beginLogin(parts: OAuthParts, secret: string, redirectUri: string, returnTo: string): Promise<{ location: string; cookie: string }> {
  const mine = ours(parts);
  const server = await serverOf(mine, parts);
  const begun: Begun = {
    state: oauth.generateRandomState(),
    nonce: oauth.generateRandomNonce(),
    verifier: oauth.generateRandomCodeVerifier(),
    returnTo,
    at: parts.now(),
  };
  const location = new URL(server.authorization_endpoint ?? '');
  for (const [name, value] of Object.entries({
    client_id: mine.client.client_id,
    response_type: 'code',
    redirect_uri: redirectUri,
    scope: `openid ${parts.config.jwt.user === 'email' ? 'email' : 'profile'}`,
    state: begun.state,
    nonce: begun.nonce,
    code_challenge: await oauth.calculatePKCECodeChallenge(begun.verifier),
    code_challenge_method: 'S256',
  }))
    location.searchParams.set(name, value);
  const text = Buffer.from(JSON.stringify(begun)).toString('base64url');
  return { location: location.href, cookie: `${text}.${await signed(secret, 'upstream', text)}` };
}

async function begunOf(secret: string, cookie: string | undefined, now: number): Promise<Begun> {
  const [text = '', signature = ''] = (cookie ?? '').split('.');
  const begun = equalHashes(await signed(secret, 'upstream', text), signature)
    ? (JSON.parse(Buffer.from(text, 'base64url').toString('utf8')) as Begun)
    : undefined;
  if (begun !== undefined && now < begun.at + LOGIN_MS) return begun;
  throw forbidden('login_expired', 'The login was not begun in this browser, or has taken too long', { hint: 'Log in again' });
}

/**
 * Ends a login. @returns the user, the ids of the users who control the login, what the provider says of the user for svc_claim(), and where the browser wanted to go
 * @param url the address that the provider has sent the browser to
 * @throws SvcError 403 `login_expired`; 401 `login_failed`, `token_validation_failed`, `user_not_found`; 503
 */
export async function finishLogin(
  parts: OAuthParts,
  secret: string,
  redirectUri: string,
  url: URL,
  cookie: string | undefined,
): Promise<{ login: Login; controllers: readonly string[]; claims: ClaimTexts; returnTo: string }> {
  const begun = await begunOf(secret, cookie, parts.now());
  const mine = ours(parts);
  const server = await serverOf(mine, parts);
  const claims = await claimsOf(mine, server, begun, redirectUri, url).catch((error: unknown) => {
    parts.log({ level: 'warn', event: 'login_failed', message: loggedLine(error) });
    throw unauthorized('login_failed', 'The login provider did not confirm who you are', { hint: 'Log in again', cause: error });
  });
  const texts = claimTexts(claims);
  // policies may count on a claim that is there, and on one that is not: none is left out
  if (JSON.stringify(texts).length > MOST_CLAIMS) {
    parts.log({ level: 'error', event: 'login_failed', message: `the provider's claims take more than ${MOST_CLAIMS} characters; let it send fewer of them` });
    throw unauthorized('login_failed', 'The login provider says more of you than can be kept', { hint: 'The operator of the service has to look at the log' });
  }
  return { ...(await userOf(parts, claims)), claims: texts, returnTo: begun.returnTo };
}

type Claims = Readonly<Record<string, unknown>>;

async function claimsOf({ client, authentication, options }: Ours, server: Server, begun: Begun, redirectUri: string, url: URL): Promise<Claims> {
  const parameters = oauth.validateAuthResponse(server, client, url, begun.state);
  const response = await oauth.authorizationCodeGrantRequest(server, client, authentication, parameters, redirectUri, begun.verifier, options);
  const tokens = await oauth.processAuthorizationCodeResponse(server, client, response, { expectedNonce: begun.nonce, requireIdToken: true });
  const claims = oauth.getValidatedIdTokenClaims(tokens) as oauth.IDToken;
  if (server.userinfo_endpoint === undefined || claims.email !== undefined || claims.preferred_username !== undefined) return claims;
  // providers may tell of the user there alone
  const info = await oauth.processUserInfoResponse(server, client, claims.sub, await oauth.userInfoRequest(server, client, tokens.access_token, options));
  return { ...info, ...claims };
}

/** The user that they name. @throws SvcError 401 `token_validation_failed`, `user_not_found`; 503 */
async function userOf(parts: OAuthParts, claims: Claims): Promise<{ login: Login; controllers: readonly string[] }> {
  const { name, email } = namesOfClaims(claims, parts.config.jwt);
  const named = async () => {
    const { user } = await loadSnapshot({ kind: 'name', name, email }, { ...parts, fresh: true });
    if (user === null || !user.active || user.id === ADMIN_ID) throw jwtFault('user_not_found');
    // a user bound to a tenant is taken from that tenant's tokens alone
    if (user.tenant !== null && tenantKey(user.tenant) !== 'DEFAULT') throw jwtFault('user_not_found');
    return user;
  };
  const { id } = await named();
  const login = await findSessionUser(parts.db, id, NO_SESSION);
  if (login?.active !== true) throw jwtFault('user_not_found');
  // asked again: an e-mail that has changed before the login was read does not name the user any more, and a later change ends the session
  const user = await named();
  if (user.id !== id) throw jwtFault('user_not_found');
  // an e-mail decides which account of the provider is the user's, so whoever set it controls the login
  return { login, controllers: fold(user.name) === fold(name) ? [] : user.emailBy };
}
