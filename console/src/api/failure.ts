/** What went wrong, for the user. */
import { texts } from '../texts.ts';

/** An error that the service reported, or a failed connection (`code` is then `connection_failed`). */
export class Failure extends Error {
  readonly status: number;
  readonly code: string;
  readonly hint: string | null;
  /** Characters in the sent SQL, from 1; null without a position. */
  readonly position: number | null;

  constructor(status: number, code: string, message: string, hint: string | null = null, position: number | null = null) {
    super(message);
    this.status = status;
    this.code = code;
    this.hint = hint;
    this.position = position;
  }
}

/** The failure of anything that was thrown; null if the request was cancelled. */
export function failureOf(thrown: unknown): Failure | null {
  if (thrown instanceof Failure) return thrown;
  if (thrown instanceof DOMException && thrown.name === 'AbortError') return null;
  if (thrown instanceof TypeError && /fetch|network|load failed/i.test(thrown.message))
    return new Failure(0, 'connection_failed', texts.failure.unreachable, texts.failure.connection);
  return new Failure(0, 'console_fault', thrown instanceof Error ? thrown.message : String(thrown));
}
