/**
 * Reads rows out of the bytes of a JSON array of flat objects, as scan.ts does out of text: for folding, which hands values
 * on as bytes.
 */
import { wholeOf } from '../bytes.ts';
import { BACKSLASH, BLANK, CLOSE, CLOSE_OBJECT, COLON, COMMA, isSpace, OPEN, OPEN_OBJECT, QUOTE } from './characters.ts';
import { RowsError } from './scan.ts';

/** A row: the value of column `i` is the bytes from `starts[i]` to `ends[i]`. Valid during the call that hands it out. */
export interface ByteRow {
  readonly bytes: Uint8Array;
  readonly starts: Int32Array;
  readonly ends: Int32Array;
}

const NOTHING = new Uint8Array(0);

/** One answer's reader: `push` each piece in order, then `finish`. */
export class ByteRowReader {
  readonly #columns: number;
  readonly #starts: Int32Array;
  readonly #ends: Int32Array;
  /** Lengths of the keys with their quotes, the same in every row; 0: not known yet. */
  readonly #keys: Int32Array;
  readonly #row: { bytes: Uint8Array; starts: Int32Array; ends: Int32Array };
  /** Bytes that no row has been read from yet. */
  #rest = NOTHING;
  #waiting: Uint8Array[] = [];
  #waitingLength = 0;
  #rows = 0;
  #begun = false;
  #ended = false;

  constructor(columns: number) {
    this.#columns = columns;
    this.#starts = new Int32Array(columns);
    this.#ends = new Int32Array(columns);
    this.#keys = new Int32Array(columns);
    this.#row = { bytes: NOTHING, starts: this.#starts, ends: this.#ends };
  }

  /** Takes more bytes and hands out each row that is complete. @throws RowsError */
  push(piece: Uint8Array, take: (row: ByteRow) => void): void {
    this.#waiting.push(piece);
    this.#waitingLength += piece.length;
    // a row of many pieces is looked at only each time that it has doubled, so that the work stays linear
    if (this.#waitingLength >= this.#rest.length) this.#read(take);
  }

  /** The bytes have ended. @throws RowsError where they were not whole */
  finish(take: (row: ByteRow) => void): void {
    if (this.#waitingLength > 0) this.#read(take);
    if (!this.#ended) throw new RowsError('the rows ended too early');
  }

  #read(take: (row: ByteRow) => void): void {
    const bytes = this.#gather();
    const { length } = bytes;
    this.#row.bytes = bytes;
    let i = 0;
    /** Up to here all has been read. */
    let done = 0;
    while (i < length) {
      const c = bytes[i] as number;
      if (c === OPEN_OBJECT && this.#begun && !this.#ended) {
        const end = this.#object(bytes, i + 1);
        if (end < 0) break;
        this.#rows++;
        take(this.#row);
        i = end;
      } else if (c === OPEN && !this.#begun) {
        this.#begun = true;
        i++;
      } else if (c === CLOSE && this.#begun && !this.#ended) {
        this.#ended = true;
        i++;
      } else if (isSpace(c) || (c === COMMA && this.#rows > 0 && !this.#ended)) i++;
      else throw new RowsError('the rows are no array of objects');
      done = i;
    }
    // a copy: what was pushed may be overwritten
    this.#rest = done === length ? NOTHING : bytes.slice(done);
  }

  #gather(): Uint8Array {
    const pieces = this.#waiting;
    this.#waiting = [];
    this.#waitingLength = 0;
    return wholeOf(this.#rest.length === 0 ? pieces : [this.#rest, ...pieces]);
  }

  /** Reads the members of an object; where it ends, or -1: there is not all of it yet. */
  #object(bytes: Uint8Array, from: number): number {
    const { length } = bytes;
    const columns = this.#columns;
    const keys = this.#keys;
    const starts = this.#starts;
    const ends = this.#ends;
    let i = from;
    for (let column = 0; column < columns; column++) {
      const known = keys[column] as number;
      if (known > 0) i += known;
      else {
        const start = i;
        if (i < length && bytes[i] !== QUOTE) throw new RowsError('a row has fewer columns than were told');
        i = endOfString(bytes, i + 1);
        if (i < 0) return -1;
        keys[column] = i - start;
      }
      if (i >= length) return -1;
      if (bytes[i++] !== COLON) throw new RowsError('a row has other keys than the first');
      while ((bytes[i] as number) <= BLANK && isSpace(bytes[i])) i++;
      starts[column] = i;
      i = endOfValue(bytes, i);
      if (i < 0) return -1;
      ends[column] = i;
      while ((bytes[i] as number) <= BLANK && isSpace(bytes[i])) i++;
      if (i >= length) return -1;
      if (bytes[i++] !== (column === columns - 1 ? CLOSE_OBJECT : COMMA)) throw new RowsError('a row has other columns than were told');
    }
    return i;
  }
}

/** Where the string ends whose first byte stands at `from`, its quote included; -1: not in these bytes. */
function endOfString(bytes: Uint8Array, from: number): number {
  const { length } = bytes;
  let i = from;
  while (i < length) {
    const c = bytes[i++] as number;
    if (c === QUOTE) return i;
    if (c === BACKSLASH) i++;
  }
  return -1;
}

/** Where the value ends that begins at `from`; -1: not in these bytes. */
function endOfValue(bytes: Uint8Array, from: number): number {
  const { length } = bytes;
  if (from >= length) return -1;
  const first = bytes[from] as number;
  if (first === QUOTE) return endOfString(bytes, from + 1);
  let i = from;
  if (first !== OPEN_OBJECT && first !== OPEN) {
    for (; i < length; i++) {
      const c = bytes[i] as number;
      // most of what numbers and words are made of
      if (c > COMMA && c < CLOSE_OBJECT) continue;
      if (c === COMMA || c === CLOSE_OBJECT || isSpace(c)) {
        if (i === from) throw new RowsError('a member has no value');
        return i;
      }
    }
    return -1;
  }
  let depth = 0;
  while (i < length) {
    const c = bytes[i++] as number;
    if (c === QUOTE) {
      i = endOfString(bytes, i);
      if (i < 0) return -1;
    } else if (c === OPEN_OBJECT || c === OPEN) depth++;
    else if ((c === CLOSE_OBJECT || c === CLOSE) && --depth === 0) return i;
  }
  return -1;
}
