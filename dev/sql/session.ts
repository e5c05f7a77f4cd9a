import type pg from 'pg';
import { PreparedStatements } from './prepared.ts';

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
  readonly connection: { readonly stream: { cork(): void; uncork(): void } };
}

/** A session of the pool: what it keeps from one request to the next (prepared statements), and how it is reset between them. */
export class Session {
  readonly #client: pg.PoolClient;
  readonly #prepared: PreparedStatements;
  /** The reset that keeps prepared statements, or null if the role can take locks but not release them. */
  #reset: string | null | undefined;
  /** The result of the reset that was sent last. */
  #sent: Promise<boolean> | undefined;
  #plain = true;

  constructor(client: pg.PoolClient) {
    this.#client = client;
    this.#prepared = new PreparedStatements(client);
  }

  /** Finds out how to reset the session. To be awaited once, before the first statement of a caller. */
  async begin(): Promise<void> {
    if (this.#reset !== undefined) return;
    const found = await this.#client.query<[boolean, boolean]>({ text: LOCKS, rowMode: 'array' }).catch(() => undefined);
    const [mayLock, mayUnlock] = found?.rows[0] ?? [true, false];
    this.#reset = mayUnlock ? `${RESET}; ${UNLOCK}` : mayLock ? null : RESET;
  }

  /** As `PreparedStatements.nameOf`. Undefined too if the session cannot be reset. */
  nameOf(text: string): string | undefined {
    return this.#reset === null ? undefined : this.#prepared.nameOf(text);
  }

  /** As `PreparedStatements.forget`. */
  forget(text: string, gone = false): void {
    this.#prepared.forget(text, gone);
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
    this.#prepared.clear();
  }

  /** @returns whether it succeeded */
  #queryReset(): Promise<boolean> {
    return this.#client.query(`${this.#reset}${this.#prepared.deallocate()}`).then(
      () => true,
      () => false,
    );
  }

  get #inner(): Inner {
    return this.#client as unknown as Inner;
  }
}
