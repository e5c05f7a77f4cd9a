/** The authorization server, by `@cloudflare/workers-oauth-provider` over records in Durable Objects. */
import {
  AuthorizationError,
  type AuthRequest,
  authorizationErrorRedirect,
  CimdFetchError,
  OAuthAuthorizationServer,
  OAuthError,
  type OAuthHelpers,
} from '@cloudflare/workers-oauth-provider';
import { sha256 } from '../auth/tokens.ts';
import { open, type Sealing, seal } from '../catalog/seal.ts';
import { namespaceOf, Outrun, storeOfUser } from './facade.ts';
import { userHolds } from './judge.ts';
import { fetchingOwn, fetchingPublic } from './public-address.ts';
import { isRedirectOf, partsOf, scopesOf, withoutSlash } from './request.ts';
import type { Stores } from './store-object.ts';
import {
  ACCESS_SECONDS,
  type Approval,
  type Asked,
  type AuthorizationServer,
  type Claims,
  type GivenGrant,
  GRANT_SECONDS,
  type OAuth,
  type OAuthParts,
  type Place,
  type ProtocolPath,
  type Refused,
  SCOPES,
  type ValidToken,
} from './types.ts';

/** What is kept with a grant, encrypted so that its codes and tokens alone open it. */
interface Props {
  readonly password: string;
  /** Of the provider at which the user has logged in; they stay as they were then. */
  readonly claims?: Claims;
}

/** What is kept beside it, for the page of grants. */
interface Metadata {
  readonly clientName: string;
  readonly redirectHost: string;
}

/** The authorization servers of a service. */
export const oauthServers = (stores: Stores): OAuth => ({ at: (place, parts) => new Server(place, parts, stores) });

/** The library's word for what goes wrong with a client ID metadata document. */
const DOCUMENT = 'client-id-metadata-document';

const claimsKey = (session: string): string => `claims:${session}`;

type LibraryEnv = { readonly OAUTH_KV: KVNamespace };

/** A client that has not used its registration for so long has to register again. */
const CLIENT_SECONDS = 90 * 86_400;
const CONTEXT = { waitUntil: () => undefined, passThroughOnException: () => undefined, props: {} } as unknown as ExecutionContext;

class Server implements AuthorizationServer {
  readonly #place: Place;
  readonly #parts: OAuthParts;
  readonly #stores: Stores;
  readonly #library: OAuthAuthorizationServer<LibraryEnv>;
  readonly #env: LibraryEnv;
  /** Why the library has refused a request, where it did. */
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
        // a request for fewer scopes than those of its grant is given `read` at least
        if (await fetchingOwn(() => userHolds(parts, userId, (props as Props).password, null))) return { accessTokenScope: [...scopesOf(requestedScope)] };
        throw new OAuthError('invalid_grant', { description: 'The user has to log in again' });
      },
      onError: ({ internal: { category, reason, detail } }) => {
        this.#reason = reason;
        // of a document that is public; other details may hold what was sent
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
      if (!(error instanceof Outrun)) throw error;
      this.#parts.log({ level: 'warn', event: 'oauth_replayed', reason: 'at_once' });
      // as with a code that comes again later: one of the two who have it is a thief (RFC 6749, 4.1.2)
      const grant = partsOf(new URLSearchParams(body ?? '').get('code') ?? '');
      if (grant !== null && error.key === `grant:${grant.userId}:${grant.grantId}`) await this.#stores(storeOfUser(grant.userId)).remove(error.key);
      return refusal('invalid_grant', 'The code or token was used already');
    }
    if (this.#reason === 'refresh_token_mismatch') await this.#endReused(new URLSearchParams(body ?? '').get('refresh_token') ?? '');
    return response;
  }

  /** A refresh token that was replaced comes again: one of the two who have it is a thief, and nobody knows which (RFC 9700, 4.14.2). */
  async #endReused(token: string): Promise<void> {
    const parts = partsOf(token);
    if (parts === null) return;
    const store = this.#stores(storeOfUser(parts.userId));
    const grant = `grant:${parts.userId}:${parts.grantId}`;
    if (!(await store.isSpent(grant, await sha256(token)))) return;
    await store.remove(grant);
    this.#parts.log({ level: 'warn', event: 'oauth_replayed', reason: 'refresh_token_reused' });
  }

  read(search: string): Promise<Asked | Refused> {
    return fetchingPublic(() => this.#read(search));
  }

  async #read(search: string): Promise<Asked | Refused> {
    const { issuer, product, resource } = this.#place;
    const query = withoutSlash(new URLSearchParams(search), resource);
    const repeated = [...query.keys()].find((name) => name !== 'resource' && query.getAll(name).length > 1);
    if (repeated !== undefined) return { refused: 'A parameter of the request stands in it twice', location: null };
    try {
      const request = await this.#helpers.parseAuthRequest(new Request(`${issuer}/${product}/oauth/authorize?${query}`));
      const client = await this.#helpers.lookupClient(request.clientId);
      if (client === null || !isRedirectOf(request.redirectUri, client.redirectUris)) return { refused: 'Invalid redirect URI', location: null };
      // a client with a secret too: the code must be worth nothing to who sees it pass
      if (request.codeChallenge === undefined)
        return { refused: 'PKCE is required', location: authorizationErrorRedirect(request, 'invalid_request', 'PKCE is required: code_challenge with S256') };
      const shown = await this.#helpers.describeConsent(request);
      return {
        clientId: shown.clientId,
        clientName: shown.clientName,
        // a port may be somebody else's than the host
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
        return { refused: 'The description of that client cannot be read', location: null };
      }
      throw error;
    }
  }

  async keepClaims({ id, userId, ends }: Parameters<AuthorizationServer['keepClaims']>[0], claims: Claims): Promise<void> {
    const sealed = await seal(JSON.stringify(claims), this.#sealing(id));
    const record = { key: claimsKey(id), value: Buffer.from(sealed).toString('base64'), metadata: null, expires: ends, seen: 0 };
    if (!(await this.#stores(storeOfUser(userId)).write(record))) throw new Error('claims of that session are kept already');
  }

  /** Empty where the user has logged in by the service's own page. */
  async #claimsOf({ id, userId }: Approval['session']): Promise<Claims> {
    if (this.#parts.config.mcp.issuer === null) return {};
    const found = await this.#stores(storeOfUser(userId)).read(claimsKey(id));
    const text = found === null ? undefined : await open(new Uint8Array(Buffer.from(found.value, 'base64')), this.#sealing(id));
    return text === undefined ? {} : (JSON.parse(text) as Claims);
  }

  #sealing(session: string): Sealing {
    const secret = this.#parts.config.sessionSecret;
    if (secret === null) throw new Error('no session without a secret');
    return { secret, purpose: 'claims', place: session };
  }

  async approve(asked: Asked, { session, scopes, password }: Approval): Promise<string> {
    const metadata: Metadata = { clientName: asked.clientName.slice(0, 200), redirectHost: asked.redirectHost };
    const { userId } = session;
    const props: Props = { password, claims: await this.#claimsOf(session) };
    const request = asked.request as AuthRequest;
    // one client may stand for several machines of a user; the newest grants live
    const grant = { request, userId, scope: [...scopes], metadata, props, revokeExistingGrants: false };
    const { redirectTo } = await fetchingPublic(() => this.#helpers.completeAuthorization(grant));
    return redirectTo;
  }

  deny(asked: Asked): string {
    return authorizationErrorRedirect(asked.request as AuthRequest, 'access_denied', 'The user said no');
  }

  async validate(token: string): Promise<ValidToken | null> {
    if (partsOf(token) === null) return null;
    const found = await this.#library.validateToken<Props>(this.#place.resource, token, this.#env);
    if (found === null) return null;
    const { userId, clientId, scope, expiresAt, props } = found;
    return { userId, clientId, scopes: scope, expires: expiresAt * 1000, password: props.password, claims: props.claims ?? {} };
  }

  async grants(userId: string): Promise<readonly GivenGrant[]> {
    const { items } = await this.#helpers.listUserGrants(userId);
    // a grant whose code was not fetched yet has no end of its own
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
