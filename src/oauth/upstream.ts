/**
 * Login at an OpenID Connect provider (MCP_OAUTH_ISSUER): the authorization code flow with state, nonce, PKCE and the check
 * of `iss` (RFC 9207), with `oauth4webapi`. The user is found with the rules for JWTs. The state of a login is in a signed
 * cookie of the browser.
 */
import * as oauth from 'oauth4webapi';
import { ADMIN_ID } from '../auth/authenticate.ts';
import { claimTexts, repeatsMember, userNamesOf } from '../auth/jwt.ts';
import { jwtFault, tenantKey } from '../auth/jwt-identity.ts';
import { signed } from '../auth/session.ts';
import { equalHashes } from '../auth/tokens.ts';
import { readBounded } from '../bytes.ts';
import { findSessionUser, type Login } from '../catalog/logins.ts';
import { fold, loadSnapshot } from '../catalog/snapshot.ts';
import { isSafeAddress } from '../connection.ts';
import { forbidden, loggedLine, SvcError, unauthorized } from '../errors.ts';
import { NO_SESSION } from './authenticate.ts';
import type { Claims as ClaimTexts, OAuthParts } from './types.ts';

/** How long a login at the provider may take. */
const LOGIN_MS = 10 * 60_000;
/** How long the provider's metadata is cached. */
const METADATA_MS = 10 * 60_000;
/** The maximum size of an answer of the provider: several times what an ID token with all claims has. The library reads answers of any size. */
const MAX_ANSWER = 128 * 1024;
/** The maximum length of the claims as JSON. It is the same for JWTs. */
const MAX_CLAIMS = 16 * 1024;

type Server = oauth.AuthorizationServer;

const metadata = new Map<string, { readonly server: Server; readonly at: number }>();

/** The state of a login, in the cookie. */
interface LoginState {
  readonly state: string;
  readonly nonce: string;
  readonly verifier: string;
  readonly returnTo: string;
  readonly at: number;
}

/** The service as a client of the provider: its credentials, and whether http is allowed. */
interface ProviderClient {
  readonly issuer: URL;
  readonly client: oauth.Client;
  readonly authentication: oauth.ClientAuth;
  readonly options: { readonly [oauth.allowInsecureRequests]: boolean; readonly [oauth.customFetch]: typeof boundedFetch; readonly signal: AbortSignal };
}

/** A `fetch` of answers up to MAX_ANSWER. @throws TypeError */
async function boundedFetch(address: string, init: object): Promise<Response> {
  const response = await fetch(address, init);
  const { bytes, isCut } = await readBounded(response.body, MAX_ANSWER);
  if (isCut) throw new TypeError(`an answer is larger than ${MAX_ANSWER / 1024} KiB`);
  return new Response(bytes.length === 0 ? null : bytes, response);
}

const TIMEOUT_MS = 10_000;

/** @throws SvcError 503 `not_configured` */
function providerClient({ config, log }: Pick<OAuthParts, 'config' | 'log'>): ProviderClient {
  const { issuer, clientId, clientSecret } = config.mcp;
  if (issuer === null || clientId === null || !isSafeAddress(issuer)) {
    const variable = clientId === null ? 'MCP_OAUTH_CLIENT_ID' : 'MCP_OAUTH_ISSUER';
    log({ level: 'error', event: 'not_configured', variable, message: `${variable} is missing or not an https address (http on loopback only)` });
    throw new SvcError(503, 'not_configured', 'Logging in is not configured', { hint: 'Ask the operator to look at the log' });
  }
  const url = new URL(issuer);
  return {
    issuer: url,
    client: { client_id: clientId },
    authentication: clientSecret === null ? oauth.None() : oauth.ClientSecretBasic(clientSecret),
    options: { [oauth.allowInsecureRequests]: url.protocol === 'http:', [oauth.customFetch]: boundedFetch, signal: AbortSignal.timeout(TIMEOUT_MS) },
  };
}

/** Returns the provider's metadata. @throws SvcError 503 `login_unavailable` */
async function serverOf({ issuer, options }: ProviderClient, parts: Pick<OAuthParts, 'now' | 'log'>): Promise<Server> {
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
 * Begins a login.
 * @param redirectUri address of this service that the provider redirects to
 * @returns the address to redirect the browser to, and the value of a cookie for `finishLogin`
 * @throws SvcError 503
 */
export async function beginLogin(parts: OAuthParts, secret: string, redirectUri: string, returnTo: string): Promise<{ location: string; cookie: string }> {
  const provider = providerClient(parts);
  const server = await serverOf(provider, parts);
  const login: LoginState = {
    state: oauth.generateRandomState(),
    nonce: oauth.generateRandomNonce(),
    verifier: oauth.generateRandomCodeVerifier(),
    returnTo,
    at: parts.now(),
  };
  const location = new URL(server.authorization_endpoint ?? '');
  for (const [name, value] of Object.entries({
    client_id: provider.client.client_id,
    response_type: 'code',
    redirect_uri: redirectUri,
    scope: `openid ${parts.config.jwt.user === 'email' ? 'email' : 'profile'}`,
    state: login.state,
    nonce: login.nonce,
    code_challenge: await oauth.calculatePKCECodeChallenge(login.verifier),
    code_challenge_method: 'S256',
  }))
    location.searchParams.set(name, value);
  const text = Buffer.from(JSON.stringify(login)).toString('base64url');
  return { location: location.href, cookie: `${text}.${await signed(secret, 'upstream', text)}` };
}

async function stateOf(secret: string, cookie: string | undefined, now: number): Promise<LoginState> {
  const [text = '', signature = '', more] = (cookie ?? '').split('.');
  const isOurs = more === undefined && equalHashes(await signed(secret, 'upstream', text), signature);
  const login = isOurs ? (JSON.parse(Buffer.from(text, 'base64url').toString('utf8')) as LoginState) : undefined;
  if (login !== undefined && now < login.at + LOGIN_MS) return login;
  throw forbidden('login_expired', 'The login was not started in this browser, or took too long', { hint: 'Log in again' });
}

/**
 * Completes a login.
 * @param url the address that the provider redirected the browser to
 * @returns the user, the ids of the users who control the login, the provider's claims for svc_claim(), and the address to return to
 * @throws SvcError 403 `login_expired`; 401 `login_failed`, `token_validation_failed`, `user_not_found`; 503
 */
export async function finishLogin(
  parts: OAuthParts,
  secret: string,
  redirectUri: string,
  url: URL,
  cookie: string | undefined,
): Promise<{ login: Login; controllers: readonly string[]; claims: ClaimTexts; returnTo: string }> {
  const state = await stateOf(secret, cookie, parts.now());
  const provider = providerClient(parts);
  const server = await serverOf(provider, parts);
  const claims = await claimsOf(provider, server, state, redirectUri, url).catch((error: unknown) => {
    parts.log({ level: 'warn', event: 'login_failed', message: loggedLine(error) });
    throw unauthorized('login_failed', 'The login provider did not confirm your identity', { hint: 'Log in again', cause: error });
  });
  const texts = claimTexts(claims);
  // policies may depend on the presence and on the absence of a claim, so all claims are kept
  if (JSON.stringify(texts).length > MAX_CLAIMS) {
    parts.log({
      level: 'error',
      event: 'login_failed',
      message: `the provider's claims have more than ${MAX_CLAIMS} characters; configure it to send fewer claims`,
    });
    throw unauthorized('login_failed', 'The login provider sends more claims than can be stored', { hint: 'Ask the operator to look at the log' });
  }
  return { ...(await userOf(parts, claims)), claims: texts, returnTo: state.returnTo };
}

type Claims = Readonly<Record<string, unknown>>;

async function claimsOf(
  { client, authentication, options }: ProviderClient,
  server: Server,
  login: LoginState,
  redirectUri: string,
  url: URL,
): Promise<Claims> {
  const parameters = oauth.validateAuthResponse(server, client, url, login.state);
  const response = await oauth.authorizationCodeGrantRequest(server, client, authentication, parameters, redirectUri, login.verifier, options);
  const tokens = await oauth.processAuthorizationCodeResponse(server, client, response, { expectedNonce: login.nonce, requireIdToken: true });
  const claims = oauth.getValidatedIdTokenClaims(tokens) as oauth.IDToken;
  checkIdToken(tokens.id_token as string, claims);
  if (server.userinfo_endpoint === undefined || claims.email !== undefined || claims.preferred_username !== undefined) return claims;
  // some providers return the user's claims only there
  const info = await oauth.processUserInfoResponse(server, client, claims.sub, await oauth.userInfoRequest(server, client, tokens.access_token, options));
  return withUserinfo(claims, info);
}

/** Checks what the library accepts and a JWT of this service may not have: a time that JSON.parse makes infinite, no subject, and duplicate members. @throws TypeError */
function checkIdToken(token: string, { exp, sub }: oauth.IDToken): void {
  const parts = token.split('.', 2).map((part) => Buffer.from(part, 'base64url').toString('utf8'));
  if (!Number.isFinite(exp) || sub === '' || parts.some(repeatsMember)) throw new TypeError('the ID token has no subject, no end, or duplicate members');
}

/** The claims of an ID token and of the userinfo endpoint. Whether an e-mail is verified is the statement of the answer that has the e-mail. */
function withUserinfo(claims: Claims, info: Claims): Claims {
  const { email_verified: ofToken, ...rest } = claims;
  const verified = info.email === undefined ? ofToken : info.email_verified;
  return { ...info, ...rest, ...(verified === undefined ? {} : { email_verified: verified }) };
}

/** Finds the user of the claims. @throws SvcError 401 `token_validation_failed`, `user_not_found`; 503 */
async function userOf(parts: OAuthParts, claims: Claims): Promise<{ login: Login; controllers: readonly string[] }> {
  const { name, email } = userNamesOf(claims, parts.config.jwt);
  const named = async () => {
    const { user } = await loadSnapshot({ kind: 'name', name, email }, { ...parts, fresh: true });
    if (user === null || !user.active || user.id === ADMIN_ID) throw jwtFault('user_not_found');
    // a user that is bound to a tenant can log in only with tokens of that tenant
    if (user.tenant !== null && tenantKey(user.tenant) !== 'DEFAULT') throw jwtFault('user_not_found');
    return user;
  };
  const { id } = await named();
  const login = await findSessionUser(parts.db, id, NO_SESSION);
  if (login?.active !== true) throw jwtFault('user_not_found');
  // Check again: the e-mail may have changed before the login was read. A later change ends the session.
  const user = await named();
  if (user.id !== id) throw jwtFault('user_not_found');
  // the e-mail decides which account of the provider belongs to the user, so the users who set it control the login
  return { login, controllers: fold(user.name) === fold(name) ? [] : user.emailBy };
}
