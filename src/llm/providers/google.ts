/**
 * Google: the Gemini API (`generateContent`). The model is made as `createGoogle` makes it, from the package's entry for other providers: the main entry adds
 * images, video, speech and files, which would double this part of the script.
 */
import { GoogleLanguageModel } from '@ai-sdk/google/internal';
import { generateId } from 'ai';
import { fetchWith } from './fetch.ts';
import type { Open } from './open.ts';

export const open: Open = ({ model, apiKey, baseUrl, temperature, headers, params }, { fetch }) => {
  const config = {
    provider: 'google.generative-ai',
    baseURL: (baseUrl ?? 'https://generativelanguage.googleapis.com/v1beta').replace(/\/$/, ''),
    headers: () => ({ 'x-goog-api-key': apiKey ?? '', ...headers }),
    fetch: fetchWith(params, fetch),
    generateId,
    // prompts have no files
    supportedUrls: () => ({}),
  };
  return { model: new GoogleLanguageModel(model, config), temperature };
};
