/**
 * Ranks the subjects of an ontology for a question by words only: BM25 over fields (names have the greatest weight, then synonyms, columns,
 * relationships, descriptions), and phrases of the question: names, columns, values. Pure.
 */
import type { Subject } from '../service.ts';
import { type Asked, asked, asksFor, groups, isWeak, type Mention, mentions } from './phrases.ts';
import { type Field, fieldOf, INHERITED, type PhraseField, type Postings, partOf, type RankIndex, rankIndex, subjectKey } from './rank-index.ts';
import {
  APART,
  ASKED_COLUMN,
  ASKED_FOR,
  COLUMN,
  FIRST,
  FROM_CHILD,
  FROM_LACKING_PARENT,
  FROM_PARENT,
  FROM_TARGET,
  GROUPED,
  HALF,
  MAX_REASONS,
  MIN_CONFIDENCE,
  NAME,
  NAMED,
  NEXT_COLUMN,
  NEXT_NAME,
  REASONED,
  TAIL,
  VALUE,
  VIEW,
  WITHIN,
} from './rank-weights.ts';
import { type Match, matches, type Samples } from './values.ts';

export interface Ranked {
  readonly subject: Subject;
  /** 0 to 1, relative to the best one. */
  readonly score: number;
  /** The reasons for its score, strongest first; only for the best subjects. */
  readonly why: readonly string[];
  /** Whether the question contains its name or a synonym as a phrase. */
  readonly named: boolean;
  /** Whether all significant words of the question are words of the subject. */
  readonly explains: boolean;
}

export interface RankOptions {
  /** The index of the whole model, if it is cached; otherwise it is built from `subjects`. */
  readonly index?: RankIndex | undefined;
  /** Values of subjects, by `subjectKey`. */
  readonly samples?: ReadonlyMap<string, Samples> | undefined;
}

/** Ranks all subjects for a question, best first, including those with a score of 0. */
export function rank(question: string, subjects: readonly Subject[], { index = rankIndex(subjects), samples }: RankOptions = {}): readonly Ranked[] {
  return new Ranking(index, asked(index, question), samples).ranked(subjects);
}

interface Chosen {
  readonly subject: Subject;
  readonly number: number;
}

interface Reason {
  readonly amount: number;
  readonly why: string;
}

/** A mention, with the amount that a subject gets for it. */
interface Scored {
  readonly mention: Mention;
  readonly amount: number;
}

class Ranking {
  readonly #index: RankIndex;
  readonly #question: readonly Asked[];
  readonly #samples: ReadonlyMap<string, Samples>;
  readonly #scores: Float64Array;
  /** Positions of the question as bits (`#bits`): those that a subject explains, and those that name its own columns or occur in its condition. */
  readonly #explained: Uint32Array;
  readonly #columns: Uint32Array;
  readonly #named: Uint8Array;
  readonly #bits: readonly number[];
  #names: readonly Scored[] = [];
  #others: readonly Scored[] = [];
  readonly #matches = new Map<number, Reason[]>();

  constructor(index: RankIndex, question: readonly Asked[], samples: ReadonlyMap<string, Samples> = new Map()) {
    this.#index = index;
    this.#question = question;
    this.#samples = samples;
    const n = index.subjects.length;
    this.#scores = new Float64Array(n);
    this.#explained = new Uint32Array(n);
    this.#columns = new Uint32Array(n);
    this.#named = new Uint8Array(n);
    let next = 0;
    // all words after the 31st share a bit, which nothing explains
    this.#bits = question.map((w) => (w.stop && w.meanings.length === 0 ? 0 : 1 << Math.min(31, next++)));
  }

  ranked(subjects: readonly Subject[]): readonly Ranked[] {
    const chosen: Chosen[] = subjects.flatMap((subject) => {
      const number = this.#index.numbers.get(subjectKey(subject));
      return number === undefined ? [] : [{ subject, number }];
    });
    this.#words();
    const spans = this.#phrases();
    this.#values(chosen, spans);
    this.#neighbours();
    const score = ({ subject, number }: Chosen): number =>
      (this.#scores[number] as number) * (subject.kind === 'concept' || this.#named[number] === 1 ? 1 : VIEW);
    const order = chosen.sort(
      (a, b) =>
        score(b) - score(a) ||
        Number(a.subject.kind !== 'concept') - Number(b.subject.kind !== 'concept') ||
        b.subject.relationships.length - a.subject.relationships.length ||
        a.number - b.number,
    );
    const best = order[0] === undefined ? 0 : score(order[0]);
    const significant = this.#significant();
    return order.map((c, place) => ({
      subject: c.subject,
      score: best === 0 ? 0 : Math.round((1000 * score(c)) / best) / 1000,
      why: place < REASONED ? this.#why(c) : [],
      named: this.#named[c.number] === 1,
      explains: significant !== 0 && ((this.#explained[c.number] as number) & significant) >>> 0 === significant,
    }));
  }

  #add(subject: number, amount: number): void {
    this.#scores[subject] = (this.#scores[subject] as number) + amount;
  }

  #mark(of: Uint32Array, subject: number, bits: number): void {
    of[subject] = ((of[subject] as number) | bits) >>> 0;
  }

  #bitsOf({ from, to }: { readonly from: number; readonly to: number }): number {
    let bits = 0;
    for (let i = from; i < to; i++) bits |= this.#bits[i] as number;
    return bits >>> 0;
  }

  /** The significant words, as bits. */
  #significant(): number {
    return this.#question.reduce((bits, w, i) => (w.stop || w.weight < 1 || isWeak(w) ? bits : (bits | (this.#bits[i] as number)) >>> 0), 0);
  }

  /** Scores each word once per subject, by its best meaning. */
  #words(): void {
    const best = new Float64Array(this.#scores.length);
    const { subjects, weights, codes } = this.#index.postings;
    for (const [bits, word] of this.#distinct()) {
      const touched: number[] = [];
      for (const { weight, from, to } of this.#postingsOf(word)) {
        for (let i = from; i < to; i++) {
          const subject = subjects[i] as number;
          const amount = amountOf(weight, weights[i] as number);
          if (best[subject] === 0) touched.push(subject);
          if (amount > (best[subject] as number)) best[subject] = amount;
          // a logic concept has its condition in addition to what its parent has
          if (word.weight === 1 && fieldOf(codes[i] as number) === 'condition') this.#mark(this.#columns, subject, bits);
        }
      }
      for (const subject of touched) {
        this.#add(subject, best[subject] as number);
        best[subject] = 0;
        if (!word.stop) this.#mark(this.#explained, subject, bits);
      }
    }
  }

  /** Distinct words, with all their positions. */
  #distinct(): readonly (readonly [bits: number, word: Asked])[] {
    const found = new Map<string, [number, Asked]>();
    for (const [i, word] of this.#question.entries()) {
      if (word.weight === 0) continue;
      const known = found.get(word.stem);
      if (known === undefined) found.set(word.stem, [this.#bits[i] as number, word]);
      else known[0] = (known[0] | (this.#bits[i] as number)) >>> 0;
    }
    return [...found.values()];
  }

  /** The posting lists of a word's meanings. */
  #postingsOf(word: Asked): readonly { readonly weight: number; readonly from: number; readonly to: number }[] {
    const { postings, rarity } = this.#index;
    return word.meanings.flatMap(([meaning, confidence]) => {
      const id = postings.ids.get(meaning);
      if (id === undefined) return [];
      return [{ weight: (rarity.get(meaning) ?? 0) * confidence * word.weight, from: postings.starts[id] as number, to: postings.starts[id + 1] as number }];
    });
  }

  /** Scores names and columns as phrases. Returns for each word of the question the length of the longest name that it is part of. */
  #phrases(): readonly number[] {
    const found = mentions(this.#index, this.#question);
    const fields = new Map(found.map((m) => [m.phrase, this.#fieldsOf(m.phrase)]));
    const isA = (m: Mention, ...wanted: readonly PhraseField[]): boolean => wanted.some((f) => fields.get(m.phrase)?.has(f));
    const isName = (m: Mention): boolean => isA(m, 'name', 'synonym');
    const spans = this.#question.map(() => 0);
    const taken = this.#question.map(() => false);
    for (const m of found) {
      if (!m.whole) continue;
      // a column hides a name only if its words are adjacent: `bikes of each kind` still names the bikes
      if (isName(m) || (isA(m, 'column', 'measure') && m.to - m.from === m.length))
        for (let i = m.from; i < m.to; i++) spans[i] = Math.max(spans[i] as number, m.to - m.from);
      if (isName(m) && m.confidence >= MIN_CONFIDENCE) taken.fill(true, m.from, m.to);
    }
    const inside = (m: Mention): boolean => (spans[m.from] as number) > m.to - m.from && (spans[m.to - 1] as number) > m.to - m.from;
    const isTail = (m: Mention): boolean => m.whole && m.confidence >= MIN_CONFIDENCE && isA(m, 'tail') && !taken[m.from];
    const plainly = found.filter((m) => m.whole && (isName(m) || isTail(m)) && !inside(m) && m.confidence >= MIN_CONFIDENCE && !this.#isWeak(m));
    const asking = plainly.filter((m) => asksFor(this.#question, m.from));
    const heads = new Set(asking.length > 0 ? asking : plainly.filter((m) => !groups(this.#question, m.from)));
    const head = least(heads);
    const bonus = (m: Mention): number => (heads.has(m) && m.from === head ? (asking.length > 0 ? ASKED_FOR : FIRST) * m.confidence : 0);
    this.#names = sorted(
      found.filter((m) => isName(m) || isTail(m)).map((mention) => ({ mention, amount: this.#nameAmount(mention, inside(mention)) + bonus(mention) })),
    );
    this.#take(
      this.#names,
      NEXT_NAME,
      (field, m) => (field === 'tail' ? (isTail(m) ? TAIL : 0) : field === 'name' || field === 'synonym' ? 1 : 0),
      (subject, m, field) => {
        if (!m.whole) return;
        this.#mark(this.#explained, subject, this.#bitsOf(m));
        if (field !== 'tail' && m.confidence >= NAMED && !inside(m)) this.#named[subject] = 1;
      },
    );
    const others = found.filter((m) => m.whole && isA(m, 'measure', 'column', 'column synonym', 'relationship'));
    const before = asking.length > 0 ? head : Number.POSITIVE_INFINITY;
    const first = least(others.filter((m) => m.from < before && isA(m, 'measure', 'column', 'column synonym') && asksFor(this.#question, m.from)));
    this.#others = sorted(others.map((mention) => ({ mention, amount: this.#rarity(mention.phrase) * mention.confidence })));
    const worth = (field: PhraseField, m: Mention): number =>
      (COLUMN[field] ?? 0) * (1 + 0.8 * (m.length - 1)) + (m.from === first ? (ASKED_COLUMN[field] ?? 0) : 0);
    this.#take(this.#others, NEXT_COLUMN, worth, (subject, m, field, share) => {
      const bits = this.#bitsOf(m);
      this.#mark(this.#explained, subject, bits);
      if (field !== 'relationship' && share > INHERITED) this.#mark(this.#columns, subject, bits);
    });
    return spans;
  }

  #fieldsOf(phrase: number): ReadonlySet<Field> {
    const { starts, codes } = this.#index.phrases;
    const found = new Set<Field>();
    for (let i = starts[phrase] as number; i < (starts[phrase + 1] as number); i++) found.add(fieldOf(codes[i] as number));
    return found;
  }

  /** Adds the amounts of mentions to subjects, highest first. Each word of the question counts once; further occurrences count in part. */
  #take(
    all: readonly Scored[],
    next: number,
    worth: (field: PhraseField, m: Mention) => number,
    taken: (subject: number, m: Mention, field: PhraseField, share: number) => void,
  ): void {
    const { starts, subjects, weights, codes } = this.#index.phrases;
    const counted = new Uint32Array(this.#scores.length);
    const factor = new Float64Array(this.#scores.length).fill(1);
    for (const { mention, amount } of all) {
      const bits = this.#bitsOf(mention);
      for (let i = starts[mention.phrase] as number; i < (starts[mention.phrase + 1] as number); i++) {
        const subject = subjects[i] as number;
        if (((counted[subject] as number) & bits) !== 0) continue;
        const field = fieldOf(codes[i] as number) as PhraseField;
        const share = weights[i] as number;
        const sum = amount * worth(field, mention) * share;
        if (sum === 0) continue;
        this.#mark(counted, subject, bits);
        this.#add(subject, sum * (factor[subject] as number));
        factor[subject] = (factor[subject] as number) * next;
        taken(subject, mention, field, share);
      }
    }
  }

  #isWeak({ from, to }: Mention): boolean {
    return this.#question.slice(from, to).every((w) => w.weight < 1);
  }

  #rarity(phrase: number): number {
    const parts = this.#index.phraseWords[phrase] as readonly string[];
    return parts.reduce((sum, w) => sum + (this.#index.rarity.get(w) ?? 1), 0) / parts.length;
  }

  #nameAmount(m: Mention, inside: boolean): number {
    const factor = (this.#isWeak(m) ? 0.5 : 1) * (groups(this.#question, m.from) ? GROUPED : 1) * (inside && m.whole ? WITHIN : 1) * (m.whole ? 1 : APART);
    return NAME * (0.6 + 0.4 * this.#rarity(m.phrase)) * (1 + 0.2 * (m.length - 1)) * m.confidence * factor;
  }

  /** Scores subjects for values that the question names. The amount is lower if several subjects have the value. */
  #values(chosen: readonly Chosen[], spans: readonly number[]): void {
    const found: { readonly of: Chosen; readonly match: Match }[] = [];
    for (const of of chosen) {
      const samples = this.#samples.get(subjectKey(of.subject));
      if (samples === undefined) continue;
      const taken = new Set<number>();
      for (const match of matches(this.#question, samples)) {
        // the longest value at a position, which `matches` returns first
        if (taken.has(match.from) || taken.has(match.to - 1)) continue;
        for (let i = match.from; i < match.to; i++) taken.add(i);
        found.push({ of, match });
      }
    }
    const frequency = new Map<number, number>();
    for (const { match } of found) frequency.set(match.from, (frequency.get(match.from) ?? 0) + 1);
    for (const { of, match } of found) {
      const { from, to, column, value } = match;
      const length = to - from;
      const isName = Math.max(...spans.slice(from, to)) >= length;
      const isLabel = of.subject.columns.some((c) => c.isLabel && c.name === column);
      const spread = Math.max(0.4, 1 / (1 + 0.2 * ((frequency.get(from) as number) - 1)));
      const amount = VALUE * (isLabel ? 1.2 : 1) * (1 + 0.15 * (length - 1)) * spread * (isName ? 0.3 : 1);
      this.#add(of.number, amount);
      this.#mark(this.#explained, of.number, this.#bitsOf(match));
      this.#matches.set(of.number, [...(this.#matches.get(of.number) ?? []), { amount, why: `value ${quoted(value)} of ${column}` }]);
    }
  }

  /** Adds a part of the scores of related subjects. */
  #neighbours(): void {
    const { targets, parents } = this.#index;
    const own = this.#scores.slice();
    const of = (n: number): number => own[n] as number;
    for (let i = 0; i < own.length; i++) {
      let near = 0;
      for (const target of targets[i] as readonly number[]) near = Math.max(near, of(target));
      let above = 0;
      for (const parent of parents[i] as readonly number[]) {
        above = Math.max(above, of(parent) * (this.#lacks(parent, i) ? FROM_LACKING_PARENT : FROM_PARENT));
        this.#add(parent, FROM_CHILD * of(i));
      }
      this.#add(i, FROM_TARGET * near + above);
    }
  }

  #lacks(parent: number, child: number): boolean {
    return ((this.#columns[child] as number) & ~(this.#explained[parent] as number)) !== 0;
  }

  #why({ subject, number }: Chosen): readonly string[] {
    const reasons: Reason[] = [...(this.#matches.get(number) ?? [])];
    const say = (bearers: Postings, at: number, amount: number, word: string): void => {
      const code = bearers.codes[at] as number;
      reasons.push({ amount, why: reason(subject, fieldOf(code), partOf(code), word) });
    };
    const { postings, phrases } = this.#index;
    for (const [, word] of this.#distinct()) {
      for (const { weight, from, to } of this.#postingsOf(word)) {
        const at = find(postings.subjects, from, to, number);
        if (at !== undefined) say(postings, at, amountOf(weight, postings.weights[at] as number), word.raw);
      }
    }
    for (const { mention, amount } of [...this.#names, ...this.#others]) {
      const at = find(phrases.subjects, phrases.starts[mention.phrase] as number, phrases.starts[mention.phrase + 1] as number, number);
      if (at === undefined) continue;
      const text = this.#question.slice(mention.from, mention.to).map((w) => w.raw);
      say(phrases, at, amount * (phrases.weights[at] as number), text.join(' '));
    }
    const shown = reasons.filter((r) => r.amount > 0.02).sort((a, b) => b.amount - a.amount);
    return [...new Set(shown.map((r) => r.why))].slice(0, MAX_REASONS);
  }
}

const amountOf = (wordWeight: number, fieldWeight: number): number => (wordWeight * fieldWeight) / (HALF + fieldWeight);
const least = (all: Iterable<Mention>): number => [...all].reduce((min, m) => Math.min(min, m.from), Number.POSITIVE_INFINITY);
const sorted = (all: readonly Scored[]): readonly Scored[] => [...all].sort((a, b) => b.amount - a.amount);

/** The position of a number in a sorted part of an array. */
function find(all: Uint32Array, from: number, to: number, wanted: number): number | undefined {
  let low = from;
  let high = to;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((all[middle] as number) < wanted) low = middle + 1;
    else high = middle;
  }
  return low < to && all[low] === wanted ? low : undefined;
}

const quoted = (text: string): string => `"${text}"`;

/** `name "cities"`, `column population "inhabitants"`, `description "towns"`. */
function reason({ columns, relationships }: Subject, field: Field, part: number, word: string): string {
  if (field === 'tail') return `name ${quoted(word)}`;
  if (field === 'relationship' || field === 'target' || field === 'link description') return `relationship ${relationships[part]?.name ?? ''} ${quoted(word)}`;
  if (field === 'measure' || field.startsWith('column')) return `${field === 'measure' ? field : 'column'} ${columns[part]?.name ?? ''} ${quoted(word)}`;
  return `${field} ${quoted(word)}`;
}
