/** The rows of one statement as bytes of a JSON array, small answers whole, large ones streamed. */
import { concat, wholeOf } from '../bytes.ts';
import { SvcError } from '../errors.ts';
import { type BodyReader, bodyReader } from './body.ts';
import { type Exchange, type Fetch, send } from './client.ts';
import { RowCutter } from './cutter.ts';
import type { Datasource } from './datasource.ts';
import { datasourceFailed, type FaultContext, resultTooLarge } from './errors.ts';
import { DEFAULT_SETTINGS, fits, fromProbe, knownRole, missingSettings, PROBE, rememberRole, type Settings } from './settings.ts';
import type { Statement } from './statement.ts';

/** A statement whose rows are wanted, and its limits. */
export interface RowsRequest extends Statement, FaultContext {
  readonly timeoutMs: number;
  /** The most bytes that the datasource may answer; above it 400 `result_too_large`, or an aborted stream. */
  readonly maxBytes: number;
  /** Ends the statement: the caller's request. */
  readonly signal?: AbortSignal | undefined;
  /** Besides `DEFAULT_SETTINGS`, or instead of them. */
  readonly settings?: Settings | undefined;
  /** For tests: another way to send. */
  readonly fetch?: Fetch | undefined;
}

/** What came, once all has come. */
export interface RowCounts {
  readonly rows: number;
  /** Bytes of the JSON array. */
  readonly bytes: number;
}

/** Rows as the text of a JSON array `[{..},{..}]`. To be taken once, by `whole`, `stream` or `body`, or to be cancelled. */
export interface RowStream {
  /** The array, where it is small enough to be here already (up to 1 MiB). */
  readonly whole: Uint8Array | undefined;
  /** The array as a stream; it fails with a SvcError where the datasource breaks or `maxBytes` is exceeded. */
  readonly stream: ReadableStream<Uint8Array>;
  /** The array between two texts: bytes where it is whole, else a stream. */
  body(before?: string, after?: string): Uint8Array<ArrayBuffer> | ReadableStream<Uint8Array>;
  /** Settles when the last byte has been handed out. Need not be awaited. */
  readonly done: Promise<RowCounts>;
  /** Ends the statement and the transfer. */
  cancel(): void;
}

/** Up to this size a fault still gets its status (docs/design/rows-and-json.md#streaming-and-limits-of-size). */
const BUFFER_BYTES = 1024 * 1024;
/** A piece smaller than this is copied out of the buffer that it was read into. */
const SMALL_BYTES = 16 * 1024;

/**
 * Runs one statement that yields one json column, in one HTTP request: plainly where the datasource's role carries the
 * settings, else in a read-only batch that sets them.
 *
 * @throws SvcError before any row is promised: 400 `result_too_large` or what PostgreSQL says of the statement, 502
 *   `datasource_failed`, 504 `statement_timeout`
 */
export async function runRows(ds: Datasource, request: RowsRequest): Promise<RowStream> {
  const sent = await sendReading(ds, request, false);
  const { exchange, cutter } = sent;
  try {
    const source = await firstBytes(exchange, cutter, request.maxBytes);
    if (sent.probed) learn(ds, cutter);
    return source.reader === undefined ? wholeRows(source, cutter) : streamedRows(source, source.reader, exchange, cutter, request.maxBytes);
  } catch (error) {
    exchange.abort();
    throw error instanceof SvcError ? error : exchange.failure(error);
  } finally {
    exchange.release();
  }
}

/** A statement of a caller that has been sent under the settings. */
export interface SentReading {
  readonly exchange: Exchange;
  readonly cutter: RowCutter;
  /** Statements of the batch, the wanted one last; 0: sent alone. */
  readonly results: number;
  /** The batch's first result is the probe's. */
  readonly probed: boolean;
}

/** Sends a reading statement under the settings that every statement of a caller has. */
export async function sendReading(ds: Datasource, request: Omit<RowsRequest, 'maxBytes'> & { maxBytes?: number }, rawText: boolean): Promise<SentReading> {
  const settings = request.settings === undefined ? DEFAULT_SETTINGS : { ...DEFAULT_SETTINGS, ...request.settings };
  const role = knownRole(ds);
  const alone = role !== undefined && fits(role, settings, request.timeoutMs);
  const statements: Statement[] = [
    ...(role === undefined ? [PROBE] : []),
    ...(alone ? [] : missingSettings(role, settings, request.timeoutMs)),
    { text: request.text, params: request.params ?? [] },
  ];
  const results = alone ? 0 : statements.length;
  const { timeoutMs, signal, physicalNames, ownText, quiet, maxBytes, fetch } = request;
  const exchange = await send(ds, results === 0 ? (statements[0] as Statement) : statements, {
    timeoutMs,
    signal,
    physicalNames,
    ownText,
    quiet,
    maxBytes,
    fetch,
    rawText,
    readOnly: true,
    retry: true,
  });
  return { exchange, cutter: new RowCutter(results), results, probed: role === undefined };
}

function learn(ds: Datasource, cutter: RowCutter): void {
  const bytes = cutter.captured();
  if (bytes === undefined) return;
  try {
    const role = fromProbe((JSON.parse(new TextDecoder().decode(bytes)) as { rows?: unknown[][] }).rows);
    if (role !== undefined) rememberRole(ds, role);
  } catch {
    // What is not known is asked again.
  }
}

interface FirstBytes {
  /** Pieces of the JSON array. */
  readonly pieces: Uint8Array[];
  /** Bytes of the body so far. */
  readonly received: number;
  /** Where the rest comes from; undefined: all is here. */
  readonly reader: BodyReader | undefined;
}

async function firstBytes(exchange: Exchange, cutter: RowCutter, maxBytes: number): Promise<FirstBytes> {
  const { response } = exchange;
  const length = response.headers.has('content-encoding') ? undefined : Number(response.headers.get('content-length') ?? Number.NaN);
  if (length !== undefined && length > maxBytes) throw resultTooLarge(maxBytes);
  if (response.body === null) throw datasourceFailed(undefined);
  if (length !== undefined && length <= BUFFER_BYTES) {
    const bytes = new Uint8Array(await response.arrayBuffer());
    if (bytes.length > maxBytes) throw resultTooLarge(maxBytes);
    const piece = cutter.push(bytes);
    cutter.finish();
    return { pieces: [piece], received: bytes.length, reader: undefined };
  }
  const reader = bodyReader(response.body);
  const pieces: Uint8Array[] = [];
  let received = 0;
  while (received <= BUFFER_BYTES) {
    const chunk = await reader.read();
    if (chunk === undefined) {
      cutter.finish();
      return { pieces: [wholeOf(pieces)], received, reader: undefined };
    }
    received += chunk.length;
    if (received > maxBytes) throw resultTooLarge(maxBytes);
    const piece = cutter.push(chunk);
    if (piece.length > 0) pieces.push(piece.length < SMALL_BYTES ? piece.slice() : piece);
  }
  return { pieces, received, reader };
}

const EMPTY = new Uint8Array(0);
const encoder = new TextEncoder();

function wholeRows(source: FirstBytes, cutter: RowCutter): RowStream {
  const whole = source.pieces[0] ?? EMPTY;
  return {
    whole,
    get stream() {
      return new Response(whole as Uint8Array<ArrayBuffer>).body as ReadableStream<Uint8Array>;
    },
    body: (before = '', after = '') => concat([encoder.encode(before), whole, encoder.encode(after)]),
    done: Promise.resolve({ rows: cutter.rows, bytes: whole.length }),
    cancel: () => undefined,
  };
}

function streamedRows(source: FirstBytes, reader: BodyReader, exchange: Exchange, cutter: RowCutter, maxBytes: number): RowStream {
  const { promise: done, resolve, reject } = Promise.withResolvers<RowCounts>();
  done.catch(() => undefined);
  const stop = (): void => {
    exchange.abort();
    reject(new Error('the rows were not taken'));
  };
  const body = (before = '', after = ''): ReadableStream<Uint8Array> => {
    const queue = source.pieces.splice(0);
    let bytes = queue.reduce((sum, piece) => sum + piece.length, 0);
    let received = source.received;
    if (before !== '') queue.unshift(encoder.encode(before));
    let next = 0;
    /** The next piece of the array; undefined at its end. */
    const more = async (): Promise<Uint8Array | undefined> => {
      for (;;) {
        const chunk = await exchange.watch(() => reader.read());
        if (chunk === undefined) {
          cutter.finish();
          return undefined;
        }
        received += chunk.length;
        if (received > maxBytes) throw resultTooLarge(maxBytes);
        const piece = cutter.push(chunk);
        if (piece.length > 0) return piece;
      }
    };
    return new ReadableStream<Uint8Array>(
      {
        async pull(controller) {
          if (next < queue.length) {
            controller.enqueue(queue[next] as Uint8Array);
            queue[next++] = EMPTY;
            return;
          }
          try {
            const piece = await more();
            if (piece !== undefined) {
              bytes += piece.length;
              controller.enqueue(piece);
              return;
            }
            if (after !== '') controller.enqueue(encoder.encode(after));
            controller.close();
            resolve({ rows: cutter.rows, bytes });
          } catch (error) {
            const told = error instanceof SvcError ? error : exchange.failure(error);
            exchange.abort();
            reject(told);
            // Aborted, never mended: a client must not take a part for the whole.
            controller.error(told);
          }
        },
        cancel: stop,
      },
      { highWaterMark: 0 },
    );
  };
  let plain: ReadableStream<Uint8Array> | undefined;
  return {
    whole: undefined,
    get stream() {
      plain ??= body();
      return plain;
    },
    body,
    done,
    cancel: stop,
  };
}
