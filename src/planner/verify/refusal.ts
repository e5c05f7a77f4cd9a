/** Why a statement is refused. */

/**
 * What a check is about. `relation`: a table or common table expression in FROM; `qualifier`: the name in front of a column. `too_complex`: the statement is
 * nested too deeply, or the parser cannot hold it.
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

/** Longer names are cut: PostgreSQL's own names have at most 63 bytes. */
const MAX_NAME = 130;

/** A finished statement that does not pass. Holds no part of the statement but the name that failed. */
export class RefusedByVerifier extends Error {
  readonly kind: Refusal;
  /** The name that failed, cut. */
  readonly subject: string;
  /** `kind:name`, for logs: the kind of the check, and the name that failed. */
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

/** Ends the verification. */
export function refuse(kind: Refusal, name: string): never {
  throw new RefusedByVerifier(kind, name);
}
