/**
 * A KV namespace that returns something else than what was stored under a key: the entry of another key, an entry with another time, garbage, or what somebody with
 * access to the namespace wrote. Every one of them must be a miss. The callers are those of leaks.test.ts.
 */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { cacheOf } from '../../src/cache.ts';
import { keyValues } from '../../src/catalog/kv.ts';
import { readModel } from '../../src/catalog/versions.ts';
import { EMPTY_MODEL, MODEL_FORMAT } from '../../src/ontology/model.ts';
import { memoryNamespace } from '../support/memory-namespace.ts';
import { startService, type TestService } from '../support/service.ts';
import { shows } from '../support/shows.ts';
import { MODEL, POLICIES, SECRETS, TABLES } from './leaks-world.ts';

const OWNER = { scope: 'test', secret: 'secret' };
const NAMES = 'SELECT name, ssn FROM svc.person ORDER BY name';
const namespace = memoryNamespace();
const kv = keyValues(namespace, OWNER);

let service: TestService;
let rex: string;
const writes: Promise<unknown>[] = [];

/** Forgets what the isolate remembers, so that it reads KV. */
const forget = (): void => {
  for (const name of ['result', 'model']) cacheOf(name).clear();
};
const keysOf = (kind: string): string[] => [...namespace.entries.keys()].filter((key) => key.startsWith(`${kind}.`));

/** Answers the statement, and waits until its answer is stored. @returns the key of the entry that was added */
async function stored(token?: string, sql = NAMES): Promise<string> {
  const before = new Set(keysOf('result'));
  expect((await service.query(sql, 'lab', token)).status).toBe(200);
  await Promise.all(writes.splice(0));
  return keysOf('result').find((key) => !before.has(key)) as string;
}

beforeAll(async () => {
  const parts = { kv, waitUntil: (work: Promise<unknown>) => void writes.push(work) };
  service = await startService({ tables: TABLES, settings: { RESULT_CACHE_TTL: '300' }, parts });
  await service.rows(MODEL, 'lab');
  await service.rows('CREATE ROLE payers');
  rex = await service.user('rex', 'QUERY ON ALL ontology.lab');
  await service.rows(POLICIES, 'lab');
});
afterAll(() => service?.close());
beforeEach(async () => {
  await Promise.all(writes.splice(0));
  namespace.entries.clear();
  forget();
});

const answer = async (): Promise<readonly string[]> => {
  forget();
  const { text, json } = await service.query(NAMES, 'lab', rex);
  expect(shows(text, SECRETS, '')).toEqual([]);
  return json.data.map((row: { name: string }) => row.name);
};
const SEEN = ['Ann', 'Bob', 'Eve', 'Hal'];

describe('a result', () => {
  it('of another caller under the key of a caller with policies', async () => {
    const whole = await stored();
    const own = await stored(rex);
    namespace.entries.set(own, namespace.entries.get(whole) as never);
    expect(await answer()).toEqual(SEEN);
  });

  it('that is older than its time says', async () => {
    const own = await stored(rex);
    const entry = namespace.entries.get(own) as { metadata: unknown };
    const { at, rows } = entry.metadata as { at: number; rows: number };
    const next = await kv.bytes(own);
    expect(next?.stamp).toEqual({ at, rows });
    entry.metadata = { at: at + 1, rows };
    expect(await kv.bytes(own)).toBeUndefined();
    expect(await answer()).toEqual(SEEN);
  });

  it.each(['', '[]', '[{"name":"Zorro"}]', 'x'.repeat(100)])('that is %j', async (text) => {
    const own = await stored(rex);
    const entry = namespace.entries.get(own) as { value: unknown };
    entry.value = new TextEncoder().encode(text).buffer;
    expect(await answer()).toEqual(SEEN);
  });

  it('cannot be read in the namespace', async () => {
    await stored();
    const values = [...namespace.entries.values()].map(({ value }) => new TextDecoder().decode(value as ArrayBuffer));
    expect(values.length).toBeGreaterThan(0);
    expect(values.filter((v) => v.includes('Zorro'))).toEqual([]);
  });
});

describe('a model', () => {
  const [one, other, version] = ['1', '2', '3'].map((digit) => `${digit.repeat(8)}-0000-4000-8000-000000000000`) as [string, string, string];
  const content = JSON.stringify(EMPTY_MODEL);
  const catalog = (asked: string[]) =>
    ({
      query: async (_: unknown, [, ontology]: [string, string]) => {
        asked.push(ontology);
        return [];
      },
    }) as never;

  it.each(['that of another ontology', 'a forged one'])('%s', async (what) => {
    const key = (ontology: string) => kv.key('model', [MODEL_FORMAT, ontology, version]);
    await kv.put(await key(other), content, 60);
    const forged = { value: new TextEncoder().encode(content).buffer, metadata: null, seconds: 60 };
    namespace.entries.set(await key(one), what === 'a forged one' ? forged : (namespace.entries.get(await key(other)) as never));
    const asked: string[] = [];
    expect(await readModel({ db: catalog(asked), kv }, one, version)).toBeUndefined();
    expect(asked).toEqual([one]);
  });
});
