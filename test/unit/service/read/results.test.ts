/** The result cache without a service: what an entry depends on, its age and its size. */
import { beforeEach, describe, expect, it } from 'vitest';
import { cacheOf } from '../../../../src/cache.ts';
import { keyValues } from '../../../../src/catalog/kv.ts';
import type { OntologyRow } from '../../../../src/catalog/snapshot.ts';
import { readConfig } from '../../../../src/config.ts';
import type { Plan } from '../../../../src/planner/index.ts';
import type { Access } from '../../../../src/planner/secure/access.ts';
import { policyDigest } from '../../../../src/service/caller/policy-digest.ts';
import { RESULT_BYTES, type ResultOf, resultPlace, resultSeconds } from '../../../../src/service/read/results.ts';
import type { ServiceRequest } from '../../../../src/service/runtime.ts';
import { memoryNamespace } from '../../../support/memory-namespace.ts';

const bytesOf = (text: string): Uint8Array<ArrayBuffer> => new TextEncoder().encode(text);
const coldIsolate = (): void => cacheOf('result').clear();

beforeEach(coldIsolate);

const setUp = (ttl = '300') => {
  const clock = { at: 1_800_000_000_000 };
  const namespace = memoryNamespace();
  const background: Promise<unknown>[] = [];
  const runtime = {
    config: readConfig({ RESULT_CACHE_TTL: ttl }),
    kv: keyValues(namespace, { scope: 's', secret: 'x' }),
    now: () => clock.at,
    waitUntil: (work: Promise<unknown>) => background.push(work),
  };
  const request = (more: { form?: string; bypass?: boolean; generation?: number } = {}): ServiceRequest =>
    ({
      runtime,
      caller: { snapshot: { cacheGeneration: more.generation ?? 1 } },
      results: { form: more.form ?? 'json', bypass: more.bypass ?? false, tell: () => undefined },
    }) as unknown as ServiceRequest;
  return { clock, namespace, background, runtime, request };
};

const COLUMN = { key: 'a', hops: [], member: 'a', kind: 'value', ofRoot: false, format: null, json: false } as const;
const PLAN = {
  sql: 'SELECT row FROM t',
  rowLength: 'SELECT row'.length,
  params: ['x', null],
  nested: false,
  shape: { nests: false, columns: [COLUMN] },
} as unknown as Plan;
const ROW = { id: 'o', version: 'v1', cacheGeneration: 1 } as OntologyRow;
const OF: ResultOf = { ontology: ROW, datasource: { name: 'main', connection: 'digest' }, plan: PLAN, access: undefined };
const ACCESS: Access = {
  rows: [{ concept: 'city', conditions: [{ policy: 'p', condition: 'name = svc_username()' }] }],
  masks: [],
  caller: { username: 'ann', roles: ['r'], claims: { a: '1', b: '2' } },
  maskKey: 'k',
};

describe('a result', () => {
  it('is returned from memory and from KV', async () => {
    const { request, background } = setUp();
    const place = await resultPlace(request(), OF);
    expect(await place?.find()).toBeUndefined();
    place?.keep({ bytes: bytesOf('[1]'), rows: 1 });
    await Promise.all(background);
    for (let i = 0; i < 2; i++) {
      const found = await (await resultPlace(request(), OF))?.find();
      expect([new TextDecoder().decode(found?.bytes), found?.rows]).toEqual(['[1]', 1]);
      coldIsolate();
    }
  });

  it('does not depend on the form of the JSON of a row', async () => {
    const { request } = setUp();
    (await resultPlace(request(), OF))?.keep({ bytes: bytesOf('[1]'), rows: 1 });
    const other = { ...PLAN, sql: 'SELECT (SELECT row) FROM t', rowLength: 'SELECT (SELECT row)'.length };
    expect(await (await resultPlace(request(), { ...OF, plan: other }))?.find()).toBeDefined();
  });

  it.each<[string, Partial<ResultOf>, object?]>([
    ['the generation of all ontologies', {}, { generation: 2 }],
    ['the form', {}, { form: 'csv' }],
    ['the generation of the ontology', { ontology: { ...ROW, cacheGeneration: 2 } }],
    ['the version', { ontology: { ...ROW, version: 'v2' } }],
    ['the ontology', { ontology: { ...ROW, id: 'o2' } }],
    ['the datasource', { datasource: { name: 'other', connection: 'digest' } }],
    ['its connection', { datasource: { name: 'main', connection: 'another digest' } }],
    ['the SQL', { plan: { ...PLAN, sql: 'SELECT row FROM u' } }],
    ['a parameter', { plan: { ...PLAN, params: ['y', null] } }],
    ['NULL as a parameter', { plan: { ...PLAN, params: ['x', 'null'] } }],
    ['whether rows are folded', { plan: { ...PLAN, nested: true } }],
    ['what columns are called', { plan: { ...PLAN, shape: { nests: false, columns: [{ ...COLUMN, key: 'b' }] } } }],
    ['policies', { access: ACCESS }],
  ])('depends on %s', async (_, of, more = {}) => {
    const { request } = setUp();
    (await resultPlace(request(), OF))?.keep({ bytes: bytesOf('[1]'), rows: 1 });
    const other = await resultPlace(request(more), { ...OF, ...of });
    expect(other).toBeDefined();
    expect(await other?.find()).toBeUndefined();
  });

  it('has the age of its timestamp, in memory and in KV: KV may return an entry that is ten minutes old', async () => {
    const { request, clock, background } = setUp('300');
    (await resultPlace(request(), OF))?.keep({ bytes: bytesOf('[1]'), rows: 1 });
    await Promise.all(background);
    const isThere = async (): Promise<boolean[]> => {
      const found: boolean[] = [];
      for (const forget of [() => undefined, coldIsolate]) {
        forget();
        found.push((await (await resultPlace(request(), OF))?.find()) !== undefined);
      }
      return found;
    };
    clock.at += 299_999;
    expect(await isThere()).toEqual([true, true]);
    clock.at += 1;
    expect(await isThere()).toEqual([false, false]);
    clock.at += 300_000;
    expect(await isThere()).toEqual([false, false]);
    clock.at -= 3_600_000;
    expect(await isThere()).toEqual([false, false]);
  });

  it('is not used without a timestamp', async () => {
    const { request, namespace, background } = setUp();
    (await resultPlace(request(), OF))?.keep({ bytes: bytesOf('[1]'), rows: 1 });
    await Promise.all(background);
    for (const metadata of [null, {}, { at: 'now', rows: 1 }, { at: Date.now() }]) {
      for (const entry of namespace.entries.values()) entry.metadata = metadata;
      coldIsolate();
      expect(await (await resultPlace(request(), OF))?.find()).toBeUndefined();
    }
  });

  it('has at most a mebibyte', async () => {
    const { request, namespace, background } = setUp();
    const place = await resultPlace(request(), OF);
    place?.keep({ bytes: new Uint8Array(RESULT_BYTES + 1), rows: 1 });
    expect([await place?.find(), background.length]).toEqual([undefined, 0]);
    place?.keep({ bytes: new Uint8Array(RESULT_BYTES), rows: 1 });
    await Promise.all(background);
    expect([(await place?.find())?.bytes.length, namespace.entries.size]).toEqual([RESULT_BYTES, 1]);
  });

  it('is not cached if the cache is off, or the request bypasses it', async () => {
    const off = setUp('0');
    expect([await resultPlace(off.request(), OF), resultSeconds(off.runtime)]).toEqual([undefined, 0]);
    const { request, runtime } = setUp();
    expect(await resultPlace(request({ bypass: true }), OF)).toBeUndefined();
    expect(resultSeconds({ ...runtime, kv: undefined })).toBe(0);
  });

  it('lives at least the sixty seconds that KV requires', async () => {
    for (const [ttl, seconds] of [
      ['1', 60],
      ['60', 60],
      ['61', 61],
      ['999999999', 31_536_000],
    ] as const) {
      const { request, runtime, namespace, background } = setUp(ttl);
      expect(resultSeconds(runtime)).toBe(Math.max(60, Number(ttl)));
      (await resultPlace(request(), OF))?.keep({ bytes: bytesOf('[]'), rows: 0 });
      await Promise.all(background);
      expect([...namespace.entries.values()].map((e) => e.seconds)).toEqual([seconds]);
    }
  });

  it('is not needed if KV fails', async () => {
    const { request, namespace, background } = setUp();
    namespace.down = true;
    const place = await resultPlace(request(), OF);
    expect(await place?.find()).toBeUndefined();
    place?.keep({ bytes: bytesOf('[1]'), rows: 1 });
    await Promise.all(background);
    expect((await place?.find())?.rows).toBe(1);
  });
});

describe('the digest of policies', () => {
  it('is empty if no policy applies', async () => expect(await policyDigest(undefined)).toBe(''));

  it('does not depend on the order of members', async () => {
    const claims = { b: '2', a: '1' };
    expect(await policyDigest({ ...ACCESS, caller: { ...ACCESS.caller, claims } })).toBe(await policyDigest(ACCESS));
  });

  it('distinguishes callers who may see other rows', async () => {
    const others: Access[] = [
      { ...ACCESS, rows: [] },
      { ...ACCESS, rows: [{ concept: 'city', conditions: [] }] },
      { ...ACCESS, masks: [{ policy: 'm', property: 'ssn', concept: null, mask: { kind: 'null' } }] },
      { ...ACCESS, caller: { ...ACCESS.caller, username: 'ben' } },
      { ...ACCESS, caller: { ...ACCESS.caller, roles: [] } },
      { ...ACCESS, caller: { ...ACCESS.caller, claims: { a: '1', b: '3' } } },
      { ...ACCESS, maskKey: 'l' },
    ];
    const digests = await Promise.all([ACCESS, ...others].map(policyDigest));
    expect(new Set(digests).size).toBe(others.length + 1);
  });
});
