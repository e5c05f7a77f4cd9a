/** A datasource: a PostgreSQL database that is reached through a server of Neon's SQL-over-HTTP protocol. */
import { BadConnection, endpointOf, readConnection, sentConnection } from '../connection.ts';
import { SvcError } from '../errors.ts';

/** Where statements run. `url` and `endpoint` come from a secret; they leave the engine only in the request to the server. */
export interface Datasource {
  /** Its name in the ontology, such as `main`. */
  readonly name: string;
  /** The connection string, which is sent as a header. */
  readonly url: string;
  /** The address of the SQL-over-HTTP server. */
  readonly endpoint: string;
}

/** Added to the connection string, so that pg_stat_activity shows which application runs a statement. */
const APPLICATION_NAME = 'svc';

const misconfigured = (expected: string): SvcError =>
  new SvcError(502, 'datasource_failed', `the secret of the datasource is invalid: it must be ${expected}`, {
    hint: 'Ask the operator to fix the configuration.',
  });

/**
 * Parses the value of a secret `DATASOURCE_<NAME>` (docs/design/platform-rules.md#sql-over-http): a connection string, for Neon's own endpoint, or JSON
 * `{"url","endpoint"}`, for any server of the protocol.
 *
 * @throws SvcError 502 `datasource_failed`; the message does not contain the value
 */
export function parseDatasourceSecret(value: string): { url: string; endpoint: string } {
  return checked(() => {
    const connection = readConnection(value);
    return { url: connection.url, endpoint: endpointOf(connection) };
  });
}

/** Converts BadConnection to SvcError 502 `datasource_failed`. */
function checked<T>(read: () => T): T {
  try {
    return read();
  } catch (error) {
    if (error instanceof BadConnection) throw misconfigured(error.message);
    throw error;
  }
}

/** Returns the value of the header `Neon-Connection-String`. @throws SvcError 502 `datasource_failed` */
export const connectionHeader = (url: string): string => checked(() => sentConnection(url, APPLICATION_NAME));
