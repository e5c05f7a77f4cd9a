/** One turn of a language model: the request, what counts as an answer, and how each failure ends. */
import { createServer } from 'node:net';
import { MockLanguageModelV4 } from 'ai/test';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { SvcError } from '../../../src/errors.ts';
import { languageModels, type Surroundings } from '../../../src/llm/models.ts';
import type { LanguageModels } from '../../../src/llm/types.ts';
import { chat, deadline, json, llm, SCHEMA, STRICT, type Stub, startStub, TURN, VALUE } from './stub.ts';

const KEY = 'key-of-the-stub';
let stub: Stub;
beforeAll(async () => {
  stub = await startStub();
});
afterAll(() => stub.close());

const lines: Record<string, unknown>[] = [];
function models(env: Record<string, string> = {}, more: Surroundings = {}): LanguageModels {
  lines.length = 0;
  const settings = { LLM_TYPE: 'openai-compatible', LLM_BASE_URL: `${stub.url}/v1`, LLM_API_KEY: KEY, LLM_MODEL: 'stub-model', LLM_TIMEOUT: '10', ...env };
  const made = languageModels(llm(settings), { log: (line) => lines.push(line), pausesMs: [5, 5], ...more });
  if (made === undefined) throw new Error('no model');
  return made;
}

async function fails(work: Promise<unknown>): Promise<SvcError> {
  const error = await work.then(
    (value) => new Error(`it answered ${JSON.stringify(value)}`),
    (e: unknown) => e,
  );
  expect(error).toBeInstanceOf(SvcError);
  const said = JSON.stringify([(error as SvcError).message, (error as SvcError).hint, lines]);
  expect(said).not.toContain(KEY);
  expect(said).not.toContain('hush');
  expect(said).not.toContain('127.0.0.1');
  return error as SvcError;
}

describe('a turn', () => {
  it('is requested with a JSON schema, temperature, parameters and key, and counts tokens', async () => {
    stub.play((response) => chat(response, JSON.stringify(VALUE)));
    const answer = await models({
      LLM_TEMPERATURE: '0.25',
      LLM_ADDITIONAL_PARAMS: '{"top_p":0.5,"chat_template_kwargs":{"thinking":false},"headers":{"x-team":"data"}}',
    }).ask(TURN, deadline());
    expect(answer).toMatchObject({ value: VALUE, text: JSON.stringify(VALUE), inputTokens: 11, outputTokens: 7 });
    expect(answer.durationMs).toBeGreaterThanOrEqual(0);
    expect(stub.heard).toHaveLength(1);
    expect(stub.heard[0]).toMatchObject({ method: 'POST', url: '/v1/chat/completions', headers: { authorization: `Bearer ${KEY}`, 'x-team': 'data' } });
    expect(stub.heard[0]?.body).toEqual({
      model: 'stub-model',
      temperature: 0.25,
      top_p: 0.5,
      chat_template_kwargs: { thinking: false },
      messages: [
        { role: 'system', content: 'You write SQL.' },
        { role: 'user', content: 'How many cities?' },
      ],
      response_format: { type: 'json_schema', json_schema: { name: 'sql', strict: true, schema: STRICT } },
    });
    expect(lines).toEqual([]);
  });

  it('omits parameters without a setting', async () => {
    stub.play((response) => chat(response, JSON.stringify(VALUE)));
    await models({ LLM_API_KEY: '' }).ask(TURN, deadline());
    expect(stub.heard[0]?.headers).not.toHaveProperty('authorization');
    expect(Object.keys(stub.heard[0]?.body ?? {}).sort()).toEqual(['messages', 'model', 'response_format']);
  });

  it('has a name without a secret, and the timeout of a call', () => {
    expect(models({ LLM_TYPE: 'OpenAI_Compatible' })).toMatchObject({ name: 'openai-compatible/stub-model', timeoutMs: 10_000 });
    expect(models().embed).toBeUndefined();
  });

  it('accepts the operation itself as the URL', async () => {
    stub.play((response) => chat(response, JSON.stringify(VALUE)));
    await models({ LLM_BASE_URL: `${stub.url}/v1/chat/completions` }).ask(TURN, deadline());
    expect(stub.heard[0]?.url).toBe('/v1/chat/completions');
  });
});

describe('an answer of the wrong form', () => {
  const given = JSON.stringify(VALUE);
  it.each([
    ['prose around the object', `Sure!\n${given}\nIt counts.`, VALUE],
    ['a code fence', `Here you are:\n\`\`\`json\n${JSON.stringify(VALUE, null, 2)}\n\`\`\``, VALUE],
    ['thoughts with a draft', `<think>Perhaps ${JSON.stringify({ ...VALUE, sql: 'SELECT 2' })}?</think>${given}`, VALUE],
    ['null for what may be left out', JSON.stringify({ ...VALUE, unsure: null }), { sql: 'SELECT 1', tables: ['city'], why: null }],
    ['only prose', 'I cannot help with that, hush.', undefined],
    ['nothing', '', undefined],
    ['null', 'null', undefined],
    ['broken JSON', '{"sql": "SELECT 1', undefined],
    ['JSON of another kind', '{"foo": [1, 2, 3]}', undefined],
    ['a value outside of the list', JSON.stringify({ ...VALUE, tables: ['moon'] }), undefined],
    ['two objects that differ', `${given} or rather ${JSON.stringify({ ...VALUE, sql: 'SELECT 2' })}`, undefined],
    ['the same object twice', `${given} I repeat: ${given}`, VALUE],
  ])('%s', async (_, content, value) => {
    stub.play((response) => chat(response, content));
    const answer = await models().ask(TURN, deadline());
    expect(answer).toMatchObject({ text: content, inputTokens: 11, outputTokens: 7 });
    // a null is kept if the schema has one
    expect(answer.value).toEqual(value);
    expect(stub.heard).toHaveLength(1);
  });

  it.each(['length', 'content_filter'])('one that ended by %s is not used, even if it looks complete', async (reason) => {
    stub.play((response) => chat(response, given, reason));
    expect(await models().ask(TURN, deadline())).toMatchObject({ value: undefined, text: given, outputTokens: 7 });
  });
});

describe('a provider that fails', () => {
  const broken =
    (status: number, headers: Record<string, string> = {}) =>
    (response: Parameters<typeof json>[0]) =>
      json(response, { error: { message: `hush ${KEY} ${status}`, type: 'stub', code: null, param: null } }, status, headers);

  it.each([500, 502, 503, 529])('with %i is called three times in total', async (status) => {
    stub.play(broken(status));
    expect(await fails(models().ask(TURN, deadline()))).toMatchObject({ status: 502, code: 'llm_failed' });
    expect(stub.heard).toHaveLength(3);
    expect(lines.map((l) => [l.event, l.status, l.repetition])).toEqual([0, 1, 2].map((n) => ['llm_failed', status, n]));
  });

  it('once is called again, and answers', async () => {
    stub.play((response, _, turn) => (turn === 0 ? broken(500)(response) : chat(response, JSON.stringify(VALUE))));
    expect(await models().ask(TURN, deadline())).toMatchObject({ value: VALUE });
    expect(stub.heard).toHaveLength(2);
  });

  it.each([400, 401, 403, 404, 422])('with %i is not called again', async (status) => {
    stub.play(broken(status));
    expect(await fails(models().ask(TURN, deadline()))).toMatchObject({ status: 502, code: 'llm_refused' });
    expect(stub.heard).toHaveLength(1);
  });

  it('by its own timeout is not called again', async () => {
    stub.play(broken(408));
    expect(await fails(models().ask(TURN, deadline()))).toMatchObject({ code: 'llm_failed' });
    expect(stub.heard).toHaveLength(1);
  });

  it.each([
    ['retry-after', '1', 950],
    ['retry-after', new Date(Date.now() - 60_000).toUTCString(), 0],
    ['retry-after-ms', '300', 290],
  ])('with 429 and %s: %s is called again after that', async (name, value, least) => {
    stub.play((response, _, turn) => (turn === 0 ? broken(429, { [name]: value })(response) : chat(response, JSON.stringify(VALUE))));
    expect(await models().ask(TURN, deadline())).toMatchObject({ value: VALUE });
    expect(stub.heard[1]!.at - stub.heard[0]!.at).toBeGreaterThanOrEqual(least);
  });

  it.each([
    ['an hour', { LLM_TIMEOUT: '3600' }, '3600', 5000],
    ['longer than a call may take', { LLM_TIMEOUT: '10' }, '15', 60_000],
  ])('and requests a delay of %s is not called again', async (_, env, seconds, left) => {
    stub.play(broken(429, { 'retry-after': seconds }));
    expect(await fails(models(env).ask(TURN, deadline(left)))).toMatchObject({ status: 502, code: 'llm_failed', hint: 'Ask again later' });
    expect(stub.heard).toHaveLength(1);
  });

  it('while the question ends is not waited for', async () => {
    stub.play(broken(429, { 'retry-after': '8' }));
    const end = deadline();
    setTimeout(end.end, 50);
    expect(await fails(models().ask(TURN, end))).toMatchObject({ status: 504, code: 'llm_timeout' });
    expect(stub.heard).toHaveLength(1);
  });

  it('is logged only with its status', async () => {
    stub.play(broken(401));
    await fails(models().ask(TURN, deadline()));
    expect(lines).toMatchObject([{ level: 'error', event: 'llm_failed', llm: 'openai-compatible/stub-model', stage: 'sql', repetition: 0, status: 401 }]);
  });
});

describe('an answer that cannot be parsed', () => {
  it.each([
    ['a body that is not JSON', '<html>hush</html>', 'text/html'],
    ['a body that breaks off', '{"id":"c1","choices":[{"index":0,"message":{"rol', 'application/json'],
    ['a body without choices', '{"id":"c1","choices":[]}', 'application/json'],
    ['an error with status 200', '{"error":{"message":"hush"}}', 'application/json'],
    ['no body', '', 'application/json'],
  ])('%s', async (_, body, type) => {
    stub.play((response) => response.writeHead(200, { 'content-type': type }).end(body));
    expect(await fails(models().ask(TURN, deadline()))).toMatchObject({ status: 502, code: 'llm_failed' });
    expect(stub.heard).toHaveLength(1);
  });

  it('a body without an end is truncated', async () => {
    let sent = 0;
    let cut = false;
    stub.play((response) => {
      response.writeHead(200, { 'content-type': 'application/json' });
      response.on('close', () => {
        cut = true;
      });
      const more = (): void => {
        while (!cut && sent < 50_000_000) {
          sent += 64_000;
          if (!response.write(' '.repeat(64_000))) break;
        }
      };
      response.on('drain', more);
      more();
    });
    expect(await fails(models().ask(TURN, deadline()))).toMatchObject({ code: 'llm_failed' });
    expect(lines).toMatchObject([{ fault: 'EndlessAnswer' }]);
    expect(sent).toBeLessThan(20_000_000);
  });

  it('a redirect is not followed, so that the key is not sent elsewhere', async () => {
    const other = await startStub();
    other.play((response) => chat(response, JSON.stringify(VALUE)));
    try {
      for (const status of [301, 302, 307, 308]) {
        stub.play((response) => response.writeHead(status, { location: `${other.url}/v1/chat/completions` }).end());
        expect(await fails(models().ask(TURN, deadline()))).toMatchObject({ code: 'llm_failed' });
      }
      expect(other.heard).toEqual([]);
    } finally {
      await other.close();
    }
  });

  it('an unused port', async () => {
    const probe = createServer();
    const port = await new Promise<number>((resolve) => probe.listen(0, '127.0.0.1', () => resolve((probe.address() as { port: number }).port)));
    await new Promise((resolve) => probe.close(resolve));
    expect(await fails(models({ LLM_BASE_URL: `http://127.0.0.1:${port}/v1` }).ask(TURN, deadline()))).toMatchObject({ status: 502, code: 'llm_failed' });
    expect(lines).toHaveLength(1);
  });
});

describe('timeouts', () => {
  it('LLM_TIMEOUT ends a call without an answer, which is not repeated', async () => {
    let gone = false;
    stub.play((response) =>
      response.on('close', () => {
        gone = true;
      }),
    );
    const timers = vi.spyOn(globalThis, 'setTimeout');
    expect(await fails(models({ LLM_TIMEOUT: '1' }).ask(TURN, deadline()))).toMatchObject({ status: 504, code: 'llm_timeout' });
    expect(timers.mock.calls.map(([, ms]) => ms)).toContain(1000);
    await expect.poll(() => gone).toBe(true);
    expect(stub.heard).toHaveLength(1);
    expect(lines).toMatchObject([{ event: 'llm_timeout' }]);
  });

  it('the body counts too', async () => {
    stub.play((response) => response.writeHead(200, { 'content-type': 'application/json' }).write('{'));
    expect(await fails(models({ LLM_TIMEOUT: '1' }).ask(TURN, deadline()))).toMatchObject({ code: 'llm_timeout' });
    expect(stub.heard).toHaveLength(1);
  });

  it('the remaining time of the question ends a call earlier', async () => {
    stub.play(() => undefined);
    expect(await fails(models({ LLM_TIMEOUT: '3600' }).ask(TURN, deadline(300)))).toMatchObject({ code: 'llm_timeout' });
  });

  it('a caller who disconnects ends it', async () => {
    stub.play(() => undefined);
    const end = deadline();
    setTimeout(end.end, 50);
    expect(await fails(models().ask(TURN, end))).toMatchObject({ code: 'llm_timeout' });
  });

  it('a question without remaining time makes no call', async () => {
    stub.play(() => undefined);
    expect(await fails(models().ask(TURN, deadline(0)))).toMatchObject({ code: 'llm_timeout' });
    expect(stub.heard).toEqual([]);
  });

  it('a model that ignores the signal is not waited for', async () => {
    const model = new MockLanguageModelV4({ doGenerate: () => new Promise(() => undefined) });
    const asked = models({}, { open: () => ({ model, temperature: null }) }).ask(TURN, deadline(100));
    expect(await fails(asked)).toMatchObject({ code: 'llm_timeout' });
  });
});

describe('the SDK', () => {
  const usage = { inputTokens: { total: 3, noCache: 3, cacheRead: 0, cacheWrite: 0 }, outputTokens: { total: 2, text: 2, reasoning: 0 } };
  const saying = (text: string, more: object = {}) =>
    new MockLanguageModelV4({
      doGenerate: { content: [{ type: 'text', text }], finishReason: { unified: 'stop', raw: 'stop' }, usage, warnings: [], ...more },
    });

  it('passes instructions, question and schema to any model', async () => {
    const model = saying(JSON.stringify(VALUE));
    expect(await models({}, { open: () => ({ model, temperature: 0.5, maxOutputTokens: 99 }) }).ask(TURN, deadline())).toMatchObject({
      value: VALUE,
      inputTokens: 3,
      outputTokens: 2,
    });
    expect(model.doGenerateCalls[0]).toMatchObject({
      temperature: 0.5,
      maxOutputTokens: 99,
      responseFormat: { type: 'json', name: 'sql', schema: STRICT },
      prompt: [
        { role: 'system', content: TURN.system },
        { role: 'user', content: [{ type: 'text', text: TURN.user }] },
      ],
    });
  });

  it('warns once of parameters that a model does not support', async () => {
    const model = saying(JSON.stringify(VALUE), { warnings: [{ type: 'unsupported', feature: 'temperature', details: 'hush' }] });
    const made = models({}, { open: () => ({ model, temperature: 2 }) });
    await made.ask(TURN, deadline());
    await made.ask(TURN, deadline());
    expect(lines).toEqual([{ level: 'warn', event: 'llm_warning', llm: 'openai-compatible/stub-model', features: ['temperature'] }]);
  });

  it('is not called if a provider cannot be opened', async () => {
    const open = () => {
      throw new Error('hush');
    };
    expect(await fails(models({}, { open }).ask(TURN, deadline()))).toMatchObject({ status: 500, code: 'llm_misconfigured' });
    expect(lines).toMatchObject([{ event: 'llm_misconfigured' }]);
  });
});

describe('invalid settings', () => {
  it('create no model without a provider', () => expect(languageModels(llm({ LLM_MODEL: 'm' }))).toBeUndefined());

  it.each([
    { LLM_TYPE: 'hush' },
    { LLM_MODEL: '' },
    { LLM_BASE_URL: '' },
    { LLM_BASE_URL: 'http://far.example/hush' },
    { LLM_TYPE: 'workers-ai' },
    { LLM_TYPE: 'bedrock', LLM_API_KEY: '' },
  ])('%j: an error when the model is called', async (env) => {
    expect(await fails(models(env).ask(TURN, deadline()))).toMatchObject({ status: 500, code: 'llm_misconfigured' });
  });
});

describe('embeddings', () => {
  const vectors = (count: number): number[][] => Array.from({ length: count }, (_, i) => [i, 0.5]);
  const bound = (run: (model: string, inputs: Readonly<Record<string, unknown>>) => Promise<unknown>) => models({}, { ai: { run } }).embed!;

  it('are available if Workers AI is bound, a hundred texts per call', async () => {
    const calls: [string, unknown][] = [];
    const embed = bound(async (model, inputs) => {
      calls.push([model, (inputs.text as string[]).length]);
      return { shape: [1, 2], data: vectors((inputs.text as string[]).length) };
    });
    expect(
      await embed(
        Array.from({ length: 150 }, (_, i) => `text ${i}`),
        deadline(),
      ),
    ).toHaveLength(150);
    expect(calls).toEqual([
      ['@cf/baai/bge-m3', 100],
      ['@cf/baai/bge-m3', 50],
    ]);
    expect(await embed([], deadline())).toEqual([]);
  });

  it.each([
    ['an error', () => Promise.reject(new Error('hush'))],
    ['too few vectors', async () => ({ data: vectors(1) })],
    ['vectors of several lengths', async () => ({ data: [[1, 2], [1]] })],
    ['no numbers', async () => ({ data: [['a'], [Number.NaN]] })],
    ['another answer', async () => ({ result: 1 })],
  ])('%s of the binding is an error without its message', async (_, run) => {
    expect(await fails(bound(run)(['a', 'b'], deadline()))).toMatchObject({ status: 502, code: 'llm_failed' });
  });

  it('end with the question', async () => {
    expect(await fails(bound(() => new Promise(() => undefined))(['a'], deadline(50)))).toMatchObject({ code: 'llm_timeout' });
  });
});

it('SCHEMA is the schema of the turns', () => expect(SCHEMA.safeParse(VALUE).success).toBe(true));
