/** Attacks on the MCP server: bodies, and the expected answers. Refused bodies must not reach the server of a principal. */
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { createToken } from '../../src/auth/tokens.ts';
import { createApp } from '../../src/http/app.ts';
import type { McpCall } from '../../src/mcp/call.ts';
import { mcpMounts } from '../../src/mcp/mounts.ts';
import { Streams } from '../../src/mcp/streams.ts';
import type { Runtime } from '../../src/service.ts';
import { fakeRuntime } from '../unit/http/fake-runtime.ts';

const TOKEN = createToken();
const PATH = '/svc/api/mcp';
let runtime: Runtime;
let app: ReturnType<typeof createApp>;
/** The messages that reached the principal's server. */
const reached: McpCall[] = [];

beforeAll(() => {
  runtime = fakeRuntime({ ADMIN_TOKEN: TOKEN });
  const answer = () => Response.json({ jsonrpc: '2.0', id: 1, result: {} });
  const principals = {
    post: async (_user: string, call: McpCall) => {
      reached.push(call);
      return answer();
    },
    open: async () => answer(),
    message: async () => true,
  };
  app = createApp('svc', '1', mcpMounts('svc', '1', principals));
});
afterAll(() => {
  reached.length = 0;
});

/** HTTP status, code of the JSON-RPC error, and the number of messages that reached the server. */
async function send(body: string, headers: Readonly<Record<string, string>> = {}, search = ''): Promise<[number, number | undefined, number]> {
  reached.length = 0;
  const all = { 'x-api-key': TOKEN, 'content-type': 'application/json', ...headers };
  const response = await app.fetch(new Request(`http://127.0.0.1:8787${PATH}${search}`, { method: 'POST', headers: all, body }), { runtime });
  const json = (await response.json()) as { error?: { code: number } };
  return [response.status, json.error?.code, reached.flatMap((c) => c.body).length];
}

const OLD = { 'mcp-protocol-version': '2025-03-26' };
const batch = (n: number, message: (i: number) => unknown) => JSON.stringify(Array.from({ length: n }, (_, i) => message(i)));
const call = (args: string) => `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"list_ontologies","arguments":${args}}}`;
const lists = (n: number) => '['.repeat(n) + ']'.repeat(n);
const objects = (n: number) => `${'{"a":'.repeat(n)}1${'}'.repeat(n)}`;

describe('?mode=model', () => {
  it.each([
    [{}, true],
    [{ 'x-read-only': 'false' }, true],
    [{ 'x-read-only': 'true' }, false],
    [{ 'x-read-only': ' TRUE ' }, false],
  ])('with %j: changes the model: %s', async (headers, expected) => {
    await send(call('{}'), headers, '?mode=model');
    expect(reached.map((c) => c.modelling)).toEqual([expected]);
  });
});

describe('x-consistency', () => {
  it.each([
    [{}, [200, undefined, 1], [false]],
    [{ 'x-consistency': 'Primary' }, [200, undefined, 1], [true]],
    [{ 'x-consistency': 'strong' }, [400, -32600, 0], []],
  ])('with %j: %j, and the rows of the primary: %j', async (headers, expected, fresh) => {
    expect(await send(call('{}'), headers)).toEqual(expected);
    expect(reached.map((c) => c.fresh)).toEqual(fresh);
  });
});

describe('a batch', () => {
  it.each([
    ['a hundred requests', 100, (i: number) => ({ jsonrpc: '2.0', id: i, method: 'ping' }), [200, undefined, 100]],
    ['one more', 101, (i: number) => ({ jsonrpc: '2.0', id: i, method: 'tools/list' }), [400, -32600, 0]],
    ['5,000', 5000, (i: number) => ({ jsonrpc: '2.0', id: i, method: 'tools/list' }), [400, -32600, 0]],
    ['notifications, which have no answer', 5000, () => ({ jsonrpc: '2.0', method: 'notifications/initialized' }), [400, -32600, 0]],
    ['an invalid message', 200_000, () => 1, [400, -32600, 0]],
    ['empty objects', 200_000, () => ({}), [400, -32600, 0]],
  ])('of %s', async (_, n, message, expected) => expect(await send(batch(n, message), OLD)).toEqual(expected));
});

describe('arguments', () => {
  it.each([
    ['objects, 60 levels', objects(60), [200, undefined, 1]],
    ['lists, 60 levels', `{"a":${lists(60)}}`, [200, undefined, 1]],
    ['objects, 70 levels', objects(70), [400, -32600, 0]],
    ['lists, 70 levels', `{"a":${lists(70)}}`, [400, -32600, 0]],
    ['objects, 100,000 levels', objects(100_000), [400, -32600, 0]],
    ['lists that never end', `{"a":${'['.repeat(500_000)}`, [400, -32600, 0]],
    ['brackets in a text', JSON.stringify({ query: '[{'.repeat(10_000) }), [200, undefined, 1]],
    ['an escaped quote before brackets', `{"query":"\\"${'['.repeat(200)}"}`, [200, undefined, 1]],
    ['a text that ends before brackets', `{"query":"\\\\","a":${lists(200)}}`, [400, -32600, 0]],
  ])('%s', async (_, args, expected) => expect(await send(call(args))).toEqual(expected));

  it.each([
    ['keys', (n: number) => JSON.stringify(Object.fromEntries(Array.from({ length: n }, (_, i) => [`k${i}`, i]))), 8_000, 60_000],
    ['items', (n: number) => JSON.stringify({ a: Array(n).fill(1) }), 15_000, 80_000],
    ['empty objects', (n: number) => `{"a":[${Array(n).fill('{}').join()}]}`, 8_000, 80_000],
  ])('many %s', async (_, args, few, many) => {
    const parsed = vi.spyOn(JSON, 'parse');
    expect(await send(call(args(few)))).toEqual([200, undefined, 1]);
    const before = parsed.mock.calls.length;
    expect(await send(call(args(many)))).toEqual([400, -32600, 0]);
    expect(parsed.mock.calls.slice(before).filter(([text]) => text.length > 100_000)).toEqual([]);
    parsed.mockRestore();
  });

  it('commas in a text are no values', async () => {
    expect(await send(call(JSON.stringify({ query: ',:'.repeat(50_000) })))).toEqual([200, undefined, 1]);
  });

  it('are limited in other parameters and in results, too', async () => {
    expect(await send(`{"jsonrpc":"2.0","id":1,"method":"ping","params":{"_meta":${objects(80)}}}`)).toEqual([400, -32600, 0]);
    expect(await send(`{"jsonrpc":"2.0","id":1,"result":${objects(80)}}`)).toEqual([400, -32600, 0]);
    expect(await send(`[${call(objects(80))}]`, OLD)).toEqual([400, -32600, 0]);
  });
});

describe('a stream', () => {
  it('accepts messages only of its owner', async () => {
    const streams = new Streams(() => undefined);
    const readable = streams.open('id', 'owner', '/message');
    expect(streams.find('id', 'owner')).toBeDefined();
    expect(streams.find('id', 'the same user with another claim')).toBeUndefined();
    streams.end('id');
    expect(streams.find('id', 'owner')).toBeUndefined();
    await readable.cancel().catch(() => undefined);
  });
});

describe('a slow answer', () => {
  // the credential of the first caller ends during the call
  it.each([
    ['a minute', 61_000, 401],
    ['a second', 1_000, 200],
  ])('%s is sent only if the credential is still valid', async (_, ms, status) => {
    let passed = 0;
    const slow = { ...fakeRuntime({ ADMIN_TOKEN: TOKEN }), now: () => Date.now() + passed };
    const principals = {
      post: async () => {
        passed = ms;
        Object.assign(slow.config, fakeRuntime({ ADMIN_TOKEN: createToken() }).config);
        return Response.json({ jsonrpc: '2.0', id: 1, result: { secret: 1 } });
      },
      open: async () => new Response(),
      message: async () => true,
    };
    const body = '{"jsonrpc":"2.0","id":1,"method":"ping"}';
    const headers = { 'x-api-key': TOKEN, 'content-type': 'application/json' };
    const face = createApp('svc', '1', mcpMounts('svc', '1', principals));
    const response = await face.fetch(new Request(`http://127.0.0.1:8787${PATH}`, { method: 'POST', headers, body }), { runtime: slow as Runtime });
    expect([response.status, (await response.text()).includes('secret')]).toEqual([status, status === 200]);
  });
});
