/** Providers that use HTTP: settings, simulated answers, and the expected requests. */
import { expect } from 'vitest';
import { chat, json, STRICT, type Stub, TURN, VALUE } from './stub.ts';

export const KEY = 'key-of-the-stub';
type Reply = Parameters<Stub['play']>[0];

export interface Case {
  readonly name: string;
  readonly env: Record<string, string>;
  /** Answers `text`, complete or truncated. */
  readonly says: (text: string, cut?: boolean) => Reply;
  readonly url: string;
  readonly headers: Record<string, unknown>;
  readonly body: Record<string, unknown>;
}

export const GIVEN = JSON.stringify(VALUE);
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
/** As a tool's input if it is JSON, like a model that is forced to use a tool. */
const toolInput = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
};
export const PROMPT = [
  { role: 'system', content: TURN.system },
  { role: 'user', content: TURN.user },
];
const responsesBody = {
  model: 'm',
  temperature: 0.25,
  top_p: 0.5,
  store: false,
  input: [PROMPT[0], { role: 'user', content: [{ type: 'input_text', text: TURN.user }] }],
  text: { format: { type: 'json_schema', strict: true, name: 'sql', schema: STRICT } },
};
const chatBody = {
  model: 'm',
  temperature: 0.25,
  top_p: 0.5,
  messages: PROMPT,
  response_format: { type: 'json_schema', json_schema: { name: 'sql', strict: true, schema: STRICT } },
};

export const CASES: readonly Case[] = [
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
