/**
 * Reads rows from the bytes of a JSON array of flat objects, like scan.ts does from text. Folding uses it, because it passes
 * values on as bytes.
 */
import { wholeOf } from '../bytes.ts';
import { BACKSLASH, BLANK, CLOSE, CLOSE_OBJECT, COLON, COMMA, isSpace, OPEN, OPEN_OBJECT, QUOTE } from './characters.ts';
import { ROW_LENGTH, RowsError, rowTooLarge } from './scan.ts';

/** A row: the value of column `i` is the bytes from `starts[i]` to `ends[i]`. Valid only during the callback. */
export interface ByteRow {
  readonly bytes: Uint8Array;
  readonly starts: Int32Array;
  readonly ends: Int32Array;
}

const NOTHING = new Uint8Array(0);

/** Reads one answer: call `push` with each piece in order, then `finish`. */
export class ByteRowReader {
  readonly #columns: number;
  readonly #starts: Int32Array;
  readonly #ends: Int32Array;
  /** Lengths of the keys with their quotes, the same in each row; 0 if not yet known. */
  readonly #keys: Int32Array;
  readonly #row: { bytes: Uint8Array; starts: Int32Array; ends: Int32Array };
  /** Bytes that belong to no complete row yet. */
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

  /** Bytes that are kept between two pieces. */
  get kept(): number {
    return this.#rest.length + this.#waitingLength;
  }

  /** Takes more bytes and hands out each row that is complete. @throws RowsError; SvcError 400 `result_too_large` of a row that is too long */
  push(piece: Uint8Array, take: (row: ByteRow) => void): void {
    this.#waiting.push(piece);
    this.#waitingLength += piece.length;
    // a row of many pieces is looked at only each time that it has doubled, so that the work stays linear
    if (this.#waitingLength < this.#rest.length && this.kept <= ROW_LENGTH) return;
    this.#read(take);
    if (this.#rest.length > ROW_LENGTH) throw rowTooLarge(ROW_LENGTH);
  }

  /** Ends the input. @throws RowsError if the array is incomplete */
  finish(take: (row: ByteRow) => void): void {
    if (this.#waitingLength > 0) this.#read(take);
    if (!this.#ended) throw new RowsError('the rows ended too early');
  }

  #read(take: (row: ByteRow) => void): void {
    const bytes = this.#gather();
    const { length } = bytes;
    this.#row.bytes = bytes;
    let i = 0;
    /** Everything before this offset has been read. */
    let done = 0;
    while (i < length) {
      const c = bytes[i] as number;
      if (c === OPEN_OBJECT && this.#begun && !this.#ended) {
        const end = this.#object(bytes, i + 1);
        if (end < 0) break;
        if (end - i > ROW_LENGTH) throw rowTooLarge(ROW_LENGTH);
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
      else throw new RowsError('the rows are not an array of objects');
      done = i;
    }
    // copy: the caller may overwrite the buffer that it pushed
    this.#rest = done === length ? NOTHING : bytes.slice(done);
  }

  #gather(): Uint8Array {
    const pieces = this.#waiting;
    this.#waiting = [];
    this.#waitingLength = 0;
    return wholeOf(this.#rest.length === 0 ? pieces : [this.#rest, ...pieces]);
  }

  /** Reads the members of an object. Returns the offset after it, or -1 if the object is incomplete. */
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
        if (i < length && bytes[i] !== QUOTE) throw new RowsError('a row has fewer columns than expected');
        i = endOfString(bytes, i + 1);
        if (i < 0) return -1;
        keys[column] = i - start;
      }
      if (i >= length) return -1;
      if (bytes[i++] !== COLON) throw new RowsError('a row has different keys from the first row');
      while ((bytes[i] as number) <= BLANK && isSpace(bytes[i])) i++;
      starts[column] = i;
      i = endOfValue(bytes, i);
      if (i < 0) return -1;
      ends[column] = i;
      while ((bytes[i] as number) <= BLANK && isSpace(bytes[i])) i++;
      if (i >= length) return -1;
      if (bytes[i++] !== (column === columns - 1 ? CLOSE_OBJECT : COMMA)) throw new RowsError('a row has different columns than expected');
    }
    return i;
  }
}

/** The offset after the string whose opening quote is at `from`; -1 if the string is incomplete. */
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

/** The offset after the value that starts at `from`; -1 if the value is incomplete. */
function endOfValue(bytes: Uint8Array, from: number): number {
  const { length } = bytes;
  if (from >= length) return -1;
  const first = bytes[from] as number;
  if (first === QUOTE) return endOfString(bytes, from + 1);
  let i = from;
  if (first !== OPEN_OBJECT && first !== OPEN) {
    for (; i < length; i++) {
      const c = bytes[i] as number;
      // skips most characters of numbers and literals
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
