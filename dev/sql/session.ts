import { randomBytes } from 'node:crypto';
import type pg from 'pg';

/** The maximum number of prepared statements of a session, and the number of texts whose first use is remembered. */
const MAX_PREPARED = 100;
/** Longer texts are never prepared. */
const MAX_CHARACTERS = 32 * 1024;

/**
 * The commands after which RESET makes the session that of a new login (PostgreSQL's tags, first word). Others may prepare or deallocate statements, or leave a
 * transaction open: after them the session is reset by DISCARD ALL.
 */
const PLAIN = new Set(['SELECT', 'INSERT', 'UPDATE', 'DELETE', 'MERGE', 'SHOW', 'EXPLAIN', 'SET', 'RESET']);

/** A text of one of these commands. The protocol takes one command in a text. */
const READS = /^\s*(select|with|values|table|insert|update|delete|merge|show|set|reset)\b/i;

/** DISCARD ALL (PostgreSQL manual), without DEALLOCATE ALL, DISCARD PLANS and the advisory locks. */
const RESET = 'SET SESSION AUTHORIZATION DEFAULT; RESET ALL; CLOSE ALL; UNLISTEN *; DISCARD TEMP; DISCARD SEQUENCES';
const UNLOCK = 'SELECT pg_catalog.pg_advisory_unlock_all()';

/** Whether the role may take session-level advisory locks, and whether it may release them. DISCARD ALL needs no right, but drops prepared statements. */
const LOCKS = `SELECT
  EXISTS (SELECT FROM pg_catalog.pg_proc p WHERE p.pronamespace = 'pg_catalog'::regnamespace AND p.proname ~ '^pg_(try_)?advisory_lock' AND pg_catalog.has_function_privilege(p.oid, 'EXECUTE')),
  pg_catalog.has_function_privilege('pg_catalog.pg_advisory_unlock_all()', 'EXECUTE')`;

/** Parts of `pg`'s clients that its types do not declare. */
interface Inner {
  readonly connection: { readonly stream: { cork(): void; uncork(): void }; readonly parsedStatements: Record<string, string> };
}

/** A session of the pool: what it keeps from one request to the next (prepared statements), and how it is reset between them. */
export class Session {
  readonly #client: pg.PoolClient;
  /** The names of prepared statements by text, in the order of their last use. Names are random, so that no text of a caller can name them. */
  readonly #prepared = new Map<string, string>();
  /** Texts that were used once. */
  readonly #seen = new Set<string>();
  /** Prepared statements to deallocate with the next reset. */
  #dropped: string[] = [];
  /** The reset that keeps prepared statements, or null if the role can take locks but not release them. */
  #reset: string | null | undefined;
  /** The result of the reset that was sent last. */
  #sent: Promise<boolean> | undefined;
  #plain = true;

  constructor(client: pg.PoolClient) {
    this.#client = client;
  }

  /** Finds out how to reset the session. To be awaited once, before the first statement of a caller. */
  async begin(): Promise<void> {
    if (this.#reset !== undefined) return;
    const found = await this.#client.query<[boolean, boolean]>({ text: LOCKS, rowMode: 'array' }).catch(() => undefined);
    const [mayLock, mayUnlock] = found?.rows[0] ?? [true, false];
    this.#reset = mayUnlock ? `${RESET}; ${UNLOCK}` : mayLock ? null : RESET;
  }

  /** The name under which to run a text: it is prepared when it is used for the second time. Undefined: without a name. */
  nameOf(text: string): string | undefined {
    if (this.#reset === null || text.length > MAX_CHARACTERS) return undefined;
    let name = this.#prepared.get(text);
    if (name === undefined) {
      if (!this.#seen.delete(text)) {
        this.#seen.add(text);
        dropFirst(this.#seen, MAX_PREPARED);
        return undefined;
      }
      name = `gateway_${randomBytes(12).toString('hex')}`;
    }
    this.#prepared.delete(text);
    this.#prepared.set(text, name);
    const [oldest] = this.#prepared.keys();
    if (this.#prepared.size > MAX_PREPARED && oldest !== undefined) this.forget(oldest);
    return name;
  }

  /** Forgets a prepared statement: PostgreSQL refuses its plan, or there are too many. `gone`: PostgreSQL does not have it any more. */
  forget(text: string, gone = false): void {
    const name = this.#prepared.get(text);
    if (name === undefined) return;
    this.#prepared.delete(text);
    const { parsedStatements } = this.#inner.connection;
    // a DEALLOCATE of a statement that PostgreSQL does not have would fail, and the whole reset with it
    if (!gone && Object.hasOwn(parsedStatements, name)) this.#dropped.push(name);
    delete parsedStatements[name];
  }

  /** Sends a statement, and the reset with it, in one packet. PostgreSQL runs the reset when the statement has ended. */
  sendWithReset(send: () => void): void {
    const { stream } = this.#inner.connection;
    stream.cork();
    send();
    if (this.#reset != null) this.#sent = this.#queryReset();
    stream.uncork();
  }

  /** Notes the command of a statement that has ended. */
  ended(command: string | undefined): void {
    if (!PLAIN.has(command ?? '')) this.#plain = false;
  }

  /** Notes that a statement failed, whose command PostgreSQL does not report. */
  failed(texts: readonly string[]): void {
    if (!texts.every((text) => READS.test(text))) this.#plain = false;
  }

  /** Makes the session that of a new login. Rejects if the session cannot be used any more. */
  async clean(): Promise<void> {
    const sent = this.#sent;
    this.#sent = undefined;
    const plain = this.#plain;
    this.#plain = true;
    if (sent !== undefined && (await sent) && plain && this.#client.getTransactionStatus() === 'I') return;
    if (this.#client.getTransactionStatus() !== 'I') await this.#client.query('ROLLBACK');
    if (sent === undefined && plain && this.#reset != null && (await this.#queryReset())) return;
    await this.#client.query('DISCARD ALL');
    this.#forgetAll();
  }

  /** @returns whether it succeeded */
  #queryReset(): Promise<boolean> {
    const dropped = this.#dropped.splice(0).map((name) => `; DEALLOCATE ${name}`);
    return this.#client.query(`${this.#reset}${dropped.join('')}`).then(
      () => true,
      () => false,
    );
  }

  #forgetAll(): void {
    for (const name of this.#prepared.values()) delete this.#inner.connection.parsedStatements[name];
    this.#prepared.clear();
    this.#dropped = [];
  }

  get #inner(): Inner {
    return this.#client as unknown as Inner;
  }
}

/** Removes the oldest entries above a number. */
function dropFirst(set: Set<string>, most: number): void {
  for (const entry of set) {
    if (set.size <= most) return;
    set.delete(entry);
  }
}
