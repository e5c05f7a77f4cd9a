/** Where OAuth is offered (docs/design/credentials.md#where-oauth-is-offered): at PUBLIC_URL, else at the request's own origin on loopback, else nowhere. */
import type { Config } from '../config.ts';
import { SvcError } from '../errors.ts';
import type { Place } from './types.ts';

/** The loopback hosts that the protocol lets go without https (RFC 8252, 7.3). */
const LOOPBACK = /^(localhost|127(\.\d{1,3}){3}|\[::1\])$/;

/** The address that a request asks for: by its Host header, else by its URL. */
function askedOrigin(request: Request): URL {
  const asked = new URL(request.url);
  const host = request.headers.get('host');
  return (host === null ? null : URL.parse(`${asked.protocol}//${host}`)) ?? asked;
}

/** The place of a request, or null: OAuth is not offered there. */
export function placeOf({ publicUrl, product }: Pick<Config, 'publicUrl' | 'product'>, request: Request): Place | null {
  const asked = askedOrigin(request);
  if (publicUrl === null && !LOOPBACK.test(asked.hostname)) return null;
  const issuer = publicUrl === null ? asked.origin : new URL(publicUrl).origin;
  const path = `/${product}/api/mcp`;
  return { issuer, product, resource: `${issuer}${path}`, resourceMetadata: `${issuer}/.well-known/oauth-protected-resource${path}` };
}

/**
 * The place of a request to OAuth itself.
 * @throws SvcError 503 `not_configured` without PUBLIC_URL; 421 `misdirected_request` on another host than that of PUBLIC_URL
 */
export function requirePlace(config: Pick<Config, 'publicUrl' | 'product'>, request: Request): Place {
  const place = placeOf(config, request);
  if (place === null) {
    throw new SvcError(503, 'not_configured', 'OAuth is not configured', { hint: 'The operator of the service has to set PUBLIC_URL' });
  }
  if (
    askedOrigin(request).host === new URL(place.issuer).host ||
    URL.parse(`${new URL(place.issuer).protocol}//${askedOrigin(request).host}`)?.host === new URL(place.issuer).host
  )
    return place;
  throw new SvcError(421, 'misdirected_request', 'OAuth does not answer under that host name', { hint: `Use ${place.issuer}` });
}

/** What a 401 under the MCP path says in `www-authenticate` (RFC 9728, 5.1): `error` where a token came that is none. */
export function challengeOf(place: Place | null, product: string, error?: 'invalid_token'): string {
  const parts = [`realm="${product}"`];
  if (place !== null) parts.push(`resource_metadata="${place.resourceMetadata}"`, 'scope="read"');
  if (error !== undefined) parts.push(`error="${error}"`);
  return `Bearer ${parts.join(', ')}`;
}

/** The 401 of another credential under the MCP path, with that challenge; anything else as it is. */
export function withChallenge(error: unknown, request: Request, config: Pick<Config, 'publicUrl' | 'product'>): unknown {
  if (!(error instanceof SvcError) || error.status !== 401) return error;
  const challenge = challengeOf(placeOf(config, request), config.product, error.code === 'credential_missing' ? undefined : 'invalid_token');
  return new SvcError(401, error.code, error.message, {
    hint: error.hint,
    cause: error.cause,
    headers: { ...error.headers, 'www-authenticate': challenge },
  });
}

/** What a 403 says where the token lacks a scope (RFC 6750, 3.1): the client can ask for it and come back. */
export function insufficientScope(place: Place | null, product: string, scope: string): string {
  const metadata = place === null ? '' : `, resource_metadata="${place.resourceMetadata}"`;
  return `Bearer realm="${product}", error="insufficient_scope", scope="${scope}"${metadata}`;
}

/** RFC 9728: what the MCP server says of itself. */
export const resourceMetadata = ({ resource, issuer, product }: Place): object => ({
  resource,
  authorization_servers: [issuer],
  scopes_supported: ['read'],
  bearer_methods_supported: ['header'],
  resource_name: product,
});
