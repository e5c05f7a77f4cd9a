/**
 * Reads rows out of the text of a JSON array of flat objects while it comes, without parsing values: each value is known
 * by where its source text stands, so numbers keep every digit.
 */
import { SvcError } from '../errors.ts';
import { BACKSLASH, CLOSE, CLOSE_OBJECT, COLON, COMMA, isSpace, OPEN, OPEN_OBJECT, QUOTE } from './characters.ts';

/** The text is no array of objects with the columns that were told: the datasource sent something else than rows. */
export class RowsError extends SvcError {
  constructor(fault: string) {
    super(502, 'datasource_failed', 'the datasource failed or could not be reached', { cause: new Error(fault) });
    this.name = 'RowsError';
  }
}

/** A row: the source text of column `i` is `text.slice(starts[i], ends[i])`. Valid during the call that hands it out. */
export interface Row {
  readonly text: string;
  /** Where the object itself stands. */
  readonly from: number;
  readonly to: number;
  readonly starts: Int32Array;
  readonly ends: Int32Array;
}

/** One answer's reader: `push` each piece of the text in order, then `finish`. */
export class RowReader {
  readonly #columns: number;
  readonly #starts: Int32Array;
  readonly #ends: Int32Array;
  /** Lengths of the keys with their quotes, the same in every row; 0: not known yet. */
  readonly #keys: Int32Array;
  readonly #row: { text: string; from: number; to: number; starts: Int32Array; ends: Int32Array };
  /** Text that no row has been read from yet. */
  #rest = '';
  #waiting: string[] = [];
  #waitingLength = 0;
  #begun = false;
  #ended = false;
  /** Rows read so far. */
  rows = 0;

  constructor(columns: number) {
    this.#columns = columns;
    this.#starts = new Int32Array(columns);
    this.#ends = new Int32Array(columns);
    this.#keys = new Int32Array(columns);
    this.#row = { text: '', from: 0, to: 0, starts: this.#starts, ends: this.#ends };
  }

  /** Takes more of the text and hands out each row that is complete. @throws RowsError */
  push(piece: string, take: (row: Row) => void): void {
    this.#waiting.push(piece);
    this.#waitingLength += piece.length;
    // a row of many pieces is looked at only each time that its text has doubled, so that the work stays linear
    if (this.#waitingLength < this.#rest.length) return;
    this.#read(take);
  }

  /** The text has ended. @throws RowsError where it was not whole */
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
    /** Up to here all has been read. */
    let done = 0;
    while (i < text.length) {
      const c = text.charCodeAt(i);
      if (c === OPEN_OBJECT && this.#begun && !this.#ended) {
        const end = this.#object(text, i + 1);
        if (end < 0) break;
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
      else throw new RowsError('the rows are no array of objects');
      done = i;
    }
    this.#rest = done === text.length ? '' : text.slice(done);
  }

  /** Reads the members of an object; where it ends, or -1: there is not all of it yet. */
  #object(text: string, from: number): number {
    const { length } = text;
    const keys = this.#keys;
    let i = from;
    for (let column = 0; column < this.#columns; column++) {
      const known = keys[column] as number;
      if (known > 0) i += known;
      else {
        const start = i;
        if (i < length && text.charCodeAt(i) !== QUOTE) throw new RowsError('a row has fewer columns than were told');
        i = endOfString(text, i + 1);
        if (i < 0) return -1;
        keys[column] = i - start;
      }
      if (i >= length) return -1;
      if (text.charCodeAt(i++) !== COLON) throw new RowsError('a row has other keys than the first');
      while (isSpace(text.charCodeAt(i))) i++;
      this.#starts[column] = i;
      i = endOfValue(text, i);
      if (i < 0) return -1;
      this.#ends[column] = i;
      while (isSpace(text.charCodeAt(i))) i++;
      if (i >= length) return -1;
      if (text.charCodeAt(i++) !== (column === this.#columns - 1 ? CLOSE_OBJECT : COMMA)) throw new RowsError('a row has other columns than were told');
    }
    if (this.#columns > 0) return i;
    if (i >= length) return -1;
    if (text.charCodeAt(i) !== CLOSE_OBJECT) throw new RowsError('a row has columns, and none were told');
    return i + 1;
  }
}

/** Where the string ends whose first character stands at `i`, its quote included; -1: not in this text. */
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

/** Where the value ends that begins at `i`; -1: not in this text. */
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
