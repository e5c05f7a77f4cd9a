/** Google: the Gemini API (`generateContent`). */
import { createGoogle } from '@ai-sdk/google';
import { fetchWith } from './fetch.ts';
import type { Open } from './open.ts';

export const open: Open = ({ model, apiKey, baseUrl, temperature, headers, params }, { fetch }) => {
  const google = createGoogle({ apiKey: apiKey ?? '', headers, fetch: fetchWith(params, fetch), ...(baseUrl === null ? {} : { baseURL: baseUrl }) });
  return { model: google(model), temperature };
};
