/**
 * Samples the values of a subject: from a bounded number of rows, read as the caller, so that grants, policies and masks apply. Finds the values
 * that a question names (literal linking).
 */
import { cacheOf } from '../cache.ts';
import { sampleRows } from '../service/ops/questions.ts';
import { outlivesRights, type QuestionModel, type ServiceRequest, type Subject, type SubjectColumn } from '../service.ts';
import { subjectKey } from './rank-index.ts';
import { plain, type Word, words } from './words.ts';

export interface SampledValue {
  readonly value: string;
  /** The number of rows of the sample with this value. */
  readonly count: number;
}

export interface SampledColumn {
  readonly name: string;
  /** The most frequent values first; limited in number. */
  readonly values: readonly SampledValue[];
  /** The number of distinct values in the sample. */
  readonly distinct: number;
  /** Whether `values` has all values of the column: the sample contains all rows, and no value was omitted. */
  readonly complete: boolean;
}

export interface Samples {
  /** The number of rows read. */
  readonly rows: number;
  readonly columns: readonly SampledColumn[];
  /** Columns and values, by the stems of the words in a value. */
  readonly lookup: ReadonlyMap<string, readonly Place[]>;
}

interface Place {
  readonly column: string;
  readonly value: string;
  readonly count: number;
}

/** A value in a question. */
export interface Match extends Place {
  /** Positions of the question's words, excluding `to`. */
  readonly from: number;
  readonly to: number;
}

const MAX_ROWS = 1_000;
const MAX_COLUMNS = 12;
const MAX_VALUES = 300;
/** The same if the sample does not contain all rows, so that the values of a long list are arbitrary. */
const MAX_OF_PART = 100;
/** The limit for all columns of a subject together. Each caller has its own samples. */
const MAX_OF_SUBJECT = 1_500;
/** A longer value is a text: no question quotes it in full, and a model does not need it. */
const LONGEST = 60;
/** A value with more words is not searched for. */
const MAX_WORDS = 6;
const FRESH_MS = 10 * 60_000;
/** The time before a failed datasource is queried again. */
const FAILED_MS = 60_000;

export const NO_SAMPLES: Samples = { rows: 0, columns: [], lookup: new Map() };

const kept = cacheOf<{ readonly samples: Samples; readonly until: number }>('samples');
const placeOf = (model: Pick<QuestionModel, 'key'>, subject: Subject): string => `${model.key}\u0000${subjectKey(subject)}`;

/** The cached samples of a subject; undefined if they must be read. */
function cachedSamples(request: ServiceRequest, model: Pick<QuestionModel, 'key'>, subject: Subject): Samples | undefined {
  const known = kept.get(placeOf(model, subject));
  return known !== undefined && known.until > request.runtime.now() ? known.samples : undefined;
}

/**
 * Samples the values of the subject's text columns, as the caller sees them, and caches them for ten minutes. Columns that look like secrets, or
 * have a tag such as `pii`, are never read. If the datasource fails, or the request has used its budget for samples, there are no values, and no error. `signal` ends the reading early.
 */
export async function sampleValues(
  request: ServiceRequest,
  model: Pick<QuestionModel, 'caller' | 'key' | 'ontology'>,
  subject: Subject,
  signal = request.signal,
): Promise<Samples> {
  const known = cachedSamples(request, model, subject);
  if (known !== undefined) return known;
  const columns = sampledColumns(subject);
  const spending = request.spending.samples;
  if (spending.isSpent || outlivesRights({ ...request, caller: model.caller })) return NO_SAMPLES;
  let samples = NO_SAMPLES;
  let fresh = FRESH_MS;
  if (columns.length > 0) {
    try {
      const rows = await sampleRows(
        // versions and results of the request concern its own statement; samples are limited by time
        {
          ...request,
          caller: { ...model.caller, refresh: () => Promise.reject(new Error('samples are cached for these rights')) },
          spending,
          signal,
          knownVersion: null,
          results: undefined,
          noted: undefined,
          about: () => undefined,
        },
        {
          ontology: model.ontology,
          isView: subject.kind !== 'concept',
          relation: subject.name,
          columns: columns.map((c) => c.name),
          characters: LONGEST + 1,
          rows: MAX_ROWS,
        },
      );
      samples = samplesOf(columns, rows);
    } catch {
      // the statement of the question itself will report the error
      if (request.signal.aborted || spending.isSpent) return NO_SAMPLES;
      fresh = FAILED_MS;
    }
  }
  kept.set(placeOf(model, subject), { samples, until: request.runtime.now() + fresh }, bytesOf(samples));
  return samples;
}

/** How many sampling statements run at the same time. A Worker has six connections. */
const PARALLEL = 3;
/** How long a sampling statement may continue for the next question, after the client has left. */
const GRACE_MS = 3_000;

/** Samples several subjects. Returns those that are available within `waitMs`, by `subjectKey`. Never fails. */
export async function samplesWithin(
  request: ServiceRequest,
  model: Pick<QuestionModel, 'caller' | 'key' | 'ontology'>,
  subjects: readonly Subject[],
  waitMs: number,
): Promise<ReadonlyMap<string, Samples>> {
  const found = new Map<string, Samples>();
  const missing: Subject[] = [];
  for (const subject of subjects) {
    const known = cachedSamples(request, model, subject);
    if (known === undefined) missing.push(subject);
    else found.set(subjectKey(subject), known);
  }
  if (missing.length === 0 || waitMs <= 0) return found;
  const end = new AbortController();
  const signal = AbortSignal.any([request.signal, end.signal]);
  let waiting = true;
  const work = async (): Promise<void> => {
    for (let subject = missing.shift(); subject !== undefined && waiting; subject = missing.shift()) {
      found.set(subjectKey(subject), await sampleValues(request, model, subject, signal));
    }
  };
  const all = Promise.all(Array.from({ length: Math.min(PARALLEL, missing.length) }, work));
  let timer: ReturnType<typeof setTimeout> | undefined;
  await Promise.race([all, new Promise<void>((done) => (timer = setTimeout(done, waitMs)))]);
  waiting = false;
  clearTimeout(timer);
  if (missing.length > 0 || found.size < subjects.length) {
    timer = setTimeout(() => end.abort(), GRACE_MS);
    request.runtime.waitUntil(all.finally(() => clearTimeout(timer)));
  }
  return new Map(found);
}

/** Counts values as described for `sampleValues`. The values in `rows` are in the order of `columns`. Pure. */
export function samplesOf(columns: readonly Pick<SubjectColumn, 'name' | 'type'>[], rows: readonly (readonly (string | null)[])[]): Samples {
  const found: SampledColumn[] = [];
  const lookup = new Map<string, Place[]>();
  const whole = rows.length < MAX_ROWS;
  let left = MAX_OF_SUBJECT;
  for (const [i, { name, type }] of columns.entries()) {
    const counts = new Map<string, number>();
    let long = 0;
    for (const row of rows) {
      const value = row[i];
      if (value === null || value === undefined || value.trim() === '') continue;
      if (value.length > LONGEST) long++;
      else counts.set(value, (counts.get(value) ?? 0) + 1);
    }
    const seen = [...counts.values()].reduce((n, c) => n + c, 0);
    // skips long texts, and numbers and dates of a column of unknown type
    if (left === 0 || long > seen || (type === null && [...counts.keys()].every((v) => NO_TEXT.test(v)))) continue;
    const values = [...counts].map(([value, count]) => ({ value, count })).sort((a, b) => b.count - a.count || (a.value < b.value ? -1 : 1));
    const most = values.slice(0, Math.min(left, whole ? MAX_VALUES : MAX_OF_PART));
    left -= most.length;
    found.push({ name, values: most, distinct: counts.size, complete: whole && long === 0 && most.length === values.length });
    for (const { value, count } of most) {
      const key = keyOf(value);
      if (key === undefined) continue;
      const place = { column: name, value, count };
      const known = lookup.get(key);
      if (known === undefined) lookup.set(key, [place]);
      else if (known.length < 8) known.push(place);
    }
  }
  return { rows: rows.length, columns: found, lookup };
}

const NO_TEXT = /^(?:[-+\d.,:/ TZeE]+|true|false)$/;

function keyOf(value: string): string | undefined {
  const all = words(value);
  return all.length === 0 || all.length > MAX_WORDS ? undefined : all.map((w) => w.stem).join(' ');
}

const bytesOf = ({ columns, lookup }: Samples): number =>
  200 + columns.reduce((sum, c) => sum + 120 + c.values.reduce((n, v) => n + 2 * v.value.length + 60, 0), 0) + lookup.size * 200;

const TEXT = /^(?:string|text|citext|name|(?:character )?varying.*|character varying.*|varchar.*|bpchar.*|char.*)$/i;
/** Columns that must not be sent to a language model, by name ... */
const SECRET =
  /(?:^| )(?:password|passwd|passphrase|pwd|secret|token|credential|credentials|api key|apikey|access key|private key|hash|salt|otp|pin|cvv|cvc|ssn|social security|iban|card number|passport)(?: |$)/;
/** ... or by a tag, unless its value means no. */
const PERSONAL = /^(?:pii|sensitive|secret|confidential|personal|personal data|gdpr|phi|restricted|private)$/;
const NO = /^(?:|no|none|false|0|off|public)$/i;

/** Entity ids and types in columns of views. */
const ENTITY = /^entity_(?:id|type)$/i;

/** The columns of a subject whose values may be shown to a language model: texts, label columns first, at most `MAX_COLUMNS`. */
export function sampledColumns(subject: Subject): readonly SubjectColumn[] {
  let multi = false;
  return subject.columns
    .filter((c) => !c.isMeasure && !ENTITY.test(c.name) && (c.type === null || TEXT.test(c.type)) && !isSecret(c))
    .filter((c) => {
      // two lists of values in one statement would yield their cross product
      if (c.isMulti && multi) return false;
      multi ||= c.isMulti;
      return true;
    })
    .sort((a, b) => Number(b.isLabel) - Number(a.isLabel) || Number(a.inheritedFrom !== null) - Number(b.inheritedFrom !== null))
    .slice(0, MAX_COLUMNS);
}

const spaced = (name: string): string =>
  words(name)
    .map((w) => w.text)
    .join(' ');

/** Whether a column's values are kept from language models, by its name or by a tag. */
export const isSecret = ({ name, tags, valueTags }: Pick<SubjectColumn, 'name' | 'tags' | 'valueTags'>): boolean =>
  SECRET.test(spaced(name)) || Object.entries({ ...valueTags, ...tags }).some(([tag, value]) => PERSONAL.test(spaced(tag)) && !NO.test(value.trim()));

/** The values of a sample in a question, longest first. Linear in the question. */
export function matches(question: string | readonly Word[], samples: Samples): readonly Match[] {
  if (samples.lookup.size === 0) return [];
  const asked = typeof question === 'string' ? words(question) : question;
  const found: Match[] = [];
  for (const from of asked.keys()) {
    let key = '';
    for (let to = from + 1; to <= Math.min(asked.length, from + MAX_WORDS); to++) {
      const word = asked[to - 1] as Word;
      key = key === '' ? word.stem : `${key} ${word.stem}`;
      for (const place of samples.lookup.get(key) ?? []) if (to - from > 1 || namesAlone(word, place.value, from)) found.push({ ...place, from, to });
    }
  }
  return found.sort((a, b) => b.to - b.from - (a.to - a.from) || a.from - b.from);
}

/** The maximum length of a value that may be a code. */
const SHORT = 3;

/**
 * Whether a single word names a value. A stop word, a single letter or a short number does not, unless it is spelled like the value in
 * upper case (`US`, `A`) and is not just the first word of the question.
 */
function namesAlone({ raw, text, stop }: Word, value: string, at: number): boolean {
  // a code is not the singular of another word: `lies` does not name LIE
  if (text.length <= SHORT + 1 && value.trim().length <= SHORT && text !== plain(value.trim())) return false;
  const meansLittle = stop || (/^[\p{L}\p{N}]$/u.test(text) && !/\p{Script=Han}/u.test(text)) || /^\d{1,3}$/.test(text) || text === 'yes';
  return !meansLittle || (at > 0 && raw === value.trim() && raw !== 'I' && /\p{Lu}/u.test(raw) && raw === raw.toUpperCase());
}
