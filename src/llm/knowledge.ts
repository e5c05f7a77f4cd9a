/**
 * What a model gets to know about the graph to write SQL for a question: the part of the graph that the question is about, values, and their spelling. The part grows if
 * the model says that something is missing.
 */
import { cacheOf } from '../cache.ts';
import type { QuestionModel, ServiceRequest, Subject, SubjectColumn } from '../service.ts';
import { relationsOf } from './comparisons.ts';
import { line } from './fence.ts';
import { indexOf } from './identify.ts';
import { lookedUp } from './lookup.ts';
import { type Ranked, rank } from './rank.ts';
import { subjectKey } from './rank-index.ts';
import { type ModelMap, mapOf } from './schema/map.ts';
import { type SchemaText, schemaOf } from './schema/schema.ts';
import { nameText } from './schema/text.ts';
import { Spelling } from './spelling.ts';
import { type Linked, linkedValues } from './value-links.ts';
import { type Samples, samplesWithin } from './values.ts';
import { stems, words } from './words.ts';

export interface KnowledgeParts {
  readonly request: ServiceRequest;
  readonly model: QuestionModel;
  /** The relations that a statement may read: those of the model within the scope of the question. */
  readonly subjects: readonly Subject[];
  readonly question: string;
  /** The setting PRODUCT_NAME, which schema names contain. */
  readonly product: string;
  /** The maximum number of relationships in a path; undefined for no limit. */
  readonly depth: number | undefined;
  /** The subjects, ranked for the question. */
  readonly ranked: readonly Ranked[];
  /** Subjects that the question is about for other reasons: the chosen concept, what similar examples read. */
  readonly about: readonly Pick<Subject, 'kind' | 'name'>[];
}

/** The most characters of a prompt for SQL, about 5,000 tokens. */
export const MAX_PROMPT = 20_000;
/** The characters of the first prompt: of a model that is written whole, of one that is not, and how many more there are each time that something is missing. */
const FIRST_PROMPT = 12_000;
const FIRST_OF_PART = 18_500;
const WIDER = 3_000;
/** A question or a note may be long: a text of the graph always has this room. */
const LEAST = 4_000;
const MAX_SAMPLED = 24;
const WAIT_MS = 3_000;
const MAX_SEEDS = 10;
/** A subject is a seed if it has at least this share of the best score, or if the question names it. */
const SEED_SCORE = 0.3;
/** The question may be about a subject with this share too, and about at most so many. */
const MAYBE_SCORE = 0.15;
const MAX_MAYBE = 30;
/** What a model says is missing has at least this share of the best score. */
const MISSING_SCORE = 0.4;
const MAX_MISSING = 6;
const MAX_LINKED = 12;
/** Characters reserved for the hints that follow the schema. */
const HINTS = 900;

const maps = cacheOf<ModelMap>('question-maps');

/** The map of the whole model, cached for callers who see the same part of it. */
export function mapOfModel({ shape, subjects }: Pick<QuestionModel, 'shape' | 'subjects'>): ModelMap {
  const known = maps.get(shape);
  if (known !== undefined) return known;
  const made = mapOf(subjects);
  maps.set(shape, made, made.bytes);
  return made;
}

export class Knowledge {
  readonly #parts: KnowledgeParts;
  readonly #map: ModelMap;
  readonly #isIn: (n: number) => boolean;
  readonly #isRelation: (n: number) => boolean;
  readonly #scores: ReadonlyMap<number, number>;
  readonly #seeds: readonly number[];
  readonly #maybe: readonly number[];
  readonly #samples = new Map<string, Samples>();
  readonly #spelling: Spelling;
  /** What the model said is missing. */
  readonly #missing: number[] = [];
  #room = MAX_PROMPT;
  #widened = 0;
  #schema: SchemaText | undefined;
  #linked: readonly Linked[] = [];
  /** Values that were found in the datasource; a wider context keeps them. */
  #searched: readonly Linked[] = [];

  private constructor(parts: KnowledgeParts) {
    this.#parts = parts;
    const { model, ranked, subjects, depth } = parts;
    this.#map = mapOfModel(model);
    const relations = new Set(subjects.flatMap((s) => this.#map.numberOf(s) ?? []));
    this.#isRelation = (n) => relations.has(n);
    this.#isIn = reachable(this.#map, relations, depth);
    this.#scores = new Map(ranked.flatMap(({ subject, score }) => [[this.#map.numberOf(subject) ?? -1, score] as const]));
    this.#seeds = this.#seedsOf();
    const maybe = ranked.filter((r) => r.score >= MAYBE_SCORE).slice(0, MAX_MAYBE);
    this.#maybe = maybe.flatMap((r) => this.#map.numberOf(r.subject) ?? []);
    this.#spelling = new Spelling(parts, this.#samples);
  }

  /** Samples values of the part, as the caller. Never fails: without samples, the text has no values. */
  static async of(parts: KnowledgeParts): Promise<Knowledge> {
    const made = new Knowledge(parts);
    await made.#sample();
    return made;
  }

  /** As `of`, without values: `request` is not used. Never reads a datasource, and widens by `widenByNames` only. */
  static byNames(parts: KnowledgeParts): Knowledge {
    return new Knowledge(parts);
  }

  /** The subjects in the text, most interesting first. */
  get part(): readonly Subject[] {
    return this.#text().part.flatMap((n) => this.#map.subjects[n] ?? []);
  }

  /** Whether the text has everything that the question may be about. */
  get isWhole(): boolean {
    return this.#text().isWhole;
  }

  /** The text for a prompt whose other texts leave `room` characters of the prompt's maximum. */
  text(room: number): string {
    this.#use(room);
    return [this.#text().text, ...this.#hints()].join('\n');
  }

  /** Adds what a model says is missing, and the ways to it. Returns false if there is nothing more to show. */
  async widen(missing: string): Promise<boolean> {
    const before = new Set(this.#text().part);
    const found = this.widenByNames(missing);
    if (found === undefined) return false;
    await this.#sample();
    return found > 0 || this.#text().part.some((n) => !before.has(n));
  }

  /** As `widen`, without values. Returns how much was found; undefined if nothing may be added. */
  widenByNames(missing: string): number | undefined {
    if (this.isWhole) return undefined;
    const found = this.#find(missing);
    // more of the surroundings may help once
    if (found.length === 0 && this.#widened > 0) return undefined;
    this.#missing.push(...found);
    this.#widened++;
    this.#schema = undefined;
    return found.length;
  }

  /** Lists known values that are similar to the literals of a statement. */
  emptyHint(sql: string): string {
    return this.#spelling.emptyHint(sql);
  }

  /** Reasons to doubt a valid statement; empty if there are none. */
  async doubt(sql: string): Promise<string> {
    return this.#spelling.doubt(sql, relationsOf(sql, this.#parts.product));
  }

  #use(room: number): void {
    const used = Math.max(LEAST, room);
    if (used === this.#room) return;
    this.#room = used;
    this.#schema = undefined;
  }

  #text(): SchemaText {
    const { depth, question } = this.#parts;
    const asked = new Set(stems(question));
    const hard = Math.max(0, this.#room - HINTS);
    const first = (characters: number): number => Math.min(hard, characters + this.#widened * WIDER - (MAX_PROMPT - hard));
    this.#schema ??= schemaOf({
      map: this.#map,
      seeds: this.#seeds,
      needed: this.#missing.length === 0 ? [] : [...this.#seeds.slice(0, 1), ...this.#missing],
      maybe: this.#maybe,
      score: (n) => this.#scores.get(n) ?? 0,
      isIn: this.#isIn,
      isRelation: this.#isRelation,
      hard,
      soft: first(FIRST_PROMPT),
      softOfPart: first(FIRST_OF_PART),
      distance: depth,
      prefers: (c) => mentions(asked, c),
      values: (subject, column) => this.#samples.get(subjectKey(subject))?.columns.find((c) => c.name === column),
      listsOthers: true,
    });
    return this.#schema;
  }

  #seedsOf(): readonly number[] {
    const { ranked, about } = this.#parts;
    const words = ranked.filter((r) => r.score > 0 && (r.named || r.score >= SEED_SCORE)).map((r) => r.subject);
    const [best = [], ...rest] = [words.slice(0, 1), about, words.slice(1)];
    const numbers = [...[...best, ...rest.flat()].flatMap((s) => this.#map.numberOf(s) ?? []), ...this.#unindexed(this.#parts.question)].filter(this.#isIn);
    return [...new Set(numbers)].slice(0, MAX_SEEDS);
  }

  /** The subjects that a text names or describes, without the seeds in the text: a wider text may have left out a seed. */
  #find(missing: string): readonly number[] {
    const { model } = this.#parts;
    const shown = new Set(this.#text().part);
    const known = new Set([...this.#missing, ...this.#seeds.filter((n) => shown.has(n))]);
    const found = rank(missing, model.subjects, { index: indexOf(model) }).filter((r) => r.score > 0 && (r.named || r.score >= MISSING_SCORE));
    const numbers = [...found.flatMap((r) => this.#map.numberOf(r.subject) ?? []), ...this.#unindexed(missing)].filter((n) => this.#isIn(n) && !known.has(n));
    return [...new Set(numbers)].slice(0, MAX_MISSING);
  }

  /** Subjects with a column that a text names and that the index of a very large model lacks. */
  #unindexed(text: string): readonly number[] {
    const { isPartial, rarity } = indexOf(this.#parts.model);
    if (!isPartial) return [];
    const wanted = words(text).filter((w) => !w.stop && w.text.length > 3 && !rarity.has(w.stem));
    if (wanted.length === 0) return [];
    const has = (s: Subject): boolean => s.columns.some((c) => wanted.some((w) => c.name.toLowerCase().includes(w.text)));
    return this.#map.subjects.flatMap((s, n) => (has(s) ? [n] : [])).slice(0, MAX_MISSING);
  }

  /** Samples the values of subjects of the text that were not sampled yet. */
  async #sample(): Promise<void> {
    const { request, model, question } = this.#parts;
    const subjects = this.#text().part.flatMap((n) => this.#map.subjects[n] ?? []);
    const wanted = subjects.filter((s) => s.kind !== 'cube' && !this.#samples.has(subjectKey(s))).slice(0, MAX_SAMPLED);
    for (const [key, samples] of await samplesWithin(request, model, wanted, WAIT_MS)) this.#samples.set(key, samples);
    this.#spelling.changed();
    const sampled = subjects.flatMap((s) => [this.#samples.get(subjectKey(s))].flatMap((samples) => (samples === undefined ? [] : [{ subject: s, samples }])));
    const known = linkedValues(question, sampled, indexOf(model));
    if (this.#widened === 0) this.#searched = await lookedUp(request, model, question, sampled);
    this.#linked = [...known, ...this.#searched];
    this.#schema = undefined;
  }

  #hints(): readonly string[] {
    const { depth, product } = this.#parts;
    const [best] = this.#seeds.map((n) => this.#map.subjects[n]);
    const values = new Set(
      this.#linked.map(({ subject, column, value }) => `${nameText(subject.name)}.\`${column}\` = '${line(value, 60).replaceAll("'", "''")}'`),
    );
    return [
      ...(best === undefined
        ? []
        : [`By its words, the question is mostly about ${nameText(best.name)} (FROM ${best.kind === 'concept' ? 'd' : 'v'}${product}.\`${best.name}\`).`]),
      ...(depth === undefined ? [] : [`A path has at most ${depth} relationships.`]),
      ...(values.size === 0 ? [] : [`Words of the question that are values: ${[...values].slice(0, MAX_LINKED).join('; ')}`]),
    ];
  }
}

/** How well the words of a question match a column. */
const mentions = (asked: ReadonlySet<string>, { name, description }: SubjectColumn): number =>
  3 * stems(name).filter((w) => asked.has(w)).length + stems(description ?? '').filter((w) => asked.has(w)).length;

/** What may be in a text: the relations of the scope, and the concepts that their paths lead to. */
function reachable(map: ModelMap, relations: ReadonlySet<number>, depth: number | undefined): (n: number) => boolean {
  if (relations.size === map.subjects.length) return () => true;
  const seen = new Set(relations);
  let ends: readonly number[] = [...relations];
  for (let step = 0; ends.length > 0 && step < (depth ?? Number.POSITIVE_INFINITY); step++) {
    const next = new Set<number>();
    for (const end of ends) for (const n of map.leadsTo(end)) if (!seen.has(n)) next.add(n);
    for (const n of next) seen.add(n);
    ends = [...next];
  }
  return (n) => seen.has(n);
}
