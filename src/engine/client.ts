/**
 * One HTTP request of Neon's SQL-over-HTTP protocol. It is the request that `@neondatabase/serverless` sends, except that
 * raw text is off when rows are streamed, so that a json column arrives as PostgreSQL wrote it.
 */
import { readBounded } from '../bytes.ts';
import { isSafeAddress } from '../connection.ts';
import { SvcError } from '../errors.ts';
import { connectionHeader, type Datasource } from './datasource.ts';
import { CONFLICT, callerGone, DatasourceFault, datasourceFailed, type FaultContext, isUnprepared, statementTimeout } from './errors.ts';
import { type Statement, sqlOf } from './statement.ts';

export type Fetch = (input: string, init: RequestInit) => Promise<Response>;

/** Added to the statement timeout, so that PostgreSQL cancels the statement before the request is aborted. */
const GRACE_MS = 2000;
/** The most bytes that are read of an error's body. */
const ERROR_BYTES = 64 * 1024;

export interface SendOptions extends FaultContext {
  readonly timeoutMs: number;
  /** Aborted when the caller disconnects. */
  readonly signal?: AbortSignal | undefined;
  /** True: values are PostgreSQL's text; false: values are JSON. */
  readonly rawText: boolean;
  /** The transaction of a batch is read-only. */
  readonly readOnly?: boolean | undefined;
  /** Each statement of a batch sees what was committed before it, also if the default of the role is another one. */
  readonly readsCommitted?: boolean | undefined;
  /** Send the request again, once, if the connection fails before the answer begins, or if the server rolled it back for a conflict. Only for statements that read. */
  readonly retry: boolean;
  readonly fetch?: Fetch | undefined;
}

/** An answer with status 200 whose body has not been read. */
export interface Exchange {
  readonly response: Response;
  /** Cancels the statement and the transfer. */
  readonly abort: () => void;
  /** Stops the timer for the head of the answer and its first bytes. After that, only the limit of `watch` applies. */
  readonly release: () => void;
  /** Awaits `step`, a read of the body. All steps together may take as long as the statement. Time between the steps does not count. */
  readonly watch: <T>(step: () => Promise<T>) => Promise<T>;
  /** Converts a failure while reading the body to the error that the caller gets. */
  readonly failure: (error: unknown) => Error;
}

// workerd's fetch throws if it is called with another `this`
const globalFetch: Fetch = (input, init) => fetch(input, init);

/**
 * Sends one statement (an object) or a batch (an array) and waits for the answer's head. What the endpoint has not run because it lost the prepared statement is
 * sent once more, also if it writes.
 *
 * @throws SvcError for every status other than 200 and every failure of the connection (see `errors.ts`)
 */
export async function send(ds: Datasource, statements: Statement | readonly Statement[], options: SendOptions): Promise<Exchange> {
  const abort = new AbortController();
  // not AbortSignal.any, which adds a few percent to the time of a point query
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
    const stepTimer = setTimeout(expire, left);
    try {
      return await step();
    } finally {
      clearTimeout(stepTimer);
      left = Math.max(0, left - (Date.now() - begun));
    }
  };

  try {
    for (let again = true; ; again = false) {
      const response = await exchange(ds, statements, options, abort.signal);
      if (response.status === 200) return { response, abort: () => abort.abort(), release, watch, failure };
      const { bytes } = await readBounded(response.body, ERROR_BYTES);
      const { faultOf } = await import('./faults.ts');
      const fault = faultOf(response.status, new TextDecoder().decode(bytes), options);
      if (again && (isUnprepared(fault) || (options.retry && fault.code === CONFLICT))) continue;
      release();
      abort.abort();
      throw fault;
    }
  } catch (error) {
    release();
    throw error instanceof SvcError ? error : failure(error);
  }
}

async function exchange(ds: Datasource, statements: Statement | readonly Statement[], options: SendOptions, signal: AbortSignal): Promise<Response> {
  const connection = connectionOf(ds);
  const request = options.fetch ?? globalFetch;
  const init: RequestInit = {
    method: 'POST',
    headers: headersFor(connection, Array.isArray(statements), options),
    body: JSON.stringify(Array.isArray(statements) ? { queries: statements.map(asQuery) } : asQuery(statements as Statement)),
    // following a redirect would send the connection string to another host
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

/** The only function that puts the text of a statement into a request. */
const asQuery = (s: Statement): { query: string; params: readonly (string | null)[] } => ({ query: sqlOf(s.text), params: s.params ?? [] });

const connections = new WeakMap<Datasource, string>();

/** The header with the connection string; computed once for each datasource. */
function connectionOf(ds: Datasource): string {
  let header = connections.get(ds);
  if (header === undefined) {
    // any code can construct a Datasource, so check again that the password is not sent unencrypted
    if (!isSafeAddress(ds.endpoint)) throw datasourceFailed(undefined, 'the address of the datasource is not an https address');
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
  if (batch && options.readsCommitted) headers['Neon-Batch-Isolation-Level'] = 'ReadCommitted';
  return headers;
}
