/** Questions of programs that do not speak MCP (docs/rest.md#questions): the question and its target, and the answer as plain data. */
import { type Answer, ontologyOf, type RestQuestion, type ServiceRequest, targetOf } from '../service.ts';
import { requireModel } from './failures.ts';
import type { Asking } from './question.ts';
import { askQuestion, queryData } from './questions.ts';
import type { Rows } from './statement.ts';

/** Reads the first rows of an answer. */
export type Collect = (answer: Answer, most: number) => Promise<Rows>;

/**
 * The context of a question. Call this first: it finds out whether the caller may use the ontology and the agent.
 * @throws SvcError 400 `llm_not_configured`; 403 `no_access` for an ontology or agent that is unknown or hidden; 404 `ontology_not_found` if neither the request nor the settings name an ontology
 */
export function askingOver(request: ServiceRequest, question: RestQuestion, collect: Collect): Asking {
  const { runtime, caller } = request;
  const target = targetOf(caller, question, runtime.config.mcp);
  const ontology = ontologyOf(caller, target, undefined, 'Name one in the header `ontology`, or an agent in the header `agent`');
  const { agent } = target;
  return {
    request,
    ontology,
    agent: agent && { name: agent.agent.name, options: agent.agent.options },
    prompt: question.prompt,
    args: {
      ...(question.limit === null ? {} : { max_limit: question.limit }),
      ...(question.onAmbiguity === null ? {} : { on_ambiguity: question.onAmbiguity }),
      ...(question.reading === null ? {} : { reading: question.reading }),
    },
    conversation: target.conversation,
    llm: requireModel(runtime),
    collect,
  };
}

/** Answers a question. @returns the value of `data`, and the statement that was run @throws SvcError as `askingOver`, `queryData` and `askQuestion` */
export async function answerOver(
  request: ServiceRequest,
  question: RestQuestion,
  collect: Collect,
): Promise<{ readonly data: object; readonly sql: string; readonly rows: number }> {
  const asking = askingOver(request, question, collect);
  if (question.kind === 'prompt') {
    const { details: _, ...data } = await queryData(asking);
    return { data: { ...data, row_count: data.rows.length }, sql: data.sql, rows: data.rows.length };
  }
  const { details: _, rows, ...data } = await askQuestion(asking);
  return { data: { ...data, ...rows, row_count: rows.rows.length }, sql: data.sql, rows: rows.rows.length };
}
