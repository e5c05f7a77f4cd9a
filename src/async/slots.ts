/** The asynchronous statements of one user that wait or run, in the SQLite of the user's own Durable Object. */
import type { Storage } from './store.ts';

/** Counts statements. A statement that is not released, for example because its isolate has ended, counts until its lease ends. */
export class StatementSlots {
  readonly #storage: Storage;
  readonly #now: () => number;

  constructor(storage: Storage, now: () => number = Date.now) {
    this.#storage = storage;
    this.#now = now;
  }

  #rows(query: string, ...values: unknown[]): Record<string, unknown>[] {
    return this.#storage.sql.exec(query, ...values).toArray();
  }

  /** Counts a statement. @returns false if `most` others wait or run */
  async take(id: string, most: number, leaseMs: number): Promise<boolean> {
    const now = this.#now();
    this.#rows('CREATE TABLE IF NOT EXISTS slot (id TEXT PRIMARY KEY, ends INTEGER NOT NULL)');
    this.#rows('DELETE FROM slot WHERE ends <= ?', now);
    if (Number(this.#rows('SELECT count(*) AS n FROM slot')[0]?.n) >= most) return false;
    this.#rows('INSERT INTO slot (id, ends) VALUES (?, ?)', id, now + leaseMs);
    await this.#storage.setAlarm(now + leaseMs);
    return true;
  }

  /** Ends a statement. An unknown one is ignored, and writes nothing. */
  release(id: string): void {
    if (this.#exists()) this.#rows('DELETE FROM slot WHERE id = ?', id);
  }

  /** Handles the alarm of the last lease: deletes everything. @returns false if this object counts no statements */
  async alarm(): Promise<boolean> {
    if (!this.#exists()) return false;
    const last = this.#rows('SELECT max(ends) AS ends FROM slot')[0]?.ends;
    if (last === null || Number(last) <= this.#now()) await this.#storage.deleteAll();
    else await this.#storage.setAlarm(Number(last));
    return true;
  }

  #exists(): boolean {
    return this.#rows("SELECT name FROM sqlite_master WHERE type = 'table' AND name = 'slot'").length > 0;
  }
}
