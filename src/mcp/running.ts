/** The calls of a principal that are running, so that a call can be aborted when its client leaves or cancels it. */
import type { McpCall } from './call.ts';
import { idOf } from './messages.ts';

/** A running call. */
export interface Run {
  readonly signal: AbortSignal;
  /** Call this when the call has its answer. */
  done(): void;
}

/** Approximate memory of a message in addition to its text, in characters. */
const OF_A_MESSAGE = 16_384;
/** Maximum memory of the messages that are waiting for an answer: those of streams, which accept a message immediately, and those of requests. */
const MAX_WAITING = 16 * 1024 * 1024;

interface Entry {
  readonly abort: AbortController;
  /** The SSE stream that received it; null for Streamable HTTP, where each message has its own request. */
  readonly stream: string | null;
  /** The client's id for the request, unique within a stream; null for a batch. */
  readonly requestId: string | number | null;
}

export class Running {
  readonly #entries = new Map<string, Entry>();
  #waiting = 0;

  /** Whether messages use all the memory that they may. */
  get isFull(): boolean {
    return this.#waiting >= MAX_WAITING;
  }

  begin({ callId, body }: Pick<McpCall, 'callId' | 'body'>, stream: string | null): Run {
    const abort = new AbortController();
    const size = JSON.stringify(body).length + OF_A_MESSAGE * [body].flat().length;
    this.#waiting += size;
    this.#entries.set(callId, { abort, stream, requestId: idOf(body) });
    const done = (): void => {
      if (this.#entries.delete(callId)) this.#waiting -= size;
    };
    return { signal: abort.signal, done };
  }

  /** Aborts a call whose client has left. */
  left(callId: string): void {
    this.#entries.get(callId)?.abort.abort();
  }

  /** Aborts a request that the client of a stream has cancelled. */
  cancelled(stream: string, requestId: unknown): void {
    for (const entry of this.#entries.values()) if (entry.stream === stream && entry.requestId !== null && entry.requestId === requestId) entry.abort.abort();
  }

  /** Aborts the calls of a closed stream. */
  closed(stream: string): void {
    for (const entry of this.#entries.values()) if (entry.stream === stream) entry.abort.abort();
  }
}
