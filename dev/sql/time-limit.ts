import type pg from 'pg';

/** A part of `pg`'s clients that its types do not declare. */
interface Inner {
  readonly connection: { readonly stream: { destroy(): void } };
}

/** Closes a connection that PostgreSQL does not answer in time. What waits for an answer then fails. */
export class TimeLimit {
  readonly #client: pg.ClientBase;
  readonly #ms: number;
  #timer: NodeJS.Timeout | undefined;

  constructor(client: pg.ClientBase, ms: number) {
    this.#client = client;
    this.#ms = ms;
  }

  /** Begins the time; further calls have no effect. */
  begin(): void {
    this.#timer ??= setTimeout(() => (this.#client as unknown as Inner).connection.stream.destroy(), this.#ms);
  }

  /** Ends the time. */
  clear(): void {
    clearTimeout(this.#timer);
  }
}
