/** Finds names of a model in stored texts without parsing them. May find too much, never too little. */
import { visited } from '../../budget.ts';

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

/** A name without what may be before it in the column of a path: `~r`, `rel[c]_column`, `_type_of_c`. A number may be directly before a word. */
const PREFIXES = /^(?:_type_of_|_|\d+)/;

/** A set of names that texts are searched for. */
export class Names {
  /** Those that are one word in every text. */
  readonly #words = new Set<string>();
  /** Those with blanks, hyphens and the like. */
  readonly #others = new Set<string>();

  /** @returns true if it is a new name */
  add(name: string): boolean {
    const key = keyOfName(name);
    const names = WORD.test(key) ? this.#words : this.#others;
    if (names.has(key)) return false;
    names.add(key);
    return true;
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
    for (const [word] of key.matchAll(WORDS)) {
      if (this.#words.has(word) && found(word)) return;
      for (let rest = word; PREFIXES.test(rest); ) {
        rest = rest.replace(PREFIXES, '');
        if (this.#words.has(rest) && found(rest)) return;
      }
    }
    for (const other of this.#others) {
      visited(1 + Math.ceil(text.length / (10 * CHARACTERS_OF_A_STEP)));
      if (key.includes(other) && found(other)) return;
    }
  }
}
