/** Guesses names for a starting script from the names in a database. */
import { fold, looksLikeAnother } from '../ontology/names.ts';

/** Plurals that the rules of `singular` do not cover. */
const IRREGULAR: Readonly<Record<string, string>> = {
  people: 'person',
  children: 'child',
  men: 'man',
  women: 'woman',
  movies: 'movie',
  statuses: 'status',
  analyses: 'analysis',
  series: 'series',
  species: 'species',
  news: 'news',
};

/** The singular of the last word of a table's name. A name that is not an English plural stays unchanged. */
export function singular(name: string): string {
  const [, before = '', word = ''] = /^(.*?)((?:[A-Z]?[a-z]+|[A-Z]+))$/.exec(name) ?? [];
  const small = word.toLowerCase();
  if (small === '') return name;
  if (Object.hasOwn(IRREGULAR, small)) return before + likeCase(IRREGULAR[small] as string, word);
  for (const [end, drop, add] of [
    ['ies', 3, 'y'],
    ['sses', 2, ''],
    ['shes', 2, ''],
    ['ches', 2, ''],
    ['xes', 2, ''],
    ['ss', 0, ''],
    ['us', 0, ''],
    ['is', 0, ''],
    ['s', 1, ''],
  ] as const) {
    if (small.endsWith(end) && small.length - drop + add.length >= 3) return before + likeCase(small.slice(0, small.length - drop) + add, word);
  }
  return name;
}

/** Writes `word` in the case of `model`: upper case, capitalized, or lower case. */
function likeCase(word: string, model: string): string {
  if (model.length > 1 && model === model.toUpperCase()) return word.toUpperCase();
  return /^[A-Z]/.test(model) ? word.charAt(0).toUpperCase() + word.slice(1) : word;
}

/** The prefix, such as `t_`, that all names share. Empty if there are fewer than three names, or if one consists only of it. */
export function sharedPrefix(names: readonly string[]): string {
  const prefix = /^[A-Za-z0-9]+_/.exec(names[0] ?? '')?.[0] ?? '';
  return names.length >= 3 && names.every((n) => n.startsWith(prefix) && /^[A-Za-z]/.test(n.slice(prefix.length))) ? prefix : '';
}

/** Turns `name` into a valid name (docs/design/statements-and-versions.md#names-of-things): no square brackets, no control or invisible characters, no reserved prefix. */
export function allowed(name: string): string {
  const seen = looksLikeAnother(name) ? name.replace(/[\p{Cf}\p{Cs}\p{DI}]/gu, '').replace(/[\p{Zl}\p{Zp}\u2800]/gu, ' ') : name;
  const text = seen
    .replaceAll('[', '(')
    .replaceAll(']', ')')
    .replace(/\p{Cc}/gu, ' ');
  return /^(~|measure\.|_type_of_)/i.test(text) ? `x${text}` : text;
}

/** The maximum length of an identifier in PostgreSQL, in bytes. */
const MAX_BYTES = 63;

/** Shortens `name` to PostgreSQL's limit for column names. */
export function shortened(name: string): string {
  let text = name;
  while (new TextEncoder().encode(text).length > MAX_BYTES) text = [...text].slice(0, -1).join('');
  return text;
}

/** Two names as one, without a word twice: `course` and `course_section` give `course_section`. */
export function compound(first: string, second: string): string {
  const [a, b] = [fold(first), fold(second)];
  if (b === a || b.startsWith(`${a}_`)) return second;
  return `_${a}_`.includes(`_${b}_`) ? first : `${first}_${second}`;
}

/** The first of `candidates` that is free, or else the last one with a number appended. */
export function firstFree(candidates: readonly string[], isFree: (name: string) => boolean): string {
  for (const candidate of candidates) if (isFree(candidate)) return candidate;
  const base = candidates.at(-1) ?? 'x';
  for (let n = 2; ; n++) {
    const end = `_${n}`;
    let stem = base;
    while (shortened(stem + end) !== stem + end) stem = stem.slice(0, -1);
    if (isFree(stem + end)) return stem + end;
  }
}

/** Names in use, case-insensitively. */
export class NameSet {
  readonly #names = new Set<string>();

  has(name: string): boolean {
    return this.#names.has(fold(name));
  }
  add(name: string): string {
    this.#names.add(fold(name));
    return name;
  }
}

/** The role in the name of a foreign key's column: `manager` for `manager_id`; undefined if it does not end like an id. */
export function roleOf(column: string): string | undefined {
  const [, snake, camel] = /^(.+?)_(?:id|key|code|no|nr|num|fk|uuid|ref)$/i.exec(column) ?? /^()(.*[a-z0-9])(?:Id|ID|Key|Code|Uuid|Ref)$/.exec(column) ?? [];
  return snake || camel || undefined;
}

const LABELS = ['name', 'title', 'label', 'display_name', 'full_name', 'caption', 'subject'];

/** The columns that are most likely the name of a row, in order. `columns` are the text columns. */
export function labelColumns(columns: readonly string[], concept: string): string[] {
  const find = (wanted: string) => columns.find((c) => fold(c) === fold(wanted));
  for (const wanted of [...LABELS, `${concept}_name`, `${concept}name`, `${concept}_title`]) {
    const found = find(wanted);
    if (found !== undefined) return [found];
  }
  const [first, last] = [find('first_name') ?? find('firstname'), find('last_name') ?? find('lastname') ?? find('surname')];
  if (first !== undefined && last !== undefined) return [first, last];
  const found = columns.find((c) => /(?:^|_)(?:name|title|label|caption|nm)$/i.test(c));
  return found === undefined ? [] : [found];
}
