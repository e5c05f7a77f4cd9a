/** Random numbers that are the same on every machine, and the text from which comments are cut. */
import { ADJECTIVES, ADVERBS, AUXILIARIES, NOUNS, PREPOSITIONS, TERMINATORS, VERBS } from './words.ts';

/** A stream of random numbers (sfc32), determined only by its name. */
export class Random {
  #a = 0x9e3779b9;
  #b = 0x243f6a88;
  #c = 0xb7e15162;
  #d = 1;

  constructor(name: string) {
    for (const char of name) {
      this.#a ^= char.codePointAt(0) ?? 0;
      this.#next();
    }
    for (let i = 0; i < 12; i++) this.#next();
  }

  #next(): number {
    const t = (this.#a + this.#b + this.#d) | 0;
    this.#d = (this.#d + 1) | 0;
    this.#a = this.#b ^ (this.#b >>> 9);
    this.#b = (this.#c + (this.#c << 3)) | 0;
    this.#c = ((this.#c << 21) | (this.#c >>> 11)) + t;
    this.#c |= 0;
    return t >>> 0;
  }

  /** A whole number from `low` to `high`, both included. */
  between(low: number, high: number): number {
    return low + (this.#next() % (high - low + 1));
  }

  pick<T>(values: readonly T[]): T {
    return values[this.#next() % values.length] as T;
  }
}

const POOL_LENGTH = 2_000_000;
let pool: string | undefined;

/** Sentences of the standard's grammar (clause 4.2.2.14), once. */
function sentences(): string {
  if (pool !== undefined) return pool;
  const random = new Random('text');
  const noun = (): string => {
    const form = random.between(1, 4);
    if (form === 1) return random.pick(NOUNS);
    if (form === 2) return `${random.pick(ADJECTIVES)} ${random.pick(NOUNS)}`;
    if (form === 3) return `${random.pick(ADJECTIVES)}, ${random.pick(ADJECTIVES)} ${random.pick(NOUNS)}`;
    return `${random.pick(ADVERBS)} ${random.pick(ADJECTIVES)} ${random.pick(NOUNS)}`;
  };
  const verb = (): string => {
    const form = random.between(1, 4);
    if (form === 1) return random.pick(VERBS);
    if (form === 2) return `${random.pick(AUXILIARIES)} ${random.pick(VERBS)}`;
    if (form === 3) return `${random.pick(VERBS)} ${random.pick(ADVERBS)}`;
    return `${random.pick(AUXILIARIES)} ${random.pick(VERBS)} ${random.pick(ADVERBS)}`;
  };
  const preposition = (): string => `${random.pick(PREPOSITIONS)} the ${noun()}`;
  const sentence = (): string => {
    const form = random.between(1, 5);
    const end = random.pick(TERMINATORS);
    if (form === 1) return `${noun()} ${verb()}${end}`;
    if (form === 2) return `${noun()} ${verb()} ${preposition()}${end}`;
    if (form === 3) return `${noun()} ${verb()} ${noun()}${end}`;
    if (form === 4) return `${noun()} ${preposition()} ${verb()} ${noun()}${end}`;
    return `${noun()} ${preposition()} ${verb()} ${preposition()}${end}`;
  };
  const parts: string[] = [];
  for (let length = 0; length < POOL_LENGTH; ) {
    const next = sentence();
    parts.push(next);
    length += next.length + 1;
  }
  pool = parts.join(' ');
  return pool;
}

/** A substring of the text, of `low` to `high` characters. */
export function words(random: Random, low: number, high: number): string {
  const length = random.between(low, high);
  const at = random.between(0, POOL_LENGTH - length - 1);
  return sentences().slice(at, at + length);
}

const ALPHABET = '0123456789abcdefghijklmnopqrstuvwxyz ABCDEFGHIJKLMNOPQRSTUVWXYZ,';

/** A meaningless text of `low` to `high` characters. */
export function letters(random: Random, low: number, high: number): string {
  let text = '';
  for (let n = random.between(low, high); n > 0; n--) text += ALPHABET[random.between(0, ALPHABET.length - 1)];
  return text;
}
