/** Azure OpenAI: LLM_MODEL is the name of the deployment. The Responses API, or Chat Completions where `api` says so. */
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
  // questions and rows are not to be kept at the provider
  return { model: api === 'chat' ? azure.chat(model) : azure.responses(model), temperature, providerOptions: { azure: { store: false } } };
};

/** The address as the portal shows it (`https://name.openai.azure.com/`) lacks the path of the API. */
function endpoint(baseUrl: string): string {
  const url = new URL(baseUrl);
  return url.pathname === '/' && url.hostname.endsWith('.azure.com') ? `${url.origin}/openai` : baseUrl;
}
