/**
 * Throttling of sign-in. Failed attempts delay later answers for the same user name or address. The delay starts at the fifth
 * failure and grows to four seconds. It applies to successful attempts as well, so that a delay discloses nothing. No user is
 * locked out. The number of concurrent attempts is limited. Failures expire with time; two numbers are stored for each name
 * or address.
 */
import { Slots } from './slots.ts';

/** Counts attempts by key, with one Durable Object per key. */
export interface Attempts {
  /** Counts an attempt before it is checked. @returns its ticket; null if `most` attempts with the key are running */
  begin(key: string, most: number): Promise<string | null>;
  /** Counts the outcome of an attempt. @returns the delay of its answer in milliseconds; the ticket remains taken for that time */
  settle(key: string, failed: boolean, ticket?: string): Promise<number>;
  /** Releases the ticket of an attempt that was not checked. */
  cancel(key: string, ticket: string): Promise<void>;
  /** True if an attempt with the key has succeeded lately. */
  isKnown(key: string): Promise<boolean>;
  /** Notes that an attempt with the key has succeeded. */
  remember(key: string): Promise<void>;
}

/** The part of `DurableObjectStorage` that the counter uses. */
export interface CounterStorage {
  get<T>(key: string): Promise<T | undefined>;
  put<T>(key: string, value: T): Promise<void>;
  setAlarm(at: number): Promise<void>;
  deleteAll(): Promise<void>;
}

/** The longest delay of an answer. It is shorter than the five seconds after which servers close an idle connection. */
export const MAX_DELAY_MS = 4000;
/** Answers are delayed from this failure on. */
const FREE_FAILURES = 5;
const FIRST_DELAY_MS = 500;
/** One failure expires in this time. */
export const EXPIRY_MS = 60_000;
/** Further failures are not counted, so that all failures expire within 15 minutes after the last one. */
export const MAX_FAILURES = 15;

/** A success is remembered for this time, and written again when half of it has passed. */
export const KNOWN_MS = 60 * 86_400_000;

/** An attempt that is not settled, for example because its isolate has ended, counts as running for this time. */
export const LEASE_MS = 30_000;

/** The delay of an answer after a number of failures, in milliseconds. */
export function delayAfter(failures: number): number {
  const over = Math.round(failures) - FREE_FAILURES;
  return over < 0 ? 0 : Math.min(MAX_DELAY_MS, FIRST_DELAY_MS * 2 ** over);
}

interface Counted {
  readonly failures: number;
  /** When the failures were counted. */
  readonly at: number;
}

/** Counts the failures of one key. Only failures are written to storage. */
export class AttemptCounter {
  readonly #storage: CounterStorage;
  readonly #now: () => number;
  readonly #running: Slots;

  constructor(storage: CounterStorage, now: () => number) {
    this.#storage = storage;
    this.#now = now;
    this.#running = new Slots(now);
  }

  /** Counts an attempt before it is checked. @returns its ticket; null if `most` attempts are running */
  begin(most: number): string | null {
    return this.#running.take(most, LEASE_MS);
  }

  /** Releases the ticket of an attempt that was not checked. */
  cancel(ticket: string): void {
    this.#running.release(ticket);
  }

  /**
   * Counts the outcome of an attempt. Its ticket remains taken while the answer is delayed, so that a client that disconnects early gains no attempts.
   * @returns the delay of the answer in milliseconds
   */
  async settle(failed: boolean, ticket?: string): Promise<number> {
    const delay = await this.#count(failed);
    if (ticket !== undefined) this.#running.release(ticket, delay);
    return delay;
  }

  async #count(failed: boolean): Promise<number> {
    const before = await this.#left();
    if (!failed) return delayAfter(before);
    const failures = Math.min(MAX_FAILURES, before + 1);
    const at = this.#now();
    await this.#storage.put<Counted>('counted', { failures, at });
    await this.#storage.setAlarm(at + failures * EXPIRY_MS);
    return delayAfter(failures);
  }

  /** True if an attempt has succeeded lately. */
  async isKnown(): Promise<boolean> {
    return (await this.#knownFor()) > 0;
  }

  /** Notes that an attempt has succeeded. */
  async remember(): Promise<void> {
    if ((await this.#knownFor()) > KNOWN_MS / 2) return;
    await this.#storage.put('known', this.#now() + KNOWN_MS);
    await this.#schedule();
  }

  /** Deletes the counter when all failures, and the success, have expired. */
  async alarm(): Promise<void> {
    if (!(await this.#schedule())) await this.#storage.deleteAll();
  }

  /** Sets the alarm to the next moment at which something expires. @returns false if nothing does */
  async #schedule(): Promise<boolean> {
    const left = (await this.#left()) * EXPIRY_MS || (await this.#knownFor());
    if (left > 0) await this.#storage.setAlarm(this.#now() + left);
    return left > 0;
  }

  async #knownFor(): Promise<number> {
    return Math.max(0, ((await this.#storage.get<number>('known')) ?? 0) - this.#now());
  }

  /** The number of failures that have not expired yet. */
  async #left(): Promise<number> {
    const counted = await this.#storage.get<Counted>('counted');
    return counted === undefined ? 0 : Math.max(0, counted.failures - Math.max(0, this.#now() - counted.at) / EXPIRY_MS);
  }
}
