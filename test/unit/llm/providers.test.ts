/** What each provider is sent, over HTTP to a stand-in on loopback, and how its answers are read. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { SvcError } from '../../../src/errors.ts';
import { languageModels, type Surroundings } from '../../../src/llm/models.ts';
import type { AiBinding } from '../../../src/llm/providers/open.ts';
import { chat, deadline, json, llm, STRICT, type Stub, startStub, TURN, VALUE } from './stub.ts';

const KEY = 'key-of-the-stub';
let stub: Stub;
beforeAll(async () => {
  stub = await startStub();
});
afterAll(() => stub.close());

type Reply = Parameters<Stub['play']>[0];

interface Case {
  readonly name: string;
  readonly env: Record<string, string>;
  /** Says `text`, whole or cut off. */
  readonly says: (text: string, cut?: boolean) => Reply;
  readonly url: string;
  readonly headers: Record<string, unknown>;
  readonly body: Record<string, unknown>;
}

const GIVEN = JSON.stringify(VALUE);
const usageOf = { input_tokens: 11, output_tokens: 7, total_tokens: 18 };

const responses =
  (text: string, cut = false): Reply =>
  (response) =>
    json(response, {
      id: 'resp_1',
      object: 'response',
      created_at: 1_700_000_000,
      status: cut ? 'incomplete' : 'completed',
      incomplete_details: cut ? { reason: 'max_output_tokens' } : null,
      error: null,
      model: 'm',
      output: [{ type: 'message', id: 'msg_1', role: 'assistant', status: 'completed', content: [{ type: 'output_text', text, annotations: [] }] }],
      usage: usageOf,
    });
const completions =
  (text: string, cut = false): Reply =>
  (response) =>
    chat(response, text, cut ? 'length' : 'stop');
const message =
  (content: unknown, stop_reason: string): Reply =>
  (response) =>
    json(response, { type: 'message', id: 'msg_1', model: 'm', role: 'assistant', content: [content], stop_reason, stop_sequence: null, usage: usageOf });
const generated =
  (text: string, cut = false): Reply =>
  (response) =>
    json(response, {
      candidates: [{ content: { parts: [{ text }], role: 'model' }, finishReason: cut ? 'MAX_TOKENS' : 'STOP', index: 0 }],
      usageMetadata: { promptTokenCount: 11, candidatesTokenCount: 7, totalTokenCount: 18 },
    });
const converse =
  (content: unknown, stopReason: string): Reply =>
  (response) =>
    json(response, {
      output: { message: { role: 'assistant', content: [content] } },
      stopReason,
      usage: { inputTokens: 11, outputTokens: 7, totalTokens: 18 },
      metrics: { latencyMs: 1 },
    });
/** As a tool's input where it is JSON, as models give what they are asked for by a forced tool. */
const toolInput = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
};
const prompt = [
  { role: 'system', content: TURN.system },
  { role: 'user', content: TURN.user },
];
const responsesBody = {
  model: 'm',
  temperature: 0.25,
  top_p: 0.5,
  store: false,
  input: [prompt[0], { role: 'user', content: [{ type: 'input_text', text: TURN.user }] }],
  text: { format: { type: 'json_schema', strict: true, name: 'sql', schema: STRICT } },
};
const chatBody = {
  model: 'm',
  temperature: 0.25,
  top_p: 0.5,
  messages: prompt,
  response_format: { type: 'json_schema', json_schema: { name: 'sql', strict: true, schema: STRICT } },
};

const CASES: readonly Case[] = [
  {
    name: 'openai',
    env: { LLM_TYPE: 'OpenAI', LLM_ADDITIONAL_PARAMS: '{"top_p":0.5,"organization":"org-1","project":"proj-1"}' },
    says: responses,
    url: '/base/responses',
    headers: { authorization: `Bearer ${KEY}`, 'openai-organization': 'org-1', 'openai-project': 'proj-1' },
    body: responsesBody,
  },
  {
    name: 'openai, chat',
    env: { LLM_TYPE: 'openai', LLM_ADDITIONAL_PARAMS: '{"top_p":0.5,"api":"chat"}' },
    says: completions,
    url: '/base/chat/completions',
    headers: { authorization: `Bearer ${KEY}` },
    body: { ...chatBody, store: false },
  },
  {
    name: 'azure',
    env: { LLM_TYPE: 'azure_openai', LLM_ADDITIONAL_PARAMS: '{"top_p":0.5}' },
    says: responses,
    url: '/base/responses',
    headers: { 'api-key': KEY },
    body: responsesBody,
  },
  {
    name: 'azure, chat',
    env: { LLM_TYPE: 'azure', LLM_ADDITIONAL_PARAMS: '{"top_p":0.5,"api":"chat"}' },
    says: completions,
    url: '/base/chat/completions',
    headers: { 'api-key': KEY },
    body: chatBody,
  },
  {
    name: 'anthropic, by output format',
    env: { LLM_TYPE: 'Claude', LLM_MODEL: 'claude-sonnet-4-5', LLM_ADDITIONAL_PARAMS: '{"top_p":0.5,"headers":{"anthropic-beta":"x-1"}}' },
    says: (text, cut) => message({ type: 'text', text }, cut ? 'max_tokens' : 'end_turn'),
    url: '/base/messages',
    headers: { 'x-api-key': KEY, 'anthropic-version': '2023-06-01', 'anthropic-beta': 'x-1' },
    body: {
      model: 'claude-sonnet-4-5',
      temperature: 0.25,
      top_p: 0.5,
      system: [{ type: 'text', text: TURN.system }],
      messages: [{ role: 'user', content: [{ type: 'text', text: TURN.user }] }],
      output_config: { format: { type: 'json_schema', schema: STRICT } },
    },
  },
  {
    name: 'anthropic, by a forced tool',
    env: { LLM_TYPE: 'anthropic', LLM_MODEL: 'claude-3-5-haiku-latest' },
    says: (text, cut) =>
      toolInput(text) === undefined
        ? message({ type: 'text', text }, cut ? 'max_tokens' : 'end_turn')
        : message({ type: 'tool_use', id: 't1', name: 'json', input: toolInput(text) }, cut ? 'max_tokens' : 'tool_use'),
    url: '/base/messages',
    headers: { 'x-api-key': KEY },
    body: { tools: [{ name: 'json', description: 'Respond with a JSON object.', input_schema: STRICT }], temperature: 0.25 },
  },
  {
    name: 'google',
    env: { LLM_TYPE: 'Gemini', LLM_MODEL: 'gemini-2.5-flash', LLM_ADDITIONAL_PARAMS: '{"generationConfig":{"topP":0.5}}' },
    says: generated,
    url: '/base/models/gemini-2.5-flash:generateContent',
    headers: { 'x-goog-api-key': KEY },
    body: {
      systemInstruction: { parts: [{ text: TURN.system }] },
      contents: [{ role: 'user', parts: [{ text: TURN.user }] }],
      generationConfig: { temperature: 0.25, topP: 0.5, responseMimeType: 'application/json', responseJsonSchema: STRICT },
    },
  },
  {
    name: 'bedrock, a key',
    env: { LLM_TYPE: 'aws', LLM_MODEL: 'eu.amazon.nova-lite-v1:0', LLM_ADDITIONAL_PARAMS: '{"region":"eu-central-1","inferenceConfig":{"topP":0.5}}' },
    says: (text, cut) =>
      toolInput(text) === undefined
        ? converse({ text }, cut ? 'max_tokens' : 'end_turn')
        : converse({ toolUse: { toolUseId: 't1', name: 'json', input: toolInput(text) } }, cut ? 'max_tokens' : 'tool_use'),
    url: '/base/model/eu.amazon.nova-lite-v1%3A0/converse',
    headers: { authorization: `Bearer ${KEY}` },
    body: {
      system: [{ text: TURN.system }],
      messages: [{ role: 'user', content: [{ text: TURN.user }] }],
      inferenceConfig: { temperature: 0.25, topP: 0.5 },
      toolConfig: { tools: [{ toolSpec: { name: 'json', inputSchema: { json: STRICT } } }], toolChoice: { any: {} } },
    },
  },
  {
    name: 'bedrock, a pair of keys, Claude',
    env: {
      LLM_TYPE: 'Bedrock',
      LLM_API_KEY: '',
      LLM_MODEL: 'anthropic.claude-sonnet-4-5-20250929-v1:0',
      LLM_ADDITIONAL_PARAMS: JSON.stringify({ region: 'eu-central-1', accessKeyId: 'AKIDSTUB', secretAccessKey: KEY, sessionToken: 'session-1' }),
    },
    says: (text, cut) => converse({ text }, cut ? 'max_tokens' : 'end_turn'),
    url: '/base/model/anthropic.claude-sonnet-4-5-20250929-v1%3A0/converse',
    headers: {
      authorization: expect.stringMatching(
        /^AWS4-HMAC-SHA256 Credential=AKIDSTUB\/\d{8}\/eu-central-1\/bedrock\/aws4_request, SignedHeaders=.*Signature=[0-9a-f]{64}$/,
      ),
      'x-amz-security-token': 'session-1',
    },
    body: { inferenceConfig: { temperature: 0.25 }, additionalModelRequestFields: { output_config: { format: { type: 'json_schema', schema: STRICT } } } },
  },
  {
    name: 'openai-compatible',
    env: { LLM_TYPE: 'compatible', LLM_ADDITIONAL_PARAMS: '{"top_p":0.5}' },
    says: completions,
    url: '/base/chat/completions',
    headers: { authorization: `Bearer ${KEY}` },
    body: chatBody,
  },
];

const lines: Record<string, unknown>[] = [];
function models(env: Record<string, string>, more: Surroundings = {}) {
  lines.length = 0;
  const settings = { LLM_MODEL: 'm', LLM_API_KEY: KEY, LLM_TEMPERATURE: '0.25', LLM_BASE_URL: `${stub.url}/base`, LLM_TIMEOUT: '5', ...env };
  const made = languageModels(llm(settings), { log: (line) => lines.push(line), pausesMs: [1, 1], ...more });
  if (made === undefined) throw new Error('no model');
  return made;
}

const failing = (env: Record<string, string>, more: Surroundings = {}, ms = 20_000): Promise<SvcError> =>
  models(env, more)
    .ask(TURN, deadline(ms))
    .then(
      () => {
        throw new Error('it answered');
      },
      (error: unknown) => {
        expect(error).toBeInstanceOf(SvcError);
        expect(JSON.stringify([(error as SvcError).message, (error as SvcError).hint, lines])).not.toMatch(/hush|key-of-the-stub|127\.0\.0\.1/);
        return error as SvcError;
      },
    );

describe.each(CASES)('$name', ({ env, says, url, headers, body }) => {
  it('is asked by JSON schema, with its key and parameters', async () => {
    stub.play(says(GIVEN));
    expect(await models(env).ask(TURN, deadline())).toMatchObject({ value: VALUE, inputTokens: 11, outputTokens: 7 });
    expect(stub.heard).toHaveLength(1);
    expect(stub.heard[0]).toMatchObject({ method: 'POST', url, headers: { 'content-type': 'application/json', ...headers } });
    expect(stub.heard[0]?.body).toMatchObject(body);
    expect(stub.heard[0]?.raw).not.toContain(KEY);
    expect(stub.heard[0]?.raw).not.toMatch(/\$ref|\$schema|minLength|maxLength|"(region|organization|project|api|headers|accessKeyId)"/);
    expect(lines.filter((l) => l.level === 'error')).toEqual([]);
  });

  it('may say something else', async () => {
    stub.play(says('I am sorry, I cannot help with that.'));
    expect(await models(env).ask(TURN, deadline())).toMatchObject({ value: undefined, text: 'I am sorry, I cannot help with that.', outputTokens: 7 });
  });

  it('may be cut off', async () => {
    stub.play(says(GIVEN, true));
    expect(await models(env).ask(TURN, deadline())).toMatchObject({ value: undefined, outputTokens: 7 });
  });

  it.each([
    [500, 3, 'llm_failed'],
    [429, 3, 'llm_failed'],
    [401, 1, 'llm_refused'],
    [302, 1, 'llm_failed'],
  ])('may answer %i', async (status, calls, code) => {
    stub.play((response) =>
      json(response, { error: { message: 'hush', type: 'x', code: 'x' }, message: 'hush', type: 'error' }, status, { location: `${stub.url}/x` }),
    );
    expect(await failing(env)).toMatchObject({ status: 502, code });
    expect(stub.heard).toHaveLength(calls);
    expect(lines).toMatchObject(Array.from({ length: calls }, () => ({ event: 'llm_failed', status })));
  });

  it('may break off, or be silent', async () => {
    stub.play((response) => response.writeHead(200, { 'content-type': 'application/json' }).end('{"id": "hush'));
    expect(await failing(env)).toMatchObject({ code: 'llm_failed' });
    stub.play((response) => response.destroy());
    expect(await failing(env)).toMatchObject({ code: 'llm_failed' });
    expect(stub.heard).toHaveLength(1);
    stub.play(() => undefined);
    expect(await failing(env, {}, 150)).toMatchObject({ code: 'llm_timeout' });
    expect(stub.heard).toHaveLength(1);
  });
});

describe('addresses', () => {
  const addressOf = async (env: Record<string, string>): Promise<string> => {
    let asked = '';
    const fetch = async (input: unknown) => {
      asked = String(input);
      return new Response('{}', { status: 400 });
    };
    await failing({ LLM_BASE_URL: '', ...env }, { fetch });
    return asked;
  };

  it.each([
    [{ LLM_TYPE: 'openai' }, 'https://api.openai.com/v1/responses'],
    [{ LLM_TYPE: 'anthropic' }, 'https://api.anthropic.com/v1/messages'],
    [{ LLM_TYPE: 'google' }, 'https://generativelanguage.googleapis.com/v1beta/models/m:generateContent'],
    [{ LLM_TYPE: 'azure', LLM_ADDITIONAL_PARAMS: '{"resourceName":"graph-1"}' }, 'https://graph-1.openai.azure.com/openai/v1/responses?api-version=v1'],
    [{ LLM_TYPE: 'azure', LLM_BASE_URL: 'https://graph-1.openai.azure.com/' }, 'https://graph-1.openai.azure.com/openai/v1/responses?api-version=v1'],
    [{ LLM_TYPE: 'azure', LLM_BASE_URL: 'https://graph-1.openai.azure.com/openai/v1' }, 'https://graph-1.openai.azure.com/openai/v1/responses'],
    [
      { LLM_TYPE: 'azure', LLM_ADDITIONAL_PARAMS: '{"resourceName":"graph-1","api":"chat","apiVersion":"preview"}' },
      'https://graph-1.openai.azure.com/openai/v1/chat/completions?api-version=preview',
    ],
    [{ LLM_TYPE: 'bedrock', LLM_ADDITIONAL_PARAMS: '{"region":"us-east-1"}' }, 'https://bedrock-runtime.us-east-1.amazonaws.com/model/m/converse'],
  ])('%j: %s', async (env, address) => expect(await addressOf(env)).toBe(address));
});

describe('workers-ai', () => {
  const calls: { model: string; inputs: Record<string, unknown>; options: Record<string, unknown> | undefined }[] = [];
  const bound = (run: () => Promise<unknown>): { ai: AiBinding } => {
    calls.length = 0;
    return {
      ai: {
        run: (model, inputs, options) => {
          calls.push({ model, inputs, options });
          return run();
        },
      },
    };
  };
  const env = {
    LLM_TYPE: 'Workers_AI',
    LLM_API_KEY: '',
    LLM_BASE_URL: '',
    LLM_MODEL: '@cf/meta/llama-3.3-70b-instruct-fp8-fast',
    LLM_ADDITIONAL_PARAMS: '{"gateway":"team","seed":7,"headers":{"x-a":"b"}}',
  };

  it('is asked by its binding', async () => {
    const ai = bound(async () => ({ response: VALUE, usage: { prompt_tokens: 11, completion_tokens: 7 } }));
    expect(await models(env, ai).ask(TURN, deadline())).toMatchObject({ value: VALUE, inputTokens: 11, outputTokens: 7 });
    expect(calls).toMatchObject([
      {
        model: env.LLM_MODEL,
        inputs: { messages: prompt, temperature: 0.25, seed: 7, max_tokens: 4096, response_format: { type: 'json_schema', json_schema: STRICT } },
        options: { gateway: { id: 'team' }, extraHeaders: { 'x-a': 'b' } },
      },
    ]);
  });

  it.each([
    ['3040: Capacity temporarily exceeded hush', 3, 'llm_failed'],
    ['5007: No such model hush', 1, 'llm_refused'],
    ['something else hush', 1, 'llm_failed'],
  ])('may fail with %s', async (message, times, code) => {
    expect(
      await failing(
        env,
        bound(() => Promise.reject(new Error(message))),
      ),
    ).toMatchObject({ status: 502, code });
    expect(calls).toHaveLength(times);
  });

  it('need not listen to the signal', async () => {
    expect(
      await failing(
        env,
        bound(() => new Promise(() => undefined)),
        50,
      ),
    ).toMatchObject({ code: 'llm_timeout' });
  });
});

it('a build without a provider says so', async () => {
  const { open } = await import('../../../src/llm/providers/left-out.ts');
  expect(await failing({ LLM_TYPE: 'openai' }, { open })).toMatchObject({ status: 500, code: 'llm_misconfigured' });
  expect(lines).toMatchObject([{ event: 'llm_misconfigured', llm: 'openai/m', fault: 'this build has no provider of that type' }]);
});
