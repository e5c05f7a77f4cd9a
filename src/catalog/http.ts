/** The catalog's requests to a server of Neon's SQL-over-HTTP protocol. They are those of `@neondatabase/serverless`, which contains PostgreSQL's own protocol too. */
import { type Connection, endpointOf, isSafeAddress, sentConnection } from '../connection.ts';

export type Param = string | number | boolean | null | readonly string[];
export type Row = Readonly<Record<string, unknown>>;

/** A statement with its values. */
export interface Sent {
  readonly sql: string;
  readonly params: readonly Param[];
}

/** An error that PostgreSQL reported. */
export class ReportedError extends Error {
  readonly sqlstate: string;
  readonly constraint: string | undefined;
  constructor(sqlstate: string, message: string, constraint: string | undefined) {
    super(message);
    this.name = 'ReportedError';
    this.sqlstate = sqlstate;
    this.constraint = constraint;
  }
}

const APPLICATION_NAME = 'svc-catalog';

/**
 * Runs one statement, or several in one transaction, and returns the rows of each.
 * @throws ReportedError, or another Error if the server cannot be reached or answers something else
 */
export async function exchange(connection: Connection, statements: Sent | readonly Sent[], timeoutMs: number): Promise<readonly (readonly Row[])[]> {
  const endpoint = endpointOf(connection);
  // any code can construct a Connection, so check again that the password is not sent unencrypted
  if (!isSafeAddress(endpoint)) throw new Error('the address of the catalog is not an https address');
  const response = await fetch(endpoint, {
    method: 'POST',
    headers: {
      'Neon-Connection-String': sentConnection(connection.url, APPLICATION_NAME),
      'Neon-Raw-Text-Output': 'true',
      'Neon-Array-Mode': 'true',
    },
    body: JSON.stringify(isList(statements) ? { queries: statements.map(asQuery) } : asQuery(statements)),
    // following a redirect would send the connection string to another host
    redirect: 'manual',
    signal: AbortSignal.timeout(timeoutMs),
  });
  if (response.status === 400) {
    const { code, message, constraint } = (await response.json()) as { code?: unknown; message?: unknown; constraint?: unknown };
    if (typeof code === 'string') throw new ReportedError(code, String(message), typeof constraint === 'string' ? constraint : undefined);
    throw new Error(String(message));
  }
  if (response.status !== 200) {
    await response.body?.cancel();
    throw new Error(`HTTP status ${response.status}`);
  }
  const answer = (await response.json()) as Result & { readonly results?: readonly Result[] };
  return (isList(statements) ? (answer.results ?? []) : [answer]).map(rowsOf);
}

const isList = (statements: Sent | readonly Sent[]): statements is readonly Sent[] => Array.isArray(statements);

const asQuery = ({ sql, params }: Sent): { query: string; params: readonly (string | null)[] } => ({ query: sql, params: params.map(textOf) });

/** A value in PostgreSQL's text form. */
function textOf(value: Param): string | null {
  if (value === null) return null;
  if (typeof value !== 'object') return String(value);
  return `{${value.map((item) => `"${item.replace(/[\\"]/g, '\\$&')}"`).join(',')}}`;
}

interface Result {
  readonly fields: readonly { readonly name: string; readonly dataTypeID: number }[];
  readonly rows: readonly (readonly (string | null)[])[];
}

/** How the text of a value is read, by the OID of its type. Values of other types are their text. */
const READERS: Readonly<Record<number, (text: string) => unknown>> = {
  16: (text) => text === 't',
  21: Number,
  23: Number,
  114: JSON.parse,
  3802: JSON.parse,
};

function rowsOf({ fields, rows }: Result): readonly Row[] {
  const readers = fields.map(({ dataTypeID }) => READERS[dataTypeID]);
  return rows.map((row) => Object.fromEntries(row.map((text, i) => [fields[i]?.name, text === null ? null : (readers[i]?.(text) ?? text)])));
}
