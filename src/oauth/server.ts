/** The authorization server: `@cloudflare/workers-oauth-provider` with records in Durable Objects. */
import {
  AuthorizationError,
  type AuthorizationErrorCode,
  type AuthRequest,
  authorizationErrorRedirect,
  CimdFetchError,
  OAuthAuthorizationServer,
  OAuthError,
  type OAuthHelpers,
} from '@cloudflare/workers-oauth-provider';
import { sha256 } from '../auth/tokens.ts';
import { open, type Sealing, seal } from '../catalog/seal.ts';
import { isPasswordCurrent } from './authenticate.ts';
import { namespaceOf, RecordChanged, storeOfUser } from './facade.ts';
import { fetchingOwn, fetchingPublic } from './public-address.ts';
import { isRedirectOf, NO_PAGE, partsOf, repeatsParameter, scopesOf, withoutSlash } from './request.ts';
import type { Stores } from './store-object.ts';
import {
  ACCESS_SECONDS,
  type Approval,
  type AuthorizationRequest,
  type AuthorizationServer,
  type Claims,
  GRANT_SECONDS,
  type OAuth,
  type OAuthParts,
  type Place,
  type ProtocolPath,
  type Refused,
  SCOPES,
  type UserGrant,
  type ValidToken,
} from './types.ts';

/** Data that is stored with a grant, encrypted so that only its codes and tokens can decrypt it. */
interface Props {
  readonly password: string;
  /** Claims from the provider at the time of the login. They are not updated. */
  readonly claims?: Claims;
}

/** Unencrypted data of a grant, for the page that lists grants. */
interface Metadata {
  readonly clientName: string;
  readonly redirectHost: string;
}

/** Creates the authorization servers of a service. */
export const oauthServers = (stores: Stores): OAuth => ({ at: async (place, parts) => new Server(place, parts, stores) });

/** The library's category of errors with client ID metadata documents. */
const DOCUMENT = 'client-id-metadata-document';

const claimsKey = (session: string): string => `claims:${session}`;

type LibraryEnv = { readonly OAUTH_KV: KVNamespace };

/** The registration of a client that has got a token expires after this time. A token in the second half of it renews it. */
const CLIENT_SECONDS = 90 * 86_400;
const CONTEXT = { waitUntil: () => undefined, passThroughOnException: () => undefined, props: {} } as unknown as ExecutionContext;

class Server implements AuthorizationServer {
  readonly #place: Place;
  readonly #parts: OAuthParts;
  readonly #stores: Stores;
  readonly #library: OAuthAuthorizationServer<LibraryEnv>;
  readonly #env: LibraryEnv;
  /** The library's reason for refusing the last request. */
  #reason: string | undefined;

  constructor(place: Place, parts: OAuthParts, stores: Stores) {
    this.#place = place;
    this.#parts = parts;
    this.#stores = stores;
    this.#env = { OAUTH_KV: namespaceOf(stores, parts.config.mcp, parts.now) };
    const path = `/${place.product}/oauth`;
    this.#library = new OAuthAuthorizationServer<LibraryEnv>({
      issuer: place.issuer,
      resources: [place.resource],
      authorizeEndpoint: `${path}/authorize`,
      tokenEndpoint: `${path}/token`,
      ...(parts.config.mcp.dcrEnabled ? { clientRegistrationEndpoint: `${path}/register` } : {}),
      scopesSupported: [...SCOPES],
      clientIdMetadataDocumentEnabled: parts.config.mcp.cimdEnabled,
      accessTokenTTL: ACCESS_SECONDS,
      refreshTokenTTL: GRANT_SECONDS,
      refreshTokenIdleTTL: GRANT_SECONDS,
      clientRegistrationTTL: CLIENT_SECONDS,
      tokenExchangeCallback: async ({ userId, props, requestedScope }) => {
        // a request for fewer scopes than the grant has still gets `read`
        if (await fetchingOwn(() => isPasswordCurrent(parts, userId, (props as Props).password, null)))
          return { accessTokenScope: [...scopesOf(requestedScope)] };
        throw new OAuthError('invalid_grant', { description: 'The user must log in again' });
      },
      onError: ({ internal: { category, reason, detail } }) => {
        this.#reason = reason;
        // a metadata document is public; other details may contain the request
        const message = category === DOCUMENT ? String((detail as { readonly message?: unknown } | undefined)?.message).slice(0, 500) : undefined;
        parts.log({ level: 'info', event: 'oauth_refused', category, reason, message });
      },
    });
  }

  get #helpers(): OAuthHelpers {
    return this.#library.getOAuthApi(this.#env);
  }

  async protocol(request: Request, path: ProtocolPath, body: string | null): Promise<Response> {
    const { issuer, product, resource } = this.#place;
    const url = path === 'metadata' ? `${issuer}/.well-known/oauth-authorization-server` : `${issuer}/${product}/oauth/${path}`;
    const sent = path === 'token' && body !== null ? withoutSlash(new URLSearchParams(body), resource).toString() : body;
    const { method, headers } = request;
    const own = new Request(url, { method, headers, ...(sent === null || method === 'GET' || method === 'HEAD' ? {} : { body: sent }) });
    let response: Response;
    try {
      response = await fetchingPublic(() => this.#library.fetch(own, this.#env, CONTEXT));
    } catch (error) {
      if (!(error instanceof RecordChanged)) throw error;
      this.#parts.log({ level: 'warn', event: 'oauth_replayed', reason: 'at_once' });
      // as for a code that is used again later: one of its two users has stolen it, so the grant ends (RFC 6749, 4.1.2)
      const grant = partsOf(new URLSearchParams(body ?? '').get('code') ?? '');
      if (grant !== null && error.key === `grant:${grant.userId}:${grant.grantId}`) await this.#stores(storeOfUser(grant.userId)).remove(error.key);
      return refusal('invalid_grant', 'The code or token has already been used');
    }
    if (this.#reason === 'refresh_token_mismatch') await this.#endReused(new URLSearchParams(body ?? '').get('refresh_token') ?? '');
    return response;
  }

  /** Ends the grant if a replaced refresh token is used again: one of its two users has stolen it (RFC 9700, 4.14.2). */
  async #endReused(token: string): Promise<void> {
    const parts = partsOf(token);
    if (parts === null) return;
    const store = this.#stores(storeOfUser(parts.userId));
    const grant = `grant:${parts.userId}:${parts.grantId}`;
    if (!(await store.isSpent(grant, await sha256(token)))) return;
    await store.remove(grant);
    this.#parts.log({ level: 'warn', event: 'oauth_replayed', reason: 'refresh_token_reused' });
  }

  read(search: string): Promise<AuthorizationRequest | Refused> {
    return fetchingPublic(() => this.#read(search));
  }

  async #read(search: string): Promise<AuthorizationRequest | Refused> {
    const { issuer, product, resource } = this.#place;
    const query = withoutSlash(new URLSearchParams(search), resource);
    if (repeatsParameter(query)) return { refused: 'The request contains a parameter twice', location: null };
    try {
      const request = await this.#helpers.parseAuthRequest(new Request(`${issuer}/${product}/oauth/authorize?${query}`));
      const client = await this.#helpers.lookupClient(request.clientId);
      if (client === null || !isRedirectOf(request.redirectUri, client.redirectUris)) return { refused: 'Invalid redirect URI', location: null };
      // also for clients with a secret, so that an intercepted code is useless
      if (request.codeChallenge === undefined)
        return { refused: 'PKCE is required', location: authorizationErrorRedirect(request, 'invalid_request', 'PKCE is required: code_challenge with S256') };
      const shown = await this.#helpers.describeConsent(request);
      return {
        clientId: shown.clientId,
        clientName: shown.clientName,
        // with the port, because different ports of a host may belong to different services
        clientDomain: shown.clientDomain === undefined ? null : new URL(shown.clientId).host,
        redirectUri: shown.redirectUri,
        redirectHost: shown.redirectIsLoopback ? shown.redirectHost : new URL(shown.redirectUri).host,
        isLocal: shown.redirectIsLoopback,
        scopes: scopesOf(shown.scope),
        request,
      };
    } catch (error) {
      if (error instanceof AuthorizationError) return { refused: error.description, location: error.redirectTo ?? null };
      if (error instanceof CimdFetchError) {
        this.#parts.log({ level: 'info', event: 'oauth_refused', category: DOCUMENT, reason: error.reason, message: error.detail.slice(0, 500) });
        return { refused: 'The metadata document of the client cannot be read', location: null };
      }
      throw error;
    }
  }

  async storeClaims({ id, userId, ends }: Parameters<AuthorizationServer['storeClaims']>[0], claims: Claims): Promise<void> {
    const sealed = await seal(JSON.stringify(claims), this.#sealing(id));
    const record = { key: claimsKey(id), value: Buffer.from(sealed).toString('base64'), metadata: null, expires: ends, seen: 0 };
    if (!(await this.#stores(storeOfUser(userId)).write(record))) throw new Error('the claims of this session are already stored');
  }

  /** The claims of a session; empty if the user has logged in with the service's own page. */
  async #claimsOf({ id, userId }: Approval['session']): Promise<Claims> {
    if (this.#parts.config.mcp.issuer === null) return {};
    const found = await this.#stores(storeOfUser(userId)).read(claimsKey(id));
    const text = found === null ? undefined : await open(new Uint8Array(Buffer.from(found.value, 'base64')), this.#sealing(id));
    return text === undefined ? {} : (JSON.parse(text) as Claims);
  }

  #sealing(session: string): Sealing {
    const secret = this.#parts.config.sessionSecret;
    if (secret === null) throw new Error('SESSION_SECRET is not set');
    return { secret, purpose: 'claims', place: session };
  }

  async approve(authorization: AuthorizationRequest, { session, scopes, password }: Approval): Promise<string> {
    const metadata: Metadata = { clientName: authorization.clientName.slice(0, 200), redirectHost: authorization.redirectHost };
    const { userId } = session;
    const props: Props = { password, claims: await this.#claimsOf(session) };
    const request = authorization.request as AuthRequest;
    // a client may run on several machines of a user, so the existing grants remain
    const grant = { request, userId, scope: [...scopes], metadata, props, revokeExistingGrants: false };
    const { redirectTo } = await fetchingPublic(() => this.#helpers.completeAuthorization(grant));
    return redirectTo;
  }

  deny(authorization: AuthorizationRequest): string {
    return authorizationErrorRedirect(authorization.request as AuthRequest, 'access_denied', 'The user denied access');
  }

  refuseSilent(authorization: AuthorizationRequest, isLoggedIn: boolean): string {
    // errors of OpenID Connect Core, 3.1.2.6, which the library does not list
    const code = (isLoggedIn ? 'interaction_required' : 'login_required') as AuthorizationErrorCode;
    return authorizationErrorRedirect(authorization.request as AuthRequest, code, NO_PAGE);
  }

  async validate(token: string): Promise<ValidToken | null> {
    if (partsOf(token) === null) return null;
    const found = await this.#library.validateToken<Props>(this.#place.resource, token, this.#env);
    if (found === null) return null;
    const { userId, clientId, scope, expiresAt, props } = found;
    return { userId, clientId, scopes: scope, expires: expiresAt * 1000, password: props.password, claims: props.claims ?? {} };
  }

  async grants(userId: string): Promise<readonly UserGrant[]> {
    const { items } = await this.#helpers.listUserGrants(userId);
    // a grant whose code has not been exchanged yet has no expiry
    return items
      .filter((grant) => grant.expiresAt !== undefined)
      .map(({ id, clientId, scope, metadata, createdAt, expiresAt }) => {
        const { clientName, redirectHost } = metadata as Metadata;
        return { id, clientId, clientName, redirectHost, scopes: scope, created: createdAt * 1000, expires: expiresAt === undefined ? null : expiresAt * 1000 };
      })
      .sort((a, b) => b.created - a.created);
  }

  async revoke(userId: string, grantId: string): Promise<boolean> {
    const store = this.#stores(storeOfUser(userId));
    const key = `grant:${userId}:${grantId}`;
    if ((await store.read(key)) === null) return false;
    await store.remove(key);
    return true;
  }
}

const refusal = (error: string, error_description: string): Response =>
  Response.json({ error, error_description }, { status: 400, headers: { 'cache-control': 'no-store', pragma: 'no-cache' } });
