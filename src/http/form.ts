/** Forms of the service's own pages: where they may come from, and what proves that we made them (CSRF). */
import { isLoopback } from '../config.ts';
import { forbidden, SvcError } from '../errors.ts';
import type { AppContext } from './context.ts';
import { askedHost, isLocal } from './guards.ts';

/**
 * Pages that know their user by a cookie answer on the host of PUBLIC_URL only, and not over http but on loopback.
 * @throws SvcError 421 `misdirected_request`; 403 `https_required`
 */
export function checkPlace(c: AppContext): void {
  const { config } = c.env.runtime;
  const asked = askedHost(c.req.raw.headers, c.req.url);
  const own = config.publicUrl === null ? null : new URL(config.publicUrl);
  if (own !== null && asked.host !== own.host && URL.parse(`${own.protocol}//${asked.host}`)?.host !== own.host) {
    throw new SvcError(421, 'misdirected_request', 'This page does not answer under that host name', { hint: `Open it at ${own.origin}` });
  }
  // a tunnel to somebody's own machine ends TLS before it
  if (asked.protocol === 'http:' && !isLoopback(asked.hostname) && !isLocal(config)) {
    throw forbidden('https_required', 'This page is for https alone', { hint: 'Open it with https://' });
  }
}

/** The origin under which browsers see the pages. */
export function ownOrigin(c: AppContext): string {
  const { publicUrl } = c.env.runtime.config;
  return publicUrl === null ? askedHost(c.req.raw.headers, c.req.url).origin : new URL(publicUrl).origin;
}

/** @throws SvcError 403 `cross_site` where a browser says that another site's page sends the form */
export function checkOrigin(c: AppContext): void {
  const origin = c.req.header('origin');
  const site = c.req.header('sec-fetch-site');
  if (origin === undefined ? site === undefined || site === 'same-origin' || site === 'none' : origin === ownOrigin(c)) return;
  throw forbidden('cross_site', 'This form was sent by a page of another site', { hint: 'Open the page itself and send its form' });
}

/** A return address has at most so many characters. */
const RETURN_CHARACTERS = 8192;

/** An address of this origin as a path, or null: whatever a browser would read as another origin's is none. */
export function returnAddress(text: string | null | undefined, origin: string): string | null {
  if (text == null || text.length > RETURN_CHARACTERS || !isPath(text)) return null;
  const url = URL.parse(text, origin);
  if (url === null || url.origin !== origin) return null;
  const path = `${url.pathname}${url.search}`;
  // `/.//host` is a path; without its dot it would be a host
  return isPath(path) ? path : null;
}

const isPath = (text: string): boolean => /^\/(?![/\\])[\x21-\x5b\x5d-\x7e]*$/.test(text);
