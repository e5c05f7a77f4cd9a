/** Anthropic: the Messages API. */
import { createAnthropic } from '@ai-sdk/anthropic';
import { fetchWith } from './fetch.ts';
import type { Open } from './open.ts';

export const open: Open = ({ model, apiKey, baseUrl, temperature, headers, params }, { fetch }) => {
  const anthropic = createAnthropic({ apiKey: apiKey ?? '', headers, fetch: fetchWith(params, fetch), ...(baseUrl === null ? {} : { baseURL: baseUrl }) });
  return { model: anthropic(model), temperature };
};
