/**
 * The second wall: the verifier checks SQL before it is sent to a datasource. It shares only the parser with the planner. It reads the finished text with separate lists and
 * a separate walk, so that a bug in the planner or in the guard does not reach a database.
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

/** The argument that the constructor requires. Only this file has it. */
const PASSED = Symbol('passed');

/** A verified statement. Only `verify` makes one. */
export class Verified {
  /** A private member makes the type nominal. */
  readonly #sql: string;

  private constructor(sql: string, passed: symbol) {
    if (passed !== PASSED) throw new TypeError('only verify makes a verified statement');
    this.#sql = sql;
  }

  get sql(): string {
    return this.#sql;
  }

  /** True if a value is a verified statement, independent of its static type. */
  static is(value: unknown): value is Verified {
    return typeof value === 'object' && value !== null && #sql in value;
  }

  /** @internal */
  static of(sql: string, passed: symbol): Verified {
    return new Verified(sql, passed);
  }
}

/**
 * Checks a finished statement. It must be a single SELECT that does not write or lock, over declared tables, their declared columns, and its own common table expressions. It may
 * use only functions, operators, types and collations of the lists, bound parameters, and fields that are columns.
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
