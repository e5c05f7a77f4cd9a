/**
 * Restricts fetches of addresses that clients choose: client ID metadata documents and the keys that they name. A deployed Worker can reach public addresses
 * only (`global_fetch_strictly_public`); a local runtime could also connect to loopback and to private networks.
 */
import { AsyncLocalStorage } from 'node:async_hooks';

/** Names outside the public DNS: those of RFC 6761, RFC 6762 and RFC 8375, `internal`, and others that are common in private networks. */
const LOCAL_NAME = /(^|\.)(localhost|localdomain|local|internal|intranet|private|corp|home|lan|home\.arpa|test|invalid|onion|alt)$/;

/**
 * True if the service may fetch an address that a client has chosen: https, without user and password, with a name of the public DNS. IP addresses are refused
 * in every notation. The name is not resolved. Pure.
 */
export function isPublicAddress(address: string): boolean {
  const url = URL.parse(address);
  if (url === null || url.protocol !== 'https:' || url.username !== '' || url.password !== '') return false;
  // the URL parser converts every notation of an IPv4 address to four decimal numbers, and escapes and other scripts to ASCII
  const name = url.hostname.toLowerCase().replace(/\.$/, '');
  if (name.startsWith('[') || /^\d+(\.\d+)*$/.test(name)) return false;
  return /^[a-z0-9_-]+(\.[a-z0-9_-]+)+$/.test(name) && !LOCAL_NAME.test(name);
}

/** The error of a refused fetch. The runtime throws the same type when it cannot connect. */
const refused = (why: string): TypeError => new TypeError(`not fetched: ${why}`);

/** The media types of JSON (RFC 6839, 3.1). */
const JSON_TYPE = /^application\/(?:[a-z0-9.+-]+\+)?json\s*(?:;|$)/i;

/**
 * A `fetch` for public addresses. It refuses other addresses before it connects, follows no redirects, and accepts JSON only. A host with content of its users
 * (pastes, attachments) does not serve it as JSON, so its users cannot publish clients under its name. @throws TypeError
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

/** Wraps the global `fetch`, which is the only one that the library calls. Outside of `fetchingPublic` it is unchanged. */
function guardFetch(): void {
  const real = globalThis.fetch;
  if (guards.has(real)) return;
  const restricted = publicFetch(real);
  const guarded: typeof fetch = (input, init) => (publicOnly.getStore() === true ? restricted(input, init) : real(input, init));
  guards.add(guarded);
  globalThis.fetch = guarded;
}

/**
 * Wraps `console.warn`. The library writes unescaped texts of clients there, and a newline in them would start a new line of the log. The service logs the
 * same refusals itself.
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

/** Calls the library. During the call, only public addresses can be fetched, and warnings are not written to the console. */
export function fetchingPublic<T>(work: () => Promise<T>): Promise<T> {
  guardFetch();
  guardWarnings();
  return publicOnly.run(true, work);
}

/** Runs a callback of the library without these restrictions, because it fetches addresses from the settings, such as the catalog. */
export const fetchingOwn = <T>(work: () => Promise<T>): Promise<T> => publicOnly.run(false, work);
