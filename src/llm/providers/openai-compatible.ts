/** Servers that speak OpenAI's Chat Completions: Ollama, vLLM, LiteLLM, gateways. The key is optional. */
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { fetchWith } from './fetch.ts';
import type { Open } from './open.ts';

export const open: Open = ({ model, apiKey, baseUrl, temperature, headers, params }, { fetch }) => {
  const compatible = createOpenAICompatible({
    name: 'compatible',
    // the address of the API, or of the operation itself
    baseURL: (baseUrl ?? '').replace(/\/chat\/completions\/?$/, ''),
    headers,
    fetch: fetchWith(params, fetch),
    supportsStructuredOutputs: true,
    ...(apiKey === null ? {} : { apiKey }),
  });
  return { model: compatible.chatModel(model), temperature };
};
