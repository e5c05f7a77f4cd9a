/** The errors of questions without an answer. */
import { badRequest, type SvcError } from '../errors.ts';
import { remark } from './addresses.ts';
import { cut } from './fence.ts';
import type { Attempt, Generated, Try } from './generate.ts';

/** The error for a question without a valid statement: the attempts and their errors. */
export function noSql(tries: readonly Try[]): SvcError {
  const attempts = tries.map((t, i) => `${i + 1}. ${t.sql === null ? '' : `${remark(t.sql, 500)}: `}${remark(t.error ?? '', 400)}`).join('\n');
  return badRequest('no_valid_sql', `No valid SQL was found for this question. Attempts:\n${cut(attempts, 4000)}`, {
    hint: 'Use the terms of the graph (describe_knowledge_graph), name the concept in concepts_list, or write the SQL yourself with execute_sql',
  });
}

/** The error for a question that the graph cannot answer, with the model's reason. */
const refused = (refusal: string): SvcError =>
  badRequest('not_answerable', `The knowledge graph cannot answer this question: ${remark(refusal, 600)}`, {
    hint: 'describe_knowledge_graph lists what it contains',
  });

/** The error if no valid statement was found, or if the graph cannot answer the question. */
export const failure = (made: Extract<Generated<Attempt>, { kind: 'refused' | 'failed' }>): SvcError =>
  made.kind === 'refused' ? refused(made.refusal) : noSql(made.tries);
