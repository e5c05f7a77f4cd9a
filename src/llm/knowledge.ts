/** What a model gets to know about the graph to write SQL for a question: the surroundings of the subject, and the spelling of values. */
import { type ServiceRequest, type Subject, sameName } from '../service.ts';
import { comparisonsOf, relationsOf } from './comparisons.ts';
import { type ContextParts, sqlContext } from './context.ts';
import { line } from './fence.ts';
import { subjectKey } from './rank-index.ts';
import { literalsOf } from './sql-text.ts';
import { matches, NO_SAMPLES, type Samples, samplesWithin } from './values.ts';
import { plain, stems } from './words.ts';

export interface KnowledgeParts extends Omit<ContextParts, 'values'> {
  readonly request: ServiceRequest;
}

/** The maximum number of concepts to sample in addition to the subject. */
const MAX_SAMPLED = 8;
/** The maximum time to wait for samples. */
const WAIT_MS = 3_000;
const MAX_LINKED = 12;
const MAX_NEAR = 6;
/** The maximum number of values to list for a column that lacks the compared value. */
const MAX_SHOWN = 20;
/** The maximum number of literals of a statement to check. */
const MAX_LITERALS = 50;

export class Knowledge {
  /** The text for the prompt. */
  readonly text: string;
  readonly #parts: KnowledgeParts;
  readonly #samples: Map<Subject, Samples>;
  #values: readonly KnownValue[] | undefined;

  private constructor(parts: KnowledgeParts, text: string, samples: ReadonlyMap<Subject, Samples>) {
    this.#parts = parts;
    this.text = text;
    this.#samples = new Map(samples);
  }

  /** Samples the values of the subject and of related concepts, as the caller. Never fails: without samples, the text has no values. */
  static async of(parts: KnowledgeParts): Promise<Knowledge> {
    const samples = await sampled(parts, [parts.subject, ...neighbours(parts)]);
    const of = (subject: Subject): Samples => samples.get(subject) ?? NO_SAMPLES;
    const context = sqlContext({
      ...parts,
      values: (subject, column) => of(subject).columns.find((c) => c.name === column),
    });
    return new Knowledge(parts, [context, ...linked(parts.question, samples)].join('\n'), samples);
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
   * whose values are all known. Reads values that are not known yet.
   */
  async doubt(sql: string): Promise<string> {
    const missing = await this.#missing(sql);
    const other = this.#similar(sql, (known, wanted) => known === wanted);
    return [
      other.length === 0 ? '' : `It compares with a value that is spelled differently: <<<${other.join('; ')}>>>`,
      missing.length === 0 ? '' : `It compares with a value that does not exist: <<<${missing.join('; ')}>>>`,
    ]
      .filter((text) => text !== '')
      .join(' ');
  }

  /** Comparisons with values that occur in none of the possible columns, if all values of these columns are known. */
  async #missing(sql: string): Promise<readonly string[]> {
    const { request, model, product } = this.#parts;
    const read = relationsOf(sql, product).flatMap((name) => model.subject(name) ?? []);
    const meant = comparisonsOf(sql).map((c) => {
      const subjects = (c.target === null ? read : [model.subject(c.target)]).flatMap((s) => (s?.columns.some((x) => sameName(x.name, c.column)) ? [s] : []));
      return { ...c, subjects };
    });
    const unknown = [...new Set(meant.flatMap((c) => c.subjects))].filter((s) => s.kind !== 'cube' && !this.#samples.has(s)).slice(0, MAX_SAMPLED);
    if (unknown.length > 0) {
      for (const [subject, samples] of await sampled({ request, model }, unknown)) this.#samples.set(subject, samples);
      this.#values = undefined;
    }
    const found = new Set<string>();
    for (const { column, value, subjects } of meant) {
      const columns = subjects.map((s) => this.#samples.get(s)?.columns.find((x) => sameName(x.name, column)));
      const complete = columns.flatMap((x) => (x?.complete ? [x] : []));
      if (subjects.length === 0 || complete.length < subjects.length || complete.some((x) => x.values.some((v) => v.value === value))) continue;
      const all = [...new Set(complete.flatMap((x) => x.values.map((v) => v.value)))];
      const shown = all.slice(0, MAX_SHOWN).map((v) => `'${line(v, 60)}'`);
      if (found.size < MAX_NEAR)
        found.add(`${line(column, 128)} has no '${line(value, 60)}', but ${shown.join(', ')}${all.length > MAX_SHOWN ? ' and more' : ''}`);
    }
    return [...found];
  }

  /** Known values that are similar to literals of a statement. A literal that is a known value itself is skipped. Both are folded for the comparison. */
  #similar(sql: string, isSimilar: (known: string, wanted: string) => boolean): readonly string[] {
    const values = this.#known();
    const exact = new Set(values.map((v) => v.value));
    const literals = [...new Set(literalsOf(sql))].filter((literal) => !exact.has(literal)).slice(0, MAX_LITERALS);
    const found = new Set<string>();
    for (const wanted of literals.map(folded)) {
      if (wanted === '') continue;
      for (const { place, value, known } of values) {
        if (found.size >= MAX_NEAR) return [...found];
        if (isSimilar(known, wanted)) found.add(`${line(place, 260)} has '${line(value, 60)}'`);
      }
    }
    return [...found];
  }

  /** All known values, with their folded form. */
  #known(): readonly KnownValue[] {
    this.#values ??= [...this.#samples].flatMap(([subject, { columns }]) =>
      columns.flatMap(({ name, values }) => values.map(({ value }) => ({ place: `${subject.name}.${name}`, value, known: folded(value) }))),
    );
    return this.#values;
  }
}

interface KnownValue {
  readonly place: string;
  readonly value: string;
  readonly known: string;
}

const folded = (text: string): string => plain(text).trim();

/** The concepts that relationships lead to. Those with words of the question come first. */
function neighbours({ model, subject, question }: KnowledgeParts): readonly Subject[] {
  const asked = new Set(stems(question));
  const found = new Set(subject.relationships.flatMap((r) => model.subject(r.target) ?? []));
  found.delete(subject);
  const score = (s: Subject): number => stems(`${s.name} ${s.columns.map((c) => c.name).join(' ')}`).filter((w) => asked.has(w)).length;
  const scores = new Map([...found].map((s) => [s, score(s)]));
  return [...found].sort((a, b) => (scores.get(b) ?? 0) - (scores.get(a) ?? 0)).slice(0, MAX_SAMPLED);
}

async function sampled({ request, model }: Pick<KnowledgeParts, 'request' | 'model'>, subjects: readonly Subject[]): Promise<ReadonlyMap<Subject, Samples>> {
  const found = await samplesWithin(request, model, subjects, WAIT_MS);
  return new Map(subjects.flatMap((s) => [found.get(subjectKey(s))].flatMap((samples) => (samples === undefined ? [] : [[s, samples] as const]))));
}

/** The words of the question that are values, for conditions. */
function linked(question: string, samples: ReadonlyMap<Subject, Samples>): readonly string[] {
  const found = [...samples].flatMap(([subject, of]) =>
    matches(question, of).map(({ column, value }) => `${subject.name}.\`${column}\` = '${line(value, 60).replaceAll("'", "''")}'`),
  );
  return found.length === 0 ? [] : [`Words of the question that are values: ${[...new Set(found)].slice(0, MAX_LINKED).join('; ')}`];
}
