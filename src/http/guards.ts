/** What is checked of every request before a route sees it: its id, the length of its address, its Host. */
import { type Config, isLoopback } from '../config.ts';
import { badRequest, SvcError } from '../errors.ts';

/** The longest URL (docs/design/platform-rules.md#limits-of-a-request). */
export const URL_BYTES = 16 * 1024;

/** The caller's x-request-id where it is sane, else a fresh one. */
export function requestIdOf(headers: Headers): string {
  const given = headers.get('x-request-id');
  return given !== null && /^[A-Za-z0-9._-]{1,128}$/.test(given) ? given : crypto.randomUUID();
}

/** @throws SvcError 414 `url_too_long`; 400 `malformed_url`, for a Host that is none */
export function checkUrl(url: string): void {
  if (url.length > URL_BYTES) throw new SvcError(414, 'url_too_long', 'The URL is longer than 16 KiB');
  if (!URL.canParse(url)) throw badRequest('malformed_url', 'The URL of the request is not a valid one');
}

/** Whether this is a service on somebody's own machine: its catalog's endpoint is on loopback, where no deployed Worker reaches it. */
export function isLocal(config: Config): boolean {
  let local = known.get(config);
  if (local === undefined) {
    local = config.catalog?.endpoint != null && isLoopback(new URL(config.catalog.endpoint).hostname);
    known.set(config, local);
  }
  return local;
}

const known = new WeakMap<Config, boolean>();

/** The address whose host a request asks for: by its Host header, else by its URL. */
export function askedHost(headers: Headers, url: string): URL {
  const asked = new URL(url);
  const host = headers.get('host');
  return (host === null ? null : URL.parse(`${asked.protocol}//${host}`)) ?? asked;
}

/**
 * On loopback a foreign Host is refused: a page in the user's browser could reach the service by a name of its own that
 * resolves to 127.0.0.1 (DNS rebinding).
 * @throws SvcError 421 `misdirected_request`
 */
export function checkHost(headers: Headers, url: string, config: Config): void {
  if (!isLocal(config)) return;
  const name = askedHost(headers, url).hostname;
  const own = config.publicUrl === null ? null : new URL(config.publicUrl).hostname;
  if (isLoopback(name) || name === own) return;
  throw new SvcError(421, 'misdirected_request', 'This service does not answer under that host name');
}
