/**
 * PostgreSQL's lexical rules (scan.l of version 18, as in libpg-query) for the caller's text, extended by back-quoted
 * names. The tokens of a text, blanks and comments included, always concatenate to that text.
 */
import { badRequest, type SvcError } from '../errors.ts';
import { decodeUtf8Escapes, unescapeUnicode } from './unescape.ts';

/**
 * - `word`: an unquoted name or keyword, in its original case; `name`: a quoted one.
 * - `string`: a string constant in any form (also bit strings), including its continuations on later lines.
 * - `punct`: `( ) [ ] , ; . : ::` and characters that PostgreSQL has no use for.
 */
export type TokenKind = 'space' | 'comment' | 'word' | 'name' | 'string' | 'number' | 'param' | 'operator' | 'punct';

export interface Token {
  readonly kind: TokenKind;
  /** UTF-16 offsets into the text. */
  readonly start: number;
  readonly end: number;
  /** The text without quotes and escapes; for other tokens the text itself. Empty for blanks and comments. */
  readonly value: string;
}

const code = (c: string): number => c.charCodeAt(0);
const [TAB, CR, SPACE, QUOTE, DOUBLE, BACK, DOLLAR, DOT, COLON, MINUS, SLASH, STAR, BACKSLASH, AMPERSAND, UNDERSCORE] = [...'\t\r \'"`$.:-/*\\&_'].map(
  code,
) as [number, number, number, number, number, number, number, number, number, number, number, number, number, number, number];
const LF = 10;
const PLUS = 43;
const OPEN = 40;
const CLOSE = 41;
const COMMA = 44;
export const SEMICOLON = 59;
const OPERATORS = new Set([...'~!@#^&|?+-*/%<>='].map(code));
const SPECIAL = new Set([...'~!@#^&|?%'].map(code));

const isDigit = (c: number): boolean => c >= 48 && c <= 57;
export const isSpace = (c: number): boolean => c === SPACE || (c >= TAB && c <= CR);
const isLineEnd = (c: number): boolean => c === LF || c === CR;
/** Every non-ASCII character may be part of a name. */
const startsWord = (c: number): boolean => (c >= 97 && c <= 122) || (c >= 65 && c <= 90) || c === UNDERSCORE || c >= 0x80;
const inWord = (c: number): boolean => startsWord(c) || isDigit(c) || c === DOLLAR;
/** 1 for each ASCII character that may be part of a name. */
const IN_WORD = Uint8Array.from({ length: 0x80 }, (_, c) => (inWord(c) ? 1 : 0));

const HEX = /0[xX](?:_?[0-9a-fA-F])+|0[oO](?:_?[0-7])+|0[bB](?:_?[01])+/y;
const DECIMAL = /(?:\d(?:_?\d)*(?:\.(?!\.)(?:\d(?:_?\d)*)?)?|\.\d(?:_?\d)*)(?:[eE][+-]?\d(?:_?\d)*)?/y;
const DOLLAR_TAG = /\$(?:[A-Za-z_\u0080-\uffff][A-Za-z0-9_\u0080-\uffff]*)?\$/y;
/** UESCAPE 'c' after U&'..' or U&"..", optionally preceded by blanks and comments. */
const UESCAPE = /(?:[ \t-\r]|--[^\r\n]*[\r\n]|\/\*(?:[^*]|\*(?!\/))*\*\/)*UESCAPE[ \t-\r]*'([^'])'/iy;

function match(pattern: RegExp, text: string, at: number): RegExpExecArray | null {
  pattern.lastIndex = at;
  return pattern.exec(text);
}

const fault = (message: string, offset: number): SvcError => badRequest('syntax_error', message, { offset });
const unterminated = (message: string, offset: number): SvcError =>
  badRequest('syntax_error', message, { offset, hint: 'The text ends before it is closed. If the script was cut off, its rest is missing.' });

/** All tokens of `text`. @throws SvcError 400 `syntax_error` for an unterminated string, name or comment, or a number followed by a letter */
export function tokenize(text: string): Token[] {
  const tokens: Token[] = [];
  const lexer = lex(text);
  for (let t = lexer(); t !== null; t = lexer()) tokens.push(t);
  return tokens;
}

/** The tokens without blanks and comments. */
export const significant = (tokens: readonly Token[]): Token[] => tokens.filter((t) => t.kind !== 'space' && t.kind !== 'comment');

/** Returns a function that returns the next token at each call, and null at the end. Throws like `tokenize`. */
export function lex(text: string): () => Token | null {
  requireText(text);
  let at = 0;
  return () => {
    if (at >= text.length) return null;
    const token = scan(text, at);
    at = token.end;
    return token;
  };
}

/** @throws SvcError 400 `syntax_error` for a character that no statement can contain */
export function requireText(text: string): void {
  const nul = text.indexOf('\0');
  if (nul >= 0) throw fault('a statement cannot contain a NUL character', nul);
  if (!text.isWellFormed())
    throw fault('a statement cannot contain an unpaired surrogate', text.search(/[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/));
}

/**
 * The end of a blank, a word or a mark such as `(` that begins at `start`, as most tokens do; -1 for any other token, for which `scan` is needed. It makes no
 * object, so that a text can be split without the tokens of each statement.
 */
export function plainEnd(text: string, start: number): number {
  const c = text.charCodeAt(start);
  if (IN_WORD[c] !== 1 && c < 0x80) return isSpace(c) || c === COMMA || c === OPEN || c === CLOSE || c === SEMICOLON ? start + 1 : -1;
  if (isDigit(c) || c === DOLLAR) return -1;
  const end = wordEnd(text, start);
  const next = text.charCodeAt(end);
  // the word may be the prefix of a string, as in E'..' and U&'..'
  return next === QUOTE || next === DOUBLE || next === AMPERSAND ? -1 : end;
}

/** The token that begins at `start`. Throws like `tokenize`. */
export function scan(text: string, start: number): Token {
  const c = text.charCodeAt(start);
  const next = text.charCodeAt(start + 1);
  const token = (kind: TokenKind, end: number, value = text.slice(start, end)): Token => ({ kind, start, end, value });

  if (isSpace(c)) {
    let end = start + 1;
    while (isSpace(text.charCodeAt(end))) end++;
    return token('space', end, '');
  }
  if (c === MINUS && next === MINUS) return token('comment', lineEnd(text, start), '');
  if (c === SLASH && next === STAR) return token('comment', commentEnd(text, start), '');
  if (startsWord(c)) return prefixed(text, start) ?? token('word', wordEnd(text, start));
  if (c === QUOTE) return quoted(text, start, start, 'plain');
  if (c === DOUBLE || c === BACK) return quotedName(text, start, start, c);
  if (isDigit(c) || (c === DOT && isDigit(next))) {
    const end = start + ((match(HEX, text, start) ?? match(DECIMAL, text, start)) as RegExpExecArray)[0].length;
    if (startsWord(text.charCodeAt(end))) throw fault('trailing junk after numeric literal', start);
    return token('number', end);
  }
  if (c === DOLLAR) {
    if (isDigit(next)) {
      let end = start + 2;
      while (isDigit(text.charCodeAt(end))) end++;
      return token('param', end);
    }
    const tag = match(DOLLAR_TAG, text, start)?.[0];
    if (tag === undefined) return token('punct', start + 1);
    const close = text.indexOf(tag, start + tag.length);
    if (close < 0) throw unterminated('unterminated dollar-quoted string', start);
    return token('string', close + tag.length, text.slice(start + tag.length, close));
  }
  if (c === COLON && next === COLON) return token('punct', start + 2);
  if (OPERATORS.has(c)) return token('operator', operatorEnd(text, start));
  return token('punct', start + 1);
}

function wordEnd(text: string, start: number): number {
  let end = start + 1;
  for (let c = text.charCodeAt(end); IN_WORD[c] === 1 || c >= 0x80; c = text.charCodeAt(end)) end++;
  return end;
}

function lineEnd(text: string, start: number): number {
  let end = start;
  while (end < text.length && !isLineEnd(text.charCodeAt(end))) end++;
  return end;
}

function commentEnd(text: string, start: number): number {
  let depth = 1;
  for (let i = start + 2; i < text.length; i++) {
    const [c, next] = [text.charCodeAt(i), text.charCodeAt(i + 1)];
    if (c === SLASH && next === STAR) depth++;
    else if (c === STAR && next === SLASH) depth--;
    else continue;
    i++;
    if (depth === 0) return i + 1;
  }
  throw unterminated('unterminated /* comment', start);
}

/** PostgreSQL truncates longer operators, and scans a run of operator characters again from each of its characters. */
const MAX_OPERATOR = 63;

/** The end of an operator. It ends before a comment, and ends in + or - only if it contains one of ~ ! @ # ^ & | ? %. */
function operatorEnd(text: string, start: number): number {
  let end = start;
  let special = false;
  let unsigned = start;
  for (let c = text.charCodeAt(end); OPERATORS.has(c); c = text.charCodeAt(end)) {
    const next = text.charCodeAt(end + 1);
    if ((c === MINUS && next === MINUS) || (c === SLASH && next === STAR)) break;
    end++;
    if (end - start > MAX_OPERATOR) throw fault('operator too long', start);
    special ||= SPECIAL.has(c);
    if (c !== PLUS && c !== MINUS) unsigned = end;
  }
  return special ? end : Math.max(unsigned, start + 1);
}

/** A string or name with a prefix: E'', B'', X'', N'', U&'', U&"". */
function prefixed(text: string, start: number): Token | undefined {
  const letter = text.charAt(start).toLowerCase();
  const next = text.charCodeAt(start + 1);
  if (next === QUOTE) {
    if (letter === 'e') return quoted(text, start, start + 1, 'escape');
    if (letter === 'n') return quoted(text, start, start + 1, 'plain');
    if (letter === 'b' || letter === 'x') return quoted(text, start, start + 1, 'bits');
  } else if (letter === 'u' && next === AMPERSAND) {
    const quote = text.charCodeAt(start + 2);
    if (quote === QUOTE) return quoted(text, start, start + 2, 'unicode');
    if (quote === DOUBLE) return quotedName(text, start, start + 2, DOUBLE);
  }
  return undefined;
}

type StringForm = 'plain' | 'escape' | 'unicode' | 'bits';

/** A string whose opening quote is at `open`. */
function quoted(text: string, start: number, open: number, form: StringForm): Token {
  let raw = '';
  let from = open + 1;
  let i = from;
  for (;;) {
    if (i >= text.length) throw unterminated('unterminated quoted string', start);
    const c = text.charCodeAt(i);
    if (c === BACKSLASH && form === 'escape') {
      i += 2;
    } else if (c !== QUOTE) {
      i++;
    } else if (text.charCodeAt(i + 1) === QUOTE && form !== 'bits') {
      raw += text.slice(from, i + 1);
      from = i + 2;
      i = from;
    } else {
      raw += text.slice(from, i);
      const more = continuation(text, i + 1);
      if (more < 0) break;
      from = more + 1;
      i = from;
    }
  }
  const end = i + 1;
  if (form === 'escape') return { kind: 'string', start, end, value: decodeUtf8Escapes(raw) };
  return form === 'unicode' ? unicode('string', text, start, end, raw) : { kind: 'string', start, end, value: raw };
}

/** The offset of the quote that continues a string after a line break, or -1. libpg-query allows no comment in between. */
function continuation(text: string, from: number): number {
  let newLine = false;
  let i = from;
  for (; isSpace(text.charCodeAt(i)); i++) newLine ||= isLineEnd(text.charCodeAt(i));
  return newLine && text.charCodeAt(i) === QUOTE ? i : -1;
}

/** A name whose opening quote, `quote`, is at `open`. A doubled quote is a literal one. */
function quotedName(text: string, start: number, open: number, quote: number): Token {
  const mark = String.fromCharCode(quote);
  let raw = '';
  for (let from = open + 1; ; ) {
    const close = text.indexOf(mark, from);
    if (close < 0) throw unterminated('unterminated quoted identifier', start);
    raw += text.slice(from, close);
    if (text.charCodeAt(close + 1) !== quote) {
      const end = close + 1;
      return open > start ? unicode('name', text, start, end, raw) : { kind: 'name', start, end, value: raw };
    }
    raw += mark;
    from = close + 2;
  }
}

/** U&'..' or U&"..". Its UESCAPE clause is part of the token. */
function unicode(kind: 'string' | 'name', text: string, start: number, end: number, raw: string): Token {
  const clause = match(UESCAPE, text, end);
  const mark = clause?.[1] ?? '\\';
  return { kind, start, end: clause === null ? end : end + clause[0].length, value: unescapeUnicode(raw, mark, start) };
}
