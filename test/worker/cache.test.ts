/** Workers KV in the runtime: the service stores results, snapshots and models there, finds them again, and reveals none of them. */
import { createExecutionContext, waitOnExecutionContext } from 'cloudflare:test';
import { env } from 'cloudflare:workers';
import { beforeAll, expect, inject, it } from 'vitest';
import { cacheOf } from '../../src/cache.ts';
import { forgetSnapshots } from '../../src/catalog/snapshot.ts';
import worker from '../../src/index.ts';

const ADMIN = inject('adminToken');
const CACHED = { ...env, RESULT_CACHE_TTL: '300' };

interface Got {
  readonly status: number;
  readonly cache: string | null;
  readonly text: string;
}
async function query(sql: string, settings: Record<string, unknown> = CACHED, headers: Record<string, string> = {}): Promise<Got> {
  const context = createExecutionContext();
  const request = new Request('http://127.0.0.1:8787/svc/api/query/', {
    method: 'POST',
    headers: { 'x-api-key': ADMIN, 'content-type': 'application/json', ...headers },
    body: JSON.stringify({ ontology_name: 'cached', query: sql }),
  });
  const answer = await worker.fetch(request as Parameters<typeof worker.fetch>[0], settings as unknown as Env, context);
  const text = await answer.text();
  await waitOnExecutionContext(context);
  return { status: answer.status, cache: answer.headers.get('x-cache'), text };
}
/** Like an isolate that has just started and has written nothing. */
function coldIsolate(): void {
  for (const name of ['result', 'snapshot', 'model', 'graph', 'plan']) cacheOf(name).clear();
  forgetSnapshots(0);
}
const kinds = async (): Promise<string[]> => [...new Set((await env.CACHE.list()).keys.map((k) => k.name.replace(/\..*/, '')))].sort();

beforeAll(async () => {
  const made = await query(`CREATE ONTOLOGY cached; CREATE CONCEPT animal (no bigint, name string, PRIMARY KEY (no));
    CREATE MAPPING map_animal INTO animal AS SELECT no, called AS name FROM zoo.t_animal`);
  expect(made.status, made.text).toBe(200);
});

const SQL = 'SELECT no, name FROM svc.animal ORDER BY no';

it('without RESULT_CACHE_TTL no answer has a cache header, and no result is stored', async () => {
  const { status, cache } = await query(SQL, { ...env });
  expect([status, cache, (await kinds()).includes('result')]).toEqual([200, null, false]);
});

it('a result is a miss, then a hit, also for a cold isolate', async () => {
  const first = await query(SQL);
  const second = await query(SQL);
  coldIsolate();
  const third = await query(SQL);
  expect([first.cache, second.cache, third.cache]).toEqual(['miss', 'hit', 'hit']);
  expect(first.text).toBe('{"status":"success","data":[{"no":1,"name":"Ada"},{"no":2,"name":"B\u00e4r"},{"no":3,"name":null}]}');
  expect([second.text, third.text]).toEqual([first.text, first.text]);
  expect((await query(SQL, CACHED, { accept: 'text/csv' })).text).toBe('no,name\r\n1,Ada\r\n2,B\u00e4r\r\n3,\r\n');
});

it('keys are digests, and all values are encrypted', async () => {
  coldIsolate();
  await query(SQL);
  expect(await kinds()).toEqual(['model', 'result', 'snapshot']);
  for (const { name } of (await env.CACHE.list()).keys) {
    expect(name).toMatch(/^(model|result|snapshot)\.2\.[0-9a-f]{64}$/);
    expect(await env.CACHE.get(name)).not.toMatch(/verifiedAt|Ada|animal/);
  }
});

it('a cold isolate answers without the catalog while the snapshot of another one is fresh', async () => {
  coldIsolate();
  await query(SQL);
  coldIsolate();
  const real = globalThis.fetch;
  globalThis.fetch = ((input: RequestInfo, init?: RequestInit) =>
    new Headers(init?.headers).get('neon-connection-string')?.includes('kg_catalog_owner')
      ? Promise.reject(new TypeError('unreachable'))
      : real(input, init)) as typeof fetch;
  try {
    expect((await query('SELECT name FROM svc.animal WHERE no = 1')).text).toBe('{"status":"success","data":[{"name":"Ada"}]}');
    for (const { name } of (await env.CACHE.list({ prefix: 'snapshot.' })).keys) await env.CACHE.delete(name);
    coldIsolate();
    expect((await query(SQL)).status).toBe(503);
  } finally {
    globalThis.fetch = real;
  }
});
