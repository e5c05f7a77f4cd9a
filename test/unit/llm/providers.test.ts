/** The requests to each provider, over HTTP to a simulated one on loopback, and how its answers are parsed. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { SvcError } from '../../../src/errors.ts';
import { languageModels, type Surroundings } from '../../../src/llm/models.ts';
import type { AiBinding } from '../../../src/llm/providers/open.ts';
import { CASES, GIVEN, KEY, PROMPT } from './provider-cases.ts';
import { deadline, json, llm, STRICT, type Stub, startStub, TURN, VALUE } from './stub.ts';

let stub: Stub;
beforeAll(async () => {
  stub = await startStub();
});
afterAll(() => stub.close());

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
  it('is called with a JSON schema, its key and parameters', async () => {
    stub.play(says(GIVEN));
    expect(await models(env).ask(TURN, deadline())).toMatchObject({ value: VALUE, inputTokens: 11, outputTokens: 7 });
    expect(stub.heard).toHaveLength(1);
    expect(stub.heard[0]).toMatchObject({ method: 'POST', url, headers: { 'content-type': 'application/json', ...headers } });
    expect(stub.heard[0]?.body).toMatchObject(body);
    expect(stub.heard[0]?.raw).not.toContain(KEY);
    expect(stub.heard[0]?.raw).not.toMatch(/\$ref|\$schema|minLength|maxLength|"(region|organization|project|api|headers|accessKeyId)"/);
    expect(lines.filter((l) => l.level === 'error')).toEqual([]);
  });

  it('may answer something else', async () => {
    stub.play(says('I am sorry, I cannot help with that.'));
    expect(await models(env).ask(TURN, deadline())).toMatchObject({ value: undefined, text: 'I am sorry, I cannot help with that.', outputTokens: 7 });
  });

  it('may be truncated', async () => {
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

  it('may abort, or not answer', async () => {
    stub.play((response) => response.writeHead(200, { 'content-type': 'application/json' }).end('{"id": "hush'));
    expect(await failing(env)).toMatchObject({ code: 'llm_failed' });
    stub.play((response) => response.destroy());
    expect(await failing(env)).toMatchObject({ code: 'llm_failed' });
    expect(stub.heard).toHaveLength(1);
    stub.play(() => undefined);
    let sent = 0;
    const counting = (input: string | URL | Request, init?: RequestInit): Promise<Response> => {
      sent++;
      return fetch(input, init);
    };
    expect(await failing(env, { fetch: counting }, 150)).toMatchObject({ code: 'llm_timeout' });
    expect(sent).toBe(1);
  });
});

describe('URLs', () => {
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

  it('is called by its binding', async () => {
    const ai = bound(async () => ({ response: VALUE, usage: { prompt_tokens: 11, completion_tokens: 7 } }));
    expect(await models(env, ai).ask(TURN, deadline())).toMatchObject({ value: VALUE, inputTokens: 11, outputTokens: 7 });
    expect(calls).toMatchObject([
      {
        model: env.LLM_MODEL,
        inputs: { messages: PROMPT, temperature: 0.25, seed: 7, max_tokens: 4096, response_format: { type: 'json_schema', json_schema: STRICT } },
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

  it('may ignore the signal', async () => {
    expect(
      await failing(
        env,
        bound(() => new Promise(() => undefined)),
        50,
      ),
    ).toMatchObject({ code: 'llm_timeout' });
  });
});

it('a build without a provider reports it', async () => {
  const { open } = await import('../../../src/llm/providers/left-out.ts');
  expect(await failing({ LLM_TYPE: 'openai' }, { open })).toMatchObject({ status: 500, code: 'llm_misconfigured' });
  expect(lines).toMatchObject([{ event: 'llm_misconfigured', llm: 'openai/m', fault: 'this build has no provider of that type' }]);
});
