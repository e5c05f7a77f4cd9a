/** Limits how many operations run at the same time. The state is in memory only. */
export class Slots {
  readonly #now: () => number;
  /** The end of each taken slot, by its ticket. */
  readonly #ends = new Map<string, number>();

  constructor(now: () => number) {
    this.#now = now;
  }

  /**
   * Takes a slot.
   * @param most the number of slots
   * @param leaseMs the slot becomes free after this time even if it is not released
   * @returns the ticket that releases the slot; null if all slots are taken
   */
  take(most: number, leaseMs: number): string | null {
    const now = this.#now();
    for (const [ticket, end] of this.#ends) if (end <= now || end > now + leaseMs) this.#ends.delete(ticket);
    if (this.#ends.size >= most) return null;
    const ticket = crypto.randomUUID();
    this.#ends.set(ticket, now + leaseMs);
    return ticket;
  }

  /** Releases a slot after `afterMs`. A ticket that is unknown or has expired is ignored. */
  release(ticket: string, afterMs = 0): void {
    if (afterMs <= 0) this.#ends.delete(ticket);
    else if (this.#ends.has(ticket)) this.#ends.set(ticket, this.#now() + afterMs);
  }
}
