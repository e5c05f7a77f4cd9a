/**
 * One HTTP request of Neon's SQL-over-HTTP protocol: what `@neondatabase/serverless` sends, but with raw text off where
 * rows stream, so that a json column comes as PostgreSQL wrote it.
 */
import { readBounded } from '../bytes.ts';
import { isSafeAddress } from '../connection.ts';
import { SvcError } from '../errors.ts';
import { connectionHeader, type Datasource } from './datasource.ts';
import { callerGone, DatasourceFault, datasourceFailed, type FaultContext, faultOf, statementTimeout } from './errors.ts';
import { type Statement, sqlOf } from './statement.ts';

export type Fetch = (input: string, init: RequestInit) => Promise<Response>;

/** Past its own time-out, a statement's answer is waited for this long: PostgreSQL's cancel comes first. */
const GRACE_MS = 2000;
/** Of an error's body no more is read. */
const ERROR_BYTES = 64 * 1024;

export interface SendOptions extends FaultContext {
  readonly timeoutMs: number;
  /** The caller's own: aborted when it goes away. */
  readonly signal?: AbortSignal | undefined;
  /** Values as PostgreSQL's text (true) or as JSON (false). */
  readonly rawText: boolean;
  /** A batch's transaction is read-only. */
  readonly readOnly?: boolean | undefined;
  /** Sent once more where the connection fails before any byte: for reads alone. */
  readonly retry: boolean;
  readonly fetch?: Fetch | undefined;
}

/** An answer of status 200, its body unread. */
export interface Exchange {
  readonly response: Response;
  /** Ends the statement and the transfer. */
  readonly abort: () => void;
  /** The limit on the head of the answer and its first bytes ends here; from now on that of `watch` holds. */
  readonly release: () => void;
  /** Waits for `step`, a read of the body: all steps together no longer than for the whole statement. The time in which nobody reads does not count. */
  readonly watch: <T>(step: () => Promise<T>) => Promise<T>;
  /** What a failure while reading the body is to the caller. */
  readonly failure: (error: unknown) => Error;
}

// A plain call: fetch refuses another `this` in workerd.
const ownFetch: Fetch = (input, init) => fetch(input, init);

/**
 * Sends one statement (an object) or a batch (an array) and waits for the answer's head.
 *
 * @throws SvcError as `errors.ts` has it, for every status but 200 and for every failure of the connection
 */
export async function send(ds: Datasource, statements: Statement | readonly Statement[], options: SendOptions): Promise<Exchange> {
  const abort = new AbortController();
  // passed on by hand: a signal made by AbortSignal.any costs a point query some hundredths of its time
  if (options.signal?.aborted) abort.abort();
  else options.signal?.addEventListener('abort', () => abort.abort(), { once: true });
  const limit = options.timeoutMs + GRACE_MS;
  let late = false;
  const expire = (): void => {
    late = true;
    abort.abort();
  };
  const timer = setTimeout(expire, limit);
  const release = (): void => clearTimeout(timer);
  const failure = (error: unknown): Error => {
    if (options.signal?.aborted) return callerGone(error);
    if (late) return statementTimeout(error);
    return datasourceFailed(new DatasourceFault(error instanceof Error ? error.message : 'the connection failed', { cause: error }));
  };
  let left = limit;
  const watch = async <T>(step: () => Promise<T>): Promise<T> => {
    const begun = Date.now();
    const patience = setTimeout(expire, left);
    try {
      return await step();
    } finally {
      clearTimeout(patience);
      left = Math.max(0, left - (Date.now() - begun));
    }
  };

  try {
    const response = await exchange(ds, statements, options, abort.signal);
    if (response.status === 200) return { response, abort: () => abort.abort(), release, watch, failure };
    const { bytes } = await readBounded(response.body, ERROR_BYTES);
    release();
    abort.abort();
    throw faultOf(response.status, new TextDecoder().decode(bytes), options);
  } catch (error) {
    release();
    throw error instanceof SvcError ? error : failure(error);
  }
}

async function exchange(ds: Datasource, statements: Statement | readonly Statement[], options: SendOptions, signal: AbortSignal): Promise<Response> {
  const connection = connectionOf(ds);
  const request = options.fetch ?? ownFetch;
  const init: RequestInit = {
    method: 'POST',
    headers: headersFor(connection, Array.isArray(statements), options),
    body: JSON.stringify(Array.isArray(statements) ? { queries: statements.map(asQuery) } : asQuery(statements as Statement)),
    // A redirect would carry the connection string to wherever it points.
    redirect: 'manual',
    signal,
  };
  try {
    return await request(ds.endpoint, init);
  } catch (error) {
    if (!options.retry || signal.aborted) throw error;
    return await request(ds.endpoint, init);
  }
}

/** The one place where a text becomes a part of a request. */
const asQuery = (s: Statement): { query: string; params: readonly (string | null)[] } => ({ query: sqlOf(s.text), params: s.params ?? [] });

const connections = new WeakMap<Datasource, string>();

/** The header that carries the connection string, made once for a datasource. */
function connectionOf(ds: Datasource): string {
  let header = connections.get(ds);
  if (header === undefined) {
    // Datasource is plain data that others build too; the password must not travel in the clear.
    if (!isSafeAddress(ds.endpoint)) throw datasourceFailed(undefined, 'the address of the datasource is no https address');
    header = connectionHeader(ds.url);
    connections.set(ds, header);
  }
  return header;
}

function headersFor(connection: string, batch: boolean, options: SendOptions): Record<string, string> {
  const headers: Record<string, string> = {
    'Neon-Connection-String': connection,
    'Neon-Raw-Text-Output': String(options.rawText),
    'Neon-Array-Mode': 'true',
  };
  if (batch && options.readOnly !== undefined) headers['Neon-Batch-Read-Only'] = String(options.readOnly);
  return headers;
}
