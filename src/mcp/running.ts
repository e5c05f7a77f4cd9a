/** The calls of a principal that run, so that one ends whose client has left or has taken it back. */
import type { McpCall } from './call.ts';
import { idOf } from './messages.ts';

/** A call while it runs. */
export interface Run {
  readonly signal: AbortSignal;
  /** It has its answer. */
  done(): void;
}

interface Entry {
  readonly abort: AbortController;
  /** The SSE stream that it came by; null: Streamable HTTP, whose request is its own. */
  readonly stream: string | null;
  /** What the client calls it: told apart within a stream alone. Null of a batch. */
  readonly requestId: string | number | null;
}

export class Running {
  readonly #entries = new Map<string, Entry>();

  begin({ callId, body }: Pick<McpCall, 'callId' | 'body'>, stream: string | null): Run {
    const abort = new AbortController();
    this.#entries.set(callId, { abort, stream, requestId: idOf(body) });
    return { signal: abort.signal, done: () => void this.#entries.delete(callId) };
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
