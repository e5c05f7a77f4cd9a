import { RequestFault } from './protocol.ts';

/** Who asks: guesses of one address do not delay the logins of another one. */
export interface Caller {
  readonly address: string;
  /** Fires when the caller has disconnected. */
  readonly signal: AbortSignal;
}

interface Waiting {
  readonly address: string;
  readonly begin: () => void;
  readonly refuse: (why: Error) => void;
}

/** How long an address keeps its refusals after the last one, and how many addresses are remembered. */
const MEMORY_MS = 60_000;
const MOST_ADDRESSES = 10_000;
/** The most logins of an address that wait, and of all addresses together. */
const MOST_OF_ADDRESS = 200;
const MOST_WAITING = 1000;

/**
 * Checks of logins, a few at a time. The address with the fewest refusals is next, and of its logins the newest one: those before it are answered late in any
 * case. Logins of callers who have left are not checked. If too many wait, the one that would be checked last is refused with 503.
 */
export class LoginQueue {
  #free: number;
  readonly #waiting: Waiting[] = [];
  readonly #refusals = new Map<string, { count: number; until: number }>();

  /** @param places how many checks run at once */
  constructor(places: number) {
    this.#free = places;
  }

  /** How many logins wait. */
  get length(): number {
    return this.#waiting.length;
  }

  /** Runs a check in its turn; false is a refusal. @throws RequestFault 503 if too many wait */
  async run({ address: full, signal }: Caller, check: () => Promise<boolean>): Promise<boolean> {
    const address = networkOf(full);
    if (this.#free > 0) this.#free--;
    else await this.#turn(address, signal);
    try {
      const accepted = await check();
      if (!accepted) this.#refused(address);
      return accepted;
    } finally {
      const next = this.#take();
      if (next === undefined) this.#free++;
      else next.begin();
    }
  }

  #turn(address: string, signal: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      const remove = (): void => {
        const place = this.#waiting.indexOf(entry);
        if (place >= 0) this.#waiting.splice(place, 1);
        signal.removeEventListener('abort', leave);
      };
      const refuse = (why: Error): void => {
        remove();
        reject(why);
      };
      const leave = (): void => refuse(new Error('the caller has disconnected'));
      const begin = (): void => {
        remove();
        resolve();
      };
      const entry: Waiting = { address, begin, refuse };
      if (signal.aborted) return leave();
      signal.addEventListener('abort', leave, { once: true });
      this.#waiting.push(entry);
      this.#makeRoom(address);
    });
  }

  /** Refuses the oldest login of this address, or of the one with the most refusals. */
  #makeRoom(address: string): void {
    const own = this.#waiting.filter((w) => w.address === address);
    const worst = own.length > MOST_OF_ADDRESS ? own[0] : this.#waiting.length > MOST_WAITING ? this.#first((a, b) => a > b) : undefined;
    worst?.refuse(new RequestFault(503, 'too many logins are being checked', '53300'));
  }

  /** The newest login of the address with the fewest refusals. */
  #take(): Waiting | undefined {
    return this.#first((a, b) => a <= b);
  }

  /** The login whose count comes first; of equal ones the oldest, or the newest if `before` says so. */
  #first(before: (a: number, b: number) => boolean): Waiting | undefined {
    let [found, least] = [undefined as Waiting | undefined, 0];
    for (const one of this.#waiting) {
      const count = this.#countOf(one.address);
      if (found === undefined || before(count, least)) [found, least] = [one, count];
    }
    return found;
  }

  #countOf(address: string): number {
    const known = this.#refusals.get(address);
    return known === undefined || known.until <= performance.now() ? 0 : known.count;
  }

  #refused(address: string): void {
    const count = this.#countOf(address) + 1;
    this.#refusals.delete(address);
    this.#refusals.set(address, { count, until: performance.now() + MEMORY_MS });
    const [oldest] = this.#refusals.keys();
    if (this.#refusals.size > MOST_ADDRESSES && oldest !== undefined) this.#refusals.delete(oldest);
  }
}

/** An IPv6 address as its /64, of which one caller has all addresses. */
export function networkOf(address: string): string {
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address)?.[1];
  if (mapped !== undefined || !address.includes(':')) return mapped ?? address;
  const [left = '', right] = (address.split('%', 1)[0] ?? '').toLowerCase().split('::');
  const [head, tail] = [left, right ?? ''].map((half) => (half === '' ? [] : half.split(':'))) as [string[], string[]];
  const groups = right === undefined ? head : [...head, ...Array<string>(Math.max(0, 8 - head.length - tail.length)).fill('0'), ...tail];
  return groups.slice(0, 4).join(':');
}
