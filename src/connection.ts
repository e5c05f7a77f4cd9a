/** Parses connections to databases in settings: CATALOG_URL and DATASOURCE_<NAME>. */

export interface Connection {
  /** The connection string. */
  readonly url: string;
  /** The address of the SQL-over-HTTP server; null: Neon's own (`endpointOf`). */
  readonly endpoint: string | null;
}

/** A value is not a connection. The message says what is expected and does not contain the value. */
export class BadConnection extends Error {
  constructor(expected: string) {
    super(expected);
    this.name = 'BadConnection';
  }
}

/**
 * Parses a connection: a connection string, or JSON `{"url","endpoint"}` for a server of the SQL-over-HTTP protocol.
 *
 * @throws BadConnection
 */
export function readConnection(value: string): Connection {
  const text = value.trim();
  let url: unknown = text;
  let endpoint: unknown = null;
  if (text.startsWith('{')) {
    try {
      ({ url, endpoint = null } = JSON.parse(text) as Record<string, unknown>);
    } catch {
      throw new BadConnection('a connection string or JSON {"url","endpoint"}');
    }
  }
  if (typeof url !== 'string' || (endpoint !== null && typeof endpoint !== 'string')) {
    throw new BadConnection('a connection string or JSON {"url","endpoint"}');
  }
  parseConnectionString(url);
  const address = endpoint === null ? '' : endpoint.trim();
  if (address !== '' && !isSafeAddress(address)) throw new BadConnection('JSON whose endpoint is an https address (http on loopback only)');
  return { url: url.trim(), endpoint: address === '' ? null : address };
}

/**
 * Parses a connection string. As in `@neondatabase/serverless` 1.2.0, it is parsed with the scheme `http`, so that the URL parser recognizes the host, and it
 * must have a user, a host and a database.
 *
 * @throws BadConnection
 */
export function parseConnectionString(url: string): URL {
  const rest = /^postgres(?:ql)?:(\/\/.+)$/.exec(url.trim())?.[1];
  const text = `http:${rest ?? ''}`;
  if (rest === undefined || !URL.canParse(text)) throw new BadConnection('a connection string postgresql://user:password@host/database');
  const parsed = new URL(text);
  if (parsed.username === '' || parsed.hostname === '' || parsed.pathname.length < 2)
    throw new BadConnection('a connection string with user, host and database');
  return parsed;
}

/** True for `localhost`, 127.0.0.0/8 and ::1. @param hostname in the form of `URL.hostname` */
export const isLoopbackHost = (hostname: string): boolean => /^(localhost|127(\.\d{1,3}){3}|\[::1\])$/.test(hostname);

/**
 * True if the service may send secrets to an address: https, or http on loopback, without user and password.
 * Names below `localhost` are excluded, because RFC 6761, section 6.3 only recommends that resolvers do not send them to DNS.
 */
export function isSafeAddress(address: string): boolean {
  if (!URL.canParse(address)) return false;
  const { protocol, hostname, username, password } = new URL(address);
  if (username !== '' || password !== '') return false;
  return protocol === 'https:' || (protocol === 'http:' && isLoopbackHost(hostname));
}

/** The address that `@neondatabase/serverless` 1.2.0 uses for a host (its default `fetchEndpoint`): the first label is replaced by `api`. */
const neonEndpoint = (hostname: string): string => `https://${hostname.replace(/^[^.]+\./, 'api.')}/sql`;

/** The address of the SQL-over-HTTP server of a connection. @throws BadConnection */
export const endpointOf = ({ url, endpoint }: Connection): string => endpoint ?? neonEndpoint(parseConnectionString(url).hostname);

/**
 * Returns the connection string that is sent to the server, as the driver sends it: with the scheme `postgresql`, the URL normalised, and an `application_name`
 * added if it is missing.
 * @throws BadConnection
 */
export function sentConnection(url: string, applicationName: string): string {
  const parsed = parseConnectionString(url);
  if (!parsed.searchParams.has('application_name')) parsed.searchParams.append('application_name', applicationName);
  return `postgresql:${parsed.href.slice(parsed.protocol.length)}`;
}
