/**
 * OAuth for the MCP server, as the faces know it (docs/design/credentials.md#oauth-access-tokens). server.ts implements it over
 * `@cloudflare/workers-oauth-provider`; index.ts passes it in, so that the faces run in plain Node too.
 */
import type { AuthOptions } from '../auth/authenticate.ts';
import type { Session } from '../auth/session.ts';
import type { Config } from '../config.ts';

/** `read`: all tools; `model`: statements that change the ontology. */
export const SCOPES = ['read', 'model'] as const;
export type Scope = (typeof SCOPES)[number];

/** Where the service is its own authorization server. */
export interface Place {
  /** RFC 8414; without a slash. */
  readonly issuer: string;
  /** RFC 8707: the MCP server, without the slash. */
  readonly resource: string;
  /** RFC 9728: where the metadata of that resource is. */
  readonly resourceMetadata: string;
  /** The first segment of every path. */
  readonly product: string;
}

/** The parts of the service that OAuth needs; `Runtime` has them. */
export interface OAuthParts extends AuthOptions {
  readonly config: Config;
  readonly oauth?: OAuth | undefined;
}

export interface OAuth {
  /** The authorization server of a place, for one request. */
  at(place: Place, parts: OAuthParts): AuthorizationServer;
}

/** A valid authorization request, as it is shown to the user. */
export interface Asked {
  readonly clientId: string;
  /** As the client says itself; anybody may say anything. */
  readonly clientName: string;
  /** Host of a client ID metadata document, which the client has shown to be its own. */
  readonly clientDomain: string | null;
  readonly redirectUri: string;
  readonly redirectHost: string;
  /** The answer goes to a program on the user's own machine. */
  readonly isLocal: boolean;
  readonly scopes: readonly Scope[];
  /** For `approve` and `deny`. */
  readonly request: unknown;
}

/** `location`: where the client is told; null: nobody may be told but the user. */
export interface Refused {
  readonly refused: string;
  readonly location: string | null;
}

/** Claims of a user as texts, as svc_claim() gives them. */
export type Claims = Readonly<Record<string, string>>;

/** Who approves, and what of it is kept with the grant. */
export interface Approval {
  readonly session: Pick<Session, 'id' | 'userId'>;
  readonly scopes: readonly Scope[];
  /** Ends the grant when it no longer holds (judge.ts). */
  readonly password: string;
}

/** What a user has granted. */
export interface GivenGrant {
  readonly id: string;
  readonly clientId: string;
  readonly clientName: string;
  readonly redirectHost: string;
  readonly scopes: readonly string[];
  /** Milliseconds since 1970. */
  readonly created: number;
  readonly expires: number | null;
}

/** An access token that is good for this service's MCP server. */
export interface ValidToken {
  readonly userId: string;
  readonly clientId: string;
  readonly scopes: readonly string[];
  /** Milliseconds since 1970. */
  readonly expires: number;
  readonly password: string;
  /** Of the login of its grant, for svc_claim(). */
  readonly claims: Claims;
}

export interface AuthorizationServer {
  /** The protocol's own endpoints: metadata, token and revocation, registration. `body`: read already. */
  protocol(request: Request, path: ProtocolPath, body: string | null): Promise<Response>;
  /** Judges an authorization request by its query. */
  read(search: string): Promise<Asked | Refused>;
  /**
   * Keeps what the login provider has said of the user of a session, for the grants of that session. The user is found by the rules for JWTs
   * (docs/design/credentials.md#the-user-of-an-upstream-login).
   */
  keepClaims(session: Pick<Session, 'id' | 'userId' | 'ends'>, claims: Claims): Promise<void>;
  /** Gives the client its code, with the claims that were kept of the session. @returns where the browser goes on */
  approve(asked: Asked, approval: Approval): Promise<string>;
  /** The user's no. @returns where the browser goes on */
  deny(asked: Asked): string;
  /** Null: it is none, or none any more. */
  validate(token: string): Promise<ValidToken | null>;
  grants(userId: string): Promise<readonly GivenGrant[]>;
  /** Ends a grant with all its tokens. @returns false where the user has none of that id */
  revoke(userId: string, grantId: string): Promise<boolean>;
}

export type ProtocolPath = 'metadata' | 'token' | 'register';

/** Life of an access token, and of a grant without use, in seconds. */
export const ACCESS_SECONDS = 3600;
export const GRANT_SECONDS = 30 * 86_400;
