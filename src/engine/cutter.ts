/**
 * Cuts the rows out of an answer of the SQL-over-HTTP protocol while it streams: `{"fields":[..],"rows":[[{..}],[{..}]],..}`
 * becomes `[{..},{..}]`. The bytes of each row pass unchanged, so numbers keep every digit. A statement of a batch comes
 * as `{"results":[{..},{..}]}`, of which the last result is cut. Members may stand in any order.
 */
import { wholeOf } from '../bytes.ts';

/** The answer is not of the protocol, or it ended too early. */
export class EnvelopeError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'EnvelopeError';
  }
}

// States. An object of the envelope: its beginning, a key, the colon, a value, what follows a value.
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
// A value that is of no interest: a container, a string, a number or word.
const SKIP = 10;
const SKIP_STRING = 11;
const SKIP_WORD = 12;
// The rows: the array, a row's brackets, its one value.
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

/** Kept of the results before the last one (the settings' probe); more is dropped. */
const CAPTURE_BYTES = 256 * 1024;

/** One answer's cutter: `push` every chunk in order, then `finish`. */
export class RowCutter {
  /** How many results a batch has; 0: a single statement, whose answer is one result without a list round it. */
  readonly #results: number;
  #state = OBJECT;
  /** The object whose members are read: 0 the outermost, 1 a result of a batch. */
  #level = 0;
  /** Results of the batch that have begun. */
  #result = 0;
  #depth = 0;
  /** Inside a string; for a skipped or nested value too. */
  #inString = false;
  /** The byte before was a backslash that escapes the next one. */
  #escaped = false;
  #key = '';
  #seenRows = false;
  #capture: Uint8Array[] | null = null;
  #captured = 0;
  /** The rows that have ended. */
  rows = 0;

  constructor(results = 0) {
    this.#results = results;
  }

  /** The bytes of the first result of a batch, where it came before the last one. */
  captured(): Uint8Array | undefined {
    return this.#capture === null || this.#captured > CAPTURE_BYTES ? undefined : wholeOf(this.#capture);
  }

  /**
   * Takes the next bytes and returns what they add to the JSON array (often a part of `chunk`, which is overwritten).
   *
   * @throws EnvelopeError where the bytes are not of the protocol
   */
  push(chunk: Uint8Array): Uint8Array {
    const b = chunk;
    const n = b.length;
    let i = 0;
    /** Where the next byte of the output goes: never past `i`, for each byte put out has been read. */
    let out = 0;
    /** Where the bytes begin that are still to be put out, inside a row; -1: none. */
    let from = this.#state >= ROW_VALUE && this.#state <= ROW_WORD ? 0 : -1;
    /** Where a captured result begins in this chunk; -1: none is being captured. */
    let captureFrom = this.#capturing() ? 0 : -1;

    while (i < n) {
      switch (this.#state) {
        case ROW_NESTED: {
          let depth = this.#depth;
          let c = 0;
          while (i < n) {
            c = b[i++] as number;
            if (c === QUOTE) {
              c = 0;
              while (i < n) {
                c = b[i++] as number;
                if (c === QUOTE) break;
                if (c === BACKSLASH) i++;
              }
              if (c !== QUOTE) {
                // The chunk ends inside a string; `i` past its end: the next chunk's first byte is escaped.
                this.#escaped = i > n;
                this.#inString = true;
                this.#state = ROW_STRING;
                i = n;
                break;
              }
            } else if (c > 0x5a) {
              // Of the bytes above `Z` outside strings, brackets and braces alone count.
              if (c === OPEN_OBJECT || c === OPEN) depth++;
              else if ((c === CLOSE_OBJECT || c === CLOSE) && --depth === 0) {
                this.#state = ROW_END;
                break;
              }
            }
          }
          this.#depth = depth;
          if (this.#state === ROW_END) {
            out = move(b, from, i, out);
            from = -1;
          }
          break;
        }
        case ROW_STRING:
        case SKIP_STRING: {
          while (i < n) {
            const c = b[i++] as number;
            if (this.#escaped) this.#escaped = false;
            else if (c === BACKSLASH) this.#escaped = true;
            else if (c === QUOTE) {
              this.#inString = false;
              break;
            }
          }
          if (this.#inString) break;
          if (this.#state === ROW_STRING) {
            if (this.#depth > 0) this.#state = ROW_NESTED;
            else {
              this.#state = ROW_END;
              out = move(b, from, i, out);
              from = -1;
            }
          } else this.#state = this.#depth > 0 ? SKIP : AFTER_VALUE;
          break;
        }
        case ROW_VALUE: {
          const c = b[i++] as number;
          if (c === OPEN_OBJECT || c === OPEN) {
            this.#depth = 1;
            this.#state = ROW_NESTED;
          } else if (c === QUOTE) {
            this.#depth = 0;
            this.#inString = true;
            this.#state = ROW_STRING;
          } else if (c === CLOSE || c === COMMA) throw new EnvelopeError('a row without a value');
          else if (!isSpace(c)) this.#state = ROW_WORD;
          break;
        }
        case ROW_WORD: {
          const c = b[i] as number;
          if (c !== CLOSE && c !== COMMA && !isSpace(c)) {
            i++;
            break;
          }
          this.#state = ROW_END;
          out = move(b, from, i, out);
          from = -1;
          break;
        }
        case ROW_END: {
          const c = b[i++] as number;
          if (c === CLOSE) {
            this.rows++;
            this.#state = AFTER_ROW;
          } else if (!isSpace(c)) throw new EnvelopeError('a row of more than one column');
          break;
        }
        case AFTER_ROW: {
          const c = b[i++] as number;
          if (c === COMMA) this.#state = ROW;
          else if (c === CLOSE) {
            b[out++] = CLOSE;
            this.#state = AFTER_VALUE;
          } else if (!isSpace(c)) throw new EnvelopeError('no comma between rows');
          break;
        }
        case ROW_OR_END:
        case ROW: {
          const c = b[i++] as number;
          if (c === OPEN) {
            from = i;
            // The row's bracket becomes the comma before it.
            if (this.rows > 0) b[--from] = COMMA;
            this.#state = ROW_VALUE;
          } else if (c === CLOSE && this.#state === ROW_OR_END) {
            b[out++] = CLOSE;
            this.#state = AFTER_VALUE;
          } else if (!isSpace(c)) throw new EnvelopeError('a row is no array');
          break;
        }
        case ROWS: {
          const c = b[i++] as number;
          if (c === OPEN) {
            b[out++] = OPEN;
            this.#state = ROW_OR_END;
          } else if (!isSpace(c)) throw new EnvelopeError('the rows are no array');
          break;
        }
        case SKIP: {
          const c = b[i++] as number;
          if (c === QUOTE) {
            this.#inString = true;
            this.#state = SKIP_STRING;
          } else if (c === OPEN_OBJECT || c === OPEN) this.#depth++;
          else if ((c === CLOSE_OBJECT || c === CLOSE) && --this.#depth === 0) {
            if (captureFrom >= 0) {
              this.#keep(b, captureFrom, i);
              captureFrom = -1;
            }
            this.#state = this.#inResults() ? AFTER_RESULT : AFTER_VALUE;
          }
          break;
        }
        case SKIP_WORD: {
          const c = b[i] as number;
          if (c === COMMA || c === CLOSE_OBJECT || isSpace(c)) this.#state = AFTER_VALUE;
          else i++;
          break;
        }
        default: {
          const c = b[i++] as number;
          if (this.#state !== KEY_TEXT && isSpace(c)) break;
          this.#skeleton(c);
          if (this.#state === SKIP && this.#capturing() && captureFrom < 0) captureFrom = i - 1;
        }
      }
    }
    if (from >= 0) out = move(b, from, n, out);
    if (captureFrom >= 0) this.#keep(b, captureFrom, n);
    return b.subarray(0, out);
  }

  /**
   * Says that the answer has ended.
   *
   * @throws EnvelopeError where it is not whole
   */
  finish(): void {
    if (this.#state !== DONE || !this.#seenRows) throw new EnvelopeError('the answer ended too early');
  }

  /** One byte (no blank) of the envelope outside of rows and skipped values. */
  #skeleton(c: number): void {
    switch (this.#state) {
      case OBJECT:
        if (c !== OPEN_OBJECT) throw new EnvelopeError('the answer is no object');
        this.#state = KEY_OR_END;
        return;
      case KEY_OR_END:
      case KEY:
        if (c === QUOTE) {
          this.#key = '';
          this.#state = KEY_TEXT;
        } else if (c === CLOSE_OBJECT && this.#state === KEY_OR_END) this.#endObject();
        else throw new EnvelopeError('a member without a name');
        return;
      case KEY_TEXT:
        // An escape is of no interest: none of the names that count has one, and a quote behind one is no end.
        if (this.#escaped) this.#escaped = false;
        else if (c === QUOTE) {
          this.#state = COLON;
          return;
        } else if (c === BACKSLASH) this.#escaped = true;
        if (this.#key.length < 16) this.#key += String.fromCharCode(c);
        return;
      case COLON:
        if (c !== 0x3a) throw new EnvelopeError('no colon behind a name');
        this.#state = this.#afterName();
        return;
      case VALUE:
        if (c === OPEN_OBJECT || c === OPEN) {
          this.#depth = 1;
          this.#state = SKIP;
        } else if (c === QUOTE) {
          this.#depth = 0;
          this.#inString = true;
          this.#state = SKIP_STRING;
        } else this.#state = SKIP_WORD;
        return;
      case AFTER_VALUE:
        if (c === COMMA) this.#state = KEY;
        else if (c === CLOSE_OBJECT) this.#endObject();
        else throw new EnvelopeError('no comma between members');
        return;
      case RESULTS:
        if (c !== OPEN) throw new EnvelopeError('the results are no array');
        this.#state = RESULT_OR_END;
        return;
      case RESULT_OR_END:
        if (c !== OPEN_OBJECT) throw new EnvelopeError('a result is no object');
        this.#result++;
        if (this.#result === this.#results) {
          this.#level = 1;
          this.#state = KEY_OR_END;
        } else {
          if (this.#result === 1) this.#capture = [];
          this.#depth = 1;
          this.#state = SKIP;
        }
        return;
      case AFTER_RESULT:
        if (c === COMMA && this.#result < this.#results) this.#state = RESULT_OR_END;
        else if (c === CLOSE && this.#result === this.#results) {
          this.#state = AFTER_VALUE;
          this.#level = 0;
        } else throw new EnvelopeError('another number of results');
        return;
      default:
        throw new EnvelopeError('bytes behind the answer');
    }
  }

  #afterName(): number {
    const batch = this.#results > 0;
    if (this.#key === 'rows' && this.#level === (batch ? 1 : 0)) {
      if (this.#seenRows) throw new EnvelopeError('rows twice');
      this.#seenRows = true;
      return ROWS;
    }
    if (batch && this.#level === 0 && this.#key === 'results') {
      if (this.#result > 0) throw new EnvelopeError('results twice');
      return RESULTS;
    }
    return VALUE;
  }

  #endObject(): void {
    this.#state = this.#level === 1 ? AFTER_RESULT : DONE;
  }

  /** Whether a skipped value is a result of the batch, not a member's value. */
  #inResults(): boolean {
    return this.#results > 0 && this.#level === 0 && this.#result > 0 && this.#result < this.#results;
  }

  #capturing(): boolean {
    return this.#capture !== null && this.#result === 1 && (this.#state === SKIP || this.#state === SKIP_STRING) && this.#inResults();
  }

  #keep(b: Uint8Array, from: number, to: number): void {
    this.#captured += to - from;
    if (this.#captured <= CAPTURE_BYTES) this.#capture?.push(b.slice(from, to));
  }
}

/** Moves `b[from, to)` down to `out`; returns the place behind it. */
function move(b: Uint8Array, from: number, to: number, out: number): number {
  if (out !== from) b.copyWithin(out, from, to);
  return out + to - from;
}
