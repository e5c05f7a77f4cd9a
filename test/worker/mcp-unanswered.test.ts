/** Clients that read no answers: batches that cancel their own requests, streams that no client reads, waiting messages. Each has a limit, and others are not affected. */
/// <reference types="@cloudflare/vitest-pool-workers/types" />
import { createExecutionContext, env } from 'cloudflare:test';
import worker from 'built-worker';
import { afterAll, beforeAll, describe, expect, inject, it, vi } from 'vitest';

const BASE = 'http://127.0.0.1:8787';

function send(method: string, path: string, body?: string): Promise<Response> {
  const headers = { 'x-api-key': inject('adminToken'), 'content-type': 'application/json' };
  const request = new Request(BASE + path, { method, headers, ...(body === undefined ? {} : { body }) });
  return worker.fetch(request as Parameters<typeof worker.fetch>[0], env, createExecutionContext());
}
const message = (method: string, params: object, id?: number | string): object => ({ jsonrpc: '2.0', method, params, ...(id === undefined ? {} : { id }) });
const query = (sql: string, id: number, more: object = {}): object =>
  message('tools/call', { name: 'execute_sql', arguments: { query: sql, ontology: 'lake' }, ...more }, id);

let release: () => void = () => undefined;
beforeAll(async () => {
  const model = 'CREATE ONTOLOGY lake; CREATE CONCEPT fish (no bigint, PRIMARY KEY (no)); CREATE MAPPING m INTO fish AS SELECT no FROM zoo.t_animal';
  expect((await send('POST', '/svc/api/query', JSON.stringify({ query: model, ontology_name: '' }))).status).toBe(200);
  const released = new Promise<void>((resolve) => (release = resolve));
  const real = globalThis.fetch;
  vi.spyOn(globalThis, 'fetch').mockImplementation(async (input, init) => {
    if (String(init?.body).includes('waits here')) await released;
    return real(input, init);
  });
});
afterAll(() => vi.restoreAllMocks());

/** An SSE stream: the path for its messages, and its events. */
async function open() {
  const { body } = await send('GET', '/svc/api/mcp/sse');
  const reader = (body as ReadableStream<Uint8Array>).getReader();
  const next = async (): Promise<string | undefined> => {
    const { value } = await reader.read();
    return value === undefined ? undefined : new TextDecoder().decode(value);
  };
  return { path: /data: (.*)\n/.exec((await next()) ?? '')?.[1] ?? '', next, leave: () => reader.cancel().catch(() => undefined) };
}

describe('a batch that cancels its own requests', () => {
  const call = query('SELECT no FROM svc.fish WHERE no = 1', 1);
  const back = (requestId: number | string) => message('notifications/cancelled', { requestId });
  it.each([
    ['after a request', [call, back(1)], [1]],
    ['before it', [back(1), call], [1]],
    ['one of two', [call, message('ping', {}, 2), back(1)], [1, 2]],
    ['with a text instead of the number', [call, back('1')], [1]],
    ['one that does not exist', [call, back(9)], [1]],
  ])('is answered: %s', async (_, batch, ids) => {
    const answers = (await (await send('POST', '/svc/api/mcp', JSON.stringify(batch))).json()) as { id: number }[];
    expect(answers.map(({ id }) => id).sort()).toEqual(ids);
  });

  it('and nothing else has no answer', async () => {
    const { status } = await send('POST', '/svc/api/mcp', JSON.stringify([back(1), back(2)]));
    expect(status).toBe(202);
  });
});

it('a stream that no client reads ends, and others continue', async () => {
  const [unread, other] = await Promise.all([open(), open()]);
  const large = JSON.stringify(query("SELECT repeat('x', 900000) AS x FROM svc.fish WHERE no = 1", 1));
  let status = 202;
  for (let i = 0; status === 202 && i < 100; i++) ({ status } = await send('POST', unread.path, large));
  expect(status).toBe(404);
  await unread.leave();
  await send('POST', other.path, JSON.stringify(message('ping', {}, 7)));
  expect(await other.next()).toContain('"id":7');
  await other.leave();
});

it('waiting messages of streams are limited by their size', async () => {
  const stream = await open();
  const waits = (id: number): string => JSON.stringify(query("SELECT no, 'waits here' AS w FROM svc.fish", id, { _meta: { padding: 'x'.repeat(900_000) } }));
  for (let id = 1; id <= 30; id++) expect((await send('POST', stream.path, waits(id))).status).toBe(202);
  expect(await stream.next()).toContain('Too many messages are waiting');
  release();
  await stream.leave();
});
