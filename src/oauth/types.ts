/**
 * The interface of OAuth for the MCP server (docs/design/credentials.md#oauth-access-tokens). server.ts implements it with
 * `@cloudflare/workers-oauth-provider`. index.ts injects it, so that `http/` and `mcp/` also run in plain Node.
 */
import type { AuthOptions } from '../auth/authenticate.ts';
import type { Session } from '../auth/session.ts';
import type { Config } from '../config.ts';

/** `read`: all tools; `model`: statements that change the ontology. */
export const SCOPES = ['read', 'model'] as const;
export type Scope = (typeof SCOPES)[number];

/** The addresses of the authorization server and of the MCP server. */
export interface Place {
  /** The issuer (RFC 8414), without a trailing slash. */
  readonly issuer: string;
  /** The resource (RFC 8707): the MCP server, without a trailing slash. */
  readonly resource: string;
  /** The address of the resource's metadata (RFC 9728). */
  readonly resourceMetadata: string;
  /** The first segment of all paths. */
  readonly product: string;
}

/** The parts of `Runtime` that OAuth needs. */
export interface OAuthParts extends AuthOptions {
  readonly config: Config;
  readonly oauth?: OAuth | undefined;
}

export interface OAuth {
  /** Creates the authorization server for one request. The first call loads its code. */
  at(place: Place, parts: OAuthParts): Promise<AuthorizationServer>;
}

/** A valid authorization request, as shown to the user. */
export interface AuthorizationRequest {
  readonly clientId: string;
  /** The name that the client claims; it is not verified. */
  readonly clientName: string;
  /** Host of the client ID metadata document; the client has proved that it controls it. */
  readonly clientDomain: string | null;
  readonly redirectUri: string;
  readonly redirectHost: string;
  /** True if the redirect goes to a program on the user's machine. */
  readonly isLocal: boolean;
  readonly scopes: readonly Scope[];
  /** For `approve` and `deny`. */
  readonly request: unknown;
}

/** A refused authorization request. `location` is where the browser is redirected with the error; null: only the user is shown the error. */
export interface Refused {
  readonly refused: string;
  readonly location: string | null;
}

/** Claims of a user as texts, for svc_claim(). */
export type Claims = Readonly<Record<string, string>>;

/** The approval of a request by a user. */
export interface Approval {
  readonly session: Pick<Session, 'id' | 'userId'>;
  readonly scopes: readonly Scope[];
  /** Digest of the password. The grant ends when the password changes (authenticate.ts). */
  readonly password: string;
}

/** A grant of a user to a client. */
export interface UserGrant {
  readonly id: string;
  readonly clientId: string;
  readonly clientName: string;
  readonly redirectHost: string;
  readonly scopes: readonly string[];
  /** Milliseconds since 1970. */
  readonly created: number;
  readonly expires: number | null;
}

/** The data of a valid access token for the MCP server. */
export interface ValidToken {
  readonly userId: string;
  readonly clientId: string;
  readonly scopes: readonly string[];
  /** Milliseconds since 1970. */
  readonly expires: number;
  readonly password: string;
  /** Claims of the login that the grant belongs to, for svc_claim(). */
  readonly claims: Claims;
}

export interface AuthorizationServer {
  /** The protocol's endpoints: metadata, token and revocation, registration. @param body the body of the request, which has already been read */
  protocol(request: Request, path: ProtocolPath, body: string | null): Promise<Response>;
  /** Validates an authorization request. @param search its query */
  read(search: string): Promise<AuthorizationRequest | Refused>;
  /**
   * Stores the login provider's claims about the user of a session, for the grants of the session. The user is found with the rules for JWTs
   * (docs/design/credentials.md#the-user-of-an-upstream-login).
   */
  storeClaims(session: Pick<Session, 'id' | 'userId' | 'ends'>, claims: Claims): Promise<void>;
  /** Issues a code to the client, with the stored claims of the session. @returns the address to redirect the browser to */
  approve(authorization: AuthorizationRequest, approval: Approval): Promise<string>;
  /** Refuses the request for the user. @returns the address to redirect the browser to */
  deny(authorization: AuthorizationRequest): string;
  /** Refuses a request that allows no page (`prompt=none`). @param isLoggedIn whether only the consent is missing @returns the address to redirect the browser to */
  refuseSilent(authorization: AuthorizationRequest, isLoggedIn: boolean): string;
  /** Validates an access token. @returns null if it is not valid, or no longer valid */
  validate(token: string): Promise<ValidToken | null>;
  /** Lists the grants of a user, newest first. */
  grants(userId: string): Promise<readonly UserGrant[]>;
  /** Ends a grant and all its tokens. @returns false if the user has no such grant */
  revoke(userId: string, grantId: string): Promise<boolean>;
}

export type ProtocolPath = 'metadata' | 'token' | 'register';

/** The lifetime of an access token. */
export const ACCESS_SECONDS = 3600;
/** The lifetime of a grant that is not used. */
export const GRANT_SECONDS = 30 * 86_400;
