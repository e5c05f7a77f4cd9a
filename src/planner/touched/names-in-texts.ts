/** Finds names of a model in stored texts without parsing them. May find too much, never too little. */
import { visited } from '../../budget.ts';
import { push } from '../../ontology/links.ts';

/** How many characters are read in a step. */
const CHARACTERS_OF_A_STEP = 4;

/** The longest parts of a text that an identifier without quotes may consist of. In a path, all names are separated by other characters. */
const WORDS = /[\w$\u0080-\uffff]+/g;

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
  readonly #keys = new Set<string>();
  /** The different places of names, by their first word. */
  readonly #places = new Map<string, Place[]>();
  /** Names without a word. */
  readonly #signs: string[] = [];

  /** @returns true if it is a new name */
  add(name: string): boolean {
    const key = keyOfName(name);
    if (this.#keys.has(key)) return false;
    this.#keys.add(key);
    const [first] = key.matchAll(WORDS);
    if (first === undefined) this.#signs.push(key);
    else {
      const { 0: word, index: before } = first;
      const known = this.#places.get(word);
      if (!known?.some((p) => p.before === before && p.length === key.length)) push(this.#places, word, { before, length: key.length });
    }
    return true;
  }

  has(name: string): boolean {
    return this.#keys.has(keyOfName(name));
  }

  /** True if a text may contain one of the names as an identifier, or in a path. */
  areIn(text: string): boolean {
    let isIn = false;
    const found = (): boolean => {
      isIn = true;
      return true;
    };
    if (this.#keys.size > 0) this.find(text, found);
    return isIn;
  }

  /** Calls `found` with the key of each name that the text may contain, and with undefined if it may be any name, until it returns true. */
  find(text: string, found: (name: string | undefined) => boolean): void {
    const steps = 1 + Math.ceil(text.length / CHARACTERS_OF_A_STEP);
    visited(steps * (1 + this.#signs.length));
    const key = comparable(text);
    if (ESCAPED.test(key) && found(undefined)) return;
    for (const { 0: word, index } of key.matchAll(WORDS)) {
      for (let at = 0, skipped = -1; skipped !== 0; at += skipped) {
        const rest = word.slice(at);
        const places = this.#places.get(rest) ?? [];
        visited(places.length);
        for (const { before, length } of places) {
          const start = index + at - before;
          const name = key.slice(Math.max(0, start), start + length);
          if (this.#keys.has(name) && found(name)) return;
        }
        skipped = PREFIX.exec(rest)?.[0].length ?? 0;
      }
    }
    for (const sign of this.#signs) if (key.includes(sign) && found(sign)) return;
  }
}
