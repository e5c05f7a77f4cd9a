/** Errors of language models for callers. They contain nothing that a provider said, and no settings. */
import { SvcError } from '../errors.ts';
import type { ServiceRequest } from '../service.ts';
import type { LanguageModels } from './types.ts';

const ASK_AGAIN = 'Ask again later, or write the SQL yourself with execute_sql';

/** 502: the model could not be reached, failed, or returned nothing that can be parsed. */
export const modelFailed = (cause?: unknown): SvcError => new SvcError(502, 'llm_failed', 'The language model failed', { hint: ASK_AGAIN, cause });

/** 504: a call, or the whole question, exceeded its time. */
export const outOfTime = (cause?: unknown): SvcError => new SvcError(504, 'llm_timeout', 'The language model took too long', { hint: ASK_AGAIN, cause });

/** The configured language model. @throws SvcError 400 `llm_not_configured` */
export function requireModel({ llm }: ServiceRequest['runtime']): LanguageModels {
  if (llm !== undefined) return llm;
  throw new SvcError(400, 'llm_not_configured', 'LLM type is required', {
    hint: 'No language model is configured on this server; write the SQL yourself with describe_knowledge_graph and execute_sql',
  });
}
