import type { Answer } from './answer.ts';
import type { Login, SqlRequest } from './protocol.ts';

/** A database behind the SQL endpoint. */
export interface Backend {
  /** Whether this user may log in with this password to this database. */
  accepts(login: Login): boolean | Promise<boolean>;
  /**
   * Runs a request on a session of its own and writes the whole answer but for its end. Rejects with SqlFault or
   * RequestFault. When `signal` fires the caller has gone: the statement is cancelled. The returned function is called
   * when the answer has been sent; it resets the session.
   */
  run(request: SqlRequest, answer: Answer, signal: AbortSignal): Promise<() => Promise<void>>;
  close(): Promise<void>;
}
