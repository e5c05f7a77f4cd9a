/** Writes subjects and relationships as lines of a schema text, in several levels of detail. Pure. */
import type { Subject, SubjectColumn, SubjectRelationship } from '../../service.ts';
import { inner, line } from '../fence.ts';
import { synonymsOf } from '../rank-index.ts';
import type { SampledColumn } from '../values.ts';
import type { Edge } from './map.ts';

/** What is known of a column's values as the caller sees them; undefined if nothing is known. */
export type ValuesOf = (subject: Subject, column: string) => SampledColumn | undefined;

/** Names only; names and types; also descriptions, tags and values. */
export type Level = 0 | 1 | 2;

const DESCRIPTION = 160;
const SHORT_DESCRIPTION = 60;
const CONDITION = 300;
const NAME = 128;
const VALUE = 40;
/** How many values of a column to list: all of at most `LISTED` (`FEW` in short), otherwise `SAMPLES`. */
const LISTED = 15;
const FEW = 5;
const SAMPLES = 2;

/** A name. One with other characters than letters, digits and `_` is quoted, so that its end is clear. */
export const nameText = (name: string): string =>
  /^[\p{L}_][\p{L}\p{N}_]*$/u.test(name) ? name : `\`${inner(name).replaceAll('`', '``').replace(/\s/g, ' ')}\``;

/** The name of a relation in FROM. */
export const relationOf = ({ kind, name }: Pick<Subject, 'kind' | 'name'>, product: string): string =>
  `${kind === 'concept' ? 'd' : 'v'}${product}.\`${name.replaceAll('`', '``')}\``;

const alsoCalled = (tags: Subject['tags']): string => {
  const names = synonymsOf(tags);
  return names.length === 0 ? '' : ` (also: ${line(names.join(', '), DESCRIPTION)})`;
};

/** Tags other than synonyms. */
const otherTags = (tags: Subject['tags']): string =>
  Object.entries(tags)
    .filter(([tag, value]) => synonymsOf({ [tag]: value }).length === 0)
    .map(([tag, value]) => ` [${line(`${tag}: ${value}`, DESCRIPTION)}]`)
    .join('');

const described = (text: string | null, most = DESCRIPTION): string => (text ? ` -- ${line(text, most)}` : '');

/** A subject with its own columns: those that `isOwn` accepts. */
export function subjectLines(subject: Subject, level: Level, isOwn: (c: SubjectColumn) => boolean, values: ValuesOf = () => undefined): readonly string[] {
  const kind = subject.kind === 'concept' ? '' : ` (${subject.kind})`;
  const parents = subject.parents.length === 0 ? '' : ` < ${subject.parents.map((p) => nameText(line(p, NAME))).join(', ')}`;
  const about = level === 0 ? '' : `${described(subject.description, level === 1 ? SHORT_DESCRIPTION : 2 * DESCRIPTION)}`;
  const tags = level === 0 ? '' : `${alsoCalled(subject.tags)}${level === 2 ? otherTags(subject.tags) : ''}`;
  const head = `${nameText(subject.name)}${kind}${parents}${about}${tags}`;
  const condition = subject.condition === null ? [] : [`  only rows with: ${line(subject.condition, level === 0 ? SHORT_DESCRIPTION : CONDITION)}`];
  return [head, ...condition, ...columnLines(subject, subject.columns.filter(isOwn), level, values)];
}

/** The columns. Those with nothing but a name and a type share a line. */
export function columnLines(subject: Subject, columns: readonly SubjectColumn[], level: Level, values: ValuesOf): readonly string[] {
  const bare: string[] = [];
  const lines: string[] = [];
  for (const c of columns) {
    const name = nameText(c.isMeasure ? `measure.${c.name}` : c.name);
    const shown = c.isMeasure ? `\`measure.${inner(c.name).replaceAll('`', '``')}\`` : name;
    if (level === 0) {
      bare.push(shown);
      continue;
    }
    const traits = [c.type ?? '', c.isKey ? 'key' : '', c.isLabel ? 'label' : '', c.isMulti ? 'several values' : ''].filter((t) => t !== '');
    const meant = level === 2 ? `${described(c.description)}${alsoCalled(c.tags)}${otherTags(c.tags)}` : '';
    const listed = valuesText(values(subject, c.name), level, c.description);
    const text = `${shown}${traits.length === 0 ? '' : ` ${traits.join(' ')}`}`;
    if (meant === '' && listed === '') bare.push(text);
    else lines.push(`  ${text}${meant}${listed}`);
  }
  return [...(bare.length === 0 ? [] : [`  ${bare.join(', ')}`]), ...lines];
}

/** All values of a short list, some of a longer one. Nothing if the description lists them. */
function valuesText(known: SampledColumn | undefined, level: Level, description: string | null): string {
  if (known === undefined || known.values.length === 0) return '';
  const { values, complete } = known;
  const isList = complete && values.length <= (level === 2 ? LISTED : FEW);
  if (!isList && level < 2) return '';
  const described = level === 2 && description !== null ? description : '';
  if (isList && values.every(({ value }) => described.includes(value))) return '';
  const shown = isList ? values : values.slice(0, SAMPLES);
  return `; ${isList ? 'values' : 'such as'} ${shown.map(({ value }) => `'${line(value, VALUE).replaceAll("'", "''")}'`).join(', ')}`;
}

/** A relationship in both directions, each with its own description. */
export function edgeLine({ there, back }: Edge, from: Subject, to: Subject, level: Level): string {
  const meaning = (r: SubjectRelationship | null, before = ''): readonly string[] =>
    level === 0 || !r?.description ? [] : [`${before}${line(r.description, level === 1 ? SHORT_DESCRIPTION : DESCRIPTION)}`];
  const meanings = [...meaning(there), ...meaning(back, 'back: ')];
  const one = (name: string, target: Subject, toMany: boolean): string => `${pathName(name, target.name)} ${toMany ? 'many' : 'one'}`;
  const steps = there.transitivity ?? back?.transitivity ?? null;
  const links = there.linkColumns.map((c) => `${nameText(c.name)}${c.type === null || level === 0 ? '' : ` ${c.type}`}`);
  return [
    `${nameText(from.name)} -> ${nameText(to.name)}: ${one(there.name, to, there.toMany)}`,
    back === null ? '' : `; back ${one(back.name, from, back.toMany)}`,
    steps === null ? '' : `; transitive, up to ${steps} steps`,
    links.length === 0 ? '' : `; link columns ${links.join(', ')}`,
    meanings.length === 0 ? '' : ` -- ${meanings.join('; ')}`,
  ].join('');
}

/** Relationships of which a text has only names and cardinalities, those between the same two concepts on one line: `from -> to: name one, back name many; ...`. */
export function shortEdgeLines(edges: readonly Edge[], subjects: readonly Subject[]): readonly string[] {
  const lines = new Map<string, string>();
  for (const edge of edges) {
    const ends = shortEnds(edge, subjects);
    const known = lines.get(ends);
    lines.set(ends, known === undefined ? `${ends}${shortEdge(edge)}` : `${known}; ${shortEdge(edge)}`);
  }
  return [...lines.values()];
}

/** The characters that a relationship in short adds to a text. `shares`: another one between the same concepts is already in it. */
export const shortSizeOf = (edge: Edge, subjects: readonly Subject[], shares: boolean): number =>
  shortEdge(edge).length + 2 + (shares ? 0 : shortEnds(edge, subjects).length);

/** Whether names and cardinalities say all of a relationship but its description: it is not transitive and has no link columns. */
export const isPlain = ({ there, back }: Edge): boolean => (there.transitivity ?? back?.transitivity ?? null) === null && there.linkColumns.length === 0;

const shortEnds = ({ from, to }: Edge, subjects: readonly Subject[]): string =>
  `${nameText(subjects[from]?.name ?? '')} -> ${nameText(subjects[to]?.name ?? '')}: `;
function shortEdge({ there, back }: Edge): string {
  const hop = ({ name, toMany }: SubjectRelationship): string => `${nameText(name)} ${toMany ? 'many' : 'one'}`;
  return `${hop(there)}${back === null ? '' : `, back ${hop(back)}`}`;
}

/** A hop as a path has it, without quotes. */
export const pathName = (relationship: string, target: string): string => inner(`${relationship}[${target}]`);
