/**
 * When a client disconnects, or cancels its request, its statement is cancelled: from the request's signal in the front Worker, over the RPC call to the
 * principal's object, to the exchange with the database. The database of these tests never answers a statement that contains `hangs`.
 */
/// <reference types="@cloudflare/vitest-pool-workers/types" />
import { createExecutionContext, env } from 'cloudflare:test';
import worker from 'built-worker';
import { afterAll, beforeAll, describe, expect, inject, it, vi } from 'vitest';

const BASE = 'http://127.0.0.1:8787';
const ADMIN = inject('adminToken');

interface Sent {
  readonly token?: string;
  readonly body?: string;
  readonly signal?: AbortSignal;
}

function send(method: string, path: string, { token = ADMIN, body, signal }: Sent = {}): Promise<Response> {
  const headers = { 'x-api-key': token, 'x-ontology': 'pond', 'content-type': 'application/json' };
  const request = new Request(BASE + path, { method, headers, ...(body === undefined ? {} : { body }), ...(signal === undefined ? {} : { signal }) });
  return worker.fetch(request as Parameters<typeof worker.fetch>[0], env, createExecutionContext());
}

const rpc = (method: string, params: object, id?: number): string => JSON.stringify({ jsonrpc: '2.0', method, params, ...(id === undefined ? {} : { id }) });
const slow = (name: string, id: number): string =>
  rpc('tools/call', { name: 'execute_sql', arguments: { query: `SELECT no, 'hangs ${name}' AS h FROM svc.frog` } }, id);
const takeBack = (id: number | string): string => rpc('notifications/cancelled', { requestId: id });

/** Statements that hang, by their name; `ended`: their exchange was aborted. */
const hanging = new Map<string, { ended: boolean }>();
const state = (name: string): string => (hanging.has(name) ? (hanging.get(name)?.ended ? 'ended' : 'runs') : 'none');
const becomes = (name: string, expected: string) => expect.poll(() => state(name), { interval: 10 }).toBe(expected);

let other: string;
beforeAll(async () => {
  const query = async (sql: string): Promise<{ data: { token: string }[] }> => {
    const response = await send('POST', '/svc/api/query', { body: JSON.stringify({ query: sql, ontology_name: '' }) });
    expect(response.status, sql).toBe(200);
    return response.json();
  };
  await query('CREATE ONTOLOGY pond; CREATE CONCEPT frog (no bigint, PRIMARY KEY (no)); CREATE MAPPING m INTO frog AS SELECT no FROM zoo.t_animal');
  other = (await query('CREATE USER newt; GRANT QUERY ON ALL ontology.pond TO USER newt; CREATE TOKEN FOR newt')).data[0]?.token ?? '';
  const real = globalThis.fetch;
  vi.spyOn(globalThis, 'fetch').mockImplementation((input, init) => {
    const name = /hangs ([\w-]+)/.exec(String(init?.body))?.[1];
    if (name === undefined) return real(input, init);
    const found = { ended: false };
    hanging.set(name, found);
    return new Promise((_, reject) => {
      const end = (): void => {
        found.ended = true;
        reject(new DOMException('aborted', 'AbortError'));
      };
      // like fetch: a statement that gets the slot of another one may have left already
      if (init?.signal?.aborted) end();
      else init?.signal?.addEventListener('abort', end);
    });
  });
});
afterAll(() => vi.restoreAllMocks());

/** An SSE stream, and the path of its messages. */
async function open(): Promise<{ readonly path: string; next(): Promise<string>; leave(): void }> {
  const client = new AbortController();
  const { body } = await send('GET', '/svc/api/mcp/sse', { signal: client.signal });
  const reader = (body as ReadableStream<Uint8Array>).getReader();
  const next = async (): Promise<string> => new TextDecoder().decode((await reader.read()).value);
  return { path: /data: (.*)\n/.exec(await next())?.[1] ?? '', next, leave: () => client.abort() };
}

describe('a client of Streamable HTTP', () => {
  it('cancels its statement by disconnecting, and no other', async () => {
    const [first, second] = [new AbortController(), new AbortController()];
    // two clients of a user that use the same request numbers
    const answers = [
      send('POST', '/svc/api/mcp', { body: slow('first', 1), signal: first.signal }),
      send('POST', '/svc/api/mcp', { body: slow('second', 1), signal: second.signal }),
    ];
    await Promise.all([becomes('first', 'runs'), becomes('second', 'runs')]);
    first.abort();
    await becomes('first', 'ended');
    await answers[0]?.catch(() => undefined);
    expect((await send('POST', '/svc/api/mcp', { body: takeBack(1) })).status, 'it names no call').toBe(202);
    expect(state('second')).toBe('runs');
    second.abort();
    await becomes('second', 'ended');
    await answers[1]?.catch(() => undefined);
  });

  it('frees its slot for others', async () => {
    const leaving = new AbortController();
    const names = Array.from({ length: 10 }, (_, i) => `crowd-${i}`);
    const answers = names.map((name, id) => send('POST', '/svc/api/mcp', { body: slow(name, id), signal: leaving.signal }).catch(() => undefined));
    await expect.poll(() => names.filter((name) => state(name) === 'runs').length).toBe(8);
    leaving.abort();
    await Promise.all(answers);
    const body = rpc('tools/call', { name: 'execute_sql', arguments: { query: 'SELECT no FROM svc.frog WHERE no = 1' } }, 1);
    expect(await (await send('POST', '/svc/api/mcp', { body })).json()).toMatchObject({ result: { structuredContent: { rows: [{ no: 1 }] } } });
    await expect.poll(() => names.filter((name) => state(name) === 'runs')).toEqual([]);
  });
});

describe('a client of SSE', () => {
  it('ends the statement that it cancels, and gets no answer to it', async () => {
    const [stream, same] = await Promise.all([open(), open()]);
    for (const [path, name] of [
      [stream.path, 'sse-1'],
      [same.path, 'sse-same'],
    ] as const)
      expect((await send('POST', path, { body: slow(name, 7) })).status).toBe(202);
    await Promise.all([becomes('sse-1', 'runs'), becomes('sse-same', 'runs')]);
    for (const [id, sent] of [
      [8, {}],
      ['7', {}],
      [7, { token: other }],
    ] as const)
      await send('POST', stream.path, { body: takeBack(id), ...sent });
    expect([state('sse-1'), state('sse-same')]).toEqual(['runs', 'runs']);
    expect((await send('POST', stream.path, { body: takeBack(7) })).status).toBe(202);
    await becomes('sse-1', 'ended');
    await send('POST', stream.path, { body: rpc('ping', {}, 9) });
    expect(await stream.next(), 'the next that comes').toBe('event: message\ndata: {"result":{},"jsonrpc":"2.0","id":9}\n\n');
    expect(state('sse-same')).toBe('runs');
    stream.leave();
    same.leave();
    await becomes('sse-same', 'ended');
  });

  it('cancels all its statements by disconnecting', async () => {
    const stream = await open();
    for (const id of [1, 2]) await send('POST', stream.path, { body: slow(`left-${id}`, id) });
    await Promise.all([becomes('left-1', 'runs'), becomes('left-2', 'runs')]);
    stream.leave();
    await Promise.all([becomes('left-1', 'ended'), becomes('left-2', 'ended')]);
  });
});
