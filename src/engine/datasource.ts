/** A datasource: a PostgreSQL behind a server of Neon's SQL-over-HTTP protocol. */
import { BadConnection, parseConnectionString, readConnection } from '../connection.ts';
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
  const { url, endpoint } = usable(() => readConnection(value));
  return { url, endpoint: endpoint ?? neonEndpoint(parseConnectionString(url).hostname) };
}

/** @throws SvcError 502 `datasource_failed` instead of BadConnection */
function usable<T>(read: () => T): T {
  try {
    return read();
  } catch (error) {
    if (error instanceof BadConnection) throw misconfigured(error.message);
    throw error;
  }
}

/** The address that `@neondatabase/serverless` 1.2.0 asks for a host (its default `fetchEndpoint`): the first label becomes `api`. */
export const neonEndpoint = (hostname: string): string => `https://${hostname.replace(/^[^.]+\./, 'api.')}/sql`;

/**
 * The value of `Neon-Connection-String`, in the form in which the driver sends it: scheme `postgresql`, the URL
 * normalised, an `application_name` added where there is none.
 */
export function connectionHeader(url: string): string {
  const parsed = usable(() => parseConnectionString(url));
  if (!parsed.searchParams.has('application_name')) parsed.searchParams.append('application_name', APPLICATION_NAME);
  return `postgresql:${parsed.href.slice(parsed.protocol.length)}`;
}
