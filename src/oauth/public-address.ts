/**
 * Addresses that clients choose and the service fetches: client ID metadata documents, and the keys that they name. A deployed Worker reaches public addresses
 * only (`global_fetch_strictly_public`); a local runtime also connects to loopback and to private networks.
 */
import { AsyncLocalStorage } from 'node:async_hooks';

/** Names that are not in the public DNS: RFC 6761, RFC 6762, RFC 8375, `internal`, and other names in common use in private networks. */
const LOCAL_NAME = /(^|\.)(localhost|localdomain|local|internal|intranet|private|corp|home|lan|home\.arpa|test|invalid|onion|alt)$/;

/**
 * Whether the service may fetch an address that a client has chosen: https, no user and password, a name of the public DNS. IP addresses are refused in every
 * spelling. The function does not know what a name resolves to. Pure.
 */
export function isPublicAddress(address: string): boolean {
  const url = URL.parse(address);
  if (url === null || url.protocol !== 'https:' || url.username !== '' || url.password !== '') return false;
  // the URL parser turns each spelling of an IPv4 address into four decimal numbers, and escapes and other scripts into ASCII
  const name = url.hostname.toLowerCase().replace(/\.$/, '');
  if (name.startsWith('[') || /^\d+(\.\d+)*$/.test(name)) return false;
  return /^[a-z0-9_-]+(\.[a-z0-9_-]+)+$/.test(name) && !LOCAL_NAME.test(name);
}

/** The error of a refused fetch, of the type that the runtime throws when it cannot connect. */
const refused = (why: string): TypeError => new TypeError(`not fetched: ${why}`);

/** The media types of JSON (RFC 6839, 3.1). */
const JSON_TYPE = /^application\/(?:[a-z0-9.+-]+\+)?json\s*(?:;|$)/i;

/**
 * `fetch` for such addresses: it refuses others before it connects, follows no redirect, and takes JSON only. A host that lets anybody keep texts (a paste, an
 * attachment) does not serve them as JSON, so nobody can publish a client in its name. @throws TypeError
 */
export const publicFetch =
  (real: typeof fetch): typeof fetch =>
  async (input, init) => {
    if (!isPublicAddress(input instanceof Request ? input.url : String(input))) throw refused('the address is not a public one');
    const response = await real(input, { ...init, redirect: 'manual' });
    const redirects = response.type === 'opaqueredirect' || (response.status >= 300 && response.status <= 399);
    if (!redirects && (!response.ok || JSON_TYPE.test(response.headers.get('content-type') ?? ''))) return response;
    await response.body?.cancel().catch(() => undefined);
    throw refused(redirects ? 'the address redirects' : 'the answer is not JSON');
  };

const publicOnly = new AsyncLocalStorage<boolean>();
const guards = new WeakSet<object>();

/** Wraps the global `fetch`, which is the only one that the library calls. Outside of `fetchingPublic` it behaves as before. */
function guardFetch(): void {
  const real = globalThis.fetch;
  if (guards.has(real)) return;
  const outside = publicFetch(real);
  const guarded: typeof fetch = (input, init) => (publicOnly.getStore() === true ? outside(input, init) : real(input, init));
  guards.add(guarded);
  globalThis.fetch = guarded;
}

/**
 * Wraps `console.warn`: what the library writes there has texts of clients, as they came, and a line end in them would begin a line of the log. The service
 * logs the same refusals itself.
 */
function guardWarnings(): void {
  const real = console.warn;
  if (guards.has(real)) return;
  const guarded: typeof console.warn = (...parts) => {
    if (publicOnly.getStore() !== true) real(...parts);
  };
  guards.add(guarded);
  console.warn = guarded;
}

/** Runs a call of the library during which only public addresses are fetched, and nothing is written to the console. */
export function fetchingPublic<T>(work: () => Promise<T>): Promise<T> {
  guardFetch();
  guardWarnings();
  return publicOnly.run(true, work);
}

/** Runs a callback of the library that fetches addresses of the settings, such as the catalog. */
export const fetchingOwn = <T>(work: () => Promise<T>): Promise<T> => publicOnly.run(false, work);
