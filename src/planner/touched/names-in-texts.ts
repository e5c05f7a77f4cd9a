/** Finds names of a model in stored texts without parsing them. May find too much, never too little. */
import { visited } from '../../budget.ts';
import { push } from '../../ontology/links.ts';

/** How many characters are read in a step. */
const CHARACTERS_OF_A_STEP = 4;

/** The longest parts of a text that an identifier without quotes may consist of. In a path, all names are separated by other characters. */
const WORDS = /[\w$\u0080-\uffff]+/g;
const WORD = /^[\w$\u0080-\uffff]+$/;

/** With escapes or doubled quotes an identifier does not contain its name as it is. */
const ESCAPED = /u&["`]|""|``/;

/** Two lower-case letters of one capital letter: which of them `toLowerCase` returns depends on the letters around it. */
const FINAL_SIGMA = /ς/g;

const comparable = (text: string): string => text.toLowerCase().replace(FINAL_SIGMA, 'σ');

/** A name in the form in which names are compared with texts. `~r` is the other direction of `r`. */
export const keyOfName = (name: string): string => comparable(name).replace(/^~+/, '');

/** What may be directly before a name in a word of a text: `rel[c]_column`, `_type_of_c`, and a number. `~` is no part of a word. */
const PREFIX = /^(?:_|type_of_|\d+)/;

/** Where a name is in a text: it begins `before` characters before its first word. */
interface Place {
  readonly before: number;
  readonly length: number;
}

/** A set of names that texts are searched for. */
export class Names {
  /** Those that are one word in every text. */
  readonly #words = new Set<string>();
  /** Those with blanks, hyphens and the like. */
  readonly #others = new Set<string>();
  /** The different places of these names, by their first word. */
  readonly #places = new Map<string, Place[]>();
  /** Those without a word. */
  readonly #signs: string[] = [];

  /** @returns true if it is a new name */
  add(name: string): boolean {
    const key = keyOfName(name);
    const names = WORD.test(key) ? this.#words : this.#others;
    if (names.has(key)) return false;
    names.add(key);
    if (names === this.#others) this.#place(key);
    return true;
  }

  #place(key: string): void {
    const [first] = key.matchAll(WORDS);
    if (first === undefined) {
      this.#signs.push(key);
      return;
    }
    const place = { before: first.index, length: key.length };
    const known = this.#places.get(first[0]) ?? [];
    if (!known.some((p) => p.before === place.before && p.length === place.length)) push(this.#places, first[0], place);
  }

  has(name: string): boolean {
    const key = keyOfName(name);
    return this.#words.has(key) || this.#others.has(key);
  }

  get isEmpty(): boolean {
    return this.#words.size + this.#others.size === 0;
  }

  /** True if a text may contain one of the names as an identifier, or in a path. */
  areIn(text: string): boolean {
    if (this.isEmpty) return false;
    let isIn = false;
    this.find(text, () => {
      isIn = true;
      return true;
    });
    return isIn;
  }

  /** Calls `found` with the key of each name that the text may contain, and with undefined if it may be any name, until it returns true. */
  find(text: string, found: (name: string | undefined) => boolean): void {
    visited(1 + Math.ceil(text.length / CHARACTERS_OF_A_STEP));
    const key = comparable(text);
    if (ESCAPED.test(key) && found(undefined)) return;
    for (const { 0: word, index } of key.matchAll(WORDS)) {
      for (let at = 0, length = -1; length !== 0; at += length) {
        const rest = word.slice(at);
        if (this.#words.has(rest) && found(rest)) return;
        for (const name of this.#othersAt(key, rest, index + at)) if (found(name)) return;
        length = PREFIX.exec(rest)?.[0].length ?? 0;
      }
    }
    if (this.#signs.length > 0) visited(this.#signs.length * (1 + Math.ceil(text.length / (10 * CHARACTERS_OF_A_STEP))));
    for (const sign of this.#signs) if (key.includes(sign) && found(sign)) return;
  }

  /** The names of several words whose first word is at an offset of a text. */
  #othersAt(key: string, word: string, offset: number): readonly string[] {
    const places = this.#places.get(word);
    if (places === undefined) return [];
    visited(places.length);
    return places.map(({ before, length }) => key.slice(Math.max(0, offset - before), offset - before + length)).filter((name) => this.#others.has(name));
  }
}
