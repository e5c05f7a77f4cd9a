/** The reasons for which a statement is refused. */

/**
 * The kind of a check. `relation`: a table or common table expression in FROM; `qualifier`: the qualifier of a column; `too_complex`: the statement is nested too deeply,
 * or too large for the parser.
 */
export type Refusal =
  | 'syntax'
  | 'too_complex'
  | 'statement'
  | 'node'
  | 'member'
  | 'relation'
  | 'qualifier'
  | 'row'
  | 'function'
  | 'operator'
  | 'type'
  | 'collation'
  | 'value'
  | 'parameter'
  | 'column'
  | 'field';

/** Longer names are truncated. PostgreSQL's own names have at most 63 bytes. */
const MAX_NAME = 130;

/** The error for a refused statement. It contains no part of the statement except the name that failed. */
export class RefusedByVerifier extends Error {
  readonly kind: Refusal;
  /** The name that failed, truncated. */
  readonly subject: string;
  /** The kind of the check and the name that failed, for logs: `kind:name`. */
  readonly reason: string;

  constructor(kind: Refusal, name: string) {
    const subject = name.slice(0, MAX_NAME);
    const reason = `${kind}:${subject}`;
    super(`refused by the verifier (${reason})`);
    this.name = 'RefusedByVerifier';
    this.kind = kind;
    this.subject = subject;
    this.reason = reason;
  }
}

/** Refuses the statement. @throws RefusedByVerifier always */
export function refuse(kind: Refusal, name: string): never {
  throw new RefusedByVerifier(kind, name);
}
