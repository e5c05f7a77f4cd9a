/** What the graph tells a model that is to write SQL for one question: its shape round the subject, and values as they are really written. */
import type { QuestionModel, ServiceRequest, Subject } from '../service.ts';
import { sqlContext } from './context.ts';
import { line } from './fence.ts';
import { subjectKey } from './rank-index.ts';
import { literalsOf } from './sql-text.ts';
import { matches, NO_SAMPLES, type Samples, samplesWithin } from './values.ts';
import { plain, stems } from './words.ts';

export interface KnowledgeParts {
  readonly request: ServiceRequest;
  readonly model: QuestionModel;
  readonly subject: Subject;
  /** Further relations that may be read, best first. */
  readonly others: readonly Subject[];
  readonly question: string;
  /** How many relationships a path may chain. */
  readonly depth: number;
  readonly product: string;
}

/** Values are asked of so many concepts besides the subject. */
const MOST_SAMPLED = 8;
/** The model waits no longer for them. */
const PATIENCE_MS = 3_000;
const MOST_LINKED = 12;
const MOST_NEAR = 6;
/** Literals of a statement that are looked at. */
const MOST_LITERALS = 50;

export class Knowledge {
  /** What the model is told. */
  readonly text: string;
  readonly #samples: ReadonlyMap<Subject, Samples>;
  #values: readonly KnownValue[] | undefined;

  private constructor(text: string, samples: ReadonlyMap<Subject, Samples>) {
    this.text = text;
    this.#samples = samples;
  }

  /** Reads values of the subject and of the concepts next to it as the caller; without them it tells less, and never fails. */
  static async of(parts: KnowledgeParts): Promise<Knowledge> {
    const samples = await sampled(parts, [parts.subject, ...neighbours(parts)]);
    const of = (subject: Subject): Samples => samples.get(subject) ?? NO_SAMPLES;
    const context = sqlContext({
      ...parts,
      values: (subject, column) => {
        const known = of(subject).columns.find((c) => c.name === column);
        return known && { values: known.values.map((v) => v.value), complete: known.complete, distinct: known.distinct };
      },
    });
    return new Knowledge([context, ...linked(parts.question, samples)].join('\n'), samples);
  }

  /** Values that are written nearly as those that a statement compares with. */
  emptyHint(sql: string): string {
    const near = this.#like(
      sql,
      (known, wanted) => known === wanted || (Math.min(known.length, wanted.length) > 3 && (known.includes(wanted) || wanted.includes(known))),
    );
    return near.length === 0 ? '' : `Written nearly alike: <<<${near.join('; ')}>>>`;
  }

  /** Values that a statement compares with and that are written in another way wherever they are known. */
  doubt(sql: string): string {
    const other = this.#like(sql, (known, wanted) => known === wanted);
    return other.length === 0 ? '' : `It compares with a value that is written in another way: <<<${other.join('; ')}>>>`;
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

async function sampled({ request, model }: KnowledgeParts, subjects: readonly Subject[]): Promise<ReadonlyMap<Subject, Samples>> {
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
