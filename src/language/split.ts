/** Splits the text of a request into statements (docs/design/statements-and-versions.md#scripts). */
import { SvcError } from '../errors.ts';
import { isSpace, plainEnd, requireText, SEMICOLON, scan } from './lexer.ts';
import type { Source } from './statements.ts';

/** Maximum size of a statement in UTF-8 bytes. A larger one would need too much of a Worker's memory to parse. */
export const MAX_STATEMENT_BYTES = 65_536;

const NOT_ASCII = /[^\u0000-\u007f]/;

/** The size of `text` in UTF-8 bytes. */
export function utf8Length(text: string): number {
  let n = text.length;
  if (!NOT_ASCII.test(text)) return n;
  for (let i = 0; i < text.length; i++) {
    const c = text.charCodeAt(i);
    if (c < 0x80) continue;
    if (c < 0x800) n += 1;
    // two surrogates are four bytes
    else n += c >= 0xd800 && c < 0xe000 ? 1 : 2;
  }
  return n;
}

/**
 * Splits `text` at each `;` outside strings, names and comments. Empty statements are omitted. A statement extends from its
 * first token to its last, without surrounding blanks and comments.
 * @throws SvcError 400 `syntax_error` for an unterminated string, name or comment; 413 `statement_too_long` for a statement over 64 KiB
 */
export function splitScript(text: string): Source[] {
  requireText(text);
  const statements: Source[] = [];
  let start = -1;
  let end = -1;
  const finish = (): void => {
    if (start >= 0) statements.push(checked({ text: text.slice(start, end), offset: start }));
    start = -1;
  };
  for (let at = 0, next = 0; at < text.length; at = next) {
    next = plainEnd(text, at);
    if (next < 0) {
      const token = scan(text, at);
      next = token.end;
      if (token.kind === 'comment') continue;
    } else if (isSpace(text.charCodeAt(at))) continue;
    else if (text.charCodeAt(at) === SEMICOLON) {
      finish();
      continue;
    }
    if (start < 0) start = at;
    end = next;
  }
  finish();
  return statements;
}

function checked(source: Source): Source {
  // a UTF-16 unit takes at most three bytes
  if (source.text.length * 3 <= MAX_STATEMENT_BYTES || utf8Length(source.text) <= MAX_STATEMENT_BYTES) return source;
  throw new SvcError(413, 'statement_too_long', `a statement is longer than ${MAX_STATEMENT_BYTES / 1024} KiB`, {
    offset: source.offset,
    hint: 'Shorten it, or send several statements.',
  });
}
