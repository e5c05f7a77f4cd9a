/**
 * Writes a syntax tree of a query (libpg-query 18, its JSON) as SQL that PostgreSQL 15 to 18 read.
 *
 * Its own, because the npm package pgsql-deparser drops FETCH FIRST .. WITH TIES in silence, prints `ARRAY[..][2:3]` without
 * the brackets that it needs, and passes over fields that it does not know. Here each type of node has a list of its known
 * fields, and what is not on it is refused.
 */
import type { Node, SelectStmt } from '@pgsql/types';
import { expression } from './print/expression.ts';
import { select } from './print/select.ts';
import { type Mark, Sink } from './print/sink.ts';

export interface PrintOptions {
  /**
   * Called in the order of the output for each node that knows its place: the UTF-16 offset in the output of the token that
   * the node's `location` (byte offset in the source) stands for. It is the token to which PostgreSQL's own error
   * positions point, e.g. the operator of an A_Expr, the first token of a column or a call.
   */
  readonly mark?: Mark | undefined;
  /** The longest text, in UTF-16 units; default: any length. Past it 400 `too_complex`. */
  readonly longest?: number;
  /** How many sets it may build in memory (`Sink.set`); default: any number. Past it 400 `too_complex`. */
  readonly mostSets?: number;
}

/**
 * The body of a SelectStmt node as SQL. Besides the parser's nodes it takes `{ Fragment: { sql, atomic? } }`, text made
 * before: as a subquery of any kind it stands in that subquery's brackets, as an expression in brackets unless `atomic`.
 *
 * Throws SvcError 400 `unsupported_syntax` for what no query may hold (locking clauses, INTO, ONLY, XML, ..) and for
 * whatever a later grammar brings, 400 `too_complex` for a tree nested deeper than 600 levels.
 */
export function printSelect(node: SelectStmt, options: PrintOptions = {}): string {
  const sink = new Sink(options.mark, options.longest, options.mostSets);
  select(sink, node);
  return sink.text;
}

/** An expression node as SQL, without brackets around it; else as `printSelect`. */
export function printExpression(node: Node, options: PrintOptions = {}): string {
  const sink = new Sink(options.mark);
  expression(sink, node);
  return sink.text;
}
