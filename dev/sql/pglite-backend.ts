import type pg from 'pg';
import type { Answer } from './answer.ts';
import type { Backend } from './backend.ts';
import { asFault, cancelled, crashed, SqlFault, timedOut } from './fault.ts';
import type { PgliteHost } from './pglite-host.ts';
import { beginOf, type Login, type RequestFault, type SqlRequest } from './protocol.ts';
import { currentTimeout, type RoleSettings, readRoleSettings } from './role-settings.ts';
import { runStatement, TypeCatalog } from './statement.ts';

/** A statement whose caller has gone gets this long to end by itself, before the thread is ended. */
const GRACE_MS = 250;
/** Statements that may change the settings of a role. */
const CHANGES = /\b(alter|drop|create|do|call)\b/i;
/** Words of statements that may leave something in the session; any other one leaves nothing to clear. */
const LEAVES =
  /\b(set|set_config|reset|temp|temporary|declare|listen|prepare|advisory\w*|do|call|create|alter|drop|load|discard|execute|nextval|setval|lock)\b|advisory/i;
/** Logins do not exist here, so nothing else keeps a caller from becoming another user. */
const ESCAPE = /session[\s_]+authorization/i;
/** What DISCARD ALL does, as a string that may hold more commands: what a request leaves is cleared with the next one's entry. */
const CLEAR =
  'SET SESSION AUTHORIZATION postgres; CLOSE ALL; RESET ALL; DEALLOCATE ALL; UNLISTEN *; SELECT pg_catalog.pg_advisory_unlock_all(); DISCARD PLANS; DISCARD TEMP; DISCARD SEQUENCES';

/**
 * PGlite behind the endpoint. It has one session, so requests queue. It knows neither logins nor time-outs: for each
 * request the session becomes that of the connection string's user, with that role's settings; a statement past its
 * time-out, and one whose caller has gone, ends the thread.
 */
export class PgliteBackend implements Backend {
  #host: PgliteHost;
  #accepts: (login: Login) => boolean;
  #tail: Promise<unknown> = Promise.resolve();
  #roles = new Map<string, RoleSettings>();
  #types = new TypeCatalog();
  /** The session as a clean request has left it: whose it still is. */
  #left: { client: pg.Client; role: RoleSettings } | undefined;

  constructor(host: PgliteHost, accepts: (login: Login) => boolean) {
    this.#host = host;
    this.#accepts = accepts;
  }

  accepts(login: Login): boolean {
    return this.#accepts(login);
  }

  /** Runs `work` on the database owner's session when all that came before has ended. */
  async exclusive<T>(work: (client: pg.Client) => Promise<T>): Promise<T> {
    const leave = await this.#turn();
    try {
      const client = await this.#host.client();
      this.#left = undefined;
      await client.query(CLEAR);
      return await work(client);
    } finally {
      this.#roles.clear();
      leave();
    }
  }

  async run(request: SqlRequest, answer: Answer, signal: AbortSignal): Promise<() => Promise<void>> {
    const leave = await this.#turn();
    try {
      if (signal.aborted) throw cancelled();
      const client = await this.#host.client();
      const session = new PgliteSession(client, this.#host, request, answer, signal);
      const role = await this.#settings(client, request.login.user);
      if (this.#left?.client !== client || this.#left.role !== role) await client.query(`${CLEAR}; ${role.enter}`);
      this.#left = undefined;
      await session.run(role, this.#types);
      return async () => {
        await session.endTransaction();
        if (!request.statements.some((s) => LEAVES.test(s.query))) this.#left = { client, role };
        if (request.statements.some((s) => CHANGES.test(s.query))) this.#roles.clear();
        leave();
      };
    } catch (error) {
      leave();
      throw error;
    }
  }

  async close(): Promise<void> {
    await this.#host.close();
  }

  /** Resolves when it is this caller's turn, with the function that ends the turn. */
  async #turn(): Promise<() => void> {
    let leave = () => {};
    const before = this.#tail;
    this.#tail = new Promise<void>((resolve) => (leave = resolve));
    await before;
    return leave;
  }

  async #settings(client: pg.Client, role: string): Promise<RoleSettings> {
    let settings = this.#roles.get(role);
    if (!settings) {
      this.#left = undefined;
      await client.query(CLEAR);
      settings = await readRoleSettings(client, role);
      this.#roles.set(role, settings);
    }
    return settings;
  }
}

/** One request on the only session. */
class PgliteSession {
  #client: pg.Client;
  #host: PgliteHost;
  #request: SqlRequest;
  #answer: Answer;
  #signal: AbortSignal;
  /** Why the thread was ended, once it was. */
  #killed: SqlFault | RequestFault | undefined;

  constructor(client: pg.Client, host: PgliteHost, request: SqlRequest, answer: Answer, signal: AbortSignal) {
    this.#client = client;
    this.#host = host;
    this.#request = request;
    this.#answer = answer;
    this.#signal = signal;
  }

  /** Runs the statements; where that fails the transaction is ended before the error is thrown. */
  async run(role: RoleSettings, types: TypeCatalog): Promise<void> {
    let grace: NodeJS.Timeout | undefined;
    const onAbort = () => {
      grace = setTimeout(() => this.#kill(cancelled()), GRACE_MS);
    };
    this.#signal.addEventListener('abort', onAbort, { once: true });
    try {
      await this.#statements(role, types);
    } catch (error) {
      if (!this.#killed) await this.endTransaction();
      throw this.#killed ?? asFault(lost(error));
    } finally {
      clearTimeout(grace);
      this.#signal.removeEventListener('abort', onAbort);
    }
  }

  /** Leaves no transaction open. */
  async endTransaction(): Promise<void> {
    try {
      if (this.#client.getTransactionStatus() !== 'I') await this.#client.query('ROLLBACK');
    } catch {
      await this.#host.kill();
    }
  }

  async #statements(role: RoleSettings, types: TypeCatalog): Promise<void> {
    const { batch, statements } = this.#request;
    let timeoutMs = role.timeoutMs;
    if (batch) {
      await this.#client.query(beginOf(this.#request));
      this.#answer.write('{"results":[');
    }
    for (const [i, statement] of statements.entries()) {
      if (ESCAPE.test(statement.query))
        throw new SqlFault('the embedded database does not let a session change its user', { severity: 'ERROR', code: '42501' });
      if (i > 0) this.#answer.write(',');
      const timer = timeoutMs > 0 ? setTimeout(() => this.#kill(timedOut()), timeoutMs) : undefined;
      try {
        await runStatement(this.#client, statement, this.#request.rawText, this.#answer, types, (why) => this.#kill(why));
      } finally {
        clearTimeout(timer);
      }
      if (batch && [statement.query, ...statement.params].some((t) => t !== null && /statement_timeout/i.test(t)))
        timeoutMs = await currentTimeout(this.#client);
    }
    if (batch) {
      this.#answer.write(']}');
      await this.#client.query('COMMIT');
    }
  }

  #kill(why: SqlFault | RequestFault): void {
    this.#killed ??= why;
    void this.#host.kill();
  }
}

/** The loss of the thread as an error of PostgreSQL. */
function lost(error: unknown): unknown {
  return error instanceof Error && /Connection terminated|not queryable/.test(error.message) ? crashed() : error;
}
