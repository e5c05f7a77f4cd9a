/** Statements of a language model on their way to the datasource: one SELECT on the ontology, within what the question may read. */
import { badRequest, positionOf, type SvcError } from '../errors.ts';
import { type Answer, type NamedRelation, runScript, type ServiceRequest } from '../service.ts';
import { cut } from './fence.ts';

/** The first rows of an answer, and whether there are more. */
export interface Rows {
  readonly rows: readonly Readonly<Record<string, unknown>>[];
  readonly truncated: boolean;
}

/** What runs statements of a question. */
export interface Runner {
  readonly request: ServiceRequest;
  readonly ontology: string;
  /** Reads the first rows of an answer. */
  readonly collect: (answer: Answer, most: number) => Promise<Rows>;
  /** Whether the question may read it. */
  readonly admits: (relation: NamedRelation) => boolean;
}

/** A statement that holds: what it reads by name, and its rows. */
export interface Ran extends Rows {
  readonly relations: readonly NamedRelation[];
}

/**
 * Plans a statement as the caller and has the datasource run it; `most` 0: it is understood and typed, and gives no rows.
 * @throws SvcError 400 where it does not hold, is not one SELECT, reads nothing of the ontology or something outside of the question's scope; as `runScript`
 */
export async function runSelect({ request, ontology, collect, admits }: Runner, sql: string, most: number): Promise<Ran> {
  const relations: NamedRelation[] = [];
  const answer = await runScript(request, {
    ontology,
    sql,
    // one more tells whether there are more
    limit: most === 0 ? 0 : most + 1,
    datasource: null,
    permitted: 'query',
    admits: (relation) => {
      relations.push(relation);
      return relation.kind !== 'system' && admits(relation);
    },
  });
  const rows = await collect(answer, most);
  if (relations.length === 0) throw badRequest('reads_nothing', 'The statement reads no concept and no view');
  return { ...rows, relations };
}

/** A longer error is one of a long statement, of which it tells a part. */
const MOST_CHARACTERS = 2_000;

/** An error as the model is told it, with its place in the statement. */
export function errorText(error: SvcError, sql: string): string {
  const place =
    error.offset === undefined ? '' : ` (at character ${positionOf(sql, error.offset)}: ${JSON.stringify(sql.slice(error.offset, error.offset + 40))})`;
  return cut(`${error.code}: ${error.message}${place}${error.hint === undefined ? '' : `. ${error.hint}`}`, MOST_CHARACTERS);
}
