/** PostgreSQL's own grammar as one synchronous function. The caller provides the compiled module and its glue (dist/parser/). */
import type { ParseResult as PgParseResult, RawStmt } from '@pgsql/types';
import { visited } from '../budget.ts';
import { badRequest, SvcError } from '../errors.ts';
import { type Instance, instantiate, type ParserGlue, type RawResult } from './parser-runtime.ts';

export type { ParserGlue } from './parser-runtime.ts';

/**
 * libpg-query's tree in JSON form: `stmts` is empty for an empty text; locations are 0-based UTF-8 byte offsets;
 * members that are 0, false or empty are omitted.
 */
export interface ParseResult extends PgParseResult {
  stmts: RawStmt[];
}

export interface SqlParser {
  /**
   * Parses a text with any number of statements. @throws SvcError 400 `syntax_error` with PostgreSQL's message and the
   * UTF-16 offset in `sql`; 400 `too_complex` if the grammar's memory or stack does not suffice. The parser stays usable
   * after either error.
   */
  parse(sql: string): ParseResult;
}

/** An instance is replaced when its memory exceeds this size, because WebAssembly memory never shrinks. */
export const REPLACE_ABOVE = 64 * 2 ** 20;

/** The characters of a tree's JSON whose creation, parsing and walks cost as much as a step of a budget: a text of short names and numbers has a larger tree than others. */
const CHARACTERS_OF_A_STEP = 4;

/** PostgreSQL's own messages for a text that is too deep or too large. */
const EXHAUSTED = /^(stack depth limit exceeded|out of memory|memory exhausted|invalid memory alloc request size)/;

/**
 * Creates a parser for the compiled module. The first call creates an instance; a trap discards it, and the next call creates
 * a new one. At most one instance exists at a time.
 */
export function createParser(module: WebAssembly.Module, glue: ParserGlue): SqlParser {
  let instance: Instance | undefined;

  const run = (sql: string): RawResult => {
    const current = instance ?? instantiate(module, glue);
    // set again only after a call that did not trap
    instance = undefined;
    const result = current.parse(sql);
    if (current.size() <= REPLACE_ABOVE) instance = current;
    return result;
  };

  return {
    parse: (sql) => {
      const nul = sql.indexOf('\0');
      if (nul >= 0) throw badRequest('syntax_error', 'SQL cannot contain a NUL character', { offset: nul });
      try {
        const result = run(sql);
        if ('json' in result) {
          visited(result.json.length / CHARACTERS_OF_A_STEP);
          const tree = JSON.parse(result.json) as PgParseResult;
          return { ...tree, stmts: tree.stmts ?? [] };
        }
        if (EXHAUSTED.test(result.message)) throw tooComplex();
        throw badRequest('syntax_error', result.message, { offset: result.cursor > 0 ? utf16Offset(sql, result.cursor - 1) : undefined });
      } catch (e) {
        if (e instanceof SvcError) throw e;
        if (e instanceof WebAssembly.RuntimeError || e instanceof RangeError) throw tooComplex(e);
        throw e;
      }
    },
  };
}

const tooComplex = (cause?: unknown): SvcError =>
  badRequest('too_complex', 'the statement is nested too deeply', { hint: 'Split it, or write it with fewer levels of nesting.', cause });

/** The UTF-16 offset of the `count`-th character (0-based, in Unicode code points) of `text`. */
function utf16Offset(text: string, count: number): number {
  let at = 0;
  for (let i = 0; i < count && at < text.length; i++) at += (text.codePointAt(at) as number) > 0xffff ? 2 : 1;
  return at;
}
