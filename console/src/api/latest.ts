/**
 * Requests of which only the newest counts. An answer may arrive after a later one, or after the user, the ontology or the view has changed: it must not replace
 * what is shown then. All views send their requests through it (parts/attempt.ts).
 */
import { type Failure, failureOf } from './failure.ts';

export class Latest {
  #stop: AbortController | null = null;

  /**
   * Sends a request. Its answer goes to `use`, or its failure to `fail` (null: it was cancelled), unless `ask` or `forget` was called since. An earlier request is
   * cancelled if it uses the signal.
   */
  async ask<T>(request: (signal: AbortSignal) => Promise<T>, use: (answer: T) => void, fail: (failure: Failure | null) => void): Promise<void> {
    this.forget();
    const stop = new AbortController();
    this.#stop = stop;
    try {
      const answer = await request(stop.signal);
      if (this.#stop === stop) use(answer);
    } catch (error) {
      if (this.#stop === stop) fail(failureOf(error));
    }
  }

  /** Cancels the request; its outcome is reported as a failure of null. */
  cancel(): void {
    this.#stop?.abort();
  }

  /** Ignores what the request will answer, and cancels it. */
  forget(): void {
    this.#stop?.abort();
    this.#stop = null;
  }
}
