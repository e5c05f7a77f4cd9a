/** Checks of OAuth requests that are stricter or more lenient than those of the library. Pure. */
import { SCOPES, type Scope } from './types.ts';

/** The scopes of a request. Unknown scopes are ignored, and `read` is always included. */
export function scopesOf(requested: readonly string[]): readonly Scope[] {
  return SCOPES.filter((scope) => scope === 'read' || requested.includes(scope));
}

/** Removes a trailing slash from the parameter `resource` if the rest is the address of the resource. RFC 8707 compares the texts. */
export function withoutSlash(parameters: URLSearchParams, resource: string): URLSearchParams {
  const clean = new URLSearchParams();
  for (const [name, value] of parameters) clean.append(name, name === 'resource' && value === `${resource}/` ? resource : value);
  return clean;
}

/** True if a parameter other than `resource` occurs twice, which OAuth does not allow. */
export function repeatsParameter(parameters: URLSearchParams): boolean {
  const names = [...parameters.keys()].filter((name) => name !== 'resource');
  return new Set(names).size < names.length;
}

/** Why a request with `prompt=none` is refused. */
export const NO_PAGE = 'prompt=none is not supported, since the user must log in and allow the access';

/** True if a request allows no page: `prompt` is a list of words (OpenID Connect Core, 3.1.2.1). */
export const allowsNoPage = (search: string): boolean => /(^| )none( |$)/.test(new URLSearchParams(search).get('prompt') ?? '');

const LOOPBACK = /^(http:\/\/(?:localhost|127(?:\.\d{1,3}){3}|\[::1\]))(?::\d{1,5})?(?=[/?]|$)/;

/** True if a redirect URI is registered. The texts must be equal; on loopback the port may differ (RFC 8252, 7.3). */
export function isRedirectOf(redirectUri: string, registered: readonly string[]): boolean {
  const portless = (uri: string): string | undefined => (LOOPBACK.test(uri) ? uri.replace(LOOPBACK, '$1') : undefined);
  const loopback = portless(redirectUri);
  return registered.some((uri) => uri === redirectUri || (loopback !== undefined && portless(uri) === loopback));
}

/** The `form-action` of the consent page's CSP: the service and the client's redirect address. */
export function formTarget(redirectUri: string): string {
  const { protocol, origin, hostname } = new URL(redirectUri);
  // a CSP cannot contain an IPv6 address, and some characters of a host (; , * ') have a special meaning in it
  return /^https?:$/.test(protocol) && /^[a-z0-9._-]+$/.test(hostname) ? `'self' ${origin}` : `'self' ${protocol}`;
}

/** Splits a token or code in the library's format; null if it is malformed. `userId` is a uuid. */
export function partsOf(token: string): { readonly userId: string; readonly grantId: string } | null {
  const [, userId, grantId] = /^([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}):([\w-]{16}):[\w-]{32}$/.exec(token) ?? [];
  return userId === undefined || grantId === undefined ? null : { userId, grantId };
}
