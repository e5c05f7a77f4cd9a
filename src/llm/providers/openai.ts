/** OpenAI: the Responses API, or Chat Completions if `api` is `chat`. */
import { createOpenAI } from '@ai-sdk/openai';
import { fetchWith } from './fetch.ts';
import type { Open } from './open.ts';

export const open: Open = ({ model, apiKey, baseUrl, temperature, connection, headers, params }, { fetch }) => {
  const { api, organization, project } = connection;
  const openai = createOpenAI({
    apiKey: apiKey ?? '',
    headers,
    fetch: fetchWith(params, fetch),
    ...(baseUrl === null ? {} : { baseURL: baseUrl }),
    ...(organization === undefined ? {} : { organization }),
    ...(project === undefined ? {} : { project }),
  });
  // the provider must not store questions and rows
  return { model: api === 'chat' ? openai.chat(model) : openai.responses(model), temperature, providerOptions: { openai: { store: false } } };
};
