/** PostgreSQL's own grammar behind one synchronous function. The module and its glue are handed in (dist/parser/). */
import type { ParseResult as PgParseResult, RawStmt } from '@pgsql/types';
import { badRequest, SvcError } from '../errors.ts';
import { type Instance, instantiate, type ParserGlue, type RawResult } from './parser-runtime.ts';

export type { ParserGlue } from './parser-runtime.ts';

/**
 * libpg-query's tree as it writes it in JSON: `stmts` is empty for an empty text; all locations are 0-based UTF-8 byte
 * offsets, and members that are 0, false or empty are left out.
 */
export interface ParseResult extends PgParseResult {
  stmts: RawStmt[];
}

export interface SqlParser {
  /**
   * Parses a text of any number of statements. Throws SvcError 400 `syntax_error` with PostgreSQL's message and the
   * UTF-16 offset into `sql`, or 400 `too_complex` where the grammar's memory or stack does not suffice; the next call
   * works in either case.
   */
  parse(sql: string): ParseResult;
}

/** An instance whose memory has grown past this is replaced: memory of WebAssembly never shrinks. */
export const REPLACE_ABOVE = 64 * 2 ** 20;

/** Messages by which PostgreSQL itself says that a text is too deep or too large for it. */
const EXHAUSTED = /^(stack depth limit exceeded|out of memory|memory exhausted|invalid memory alloc request size)/;

/**
 * A parser over the compiled module. The first instance is made at the first call, a new one after a trap: the old one is
 * let go before, so that there are never two.
 */
export function createParser(module: WebAssembly.Module, glue: ParserGlue): SqlParser {
  let instance: Instance | undefined;

  const run = (sql: string): RawResult => {
    const current = instance ?? instantiate(module, glue);
    // given back only by a call that came through
    instance = undefined;
    const result = current.parse(sql);
    if (current.size() <= REPLACE_ABOVE) instance = current;
    return result;
  };

  return {
    parse: (sql) => {
      const nul = sql.indexOf('\0');
      if (nul >= 0) throw badRequest('syntax_error', 'a NUL character cannot stand in SQL', { offset: nul });
      try {
        const result = run(sql);
        if ('json' in result) {
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

/** The UTF-16 offset of the `count`-th character (0-based, Unicode code points) of `text`. */
function utf16Offset(text: string, count: number): number {
  let at = 0;
  for (let i = 0; i < count && at < text.length; i++) at += (text.codePointAt(at) as number) > 0xffff ? 2 : 1;
  return at;
}
