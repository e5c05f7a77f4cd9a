/** Finds names, synonyms, columns and values that a question contains as phrases, and which of the names is asked for. Pure. */
import { type Meaning, meanings, mistyped, type RankIndex } from './rank-index.ts';
import { stem, type Word, words } from './words.ts';

/** Words of asking and computing, which rarely name something (a concept `show`, a column `number`). */
const WEAK = new Set(
  `show list give find get tell name display return fetch provide compute calculate count number total sum average mean median minimum maximum many top bottom highest
lowest largest smallest biggest greatest best worst first last overall percent percentage share ratio rank sort order group different distinct various there`
    .split(/\s+/)
    .filter((w) => w !== 'order')
    .map(stem),
);

/** Question words, and words that typically name what they ask for. */
const CUES: Readonly<Record<string, readonly string[]>> = {
  who: ['person', 'people', 'human', 'employee', 'customer', 'user', 'member', 'staff', 'client', 'contact'],
  whom: ['person', 'people', 'human', 'employee', 'customer', 'user', 'member', 'staff', 'client', 'contact'],
  where: ['place', 'location', 'address', 'city', 'country', 'region', 'site'],
  when: ['date', 'time', 'year', 'month', 'day'],
};
const CUED = 0.3;

/** In longer questions, misspelled words are not looked up. */
const MAX_MISTYPED = 12;

/** A word of the question, with its possible meanings. */
export interface Asked extends Word {
  readonly meanings: readonly Meaning[];
  /** Its weight: lower for words of computing, for numbers, and for words that only hint at something. */
  readonly weight: number;
}

/** The question's words, with their possible meanings in an index. */
export function asked(index: RankIndex, question: string): readonly Asked[] {
  let fixes = 0;
  const known = new Map<string, readonly Meaning[]>();
  return words(question).map((word) => {
    if (word.stop) {
      const cue = CUES[word.text];
      if (cue !== undefined) return { ...word, meanings: cue.flatMap((w) => (index.rarity.has(stem(w)) ? [[stem(w), CUED] as const] : [])), weight: 1 };
      // a name may consist of such a word
      return { ...word, meanings: index.phrases.ids.has(word.stem) ? [[word.stem, 1]] : [], weight: 0 };
    }
    let found = known.get(word.stem);
    if (found === undefined) {
      const weak = WEAK.has(word.stem);
      found = weak ? meanings(index, word.stem).filter(([w]) => w === word.stem) : meanings(index, word.stem);
      if (found.length === 0 && !weak && fixes++ < MAX_MISTYPED) found = mistyped(index, word.stem);
      known.set(word.stem, found);
    }
    return { ...word, meanings: found, weight: WEAK.has(word.stem) ? 0.5 : /^\d+$/.test(word.text) ? 0.4 : 1 };
  });
}

/** A phrase of the index that the question contains. */
export interface Mention {
  /** The phrase's number in the index. */
  readonly phrase: number;
  readonly length: number;
  /** Positions of the question's words, excluding `to`. */
  readonly from: number;
  readonly to: number;
  /** Confidence in its words; 1 if they are spelled the same. */
  readonly confidence: number;
  /** Whether its words are adjacent. */
  readonly whole: boolean;
}

/** The phrases of the index in the question, each at its first occurrence and at the first one that is asked for; also those whose words are not adjacent. */
export function mentions(index: RankIndex, question: readonly Asked[]): readonly Mention[] {
  const found: Mention[] = [];
  const seen = new Map<number, { readonly confidence: number; readonly whole: boolean; readonly asks: boolean }>();
  const all = new Map<string, number>();
  for (const word of question) for (const [w, confidence] of word.meanings) all.set(w, Math.max(confidence, all.get(w) ?? 0));
  const add = (mention: Mention): void => {
    const known = seen.get(mention.phrase);
    const asks = asksFor(question, mention.from);
    if (known !== undefined && known.confidence >= mention.confidence && known.whole >= mention.whole && known.asks >= asks) return;
    seen.set(mention.phrase, { confidence: mention.confidence, whole: mention.whole, asks });
    found.push(mention);
  };
  for (const [from, word] of question.entries()) {
    if (word.stop && CUES[word.text] !== undefined) continue;
    for (const [meaning, confidence] of word.meanings) {
      for (const phrase of index.beginning.get(meaning) ?? []) {
        const parts = index.phraseWords[phrase] as readonly string[];
        const end = whole(question, from, parts, confidence);
        const { length } = parts;
        if (end !== undefined) add({ phrase, length, from, to: end.to, confidence: end.confidence, whole: true });
        else if (length > 1 && parts.every((w) => all.has(w))) add({ phrase, length, from, to: from + 1, confidence: confidence * 0.8, whole: false });
      }
      // a name of several words, written as one word
      for (const phrase of index.joined.get(meaning) ?? []) add({ phrase, length: 1, from, to: from + 1, confidence: confidence * 0.9, whole: true });
    }
    // two words that a name writes as one
    const next = question[from + 1];
    if (next === undefined || next.apart || word.stop || next.stop) continue;
    const one = index.phrases.ids.get(stem(word.text + next.text));
    if (one !== undefined) add({ phrase: one, length: 1, from, to: from + 2, confidence: 0.9, whole: true });
  }
  return found;
}

/** The end of the phrase that starts at `from`. Stop words between its words are skipped. */
function whole(question: readonly Asked[], from: number, phrase: readonly string[], first: number): { to: number; confidence: number } | undefined {
  let at = from + 1;
  let confidence = first;
  for (let i = 1; i < phrase.length; i++) {
    const wanted = phrase[i] as string;
    let word = question[at];
    for (let skipped = 0; word?.stop && word.stem !== wanted && skipped < 2; skipped++) word = question[++at];
    if (word === undefined || word.apart) return undefined;
    const meant = word.meanings.find(([w]) => w === wanted);
    if (meant === undefined) return undefined;
    confidence = Math.min(confidence, meant[1]);
    at++;
  }
  return { to: at, confidence };
}

const ARTICLES = new Set('the a an all any our their my its his her your some'.split(' '));
/** Words before what is asked for. */
const ASKING = new Set('which what many much list show give find get display count'.split(' '));
/** Words before something that only limits or groups. */
const LIMITING = new Set(
  `in from for with without by per each every to at on within than among between under over into whose via through across during near against about where that
whose who has have having had and or not`.split(/\s+/),
);
const COPULA = new Set('is are was were'.split(' '));
/** Words like `number`: in `number of orders`, orders are asked for; in `price of orders`, less so. */
const COUNTING = new Set(
  'number count list name names sum total amount average mean share percentage percent kinds types most all any many each overview details ids'.split(' '),
);

/**
 * Whether the phrase that starts at this word is what the question asks for, judging by the word before it. It is after `which`,
 * `how many`, `list of`, or `for each` at the start, and not after `in`, `per`, `with`.
 */
export function asksFor(question: readonly Asked[], from: number): boolean {
  for (let at = from - 1; at >= 0; at--) {
    const { text, apart } = question[at] as Asked;
    if (ASKING.has(text)) return true;
    if (text === 'of') {
      const before = question[at - 1]?.text;
      return before === undefined || COUNTING.has(before);
    }
    // at the start of a question, `each` introduces what the answer is about
    if ((text === 'each' || text === 'every') && at <= 1 && (at === 0 || question[0]?.text === 'for')) return true;
    if (COPULA.has(text)) return at === 0 || ASKING.has((question[at - 1] as Asked).text);
    if (LIMITING.has(text)) return false;
    if (apart) return true;
    // skips articles and adjectives: `the largest old towns`
    if (!ARTICLES.has(text) && from - at > 3) return false;
  }
  return true;
}

const GROUPING = new Set('by per each every'.split(' '));

/** Whether the phrase that starts at this word only says how the answer is grouped (`per region`, `of each product`). */
export function groups(question: readonly Asked[], from: number): boolean {
  let at = from - 1;
  while (at >= 0 && ARTICLES.has((question[at] as Asked).text)) at--;
  return at >= 0 && GROUPING.has((question[at] as Asked).text) && !asksFor(question, from);
}

/** Whether a word is a word of asking or computing. */
export const isWeak = (word: Word): boolean => WEAK.has(word.stem);
