/** Runs statements of a language model: one SELECT over the ontology, within the scope of the question. */
import { badRequest, positionOf, type SvcError } from '../errors.ts';
import { type Answer, type NamedRelation, runScript, type ServiceRequest } from '../service.ts';
import { cut } from './fence.ts';

/** The first rows of an answer, and whether there are more. */
export interface Rows {
  readonly rows: readonly Readonly<Record<string, unknown>>[];
  readonly truncated: boolean;
}

/** What is needed to run the statements of a question. */
export interface Runner {
  readonly request: ServiceRequest;
  readonly ontology: string;
  /** Reads the first rows of an answer. */
  readonly collect: (answer: Answer, most: number) => Promise<Rows>;
  /** Whether a relation is in the scope of the question. */
  readonly admits: (relation: NamedRelation) => boolean;
  /** The most relationships of a path; undefined for no limit. */
  readonly depth?: number | undefined;
}

/** The result of a valid statement: the relations that it reads, and its rows. */
export interface Ran extends Rows {
  readonly relations: readonly NamedRelation[];
}

/**
 * Plans a statement as the caller, and runs it in the datasource. If `most` is 0, the datasource only parses and types it.
 * @throws SvcError 400 if it is invalid, is not one SELECT, or reads nothing of the ontology or something outside the question's scope; as `runScript`
 */
export async function runSelect({ request, ontology, collect, admits, depth }: Runner, sql: string, most: number): Promise<Ran> {
  if (depth !== undefined) requireDepth(sql, depth);
  const relations: NamedRelation[] = [];
  const answer = await runScript(request, {
    ontology,
    sql,
    // one more row shows whether there are more
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

/** Quoted names, and texts and comments, which may contain quotes of names. */
const QUOTED = /--[^\n]*|\/\*(?:[^*]|\*(?!\/))*(?:\*\/|$)|'[^']*'|`[^`]*`|"[^"]*"/g;

/** @throws SvcError 400 if a path has more relationships than `depth` */
function requireDepth(sql: string, depth: number): void {
  const long = [...sql.matchAll(QUOTED)].find(([name]) => /^[`"]/.test(name) && name.split('[').length - 1 > depth);
  if (long !== undefined) throw badRequest('path_too_long', `A path may have at most ${depth} relationships here`, { offset: long.index });
}

/** The maximum length of an error message. A longer one quotes a part of the statement. */
const MAX_CHARACTERS = 2_000;

/** An error as text for the model, with its position in the statement. */
export function errorText(error: SvcError, sql: string): string {
  const place =
    error.offset === undefined ? '' : ` (at character ${positionOf(sql, error.offset)}: ${JSON.stringify(sql.slice(error.offset, error.offset + 40))})`;
  return cut(`${error.code}: ${error.message}${place}${error.hint === undefined ? '' : `. ${error.hint}`}`, MAX_CHARACTERS);
}
