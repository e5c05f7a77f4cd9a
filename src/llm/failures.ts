/** Errors of language models as a caller reads them: nothing that a provider said, and no setting. */
import { SvcError } from '../errors.ts';

const ASK_AGAIN = 'Ask again later, or write the SQL yourself with execute_sql';

/** 502: the model could not be reached, broke, or gave nothing that can be read. */
export const modelFailed = (cause?: unknown): SvcError => new SvcError(502, 'llm_failed', 'The language model failed', { hint: ASK_AGAIN, cause });

/** 504: a call, or the question as a whole, has used up its time. */
export const outOfTime = (cause?: unknown): SvcError => new SvcError(504, 'llm_timeout', 'The language model took too long', { hint: ASK_AGAIN, cause });
