/** What the graph tells a model that is to write SQL for one question: its shape round the subject, and values as they are really written. */
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

/** Values are asked of so many concepts besides the subject. */
const MOST_SAMPLED = 8;
/** The model waits no longer for them. */
const PATIENCE_MS = 3_000;
const MOST_LINKED = 12;
const MOST_NEAR = 6;
/** Values that are told of a column which has not the one that is compared with. */
const MOST_SHOWN = 20;
/** Literals of a statement that are looked at. */
const MOST_LITERALS = 50;

export class Knowledge {
  /** What the model is told. */
  readonly text: string;
  readonly #parts: KnowledgeParts;
  readonly #samples: Map<Subject, Samples>;
  #values: readonly KnownValue[] | undefined;

  private constructor(parts: KnowledgeParts, text: string, samples: ReadonlyMap<Subject, Samples>) {
    this.#parts = parts;
    this.text = text;
    this.#samples = new Map(samples);
  }

  /** Reads values of the subject and of the concepts next to it as the caller; without them it tells less, and never fails. */
  static async of(parts: KnowledgeParts): Promise<Knowledge> {
    const samples = await sampled(parts, [parts.subject, ...neighbours(parts)]);
    const of = (subject: Subject): Samples => samples.get(subject) ?? NO_SAMPLES;
    const context = sqlContext({
      ...parts,
      values: (subject, column) => of(subject).columns.find((c) => c.name === column),
    });
    return new Knowledge(parts, [context, ...linked(parts.question, samples)].join('\n'), samples);
  }

  /** Values that are written nearly as those that a statement compares with. */
  emptyHint(sql: string): string {
    const near = this.#like(
      sql,
      (known, wanted) => known === wanted || (Math.min(known.length, wanted.length) > 3 && (known.includes(wanted) || wanted.includes(known))),
    );
    return near.length === 0 ? '' : `Written nearly alike: <<<${near.join('; ')}>>>`;
  }

  /**
   * What speaks against a statement that holds: it compares with a value that is written in another way wherever it is known, or that a column
   * has not whose values are all known. Values that are not known yet are read for it.
   */
  async doubt(sql: string): Promise<string> {
    const missing = await this.#missing(sql);
    const other = this.#like(sql, (known, wanted) => known === wanted);
    return [
      other.length === 0 ? '' : `It compares with a value that is written in another way: <<<${other.join('; ')}>>>`,
      missing.length === 0 ? '' : `It compares with a value that is not there: <<<${missing.join('; ')}>>>`,
    ]
      .filter((text) => text !== '')
      .join(' ');
  }

  /** Comparisons with values that none of the columns has which may be meant, where all values of these are known. */
  async #missing(sql: string): Promise<readonly string[]> {
    const { request, model, product } = this.#parts;
    const read = relationsOf(sql, product).flatMap((name) => model.subject(name) ?? []);
    const meant = comparisonsOf(sql).map((c) => {
      const subjects = (c.target === null ? read : [model.subject(c.target)]).flatMap((s) => (s?.columns.some((x) => sameName(x.name, c.column)) ? [s] : []));
      return { ...c, subjects };
    });
    const unknown = [...new Set(meant.flatMap((c) => c.subjects))].filter((s) => s.kind !== 'cube' && !this.#samples.has(s)).slice(0, MOST_SAMPLED);
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
      const shown = all.slice(0, MOST_SHOWN).map((v) => `'${line(v, 60)}'`);
      if (found.size < MOST_NEAR)
        found.add(`${line(column, 128)} has no '${line(value, 60)}', but ${shown.join(', ')}${all.length > MOST_SHOWN ? ' and more' : ''}`);
    }
    return [...found];
  }

  /** Known values that are like a literal of a statement which is itself no known value; both are compared as `folded` has them. */
  #like(sql: string, isLike: (known: string, wanted: string) => boolean): readonly string[] {
    const values = this.#known();
    const exact = new Set(values.map((v) => v.value));
    const literals = [...new Set(literalsOf(sql))].filter((literal) => !exact.has(literal)).slice(0, MOST_LITERALS);
    const found = new Set<string>();
    for (const wanted of literals.map(folded)) {
      if (wanted === '') continue;
      for (const { place, value, known } of values) {
        if (found.size >= MOST_NEAR) return [...found];
        if (isLike(known, wanted)) found.add(`${line(place, 260)} has '${line(value, 60)}'`);
      }
    }
    return [...found];
  }

  /** All values that are known, folded once. */
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

/** The concepts to which relationships lead, those first whose words the question has. */
function neighbours({ model, subject, question }: KnowledgeParts): readonly Subject[] {
  const asked = new Set(stems(question));
  const found = new Set(subject.relationships.flatMap((r) => model.subject(r.target) ?? []));
  found.delete(subject);
  const said = (s: Subject): number => stems(`${s.name} ${s.columns.map((c) => c.name).join(' ')}`).filter((w) => asked.has(w)).length;
  const scores = new Map([...found].map((s) => [s, said(s)]));
  return [...found].sort((a, b) => (scores.get(b) ?? 0) - (scores.get(a) ?? 0)).slice(0, MOST_SAMPLED);
}

async function sampled({ request, model }: Pick<KnowledgeParts, 'request' | 'model'>, subjects: readonly Subject[]): Promise<ReadonlyMap<Subject, Samples>> {
  const found = await samplesWithin(request, model, subjects, PATIENCE_MS);
  return new Map(subjects.flatMap((s) => [found.get(subjectKey(s))].flatMap((samples) => (samples === undefined ? [] : [[s, samples] as const]))));
}

/** Words of the question that are values: what a condition is to compare with. */
function linked(question: string, samples: ReadonlyMap<Subject, Samples>): readonly string[] {
  const found = [...samples].flatMap(([subject, of]) =>
    matches(question, of).map(({ column, value }) => `${subject.name}.\`${column}\` = '${line(value, 60).replaceAll("'", "''")}'`),
  );
  return found.length === 0 ? [] : [`Words of the question that are values: ${[...new Set(found)].slice(0, MOST_LINKED).join('; ')}`];
}
