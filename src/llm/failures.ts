/** Errors of language models for callers. They contain nothing that a provider said, and no settings. */
import { SvcError } from '../errors.ts';

const ASK_AGAIN = 'Ask again later, or write the SQL yourself with execute_sql';

/** 502: the model could not be reached, failed, or returned nothing that can be parsed. */
export const modelFailed = (cause?: unknown): SvcError => new SvcError(502, 'llm_failed', 'The language model failed', { hint: ASK_AGAIN, cause });

/** 504: a call, or the whole question, exceeded its time. */
export const outOfTime = (cause?: unknown): SvcError => new SvcError(504, 'llm_timeout', 'The language model took too long', { hint: ASK_AGAIN, cause });
