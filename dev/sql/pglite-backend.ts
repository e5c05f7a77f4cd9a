import type pg from 'pg';
import type { Exec } from '../reader.ts';
import { CATALOG_OWNER } from '../roles.ts';
import type { Answer } from './answer.ts';
import type { Backend } from './backend.ts';
import { asFault, cancelled, crashed, isGone, isStale, SqlFault, timedOut } from './fault.ts';
import type { PgliteHost } from './pglite-host.ts';
import { PreparedStatements } from './prepared.ts';
import { beginOf, type Login, type RequestFault, type SqlRequest, type Statement } from './protocol.ts';
import { currentTimeout, type RoleSettings, readRoleSettings } from './role-settings.ts';
import { runStatement, TypeCatalog } from './statement.ts';

/** The time for a statement to end after its caller has disconnected, before the thread is ended. */
const GRACE_MS = 250;
/** Statements that may change the settings of a role name one of each. */
const CHANGES = [/\b(alter|drop|create)\b/i, /\b(role|user|group|database|system)\b/i];
/** Commands that run statements of their own, unlike `ON CONFLICT DO`. */
const CODE = /\b(do(?!\s+(nothing|update)\b)|call)\b/i;
/** Statements that may prepare or deallocate statements, or change the types of columns: a prepared statement keeps the types of its parameters. */
const OUTDATES = /\b(prepare|deallocate|discard|execute|alter|drop)\b/i;
/** Statements without a result, which no DDL can change. */
const WRITES = /^\s*(insert|update|delete)\b(?![\s\S]*\breturning\b)/i;
/** Words of statements that may change the session's state; after other statements there is nothing to clear. */
const LEAVES =
  /\b(set|set_config|reset|temp|temporary|declare|listen|prepare|deallocate|advisory\w*|do|call|create|alter|drop|load|discard|execute|nextval|setval|lock)\b|advisory/i;
/** Statements that would make a caller another user. The embedded database has no logins that prevent it. */
const ESCAPE = /session[\s_]+authorization/i;
/** The effect of DISCARD ALL without prepared statements, as a string that may contain more commands: the state of a request is cleared when the next one begins. */
const CLEAR =
  'SET SESSION AUTHORIZATION postgres; CLOSE ALL; RESET ALL; UNLISTEN *; SELECT pg_catalog.pg_advisory_unlock_all(); DISCARD TEMP; DISCARD SEQUENCES';

/** The prepared statements of a thread. `isForeign`: some may be of a caller, deallocated or out of date. */
interface Prepared {
  readonly client: pg.Client;
  readonly statements: PreparedStatements;
  isForeign: boolean;
}

/**
 * PGlite for the endpoint. It has one session, so requests queue. It has neither logins nor timeouts: for each
 * request the session becomes that of the connection string's user, with that role's settings. A statement that exceeds its
 * timeout, or whose caller disconnects, ends the thread.
 */
export class PgliteBackend implements Backend {
  #host: PgliteHost;
  #accepts: (login: Login) => boolean;
  #tail: Promise<unknown> = Promise.resolve();
  #roles = new Map<string, RoleSettings>();
  #types = new TypeCatalog();
  /** The session after a request that left no state: its owner. */
  #left: { client: pg.Client; role: RoleSettings } | undefined;
  #prepared: Prepared | undefined;

  constructor(host: PgliteHost, accepts: (login: Login) => boolean) {
    this.#host = host;
    this.#accepts = accepts;
  }

  accepts(login: Login): boolean {
    return this.#accepts(login);
  }

  /** Runs `work` in the database owner's session after all earlier requests. */
  async exclusive<T>(work: (exec: Exec) => Promise<T>): Promise<T> {
    const leave = await this.#turn();
    const texts: string[] = [];
    try {
      const client = await this.#host.client();
      await this.#clear(client);
      return await work((sql) => {
        texts.push(sql);
        return client.query(sql);
      });
    } finally {
      this.#ran(texts);
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
      if (this.#left?.client !== client || this.#left.role !== role) await this.#clear(client, role);
      this.#left = undefined;
      // those of the catalog are constants; others may have literals, such as 'now', that PostgreSQL reads only when it prepares them
      const texts = request.statements.map((s) => s.query);
      const mayPrepare = request.login.user === CATALOG_OWNER && !texts.some((text) => OUTDATES.test(text));
      const prepared = mayPrepare ? this.#preparedOf(client).statements : undefined;
      await session.run(role, this.#types, prepared).finally(() => this.#ran(texts));
      return async () => {
        await session.endTransaction();
        if (!texts.some((text) => LEAVES.test(text))) this.#left = { client, role };
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
      await this.#clear(client);
      settings = await readRoleSettings(client, role);
      this.#roles.set(role, settings);
    }
    return settings;
  }

  /** Makes the session that of a new login: of the database's owner, or of a role. */
  async #clear(client: pg.Client, role?: RoleSettings): Promise<void> {
    this.#left = undefined;
    const prepared = this.#preparedOf(client);
    await client.query(`${CLEAR}${prepared.isForeign ? '; DEALLOCATE ALL; DISCARD PLANS' : prepared.statements.deallocate()}${role ? `; ${role.enter}` : ''}`);
    if (prepared.isForeign) prepared.statements.clear();
    prepared.isForeign = false;
  }

  #preparedOf(client: pg.Client): Prepared {
    if (this.#prepared?.client !== client) this.#prepared = { client, statements: new PreparedStatements(client), isForeign: false };
    return this.#prepared;
  }

  /** Forgets what statements may have changed. */
  #ran(texts: readonly string[]): void {
    const hasCode = texts.some((text) => CODE.test(text));
    if (hasCode || texts.some((text) => CHANGES.every((words) => words.test(text)))) this.#roles.clear();
    if (this.#prepared && (hasCode || texts.some((text) => OUTDATES.test(text)))) this.#prepared.isForeign = true;
  }
}

/** One request on the only session. */
class PgliteSession {
  #client: pg.Client;
  #host: PgliteHost;
  #request: SqlRequest;
  #answer: Answer;
  #signal: AbortSignal;
  /** The reason why the thread was ended. */
  #killed: SqlFault | RequestFault | undefined;

  constructor(client: pg.Client, host: PgliteHost, request: SqlRequest, answer: Answer, signal: AbortSignal) {
    this.#client = client;
    this.#host = host;
    this.#request = request;
    this.#answer = answer;
    this.#signal = signal;
  }

  /** Runs the statements; if that fails, the transaction is ended before the error is thrown. */
  async run(role: RoleSettings, types: TypeCatalog, prepared: PreparedStatements | undefined): Promise<void> {
    let grace: NodeJS.Timeout | undefined;
    const onAbort = () => {
      grace = setTimeout(() => this.#kill(cancelled()), GRACE_MS);
    };
    this.#signal.addEventListener('abort', onAbort, { once: true });
    try {
      await this.#statements(role, types, prepared);
    } catch (error) {
      if (!this.#killed) await this.endTransaction();
      throw this.#killed ?? asFault(lost(error));
    } finally {
      clearTimeout(grace);
      this.#signal.removeEventListener('abort', onAbort);
    }
  }

  /** Ends an open transaction. */
  async endTransaction(): Promise<void> {
    try {
      if (this.#client.getTransactionStatus() !== 'I') await this.#client.query('ROLLBACK');
    } catch {
      await this.#host.kill();
    }
  }

  async #statements(role: RoleSettings, types: TypeCatalog, prepared: PreparedStatements | undefined): Promise<void> {
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
        await this.#statement(statement, types, prepared);
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

  /** Runs one statement, prepared if it may be. A query in a batch is not: if its columns have changed, PostgreSQL refuses it and ends the transaction. */
  async #statement(statement: Statement, types: TypeCatalog, prepared: PreparedStatements | undefined): Promise<void> {
    const running = { client: this.#client, answer: this.#answer, types, stop: (why: SqlFault | RequestFault) => this.#kill(why) };
    const name = !this.#request.batch || WRITES.test(statement.query) ? prepared?.nameOf(statement.query) : undefined;
    try {
      await runStatement({ ...running, name }, statement, this.#request.rawText);
    } catch (error) {
      if (name === undefined || this.#request.batch || !isStale(error)) throw error;
      prepared?.forget(statement.query, isGone(error));
      await runStatement(running, statement, this.#request.rawText);
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
