/**
 * The index for finding subjects by words: which subject has a word in which field, and the phrases (names, synonyms, columns) that a
 * question may contain. It is built once for a model and stored in a few flat arrays, because a model may have thousands of concepts. Pure.
 */
import type { Subject, SubjectColumn } from '../service.ts';
import { relatives } from './thesaurus.ts';
import { family, isTypo, root, Stemmer, words } from './words.ts';

/** The fields of a subject that contain words. `tail`: the last word of a name, which is its kind of thing (`model` in `bike_model`). */
export const FIELDS = [
  'name',
  'tail',
  'synonym',
  'measure',
  'column',
  'column synonym',
  'relationship',
  'target',
  'description',
  'condition',
  'column description',
  'link description',
  'tag',
] as const;
export type Field = (typeof FIELDS)[number];
/** The fields whose text is also indexed as a phrase. */
export type PhraseField = 'name' | 'tail' | 'synonym' | 'measure' | 'column' | 'column synonym' | 'relationship';

/** The weight of a word in a field. */
const WEIGHT: Readonly<Record<Exclude<Field, 'tail'>, number>> = {
  name: 6,
  synonym: 5,
  measure: 2.6,
  column: 2.2,
  'column synonym': 1.8,
  relationship: 1.4,
  condition: 1,
  description: 0.9,
  target: 0.8,
  'column description': 0.5,
  'link description': 0.5,
  tag: 0.3,
};
/** The weight of a synonym relative to a name. */
const SYNONYM = 0.85;
/** The weight of a column in concepts that inherit it. It is low, so that children do not outrank the parent that declares it. */
export const INHERITED = 0.35;
/** From this number of words on, each word of a description counts less. */
const SHORT_TEXT = 12;

/** Tags whose values are synonyms of their element. */
const SYNONYM_TAG = /^(?:labels?|synonyms?|alias(?:es)?|also known as|aka|other names?|alternative names?|business names?|display names?)$/;

/** Posting lists by text. The list `i` extends from `starts[i]` to `starts[i + 1]`; it contains subjects by number. */
export interface Postings {
  readonly ids: ReadonlyMap<string, number>;
  readonly starts: Uint32Array;
  readonly subjects: Uint32Array;
  readonly weights: Float32Array;
  /** The field, and the column or relationship (`fieldOf`, `partOf`). */
  readonly codes: Uint32Array;
}

/** The index of a model's subjects. */
export interface RankIndex {
  readonly subjects: readonly Subject[];
  /** By word: each subject once, with the total weight of its fields, and the field with the highest weight. */
  readonly postings: Postings;
  /** By phrase, with words separated by spaces. `weights`: the share of a name's or column's weight; less than 1 for synonyms and inherited ones. */
  readonly phrases: Postings;
  /** The words of each phrase. */
  readonly phraseWords: readonly (readonly string[])[];
  readonly beginning: ReadonlyMap<string, readonly number[]>;
  /** Phrases of several words, by their words written as one. */
  readonly joined: ReadonlyMap<string, readonly number[]>;
  /** The significance of a word: 1 if only one subject has it, near 0 if all have it in their names. */
  readonly rarity: ReadonlyMap<string, number>;
  /** Words by the common part of their verb forms, and by that of derived words. */
  readonly roots: ReadonlyMap<string, readonly string[]>;
  readonly families: ReadonlyMap<string, readonly string[]>;
  /** The numbers of the subjects that each subject's relationships lead to, and of its direct parents. */
  readonly targets: readonly (readonly number[])[];
  readonly parents: readonly (readonly number[])[];
  /** The number of a subject, by kind and name (`subjectKey`). */
  readonly numbers: ReadonlyMap<string, number>;
  /** Whether some words of columns and descriptions are missing, because the model has too many different ones. */
  readonly isPartial: boolean;
  /** Approximate memory use. */
  readonly bytes: number;
}

/** The most different words of a model: an index with more would not fit into the cache of an isolate. From then on, only words of names, synonyms, measures and relationships are added. */
export const MAX_VOCABULARY = 16_000;
/** The most different phrases, for the same reason. From then on, columns are found by their words only. */
export const MAX_PHRASES = 20_000;
const ALWAYS: ReadonlySet<Field> = new Set(['name', 'synonym', 'measure', 'relationship']);

/** A key for a subject. A concept and a view may have the same name. */
export const subjectKey = ({ kind, name }: Pick<Subject, 'kind' | 'name'>): string => `${kind === 'concept' ? 'c' : 'v'}:${name.toLowerCase()}`;

const CODE = 16;
const codeOf = (field: Field, part: number): number => part * CODE + FIELDS.indexOf(field);
export const fieldOf = (code: number): Field => FIELDS[code % CODE] as Field;
/** The number of the column or relationship in a code. */
export const partOf = (code: number): number => Math.floor(code / CODE);

const isSynonymTag = new Map<string, boolean>(['label', 'labels', 'synonym', 'synonyms', 'alias', 'aliases'].map((tag) => [tag, true]));

/** The synonyms in tags. */
export const synonymsOf = (tags: Readonly<Record<string, string>>): readonly string[] =>
  Object.entries(tags)
    .filter(
      ([tag]) =>
        isSynonymTag.get(tag) ??
        SYNONYM_TAG.test(
          words(tag)
            .map((w) => w.text)
            .join(' '),
        ),
    )
    .flatMap(([, value]) => value.split(/[,;|\n]/))
    .map((name) => name.trim())
    .filter((name) => name !== '');

/** Builds the index of a model's subjects. */
export function rankIndex(subjects: readonly Subject[]): RankIndex {
  const builder = new Builder(subjects);
  for (const [number, subject] of subjects.entries()) builder.add(number, subject);
  return builder.done();
}

interface List {
  readonly subjects: number[];
  readonly weights: number[];
  readonly codes: number[];
  /** The weight of the strongest field of the last subject. */
  strongest: number;
  /** The number of subjects with the word; weak fields count in part. */
  frequency: number;
}

class Builder {
  readonly #subjects: readonly Subject[];
  readonly #numbers: ReadonlyMap<string, number>;
  readonly #postings = new Map<string, List>();
  readonly #phrases = new Map<string, List>();
  readonly #joined = new Map<string, Set<string>>();
  readonly #stemmer = new Stemmer();
  #isPartial = false;

  constructor(subjects: readonly Subject[]) {
    this.#subjects = subjects;
    this.#numbers = new Map(subjects.map((s, i) => [subjectKey(s), i]));
  }

  add(number: number, subject: Subject): void {
    this.#named(number, 'name', subject.name, 0, 1);
    for (const name of synonymsOf(subject.tags)) this.#named(number, 'synonym', name, 0, SYNONYM);
    this.#text(number, 'description', subject.description, 0, 1);
    this.#text(number, 'condition', subject.condition, 0, 1);
    for (const [tag, value] of Object.entries(subject.tags)) this.#text(number, 'tag', `${tag} ${value}`, 0, 1);
    for (const [part, column] of subject.columns.entries()) this.#column(number, column, part);
    const inherited = new Set(this.#parentsOf(subject).flatMap((p) => p.relationships.map((r) => r.name)));
    for (const [part, { name, target, description }] of subject.relationships.entries()) {
      const share = inherited.has(name) ? INHERITED : 1;
      this.#named(number, 'relationship', name, part, share);
      this.#words(number, 'target', this.#stems(target), part, share);
      this.#text(number, 'link description', description, part, share);
    }
  }

  #parentsOf({ parents }: Subject): readonly Subject[] {
    return parents.flatMap((name) => this.#subjects[this.#numbers.get(subjectKey({ kind: 'concept', name })) ?? -1] ?? []);
  }

  #column(number: number, { name, isMeasure, tags, description, inheritedFrom }: SubjectColumn, part: number): void {
    const share = inheritedFrom === null ? 1 : INHERITED;
    this.#named(number, isMeasure ? 'measure' : 'column', name, part, share);
    for (const other of synonymsOf(tags)) this.#named(number, 'column synonym', other, part, share);
    this.#text(number, 'column description', description, part, share);
  }

  /** Adds a name: its words, and the whole name as a phrase. */
  #named(number: number, field: Exclude<PhraseField, 'tail'>, name: string, part: number, share: number): void {
    const parts = this.#stems(name);
    if (parts.length === 0) return;
    this.#words(number, field, parts, part, share / Math.sqrt(parts.length));
    const phrase = parts.join(' ');
    if (!this.#hasRoom(field, parts) || (this.#phrases.size >= MAX_PHRASES && !ALWAYS.has(field) && !this.#phrases.has(phrase))) return;
    this.#phrase(number, field, phrase, part, share);
    if (parts.length === 1) return;
    if (field === 'name') this.#phrase(number, 'tail', parts.at(-1) as string, part, share);
    const joined = parts.length > 3 ? null : this.#asOne(name);
    if (joined === null) return;
    const known = this.#joined.get(joined);
    if (known === undefined) this.#joined.set(joined, new Set([parts.join(' ')]));
    else known.add(parts.join(' '));
  }

  /** A name written as one word, so that `orderlines` finds order_lines; null if that is not possible. */
  #asOne(name: string): string | null {
    const [one, ...rest] = this.#stemmer.stems(
      words(name)
        .map((w) => w.text)
        .join(''),
    );
    return one === undefined || rest.length > 0 ? null : one;
  }

  #phrase(number: number, field: PhraseField, text: string, part: number, share: number): void {
    const list = listOf(this.#phrases, text);
    list.subjects.push(number);
    list.weights.push(share);
    list.codes.push(codeOf(field, part));
  }

  #text(number: number, field: Exclude<Field, 'tail'>, text: string | null, part: number, share: number): void {
    if (text === null || text === '') return;
    const all = this.#stems(text);
    this.#words(number, field, all, part, share * Math.min(1, Math.sqrt(SHORT_TEXT / Math.max(1, all.length))));
  }

  #words(number: number, field: Exclude<Field, 'tail'>, all: readonly string[], part: number, share: number): void {
    const weight = WEIGHT[field] * share;
    for (const word of all) {
      if (!this.#hasRoom(field, [word])) continue;
      const list = listOf(this.#postings, word);
      const last = list.subjects.length - 1;
      if (last < 0 || list.subjects[last] !== number) {
        list.subjects.push(number);
        list.weights.push(weight);
        list.codes.push(codeOf(field, part));
        list.strongest = weight;
        list.frequency += shareOf(weight);
        continue;
      }
      // a repeated word adds little to the strongest field
      const sum = list.weights[last] as number;
      list.weights[last] = Math.max(sum, weight) + 0.2 * Math.min(sum, weight);
      if (weight <= list.strongest) continue;
      list.frequency += shareOf(weight) - shareOf(list.strongest);
      list.strongest = weight;
      list.codes[last] = codeOf(field, part);
    }
  }

  /** Whether words may be added to the index: all of them are known, or there is room for more. */
  #hasRoom(field: Field, all: readonly string[]): boolean {
    if (this.#postings.size < MAX_VOCABULARY || ALWAYS.has(field) || all.every((word) => this.#postings.has(word))) return true;
    this.#isPartial = true;
    return false;
  }

  #stems(text: string): readonly string[] {
    return [...new Set(this.#stemmer.stems(text))];
  }

  done(): RankIndex {
    const subjects = this.#subjects;
    const n = subjects.length;
    const most = Math.log(1 + (n + 0.5) / 1.5);
    const rarity = new Map<string, number>();
    for (const [word, list] of this.#postings) rarity.set(word, Math.min(1, Math.log(1 + (n + 0.5) / (Math.max(1, list.frequency) + 0.5)) / most));
    for (const word of this.#joined.keys()) if (!rarity.has(word)) rarity.set(word, 1);
    const postings = packed(this.#postings);
    const phrases = packed(this.#phrases);
    const phraseWords = [...this.#phrases.keys()].map((text) => text.split(' '));
    const numbersOf = (names: readonly string[]): readonly number[] =>
      [...new Set(names)].flatMap((name) => this.#numbers.get(subjectKey({ kind: 'concept', name })) ?? []);
    const targets = subjects.map((s, i) => numbersOf(s.relationships.map((r) => r.target)).filter((t) => t !== i));
    return {
      subjects,
      postings,
      phrases,
      phraseWords,
      beginning: grouped(phraseWords.keys(), (id) => phraseWords[id]?.[0] ?? ''),
      joined: new Map([...this.#joined].map(([text, all]) => [text, [...all].map((phrase) => phrases.ids.get(phrase) as number)])),
      rarity,
      roots: grouped(rarity.keys(), root),
      families: grouped(rarity.keys(), family),
      targets,
      parents: subjects.map((s) => numbersOf(s.parents)),
      numbers: this.#numbers,
      isPartial: this.#isPartial,
      // a word is in three maps in addition to its list, a phrase in two
      bytes: 12 * (postings.subjects.length + phrases.subjects.length) + 500 * rarity.size + 260 * phraseWords.length + 200 * n + 8 * targets.flat().length,
    };
  }
}

/** A subject counts little if it has the word only in a weak field. */
const shareOf = (weight: number): number => Math.min(1, weight / WEIGHT.synonym);

function listOf(lists: Map<string, List>, text: string): List {
  const known = lists.get(text);
  if (known !== undefined) return known;
  const made: List = { subjects: [], weights: [], codes: [], strongest: 0, frequency: 0 };
  lists.set(text, made);
  return made;
}

function packed(lists: ReadonlyMap<string, List>): Postings {
  let all = 0;
  for (const { subjects } of lists.values()) all += subjects.length;
  const starts = new Uint32Array(lists.size + 1);
  const subjects = new Uint32Array(all);
  const weights = new Float32Array(all);
  const codes = new Uint32Array(all);
  const ids = new Map<string, number>();
  let at = 0;
  for (const [text, list] of lists) {
    starts[ids.size] = at;
    ids.set(text, ids.size);
    subjects.set(list.subjects, at);
    weights.set(list.weights, at);
    codes.set(list.codes, at);
    at += list.subjects.length;
  }
  starts[ids.size] = at;
  return { ids, starts, subjects, weights, codes };
}

function grouped<T>(all: Iterable<T>, by: (one: T) => string): ReadonlyMap<string, readonly T[]> {
  const groups = new Map<string, T[]>();
  for (const one of all) {
    const key = by(one);
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [one]);
    else group.push(one);
  }
  return groups;
}

/** A word of the vocabulary that a word of the question may mean, with the confidence; 1 if it is the same word. */
export type Meaning = readonly [word: string, confidence: number];

/** The confidence in a related word; half of it if the model has the word itself. */
const RELATED = 0.4;

/** The possible meanings of a word: itself, another form of the verb, a derived word, or a related word. */
export function meanings(index: RankIndex, word: string): readonly Meaning[] {
  const found = new Map<string, number>();
  const related = index.rarity.has(word) ? RELATED / 2 : RELATED;
  for (const other of relatives(word)) if (index.rarity.has(other)) found.set(other, related);
  for (const other of index.families.get(family(word)) ?? []) found.set(other, 0.5);
  for (const other of index.roots.get(root(word)) ?? []) found.set(other, 0.8);
  if (index.rarity.has(word)) found.set(word, 1);
  return [...found];
}

/** The maximum number of words of the vocabulary to compare with. */
const MAX_COMPARED = 20_000;

/** The words of the vocabulary that an unknown word may be a misspelling of. */
export function mistyped(index: RankIndex, word: string): readonly Meaning[] {
  if (word.length < 5) return [];
  const found: Meaning[] = [];
  let compared = 0;
  for (const other of index.rarity.keys()) {
    if (++compared > MAX_COMPARED) break;
    if (other.length > 3 && isTypo(word, other)) found.push([other, 0.6]);
  }
  return found;
}
