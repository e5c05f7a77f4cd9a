/** The address of the OAuth server (docs/design/credentials.md#where-oauth-is-offered): PUBLIC_URL, or the request's own origin on loopback. Otherwise the service does not offer OAuth. */
import type { Config } from '../config.ts';
import { isLoopbackHost } from '../connection.ts';
import { SvcError } from '../errors.ts';
import type { Place } from './types.ts';

/** The origin of a request: from its Host header, or else from its URL. */
function requestOrigin(request: Request): URL {
  const requested = new URL(request.url);
  const host = request.headers.get('host');
  return (host === null ? null : URL.parse(`${requested.protocol}//${host}`)) ?? requested;
}

/** The OAuth addresses for a request; null if OAuth is not available at its origin. */
export function placeOf({ publicUrl, product }: Pick<Config, 'publicUrl' | 'product'>, request: Request): Place | null {
  const requested = requestOrigin(request);
  if (publicUrl === null && !isLoopbackHost(requested.hostname)) return null;
  const issuer = publicUrl === null ? requested.origin : new URL(publicUrl).origin;
  const path = `/${product}/api/mcp`;
  return { issuer, product, resource: `${issuer}${path}`, resourceMetadata: `${issuer}/.well-known/oauth-protected-resource${path}` };
}

/**
 * The OAuth addresses for a request to an OAuth endpoint.
 * @throws SvcError 503 `not_configured` without PUBLIC_URL; 421 `misdirected_request` if the host is not that of PUBLIC_URL
 */
export function requirePlace(config: Pick<Config, 'publicUrl' | 'product'>, request: Request): Place {
  const place = placeOf(config, request);
  if (place === null) {
    throw new SvcError(503, 'not_configured', 'OAuth is not configured', { hint: 'Ask the operator to set PUBLIC_URL' });
  }
  if (
    requestOrigin(request).host === new URL(place.issuer).host ||
    URL.parse(`${new URL(place.issuer).protocol}//${requestOrigin(request).host}`)?.host === new URL(place.issuer).host
  )
    return place;
  throw new SvcError(421, 'misdirected_request', 'OAuth is not available under this host name', { hint: `Use ${place.issuer}` });
}

/** The header `www-authenticate` of a 401 under the MCP path (RFC 9728, 5.1). @param error set if the request had an invalid token */
export function challengeOf(place: Place | null, product: string, error?: 'invalid_token'): string {
  const parts = [`realm="${product}"`];
  if (place !== null) parts.push(`resource_metadata="${place.resourceMetadata}"`, 'scope="read"');
  if (error !== undefined) parts.push(`error="${error}"`);
  return `Bearer ${parts.join(', ')}`;
}

/** Adds the challenge to a 401 for another credential under the MCP path. Other errors are returned unchanged. */
export function withChallenge(error: unknown, request: Request, config: Pick<Config, 'publicUrl' | 'product'>): unknown {
  if (!(error instanceof SvcError) || error.status !== 401) return error;
  const challenge = challengeOf(placeOf(config, request), config.product, error.code === 'credential_missing' ? undefined : 'invalid_token');
  return new SvcError(401, error.code, error.message, {
    hint: error.hint,
    cause: error.cause,
    headers: { ...error.headers, 'www-authenticate': challenge },
  });
}

/** The header `www-authenticate` of a 403 for a missing scope (RFC 6750, 3.1), so that the client can request the scope. */
export function insufficientScope(place: Place | null, product: string, scope: string): string {
  const metadata = place === null ? '' : `, resource_metadata="${place.resourceMetadata}"`;
  return `Bearer realm="${product}", error="insufficient_scope", scope="${scope}"${metadata}`;
}

/** The protected resource metadata of the MCP server (RFC 9728). */
export const resourceMetadata = ({ resource, issuer, product }: Place): object => ({
  resource,
  authorization_servers: [issuer],
  scopes_supported: ['read'],
  bearer_methods_supported: ['header'],
  resource_name: product,
});
