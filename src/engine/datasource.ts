/** A datasource: a PostgreSQL behind a server of Neon's SQL-over-HTTP protocol. */
import { SvcError } from '../errors.ts';

/** Where to run statements. `url` and `endpoint` come from a secret and never leave the engine but as a header. */
export interface Datasource {
  /** As the ontology names it (`main`). */
  readonly name: string;
  /** The connection string, which travels as a header. */
  readonly url: string;
  /** The address of the SQL-over-HTTP server. */
  readonly endpoint: string;
}

/** The parameter that the connection string carries besides its own, so that pg_stat_activity tells who asks. */
const APPLICATION_NAME = 'svc';

const misconfigured = (expected: string): SvcError =>
  new SvcError(502, 'datasource_failed', `the secret of the datasource is not usable: it must be ${expected}`, {
    hint: 'The operator of the service has to mend it.',
  });

/**
 * Reads the value of a secret `DATASOURCE_<NAME>` (docs/design/platform-rules.md#sql-over-http): a connection string, with Neon's own endpoint, or JSON
 * `{"url","endpoint"}` for any server of the protocol.
 *
 * @throws SvcError 502 `datasource_failed`, which never shows the value
 */
export function parseDatasourceSecret(value: string): { url: string; endpoint: string } {
  const text = value.trim();
  let url: unknown = text;
  let endpoint: unknown = null;
  if (text.startsWith('{')) {
    try {
      ({ url, endpoint } = JSON.parse(text) as Record<string, unknown>);
    } catch {
      throw misconfigured('a connection string or JSON {"url","endpoint"}');
    }
  }
  if (typeof url !== 'string') throw misconfigured('a connection string or JSON {"url","endpoint"}');
  const parsed = parseConnectionString(url);
  if (endpoint === null || endpoint === undefined || endpoint === '') return { url: url.trim(), endpoint: neonEndpoint(parsed.hostname) };
  if (typeof endpoint !== 'string' || !isSafeEndpoint(endpoint)) throw misconfigured('JSON whose endpoint is an https address (http on loopback only)');
  return { url: url.trim(), endpoint };
}

/** The address that `@neondatabase/serverless` 1.2.0 asks for a host (its default `fetchEndpoint`): the first label becomes `api`. */
export const neonEndpoint = (hostname: string): string => `https://${hostname.replace(/^[^.]+\./, 'api.')}/sql`;

/** Whether a connection string may be sent there: https anywhere, http on loopback only. */
export function isSafeEndpoint(endpoint: string): boolean {
  if (!URL.canParse(endpoint)) return false;
  const { protocol, hostname, username, password } = new URL(endpoint);
  if (username !== '' || password !== '') return false;
  if (protocol === 'https:') return true;
  return protocol === 'http:' && (hostname === 'localhost' || hostname === '[::1]' || /^127(\.\d{1,3}){3}$/.test(hostname));
}

/**
 * The value of `Neon-Connection-String`, in the form in which the driver sends it: scheme `postgresql`, the URL
 * normalised, an `application_name` added where there is none.
 */
export function connectionHeader(url: string): string {
  const parsed = parseConnectionString(url);
  if (!parsed.searchParams.has('application_name')) parsed.searchParams.append('application_name', APPLICATION_NAME);
  return `postgresql:${parsed.href.slice(parsed.protocol.length)}`;
}

/** A connection string as a URL of a scheme that has a host for the URL parser (as the driver does it). */
function parseConnectionString(url: string): URL {
  const match = /^(postgres(?:ql)?:)(\/\/.+)$/.exec(url.trim());
  const text = `http:${match?.[2] ?? ''}`;
  if (!match || !URL.canParse(text)) throw misconfigured('a connection string postgresql://user:password@host/database');
  const parsed = new URL(text);
  if (parsed.username === '' || parsed.hostname === '' || parsed.pathname.length < 2) throw misconfigured('a connection string with user, host and database');
  return parsed;
}
