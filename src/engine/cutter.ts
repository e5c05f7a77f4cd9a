/**
 * Extracts the rows from an answer of the SQL-over-HTTP protocol while it streams: `{"fields":[..],"rows":[[{..}],[{..}]],..}`
 * becomes `[{..},{..}]`. The bytes of each row are copied unchanged, so numbers keep every digit. The answer to a batch is
 * `{"results":[{..},{..}]}`; the rows of its last result are extracted, or those of the one before. Members may be in any order.
 */
import { wholeOf } from '../bytes.ts';

/** The answer does not follow the protocol, or it ended too early. */
export class EnvelopeError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'EnvelopeError';
  }
}

// States. An object of the envelope: its start, a key, the colon, a value, after a value.
const OBJECT = 0;
const KEY_OR_END = 1;
const KEY = 2;
const KEY_TEXT = 3;
const COLON = 4;
const VALUE = 5;
const AFTER_VALUE = 6;
// The array of results of a batch.
const RESULTS = 7;
const RESULT_OR_END = 8;
const AFTER_RESULT = 9;
// A skipped value: an array or object, a string, a number or literal.
const SKIP = 10;
const SKIP_STRING = 11;
const SKIP_WORD = 12;
// The rows: the array, the brackets of a row, its single value.
const ROWS = 13;
const ROW_OR_END = 14;
const ROW = 15;
const AFTER_ROW = 16;
const ROW_VALUE = 17;
const ROW_NESTED = 18;
const ROW_STRING = 19;
const ROW_WORD = 20;
const ROW_END = 21;
const DONE = 22;

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COMMA = 0x2c;
const OPEN = 0x5b;
const CLOSE = 0x5d;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;

const isSpace = (c: number): boolean => c === 0x20 || c === 0x0a || c === 0x0d || c === 0x09;

/** The largest captured results of a batch (the probe of settings, the position of a replica, the places of tables); larger ones are dropped. */
const CAPTURE_BYTES = 256 * 1024;
const BETWEEN = Uint8Array.of(COMMA);

/** Extracts the rows of one answer. Call `push` with each chunk in order, then `finish`. */
export class RowCutter {
  /** The number of results of a batch; 0 for a single statement, whose answer is one result without a list. */
  readonly #results: number;
  /** The number of results at the begin of a batch that are captured. */
  readonly #captures: number;
  /** The number of the result whose rows are extracted. Those after it are captured. */
  readonly #extracted: number;
  #state = OBJECT;
  /** The object whose members are being read: 0 the outermost object, 1 a result of a batch. */
  #level = 0;
  /** The number of results of the batch that have begun. */
  #result = 0;
  #depth = 0;
  /** Inside a string, also in a skipped or nested value. */
  #inString = false;
  /** The previous byte was a backslash that escapes the next byte. */
  #escaped = false;
  #key = '';
  #seenRows = false;
  #capture: Uint8Array[] | null = null;
  #captured = 0;
  /** In the chunk: offset of the next byte to read. */
  #at = 0;
  /** In the chunk: offset of the next output byte. */
  #out = 0;
  /** Inside a row: offset in the chunk of the first byte that was not output yet; -1 otherwise. */
  #from = -1;
  /** Offset in the chunk of the result that is being captured; -1: none. */
  #captureFrom = -1;
  /** The number of complete rows. */
  rows = 0;

  constructor(results = 0, captures = 1, after = 0) {
    this.#results = results;
    this.#captures = captures;
    this.#extracted = results - after;
  }

  /** The bytes of the captured results of a batch, one after the other with commas between them; undefined without them, or if they were too large. */
  captured(): Uint8Array | undefined {
    return this.#capture === null || this.#captured > CAPTURE_BYTES ? undefined : wholeOf(this.#capture);
  }

  /**
   * Processes the next bytes and returns what they add to the JSON array. The result is a part of `chunk`, which is overwritten.
   *
   * @throws EnvelopeError if the bytes do not follow the protocol
   */
  push(chunk: Uint8Array): Uint8Array {
    this.#at = 0;
    this.#out = 0;
    this.#from = this.#state >= ROW_VALUE && this.#state <= ROW_WORD ? 0 : -1;
    this.#captureFrom = this.#capturing() ? 0 : -1;
    while (this.#at < chunk.length) {
      const state = this.#state;
      if (state === ROW_NESTED) this.#nested(chunk);
      else if (state === ROW_STRING || state === SKIP_STRING) this.#string(chunk);
      else if (state === ROW_WORD || state === SKIP_WORD) this.#word(chunk);
      else {
        const c = chunk[this.#at++] as number;
        // whitespace counts in names only
        if (isSpace(c) && state !== KEY_TEXT) continue;
        if (state >= ROWS && state !== DONE) this.#row(chunk, c);
        else if (state === SKIP) this.#skipped(chunk, c);
        else this.#skeleton(c);
      }
    }
    if (this.#from >= 0) this.#copy(chunk, chunk.length);
    if (this.#captureFrom >= 0) this.#keep(chunk, chunk.length);
    return chunk.subarray(0, this.#out);
  }

  /**
   * Call at the end of the answer.
   *
   * @throws EnvelopeError if the answer is incomplete
   */
  finish(): void {
    if (this.#state !== DONE || !this.#seenRows) throw new EnvelopeError('the answer ended too early');
  }

  /** Reads an array or object in a row up to its end, or up to the end of the chunk. */
  #nested(b: Uint8Array): void {
    const n = b.length;
    let i = this.#at;
    let depth = this.#depth;
    while (i < n) {
      let c = b[i++] as number;
      if (c === QUOTE) {
        c = 0;
        while (i < n) {
          c = b[i++] as number;
          if (c === QUOTE) break;
          if (c === BACKSLASH) i++;
        }
        if (c !== QUOTE) {
          // The chunk ends inside a string. If `i` is past its end, the first byte of the next chunk is escaped.
          this.#escaped = i > n;
          this.#inString = true;
          this.#state = ROW_STRING;
          i = n;
        }
      } else if (c > 0x5a) {
        // outside strings, only brackets and braces matter among the bytes above `Z`
        if (c === OPEN_OBJECT || c === OPEN) depth++;
        else if ((c === CLOSE_OBJECT || c === CLOSE) && --depth === 0) {
          this.#endValue(b, i);
          break;
        }
      }
    }
    this.#at = i;
    this.#depth = depth;
  }

  /** Reads a string of a row or of a skipped value up to its end, or up to the end of the chunk. */
  #string(b: Uint8Array): void {
    while (this.#at < b.length) {
      const c = b[this.#at++] as number;
      if (this.#escaped) this.#escaped = false;
      else if (c === BACKSLASH) this.#escaped = true;
      else if (c === QUOTE) {
        this.#inString = false;
        break;
      }
    }
    if (this.#inString) return;
    if (this.#state === SKIP_STRING) this.#state = this.#depth > 0 ? SKIP : AFTER_VALUE;
    else if (this.#depth > 0) this.#state = ROW_NESTED;
    else this.#endValue(b, this.#at);
  }

  /** Reads a byte of a number or literal. The byte after its end is left for the next state. */
  #word(b: Uint8Array): void {
    const c = b[this.#at] as number;
    if (c !== COMMA && !isSpace(c) && c !== (this.#state === ROW_WORD ? CLOSE : CLOSE_OBJECT)) this.#at++;
    else if (this.#state === ROW_WORD) this.#endValue(b, this.#at);
    else this.#state = AFTER_VALUE;
  }

  /** Outputs the rest of a row's value, which ends at `to`. */
  #endValue(b: Uint8Array, to: number): void {
    this.#state = ROW_END;
    this.#copy(b, to);
    this.#from = -1;
  }

  /** Processes one byte of the brackets and commas of rows, or the first byte of a row's value. Whitespace is not passed. */
  #row(b: Uint8Array, c: number): void {
    switch (this.#state) {
      case ROWS:
        if (c !== OPEN) throw new EnvelopeError('the rows are not an array');
        b[this.#out++] = OPEN;
        this.#state = ROW_OR_END;
        return;
      case ROW_OR_END:
      case ROW:
        if (c === OPEN) {
          this.#from = this.#at;
          // the row's opening bracket is replaced by the comma before the row
          if (this.rows > 0) b[--this.#from] = COMMA;
          this.#state = ROW_VALUE;
        } else if (c === CLOSE && this.#state === ROW_OR_END) this.#endRows(b);
        else throw new EnvelopeError('a row is not an array');
        return;
      case ROW_VALUE:
        if (c === CLOSE || c === COMMA) throw new EnvelopeError('a row has no value');
        this.#state = this.#enters(c) ? ROW_NESTED : this.#inString ? ROW_STRING : ROW_WORD;
        return;
      case ROW_END:
        if (c !== CLOSE) throw new EnvelopeError('a row has more than one column');
        this.rows++;
        this.#state = AFTER_ROW;
        return;
      default:
        if (c === COMMA) this.#state = ROW;
        else if (c === CLOSE) this.#endRows(b);
        else throw new EnvelopeError('missing comma between rows');
    }
  }

  #endRows(b: Uint8Array): void {
    b[this.#out++] = CLOSE;
    this.#state = AFTER_VALUE;
  }

  /** Notes the first byte of a value. @returns true for an array or object; false for a string (then `#inString` is true), number or literal */
  #enters(c: number): boolean {
    const isNested = c === OPEN_OBJECT || c === OPEN;
    this.#depth = isNested ? 1 : 0;
    this.#inString = c === QUOTE;
    return isNested;
  }

  /** Processes one byte of a skipped array or object, outside of its strings. */
  #skipped(b: Uint8Array, c: number): void {
    if (c === QUOTE) {
      this.#inString = true;
      this.#state = SKIP_STRING;
    } else if (c === OPEN_OBJECT || c === OPEN) this.#depth++;
    else if ((c === CLOSE_OBJECT || c === CLOSE) && --this.#depth === 0) {
      if (this.#captureFrom >= 0) {
        this.#keep(b, this.#at);
        this.#captureFrom = -1;
      }
      this.#state = this.#inResults() ? AFTER_RESULT : AFTER_VALUE;
    }
  }

  /** Processes one byte of the envelope, outside of rows and skipped values. Whitespace is not passed, except inside keys. */
  #skeleton(c: number): void {
    switch (this.#state) {
      case OBJECT:
        if (c !== OPEN_OBJECT) throw new EnvelopeError('the answer is not an object');
        this.#state = KEY_OR_END;
        return;
      case KEY_OR_END:
      case KEY:
        if (c === QUOTE) {
          this.#key = '';
          this.#state = KEY_TEXT;
        } else if (c === CLOSE_OBJECT && this.#state === KEY_OR_END) this.#endObject();
        else throw new EnvelopeError('a member has no name');
        return;
      case KEY_TEXT:
        this.#name(c);
        return;
      case COLON:
        if (c !== 0x3a) throw new EnvelopeError('missing colon after a name');
        this.#state = this.#afterName();
        return;
      case VALUE:
        this.#state = this.#enters(c) ? SKIP : this.#inString ? SKIP_STRING : SKIP_WORD;
        return;
      case AFTER_VALUE:
        if (c === COMMA) this.#state = KEY;
        else if (c === CLOSE_OBJECT) this.#endObject();
        else throw new EnvelopeError('missing comma between members');
        return;
      case RESULTS:
      case RESULT_OR_END:
      case AFTER_RESULT:
        this.#batch(c);
        return;
      default:
        throw new EnvelopeError('unexpected bytes after the answer');
    }
  }

  /** Processes one byte of the name of a member. */
  #name(c: number): void {
    // Escapes need not be decoded: the relevant names contain no escapes. An escaped quote does not end the name.
    if (this.#escaped) this.#escaped = false;
    else if (c === QUOTE) {
      this.#state = COLON;
      return;
    } else if (c === BACKSLASH) this.#escaped = true;
    if (this.#key.length < 16) this.#key += String.fromCharCode(c);
  }

  /** Processes one byte of the array of results, outside of a result. */
  #batch(c: number): void {
    if (this.#state === RESULTS) {
      if (c !== OPEN) throw new EnvelopeError('the results are not an array');
      this.#state = RESULT_OR_END;
    } else if (this.#state === RESULT_OR_END) {
      if (c !== OPEN_OBJECT) throw new EnvelopeError('a result is not an object');
      this.#beginResult();
    } else if (c === COMMA && this.#result < this.#results) this.#state = RESULT_OR_END;
    else if (c === CLOSE && this.#result === this.#results) {
      this.#state = AFTER_VALUE;
      // what follows is no result
      this.#result = this.#extracted;
    } else throw new EnvelopeError('unexpected number of results');
  }

  /** One result is read, the others are skipped; the first ones and those after it are captured. */
  #beginResult(): void {
    this.#result++;
    if (this.#result === this.#extracted) {
      this.#level = 1;
      this.#state = KEY_OR_END;
      return;
    }
    if (this.#isCaptured()) {
      if (this.#capture === null) this.#capture = [];
      else this.#capture.push(BETWEEN);
      this.#captureFrom = this.#at - 1;
    }
    this.#depth = 1;
    this.#state = SKIP;
  }

  #afterName(): number {
    const batch = this.#results > 0;
    if (this.#key === 'rows' && this.#level === (batch ? 1 : 0)) {
      if (this.#seenRows) throw new EnvelopeError('duplicate member: rows');
      this.#seenRows = true;
      return ROWS;
    }
    if (batch && this.#level === 0 && this.#key === 'results') {
      if (this.#result > 0) throw new EnvelopeError('duplicate member: results');
      return RESULTS;
    }
    return VALUE;
  }

  #endObject(): void {
    this.#state = this.#level === 1 ? AFTER_RESULT : DONE;
    this.#level = 0;
  }

  /** True if the skipped value is a result of the batch, false if it is the value of a member. */
  #inResults(): boolean {
    return this.#results > 0 && this.#level === 0 && this.#result > 0 && this.#result !== this.#extracted;
  }

  #isCaptured(): boolean {
    return this.#result <= this.#captures || this.#result > this.#extracted;
  }

  #capturing(): boolean {
    return this.#capture !== null && this.#isCaptured() && (this.#state === SKIP || this.#state === SKIP_STRING) && this.#inResults();
  }

  /** Captures the bytes of the chunk up to `to`. */
  #keep(b: Uint8Array, to: number): void {
    this.#captured += to - this.#captureFrom;
    if (this.#captured <= CAPTURE_BYTES) this.#capture?.push(b.slice(this.#captureFrom, to));
  }

  /** Moves the bytes of the current row up to `to` to the end of the output, which never passes the bytes that were read. */
  #copy(b: Uint8Array, to: number): void {
    if (this.#out !== this.#from) b.copyWithin(this.#out, this.#from, to);
    this.#out += to - this.#from;
  }
}
