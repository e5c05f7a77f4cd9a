/** What the four tools that use a language model have in common. */
import { z } from 'zod';
import { requireModel } from '../../llm/failures.ts';
import type { Asking, Details } from '../../llm/question.ts';
import type { Reading } from '../../llm/readings.ts';
import type { Arguments } from '../../llm/settings.ts';
import { budgetOf, cutRows } from '../../nesting/cut.ts';
import { conversationId } from '../../service.ts';
import { names, ontologyArgument, ontologyFor, requestOf, rowsOutput, type ToolCall, truncatedOutput } from './tool.ts';

export const prompt = z.string().min(1).describe('The question');
export const shared = {
  ontology: ontologyArgument,
  concepts_list: names('Only these concepts; * = all'),
};
export const verbose = z.boolean().optional().describe('Add reasons and costs');
export const viewsList = names('Only these views; * = all, none = none');
export const includeTags = names('Only elements with a tag: tag or tag=value');
export const maxLimit = z.number().int().min(1).optional().describe('Maximum number of rows; default 500');
export const caseSensitive = z.boolean().optional().describe('Text comparison in the database is case-sensitive');

export const onAmbiguity = z.enum(['ask', 'first']);
export const readingArgument = z.string().optional().describe('The reading to answer, one of `readings` of an earlier call');
export const conversationArgument = z
  .string()
  .optional()
  .describe('A UUID that you make up: questions with the same one may refer to earlier ones; default: header x-conversation-id');
export const statusOutput = z.enum(['answered', 'clarify']);
/** What the question may mean. */
export const readingsOutput = z
  .array(z.object({ reading: z.string(), sql: z.string() }))
  .optional()
  .describe('clarify: ask the user which one is meant; then repeat the call with `reading`, or run its sql');
/** `readings` of an answer that has some. */
export const readingsIf = (readings: readonly Reading[]): { readonly readings?: readonly Reading[] } => (readings.length === 0 ? {} : { readings });

export const sqlOutput = z.string();
export const optionalRows = rowsOutput.optional();
export { rowsOutput, truncatedOutput };

/** Reasons, attempts, token use and timings. */
export const details = z.looseObject({}).optional();

type Shared = Arguments & {
  readonly prompt: string;
  readonly ontology?: string | undefined;
  readonly verbose?: boolean | undefined;
  readonly conversation_id?: string | undefined;
};

/** The arguments of a call for the question chain. @throws SvcError 400 `llm_not_configured`, `bad_conversation_id`; 404 `ontology_not_found`; 403 `no_access` */
export function askingOf(call: ToolCall, { prompt: question, ontology, verbose: _, conversation_id, ...args }: Shared): Asking {
  const llm = requireModel(call.runtime);
  const { agent } = call.target;
  return {
    request: requestOf(call),
    ontology: ontologyFor(call, ontology),
    agent: agent && { name: agent.agent.name, options: agent.agent.options },
    prompt: question,
    args,
    conversation: conversationId(conversation_id ?? call.target.conversation ?? null),
    llm,
    collect: (answer, most) => cutRows(answer, most, budgetOf(call)),
    report: call.report,
  };
}

/** `details`, if the caller wants them. */
export const detailsIf = (wanted: boolean | undefined, made: Details): { readonly details?: Details } => (wanted === true ? { details: made } : {});
