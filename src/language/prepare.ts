/** Rewrites a caller's SELECT into text that PostgreSQL's grammar accepts, and maps positions back to the caller's text. */
import { SvcError } from '../errors.ts';
import { syntaxHint } from './hints.ts';
import { plainEnd, requireText, scan, type Token, tokenize } from './lexer.ts';
import type { ParseResult, SqlParser } from './parser.ts';
import { quoteDouble } from './quote.ts';
import { utf8Length } from './split.ts';
import type { Source } from './statements.ts';

/** PostgreSQL truncates longer names (NAMEDATALEN - 1 bytes). */
const MAX_NAME_BYTES = 63;

export interface Prepared {
  /**
   * The statement as the parser gets it. Quoted names are in double quotes. Names of more than 63 bytes, and names that look like the planner's, are
   * replaced by stand-ins. Comments are replaced by blanks, because libpg-query takes seconds for a text with thousands of comments.
   */
  readonly text: string;
  /** Maps a stand-in to its name (in lower case if it was unquoted). */
  readonly standIns: ReadonlyMap<string, string>;
  /** Maps a byte offset in `text` (a `location` of the tree) to a UTF-16 offset in the whole text of the request. */
  toSource(byteOffset: number): number;
  /** The same for a UTF-16 offset in `text`. */
  toSourceFrom(offset: number): number;
}

/** A part of `text` that differs from the source, with its offsets in both. */
interface Edit {
  readonly out: number;
  readonly outEnd: number;
  readonly from: number;
  readonly fromEnd: number;
}

/**
 * Prepares one statement, or a piece of one such as an expression. @throws SvcError 400 `syntax_error`, with the offset in the
 * whole text of the request, for an unterminated string, name or comment
 * @param isOfTables whether the text names the columns of tables, which keep their names
 */
export function prepareSelect(source: Source, isOfTables = false): Prepared {
  const original = source.text;
  const { text, edits, standIns } = accepted(source, isOfTables ? isLong : needsStandIn);
  const toSourceFrom = (offset: number): number => source.offset + Math.min(undo(edits, offset), original.length);
  let units: Uint32Array | 'ascii' | undefined;
  return {
    text,
    standIns,
    toSourceFrom,
    toSource: (byteOffset) => {
      units ??= unitsByByte(text);
      return toSourceFrom(units === 'ascii' ? byteOffset : (units[Math.min(byteOffset, units.length - 1)] as number));
    },
  };
}

interface Rewritten {
  readonly text: string;
  readonly edits: readonly Edit[];
  readonly standIns: ReadonlyMap<string, string>;
}

/** The text as PostgreSQL's grammar accepts it. @throws SvcError 400 `syntax_error` */
function accepted({ text, offset }: Source, isReplaced: (name: string) => boolean): Rewritten {
  try {
    return isAccepted(text, isReplaced) ? { text, edits: [], standIns: NO_STAND_INS } : rewritten(text, tokenize(text), isReplaced);
  } catch (e) {
    throw e instanceof SvcError ? e.shifted(offset) : e;
  }
}

const NO_STAND_INS: ReadonlyMap<string, string> = new Map();

/** True if no token needs to be replaced, as in most texts. Makes no list of tokens. @throws SvcError as `tokenize` */
function isAccepted(text: string, isReplaced: (name: string) => boolean): boolean {
  requireText(text);
  for (let at = 0, end = 0; at < text.length; at = end) {
    end = plainEnd(text, at);
    if (end >= 0) {
      if (end - at > MAX_NAME_BYTES / 3 && isLong(text.slice(at, end))) return false;
      continue;
    }
    const { kind, value, end: next } = scan(text, at);
    if (kind === 'comment' || ((kind === 'name' || kind === 'word') && (text[at] === '`' || isReplaced(value)))) return false;
    end = next;
  }
  return true;
}

/** Replaces comments by blanks, backquotes by double quotes, and the names for which `isReplaced` is true by stand-ins. */
function rewritten(original: string, tokens: readonly Token[], isReplaced: (name: string) => boolean): Rewritten {
  const { standIns, standIn } = standInsFor(tokens);
  const edits: Edit[] = [];
  const pieces: string[] = [];
  let length = 0;
  let copied = 0;
  const replace = (token: Token, by: string): void => {
    const before = original.slice(copied, token.start);
    const out = length + before.length;
    length = out + by.length;
    pieces.push(before, by);
    copied = token.end;
    edits.push({ out, outEnd: length, from: token.start, fromEnd: token.end });
  };
  for (const [i, token] of tokens.entries()) {
    // a blank would let the next string continue the one before
    if (token.kind === 'comment') replace(token, isBetweenStrings(tokens, i) ? '/**/' : ' ');
    if (token.kind !== 'name' && token.kind !== 'word') continue;
    const replaced = isReplaced(token.value);
    const backQuoted = original[token.start] === '`';
    if (!replaced && !backQuoted) continue;
    const name = replaced ? standIn(token.kind === 'word' ? foldCase(token.value) : token.value) : token.value;
    // separate with blanks: an adjacent double quote would become part of the name, and U& a prefix of it
    const before = /^["`&]$/.test(original[token.start - 1] ?? '') ? ' ' : '';
    const after = original[token.end] === '"' ? ' ' : '';
    replace(token, before + quoteDouble(name) + after);
  }
  pieces.push(original.slice(copied));
  return { text: pieces.join(''), edits, standIns };
}

/** Replaces names by short ones. Equal names get the same short name. No short name occurs in the text. */
function standInsFor(tokens: readonly Token[]): { readonly standIns: ReadonlyMap<string, string>; standIn(name: string): string } {
  const standIns = new Map<string, string>();
  const names = new Map<string, string>();
  let prefix: string | undefined;
  const standIn = (name: string): string => {
    const known = names.get(name);
    if (known !== undefined) return known;
    prefix ??= freePrefix(tokens);
    const made = `${prefix}${standIns.size + 1}~`;
    standIns.set(made, name);
    names.set(name, made);
    return made;
  };
  return { standIns, standIn };
}

/**
 * Parses a prepared text. A `syntax_error` has its offset in the whole text of the request and shows names as the caller wrote
 * them. The hint names what to write for an unquoted relationship path, and for syntax of other dialects.
 */
export function parsePrepared(parser: SqlParser, prepared: Prepared): ParseResult {
  try {
    return parser.parse(prepared.text);
  } catch (e) {
    if (!(e instanceof SvcError)) throw e;
    const message = asWritten(prepared, e.message);
    const offset = e.offset === undefined ? undefined : prepared.toSourceFrom(e.offset);
    const hint = e.hint ?? (e.code === 'syntax_error' ? (syntaxHint(prepared.text) ?? endHint(prepared.text, e.message)) : undefined);
    throw new SvcError(e.status, e.code, message, { hint, offset, cause: e.cause });
  }
}

/** The hint for an error at the end of the text. */
function endHint(text: string, message: string): string | undefined {
  const mark = ' at or near "';
  const from = message.endsWith('"') ? message.indexOf(mark) : -1;
  const near = from < 0 ? undefined : message.slice(from + mark.length, -1);
  const isAtEnd = near === undefined ? message.endsWith(' at end of input') : /^\p{L}/u.test(near) && text.trimEnd().endsWith(near);
  return isAtEnd ? 'If the script was cut off here, its rest is missing.' : undefined;
}

/** The text of an error about a prepared statement, with names as the caller wrote them. */
export function asWritten({ standIns }: Pick<Prepared, 'standIns'>, message: string): string {
  let written = message;
  for (const [standIn, name] of standIns) written = written.replaceAll(standIn, () => name);
  return written;
}

const isLong = (name: string): boolean => name.length > MAX_NAME_BYTES || (name.length * 3 > MAX_NAME_BYTES && utf8Length(name) > MAX_NAME_BYTES);

/** True for a name like those that the planner makes (`~5`). Paths and properties have none. */
export const isLikeOurs = (name: string): boolean => name.startsWith('~') && !name.includes('[');

const needsStandIn = (name: string): boolean => isLong(name) || isLikeOurs(name);

/** Folds unquoted names like PostgreSQL: only ASCII letters. */
const foldCase = (word: string): string => word.replace(/[A-Z]+/g, (letters) => letters.toLowerCase());

/** Whether the comment at `at` is the first one between two strings. */
function isBetweenStrings(tokens: readonly Token[], at: number): boolean {
  let before = at - 1;
  while (tokens[before]?.kind === 'space') before--;
  if (tokens[before]?.kind !== 'string') return false;
  let after = at + 1;
  while (tokens[after]?.kind === 'space' || tokens[after]?.kind === 'comment') after++;
  return tokens[after]?.kind === 'string';
}

/** A prefix of tildes with which no name in the text starts. */
function freePrefix(tokens: readonly Token[]): string {
  let prefix = '~';
  while (tokens.some((t) => t.kind === 'name' && new RegExp(`^${prefix}\\d+~$`).test(t.value))) prefix += '~';
  return prefix;
}

/** Maps an offset in the prepared text to the source. An offset inside a rewritten name maps to the start of that name. */
function undo(edits: readonly Edit[], offset: number): number {
  let low = 0;
  let high = edits.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((edits[middle] as Edit).out <= offset) low = middle + 1;
    else high = middle;
  }
  const edit = edits[low - 1];
  if (edit === undefined) return offset;
  return offset < edit.outEnd ? edit.from : edit.fromEnd + (offset - edit.outEnd);
}

/** The UTF-16 offset of each byte of `text` in UTF-8, and of its end; `ascii` if all offsets are the same. */
function unitsByByte(text: string): Uint32Array | 'ascii' {
  const length = utf8Length(text);
  if (length === text.length) return 'ascii';
  const units = new Uint32Array(length + 1);
  let byte = 0;
  for (let i = 0; i < text.length; ) {
    const point = text.codePointAt(i) as number;
    const bytes = point < 0x80 ? 1 : point < 0x800 ? 2 : point < 0x10000 ? 3 : 4;
    units.fill(i, byte, byte + bytes);
    byte += bytes;
    i += point > 0xffff ? 2 : 1;
  }
  units[length] = text.length;
  return units;
}
