/**
 * Anthropic: the Messages API. The model is made as `createAnthropic` makes it, from the package's entry for other providers: the provider of Bedrock needs the
 * same code.
 */
import { AnthropicMessagesLanguageModel } from '@ai-sdk/anthropic/internal';
import { fetchWith } from './fetch.ts';
import type { Open } from './open.ts';

const HOST = 'https://api.anthropic.com';

export const open: Open = ({ model, apiKey, baseUrl, temperature, headers, params }, { fetch }) => {
  const config = {
    provider: 'anthropic.messages',
    baseURL: address(baseUrl ?? HOST),
    headers: () => ({ 'anthropic-version': '2023-06-01', 'x-api-key': apiKey ?? '', ...headers }),
    fetch: fetchWith(params, fetch),
    supportedUrls: () => ({}),
  };
  return { model: new AnthropicMessagesLanguageModel(model, config), temperature };
};

/** The address of the API: without a trailing slash; the provider's own host gets its version. */
function address(url: string): string {
  const base = url.replace(/\/$/, '');
  return base === HOST ? `${HOST}/v1` : base;
}
