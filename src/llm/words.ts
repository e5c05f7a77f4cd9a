/**
 * Words of questions, names, descriptions and values, in a form in which they can be compared: without case and accents, names
 * split where their writing splits them, English plurals as singulars. Scripts that are written without spaces are cut into pairs of
 * characters. Pure, and linear in the text, of which only the beginning is read.
 */

/** A question is read up to here; what is longer is no question but a document. */
export const MAX_CHARACTERS = 4_000;
export const MAX_WORDS = 400;

export interface Word {
  /** As written, but for accents of decomposed letters. */
  readonly raw: string;
  /** In lower case, without accents. */
  readonly text: string;
  /** `text` as a singular, where it is an English plural. */
  readonly stem: string;
  /** A word of the grammar (`the`, `which`), which names nothing by itself. */
  readonly stop: boolean;
  /** Whether something that ends a phrase stands before it: a comma, a bracket, the end of a sentence. */
  readonly apart: boolean;
}

const STOP = new Set(
  `a about above after all also am an and any are as at be because been before being below between both but by can could did do does doing down during each
either else ever every few for from further had has have having he her here hers him his how i if in into is it its itself just let lets me more most much
many may might mine must my no nor not now of off on once only onto or other our ours out over own per please same shall she should since so some such than
that the their theirs them then there these they this those through till to too under until up upon us very via was we were what whats when where whether
which while who whom whose why will with within without would yet you your yours`.split(/\s+/),
);

/** Plurals and past forms that no rule makes. */
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

/** In lower case, without accents on letters of alphabets; compatible forms of a character are one. */
export function plain(text: string): string {
  if (ASCII.test(text)) return text.toLowerCase();
  return text
    .normalize('NFKD')
    .toLowerCase()
    .replace(/[\u0300-\u036f]/g, '')
    .normalize('NFC')
    .replace(/[ßæœøđðłþħıŋſ]/g, (letter) => LETTERS[letter] ?? letter);
}

const WORD = /[\p{L}\p{M}\p{N}]+/gu;
/** Scripts that set no space between words, and Korean, whose particles stick to them. */
const PAIRED = /\p{Script=Han}|\p{Script=Hiragana}|\p{Script=Katakana}|\p{Script=Hangul}|\p{Script=Thai}|\p{Script=Lao}|\p{Script=Khmer}|\p{Script=Myanmar}/u;
const PAIRED_RUN = new RegExp(`(?:${PAIRED.source}|\\p{M}|ー)+`, 'gu');

/** Nothing to split. */
const PLAIN = /^[a-z _-]*$/;

/** camelCase, HTTPServer and part2 with a space where a new word begins (`km2` stays one word, since a short word and a digit are a unit). */
const splitNames = (text: string): string =>
  PLAIN.test(text)
    ? text
    : text
        .replace(/(\p{Ll}|\p{N})(?=\p{Lu})/gu, '$1 ')
        .replace(/(\p{Lu})(?=\p{Lu}\p{Ll})/gu, '$1 ')
        .replace(/(\p{Ll}{4})(?=\p{N})/gu, '$1 ');

/** `'s` and the like, which are no words. */
const ENDING = /(\p{L})['\u2019\u02bc](?:s|t|d|m|ll|re|ve)(?![\p{L}\p{N}])/giu;
/** What stands between the words of a phrase. */
const APART = /[^\s_\-.'\u2019/&+#]|[.]\s/;

/** The words of a text in their order, stop words included; at most `MAX_WORDS`. */
export function words(text: string): readonly Word[] {
  const read = splitNames(text.slice(0, MAX_CHARACTERS).normalize('NFC')).replace(ENDING, '$1');
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

/** A word that holds a script without spaces: its runs as pairs of characters, what is between them as words. */
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

/** The stems of a name or description, without stop words unless it has no others. */
export function stems(text: string): readonly string[] {
  const all = words(text);
  const telling = all.filter((w) => !w.stop);
  return (telling.length === 0 ? all : telling).map((w) => w.stem);
}

/** The same as a set: what two texts have in common. */
export const wordsOf = (text: string): ReadonlySet<string> => new Set(stems(text));

const VOWEL = /[aeiouy]/;

/** The singular of an English word in lower case; others stay as they are. */
export function stem(text: string): string {
  if (text.length < 3 || !/^[a-z]+$/.test(text)) return text;
  const known = IRREGULAR.get(text);
  if (known !== undefined) return endless(known);
  if (text.endsWith('s') && text.length > 3) {
    if (/(ss|us|is)$/.test(text)) return text;
    if (text.endsWith('ies')) return endless(text.length > 4 ? `${text.slice(0, -3)}y` : text.slice(0, -1));
    if (/(?:[sxz]|ch|sh|o)es$/.test(text)) return endless(text.slice(0, -2));
    return endless(text.slice(0, -1));
  }
  return endless(text);
}

/** The same end for what plural rules cannot tell apart: `house` and `hous(es)`, `movie` and `movi(es)`. */
const endless = (text: string): string => (text.length > 2 ? text.replace(/(?:ie|y|e)$/, (end) => (end === 'e' ? '' : 'i')) : text);

/** What verb forms of a stem have in common (`order` of `ordered`, `ship` of `shipping`); the stem itself where it is none. */
export function root(stemmed: string): string {
  if (stemmed.length < 4 || !/^[a-z]+$/.test(stemmed)) return stemmed;
  const cut = /(?<!e)ed$|ing$/.exec(stemmed);
  if (cut === null) return stemmed;
  const left = stemmed.slice(0, cut.index);
  if (left.length < 2 || !VOWEL.test(left)) return stemmed;
  return endless(/([bdfgklmnprt])\1$/.test(left) && !/(?:ll|ss)$/.test(left) ? left.slice(0, -1) : left);
}

/** Ends that make other words of one, longest first; `at` and `e` are what is left of -ate and -ee. */
const SUFFIX =
  /^(?:ational|ation|ition|ement|ment|ness|able|ible|iveness|ance|ence|ancy|ency|ity|iti|ian|ier|ion|ive|iv|ant|ent|ist|al|an|at|ee|er|or|ic|e|i)$/;

/** What words made of one another have in common (`popul` of population and populated); four letters at least but before -ment. */
export function family(stemmed: string): string {
  let base = root(stemmed);
  if (!/^[a-z]{4,30}$/.test(base)) return base;
  for (;;) {
    const cut = [...Array(Math.max(0, base.length - 3)).keys()].map((n) => n + 3).find((from) => isSuffix(base, from));
    if (cut === undefined) return base;
    base = endless(base.slice(0, cut));
  }
}

const isSuffix = (base: string, from: number): boolean => {
  const end = base.slice(from);
  return from === 3 ? end === 'ment' : SUFFIX.test(end);
};

/** Whether two different stems are near enough to be one word mistyped: one character too many, too few, other or swapped. Linear. */
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
