import { randomBytes } from 'node:crypto';
import type pg from 'pg';
import { readsClock } from './clock-literals.ts';

/** The maximum number of prepared statements of a session, and the number of texts whose first use is remembered. */
const MAX_PREPARED = 100;
/** Longer texts are never prepared. */
const MAX_CHARACTERS = 32 * 1024;

/** How long a statement is used whose parameters have the types that PostgreSQL found when it was prepared: columns may have other types since. */
const INFERRED_MS = 60_000;
/** A parameter without a cast. */
const INFERRED = /\$\d+\b(?!\s*::)/;

interface Named {
  readonly name: string;
  /** When it is prepared again; undefined: never. */
  readonly until: number | undefined;
}

/** A part of `pg`'s clients that its types do not declare: the names of the statements that it has prepared. */
interface Inner {
  readonly connection: { readonly parsedStatements: Record<string, string> };
}

/** The prepared statements of one session. */
export class PreparedStatements {
  readonly #client: pg.ClientBase;
  /** Names by text, in the order of their last use. Names are random, so that no text of a caller can name them. */
  readonly #names = new Map<string, Named>();
  /** Texts that were used once. */
  readonly #seen = new Set<string>();
  /** Statements to deallocate. */
  #dropped: string[] = [];

  readonly #now: () => number;

  constructor(client: pg.ClientBase, now = (): number => performance.now()) {
    this.#client = client;
    this.#now = now;
  }

  /** The name under which to run a text: it is prepared when it is used for the second time. Undefined: without a name. */
  nameOf(text: string): string | undefined {
    if (text.length > MAX_CHARACTERS) return undefined;
    let named = this.#names.get(text);
    if (named?.until !== undefined && named.until <= this.#now()) {
      this.forget(text);
      this.#seen.add(text);
      named = undefined;
    }
    if (named === undefined) {
      if (!this.#seen.delete(text)) {
        this.#seen.add(text);
        dropFirst(this.#seen, MAX_PREPARED);
        return undefined;
      }
      if (readsClock(text)) return undefined;
      named = { name: `gateway_${randomBytes(12).toString('hex')}`, until: INFERRED.test(text) ? this.#now() + INFERRED_MS : undefined };
    }
    this.#names.delete(text);
    this.#names.set(text, named);
    const [oldest] = this.#names.keys();
    if (this.#names.size > MAX_PREPARED && oldest !== undefined) this.forget(oldest);
    return named.name;
  }

  /** Forgets a prepared statement: PostgreSQL refuses its plan, or there are too many. `gone`: PostgreSQL does not have it any more. */
  forget(text: string, gone = false): void {
    const name = this.#names.get(text)?.name;
    if (name === undefined) return;
    this.#names.delete(text);
    // a DEALLOCATE of a statement that PostgreSQL does not have would fail, and the commands around it too
    if (!gone && Object.hasOwn(this.#parsed, name)) this.#dropped.push(name);
    delete this.#parsed[name];
  }

  /** Commands that deallocate the forgotten statements, each after a semicolon. */
  deallocate(): string {
    return this.#dropped
      .splice(0)
      .map((name) => `; DEALLOCATE ${name}`)
      .join('');
  }

  /** PostgreSQL has no prepared statement any more. */
  clear(): void {
    for (const { name } of this.#names.values()) delete this.#parsed[name];
    this.#names.clear();
    this.#dropped = [];
  }

  get #parsed(): Record<string, string> {
    return (this.#client as unknown as Inner).connection.parsedStatements;
  }
}

/** Removes the oldest entries above a number. */
function dropFirst(set: Set<string>, most: number): void {
  for (const entry of set) {
    if (set.size <= most) return;
    set.delete(entry);
  }
}
