/** Checks of every request before routing: its id, the length of its URL, its Host. */
import { type Config, isLoopback } from '../config.ts';
import { badRequest, SvcError } from '../errors.ts';

/** The longest URL (docs/design/platform-rules.md#limits-of-a-request). */
const URL_BYTES = 16 * 1024;

/** The caller's x-request-id if it is well-formed, else a new one. */
export function requestIdOf(headers: Headers): string {
  const given = headers.get('x-request-id');
  return given !== null && /^[A-Za-z0-9._-]{1,128}$/.test(given) ? given : crypto.randomUUID();
}

/** @throws SvcError 414 `url_too_long`; 400 `malformed_url`, for example because of an invalid Host */
export function checkUrl(url: string): void {
  if (url.length > URL_BYTES) throw new SvcError(414, 'url_too_long', 'The URL is longer than 16 KiB');
  if (!URL.canParse(url)) throw badRequest('malformed_url', 'The URL of the request is not valid');
}

/** True if the service runs on a developer's machine: its catalog's endpoint is on loopback, which a deployed Worker cannot reach. */
export function isLocal(config: Config): boolean {
  let local = known.get(config);
  if (local === undefined) {
    local = config.catalog?.endpoint != null && isLoopback(new URL(config.catalog.endpoint).hostname);
    known.set(config, local);
  }
  return local;
}

const known = new WeakMap<Config, boolean>();

/** The origin of a request: from its Host header, or else from its URL. */
export function requestHost(headers: Headers, url: string): URL {
  const requested = new URL(url);
  const host = headers.get('host');
  return (host === null ? null : URL.parse(`${requested.protocol}//${host}`)) ?? requested;
}

/**
 * On a developer's machine, refuses requests with an unknown Host. A page in the user's browser could otherwise reach the
 * service under its own name, if that resolves to 127.0.0.1 (DNS rebinding).
 * @throws SvcError 421 `misdirected_request`
 */
export function checkHost(headers: Headers, url: string, config: Config): void {
  if (!isLocal(config)) return;
  const name = requestHost(headers, url).hostname;
  const own = config.publicUrl === null ? null : new URL(config.publicUrl).hostname;
  if (isLoopback(name) || name === own) return;
  throw new SvcError(421, 'misdirected_request', 'The service is not available under this host name');
}
