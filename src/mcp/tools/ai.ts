/** What the four tools that ask a language model have in common. */
import { z } from 'zod';
import { SvcError } from '../../errors.ts';
import type { Asking, Details } from '../../llm/questions.ts';
import type { Arguments } from '../../llm/settings.ts';
import { cutRows } from '../rows.ts';
import { names, ontologyArgument, ontologyFor, requestOf, rowsOutput, type ToolCall, truncatedOutput } from './tool.ts';

export const prompt = z.string().min(1).describe('The question');
export const shared = {
  ontology: ontologyArgument,
  concepts_list: names('Only these concepts; * = all'),
};
export const verbose = z.boolean().optional().describe('Add reasons and costs');
export const viewsList = names('Only these views; * = all, none = none');
export const includeTags = names('Only what bears a tag: tag or tag=value');
export const maxLimit = z.number().int().min(1).optional().describe('Most rows; default 500');
export const caseSensitive = z.boolean().optional().describe('Texts in the database compare with case');

export const sqlOutput = z.string();
export const optionalRows = rowsOutput.optional();
export { rowsOutput, truncatedOutput };

/** Reasons, tries, token use and timings. */
export const details = z.looseObject({}).optional();

type Shared = Arguments & { readonly prompt: string; readonly ontology?: string | undefined; readonly verbose?: boolean | undefined };

/** What a call asks of the question chain. @throws SvcError 400 `llm_not_configured`; 404 `ontology_not_found`; 403 `no_access` */
export function askingOf(call: ToolCall, { prompt: question, ontology, verbose: _, ...args }: Shared): Asking {
  const { llm } = call.runtime;
  if (llm === undefined) {
    throw new SvcError(400, 'llm_not_configured', 'LLM type is required', {
      hint: 'No language model is configured on this server; write the SQL yourself with describe_knowledge_graph and execute_sql',
    });
  }
  const { agent } = call.target;
  return {
    request: requestOf(call),
    ontology: ontologyFor(call, ontology),
    agent: agent && { name: agent.agent.name, options: agent.agent.options },
    prompt: question,
    args,
    llm,
    collect: cutRows,
    tell: call.tell,
  };
}

/** `details` for who wants them. */
export const told = (wanted: boolean | undefined, made: Details): { readonly details?: Details } => (wanted === true ? { details: made } : {});
