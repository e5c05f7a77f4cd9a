/**
 * The part of a prompt that describes the graph for writing SQL: the relation that the question is about, with its columns, measures and
 * paths, the columns at the ends of these paths, and examples of actual values. Pure.
 */
import type { QuestionModel, Subject, SubjectColumn } from '../service.ts';
import { line } from './fence.ts';
import type { SampledColumn } from './values.ts';

/** What is known of a column's values as the caller sees them; undefined if nothing is known. */
export type ValuesOf = (subject: Subject, column: string) => SampledColumn | undefined;

export interface ContextParts {
  readonly model: QuestionModel;
  readonly subject: Subject;
  /** Other relations that the statement may read, best first. */
  readonly others: readonly Subject[];
  readonly question: string;
  /** The maximum number of relationships in a path. */
  readonly depth: number;
  /** The setting PRODUCT_NAME, which schema names contain. */
  readonly product: string;
  readonly values: ValuesOf;
}

/** About 5,000 tokens. */
const MAX_CHARACTERS = 20_000;
const MAX_PATHS = 120;
/** The number of paths to examine in order to find them. */
const MAX_EXAMINED = 4_000;
const MAX_OTHERS = 8;
const DESCRIPTION = 160;
const VALUE = 40;
/** How many values of a column to list: all if there are at most `LISTED`; `SOME` if there are at most `FEW`; otherwise `SAMPLES`. */
const LISTED = 15;
const FEW = 100;
const SOME = 8;
const SAMPLES = 3;

/** The level of detail for a column. */
type Detail = 'full' | 'short' | 'name';

/** The share of the remaining room for the subject's columns, and then for its paths, if more follows. */
const COLUMNS_SHARE = 0.55;
const PATHS_SHARE = 0.6;

/** The text. Descriptions and values are included as far as there is room; if there is no room for all columns, those that the question mentions come first. */
export function sqlContext(parts: ContextParts): string {
  const { model, subject, others, product } = parts;
  const asked = wordsOf(parts.question);
  const paths = subject.kind === 'concept' ? pathsFrom(parts, asked) : [];
  const reached = reachedBy(paths, parts, asked);
  const head = [`FROM ${relationOf(subject, product)}${about(subject)}`];
  if (subject.condition !== null) head.push(`It contains only rows that satisfy: ${line(subject.condition, 300)}`);
  const room = new Room(MAX_CHARACTERS - head.join('\n').length);
  const share = paths.length === 0 ? 1 : COLUMNS_SHARE;
  const own =
    room.fit((detail) => columnLines(parts, subject, detail), share) ??
    room.fit((_, characters) => columnLines(parts, { ...subject, columns: someOf(subject, asked, characters) }, 'name'), share) ??
    [];
  const ways = room.fit((detail) => paths.slice(0, detail === 'name' ? MAX_PATHS / 4 : MAX_PATHS).map((p) => pathLine(p, detail)), PATHS_SHARE) ?? [];
  const blocks = reached.flatMap((target) => room.fit((detail) => [`${target.name}${about(target)}`, ...columnLines(parts, target, detail)]) ?? []);
  const rest = room.fit(() => others.slice(0, MAX_OTHERS).map((o) => `${relationOf(o, product)}${about(o)}`)) ?? [];
  return [
    ...head,
    'Columns:',
    ...own,
    ...(ways.length === 0 ? [] : [`Paths (write \`path.column\`; a measure at its end: \`measure.path.name\`):`, ...ways]),
    ...(blocks.length === 0 ? [] : ['Columns at the end of paths:', ...blocks]),
    ...(rest.length === 0 ? [] : [`Other relations of the knowledge graph ${line(model.ontology, 128)}:`, ...rest]),
  ].join('\n');
}

/** The columns that fit into a number of characters, in their order. Keys, labels and columns that the question mentions come first. */
function someOf({ columns }: Subject, asked: ReadonlySet<string>, characters: number): readonly SubjectColumn[] {
  const score = (c: SubjectColumn): number => 3 * hits(asked, c.name).size + hits(asked, c.description ?? '').size + Number(c.isKey) + Number(c.isLabel);
  const best = columns.map((c) => ({ c, score: score(c) })).sort((x, y) => y.score - x.score);
  const kept = new Set<SubjectColumn>();
  let left = characters - 3;
  for (const { c } of best) {
    // quotes, comma and space
    left -= c.name.length + (c.isMeasure ? 'measure.'.length : 0) + 4;
    if (left < 0) break;
    kept.add(c);
  }
  return columns.filter((c) => kept.has(c));
}

/** The name of a relation in FROM. */
export function relationOf({ kind, name }: Pick<Subject, 'kind' | 'name'>, product: string): string {
  return `${kind === 'concept' ? 'd' : 'v'}${product}.\`${name.replaceAll('`', '``')}\``;
}

const about = ({ kind, description, tags }: Subject): string =>
  `${kind === 'concept' ? '' : ` (${kind === 'cube' ? 'a cube: dimensions, and measures inside aggregates' : 'a view'})`}${description ? ` -- ${line(description, 2 * DESCRIPTION)}` : ''}${tagsText(tags)}`;

const tagsText = (tags: Subject['tags']): string =>
  Object.entries(tags)
    .map(([k, v]) => ` [${line(`${k}: ${v}`, DESCRIPTION)}]`)
    .join('');

/** Chooses the most detailed form that fits the remaining room. */
class Room {
  #left: number;
  constructor(characters: number) {
    this.#left = characters;
  }

  /** Returns undefined if no form fits. `share`: the part of the remaining room to use. */
  fit(lines: (detail: Detail, characters: number) => readonly string[], share = 1): readonly string[] | undefined {
    const most = Math.floor(this.#left * share);
    for (const detail of ['full', 'short', 'name'] as const) {
      const made = lines(detail, most);
      const size = made.reduce((n, l) => n + l.length + 1, 0);
      if (size > most) continue;
      this.#left -= size;
      return made;
    }
    return undefined;
  }
}

function columnLines(parts: ContextParts, subject: Subject, detail: Detail): readonly string[] {
  const columnLine = (c: SubjectColumn): string => {
    const name = `\`${(c.isMeasure ? `measure.${c.name}` : c.name).replaceAll('`', '``')}\``;
    if (detail === 'name') return name;
    const traits = [c.type, c.isMeasure ? 'measure' : '', c.isKey ? 'key' : '', c.isLabel ? 'label' : '', c.isMulti ? 'several values' : ''].filter((t) => t);
    const description = detail === 'full' && c.description ? ` -- ${line(c.description, DESCRIPTION)}` : '';
    return `${name} ${traits.join(', ')}${description}${detail === 'full' ? tagsText(c.tags) : ''}${valuesLine(parts.values(subject, c.name), detail)}`;
  };
  const made = subject.columns.map((c) => `  ${columnLine(c)}`);
  return detail === 'name' ? [`  ${made.map((l) => l.trim()).join(', ')}`] : made;
}

/** Lists the values of a column: all of a short list, some of a longer one, and of names and numbers enough to show how they are written. */
function valuesLine(known: SampledColumn | undefined, detail: Detail): string {
  if (known === undefined || known.values.length === 0) return '';
  const { values, complete, distinct } = known;
  const isList = complete && values.length <= (detail === 'full' ? LISTED : LISTED / 3);
  const shown = isList ? values : values.slice(0, detail === 'full' && distinct <= FEW ? SOME : SAMPLES);
  return `; ${isList ? 'all values' : 'values such as'}: ${shown.map(({ value }) => `'${line(value, VALUE).replaceAll("'", "''")}'`).join(', ')}`;
}

interface Path {
  readonly text: string;
  readonly target: Subject;
  readonly toMany: boolean;
  readonly description: string | null;
  readonly transitivity: number | null;
}

const pathLine = ({ text: written, target, toMany, transitivity, description }: Path, detail: Detail): string => {
  const text = written.replaceAll('`', '``');
  return `  \`${text}\` ${toMany ? 'to many' : 'to one'} ${target.name}${transitivity === null ? '' : `, transitive: \`${text.replace(/\]$/, `*${transitivity}]`)}\` walks up to ${transitivity} steps`}${detail === 'full' && description ? ` -- ${line(description, DESCRIPTION)}` : ''}`;
};

/** The paths of at most `depth` steps that reach no concept twice. Short ones come first, and among them those that the question mentions. */
function pathsFrom({ model, subject, depth }: ContextParts, asked: ReadonlySet<string>): readonly Path[] {
  const found: Path[] = [];
  let ends: { readonly subject: Subject; readonly prefix: string; readonly visited: ReadonlySet<string>; readonly toMany: boolean }[] = [
    { subject, prefix: '', visited: new Set([subject.name]), toMany: false },
  ];
  for (let step = 0; step < depth && found.length < MAX_EXAMINED; step++) {
    const next: typeof ends = [];
    for (const end of ends) {
      for (const r of end.subject.relationships) {
        if (found.length >= MAX_EXAMINED) break;
        const target = model.subject(r.target);
        if (target === undefined || target.kind !== 'concept') continue;
        const loops = end.visited.has(target.name);
        if (loops && !(step === 0 && target === subject)) continue;
        const text = `${end.prefix}${r.name}[${target.name}]`;
        const toMany = end.toMany || r.toMany;
        found.push({ text, target, toMany, description: r.description, transitivity: r.transitivity });
        if (!loops) next.push({ subject: target, prefix: `${text}.`, visited: new Set([...end.visited, target.name]), toMany });
      }
    }
    ends = next;
  }
  const steps = (p: Path): number => p.text.split('[').length;
  const mentioned = columnHits(asked);
  const score = new Map(found.map((p) => [p, { steps: steps(p), mentioned: new Set([...hits(asked, p.text), ...mentioned(p.target)]).size }]));
  const by = (p: Path) => score.get(p) as { readonly steps: number; readonly mentioned: number };
  return found.sort((a, b) => by(a).steps - by(b).steps || by(b).mentioned - by(a).mentioned).slice(0, MAX_PATHS);
}

/** Returns a function that finds the words of a question in the names of a subject's columns, with a cache. */
function columnHits(asked: ReadonlySet<string>): (subject: Subject) => ReadonlySet<string> {
  const known = new Map<Subject, ReadonlySet<string>>();
  return (subject) => {
    const found = known.get(subject) ?? hits(asked, subject.columns.map((c) => c.name).join(' '));
    known.set(subject, found);
    return found;
  };
}

/** The concepts at the ends of paths, each once. Those that the question mentions come first. */
function reachedBy(paths: readonly Path[], { subject }: ContextParts, asked: ReadonlySet<string>): readonly Subject[] {
  const mentioned = columnHits(asked);
  const targets = [...new Set(paths.map((p) => p.target))].filter((t) => t !== subject);
  const scores = new Map(targets.map((t) => [t, new Set([...hits(asked, t.name), ...mentioned(t)]).size]));
  return targets.sort((a, b) => (scores.get(b) ?? 0) - (scores.get(a) ?? 0));
}

/** The prefixes of a text's words. */
const wordsOf = (text: string): ReadonlySet<string> =>
  new Set(
    text
      .toLowerCase()
      .split(/[^\p{L}\p{N}]+/u)
      .filter((w) => w.length > 2)
      .map((w) => w.slice(0, 5)),
  );

/** The words of the question that occur in a text. */
const hits = (asked: ReadonlySet<string>, text: string): ReadonlySet<string> => new Set([...wordsOf(text)].filter((word) => asked.has(word)));
