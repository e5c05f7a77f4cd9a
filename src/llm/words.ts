/**
 * Splits questions, names, descriptions and values into words that can be compared: without case and accents, compound names
 * split, English plurals as singulars. Text in scripts without spaces is split into pairs of
 * characters. Pure, and linear in the text, of which only the start is read.
 */
import { normalized } from '../normalize.ts';

/** The length up to which a question is read. */
export const MAX_CHARACTERS = 4_000;
export const MAX_WORDS = 400;

export interface Word {
  /** The word as written, except that accents are composed with their letters. */
  readonly raw: string;
  /** The word in lower case, without accents. */
  readonly text: string;
  /** The singular of `text` if it is an English plural, otherwise `text`. */
  readonly stem: string;
  /** Whether it is a function word (`the`, `which`), which names nothing on its own. */
  readonly stop: boolean;
  /** Whether it is preceded by something that ends a phrase: a comma, a bracket, the end of a sentence. */
  readonly apart: boolean;
}

const STOP = new Set(
  `a about above after all also am an and any are as at be because been before being below between both but by can could did do does doing down during each
either else ever every few for from further had has have having he her here hers him his how i if in into is it its itself just let lets me more most much
many may might mine must my no nor not now of off on once only onto or other our ours out over own per please same shall she should since so some such than
that the their theirs them then there these they this those through till to too under until up upon us very via was we were what whats when where whether
which while who whom whose why will with within without would yet you your yours`.split(/\s+/),
);

/** Irregular plurals and past forms. */
const IRREGULAR: ReadonlyMap<string, string> = new Map(
  Object.entries({
    people: 'person',
    men: 'man',
    women: 'woman',
    children: 'child',
    feet: 'foot',
    mice: 'mouse',
    criteria: 'criterion',
    indices: 'index',
    matrices: 'matrix',
    vertices: 'vertex',
    analyses: 'analysis',
    diagnoses: 'diagnosis',
    bases: 'base',
    crises: 'crisis',
    wives: 'wife',
    lives: 'live',
    halves: 'half',
    leaves: 'leave',
    spoken: 'speak',
    spoke: 'speak',
    sold: 'sell',
    bought: 'buy',
    paid: 'pay',
    made: 'make',
    written: 'write',
    wrote: 'write',
    given: 'give',
    gave: 'give',
    taken: 'take',
    took: 'take',
    held: 'hold',
    built: 'build',
    sent: 'send',
    spent: 'spend',
    driven: 'drive',
    drove: 'drive',
    flown: 'fly',
    flew: 'fly',
    won: 'win',
    taught: 'teach',
    got: 'get',
    ran: 'run',
    met: 'meet',
    chosen: 'choose',
    chose: 'choose',
    hidden: 'hide',
    worn: 'wear',
    bred: 'breed',
    fed: 'feed',
    kept: 'keep',
    lent: 'lend',
    lost: 'lose',
    died: 'die',
  }),
);

const LETTERS: Readonly<Record<string, string>> = { ß: 'ss', æ: 'ae', œ: 'oe', ø: 'o', đ: 'd', ð: 'd', ł: 'l', þ: 'th', ħ: 'h', ı: 'i', ŋ: 'n', ſ: 's' };
const ASCII = /^[\x20-\x7e]*$/;

/** Lower case, without accents on letters of alphabets, and with compatibility characters normalised. */
export function plain(text: string): string {
  if (ASCII.test(text)) return text.toLowerCase();
  const letters = normalized(text, 'NFKD')
    .toLowerCase()
    .replace(/[\u0300-\u036f]/g, '');
  return normalized(letters, 'NFC').replace(/[ßæœøđðłþħıŋſ]/g, (letter) => LETTERS[letter] ?? letter);
}

const WORD = /[\p{L}\p{M}\p{N}]+/gu;
/** Scripts without spaces between words, and Korean, whose particles are attached to words. */
const PAIRED = /\p{Script=Han}|\p{Script=Hiragana}|\p{Script=Katakana}|\p{Script=Hangul}|\p{Script=Thai}|\p{Script=Lao}|\p{Script=Khmer}|\p{Script=Myanmar}/u;
const PAIRED_RUN = new RegExp(`(?:${PAIRED.source}|\\p{M}|ー)+`, 'gu');

/** Texts without anything to split. */
const PLAIN = /^[a-z _-]*$/;

/** Inserts a space where a new word starts in camelCase, HTTPServer and part2. `km2` stays one word: a short word with a digit is a unit. */
const splitNames = (text: string): string =>
  PLAIN.test(text)
    ? text
    : text
        .replace(/(\p{Ll}|\p{N})(?=\p{Lu})/gu, '$1 ')
        .replace(/(\p{Lu})(?=\p{Lu}\p{Ll})/gu, '$1 ')
        .replace(/(\p{Ll}{4})(?=\p{N})/gu, '$1 ');

/** `'s` and similar endings, which are not words. */
const ENDING = /(\p{L})['\u2019\u02bc](?:s|t|d|m|ll|re|ve)(?![\p{L}\p{N}])/giu;
/** What may not occur between the words of a phrase. */
const APART = /[^\s_\-.'\u2019/&+#]|[.]\s/;

/** The words of a text in order, including stop words; at most `MAX_WORDS`. */
export function words(text: string): readonly Word[] {
  const read = splitNames(normalized(text.slice(0, MAX_CHARACTERS), 'NFC')).replace(ENDING, '$1');
  const found: Word[] = [];
  let end = 0;
  for (const match of read.matchAll(WORD)) {
    if (found.length >= MAX_WORDS) break;
    const raw = match[0];
    const between = read.slice(end, match.index);
    const apart = between !== ' ' && APART.test(between);
    end = match.index + raw.length;
    if (PAIRED.test(raw)) found.push(...pieces(raw, apart));
    else found.push(word(raw, apart));
  }
  return found.length > MAX_WORDS ? found.slice(0, MAX_WORDS) : found;
}

function word(raw: string, apart: boolean): Word {
  const text = plain(raw);
  return { raw, text, stem: stem(text), stop: STOP.has(text), apart };
}

/** The parts of a word with a script without spaces: pairs of characters for its runs in that script, words for the rest. */
function pieces(raw: string, apart: boolean): Word[] {
  const found: Word[] = [];
  let end = 0;
  const between = (to: number): void => {
    if (to > end) found.push(word(raw.slice(end, to), apart && found.length === 0));
  };
  for (const run of raw.matchAll(PAIRED_RUN)) {
    between(run.index);
    end = run.index + run[0].length;
    const letters = [...plain(run[0])];
    for (let i = 0; i < Math.max(1, letters.length - 1); i++) {
      const text = letters.slice(i, i + 2).join('');
      found.push({ raw: text, text, stem: text, stop: false, apart: apart && found.length === 0 });
    }
  }
  between(raw.length);
  return found;
}

/** The stems of a name or description, without stop words unless it has only stop words. */
export function stems(text: string): readonly string[] {
  const all = words(text);
  const telling = all.filter((w) => !w.stop);
  return (telling.length === 0 ? all : telling).map((w) => w.stem);
}

/** The most characters of a text that a `Stemmer` splits by itself: it has fewer than `MAX_WORDS` words. */
const SHORT = 250;
/** Letters, digits and signs that cannot be a part of a word. */
const SIMPLE = /^[\x20-\x26\x28-\x7e]*$/;
/** The most words that a `Stemmer` remembers. */
const MAX_REMEMBERED = 20_000;

/** `stems` for many texts with the same words, such as the names of a model. */
export class Stemmer {
  readonly #known = new Map<string, readonly Word[]>();

  /** The same as `stems`. */
  stems(text: string): readonly string[] {
    if (text.length > SHORT || !SIMPLE.test(text)) return stems(text);
    const telling: string[] = [];
    const all: string[] = [];
    for (const run of text.split(/[^A-Za-z0-9]+/)) {
      if (run === '') continue;
      for (const { stem, stop } of this.#wordsOf(run)) {
        all.push(stem);
        if (!stop) telling.push(stem);
      }
    }
    return telling.length === 0 ? all : telling;
  }

  #wordsOf(run: string): readonly Word[] {
    const known = this.#known.get(run);
    if (known !== undefined) return known;
    const made = words(run);
    if (this.#known.size < MAX_REMEMBERED) this.#known.set(run, made);
    return made;
  }
}

const VOWEL = /[aeiouy]/;

/** The singular of an English word in lower case. Other words stay unchanged. */
export function stem(text: string): string {
  if (text.length < 3 || !/^[a-z]+$/.test(text)) return text;
  const known = IRREGULAR.get(text);
  if (known !== undefined) return withoutEnding(known);
  if (text.endsWith('s') && text.length > 3) {
    if (/(ss|us|is)$/.test(text)) return text;
    if (text.endsWith('ies')) return withoutEnding(text.length > 4 ? `${text.slice(0, -3)}y` : text.slice(0, -1));
    if (/(?:[sxz]|ch|sh|o)es$/.test(text)) return withoutEnding(text.slice(0, -2));
    return withoutEnding(text.slice(0, -1));
  }
  return withoutEnding(text);
}

/** Gives forms that plural rules cannot distinguish the same ending: `house` and `hous(es)`, `movie` and `movi(es)`. */
const withoutEnding = (text: string): string => (text.length > 2 ? text.replace(/(?:ie|y|e)$/, (end) => (end === 'e' ? '' : 'i')) : text);

/** The common part of the verb forms of a stem (`order` for `ordered`, `ship` for `shipping`), otherwise the stem itself. */
export function root(stemmed: string): string {
  if (stemmed.length < 4 || !/^[a-z]+$/.test(stemmed)) return stemmed;
  const cut = /(?<!e)ed$|ing$/.exec(stemmed);
  if (cut === null) return stemmed;
  const left = stemmed.slice(0, cut.index);
  if (left.length < 2 || !VOWEL.test(left)) return stemmed;
  return withoutEnding(/([bdfgklmnprt])\1$/.test(left) && !/(?:ll|ss)$/.test(left) ? left.slice(0, -1) : left);
}

/** Suffixes that derive words, longest first. `at` and `e` remain of -ate and -ee. */
const SUFFIX =
  /^(?:ational|ation|ition|ement|ment|ness|able|ible|iveness|ance|ence|ancy|ency|ity|iti|ian|ier|ion|ive|iv|ant|ent|ist|al|an|at|ee|er|or|ic|e|i)$/;

/** The common part of derived words (`popul` for population and populated), at least four letters except before -ment. */
export function family(stemmed: string): string {
  let base = root(stemmed);
  if (!/^[a-z]{4,30}$/.test(base)) return base;
  for (;;) {
    const cut = [...Array(Math.max(0, base.length - 3)).keys()].map((n) => n + 3).find((from) => isSuffix(base, from));
    if (cut === undefined) return base;
    base = withoutEnding(base.slice(0, cut));
  }
}

const isSuffix = (base: string, from: number): boolean => {
  const end = base.slice(from);
  return from === 3 ? end === 'ment' : SUFFIX.test(end);
};

/** Whether two different stems differ by one typing error: one character added, missing, replaced or swapped. Linear. */
export function isTypo(a: string, b: string): boolean {
  if (Math.abs(a.length - b.length) > 1 || a === b) return false;
  let start = 0;
  while (start < a.length && start < b.length && a[start] === b[start]) start++;
  let end = 0;
  while (end < a.length - start && end < b.length - start && a[a.length - 1 - end] === b[b.length - 1 - end]) end++;
  const inA = a.length - start - end;
  const inB = b.length - start - end;
  if (Math.max(inA, inB) <= 1) return true;
  return inA === 2 && inB === 2 && a[start] === b[start + 1] && a[start + 1] === b[start];
}
