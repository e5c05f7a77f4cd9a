/** The rows of one statement as the bytes of a JSON array. Small answers are buffered, large ones are streamed. */

import { type Share, shareOf } from '../answer-memory.ts';
import { concat, wholeOf } from '../bytes.ts';
import { SvcError } from '../errors.ts';
import { type BodyReader, bodyReader } from './body.ts';
import { type Exchange, type Fetch, send } from './client.ts';
import { RowCutter } from './cutter.ts';
import type { Datasource } from './datasource.ts';
import { datasourceFailed, type FaultContext, resultTooLarge } from './errors.ts';
import { DEFAULT_SETTINGS, fits, fromProbe, knownRole, missingSettings, PROBE, rememberRole, type Settings } from './settings.ts';
import type { Statement } from './statement.ts';

/** A statement that returns rows, and its limits. */
export interface RowsRequest extends Statement, FaultContext {
  readonly timeoutMs: number;
  /** The largest answer of the datasource, in bytes. A larger one leads to 400 `result_too_large`, or aborts the stream. */
  readonly maxBytes: number;
  /** The caller, whose share of the memory of answers (answer-memory.ts) waiting rows count against. */
  readonly owner: string;
  /** Ends the statement: the caller's request. */
  readonly signal?: AbortSignal | undefined;
  /** Settings that are added to `DEFAULT_SETTINGS` or override them. */
  readonly settings?: Settings | undefined;
  /** Sent before the statement, in the same transaction. Its rows are checked before a row of the statement is returned. */
  readonly check?: Check | undefined;
  /**
   * Sent after the statement, in the same transaction, in which it sees what was committed before it. The rows of the statement count only if it accepts: no complete
   * answer is returned before.
   */
  readonly checkAfter?: Check | undefined;
  /** False: a failed connection and a conflict are not repeated. */
  readonly retry?: boolean | undefined;
  /** Replaces the global `fetch` (for tests). */
  readonly fetch?: Fetch | undefined;
}

/** A statement whose rows decide whether those of another one may be used. */
export interface Check {
  readonly statement: Statement;
  /** Gets the rows; undefined if they are missing. What it throws fails the request. */
  readonly accept: (rows: readonly (readonly unknown[])[] | undefined) => void;
}

/** Totals of a completely transferred result. */
export interface RowCounts {
  readonly rows: number;
  /** Bytes of the JSON array. */
  readonly bytes: number;
}

/** Rows as the text of a JSON array `[{..},{..}]`. Consume it once, with `whole`, `stream` or `body`, or cancel it. */
export interface RowStream {
  /** The complete array if it is at most 1 MiB. */
  readonly whole: Uint8Array | undefined;
  /** True if the rows count only when the stream has ended (`checkAfter`): it must be read to its end, also if no more rows are needed. */
  readonly isTentative?: boolean;
  /** The array as a stream. It fails with a SvcError if the datasource fails or `maxBytes` is exceeded. */
  readonly stream: ReadableStream<Uint8Array>;
  /** The array between two texts: bytes if it is complete, else a stream. */
  body(before?: string, after?: string): Uint8Array<ArrayBuffer> | ReadableStream<Uint8Array>;
  /** Settles when the last byte has been read. Need not be awaited. */
  readonly done: Promise<RowCounts>;
  /** Cancels the statement and the transfer. */
  cancel(): void;
}

/** Answers up to this size are buffered, so that a fault can still set the HTTP status (docs/design/rows-and-json.md#streaming-and-limits-of-size). */
const BUFFER_BYTES = 1024 * 1024;
/** A piece smaller than this, half of what is read at a time, is copied out of the buffer that it was read into. */
const SMALL_BYTES = 32 * 1024;

/**
 * Runs one statement that returns one json column, in one HTTP request. If the datasource's role has the session settings, the
 * statement is sent as a single query, otherwise in a read-only batch that sets them.
 *
 * @throws SvcError 400 `result_too_large` or PostgreSQL's error in the statement; 502 `datasource_failed`; 504 `statement_timeout`. Later failures fail the
 *   stream.
 */
export async function runRows(ds: Datasource, request: RowsRequest): Promise<RowStream> {
  const sent = await sendReading(ds, request, false);
  const { exchange, cutter } = sent;
  const pieces: Uint8Array[] = [];
  const share = shareOf(request.owner, () => void pieces.splice(0));
  try {
    const source = await firstBytes(exchange, cutter, request.maxBytes, pieces, share);
    if (sent.probed || request.check !== undefined) readCaptured(ds, sent, request.check);
    const { checkAfter } = request;
    const accept = checkAfter && ((): void => checkAfter.accept(parsedResults(cutter.captured()).at(-1)?.rows));
    if (source.reader !== undefined) return new StreamedRows(source, source.reader, exchange, { cutter, accept, maxBytes: request.maxBytes });
    accept?.();
    share.end();
    return wholeRows(source, cutter);
  } catch (error) {
    share.end();
    exchange.abort();
    throw error instanceof SvcError ? error : exchange.failure(error);
  } finally {
    exchange.release();
  }
}

/** A statement that has been sent with the session settings. */
export interface SentReading {
  readonly exchange: Exchange;
  readonly cutter: RowCutter;
  /** The number of statements in the batch; 0: no batch. */
  readonly results: number;
  /** True if the first result of the batch is that of the probe. */
  readonly probed: boolean;
}

/** Sends a reading statement under the settings that every statement of a caller has. */
export async function sendReading(
  ds: Datasource,
  request: Omit<RowsRequest, 'maxBytes' | 'owner'> & { maxBytes?: number },
  rawText: boolean,
): Promise<SentReading> {
  const settings = request.settings === undefined ? DEFAULT_SETTINGS : { ...DEFAULT_SETTINGS, ...request.settings };
  const role = knownRole(ds);
  const single = role !== undefined && fits(role, settings, request.timeoutMs);
  const statements: Statement[] = [
    ...(request.check === undefined ? [] : [request.check.statement]),
    ...(role === undefined ? [PROBE] : []),
    ...(single ? [] : missingSettings(role, settings, request.timeoutMs)),
    { text: request.text, params: request.params ?? [] },
    ...(request.checkAfter === undefined ? [] : [request.checkAfter.statement]),
  ];
  const after = request.checkAfter === undefined ? 0 : 1;
  const results = single && request.check === undefined && after === 0 ? 0 : statements.length;
  const { timeoutMs, signal, physicalNames, ownText, mayQuote, maxBytes, fetch } = request;
  const exchange = await send(ds, results === 0 ? (statements[0] as Statement) : statements, {
    timeoutMs,
    signal,
    physicalNames,
    ownText,
    mayQuote,
    maxBytes,
    fetch,
    rawText,
    readOnly: true,
    readsCommitted: after > 0,
    retry: request.retry ?? true,
  });
  return { exchange, cutter: new RowCutter(results, request.check === undefined ? 1 : 2, after), results, probed: role === undefined };
}

/** Reads the results before that of the statement: of the check, then of the probe. @throws what the check throws */
function readCaptured(ds: Datasource, { cutter, probed }: SentReading, check: Check | undefined): void {
  const results = parsedResults(cutter.captured());
  if (probed) {
    const role = fromProbe(results[check === undefined ? 0 : 1]?.rows);
    // without them the next statement sends the probe again
    if (role !== undefined) rememberRole(ds, role);
  }
  check?.accept(results[0]?.rows);
}

function parsedResults(bytes: Uint8Array | undefined): readonly { readonly rows?: unknown[][] }[] {
  if (bytes === undefined) return [];
  try {
    return JSON.parse(`[${new TextDecoder().decode(bytes)}]`) as { rows?: unknown[][] }[];
  } catch {
    return [];
  }
}

interface FirstBytes {
  /** Pieces of the JSON array; emptied when the part is dropped from the memory of answers. */
  readonly pieces: Uint8Array[];
  /** Bytes of all pieces. */
  readonly waiting: number;
  readonly share: Share;
  /** Bytes of the body so far. */
  readonly received: number;
  /** Reads the rest; undefined if the body is complete. */
  readonly reader: BodyReader | undefined;
}

async function firstBytes(exchange: Exchange, cutter: RowCutter, maxBytes: number, pieces: Uint8Array[], share: Share): Promise<FirstBytes> {
  const { response } = exchange;
  const length = response.headers.has('content-encoding') ? undefined : Number(response.headers.get('content-length') ?? Number.NaN);
  if (length !== undefined && length > maxBytes) throw resultTooLarge(maxBytes);
  if (response.body === null) throw datasourceFailed(undefined);
  if (length !== undefined && length <= BUFFER_BYTES) {
    share.keep(length);
    const bytes = new Uint8Array(await response.arrayBuffer());
    if (bytes.length > maxBytes) throw resultTooLarge(maxBytes);
    const piece = cutter.push(bytes);
    cutter.finish();
    return { pieces: [piece], waiting: piece.length, share, received: bytes.length, reader: undefined };
  }
  const reader = bodyReader(response.body);
  let received = 0;
  let waiting = 0;
  while (received <= BUFFER_BYTES) {
    const chunk = await reader.read();
    if (chunk === undefined) {
      cutter.finish();
      share.keep(received);
      return { pieces: [wholeOf(pieces)], waiting, share, received, reader: undefined };
    }
    received += chunk.length;
    share.keep(received);
    if (received > maxBytes) throw resultTooLarge(maxBytes);
    const piece = cutter.push(chunk);
    waiting += piece.length;
    if (piece.length > 0) pieces.push(piece.length < SMALL_BYTES ? piece.slice() : piece);
  }
  return { pieces, waiting, share, received, reader };
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

/** How an answer is read to its end. */
interface Reading {
  readonly cutter: RowCutter;
  /** Called at the end of the answer. @throws if its rows do not count */
  readonly accept: (() => void) | undefined;
  readonly maxBytes: number;
}

/** Rows of which a part waits in memory and the rest is read from the datasource. */
class StreamedRows implements RowStream {
  readonly whole = undefined;
  readonly isTentative: boolean;
  readonly done: Promise<RowCounts>;
  readonly #exchange: Exchange;
  readonly #cutter: RowCutter;
  readonly #accept: (() => void) | undefined;
  readonly #reader: BodyReader;
  readonly #maxBytes: number;
  readonly #share: Share;
  readonly #resolve: (counts: RowCounts) => void;
  readonly #reject: (reason: unknown) => void;
  /** Pieces of the array that are here already. */
  readonly #queue: Uint8Array[];
  /** A piece that may be the last one, which waits until the rows count. */
  #held: Uint8Array | undefined;
  /** Their bytes. */
  #waiting: number;
  /** Bytes of the array so far. */
  #bytes: number;
  /** Bytes of the datasource's answer so far. */
  #received: number;
  #plain: ReadableStream<Uint8Array> | undefined;

  constructor(source: FirstBytes, reader: BodyReader, exchange: Exchange, { cutter, accept, maxBytes }: Reading) {
    const { promise, resolve, reject } = Promise.withResolvers<RowCounts>();
    promise.catch(() => undefined);
    this.done = promise;
    this.#resolve = resolve;
    this.#reject = reject;
    this.#exchange = exchange;
    this.#cutter = cutter;
    this.#accept = accept;
    this.isTentative = accept !== undefined;
    this.#reader = reader;
    this.#maxBytes = maxBytes;
    this.#share = source.share;
    this.#queue = source.pieces;
    this.#waiting = source.waiting;
    this.#bytes = source.waiting;
    this.#received = source.received;
  }

  get stream(): ReadableStream<Uint8Array> {
    this.#plain ??= this.body();
    return this.#plain;
  }

  body(before = '', after = ''): ReadableStream<Uint8Array> {
    let begun = before === '';
    return new ReadableStream<Uint8Array>(
      {
        pull: async (controller) => {
          if (!begun) {
            begun = true;
            controller.enqueue(encoder.encode(before));
            return;
          }
          try {
            const piece = await this.#piece();
            if (piece !== undefined) {
              controller.enqueue(piece);
              return;
            }
            if (after !== '') controller.enqueue(encoder.encode(after));
            controller.close();
            this.#resolve({ rows: this.#cutter.rows, bytes: this.#bytes });
          } catch (error) {
            const failure = error instanceof SvcError ? error : this.#exchange.failure(error);
            this.#end(failure);
            // abort the stream rather than close the array, so that a client does not mistake a part for the complete result
            controller.error(failure);
          }
        },
        cancel: () => this.cancel(),
      },
      { highWaterMark: 0 },
    );
  }

  cancel(): void {
    this.#end(new Error('the rows were cancelled'));
  }

  #end(reason: unknown): void {
    this.#share.end();
    this.#exchange.abort();
    this.#reject(reason);
  }

  /** The next piece of the array; undefined at its end. The one that closes the array is not returned before the rows count. */
  async #piece(): Promise<Uint8Array | undefined> {
    const read = async (): Promise<Uint8Array | undefined> => this.#kept() ?? (await this.#next());
    if (!this.isTentative) return read();
    const piece = this.#held ?? (await read());
    this.#held = piece && (await read());
    return piece;
  }

  /** The next piece of those that are here already. @throws SvcError 503 `busy` if they were dropped */
  #kept(): Uint8Array | undefined {
    if (this.#waiting === 0) return undefined;
    this.#share.keep(this.#waiting);
    const piece = this.#queue.shift() as Uint8Array;
    this.#waiting -= piece.length;
    if (this.#waiting === 0) this.#share.end();
    return piece;
  }

  /** Reads the next piece of the array; undefined at its end. */
  async #next(): Promise<Uint8Array | undefined> {
    for (;;) {
      const chunk = await this.#exchange.watch(() => this.#reader.read());
      if (chunk === undefined) {
        this.#cutter.finish();
        this.#accept?.();
        return undefined;
      }
      this.#received += chunk.length;
      if (this.#received > this.#maxBytes) throw resultTooLarge(this.#maxBytes);
      const piece = this.#cutter.push(chunk);
      this.#bytes += piece.length;
      if (piece.length > 0) return piece;
    }
  }
}
