/**
 * The second wall: a verifier of the SQL that is about to be sent to a datasource. It shares nothing with the planner but the parser: it reads
 * the finished text, with lists and a walk of its own, so that a fault of the planner or of its guard does not reach a database.
 */
import { SvcError } from '../../errors.ts';
import type { SqlParser } from '../../language/parser.ts';
import type { Declared } from './declared.ts';
import { Level } from './level.ts';
import { PARTS } from './nodes.ts';
import { RefusedByVerifier, refuse } from './refusal.ts';
import type { Body, Tree } from './tree.ts';
import { Verifier } from './verifier.ts';

export type { Declared, DeclaredTable } from './declared.ts';
export { type Refusal, RefusedByVerifier } from './refusal.ts';

/** What the constructor asks for: nothing outside of this file has it. */
const PASSED = Symbol('passed');

/** A statement that has passed: only `verify` makes one. */
export class Verified {
  /** Makes the type nominal: an object of the same form does not have it. */
  readonly #sql: string;

  private constructor(sql: string, passed: symbol) {
    if (passed !== PASSED) throw new TypeError('only verify makes a verified statement');
    this.#sql = sql;
  }

  get sql(): string {
    return this.#sql;
  }

  /** Whether a value is one, whatever its type says. */
  static is(value: unknown): value is Verified {
    return typeof value === 'object' && value !== null && #sql in value;
  }

  /** @internal */
  static of(sql: string, passed: symbol): Verified {
    return new Verified(sql, passed);
  }
}

/**
 * Checks a finished statement: one SELECT that writes and locks nothing, over declared tables and their declared columns, and its own common table expressions, with
 * functions, operators, types and collations of the lists, parameters that are bound, and fields that are columns.
 * @throws RefusedByVerifier with the kind of the check and the name that failed
 */
export function verify(parser: SqlParser, sql: string, declared: Declared): Verified {
  const stmts = parsed(parser, sql);
  if (stmts.length !== 1) refuse('statement', `${stmts.length} statements`);
  const verifier = new Verifier(declared);
  const raw = stmts[0] as Body;
  verifier.members('RawStmt', raw, PARTS.RawStmt, new Level(undefined, undefined));
  verifier.query((raw.stmt ?? {}) as Tree, undefined, undefined);
  return Verified.of(sql, PASSED);
}

function parsed(parser: SqlParser, sql: string): readonly unknown[] {
  try {
    return parser.parse(sql).stmts;
  } catch (error) {
    // the parser's message quotes the statement
    if (!(error instanceof SvcError)) throw error;
    throw new RefusedByVerifier(error.code === 'too_complex' ? 'too_complex' : 'syntax', 'parser');
  }
}
