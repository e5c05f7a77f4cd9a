/** The distinct texts of a level of nested objects, as bytes: each is stored once, and numbered in order of first appearance. */
import { COMMA } from './characters.ts';
import { Ints, type Memory, Slots } from './memory.ts';
import type { ShownColumn } from './presentation.ts';
import type { ByteRow } from './scan-bytes.ts';
import { ByteWriter } from './writer.ts';

const TRUE = 0x74;
const FALSE = 0x66;
/** The size of the pages that store texts. A larger text gets a page of its own. */
const PAGE = 128 * 1024;

const encoder = new TextEncoder();
const decoder = new TextDecoder();

/** Stores bytes in pages that never move. */
export class Arena {
  readonly memory: Memory;
  readonly pages: Uint8Array[] = [];
  /** The offset of the next free byte in the last page. */
  at = 0;
  /** A buffer for the presented text. */
  readonly scratch = new ByteWriter(1024);

  constructor(memory: Memory) {
    this.memory = memory;
  }

  /** Returns a page with room for a number of bytes. */
  reserve(bytes: number): Uint8Array {
    const last = this.pages.at(-1);
    if (last !== undefined && last.length - this.at >= bytes) return last;
    // most answers are small, so the first pages are small
    const page = new Uint8Array(Math.max(bytes, this.pages.length < 4 ? PAGE >> 4 : PAGE));
    this.memory.used += page.length;
    this.pages.push(page);
    this.at = 0;
    return page;
  }
}

/** Page, start and end of each text, by number. */
interface Places {
  readonly page: Ints;
  readonly from: Ints;
  readonly to: Ints;
}
const placesIn = (memory: Memory): Places => ({ page: new Ints(memory), from: new Ints(memory), to: new Ints(memory) });

interface Column {
  /** `"key":`, with a comma in front unless it is the first column; empty for a bare value. */
  readonly key: Uint8Array;
  readonly shown: ShownColumn | null;
}

export class Texts {
  readonly #arena: Arena;
  readonly #columns: readonly Column[];
  readonly #first: number;
  readonly #last: number;
  /** Whether the presented text may differ from the stored one, and whether it always does. */
  readonly #mayDiffer: boolean;
  readonly #isOther: boolean;
  readonly #keyBytes: number;
  /** For each number, the text of all values with their keys. It identifies the number. */
  readonly #kept: Places;
  readonly #hashes: Ints;
  readonly #slots: Slots;
  /** The presented text, if it differs; otherwise its page is -1. */
  readonly #shown: Places;
  /** The number that `find` returned last. */
  #recent = -1;

  /** `first`: the position of its first column in a row; its columns are adjacent. A bare text is a value without a key. */
  constructor(arena: Arena, first: number, columns: readonly (ShownColumn | null)[], isBare = false) {
    this.#arena = arena;
    const { memory } = arena;
    this.#kept = placesIn(memory);
    this.#shown = placesIn(memory);
    this.#hashes = new Ints(memory);
    this.#slots = new Slots(memory);
    this.#first = first;
    this.#last = first + columns.length - 1;
    this.#isOther = columns.some((c) => c === null || c.format !== undefined);
    this.#mayDiffer = this.#isOther || columns.some((c) => c?.booleans !== undefined);
    this.#columns = columns.map((shown, i) => ({ shown, key: encoder.encode(isBare ? '' : `${i > 0 ? ',' : ''}${shown?.key ?? ''}`) }));
    this.#keyBytes = this.#columns.reduce((n, c) => n + c.key.length, 0);
  }

  /** The size of a number's presented text, in bytes. */
  size(id: number): number {
    const of = this.#isShownElsewhere(id) ? this.#shown : this.#kept;
    return (of.to.at[id] as number) - (of.from.at[id] as number);
  }

  write(id: number, out: ByteWriter): void {
    const { page, from, to } = this.#isShownElsewhere(id) ? this.#shown : this.#kept;
    out.range(this.#arena.pages[page.at[id] as number] as Uint8Array, from.at[id] as number, to.at[id] as number);
  }

  #isShownElsewhere(id: number): boolean {
    return this.#mayDiffer && (this.#shown.page.at[id] as number) >= 0;
  }

  /** Returns the number of a row's text, and stores the text if it is new. */
  find(row: ByteRow): number {
    const last = this.#recent;
    if (last >= 0 && this.#equals(last, row)) return last;
    const hash = this.#hash(row);
    const slots = this.#slots;
    let slot = hash & slots.mask;
    for (;;) {
      const id = (slots.at[slot] as number) - 1;
      if (id < 0) break;
      if (this.#hashes.at[id] === hash && this.#equals(id, row)) {
        this.#recent = id;
        return id;
      }
      slot = (slot + 1) & slots.mask;
    }
    const id = this.#hashes.length;
    this.#keep(row);
    if (this.#mayDiffer) this.#change(row);
    this.#hashes.push(hash);
    slots.put(slot, id, this.#hashOf);
    this.#recent = id;
    return id;
  }
  readonly #hashOf = (id: number): number => this.#hashes.at[id] as number;

  #hash({ bytes, starts, ends }: ByteRow): number {
    if (this.#columns.length === 0) return 0;
    return murmur3(bytes, starts[this.#first] as number, ends[this.#last] as number);
  }

  /** Whether a row has the values of a number. No value is a prefix of another: each ends with a comma or at the end of the text. */
  #equals(id: number, { bytes, starts, ends }: ByteRow): boolean {
    const page = this.#arena.pages[this.#kept.page.at[id] as number] as Uint8Array;
    const to = this.#kept.to.at[id] as number;
    let at = this.#kept.from.at[id] as number;
    const columns = this.#columns;
    for (let c = 0; c < columns.length; c++) {
      at += (columns[c] as Column).key.length;
      const p = this.#first + c;
      const end = ends[p] as number;
      let i = starts[p] as number;
      if (at + end - i > to) return false;
      while (i < end) if (bytes[i++] !== page[at++]) return false;
      if (at !== to && page[at] !== COMMA) return false;
    }
    return at === to;
  }

  /** Stores the values with their keys. */
  #keep({ bytes, starts, ends }: ByteRow): void {
    const arena = this.#arena;
    const columns = this.#columns;
    let size = this.#keyBytes;
    for (let p = this.#first; p <= this.#last; p++) size += (ends[p] as number) - (starts[p] as number);
    const page = arena.reserve(size);
    let { at } = arena;
    this.#kept.page.push(arena.pages.length - 1);
    this.#kept.from.push(at);
    for (let c = 0; c < columns.length; c++) {
      const { key } = columns[c] as Column;
      for (let k = 0; k < key.length; k++) page[at++] = key[k] as number;
      const p = this.#first + c;
      const end = ends[p] as number;
      for (let i = starts[p] as number; i < end; i++) page[at++] = bytes[i] as number;
    }
    arena.at = at;
    this.#kept.to.push(at);
  }

  /** Stores the presented text if it differs. */
  #change({ bytes, starts, ends }: ByteRow): void {
    const { page, from: begins, to: finishes } = this.#shown;
    const columns = this.#columns;
    let isOther = this.#isOther;
    for (let p = this.#first; p <= this.#last && !isOther; p++) isOther = isBoolean(bytes[starts[p] as number]);
    if (!isOther) {
      page.push(-1);
      begins.push(0);
      finishes.push(0);
      return;
    }
    const out = this.#arena.scratch;
    out.at = 0;
    for (let c = 0; c < columns.length; c++) {
      const { key, shown } = columns[c] as Column;
      if (shown === null) continue;
      // the column before it may be omitted
      out.range(key, out.at === 0 && key[0] === COMMA ? 1 : 0, key.length);
      const from = starts[this.#first + c] as number;
      const to = ends[this.#first + c] as number;
      const begin = bytes[from];
      if (shown.booleans !== undefined && isBoolean(begin)) out.text(shown.booleans[begin === TRUE ? 0 : 1]);
      else if (shown.format !== undefined) out.text(shown.format(textOf(bytes, from, to)));
      else out.range(bytes, from, to);
    }
    const arena = this.#arena;
    const room = arena.reserve(out.at);
    page.push(arena.pages.length - 1);
    begins.push(arena.at);
    arena.at = out.copyTo(room, arena.at);
    finishes.push(arena.at);
  }
}

/** MurmurHash3 (x86, 32 bits, seed 0) of a range of bytes. */
export function murmur3(bytes: Uint8Array, from: number, to: number): number {
  const whole = to - ((to - from) & 3);
  let hash = 0;
  for (let i = from; i < whole; i += 4) {
    let word = (bytes[i] as number) | ((bytes[i + 1] as number) << 8) | ((bytes[i + 2] as number) << 16) | ((bytes[i + 3] as number) << 24);
    word = Math.imul(word, 0xcc9e2d51);
    word = Math.imul((word << 15) | (word >>> 17), 0x1b873593);
    hash ^= word;
    hash = (Math.imul((hash << 13) | (hash >>> 19), 5) + 0xe6546b64) | 0;
  }
  if (whole < to) {
    let word = 0;
    for (let i = to - 1; i >= whole; i--) word = (word << 8) | (bytes[i] as number);
    word = Math.imul(word, 0xcc9e2d51);
    hash ^= Math.imul((word << 15) | (word >>> 17), 0x1b873593);
  }
  hash ^= to - from;
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return hash ^ (hash >>> 16);
}

/** Decodes a value. Short ones are mostly ASCII, and calling a decoder for them is slow. */
function textOf(bytes: Uint8Array, from: number, to: number): string {
  if (to - from > 24) return decoder.decode(bytes.subarray(from, to));
  let text = '';
  for (let i = from; i < to; i++) {
    const c = bytes[i] as number;
    if (c > 0x7f) return decoder.decode(bytes.subarray(from, to));
    text += String.fromCharCode(c);
  }
  return text;
}

const isBoolean = (begin: number | undefined): boolean => begin === TRUE || begin === FALSE;
