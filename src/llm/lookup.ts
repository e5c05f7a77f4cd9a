/** Looks names of a question up in the datasource if no sample has them: samples are only the first rows of a large table. */

import { searchValues } from '../service/ops/questions.ts';
import type { QuestionModel, ServiceRequest, Subject, SubjectColumn } from '../service.ts';
import type { Linked, Sampled } from './value-links.ts';
import { sampledColumns } from './values.ts';
import { plain, words } from './words.ts';

/** The most names of a question, and the most columns, to look up. */
const MAX_NAMES = 3;
const MAX_COLUMNS = 6;
const MAX_VALUES = 2;
const LONGEST = 60;
/** The maximum time to wait. After that, the statement itself shows whether the value exists. */
const WAIT_MS = 2_000;
/** How many searches run at the same time: each reads a whole column. */
const PARALLEL = 3;

/** Quotation marks: the opening one, and its closing one. */
const MARKS: ReadonlyMap<string, string> = new Map([
  ['"', '"'],
  ['\u201c', '\u201d'],
  ['\u00ab', '\u00bb'],
  ["'", "'"],
  ['\u2018', '\u2019'],
]);
const IN_WORD = /[\p{L}\p{N}]/u;

/** Texts in quotation marks, of 2 to `LONGEST` characters. An apostrophe inside a word is not a quotation mark. */
function quotedIn(text: string): readonly string[] {
  const found: string[] = [];
  for (let i = 0; i < text.length; i++) {
    const close = MARKS.get(text[i] as string);
    if (close === undefined || (close === "'" && IN_WORD.test(text[i - 1] ?? ''))) continue;
    const rest = text.slice(i + 1, i + 2 + LONGEST);
    const end = rest.indexOf(close);
    const name = rest.slice(0, end);
    if (end < 0 || name.includes('\n') || (close === "'" && IN_WORD.test(text[i + 2 + end] ?? ''))) continue;
    if (end > 1) found.push(name);
    i += end + 1;
  }
  return found;
}
/** Words with capital letters next to each other, not at the start of a sentence. */
const CAPITALS = /(?<=[\p{Ll}\p{N},] )\p{Lu}[\p{L}\p{N}'’-]+(?: \p{Lu}[\p{L}\p{N}'’-]+)*/gu;

/** The names that a question quotes, or writes with capital letters; at most `MAX_NAMES`. */
export function namesIn(question: string): readonly string[] {
  const text = question.slice(0, 4_000);
  const names = [...quotedIn(text), ...(text.match(CAPITALS) ?? [])].map((name) => name.trim()).filter((name) => name.length > 1 && name.length <= LONGEST);
  return [...new Set(names)].slice(0, MAX_NAMES);
}

/**
 * Values that are equal to a name of the question, from columns whose sample does not have all values. The search runs as the caller, so policies and masks apply.
 * Never fails.
 */
export async function lookedUp(
  request: ServiceRequest,
  { ontology, subjects }: Pick<QuestionModel, 'ontology' | 'subjects'>,
  question: string,
  sampled: readonly Sampled[],
): Promise<readonly Linked[]> {
  const places = sampled
    .flatMap((of) => incomplete(of))
    // a name is most often a label; the time may end before the others are searched
    .sort((a, b) => Number(b.column.isLabel) - Number(a.column.isLabel))
    .slice(0, MAX_COLUMNS);
  if (places.length === 0) return [];
  const names = namesIn(question).filter((name) => !isKnown(name, subjects, sampled));
  if (names.length === 0 || request.spending.samples.isSpent) return [];
  const signal = AbortSignal.any([request.signal, AbortSignal.timeout(WAIT_MS)]);
  const searches = names.flatMap((name) => places.map((place) => ({ name, ...place })));
  const found: Linked[] = [];
  const next = async (): Promise<void> => {
    for (let search = searches.shift(); search !== undefined && !signal.aborted; search = searches.shift()) {
      const { name, subject, column } = search;
      const wanted = { ontology, concept: subject.name, property: column.name, text: name, limit: MAX_VALUES };
      const values = await valuesOf({ ...request, signal, spending: request.spending.samples }, wanted);
      for (const value of values) if (plain(value) === plain(name) || values.length === 1) found.push({ subject, column: column.name, value });
    }
  };
  await Promise.all(Array.from({ length: PARALLEL }, next));
  return found;
}

/** Text columns of a concept whose sample does not have all values. Only concepts can be searched. */
function incomplete({ subject, samples }: Sampled): readonly { readonly subject: Subject; readonly column: SubjectColumn }[] {
  if (subject.kind !== 'concept') return [];
  const open = new Set(samples.columns.filter((c) => !c.complete && c.distinct > 1).map((c) => c.name));
  return sampledColumns(subject)
    .filter((c) => open.has(c.name) && c.inheritedFrom === null)
    .map((column) => ({ subject, column }));
}

/** Whether a name is a word of the model, or a value of a sample. */
function isKnown(name: string, subjects: readonly Subject[], sampled: readonly Sampled[]): boolean {
  const wanted = plain(name);
  const key = words(name)
    .map((w) => w.stem)
    .join(' ');
  return subjects.some((s) => plain(s.name) === wanted) || sampled.some(({ samples }) => samples.lookup.has(key));
}

async function valuesOf(request: ServiceRequest, search: Parameters<typeof searchValues>[1]): Promise<readonly string[]> {
  try {
    const answer = await searchValues({ ...request, knownVersion: null, results: undefined, noted: undefined, about: () => undefined }, search);
    if (answer.kind !== 'rows') return [];
    const parts: Uint8Array[] = [];
    if (answer.rows.whole !== undefined) parts.push(answer.rows.whole);
    else for await (const part of answer.rows.stream) parts.push(part);
    const text = new TextDecoder();
    const rows = JSON.parse(parts.map((p) => text.decode(p, { stream: true })).join('') + text.decode()) as readonly { readonly value: unknown }[];
    return rows.flatMap(({ value }) => (typeof value === 'string' && value.length <= LONGEST ? [value] : []));
  } catch {
    return [];
  }
}
