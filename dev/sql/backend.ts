import type { Answer } from './answer.ts';
import type { Caller } from './login-queue.ts';
import type { Login, SqlRequest } from './protocol.ts';

/** The database of an SQL endpoint. */
export interface Backend {
  /** Whether this user may log in with this password to this database. */
  accepts(login: Login, caller: Caller): boolean | Promise<boolean>;
  /**
   * Runs a request in its own session and writes the whole answer except for its end. Rejects with SqlFault or
   * RequestFault. `signal` fires when the caller disconnects: the statement is cancelled. Call the returned function
   * when the answer has been sent; it resets the session.
   */
  run(request: SqlRequest, answer: Answer, signal: AbortSignal): Promise<() => Promise<void>>;
  close(): Promise<void>;
}
