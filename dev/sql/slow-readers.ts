import type { Answer } from './answer.ts';

/** A caller may keep PostgreSQL waiting longer if it reads: for as long as this pace takes. What the buffers of the way have taken counts as read, up to some MB. */
const BYTES_PER_MS = 2048;
/** A connection becomes free a moment after its answer has ended: others wait no longer because of that. */
const END_EVERY_MS = 100;

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
  readonly #allowedMs: number;
  readonly #readers = new Map<Answer, Reader>();
  #endedAt = Number.NEGATIVE_INFINITY;

  /** @param allowedMs how long a caller may keep PostgreSQL waiting, in addition to the time for what it has read */
  constructor(allowedMs: number) {
    this.#allowedMs = allowedMs;
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
  endSlowest(): void {
    const now = performance.now();
    if (now < this.#endedAt + END_EVERY_MS) return;
    let [slowest, most] = [undefined as Answer | undefined, 0];
    for (const [answer, { waited, since }] of this.#readers) {
      const over = waited + (since === undefined ? 0 : now - since) - this.#allowedMs - answer.bytes / BYTES_PER_MS;
      if (over > most) [slowest, most] = [answer, over];
    }
    if (slowest === undefined) return;
    this.#endedAt = now;
    this.#readers.delete(slowest);
    slowest.abort();
  }
}
