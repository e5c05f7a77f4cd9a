/**
 * Reads rows from the text of a JSON array of flat objects as it arrives, without parsing values. Each value is known by the
 * position of its source text, so numbers keep all their digits.
 */
import { badRequest, SvcError } from '../errors.ts';
import { BACKSLASH, CLOSE, CLOSE_OBJECT, COLON, COMMA, isSpace, OPEN, OPEN_OBJECT, QUOTE } from './characters.ts';

/** The text is not an array of objects with the expected columns: the datasource sent something other than rows. */
export class RowsError extends SvcError {
  constructor(fault: string) {
    super(502, 'datasource_failed', 'the datasource failed or could not be reached', { cause: new Error(fault) });
    this.name = 'RowsError';
  }
}

/** The longest row that is read here, in UTF-16 units or bytes: a row is put together in memory before it is read, and written anew as a whole. */
export const ROW_LENGTH = 4_000_000;

/** 400: a row is longer than `most`. */
export const rowTooLarge = (most: number): SvcError =>
  badRequest('result_too_large', `a row is larger than ${Math.floor(most / 1_000_000)} MB`, {
    hint: 'Ask for fewer columns, or for less in one value. Flat rows as JSON without presentation headers have no such limit.',
  });

/** A row: the source text of column `i` is `text.slice(starts[i], ends[i])`. Valid during the call that hands it out. */
export interface Row {
  readonly text: string;
  /** The offset of the object itself. */
  readonly from: number;
  readonly to: number;
  readonly starts: Int32Array;
  readonly ends: Int32Array;
}

/** Reads one answer: call `push` with each piece of the text in order, then `finish`. */
export class RowReader {
  readonly #columns: number;
  readonly #most: number;
  readonly #starts: Int32Array;
  readonly #ends: Int32Array;
  /** Lengths of the keys with their quotes, the same in each row; 0 if not yet known. */
  readonly #keys: Int32Array;
  readonly #row: { text: string; from: number; to: number; starts: Int32Array; ends: Int32Array };
  /** Text that belongs to no complete row yet. */
  #rest = '';
  #waiting: string[] = [];
  #waitingLength = 0;
  #begun = false;
  #ended = false;
  /** The number of rows read so far. */
  rows = 0;

  /** `most`: of a row, in UTF-16 units. */
  constructor(columns: number, most = ROW_LENGTH) {
    this.#columns = columns;
    this.#most = most;
    this.#starts = new Int32Array(columns);
    this.#ends = new Int32Array(columns);
    this.#keys = new Int32Array(columns);
    this.#row = { text: '', from: 0, to: 0, starts: this.#starts, ends: this.#ends };
  }

  /** UTF-16 units that are kept between two pieces. */
  get kept(): number {
    return this.#rest.length + this.#waitingLength;
  }

  /** Takes more of the text and hands out each row that is complete. @throws RowsError; SvcError 400 `result_too_large` of a row that is too long */
  push(piece: string, take: (row: Row) => void): void {
    this.#waiting.push(piece);
    this.#waitingLength += piece.length;
    // a row of many pieces is looked at only each time that its text has doubled, so that the work stays linear
    if (this.#waitingLength < this.#rest.length && this.kept <= this.#most) return;
    this.#read(take);
    if (this.#rest.length > this.#most) throw rowTooLarge(this.#most);
  }

  /** Ends the input. @throws RowsError if the array is incomplete */
  finish(take: (row: Row) => void): void {
    if (this.#waitingLength > 0) this.#read(take);
    if (!this.#ended) throw new RowsError('the rows ended too early');
  }

  #read(take: (row: Row) => void): void {
    const text = this.#rest === '' && this.#waiting.length === 1 ? (this.#waiting[0] as string) : this.#rest + this.#waiting.join('');
    this.#waiting = [];
    this.#waitingLength = 0;
    this.#row.text = text;
    let i = 0;
    /** Everything before this offset has been read. */
    let done = 0;
    while (i < text.length) {
      const c = text.charCodeAt(i);
      if (c === OPEN_OBJECT && this.#begun && !this.#ended) {
        const end = this.#object(text, i + 1);
        if (end < 0) break;
        if (end - i > this.#most) throw rowTooLarge(this.#most);
        this.rows++;
        this.#row.from = i;
        this.#row.to = end;
        take(this.#row);
        i = end;
      } else if (c === OPEN && !this.#begun) {
        this.#begun = true;
        i++;
      } else if (c === CLOSE && this.#begun && !this.#ended) {
        this.#ended = true;
        i++;
      } else if (isSpace(c) || (c === COMMA && this.rows > 0 && !this.#ended)) i++;
      else throw new RowsError('the rows are not an array of objects');
      done = i;
    }
    this.#rest = done === text.length ? '' : text.slice(done);
  }

  /** Reads the members of an object. Returns the offset after it, or -1 if the object is incomplete. */
  #object(text: string, from: number): number {
    const { length } = text;
    const keys = this.#keys;
    let i = from;
    for (let column = 0; column < this.#columns; column++) {
      const known = keys[column] as number;
      if (known > 0) i += known;
      else {
        const start = i;
        if (i < length && text.charCodeAt(i) !== QUOTE) throw new RowsError('a row has fewer columns than expected');
        i = endOfString(text, i + 1);
        if (i < 0) return -1;
        keys[column] = i - start;
      }
      if (i >= length) return -1;
      if (text.charCodeAt(i++) !== COLON) throw new RowsError('a row has different keys from the first row');
      while (isSpace(text.charCodeAt(i))) i++;
      this.#starts[column] = i;
      i = endOfValue(text, i);
      if (i < 0) return -1;
      this.#ends[column] = i;
      while (isSpace(text.charCodeAt(i))) i++;
      if (i >= length) return -1;
      if (text.charCodeAt(i++) !== (column === this.#columns - 1 ? CLOSE_OBJECT : COMMA)) throw new RowsError('a row has different columns than expected');
    }
    if (this.#columns > 0) return i;
    if (i >= length) return -1;
    if (text.charCodeAt(i) !== CLOSE_OBJECT) throw new RowsError('a row has columns, but none were expected');
    return i + 1;
  }
}

/** The offset after the string whose opening quote is at `i`; -1 if the string is incomplete. */
function endOfString(text: string, i: number): number {
  let at = i;
  const { length } = text;
  for (;;) {
    if (at >= length) return -1;
    const c = text.charCodeAt(at++);
    if (c === QUOTE) return at;
    if (c === BACKSLASH) at++;
  }
}

/** The offset after the value that starts at `i`; -1 if the value is incomplete. */
function endOfValue(text: string, i: number): number {
  const first = text.charCodeAt(i);
  if (first === QUOTE) return endOfString(text, i + 1);
  const { length } = text;
  let at = i;
  if (first !== OPEN_OBJECT && first !== OPEN) {
    for (; at < length; at++) {
      const c = text.charCodeAt(at);
      if (c === COMMA || c === CLOSE_OBJECT || isSpace(c)) return at === i ? bad() : at;
    }
    return -1;
  }
  let depth = 0;
  while (at < length) {
    const c = text.charCodeAt(at++);
    if (c === QUOTE) {
      at = endOfString(text, at);
      if (at < 0) return -1;
    } else if (c === OPEN_OBJECT || c === OPEN) depth++;
    else if ((c === CLOSE_OBJECT || c === CLOSE) && --depth === 0) return at;
  }
  return -1;
}

function bad(): never {
  throw new RowsError('a member has no value');
}
