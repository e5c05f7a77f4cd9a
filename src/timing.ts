/** Measures where the time of a request goes. Each moment belongs to exactly one part, so that the parts add up to the whole. */

/**
 * - `auth`: to find out who the caller is and what its rights are
 * - `plan`: the service's own work: parsing, planning, formatting
 * - `wait`: while a request to the catalog or Workers KV is open, except in `auth`
 * - `database`: from sending a statement to a datasource until its first rows
 * - `stream`: from the head of the answer until its last row is sent
 */
export const PARTS = ['auth', 'plan', 'wait', 'database', 'stream'] as const;
export type Part = (typeof PARTS)[number];

const ORDER = ['auth', 'database', 'wait'] as const;

/** Begins a span of a trace and returns the function that ends it. */
export type BeginSpan = (name: string) => () => void;

/** A span of the runtime's traces. `isTraced`: false if the trace of the request is not recorded. */
interface TraceSpan {
  readonly isTraced?: boolean;
  end(): void;
}

/** Begins spans of a request's trace. If the trace is not recorded, as for 99 of 100 requests, only the first span is made. @param startSpan begins a span of the runtime */
export function spansOf(startSpan: (name: string) => TraceSpan): BeginSpan {
  let isTraced = true;
  return (name) => {
    if (!isTraced) return () => undefined;
    const span = startSpan(name);
    isTraced = span.isTraced !== false;
    return () => span.end();
  };
}

/** The time of one request by part. On Cloudflare clocks do not advance during CPU work, so `plan` is then close to 0. */
export class Timing {
  readonly begun: number;
  readonly #now: () => number;
  readonly #span: BeginSpan | undefined;
  readonly #sums = new Map<Part, number>();
  readonly #running = { auth: 0, database: 0, wait: 0 };
  #isAnswered = false;
  #part: Part = 'plan';
  #since: number;
  #endSpan: (() => void) | undefined;

  constructor(now: () => number, span?: BeginSpan | undefined) {
    this.#now = now;
    this.#span = span;
    this.begun = this.#since = now();
    this.#endSpan = span?.('plan');
  }

  /** The head of the answer is sent. */
  answered(): void {
    this.#isAnswered = true;
    this.#update();
  }

  /** Awaits work that belongs to a part. Several works at once count once, for the first of `auth`, `database` and `wait`. */
  async during<T>(part: 'auth' | 'database' | 'wait', work: () => Promise<T>): Promise<T> {
    this.#running[part]++;
    this.#update();
    try {
      return await work();
    } finally {
      this.#running[part]--;
      this.#update();
    }
  }

  /** Ends the last part. */
  end(): void {
    this.#update();
    this.#endSpan?.();
    this.#endSpan = undefined;
  }

  /** The parts so far, in milliseconds. */
  parts(): ReadonlyMap<Part, number> {
    this.#update();
    return this.#sums;
  }

  #update(): void {
    const now = this.#now();
    this.#sums.set(this.#part, (this.#sums.get(this.#part) ?? 0) + now - this.#since);
    this.#since = now;
    const running = ORDER.find((name) => this.#running[name] > 0) ?? 'plan';
    const part = this.#isAnswered ? 'stream' : running;
    if (part === this.#part) return;
    this.#part = part;
    if (this.#span === undefined) return;
    this.#endSpan?.();
    this.#endSpan = this.#span(part);
  }
}
