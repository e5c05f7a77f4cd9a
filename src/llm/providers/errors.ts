/** Errors of language models that concern the operator (docs/design/mcp.md#providers). They contain nothing that a provider wrote. */
import { SvcError } from '../../errors.ts';

const ASK_ADMIN = 'An administrator can find the reason in the log of the service';

/** 500: the LLM_ settings are invalid, or the build does not contain the provider. `cause`: for the log. */
export const misconfigured = (cause?: string): SvcError =>
  new SvcError(500, 'llm_misconfigured', 'The language model is not configured correctly', { hint: ASK_ADMIN, cause });

/** 502: the provider rejects the request or the key. */
export const refused = (): SvcError => new SvcError(502, 'llm_refused', 'The language model rejected the request', { hint: ASK_ADMIN });

/** 502: too many requests to the provider. */
export const overloaded = (): SvcError =>
  new SvcError(502, 'llm_failed', 'The language model accepts no more questions at the moment', { hint: 'Ask again later' });
