/** The open streams of a principal on the old SSE transport (protocol 2024-11-05). */
import { SvcError } from '../errors.ts';

const KEEP_ALIVE_MS = 15_000;
/** The lifetime of a stream. The client then opens another one. */
export const STREAM_MS = 30 * 60_000;
/** Maximum number of open streams. */
const MAX_STREAMS = 32;
/** Maximum number of bytes that the clients of all streams have not read yet: several times what eight tools can answer together. */
const MAX_UNREAD = 32 * 1024 * 1024;

const encoder = new TextEncoder();

export class Streams {
  readonly #open = new Map<string, { readonly stream: Stream; readonly owner: string }>();
  readonly #ended: (id: string) => void;
  readonly #unread = { bytes: 0 };

  /** `ended` is called for each stream that is closed. */
  constructor(ended: (id: string) => void) {
    this.#ended = ended;
  }

  /**
   * Opens a stream. Its first event contains the address for messages. `owner` identifies who may send them (`ownerOf`).
   * @throws SvcError 429 `too_many_streams`
   */
  open(id: string, owner: string, endpoint: string): ReadableStream<Uint8Array> {
    if (this.#open.size >= MAX_STREAMS) {
      throw new SvcError(429, 'too_many_streams', 'Too many streams are open', { hint: 'Close one, or use Streamable HTTP', headers: { 'retry-after': '60' } });
    }
    const stream = new Stream(this.#unread, () => {
      if (this.#open.delete(id)) this.#ended(id);
    });
    this.#open.set(id, { stream, owner });
    stream.send('endpoint', endpoint);
    return stream.readable;
  }

  /** The stream with an id, if it belongs to the owner. */
  find(id: string, owner: string): Stream | undefined {
    const found = this.#open.get(id);
    return found?.owner === owner ? found.stream : undefined;
  }

  /** Ends a stream if it is open. */
  end(id: string): void {
    this.#open.get(id)?.stream.end();
  }
}

class Stream {
  readonly readable: ReadableStream<Uint8Array>;
  readonly #writer: WritableStreamDefaultWriter<Uint8Array>;
  readonly #timers: { readonly alive: ReturnType<typeof setInterval>; readonly end: ReturnType<typeof setTimeout> };
  readonly #ended: () => void;
  readonly #unread: { bytes: number };

  constructor(unread: { bytes: number }, ended: () => void) {
    this.#unread = unread;
    const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>();
    this.readable = readable;
    this.#writer = writable.getWriter();
    this.#ended = ended;
    this.#timers = { alive: setInterval(() => this.#write(': keep-alive\n\n'), KEEP_ALIVE_MS), end: setTimeout(() => this.end(), STREAM_MS) };
    this.#writer.closed.then(
      () => this.#close(),
      () => this.#close(),
    );
  }

  send(event: string, data: string): void {
    this.#write(`event: ${event}\ndata: ${data}\n\n`);
  }

  end(): void {
    this.#writer.close().catch(() => undefined);
    this.#close();
  }

  /** Ends the stream if too much is unread: a client that does not read would fill the memory of the object. */
  #write(text: string): void {
    const bytes = encoder.encode(text);
    const { length } = bytes;
    if (this.#unread.bytes > 0 && this.#unread.bytes + length > MAX_UNREAD) {
      this.end();
      return;
    }
    this.#unread.bytes += length;
    this.#writer
      .write(bytes)
      .catch(() => this.#close())
      .finally(() => {
        this.#unread.bytes -= length;
      });
  }

  #close(): void {
    clearInterval(this.#timers.alive);
    clearTimeout(this.#timers.end);
    this.#ended();
  }
}
