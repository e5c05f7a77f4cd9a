/**
 * The schema text of a model, or of a part of it, within a number of characters: each concept once with its columns, each relationship once with both directions, and
 * how paths are written. Prompts for SQL and the section `model` of describe_knowledge_graph use the same text. Pure.
 */
import type { Subject, SubjectColumn } from '../../service.ts';
import { cut, line } from '../fence.ts';
import { around, connecting, type Edge, type ModelMap, withAncestors } from './map.ts';
import { pathLines } from './paths.ts';
import { columnLines, edgeLine, isPlain, type Level, nameText, shortEdgeLines, shortSizeOf, subjectLines, type ValuesOf } from './text.ts';

export interface SchemaWish {
  readonly map: ModelMap;
  /** The numbers of subjects that the text is about, best first. Empty: all are equally interesting. */
  readonly seeds: readonly number[];
  /** Seeds that must be in the text: they and what connects them come before the other seeds. */
  readonly needed?: readonly number[];
  /** Subjects that the text may be about too, best first. Those that a short way connects with the seeds come before the surroundings. */
  readonly maybe?: readonly number[];
  /** Prefers subjects next to the seeds: higher is better. */
  readonly score: (n: number) => number;
  /** What may be in the text. */
  readonly isIn: (n: number) => boolean;
  /** Which subjects a statement may read in FROM; the others are only reached by paths. */
  readonly isRelation: (n: number) => boolean;
  /** The most characters. */
  readonly hard: number;
  /** The characters to use for what is not close to the seeds. A model that fits `hard` is written whole even if it is longer. */
  readonly soft: number;
  /** The same for a model that does not fit `hard`; undefined: `soft`. */
  readonly softOfPart?: number;
  /** The maximum number of relationships from a seed; undefined: the characters decide. */
  readonly distance?: number | undefined;
  /** The words of the question: columns with these come first if not all fit. */
  readonly prefers: (column: SubjectColumn) => number;
  readonly values?: ValuesOf | undefined;
  /** Whether names of further concepts follow. */
  readonly listsOthers: boolean;
}

export interface SchemaText {
  readonly text: string;
  /** The subjects in the text, most interesting first. */
  readonly part: readonly number[];
  /** Whether these are all that may be in it, each with the names of all its columns. */
  readonly isWhole: boolean;
}

/** The part of the room for paths, and for the names of what does not fit. */
const PATHS = 1_300;
const OTHERS = 1_200;
/** The share of `soft` for the seeds and what connects them, if something else follows. */
const CORE = 0.5;
/** The share of the room that names leave for the descriptions of the seeds and of what connects them, in a model that is written whole. */
const DETAILS = 0.6;
/** How much longer than `soft` a model with all types may be to have only as many of them as fit `soft`. */
const LONG = 1.25;
/** The most relationships between the seeds and one of `maybe` that comes before the surroundings. */
const MAYBE = 3;
/** How many subjects that do not fit are left out before the part ends: smaller ones after them may fit. */
const MAX_SKIPPED = 20;

/** Writes the text. */
export function schemaOf(wish: SchemaWish): SchemaText {
  const writer = new Writer(wish);
  const all = order(wish);
  const isWhole = writer.fill(all);
  if (!isWhole) writer.part(all);
  return { text: writer.text(all.map((n) => n.number)), part: writer.written, isWhole };
}

interface Placed {
  readonly number: number;
  readonly distance: number;
}

/** All subjects that may be in the text: seeds, what connects them and their ancestors (distance 0), those of `maybe`, then the surroundings by distance, then the rest. */
function order({ map, seeds, needed = [], maybe = [], isIn, score, distance }: SchemaWish): readonly Placed[] {
  const first = connecting(map, needed.filter(isIn), isIn, score);
  const connected = connecting(map, [...first, ...seeds.filter(isIn)], isIn, score);
  const core = withAncestors(map, [...new Set([...first, ...connected])], isIn);
  const ring = around(map, core, isIn, score, distance);
  const near = new Map(ring.map((p) => [p.number, p]));
  const also = connecting(map, [...core, ...maybe.filter((n) => (near.get(n)?.distance ?? Number.POSITIVE_INFINITY) <= MAYBE)], isIn, score);
  const further = core.length === 0 ? [] : withAncestors(map, also, isIn).flatMap((n) => near.get(n) ?? []);
  const placed = [...new Set([...core.map((number) => ({ number, distance: 0 })), ...further, ...ring])];
  const known = new Set(placed.map((p) => p.number));
  // without seeds, all have the same distance
  const rest = [...map.subjects.keys()].filter((n) => isIn(n) && !known.has(n)).sort((a, b) => score(b) - score(a) || a - b);
  return [...placed, ...rest.map((number) => ({ number, distance: core.length === 0 ? 1 : Number.POSITIVE_INFINITY }))];
}

class Writer {
  readonly #wish: SchemaWish;
  readonly #levels = new Map<number, Level>();
  /** Columns of a subject that has too many of them. */
  readonly #some = new Map<number, readonly string[]>();
  readonly #texts = new Map<number, (readonly string[])[]>();
  #size = 0;

  constructor(wish: SchemaWish) {
    this.#wish = wish;
    this.#size = PATHS;
  }

  get written(): readonly number[] {
    return [...this.#levels.keys()];
  }

  /**
   * Writes all subjects if their names fit, and then adds details: first the descriptions of what the text is about, which say more than the types of everything else.
   * Returns false if the names do not fit.
   */
  fill(all: readonly Placed[]): boolean {
    const { hard, soft } = this.#wish;
    for (const { number: n } of all) {
      if (this.#size + this.#costOf(n, 0) > hard) {
        this.#levels.clear();
        this.#size = PATHS;
        return false;
      }
      this.#add(n, 0);
    }
    const named = this.#size;
    for (const { number } of all) this.#upgrade(number, 1, hard);
    // a model whose types take much more room than `soft` has them all the same
    const most = this.#size > LONG * soft ? hard : soft;
    for (const { number } of all) this.#levels.set(number, 0);
    this.#size = named;
    const core = all.filter((p) => p.distance === 0);
    for (const { number } of core) this.#upgrade(number, 2, named + DETAILS * Math.max(0, soft - named));
    for (const { number } of all) this.#upgrade(number, 1, most);
    for (const { number } of all) this.#upgrade(number, 2, soft);
    return true;
  }

  /** Writes the seeds with what connects them, and then the names of as much of the surroundings as fits; details follow where there is room. */
  part(all: readonly Placed[]): void {
    const { hard, listsOthers } = this.#wish;
    const soft = this.#wish.softOfPart ?? this.#wish.soft;
    const room = listsOthers ? OTHERS : 0;
    const core = all.filter((p) => p.distance === 0).map((p) => p.number);
    for (const n of core) if (this.#size + this.#costOf(n, 0) <= hard - room) this.#add(n, 0);
    for (const level of [1, 2] as const) for (const n of core) this.#upgrade(n, level, soft * CORE - room);
    this.#surround(all, soft - room);
    if (this.#levels.size === 0) for (const { number } of all.slice(0, 1)) this.#addSome(number, hard - room);
    // the text is shorter than it was estimated, but its paths may still become longer
    this.#size = this.#body(all.map((p) => p.number)).length;
    const most = Math.min(soft, hard - PATHS) - room;
    this.#surround(all, most);
    for (const n of core) this.#upgrade(n, 2, most);
    for (const { number, distance } of all) if (distance < 2) this.#upgrade(number, 1, most);
  }

  /** Adds the names of what fits. */
  #surround(all: readonly Placed[], most: number): void {
    let skipped = 0;
    for (const { number } of all) {
      if (this.#levels.has(number)) continue;
      if (this.#size + this.#costOf(number, 0) <= most) this.#add(number, 0);
      else if (++skipped > MAX_SKIPPED) break;
    }
  }

  text(all: readonly number[]): string {
    const { map, listsOthers, hard } = this.#wish;
    const text = this.#body(all);
    const others = listsOthers ? all.filter((n) => !this.#levels.has(n)) : [];
    if (others.length === 0) return text;
    const names = cut(others.map((n) => nameText(line(map.subjects[n]?.name ?? '', 128))).join(', '), Math.max(0, Math.min(OTHERS, hard - text.length) - 60));
    return names === '' ? text : `${text}\nFurther concepts and views, not shown here: ${names}`;
  }

  /** What is written, without the names of the others. */
  #body(all: readonly number[]): string {
    const { map, isRelation, score } = this.#wish;
    const isWritten = (n: number): boolean => this.#levels.has(n);
    const written = all.filter(isWritten);
    const concepts = written.filter((n) => map.subjects[n]?.kind === 'concept');
    const lines = (numbers: readonly number[]): readonly string[] => numbers.flatMap((n) => this.#some.get(n) ?? this.#lines(n, this.#levels.get(n) ?? 0));
    const block = (title: string, made: readonly string[]): readonly string[] => (made.length === 0 ? [] : [title, ...made]);
    const edges = [...new Set(concepts.flatMap((n) => map.edgesAt[n] ?? []))]
      .map((i) => map.edges[i] as Edge)
      .filter((e) => isWritten(e.from) && isWritten(e.to));
    const parts = [
      ...block('Concepts, each with its own columns (a < b: a is a b, and has its columns and relationships too):', lines(concepts.filter(isRelation))),
      ...block('Concepts that are not for FROM, only at the end of paths:', lines(concepts.filter((n) => !isRelation(n)))),
      ...block(
        'Relationships (from -> to: name[to]; back: name[from]; one or many rows):',
        edges.filter((e) => !this.#isShort(e)).map((e) => edgeLine(e, map.subjects[e.from] as Subject, map.subjects[e.to] as Subject, this.#levelOf(e))),
      ),
      ...block(
        'Further relationships (from -> to: name, back name; a path has name[to] and name[from] of these too):',
        shortEdgeLines(
          edges.filter((e) => this.#isShort(e)),
          map.subjects,
        ),
      ),
      ...block('Views, and cubes (their amounts are arguments of aggregates):', lines(written.filter((n) => map.subjects[n]?.kind !== 'concept'))),
      ...pathLines(map, concepts, score),
    ];
    return parts.join('\n');
  }

  /** Adds a subject with as many columns as fit: keys, labels and those that the question mentions first. */
  #addSome(n: number, most: number): void {
    const { map, prefers } = this.#wish;
    const subject = map.subjects[n] as Subject;
    const score = (c: SubjectColumn): number => 3 * prefers(c) + Number(c.isKey) + Number(c.isLabel);
    const best = subject.columns.map((c) => ({ c, score: score(c) })).sort((x, y) => y.score - x.score);
    const kept = new Set<SubjectColumn>();
    let left = most - this.#size - 200 - subject.name.length;
    for (const { c } of best) {
      left -= nameText(c.isMeasure ? `measure.${c.name}` : c.name).length + 2;
      if (left < 0) break;
      kept.add(c);
    }
    const [head = ''] = subjectLines(subject, 0, () => false);
    this.#some.set(n, [
      `${head} (some of its columns)`,
      ...columnLines(
        subject,
        subject.columns.filter((c) => kept.has(c)),
        0,
        () => undefined,
      ),
    ]);
    this.#levels.set(n, 0);
  }

  #add(n: number, level: Level): void {
    this.#size += this.#costOf(n, level);
    this.#levels.set(n, level);
  }

  #upgrade(n: number, level: Level, most: number): void {
    const now = this.#levels.get(n);
    if (now === undefined || now >= level || this.#some.has(n)) return;
    const more = this.#costOf(n, level) - this.#costOf(n, now);
    if (this.#size + more > most) return;
    this.#size += more;
    this.#levels.set(n, level);
  }

  /** The characters of a subject, and of its relationships with what is already written. */
  #costOf(n: number, level: Level): number {
    const { map } = this.#wish;
    let size = sizeOf(this.#lines(n, level));
    const short = new Set<string>();
    for (const i of map.edgesAt[n] ?? []) {
      const e = map.edges[i] as Edge;
      const other = e.from === e.to ? level : this.#levels.get(e.from === n ? e.to : e.from);
      if (other === undefined) continue;
      if ((level === 0 || other === 0) && isPlain(e)) {
        const ends = `${e.from} ${e.to}`;
        size += shortSizeOf(e, map.subjects, short.has(ends));
        short.add(ends);
      } else size += edgeLine(e, map.subjects[e.from] as Subject, map.subjects[e.to] as Subject, 2).length + 1;
    }
    return size;
  }

  /** Whether a relationship is written in short: one of its ends is written with names only. */
  #isShort(e: Edge): boolean {
    return (this.#levels.get(e.from) === 0 || this.#levels.get(e.to) === 0) && isPlain(e);
  }

  #levelOf({ from, to }: Edge): Level {
    return Math.max(this.#levels.get(from) ?? 0, this.#levels.get(to) ?? 0) as Level;
  }

  #lines(n: number, level: Level): readonly string[] {
    const known = this.#texts.get(n) ?? [];
    const { map, values, isIn } = this.#wish;
    const isOwn = (c: SubjectColumn): boolean => {
      const owner = c.inheritedFrom === null ? undefined : map.concept(c.inheritedFrom);
      return owner === undefined || !isIn(owner);
    };
    known[level] ??= subjectLines(map.subjects[n] as Subject, level, isOwn, values);
    this.#texts.set(n, known);
    return known[level] as readonly string[];
  }
}

const sizeOf = (lines: readonly string[]): number => lines.reduce((n, l) => n + l.length + 1, 0);
