/** A SELECT of the caller's -> text that PostgreSQL's grammar takes, and the way back to the places of the caller's text. */
import { SvcError } from '../errors.ts';
import { significant, type Token, tokenize } from './lexer.ts';
import type { ParseResult, SqlParser } from './parser.ts';
import { quoteDouble } from './quote.ts';
import { utf8Length } from './split.ts';
import type { Source } from './statements.ts';

/** PostgreSQL cuts longer names off (NAMEDATALEN - 1 bytes). */
const MAX_NAME_BYTES = 63;

export interface Prepared {
  /**
   * The statement with all quoted names in double quotes, names over 63 bytes as stand-ins, and blanks for comments
   * (libpg-query takes seconds for a text of thousands of them).
   */
  readonly text: string;
  /** Stand-in -> the name that it stands for (an unquoted one in lower case). */
  readonly standIns: ReadonlyMap<string, string>;
  /** A byte offset into `text` (a `location` of the tree) -> UTF-16 offset into the whole text of the request. */
  toSource(byteOffset: number): number;
  /** The same for a UTF-16 offset into `text`. */
  toSourceFrom(offset: number): number;
}

/** What stands in `text` another way than in the source: offsets of both. */
interface Edit {
  readonly out: number;
  readonly outEnd: number;
  readonly from: number;
  readonly fromEnd: number;
}

/**
 * Prepares one statement (or a piece of one: an expression). Throws 400 `syntax_error`, with the offset into the whole
 * text of the request, where something in it does not end.
 */
export function prepareSelect(source: Source): Prepared {
  const original = source.text;
  let tokens: Token[];
  try {
    tokens = tokenize(original);
  } catch (e) {
    throw e instanceof SvcError ? e.shifted(source.offset) : e;
  }

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
    // a blank would let the string behind continue the one before
    if (token.kind === 'comment') replace(token, isBetweenStrings(tokens, i) ? '/**/' : ' ');
    if (token.kind !== 'name' && token.kind !== 'word') continue;
    const long = isLong(token.value);
    const backQuoted = original[token.start] === '`';
    if (!long && !backQuoted) continue;
    const name = long ? standIn(token.kind === 'word' ? foldCase(token.value) : token.value) : token.value;
    // blanks, since a double quote right before or behind would become part of the name, U& a prefix of it
    const before = /^["`&]$/.test(original[token.start - 1] ?? '') ? ' ' : '';
    const behind = original[token.end] === '"' ? ' ' : '';
    replace(token, before + quoteDouble(name) + behind);
  }
  pieces.push(original.slice(copied));
  const text = pieces.join('');

  const toSourceFrom = (offset: number): number => source.offset + Math.min(undo(edits, offset), original.length);
  let units: Uint32Array | undefined;
  return {
    text,
    standIns,
    toSourceFrom,
    toSource: (byteOffset) => {
      units ??= unitsByByte(text);
      return toSourceFrom(units.length === 0 ? byteOffset : (units[Math.min(byteOffset, units.length - 1)] as number));
    },
  };
}

/**
 * Parses a prepared text. A `syntax_error` points into the whole text of the request and shows names as they were written;
 * where an unquoted relationship path stands in the statement, the hint says that paths are quoted.
 */
export function parsePrepared(parser: SqlParser, prepared: Prepared): ParseResult {
  try {
    return parser.parse(prepared.text);
  } catch (e) {
    if (!(e instanceof SvcError)) throw e;
    const message = asWritten(prepared, e.message);
    const offset = e.offset === undefined ? undefined : prepared.toSourceFrom(e.offset);
    const hint = e.hint ?? (e.code === 'syntax_error' && hasBarePath(prepared.text) ? PATH_HINT : undefined);
    throw new SvcError(e.status, e.code, message, { hint, offset, cause: e.cause });
  }
}

/** The text of an error about a prepared statement, with names as the caller wrote them. */
export function asWritten({ standIns }: Pick<Prepared, 'standIns'>, message: string): string {
  let written = message;
  for (const [standIn, name] of standIns) written = written.replaceAll(standIn, () => name);
  return written;
}

/** For errors about what may be a relationship path without quotes (`rel[c].prop`, to PostgreSQL an element of an array). */
export const PATH_HINT = 'A relationship path is one quoted name: "relationship[concept].property".';

/** Whether `rel[c].prop`, `rel[c]_col` or `rel[c*]` stands in the text outside quotes. */
export function hasBarePath(text: string): boolean {
  const tokens = significant(tokenize(text));
  return tokens.some((token, i) => {
    const [, concept, close, after] = tokens.slice(i, i + 4);
    if (token.value !== '[' || tokens[i - 1]?.kind !== 'word' || concept?.kind !== 'word') return false;
    return close?.value === '*' || (close?.value === ']' && (after?.value === '.' || (after?.kind === 'word' && after.start === close.end)));
  });
}

const isLong = (name: string): boolean => name.length > MAX_NAME_BYTES || (name.length * 3 > MAX_NAME_BYTES && utf8Length(name) > MAX_NAME_BYTES);

/** What PostgreSQL does to unquoted names: ASCII letters alone. */
const foldCase = (word: string): string => word.replace(/[A-Z]+/g, (letters) => letters.toLowerCase());

/** Whether the comment at `at` is the first one between two strings. */
function isBetweenStrings(tokens: readonly Token[], at: number): boolean {
  let before = at - 1;
  while (tokens[before]?.kind === 'space') before--;
  if (tokens[before]?.kind !== 'string') return false;
  let behind = at + 1;
  while (tokens[behind]?.kind === 'space' || tokens[behind]?.kind === 'comment') behind++;
  return tokens[behind]?.kind === 'string';
}

/** Tildes with which no name of the text begins. */
function freePrefix(tokens: readonly Token[]): string {
  let prefix = '~';
  while (tokens.some((t) => t.kind === 'name' && new RegExp(`^${prefix}\\d+~$`).test(t.value))) prefix += '~';
  return prefix;
}

/** The offset in the source that `offset` in the prepared text came from: within a name that was changed, its beginning. */
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

/** The UTF-16 offset of each byte of `text` in UTF-8, and of its end; empty where all is ASCII. */
function unitsByByte(text: string): Uint32Array {
  const length = utf8Length(text);
  if (length === text.length) return new Uint32Array();
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
