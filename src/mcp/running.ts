/** The calls of a principal that run, so that one ends whose client has left or has taken it back. */
import type { McpCall } from './call.ts';
import { idOf } from './messages.ts';

/** A call while it runs. */
export interface Run {
  readonly signal: AbortSignal;
  /** It has its answer. */
  done(): void;
}

/** Roughly what a message takes in memory besides its text, in characters. */
const OF_A_MESSAGE = 16_384;
/** What the messages of all streams may take while they wait for their answers. A stream takes a message at once, so no connection bounds them. */
const MOST_WAITING = 16 * 1024 * 1024;

interface Entry {
  readonly abort: AbortController;
  /** The SSE stream that it came by; null: Streamable HTTP, whose request is its own. */
  readonly stream: string | null;
  /** What the client calls it: told apart within a stream alone. Null of a batch. */
  readonly requestId: string | number | null;
}

export class Running {
  readonly #entries = new Map<string, Entry>();
  #waiting = 0;

  /** Whether messages that have come by streams take as much as they may. */
  get isFull(): boolean {
    return this.#waiting >= MOST_WAITING;
  }

  begin({ callId, body }: Pick<McpCall, 'callId' | 'body'>, stream: string | null): Run {
    const abort = new AbortController();
    const size = stream === null ? 0 : JSON.stringify(body).length + OF_A_MESSAGE * [body].flat().length;
    this.#waiting += size;
    this.#entries.set(callId, { abort, stream, requestId: idOf(body) });
    const done = (): void => {
      if (this.#entries.delete(callId)) this.#waiting -= size;
    };
    return { signal: abort.signal, done };
  }

  /** The client of a call has left. */
  left(callId: string): void {
    this.#entries.get(callId)?.abort.abort();
  }

  /** The client of a stream takes a request back. */
  cancelled(stream: string, requestId: unknown): void {
    for (const entry of this.#entries.values()) if (entry.stream === stream && entry.requestId !== null && entry.requestId === requestId) entry.abort.abort();
  }

  /** A stream is closed: nobody reads the answers of its calls. */
  closed(stream: string): void {
    for (const entry of this.#entries.values()) if (entry.stream === stream) entry.abort.abort();
  }
}
