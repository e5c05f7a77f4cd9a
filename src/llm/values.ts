/**
 * What the values of a subject look like: of a bounded sample of its rows, read as the caller, so that grants, policies and masks act
 * on it. A question that names one of them is told what it names (literal linking).
 */
import { cacheOf } from '../cache.ts';
import { outlivesRights, type QuestionModel, type ServiceRequest, type Subject, type SubjectColumn, sampleRows } from '../service.ts';
import { subjectKey } from './rank-index.ts';
import { plain, type Word, words } from './words.ts';

export interface SampledValue {
  readonly value: string;
  /** Rows of the sample that have it. */
  readonly count: number;
}

export interface SampledColumn {
  readonly name: string;
  /** Those of most rows first; so many at most. */
  readonly values: readonly SampledValue[];
  /** How many different ones the sample has. */
  readonly distinct: number;
  /** Whether `values` are all that the column has: the sample held all rows, and no value was left out. */
  readonly complete: boolean;
}

export interface Samples {
  /** Rows that were read. */
  readonly rows: number;
  readonly columns: readonly SampledColumn[];
  /** Columns and values by the stems of a value's words. */
  readonly lookup: ReadonlyMap<string, readonly Place[]>;
}

interface Place {
  readonly column: string;
  readonly value: string;
  readonly count: number;
}

/** A value that stands in a question. */
export interface Match extends Place {
  /** Numbers of the question's words, `to` excluded. */
  readonly from: number;
  readonly to: number;
}

const MOST_ROWS = 1_000;
const MOST_COLUMNS = 12;
const MOST_VALUES = 300;
/** The same where the sample is a part of the rows, and so the values of a long list are any of them. */
const MOST_OF_PART = 100;
/** Of all columns of a subject together, since each caller has samples of its own. */
const MOST_OF_SUBJECT = 1_500;
/** A longer value is a text: nobody names it as a whole, and a model needs none of it. */
const LONGEST = 60;
/** A value of more words is not looked for. */
const MOST_WORDS = 6;
const FRESH_MS = 10 * 60_000;
/** A datasource that failed is not asked again before this has passed. */
const FAILED_MS = 60_000;

export const NO_SAMPLES: Samples = { rows: 0, columns: [], lookup: new Map() };

const kept = cacheOf<{ readonly samples: Samples; readonly until: number }>('samples');
const placeOf = (model: Pick<QuestionModel, 'key'>, subject: Subject): string => `${model.key}\u0000${subjectKey(subject)}`;

/** What is remembered of a subject's values; undefined: they have to be read. */
export function rememberedSamples(request: ServiceRequest, model: Pick<QuestionModel, 'key'>, subject: Subject): Samples | undefined {
  const known = kept.get(placeOf(model, subject));
  return known !== undefined && known.until > request.runtime.now() ? known.samples : undefined;
}

/**
 * Values of the subject's text columns, as the caller may see them; remembered for ten minutes. Columns that look like secrets, or
 * bear a tag such as `pii`, are never read. A datasource that fails gives no values, and no error; so does a request whose samples have used their budget. `signal`: ends the reading sooner.
 */
export async function sampleValues(
  request: ServiceRequest,
  model: Pick<QuestionModel, 'key' | 'ontology'>,
  subject: Subject,
  signal = request.signal,
): Promise<Samples> {
  const known = rememberedSamples(request, model, subject);
  if (known !== undefined) return known;
  const columns = sampledColumns(subject);
  const spending = request.spending.samples;
  if (spending.isSpent || outlivesRights(request)) return NO_SAMPLES;
  let samples = NO_SAMPLES;
  let fresh = FRESH_MS;
  if (columns.length > 0) {
    try {
      const rows = await sampleRows(
        // what the request says of versions and results is about its own statement; samples have their time as a bound
        {
          ...request,
          caller: { ...request.caller, refresh: () => Promise.reject(new Error('samples are kept by these rights')) },
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
          rows: MOST_ROWS,
        },
      );
      samples = samplesOf(columns, rows);
    } catch {
      // the statement of the question itself will tell what is wrong
      if (request.signal.aborted || spending.isSpent) return NO_SAMPLES;
      fresh = FAILED_MS;
    }
  }
  kept.set(placeOf(model, subject), { samples, until: request.runtime.now() + fresh }, bytesOf(samples));
  return samples;
}

/** Statements that read samples at a time: a Worker has six connections. */
const PARALLEL = 3;
/** What is being read when nobody waits any more may go on so long, for the next question. */
const GRACE_MS = 3_000;

/** Samples of several subjects by `subjectKey`, those that are there within `waitMs`. Never fails. */
export async function samplesWithin(
  request: ServiceRequest,
  model: Pick<QuestionModel, 'key' | 'ontology'>,
  subjects: readonly Subject[],
  waitMs: number,
): Promise<ReadonlyMap<string, Samples>> {
  const found = new Map<string, Samples>();
  const missing: Subject[] = [];
  for (const subject of subjects) {
    const known = rememberedSamples(request, model, subject);
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

/** Values counted, as `sampleValues` does; `rows` in the order of `columns`. Pure. */
export function samplesOf(columns: readonly Pick<SubjectColumn, 'name' | 'type'>[], rows: readonly (readonly (string | null)[])[]): Samples {
  const told: SampledColumn[] = [];
  const lookup = new Map<string, Place[]>();
  const whole = rows.length < MOST_ROWS;
  let left = MOST_OF_SUBJECT;
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
    // texts rather than values, or numbers and dates of a column whose type nobody has told
    if (left === 0 || long > seen || (type === null && [...counts.keys()].every((v) => NO_TEXT.test(v)))) continue;
    const values = [...counts].map(([value, count]) => ({ value, count })).sort((a, b) => b.count - a.count || (a.value < b.value ? -1 : 1));
    const most = values.slice(0, Math.min(left, whole ? MOST_VALUES : MOST_OF_PART));
    left -= most.length;
    told.push({ name, values: most, distinct: counts.size, complete: whole && long === 0 && most.length === values.length });
    for (const { value, count } of most) {
      const key = keyOf(value);
      if (key === undefined) continue;
      const place = { column: name, value, count };
      const known = lookup.get(key);
      if (known === undefined) lookup.set(key, [place]);
      else if (known.length < 8) known.push(place);
    }
  }
  return { rows: rows.length, columns: told, lookup };
}

const NO_TEXT = /^(?:[-+\d.,:/ TZeE]+|true|false)$/;

function keyOf(value: string): string | undefined {
  const all = words(value);
  return all.length === 0 || all.length > MOST_WORDS ? undefined : all.map((w) => w.stem).join(' ');
}

const bytesOf = ({ columns, lookup }: Samples): number =>
  200 + columns.reduce((sum, c) => sum + 120 + c.values.reduce((n, v) => n + 2 * v.value.length + 60, 0), 0) + lookup.size * 200;

const TEXT = /^(?:string|text|citext|name|(?:character )?varying.*|character varying.*|varchar.*|bpchar.*|char.*)$/i;
/** What nobody should hand to a language model, by the name of the column ... */
const SECRET =
  /(?:^| )(?:password|passwd|passphrase|pwd|secret|token|credential|credentials|api key|apikey|access key|private key|hash|salt|otp|pin|cvv|cvc|ssn|social security|iban|card number|passport)(?: |$)/;
/** ... or by a tag of it that does not say no. */
const PERSONAL = /^(?:pii|sensitive|secret|confidential|personal|personal data|gdpr|phi|restricted|private)$/;
const NO = /^(?:|no|none|false|0|off|public)$/i;

/** Numbers and kinds of rows, as views hand them on. */
const ENTITY = /^entity_(?:id|type)$/i;

function sampledColumns(subject: Subject): readonly SubjectColumn[] {
  let multi = false;
  return subject.columns
    .filter((c) => !c.isMeasure && !ENTITY.test(c.name) && (c.type === null || TEXT.test(c.type)) && !isSecret(c))
    .filter((c) => {
      // two lists of values in one statement would be each value with each
      if (c.isMulti && multi) return false;
      multi ||= c.isMulti;
      return true;
    })
    .sort((a, b) => Number(b.isLabel) - Number(a.isLabel) || Number(a.inheritedFrom !== null) - Number(b.inheritedFrom !== null))
    .slice(0, MOST_COLUMNS);
}

const spaced = (name: string): string =>
  words(name)
    .map((w) => w.text)
    .join(' ');

/** Whether values of a column are kept from language models: by its name, or by a tag. */
export const isSecret = ({ name, tags, valueTags }: Pick<SubjectColumn, 'name' | 'tags' | 'valueTags'>): boolean =>
  SECRET.test(spaced(name)) || Object.entries({ ...valueTags, ...tags }).some(([tag, value]) => PERSONAL.test(spaced(tag)) && !NO.test(value.trim()));

/** The values of a sample that stand in the question, the longest first. Linear in the question. */
export function matches(question: string | readonly Word[], samples: Samples): readonly Match[] {
  if (samples.lookup.size === 0) return [];
  const asked = typeof question === 'string' ? words(question) : question;
  const found: Match[] = [];
  for (const from of asked.keys()) {
    let key = '';
    for (let to = from + 1; to <= Math.min(asked.length, from + MOST_WORDS); to++) {
      const word = asked[to - 1] as Word;
      key = key === '' ? word.stem : `${key} ${word.stem}`;
      for (const place of samples.lookup.get(key) ?? []) if (to - from > 1 || namesAlone(word, place.value, from)) found.push({ ...place, from, to });
    }
  }
  return found.sort((a, b) => b.to - b.from - (a.to - a.from) || a.from - b.from);
}

/** Characters of a value that may be a code. */
const SHORT = 3;

/**
 * Whether one word names a value: not a word of the grammar, a lone letter or a short number, unless it is written as the value is, in
 * capitals (`US`, `A`), and does not only begin the question.
 */
function namesAlone({ raw, text, stop }: Word, value: string, at: number): boolean {
  // a code is no plural of another word: `lies` does not name LIE
  if (text.length <= SHORT + 1 && value.trim().length <= SHORT && text !== plain(value.trim())) return false;
  const meansLittle = stop || (/^[\p{L}\p{N}]$/u.test(text) && !/\p{Script=Han}/u.test(text)) || /^\d{1,3}$/.test(text) || text === 'yes';
  return !meansLittle || (at > 0 && raw === value.trim() && raw !== 'I' && /\p{Lu}/u.test(raw) && raw === raw.toUpperCase());
}
