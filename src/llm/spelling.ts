/** Compares the texts in a statement with values of the graph: other spellings, and values that do not exist. */
import { type QuestionModel, type ServiceRequest, type Subject, sameName } from '../service.ts';
import { comparisonsOf } from './comparisons.ts';
import { line } from './fence.ts';
import { subjectKey } from './rank-index.ts';
import { literalsOf } from './sql-text.ts';
import { type Samples, samplesWithin } from './values.ts';
import { plain } from './words.ts';

/** The maximum number of concepts to sample for one statement. */
const MAX_SAMPLED = 8;
/** The maximum time to wait for samples. */
const WAIT_MS = 3_000;
const MAX_NEAR = 6;
/** The maximum number of values to list for a column that lacks the compared value. */
const MAX_SHOWN = 20;
/** The maximum number of literals of a statement to check. */
const MAX_LITERALS = 50;

interface KnownValue {
  readonly place: string;
  readonly value: string;
  /** The value without case and accents. */
  readonly folded: string;
}

export class Spelling {
  readonly #request: ServiceRequest;
  readonly #model: QuestionModel;
  readonly #samples: Map<string, Samples>;
  #values: readonly KnownValue[] | undefined;

  /** `samples`: known samples by `subjectKey`; further ones are added. */
  constructor({ request, model }: { readonly request: ServiceRequest; readonly model: QuestionModel }, samples: Map<string, Samples>) {
    this.#request = request;
    this.#model = model;
    this.#samples = samples;
  }

  /** Must be called when samples were added. */
  changed(): void {
    this.#values = undefined;
  }

  /** Lists known values that are similar to the literals of a statement. */
  emptyHint(sql: string): string {
    const near = this.#similar(
      sql,
      (known, wanted) => known === wanted || (Math.min(known.length, wanted.length) > 3 && (known.includes(wanted) || wanted.includes(known))),
    );
    return near.length === 0 ? '' : `Similar values: <<<${near.join('; ')}>>>`;
  }

  /**
   * Reasons to doubt a valid statement: a literal is spelled differently wherever the value is known, or it does not occur in a column
   * whose values are all known. Reads values that are not known yet. `relations`: the names of relations that the statement reads.
   */
  async doubt(sql: string, relations: readonly string[]): Promise<string> {
    const missing = await this.#missing(sql, relations);
    const other = this.#similar(sql, (known, wanted) => known === wanted);
    return [
      other.length === 0 ? '' : `It compares with a value that is spelled differently: <<<${other.join('; ')}>>>`,
      missing.length === 0 ? '' : `It compares with a value that does not exist: <<<${missing.join('; ')}>>>`,
    ]
      .filter((text) => text !== '')
      .join(' ');
  }

  /** Comparisons with values that occur in none of the possible columns, if all values of these columns are known. */
  async #missing(sql: string, relations: readonly string[]): Promise<readonly string[]> {
    const read = relations.flatMap((name) => this.#model.subject(name) ?? []);
    const meant = comparisonsOf(sql).map((c) => {
      const subjects = (c.target === null ? read : [this.#model.subject(c.target)]).flatMap((s) =>
        s?.columns.some((x) => sameName(x.name, c.column)) ? [s] : [],
      );
      return { ...c, subjects };
    });
    await this.#read(meant.flatMap((c) => c.subjects));
    const found = new Set<string>();
    for (const { column, value, subjects } of meant) {
      const columns = subjects.map((s) => this.#samples.get(subjectKey(s))?.columns.find((x) => sameName(x.name, column)));
      const complete = columns.flatMap((x) => (x?.complete ? [x] : []));
      if (subjects.length === 0 || complete.length < subjects.length || complete.some((x) => x.values.some((v) => v.value === value))) continue;
      const all = [...new Set(complete.flatMap((x) => x.values.map((v) => v.value)))];
      const shown = all.slice(0, MAX_SHOWN).map((v) => `'${line(v, 60)}'`);
      if (found.size < MAX_NEAR)
        found.add(`${line(column, 128)} has no '${line(value, 60)}', but ${shown.join(', ')}${all.length > MAX_SHOWN ? ' and more' : ''}`);
    }
    return [...found];
  }

  async #read(subjects: readonly Subject[]): Promise<void> {
    const unknown = [...new Set(subjects)].filter((s) => s.kind !== 'cube' && !this.#samples.has(subjectKey(s))).slice(0, MAX_SAMPLED);
    if (unknown.length === 0) return;
    for (const [key, samples] of await samplesWithin(this.#request, this.#model, unknown, WAIT_MS)) this.#samples.set(key, samples);
    this.changed();
  }

  /** Known values that are similar to literals of a statement. A literal that is a known value itself is skipped. Both are folded for the comparison. */
  #similar(sql: string, isSimilar: (known: string, wanted: string) => boolean): readonly string[] {
    const values = this.#known();
    const exact = new Set(values.map((v) => v.value));
    const literals = [...new Set(literalsOf(sql))].filter((literal) => !exact.has(literal)).slice(0, MAX_LITERALS);
    const found = new Set<string>();
    for (const wanted of literals.map(folded)) {
      if (wanted === '') continue;
      for (const { place, value, folded: known } of values) {
        if (found.size >= MAX_NEAR) return [...found];
        if (isSimilar(known, wanted)) found.add(`${line(place, 260)} has '${line(value, 60)}'`);
      }
    }
    return [...found];
  }

  /** All known values, with their folded form. */
  #known(): readonly KnownValue[] {
    const names = new Map(this.#model.subjects.map((s) => [subjectKey(s), s.name]));
    this.#values ??= [...this.#samples].flatMap(([key, { columns }]) =>
      columns.flatMap(({ name, values }) => values.map(({ value }) => ({ place: `${names.get(key) ?? ''}.${name}`, value, folded: folded(value) }))),
    );
    return this.#values;
  }
}

const folded = (text: string): string => plain(text).trim();
