/**
 * Prints the syntax tree of a query (JSON of libpg-query 18) as SQL for PostgreSQL 15 to 18.
 *
 * It replaces the npm package pgsql-deparser, which omits FETCH FIRST .. WITH TIES, prints `ARRAY[..][2:3]` without the parentheses that it needs, and ignores
 * fields that it does not know. Here each type of node has a list of known fields, and any other field is an error.
 */
import type { Node, SelectStmt } from '@pgsql/types';
import { expression } from './expression.ts';
import { select } from './select.ts';
import { type Mark, Sink } from './sink.ts';

/** Options of `printSelect` and `printExpression`. */
export interface PrintOptions {
  /**
   * Called in output order for each node that has a location, with the UTF-16 offset in the output and the node's `location` (byte offset in the source). Both
   * are those of the token to which PostgreSQL's error positions point: the operator of an A_Expr, the first token of a column or call.
   */
  readonly mark?: Mark | undefined;
  /** The maximum length of the text in UTF-16 units; default: unlimited. A longer text is 400 `too_complex`. */
  readonly longest?: number;
  /** The maximum number of sets that the statement may build in memory (`Sink.countSet`); default: unlimited. More are 400 `too_complex`. */
  readonly mostSets?: number;
}

/** The longest SQL that is sent, and the most sets. PostgreSQL would need gigabytes to plan a longer statement; with the defaults of work_mem and hash_mem_multiplier each set may take 8 MB. */
export const STATEMENT_LIMITS = { longest: 256 * 1024, mostSets: 160 } as const;

/**
 * Prints a SelectStmt.
 * @throws SvcError 400 `unsupported_syntax` for nodes and fields that this printer does not know, and for syntax that a query must not contain (locking clauses,
 * INTO, ONLY, XML, ..). 400 `too_complex` for a tree that is nested more than 600 levels deep
 */
export const printSelect = (node: SelectStmt, options: PrintOptions = {}): string => printStatement(node, options).text;

/**
 * The same, with the length of the text up to the end of the select list; 0 if the text does not begin with SELECT.
 * @throws SvcError as `printSelect`
 */
export function printStatement(node: SelectStmt, options: PrintOptions): { readonly text: string; readonly listLength: number } {
  const sink = new Sink(options.mark, options.longest, options.mostSets);
  select(sink, node);
  return sink;
}

/**
 * Prints an expression without parentheses around it.
 * @throws SvcError as `printSelect`
 */
export function printExpression(node: Node, options: PrintOptions = {}): string {
  const sink = new Sink(options.mark);
  expression(sink, node);
  return sink.text;
}
