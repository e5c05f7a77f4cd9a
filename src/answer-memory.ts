/**
 * The memory limit that the answers in progress of an isolate share (docs/design/platform-rules.md#the-memory-of-answers): rows that wait for their reader, rows
 * that are folded, and incomplete rows. Each part of an answer reports how much it keeps. If all of them together exceed the limit, one part is dropped: the
 * largest idle part, otherwise the largest part of the caller who keeps the most. So a caller with many large answers ends its own answers first.
 *
 * The dropped part may belong to another request. Only plain data is dropped; that request notices when it continues.
 */
import { SvcError } from './errors.ts';

/** 32 MiB of the 128 MB that an isolate has. */
export const ANSWER_MEMORY_BYTES = 32 * 1024 * 1024;

/** The part of the limit that one nested answer may use. */
export const FOLD_BYTES = 24 * 1024 * 1024;

/** Parts that are unused for this long are dropped first, since no client reads their answer. */
const IDLE_MS = 30_000;

const RETRY_SECONDS = 5;

/** The memory of one part of an answer. */
export interface Share {
  /** Reports how many bytes are kept now. @throws SvcError 503 `busy` if the part was dropped */
  keep(bytes: number): void;
  /** Reports that nothing is kept any more. May be called repeatedly. */
  end(): void;
}

interface Part {
  readonly owner: string;
  readonly drop: () => void;
  bytes: number;
  usedAt: number;
  lost: boolean;
}

/** Counts the memory of answers. `shareOf` uses the instance of the isolate. */
export class AnswerMemory {
  readonly #limit: number;
  readonly #now: () => number;
  /** The parts that keep something. */
  readonly #parts = new Set<Part>();
  #bytes = 0;

  constructor(limit: number, now: () => number = Date.now) {
    this.#limit = limit;
    this.#now = now;
  }

  /** The bytes that all parts keep. */
  get bytes(): number {
    return this.#bytes;
  }

  /** Adds a part of an answer of `owner`. `drop` discards its data. It is called at most once, and must not use objects of a request. */
  share(owner: string, drop: () => void): Share {
    const part: Part = { owner, drop, bytes: 0, usedAt: 0, lost: false };
    return {
      keep: (bytes) => {
        if (!part.lost) this.#set(part, bytes);
        if (part.lost) throw busy();
      },
      end: () => this.#set(part, 0),
    };
  }

  #set(part: Part, bytes: number): void {
    this.#bytes += bytes - part.bytes;
    part.bytes = bytes;
    if (bytes === 0) {
      this.#parts.delete(part);
      return;
    }
    part.usedAt = this.#now();
    this.#parts.add(part);
    while (this.#bytes > this.#limit) {
      const found = this.#victim(part.usedAt);
      this.#set(found, 0);
      found.lost = true;
      found.drop();
    }
  }

  #victim(now: number): Part {
    const idle = [...this.#parts].filter(({ usedAt }) => now - usedAt > IDLE_MS);
    if (idle.length > 0) return largest(idle);
    const sums = new Map<string, number>();
    for (const { owner, bytes } of this.#parts) sums.set(owner, (sums.get(owner) ?? 0) + bytes);
    const most = Math.max(...sums.values());
    return largest([...this.#parts].filter(({ owner }) => sums.get(owner) === most));
  }
}

const largest = (parts: readonly Part[]): Part => parts.reduce((a, b) => (b.bytes > a.bytes ? b : a));

/** 503: the answers in progress exceed the memory limit. */
const busy = (): SvcError =>
  new SvcError(503, 'busy', 'Too many large answers are in progress', {
    hint: `Try again in ${RETRY_SECONDS} seconds, or ask for fewer rows or columns (LIMIT, results-limit)`,
    headers: { 'retry-after': String(RETRY_SECONDS) },
  });

const memory = new AnswerMemory(ANSWER_MEMORY_BYTES);

/** Adds a part of an answer of `owner` to the memory of the isolate; see `AnswerMemory.share`. */
export const shareOf = (owner: string, drop: () => void): Share => memory.share(owner, drop);

/** The bytes that answers in progress keep in this isolate. */
export const kept = (): number => memory.bytes;
