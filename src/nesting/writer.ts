/** A growing buffer of bytes. */

const encoder = new TextEncoder();
/** Shorter ranges are copied byte by byte. */
const SHORT = 48;

export class ByteWriter {
  #page: Uint8Array;
  at = 0;

  constructor(size: number) {
    this.#page = new Uint8Array(size);
  }

  byte(c: number): void {
    if (this.at === this.#page.length) this.#room(1);
    this.#page[this.at++] = c;
  }

  bytes(source: Uint8Array): void {
    this.range(source, 0, source.length);
  }

  range(source: Uint8Array, from: number, to: number): void {
    const length = to - from;
    if (this.#page.length - this.at < length) this.#room(length);
    const page = this.#page;
    let { at } = this;
    if (length > SHORT) {
      page.set(source.subarray(from, to), at);
      this.at = at + length;
      return;
    }
    for (let i = from; i < to; i++) page[at++] = source[i] as number;
    this.at = at;
  }

  text(source: string): void {
    const { length } = source;
    if (this.#page.length - this.at < length) this.#room(length);
    const page = this.#page;
    let { at } = this;
    for (let i = 0; i < length; i++) {
      const c = source.charCodeAt(i);
      if (c > 0x7f) {
        // encode from the start of the text, because this code unit may be half of a surrogate pair
        this.bytes(encoder.encode(source));
        return;
      }
      page[at++] = c;
    }
    this.at = at;
  }

  /** Replaces line breaks from an offset on by blanks. They occur only between members: JSON strings contain none. */
  oneLine(from: number): void {
    const page = this.#page;
    for (let i = from; i < this.at; i++) if (page[i] === 0x0a || page[i] === 0x0d) page[i] = 0x20;
  }

  /** Copies the written bytes to an offset of a target with enough room. Returns the offset after them. */
  copyTo(target: Uint8Array, from: number): number {
    const { at } = this;
    const page = this.#page;
    if (at > SHORT) target.set(page.subarray(0, at), from);
    else for (let i = 0; i < at; i++) target[from + i] = page[i] as number;
    return from + at;
  }

  /** Returns the written bytes, which the caller then owns, and resets the writer. */
  take(): Uint8Array<ArrayBuffer> {
    const made = this.#page.slice(0, this.at) as Uint8Array<ArrayBuffer>;
    this.at = 0;
    return made;
  }

  #room(bytes: number): void {
    const larger = new Uint8Array(Math.max(this.#page.length * 2, this.at + bytes));
    larger.set(this.#page.subarray(0, this.at));
    this.#page = larger;
  }
}
