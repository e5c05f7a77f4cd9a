/** Checks of the service's own pages and forms: host, origin (CSRF) and return addresses. */
import { isLoopback } from '../config.ts';
import { forbidden, SvcError } from '../errors.ts';
import { readText } from './body.ts';
import type { AppContext } from './context.ts';
import { isLocal, requestHost } from './guards.ts';

/**
 * Pages with cookie authentication are available only under the host of PUBLIC_URL, and over http only on loopback.
 * @throws SvcError 421 `misdirected_request`; 403 `https_required`
 */
export function checkPlace(c: AppContext): void {
  const { config } = c.env.runtime;
  const requested = requestHost(c.req.raw.headers, c.req.url);
  const own = config.publicUrl === null ? null : new URL(config.publicUrl);
  if (own !== null && requested.host !== own.host && URL.parse(`${own.protocol}//${requested.host}`)?.host !== own.host) {
    throw new SvcError(421, 'misdirected_request', 'This page is not available under this host name', { hint: `Open it at ${own.origin}` });
  }
  // a local service may be reached through a tunnel that terminates TLS
  if (requested.protocol === 'http:' && !isLoopback(requested.hostname) && !isLocal(config)) {
    throw forbidden('https_required', 'This page requires https', { hint: 'Open it with https://' });
  }
}

/** The origin of the pages in the browser. */
export function ownOrigin(c: AppContext): string {
  const { publicUrl } = c.env.runtime.config;
  return publicUrl === null ? requestHost(c.req.raw.headers, c.req.url).origin : new URL(publicUrl).origin;
}

/** @throws SvcError 403 `cross_site` if the browser reports that a page of another site sent the form */
export function checkOrigin(c: AppContext): void {
  const origin = c.req.header('origin');
  const site = c.req.header('sec-fetch-site');
  if (origin === undefined ? site === undefined || site === 'same-origin' || site === 'none' : origin === ownOrigin(c)) return;
  throw forbidden('cross_site', 'This form was sent by a page of another site', { hint: 'Open the page and send its form' });
}

/** The maximum length of a return address. */
const RETURN_CHARACTERS = 8192;

/** Returns a return address as a path of this origin; null if a browser could resolve it to another origin. */
export function returnAddress(text: string | null | undefined, origin: string): string | null {
  if (text == null || text.length > RETURN_CHARACTERS || !isPath(text)) return null;
  const url = URL.parse(text, origin);
  if (url === null || url.origin !== origin) return null;
  const path = `${url.pathname}${url.search}`;
  // the URL parser turns `/.//host` into `//host`, which a browser would resolve to another host
  return isPath(path) ? path : null;
}

const isPath = (text: string): boolean => /^\/(?![/\\])[\x21-\x5b\x5d-\x7e]*$/.test(text);

/** The forms have a few short fields. A larger form could contain half a million of them. */
const FORM_CHARACTERS = 64 * 1024;
/** The OAuth library compares all fields with each other. */
const FORM_FIELDS = 200;

/** Reads the body of a form as text. @throws SvcError as `readText`; 413 `body_too_large` */
export async function readFormText(c: AppContext): Promise<string> {
  const text = await readText(c);
  if (text.length > FORM_CHARACTERS) throw new SvcError(413, 'body_too_large', 'The form is larger than 64 KiB');
  if (text.split('&', FORM_FIELDS + 1).length > FORM_FIELDS) throw new SvcError(413, 'body_too_large', `The form has more than ${FORM_FIELDS} fields`);
  return text;
}
