/** Servers with OpenAI's Chat Completions API: Ollama, vLLM, LiteLLM, gateways. The key is optional. */
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { fetchWith } from './fetch.ts';
import type { Open } from './open.ts';

export const open: Open = ({ model, apiKey, baseUrl, temperature, headers, params }, { fetch }) => {
  const compatible = createOpenAICompatible({
    name: 'compatible',
    // accepts the address of the API, or of its operation
    baseURL: (baseUrl ?? '').replace(/\/chat\/completions\/?$/, ''),
    headers,
    fetch: fetchWith(params, fetch),
    supportsStructuredOutputs: true,
    ...(apiKey === null ? {} : { apiKey }),
  });
  return { model: compatible.chatModel(model), temperature };
};
