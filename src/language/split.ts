/** The text of a request -> its statements (docs/design/statements-and-versions.md#scripts). */
import { SvcError } from '../errors.ts';
import { lex } from './lexer.ts';
import type { Source } from './statements.ts';

/** Bytes of UTF-8 that one statement may have: more costs the parser more memory than a Worker should give. */
export const MAX_STATEMENT_BYTES = 65_536;

/** Bytes of `text` in UTF-8. */
export const utf8Length = (text: string): number => new TextEncoder().encode(text).length;

/**
 * The statements of `text`, split at each `;` that stands in no string, name or comment; empty ones are left out. A
 * statement reaches from its first word to its last: blanks and comments around it are not part of it.
 * Throws 400 `syntax_error` where something does not end, 413 `statement_too_long` for a statement over 64 KiB.
 */
export function splitScript(text: string): Source[] {
  const statements: Source[] = [];
  const next = lex(text);
  let start = -1;
  let end = -1;
  const finish = (): void => {
    if (start >= 0) statements.push(checked({ text: text.slice(start, end), offset: start }));
    start = -1;
  };
  for (let token = next(); token !== null; token = next()) {
    if (token.kind === 'space' || token.kind === 'comment') continue;
    if (token.kind === 'punct' && token.value === ';') {
      finish();
      continue;
    }
    if (start < 0) start = token.start;
    end = token.end;
  }
  finish();
  return statements;
}

function checked(source: Source): Source {
  // no character takes more than three bytes for each of its UTF-16 units
  if (source.text.length * 3 <= MAX_STATEMENT_BYTES || utf8Length(source.text) <= MAX_STATEMENT_BYTES) return source;
  throw new SvcError(413, 'statement_too_long', `a statement of more than ${MAX_STATEMENT_BYTES / 1024} KiB`, {
    offset: source.offset,
    hint: 'Shorten it, or send several statements.',
  });
}
