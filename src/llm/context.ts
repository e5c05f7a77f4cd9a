/**
 * What a language model is told of the graph when it is to write SQL: the relation that the question is about, with its columns, measures and
 * the paths from it, the columns that those lead to, and values as they are really written. Pure.
 */
import type { QuestionModel, Subject, SubjectColumn } from '../service.ts';
import { line } from './fence.ts';
import type { SampledColumn } from './values.ts';

/** What is known of a column's values, as the caller sees them; undefined: nothing. */
export type ValuesOf = (subject: Subject, column: string) => SampledColumn | undefined;

export interface ContextParts {
  readonly model: QuestionModel;
  readonly subject: Subject;
  /** Further relations that may be read, best first. */
  readonly others: readonly Subject[];
  readonly question: string;
  /** How many relationships a path may chain. */
  readonly depth: number;
  /** PRODUCT_NAME, which schemas are called after. */
  readonly product: string;
  readonly values: ValuesOf;
}

/** About 5,000 tokens. */
const MOST_CHARACTERS = 20_000;
const MOST_PATHS = 120;
/** Paths that are looked at, to find those. */
const LOOKED_AT = 4_000;
const MOST_OTHERS = 8;
const DESCRIPTION = 160;
const VALUE = 40;
/** Values that are told of a column: all of at most so many; of at most `FEW` different ones `SOME`, else `SAMPLES`. */
const LISTED = 15;
const FEW = 100;
const SOME = 8;
const SAMPLES = 3;

/** How much is told of a column. */
type Detail = 'full' | 'short' | 'name';

/** What of the room that is left columns of the subject may take, and then its paths, where something else comes behind them. */
const COLUMNS_SHARE = 0.55;
const PATHS_SHARE = 0.6;

/** The text; descriptions and values are told as far as there is room, and of columns without room those that the question speaks of. */
export function sqlContext(parts: ContextParts): string {
  const { model, subject, others, product } = parts;
  const asked = wordsOf(parts.question);
  const paths = subject.kind === 'concept' ? pathsFrom(parts, asked) : [];
  const reached = reachedBy(paths, parts, asked);
  const head = [`FROM ${relationOf(subject, product)}${about(subject)}`];
  if (subject.condition !== null) head.push(`It holds only what meets: ${line(subject.condition, 300)}`);
  const room = new Room(MOST_CHARACTERS - head.join('\n').length);
  const share = paths.length === 0 ? 1 : COLUMNS_SHARE;
  const own =
    room.fit((detail) => columnLines(parts, subject, detail), share) ??
    room.fit((_, characters) => columnLines(parts, { ...subject, columns: someOf(subject, asked, characters) }, 'name'), share) ??
    [];
  const ways = room.fit((detail) => paths.slice(0, detail === 'name' ? MOST_PATHS / 4 : MOST_PATHS).map((p) => pathLine(p, detail)), PATHS_SHARE) ?? [];
  const blocks = reached.flatMap((target) => room.fit((detail) => [`${target.name}${about(target)}`, ...columnLines(parts, target, detail)]) ?? []);
  const rest = room.fit(() => others.slice(0, MOST_OTHERS).map((o) => `${relationOf(o, product)}${about(o)}`)) ?? [];
  return [
    ...head,
    'Columns:',
    ...own,
    ...(ways.length === 0 ? [] : [`Paths (write \`path.column\`; a measure at its end: \`measure.path.name\`):`, ...ways]),
    ...(blocks.length === 0 ? [] : ['Columns at the end of paths:', ...blocks]),
    ...(rest.length === 0 ? [] : [`Other relations of the knowledge graph ${line(model.ontology, 128)}:`, ...rest]),
  ].join('\n');
}

/** Columns whose names have so many characters at most: keys, labels, and what the question speaks of, before others; in their order. */
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

/** How a relation is called in FROM. */
export function relationOf({ kind, name }: Pick<Subject, 'kind' | 'name'>, product: string): string {
  return `${kind === 'concept' ? 'd' : 'v'}${product}.\`${name.replaceAll('`', '``')}\``;
}

const about = ({ kind, description, tags }: Subject): string =>
  `${kind === 'concept' ? '' : ` (${kind === 'cube' ? 'a cube: dimensions, and measures inside aggregates' : 'a view'})`}${description ? ` -- ${line(description, 2 * DESCRIPTION)}` : ''}${told(tags)}`;

const told = (tags: Subject['tags']): string =>
  Object.entries(tags)
    .map(([k, v]) => ` [${line(`${k}: ${v}`, DESCRIPTION)}]`)
    .join('');

/** The most detailed form that the room left has, or nothing. */
class Room {
  #left: number;
  constructor(characters: number) {
    this.#left = characters;
  }

  /** `share`: of what is left, so much may be taken. */
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
    const said = detail === 'full' && c.description ? ` -- ${line(c.description, DESCRIPTION)}` : '';
    return `${name} ${traits.join(', ')}${said}${detail === 'full' ? told(c.tags) : ''}${valuesLine(parts.values(subject, c.name), detail)}`;
  };
  const made = subject.columns.map((c) => `  ${columnLine(c)}`);
  return detail === 'name' ? [`  ${made.map((l) => l.trim()).join(', ')}`] : made;
}

/** All of a short list; of a longer one some; of names and numbers enough to show how they are written. */
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

/** The paths of at most so many steps that come to no concept twice, short ones first, those that the question speaks of before others. */
function pathsFrom({ model, subject, depth }: ContextParts, asked: ReadonlySet<string>): readonly Path[] {
  const found: Path[] = [];
  let ends: { readonly subject: Subject; readonly prefix: string; readonly met: ReadonlySet<string>; readonly toMany: boolean }[] = [
    { subject, prefix: '', met: new Set([subject.name]), toMany: false },
  ];
  for (let step = 0; step < depth && found.length < LOOKED_AT; step++) {
    const next: typeof ends = [];
    for (const end of ends) {
      for (const r of end.subject.relationships) {
        if (found.length >= LOOKED_AT) break;
        const target = model.subject(r.target);
        if (target === undefined || target.kind !== 'concept') continue;
        const loops = end.met.has(target.name);
        if (loops && !(step === 0 && target === subject)) continue;
        const text = `${end.prefix}${r.name}[${target.name}]`;
        const toMany = end.toMany || r.toMany;
        found.push({ text, target, toMany, description: r.description, transitivity: r.transitivity });
        if (!loops) next.push({ subject: target, prefix: `${text}.`, met: new Set([...end.met, target.name]), toMany });
      }
    }
    ends = next;
  }
  const steps = (p: Path): number => p.text.split('[').length;
  const said = columnHits(asked);
  const score = new Map(found.map((p) => [p, { steps: steps(p), said: new Set([...hits(asked, p.text), ...said(p.target)]).size }]));
  const by = (p: Path) => score.get(p) as { readonly steps: number; readonly said: number };
  return found.sort((a, b) => by(a).steps - by(b).steps || by(b).said - by(a).said).slice(0, MOST_PATHS);
}

/** The words of a question that the names of a subject's columns have, looked for once a subject. */
function columnHits(asked: ReadonlySet<string>): (subject: Subject) => ReadonlySet<string> {
  const known = new Map<Subject, ReadonlySet<string>>();
  return (subject) => {
    const found = known.get(subject) ?? hits(asked, subject.columns.map((c) => c.name).join(' '));
    known.set(subject, found);
    return found;
  };
}

/** The concepts at the ends of paths, each once, those that the question speaks of first. */
function reachedBy(paths: readonly Path[], { subject }: ContextParts, asked: ReadonlySet<string>): readonly Subject[] {
  const said = columnHits(asked);
  const targets = [...new Set(paths.map((p) => p.target))].filter((t) => t !== subject);
  const scores = new Map(targets.map((t) => [t, new Set([...hits(asked, t.name), ...said(t)]).size]));
  return targets.sort((a, b) => (scores.get(b) ?? 0) - (scores.get(a) ?? 0));
}

/** The beginnings of the words of a text. */
const wordsOf = (text: string): ReadonlySet<string> =>
  new Set(
    text
      .toLowerCase()
      .split(/[^\p{L}\p{N}]+/u)
      .filter((w) => w.length > 2)
      .map((w) => w.slice(0, 5)),
  );

/** Those of the question's words that a text has. */
const hits = (asked: ReadonlySet<string>, text: string): ReadonlySet<string> => new Set([...wordsOf(text)].filter((word) => asked.has(word)));
