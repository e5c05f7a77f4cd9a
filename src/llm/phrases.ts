/** Names, synonyms, columns and values that stand in a question as a whole, and which of the names is what is asked for. Pure. */
import { type Meaning, meanings, mistyped, type RankIndex } from './rank-index.ts';
import { stem, type Word, words } from './words.ts';

/** Words of asking and computing, which name something now and then (a concept `show`, a column `number`). */
const WEAK = new Set(
  `show list give find get tell name display return fetch provide compute calculate count number total sum average mean median minimum maximum many top bottom highest
lowest largest smallest biggest greatest best worst first last overall percent percentage share ratio rank sort order group different distinct various there`
    .split(/\s+/)
    .filter((w) => w !== 'order')
    .map(stem),
);

/** Question words, and words by which such things are called. */
const CUES: Readonly<Record<string, readonly string[]>> = {
  who: ['person', 'people', 'human', 'employee', 'customer', 'user', 'member', 'staff', 'client', 'contact'],
  whom: ['person', 'people', 'human', 'employee', 'customer', 'user', 'member', 'staff', 'client', 'contact'],
  where: ['place', 'location', 'address', 'city', 'country', 'region', 'site'],
  when: ['date', 'time', 'year', 'month', 'day'],
};
const CUED = 0.3;

/** Longer questions are documents, whose mistyped words do not matter. */
const MOST_MISTYPED = 12;

/** A word of the question with what it may mean. */
export interface Asked extends Word {
  readonly meanings: readonly Meaning[];
  /** How much it says: less for words of computing, for numbers, and for what only hints. */
  readonly force: number;
}

/** The question's words with what they may mean in this index. */
export function asked(index: RankIndex, question: string): readonly Asked[] {
  let fixes = 0;
  const known = new Map<string, readonly Meaning[]>();
  return words(question).map((word) => {
    if (word.stop) {
      const cue = CUES[word.text];
      if (cue !== undefined) return { ...word, meanings: cue.flatMap((w) => (index.rarity.has(stem(w)) ? [[stem(w), CUED] as const] : [])), force: 1 };
      // a name may consist of such a word
      return { ...word, meanings: index.phrases.ids.has(word.stem) ? [[word.stem, 1]] : [], force: 0 };
    }
    let found = known.get(word.stem);
    if (found === undefined) {
      const weak = WEAK.has(word.stem);
      found = weak ? meanings(index, word.stem).filter(([w]) => w === word.stem) : meanings(index, word.stem);
      if (found.length === 0 && !weak && fixes++ < MOST_MISTYPED) found = mistyped(index, word.stem);
      known.set(word.stem, found);
    }
    return { ...word, meanings: found, force: WEAK.has(word.stem) ? 0.5 : /^\d+$/.test(word.text) ? 0.4 : 1 };
  });
}

/** A phrase of the index that the question contains. */
export interface Mention {
  /** Its number in the index. */
  readonly phrase: number;
  readonly length: number;
  /** Numbers of the question's words, `to` excluded. */
  readonly from: number;
  readonly to: number;
  /** How sure its words are; 1: as written. */
  readonly sure: number;
  /** Whether its words stand together. */
  readonly whole: boolean;
}

/** The phrases of the index in the question, each where it stands first, and where it is first asked for; those whose words stand apart too. */
export function mentions(index: RankIndex, question: readonly Asked[]): readonly Mention[] {
  const found: Mention[] = [];
  const met = new Map<number, { readonly sure: number; readonly whole: boolean; readonly asks: boolean }>();
  const all = new Map<string, number>();
  for (const word of question) for (const [w, sure] of word.meanings) all.set(w, Math.max(sure, all.get(w) ?? 0));
  const add = (mention: Mention): void => {
    const known = met.get(mention.phrase);
    const asks = asksFor(question, mention.from);
    if (known !== undefined && known.sure >= mention.sure && known.whole >= mention.whole && known.asks >= asks) return;
    met.set(mention.phrase, { sure: mention.sure, whole: mention.whole, asks });
    found.push(mention);
  };
  for (const [from, word] of question.entries()) {
    if (word.stop && CUES[word.text] !== undefined) continue;
    for (const [meaning, sure] of word.meanings) {
      for (const phrase of index.beginning.get(meaning) ?? []) {
        const parts = index.phraseWords[phrase] as readonly string[];
        const end = whole(question, from, parts, sure);
        const { length } = parts;
        if (end !== undefined) add({ phrase, length, from, to: end.to, sure: end.sure, whole: true });
        else if (length > 1 && parts.every((w) => all.has(w))) add({ phrase, length, from, to: from + 1, sure: sure * 0.8, whole: false });
      }
      // a name of several words that is written as one
      for (const phrase of index.joined.get(meaning) ?? []) add({ phrase, length: 1, from, to: from + 1, sure: sure * 0.9, whole: true });
    }
    // two words that a name writes as one
    const next = question[from + 1];
    if (next === undefined || next.apart || word.stop || next.stop) continue;
    const one = index.phrases.ids.get(stem(word.text + next.text));
    if (one !== undefined) add({ phrase: one, length: 1, from, to: from + 2, sure: 0.9, whole: true });
  }
  return found;
}

/** Where the phrase ends that begins at `from`; stop words between its words do not matter. */
function whole(question: readonly Asked[], from: number, phrase: readonly string[], first: number): { to: number; sure: number } | undefined {
  let at = from + 1;
  let sure = first;
  for (let i = 1; i < phrase.length; i++) {
    const wanted = phrase[i] as string;
    let word = question[at];
    for (let skipped = 0; word?.stop && word.stem !== wanted && skipped < 2; skipped++) word = question[++at];
    if (word === undefined || word.apart) return undefined;
    const meant = word.meanings.find(([w]) => w === wanted);
    if (meant === undefined) return undefined;
    sure = Math.min(sure, meant[1]);
    at++;
  }
  return { to: at, sure };
}

const ARTICLES = new Set('the a an all any our their my its his her your some'.split(' '));
/** What stands before what is asked for. */
const ASKING = new Set('which what many much list show give find get display count'.split(' '));
/** What stands before something that only limits or groups. */
const LIMITING = new Set(
  `in from for with without by per each every to at on within than among between under over into whose via through across during near against about where that
whose who has have having had and or not`.split(/\s+/),
);
const COPULA = new Set('is are was were'.split(' '));
/** `number of orders`: orders are asked for; `price of orders`: less so. */
const COUNTING = new Set(
  'number count list name names sum total amount average mean share percentage percent kinds types most all any many each overview details ids'.split(' '),
);

/**
 * Whether what begins at this word is what the question asks for, as far as the word before it says: behind `which`, `how many`,
 * `list of`, `for each` at the beginning; not behind `in`, `per`, `with`.
 */
export function asksFor(question: readonly Asked[], from: number): boolean {
  for (let at = from - 1; at >= 0; at--) {
    const { text, apart } = question[at] as Asked;
    if (ASKING.has(text)) return true;
    if (text === 'of') {
      const before = question[at - 1]?.text;
      return before === undefined || COUNTING.has(before);
    }
    // what is told of each of them begins with them
    if ((text === 'each' || text === 'every') && at <= 1 && (at === 0 || question[0]?.text === 'for')) return true;
    if (COPULA.has(text)) return at === 0 || ASKING.has((question[at - 1] as Asked).text);
    if (LIMITING.has(text)) return false;
    if (apart) return true;
    // articles and what describes the name: `the largest old towns`
    if (!ARTICLES.has(text) && from - at > 3) return false;
  }
  return true;
}

const GROUPING = new Set('by per each every'.split(' '));

/** Whether what begins at this word only says by what the answer is grouped (`per region`, `of each product`). */
export function groups(question: readonly Asked[], from: number): boolean {
  let at = from - 1;
  while (at >= 0 && ARTICLES.has((question[at] as Asked).text)) at--;
  return at >= 0 && GROUPING.has((question[at] as Asked).text) && !asksFor(question, from);
}

/** Whether a word is one of asking or computing. */
export const isWeak = (word: Word): boolean => WEAK.has(word.stem);
