/** Parts of OAuth requests that are judged more strictly, or read more kindly, than the library does. Pure. */
import { SCOPES, type Scope } from './types.ts';

/** The scopes of a request: those that are none of ours are left out, and who asks for none is given `read`, which each grant has. */
export function scopesOf(asked: readonly string[]): readonly Scope[] {
  return SCOPES.filter((scope) => scope === 'read' || asked.includes(scope));
}

/** A resource with the slash that its address may have is the same one (RFC 8707 compares texts). */
export function withoutSlash(parameters: URLSearchParams, resource: string): URLSearchParams {
  const clean = new URLSearchParams();
  for (const [name, value] of parameters) clean.append(name, name === 'resource' && value === `${resource}/` ? resource : value);
  return clean;
}

const LOOPBACK = /^(http:\/\/(?:localhost|127(?:\.\d{1,3}){3}|\[::1\]))(?::\d{1,5})?(?=[/?]|$)/;

/** Whether a redirect address is one of the client's: the same text, but for the port of a loopback address (RFC 8252, 7.3). */
export function isRedirectOf(asked: string, registered: readonly string[]): boolean {
  const portless = (uri: string): string | undefined => (LOOPBACK.test(uri) ? uri.replace(LOOPBACK, '$1') : undefined);
  const loopback = portless(asked);
  return registered.some((uri) => uri === asked || (loopback !== undefined && portless(uri) === loopback));
}

/** What a CSP lets the consent form end at: the client's own address. */
export function formTarget(redirectUri: string): string {
  const { protocol, origin, hostname } = new URL(redirectUri);
  // a CSP cannot name an IPv6 address, and other characters of a host (; , * ') have a meaning of their own in it
  return /^https?:$/.test(protocol) && /^[a-z0-9._-]+$/.test(hostname) ? `'self' ${origin}` : `'self' ${protocol}`;
}

/** A token or code as the library writes it; `userId` is a user's uuid. */
export function partsOf(token: string): { readonly userId: string; readonly grantId: string } | null {
  const [, userId, grantId] = /^([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}):([\w-]{16}):[\w-]{32}$/.exec(token) ?? [];
  return userId === undefined || grantId === undefined ? null : { userId, grantId };
}
