/** Azure OpenAI: LLM_MODEL is the name of the deployment. Uses the Responses API, or Chat Completions if `api` is `chat`. */
import { createAzure } from '@ai-sdk/azure';
import { fetchWith } from './fetch.ts';
import type { Open } from './open.ts';

export const open: Open = ({ model, apiKey, baseUrl, temperature, connection, headers, params }, { fetch }) => {
  const { api, resourceName, apiVersion } = connection;
  const azure = createAzure({
    apiKey: apiKey ?? '',
    headers,
    fetch: fetchWith(params, fetch),
    ...(baseUrl === null ? {} : { baseURL: endpoint(baseUrl) }),
    ...(resourceName === undefined ? {} : { resourceName }),
    ...(apiVersion === undefined ? {} : { apiVersion }),
  });
  // the provider must not store questions and rows
  return { model: api === 'chat' ? azure.chat(model) : azure.responses(model), temperature, providerOptions: { azure: { store: false } } };
};

/** Adds the path of the API to the address in the portal's form (`https://name.openai.azure.com/`). */
function endpoint(baseUrl: string): string {
  const url = new URL(baseUrl);
  return url.pathname === '/' && url.hostname.endsWith('.azure.com') ? `${url.origin}/openai` : baseUrl;
}
