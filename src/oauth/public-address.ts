/**
 * Addresses that others choose and the service fetches: client ID metadata documents, and the keys that they name. A deployed Worker reaches public addresses
 * only (`global_fetch_strictly_public`); elsewhere the runtime would connect to loopback and to private networks too.
 */
import { AsyncLocalStorage } from 'node:async_hooks';

/** Names that lead to nothing public: RFC 6761 and 6762, home.arpa (RFC 8375), internal, and what networks use among themselves. */
const LOCAL_NAME = /(^|\.)(localhost|localdomain|local|internal|intranet|private|corp|home|lan|home\.arpa|test|invalid|onion|alt)$/;

/**
 * Whether an address may be fetched on behalf of somebody else: https, without a user or password, and with a name of the public DNS. An IP address in any
 * spelling is none: clients have names, and each range that leads inside would have to be known. What a name resolves to is not known here. Pure.
 */
export function isPublicAddress(address: string): boolean {
  const url = URL.parse(address);
  if (url === null || url.protocol !== 'https:' || url.username !== '' || url.password !== '') return false;
  // the parser has turned each spelling of an IPv4 address into four numbers, and other scripts and escapes into ASCII
  const name = url.hostname.toLowerCase().replace(/\.$/, '');
  if (name.startsWith('[') || /^\d+(\.\d+)*$/.test(name)) return false;
  return /^[a-z0-9_-]+(\.[a-z0-9_-]+)+$/.test(name) && !LOCAL_NAME.test(name);
}

/** A refused fetch, as the runtime fails one that cannot connect. */
const refused = (why: string): TypeError => new TypeError(`not fetched: ${why}`);

/** `fetch` for such addresses: others are refused before anything is connected to, and no redirect is followed. */
export const publicFetch =
  (real: typeof fetch): typeof fetch =>
  async (input, init) => {
    if (!isPublicAddress(input instanceof Request ? input.url : String(input))) throw refused('the address is not a public one');
    const response = await real(input, { ...init, redirect: 'manual' });
    if (response.type !== 'opaqueredirect' && (response.status < 300 || response.status > 399)) return response;
    await response.body?.cancel().catch(() => undefined);
    throw refused('the address redirects');
  };

const publicOnly = new AsyncLocalStorage<boolean>();
const guards = new WeakSet<object>();

/** The library takes the global `fetch` and no other: it is wrapped once, and is as it was for everybody else. */
function guardFetch(): void {
  const real = globalThis.fetch;
  if (guards.has(real)) return;
  const outside = publicFetch(real);
  const guarded: typeof fetch = (input, init) => (publicOnly.getStore() === true ? outside(input, init) : real(input, init));
  guards.add(guarded);
  globalThis.fetch = guarded;
}

/** Runs work of the library: whatever it fetches meanwhile is a public address. */
export function fetchingPublic<T>(work: () => Promise<T>): Promise<T> {
  guardFetch();
  return publicOnly.run(true, work);
}

/** Runs work of our own that the library calls meanwhile: it fetches what the settings name, such as the catalog. */
export const fetchingOwn = <T>(work: () => Promise<T>): Promise<T> => publicOnly.run(false, work);
