/** The provider of LLM_TYPE, and the log lines about invalid settings. */
import { describe, expect, it } from 'vitest';
import { providerOf, providerSettings, remarksOnModel } from '../../../src/llm/providers/settings.ts';
import { llm } from './stub.ts';

describe('LLM_TYPE', () => {
  it.each([
    ['openai', 'openai'],
    ['OpenAI', 'openai'],
    ['openai-chat', 'openai'],
    ['Chat_OpenAI', 'openai'],
    ['claude', 'anthropic'],
    ['Anthropic', 'anthropic'],
    ['gemini', 'google'],
    ['google_generative_ai', 'google'],
    ['azure', 'azure'],
    ['Azure-OpenAI', 'azure'],
    ['AZURE_OPENAI_CHAT', 'azure'],
    ['bedrock', 'bedrock'],
    ['amazon-bedrock', 'bedrock'],
    ['AWS', 'bedrock'],
    ['openai-compatible', 'openai-compatible'],
    ['OpenAI_Compatible', 'openai-compatible'],
    ['openaicompatible', 'openai-compatible'],
    ['compatible', 'openai-compatible'],
    ['Workers AI', 'workers-ai'],
    ['workersai', 'workers-ai'],
    ['cloudflare', 'workers-ai'],
  ])('%s: %s', (type, provider) => expect(providerOf(type)).toBe(provider));

  it.each(['', 'chat', 'open', 'vertex', 'mistral', 'constructor', '__proto__', 'openai-compatible-2'])('%j is unknown', (type) =>
    expect(providerOf(type)).toBeUndefined(),
  );
});

describe('the log', () => {
  const base = { LLM_TYPE: 'openai', LLM_MODEL: 'm', LLM_API_KEY: 'hush' };
  const remarks = (env: Record<string, string>, bound = false): string[] => {
    const found = remarksOnModel(llm(env), bound);
    for (const { message, variable } of found) {
      expect(message.startsWith(`${variable}: `)).toBe(true);
      expect(message).not.toContain('hush');
    }
    return found.map(({ level, message }) => `${level} ${message}`);
  };

  it('has no line about valid settings', () => {
    for (const env of [
      {},
      base,
      { ...base, LLM_BASE_URL: 'http://localhost:11434/v1' },
      { ...base, LLM_TYPE: 'azure', LLM_BASE_URL: 'https://x.openai.azure.com' },
      { ...base, LLM_TYPE: 'bedrock', LLM_ADDITIONAL_PARAMS: '{"region":"us-gov-west-1"}' },
      { LLM_TYPE: 'bedrock', LLM_MODEL: 'm', LLM_ADDITIONAL_PARAMS: '{"region":"eu-west-1","accessKeyId":"a","secretAccessKey":"b"}' },
      { LLM_TYPE: 'compatible', LLM_MODEL: 'm', LLM_BASE_URL: 'https://llm.example/v1' },
    ])
      expect(remarks(env)).toEqual([]);
    expect(remarks({ LLM_TYPE: 'workers-ai', LLM_MODEL: 'm' }, true)).toEqual([]);
  });

  it.each<[Record<string, string>, string[]]>([
    [{ LLM_MODEL: 'm' }, ['warn LLM_MODEL: has no effect without LLM_TYPE, which selects the provider']],
    [{ ...base, LLM_TYPE: 'hush' }, ['error LLM_TYPE: is not a provider of docs/ai.md']],
    [{ LLM_TYPE: 'openai' }, ['error LLM_MODEL: is missing', 'error LLM_API_KEY: is missing']],
    [{ ...base, LLM_BASE_URL: 'http://hush.example' }, ['error LLM_BASE_URL: is not an https address (http on loopback only)']],
    [{ ...base, LLM_BASE_URL: 'https://u:hush@far.example' }, ['error LLM_BASE_URL: is not an https address (http on loopback only)']],
    [{ ...base, LLM_ADDITIONAL_PARAMS: '{"project":7}' }, ['error LLM_ADDITIONAL_PARAMS: project must be a string']],
    [{ ...base, LLM_ADDITIONAL_PARAMS: '{"api":"hush"}' }, ['error LLM_ADDITIONAL_PARAMS: api must be chat or responses']],
    [{ ...base, LLM_ADDITIONAL_PARAMS: '{"headers":["hush"]}' }, ['error LLM_ADDITIONAL_PARAMS: headers must be an object of strings']],
    [{ ...base, LLM_ADDITIONAL_PARAMS: '{"headers":{"x":"a\\nhush: b"}}' }, ['error LLM_ADDITIONAL_PARAMS: headers must be an object of strings']],
    [{ ...base, LLM_ADDITIONAL_PARAMS: '{"headers":{"x y":"hush"}}' }, ['error LLM_ADDITIONAL_PARAMS: headers must be an object of strings']],
    [{ ...base, LLM_TYPE: 'azure' }, ['error LLM_BASE_URL: is missing; alternatively set resourceName in LLM_ADDITIONAL_PARAMS']],
    [
      { ...base, LLM_TYPE: 'azure', LLM_ADDITIONAL_PARAMS: '{"resourceName":"hush.example/"}' },
      ['error LLM_ADDITIONAL_PARAMS: resourceName must be letters, digits and hyphens'],
    ],
    [
      { LLM_TYPE: 'bedrock', LLM_MODEL: 'm' },
      [
        'error LLM_API_KEY: is missing; alternatively set accessKeyId and secretAccessKey in LLM_ADDITIONAL_PARAMS',
        'error LLM_ADDITIONAL_PARAMS: region must be an AWS region',
      ],
    ],
    [{ ...base, LLM_TYPE: 'bedrock', LLM_ADDITIONAL_PARAMS: '{"region":"hush.example/"}' }, ['error LLM_ADDITIONAL_PARAMS: region must be an AWS region']],
    [{ LLM_TYPE: 'compatible', LLM_MODEL: 'm' }, ['error LLM_BASE_URL: is missing']],
    [{ LLM_TYPE: 'workers-ai', LLM_MODEL: 'm' }, ['error LLM_TYPE: Workers AI needs the binding AI in wrangler.toml']],
  ])('%j', (env, expected) => expect(remarks(env)).toEqual(expected));
});

it('LLM_ADDITIONAL_PARAMS is split into connection settings, headers, and the body', () => {
  const settings = llm({
    LLM_TYPE: 'azure',
    LLM_MODEL: 'm',
    LLM_API_KEY: 'k',
    LLM_ADDITIONAL_PARAMS: '{"resourceName":"x","api":"chat","headers":{"a":"b"},"region":"kept","reasoning":{"effort":"low"}}',
  });
  expect(providerSettings(settings, false)).toMatchObject({
    connection: { resourceName: 'x', api: 'chat' },
    headers: { a: 'b' },
    params: { region: 'kept', reasoning: { effort: 'low' } },
  });
});
