/** The distinct texts of a level of nested objects, as bytes: each kept once, numbered in first-seen order. */
import { COMMA } from './characters.ts';
import { Ints, type Memory, Slots } from './memory.ts';
import type { ShownColumn } from './presentation.ts';
import type { ByteRow } from './scan-bytes.ts';
import { ByteWriter } from './writer.ts';

const TRUE = 0x74;
const FALSE = 0x66;
/** Texts are kept in pages of this size; a larger one has a page of its own. */
const PAGE = 128 * 1024;

const encoder = new TextEncoder();
const decoder = new TextDecoder();

/** Bytes that are kept, in pages that never move. */
export class Arena {
  readonly memory: Memory;
  readonly pages: Uint8Array[] = [];
  /** Where the next bytes go in the last page. */
  at = 0;
  /** Where a text that is shown is put together. */
  readonly scratch = new ByteWriter(1024);

  constructor(memory: Memory) {
    this.memory = memory;
  }

  /** The page with room for so many bytes. */
  reserve(bytes: number): Uint8Array {
    const last = this.pages.at(-1);
    if (last !== undefined && last.length - this.at >= bytes) return last;
    // small answers are many: they begin with small pages
    const page = new Uint8Array(Math.max(bytes, this.pages.length < 4 ? PAGE >> 4 : PAGE));
    this.memory.used += page.length;
    this.pages.push(page);
    this.at = 0;
    return page;
  }
}

/** Where texts are kept, by their numbers. */
interface Places {
  readonly page: Ints;
  readonly from: Ints;
  readonly to: Ints;
}
const placesIn = (memory: Memory): Places => ({ page: new Ints(memory), from: new Ints(memory), to: new Ints(memory) });

interface Column {
  /** `"key":`, with a comma before it where another column stands before; empty for a bare value. */
  readonly key: Uint8Array;
  readonly shown: ShownColumn | null;
}

export class Texts {
  readonly #arena: Arena;
  readonly #columns: readonly Column[];
  readonly #first: number;
  readonly #last: number;
  /** Whether what is shown may be another text than the values' own, and whether it always is. */
  readonly #mayDiffer: boolean;
  readonly #isOther: boolean;
  readonly #keyBytes: number;
  /** Of each number: the text of all its values under their keys, by which it is told apart. */
  readonly #kept: Places;
  readonly #hashes: Ints;
  readonly #slots: Slots;
  /** The text that is shown, where it is another one; its page -1: it is not. */
  readonly #shown: Places;
  /** The number that was found last. */
  #recent = -1;

  /** `first`: where its columns begin in a row; they stand side by side. A bare one is a value without a key. */
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

  /** How many bytes a number's text has. */
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

  /** The number of a row's text. */
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

  /** Whether a row has just the values of a number. A value that goes on in one of the two is another value: it ends with its comma or the text. */
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

  /** Keeps the values under their keys. */
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

  /** Keeps the text that is shown instead, where it is another one. */
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
      // a column before it may be left out
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

/** MurmurHash3 (x86, 32 bits, seed 0) of some bytes. */
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

/** The text of a value; short ones are mostly ASCII, for which a decoder is slow to call. */
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
