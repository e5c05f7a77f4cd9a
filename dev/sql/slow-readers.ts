import type { Answer } from './answer.ts';

/** A caller may keep PostgreSQL waiting longer if it reads: for as long as this pace takes. What the buffers of the way have taken counts as read, up to some MB. */
const BYTES_PER_MS = 2048;
/** No two answers end within this time: the connection of an answer becomes free a moment after its end. */
const END_EVERY_MS = 100;
/** A request that has waited for so many times the patience does not wait for its turn. It is less than the time after which a request gives up. */
const URGENT = 2.5;

/** Times of SlowReaders, in milliseconds. */
export interface Patience {
  /** How long a caller may keep PostgreSQL waiting, in addition to the time for what it has read. */
  readonly slowMs: number;
  /** How long requests wait until slower readers lose their connections, while no connection becomes free by itself. */
  readonly patienceMs: number;
}

interface Reader {
  /** The time for which it has kept PostgreSQL waiting until its last pause. */
  waited: number;
  /** When its pause began; undefined: it reads. */
  since: number | undefined;
}

/**
 * The answers whose callers read more slowly than PostgreSQL sends. Each of them keeps a connection, and PostgreSQL's `statement_timeout` does not end a
 * statement that waits for its reader. So a few callers that do not read would stop all others.
 */
export class SlowReaders {
  readonly #patience: Patience;
  readonly #readers = new Map<Answer, Reader>();
  #endedAt = Number.NEGATIVE_INFINITY;
  /** When a request that waited got a connection last. */
  #movedAt = Number.NEGATIVE_INFINITY;

  constructor(patience: Patience) {
    this.#patience = patience;
  }

  /**
   * Waits for a connection while all are in use. If this takes long, answers end whose callers do not read. Each connection that another request gets begins
   * the time again, because the queue goes on then, but only for a while.
   */
  async makeRoom<T>(connection: Promise<T>): Promise<T> {
    const begun = performance.now();
    const { patienceMs } = this.#patience;
    const ending = setInterval(() => {
      const now = performance.now();
      if (now - Math.max(begun, this.#movedAt) >= patienceMs || now - begun >= URGENT * patienceMs) this.#endSlowest();
    }, END_EVERY_MS);
    try {
      const found = await connection;
      this.#movedAt = performance.now();
      return found;
    } finally {
      clearInterval(ending);
    }
  }

  /** Waits until the caller of an answer has read. */
  async drained(answer: Answer): Promise<void> {
    const reader = this.#readers.get(answer) ?? { waited: 0, since: undefined };
    this.#readers.set(answer, reader);
    const begun = performance.now();
    reader.since ??= begun;
    await answer.drained();
    if (reader.since === begun) {
      reader.waited += performance.now() - begun;
      reader.since = undefined;
    }
  }

  /** Forgets an answer that has ended. */
  ended(answer: Answer): void {
    this.#readers.delete(answer);
  }

  /** Aborts the answer that has exceeded its time most, if there is one, but no two at the same time. Its connection then becomes free. */
  #endSlowest(): void {
    const now = performance.now();
    if (now < this.#endedAt + END_EVERY_MS) return;
    let [slowest, most] = [undefined as Answer | undefined, 0];
    for (const [answer, { waited, since }] of this.#readers) {
      const over = waited + (since === undefined ? 0 : now - since) - this.#patience.slowMs - answer.bytes / BYTES_PER_MS;
      if (over > most) [slowest, most] = [answer, over];
    }
    if (slowest === undefined) return;
    this.#endedAt = now;
    this.#readers.delete(slowest);
    slowest.abort();
  }
}
