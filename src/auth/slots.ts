/** What runs at once, up to a bound. It is kept in memory: nothing is stored. */
export class Slots {
  readonly #now: () => number;
  /** The end of each taken slot, by its ticket. */
  readonly #ends = new Map<string, number>();

  constructor(now: () => number) {
    this.#now = now;
  }

  /**
   * Takes a slot.
   * @param most how many may be taken at once
   * @param leaseMs after this time the slot is free again, even if nobody releases it
   * @returns the ticket that releases the slot; null: all are taken
   */
  take(most: number, leaseMs: number): string | null {
    const now = this.#now();
    for (const [ticket, end] of this.#ends) if (end <= now || end > now + leaseMs) this.#ends.delete(ticket);
    if (this.#ends.size >= most) return null;
    const ticket = crypto.randomUUID();
    this.#ends.set(ticket, now + leaseMs);
    return ticket;
  }

  /** Releases a slot, `afterMs` from now. A ticket that is not known, or has ended, is ignored. */
  release(ticket: string, afterMs = 0): void {
    if (afterMs <= 0) this.#ends.delete(ticket);
    else if (this.#ends.has(ticket)) this.#ends.set(ticket, this.#now() + afterMs);
  }
}
