/** Bodies of requests that take the memory of an isolate: sent slowly, or many at once, by callers with and without a credential. */
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { BODY_BYTES } from '../../src/http/body.ts';
import { keptOfBodies, OF_ALL, OF_CALLER } from '../../src/http/large-body.ts';
import { Gate } from '../../src/mcp/gate.ts';
import { Running } from '../../src/mcp/running.ts';
import { startService, type TestService } from '../support/service.ts';

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;

const TABLES = [
  'CREATE SCHEMA mem',
  'CREATE TABLE mem.t_note (id bigint PRIMARY KEY, text text)',
  "INSERT INTO mem.t_note SELECT n, repeat('x', 1000) FROM generate_series(1, 10000) n",
];

let s: TestService;
let ann: string;
let ben: string;
beforeAll(async () => {
  s = await startService({ settings: { SESSION_SECRET: 's'.repeat(40), API_AUTH_SALT: 'salt of these tests' }, tables: TABLES });
  await s.rows(`CREATE ONTOLOGY mem; CREATE CONCEPT note (id bigint, text string, PRIMARY KEY (id));
    CREATE MAPPING m INTO (note) AS SELECT id, text FROM mem.t_note`);
  ann = await s.user('ann', 'QUERY ON ALL ontology.mem');
  ben = await s.user('ben', 'QUERY ON ALL ontology.mem');
});
afterAll(() => s?.close());

const PIECE = 64 * 1024;

/** A request whose body stops after some bytes until `finish` is called. */
function slow(path: string, headers: Readonly<Record<string, string>>, bytes = BODY_BYTES - PIECE, end = '') {
  let finish = (): void => undefined;
  const finished = new Promise<void>((resolve) => (finish = resolve));
  const pieces: WeakRef<Uint8Array>[] = [];
  let sent = 0;
  let stopped = (): void => undefined;
  const isStopped = new Promise<void>((resolve) => (stopped = resolve));
  const body = new ReadableStream<Uint8Array>({
    async pull(controller) {
      if (sent < bytes) {
        const piece = new Uint8Array(PIECE).fill(0x20);
        sent += PIECE;
        pieces.push(new WeakRef(piece));
        controller.enqueue(piece);
        return;
      }
      stopped();
      await finished;
      if (end !== '') controller.enqueue(new TextEncoder().encode(end));
      controller.close();
    },
  });
  const init = { method: 'POST', headers: { 'content-type': 'application/json', ...headers }, body, duplex: 'half' } as RequestInit;
  const answer = s.fetch(path, init).then(async (response) => [response.status, ((await response.json()) as { code?: string }).code]);
  return { answer, finish, isStopped, alive: () => pieces.filter((p) => p.deref() !== undefined).length };
}

const QUERY = '{"ontology_name": "mem", "query": "SHOW VERSION"}';
const query = (token: string) => slow('/svc/api/query', { 'x-api-key': token }, BODY_BYTES - PIECE, QUERY);

describe('a body that is sent slowly', () => {
  it.each([
    ['/svc/api/query', {}],
    ['/svc/api/query', { 'x-api-key': `tk_${'0'.repeat(33)}` }],
    ['/svc/api/get_token', { authorization: 'Bearer x' }],
    ['/svc/nonesuch', {}],
  ])('is not kept at %s without a valid credential', async (path, headers: Record<string, string>) => {
    const before = keptOfBodies();
    const requests = Array.from({ length: 20 }, () => slow(path, headers));
    await Promise.all(requests.map((r) => r.isStopped));
    await new Promise((resolve) => setTimeout(resolve, 50));
    collectGarbage();
    // the last pieces may be in the queues of the streams
    for (const r of requests) expect(r.alive()).toBeLessThan(4);
    expect(keptOfBodies()).toBe(before);
    for (const r of requests) r.finish();
    for (const r of requests) expect((await r.answer)[0]).toBeGreaterThan(400);
  });

  it('has the length of its pieces if it is chunked, not that of content-length', async () => {
    const request = slow('/svc/api/query', { 'x-api-key': ann, 'content-length': '5', 'transfer-encoding': 'chunked' }, BODY_BYTES + PIECE, QUERY);
    request.finish();
    expect(await request.answer).toEqual([413, 'body_too_large']);
  });

  it('counts for its caller until the request ends', async () => {
    const before = keptOfBodies();
    const own = Array.from({ length: 4 }, () => query(ann));
    await Promise.all(own.map((r) => r.isStopped));
    await expect.poll(keptOfBodies).toBe(before + 4 * (BODY_BYTES - PIECE));
    const more = query(ann);
    const others = query(ben);
    for (const r of [more, others]) r.finish();
    expect(await more.answer).toEqual([503, 'busy']);
    expect(await others.answer).toEqual([200, undefined]);
    for (const r of own) r.finish();
    for (const r of own) expect(await r.answer).toEqual([200, undefined]);
    expect(keptOfBodies()).toBe(before);
    const again = query(ann);
    again.finish();
    expect(await again.answer).toEqual([200, undefined]);
  });

  it('takes from others no more than all large bodies may have', async () => {
    const crowd = await Promise.all(['c1', 'c2', 'c3', 'c4', 'c5'].map((name) => s.user(name)));
    const held = crowd.flatMap((token, i) => Array.from({ length: i < 4 ? 4 : 1 }, () => query(token)));
    await Promise.all(held.map((r) => r.isStopped));
    await expect.poll(keptOfBodies).toBe(17 * (BODY_BYTES - PIECE));
    const whole = query(ben);
    whole.finish();
    expect(await whole.answer).toEqual([503, 'busy']);
    const little = slow('/svc/api/query', { 'x-api-key': ben }, 2 * PIECE, QUERY);
    little.finish();
    expect(await little.answer).toEqual([200, undefined]);
    for (const r of held) r.finish();
    await Promise.all(held.map((r) => r.answer));
    expect(keptOfBodies()).toBe(0);
  });

  it('takes no more if a caller who is not known has many addresses', async () => {
    const form = (address: number, bytes: number) =>
      slow('/svc/login', { 'content-type': 'application/x-www-form-urlencoded', 'cf-connecting-ip': `192.0.2.${address}` }, bytes);
    const held = Array.from({ length: 17 }, (_, i) => form(i % 5, BODY_BYTES - PIECE));
    await Promise.all(held.map((r) => r.isStopped));
    await expect.poll(keptOfBodies).toBe(17 * (BODY_BYTES - PIECE));
    const more = Array.from({ length: 20 }, (_, i) => form(100 + i, 3 * PIECE));
    await Promise.all(more.map((r) => r.isStopped));
    await new Promise((resolve) => setTimeout(resolve, 50));
    expect(keptOfBodies()).toBeLessThanOrEqual(OF_ALL);
    for (const r of [...more, ...held]) r.finish();
    for (const r of more) expect(await r.answer).toEqual([503, 'busy']);
    await Promise.all(held.map((r) => r.answer));
    expect(keptOfBodies()).toBe(0);
  });

  it('counts for the one who sends it as another user', async () => {
    await s.rows('GRANT AUTH ON user.ben TO USER ann');
    const own = Array.from({ length: 4 }, () => slow('/svc/api/query', { 'x-api-key': ann, 'x-api-impersonate-user': 'ben' }, BODY_BYTES - PIECE, QUERY));
    await Promise.all(own.map((r) => r.isStopped));
    await expect.poll(keptOfBodies).toBe(4 * (BODY_BYTES - PIECE));
    const [more, others] = [query(ann), query(ben)];
    for (const r of [more, others]) r.finish();
    expect(await more.answer).toEqual([503, 'busy']);
    expect(await others.answer).toEqual([200, undefined]);
    for (const r of own) r.finish();
    await Promise.all(own.map((r) => r.answer));
  });

  it('counts until a streamed answer has been read', async () => {
    const statement = `SELECT id, text FROM svc.note /* ${'x'.repeat(BODY_BYTES / 2)} */`;
    const body = JSON.stringify({ ontology_name: 'mem', query: statement });
    const ask = () => s.fetch('/svc/api/query', { method: 'POST', headers: { 'content-type': 'application/json', 'x-api-key': ann }, body });
    const answer = await ask();
    expect(answer.status).toBe(200);
    expect(keptOfBodies()).toBe(body.length);
    await answer.text();
    await expect.poll(keptOfBodies).toBe(0);
    const left = await ask();
    await left.body?.cancel();
    await expect.poll(keptOfBodies).toBe(0);
  });

  it('is forgotten when its client leaves', async () => {
    const leave = new AbortController();
    const body = new ReadableStream<Uint8Array>({ start: (controller) => controller.enqueue(new Uint8Array(OF_CALLER / 8)) });
    const headers = { 'content-type': 'application/json', 'x-api-key': ann };
    void s.fetch('/svc/api/query', { method: 'POST', headers, body, duplex: 'half', signal: leave.signal } as RequestInit).catch(() => undefined);
    await expect.poll(keptOfBodies).toBe(OF_CALLER / 8);
    leave.abort();
    await expect.poll(keptOfBodies).toBe(0);
  });
});

describe('calls of the MCP server that wait', () => {
  it('leave when they are aborted', async () => {
    const gate = new Gate(1);
    let end = (): void => undefined;
    const first = gate.run(() => new Promise<void>((resolve) => (end = resolve)));
    const leave = new AbortController();
    const order: number[] = [];
    const aborted = Array.from({ length: 5 }, () => gate.run(async () => void order.push(0), leave.signal));
    const next = [1, 2].map((n) => gate.run(async () => void order.push(n), new AbortController().signal));
    expect(gate.waiting).toBe(7);
    leave.abort();
    for (const one of aborted) await expect(one).rejects.toMatchObject({ code: 'caller_gone' });
    await expect(gate.run(async () => order.push(0), leave.signal)).rejects.toMatchObject({ code: 'caller_gone' });
    expect(gate.waiting).toBe(2);
    end();
    await Promise.all([first, ...next]);
    expect(order).toEqual([1, 2]);
    expect(await gate.run(async () => 3)).toBe(3);
  });

  it('have bounded memory together, with the bodies of requests', () => {
    const running = new Running();
    const body = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { arguments: { sql: 'x'.repeat(BODY_BYTES) } } } as const;
    const runs = Array.from({ length: 20 }, (_, i) => running.begin({ callId: String(i), body }, null));
    expect(running.isFull).toBe(true);
    for (const run of runs) run.done();
    expect(running.isFull).toBe(false);
  });
});
