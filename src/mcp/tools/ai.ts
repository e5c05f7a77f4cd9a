/** What the four tools that ask a language model have in common. */
import { z } from 'zod';
import { SvcError } from '../../errors.ts';
import { names, ontologyArgument, rowsOutput, truncatedOutput } from './tool.ts';

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

/** @throws SvcError 400 `llm_not_configured`: a question needs a language model */
export function requireModel(): never {
  throw new SvcError(400, 'llm_not_configured', 'LLM type is required', {
    hint: 'No language model is configured on this server; write the SQL yourself with describe_knowledge_graph and execute_sql',
  });
}
