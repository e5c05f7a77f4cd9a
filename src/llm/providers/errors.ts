/** The errors of language models that concern the operator (docs/design/mcp.md#providers). None contains anything that a provider wrote. */
import { SvcError } from '../../errors.ts';

const ASK_ADMIN = 'An administrator finds the reason in the log of the service';

/** 500: the LLM_ settings do not hold, or the build has no such provider. `cause`: for the log. */
export const misconfigured = (cause?: string): SvcError =>
  new SvcError(500, 'llm_misconfigured', 'The language model is not configured correctly', { hint: ASK_ADMIN, cause });

/** 502: the provider declines the request or the key. */
export const refused = (): SvcError => new SvcError(502, 'llm_refused', 'The language model refuses the request', { hint: ASK_ADMIN });

/** 502: too many questions for the provider. */
export const overloaded = (): SvcError =>
  new SvcError(502, 'llm_failed', 'The language model takes no more questions at the moment', { hint: 'Ask again later' });
