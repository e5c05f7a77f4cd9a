/**
 * OpenAI: the Responses API, or Chat Completions if `api` is `chat`. The models are made as `createOpenAI` makes them, from the package's entry for other providers.
 * The provider of Azure needs the same code, and the main entry adds files, speech and realtime, which would double the script of both.
 */
import { OpenAIChatLanguageModel, OpenAIResponsesLanguageModel } from '@ai-sdk/openai/internal';
import { fetchWith } from './fetch.ts';
import type { Open } from './open.ts';

export const open: Open = ({ model, apiKey, baseUrl, temperature, connection, headers, params }, { fetch }) => {
  const { api, organization, project } = connection;
  const baseURL = (baseUrl ?? 'https://api.openai.com/v1').replace(/\/$/, '');
  const config = {
    provider: `openai.${api === 'chat' ? 'chat' : 'responses'}`,
    url: ({ path }: { readonly path: string }) => `${baseURL}${path}`,
    headers: () => ({
      Authorization: `Bearer ${apiKey ?? ''}`,
      ...(organization === undefined ? {} : { 'OpenAI-Organization': organization }),
      ...(project === undefined ? {} : { 'OpenAI-Project': project }),
      ...headers,
    }),
    fetch: fetchWith(params, fetch),
  };
  return {
    model:
      api === 'chat' ? new OpenAIChatLanguageModel(model, config) : new OpenAIResponsesLanguageModel(model, { ...config, baseURL, fileIdPrefixes: ['file-'] }),
    temperature,
    // the provider must not store questions and rows
    providerOptions: { openai: { store: false } },
  };
};
