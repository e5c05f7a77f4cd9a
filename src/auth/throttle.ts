/**
 * Attempts to sign in that fail make later answers wait: by user name and by address, growing from the fifth failure to
 * four seconds, whether the attempt is right or wrong, so that an answer that is late tells nothing. Failures lock nobody
 * out. Attempts that run at once are bounded. Failures fade with time; what is stored of one name or address is two numbers.
 */
import { Slots } from './slots.ts';

/** Where attempts are counted: one Durable Object a key. */
export interface Attempts {
  /** Counts an attempt before it is judged. @returns its ticket; null: `most` attempts of the key run already */
  begin(key: string, most: number): Promise<string | null>;
  /** Counts an attempt that was judged; how many milliseconds its answer has to wait. Its ticket stays taken for that time. */
  settle(key: string, failed: boolean, ticket?: string): Promise<number>;
  /** Gives back the ticket of an attempt that was not judged. */
  cancel(key: string, ticket: string): Promise<void>;
}

/** What is needed of a Durable Object's storage; `DurableObjectStorage` has it. */
export interface CounterStorage {
  get<T>(key: string): Promise<T | undefined>;
  put<T>(key: string, value: T): Promise<void>;
  setAlarm(at: number): Promise<void>;
  deleteAll(): Promise<void>;
}

/** The longest that an answer waits: below the five seconds after which servers close a connection that is idle. */
export const MOST_DELAY_MS = 4000;
/** The failure from which on answers wait. */
export const FREE_FAILURES = 5;
const FIRST_DELAY_MS = 500;
/** One failure is forgotten in this time. */
export const FADE_MS = 60_000;
/** More failures are not counted, so that all are forgotten a quarter of an hour after the last one. */
export const MOST_FAILURES = 15;

/** An attempt that nobody settles, because its isolate has ended for instance, counts as running for this time. */
export const LEASE_MS = 30_000;

/** How long an answer waits after so many failures. */
export function delayAfter(failures: number): number {
  const over = Math.round(failures) - FREE_FAILURES;
  return over < 0 ? 0 : Math.min(MOST_DELAY_MS, FIRST_DELAY_MS * 2 ** over);
}

interface Counted {
  readonly failures: number;
  /** When they were counted. */
  readonly at: number;
}

/** The failures of one key. Nothing is written but for a failure. */
export class AttemptCounter {
  readonly #storage: CounterStorage;
  readonly #now: () => number;
  readonly #running: Slots;

  constructor(storage: CounterStorage, now: () => number) {
    this.#storage = storage;
    this.#now = now;
    this.#running = new Slots(now);
  }

  /** Counts an attempt before it is judged. @returns its ticket; null: `most` attempts run already */
  begin(most: number): string | null {
    return this.#running.take(most, LEASE_MS);
  }

  /** Gives back the ticket of an attempt that was not judged. */
  cancel(ticket: string): void {
    this.#running.release(ticket);
  }

  /**
   * Counts an attempt that was judged. Its ticket stays taken while the answer waits: who does not wait for the answer gets no further attempt by that.
   * @returns how many milliseconds its answer has to wait
   */
  async settle(failed: boolean, ticket?: string): Promise<number> {
    const delay = await this.#count(failed);
    if (ticket !== undefined) this.#running.release(ticket, delay);
    return delay;
  }

  async #count(failed: boolean): Promise<number> {
    const before = await this.#left();
    if (!failed) return delayAfter(before);
    const failures = Math.min(MOST_FAILURES, before + 1);
    const at = this.#now();
    await this.#storage.put<Counted>('counted', { failures, at });
    await this.#storage.setAlarm(at + failures * FADE_MS);
    return delayAfter(failures);
  }

  /** Deletes what has faded. */
  async alarm(): Promise<void> {
    const left = await this.#left();
    if (left > 0) await this.#storage.setAlarm(this.#now() + left * FADE_MS);
    else await this.#storage.deleteAll();
  }

  /** The failures that have not faded yet. */
  async #left(): Promise<number> {
    const counted = await this.#storage.get<Counted>('counted');
    return counted === undefined ? 0 : Math.max(0, counted.failures - Math.max(0, this.#now() - counted.at) / FADE_MS);
  }
}
