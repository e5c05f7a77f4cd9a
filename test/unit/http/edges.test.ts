/** Middleware of every route: CORS, rate limits, ETags. */
import { describe, expect, it } from 'vitest';
import { createToken } from '../../../src/auth/tokens.ts';
import { keyValues } from '../../../src/catalog/kv.ts';
import { readConfig } from '../../../src/config.ts';
import { addressOf } from '../../../src/http/admit.ts';
import { createApp } from '../../../src/http/app.ts';
import { matches } from '../../../src/http/conditional.ts';
import { allowedOrigin } from '../../../src/http/cors.ts';
import { memoryNamespace } from '../../support/memory-namespace.ts';
import { asked, fakeRuntime } from './fake-runtime.ts';

const TOKEN = createToken();

describe('CORS', () => {
  const APP = 'https://app.example';
  const preflight = { origin: APP, 'access-control-request-method': 'POST', 'access-control-request-headers': 'content-type,x-api-key' };
  const allow = (r: Response, name: string) => r.headers.get(`access-control-allow-${name}`);

  it('allows no origin by default', async () => {
    const answer = await asked('/svc/api/health', { headers: { origin: APP } });
    expect([answer.status, allow(answer, 'origin'), answer.headers.get('vary')]).toEqual([200, null, null]);
    const before = await asked('/svc/api/query', { method: 'OPTIONS', headers: preflight });
    expect([before.status, allow(before, 'origin')]).toEqual([405, null]);
  });

  it('answers preflights of listed origins on both families', async () => {
    const runtime = fakeRuntime({ CORS_ORIGINS: `https://other.example, ${APP}/` });
    for (const path of ['/svc/api/query/', '/svc/openapi/ontology/x/query', '/svc/openapi/get-async-results/x']) {
      const answer = await asked(path, { method: 'OPTIONS', headers: preflight }, runtime);
      expect([answer.status, allow(answer, 'origin'), allow(answer, 'credentials')]).toEqual([204, APP, null]);
      expect(allow(answer, 'methods')).toMatch(/\bPOST\b/);
      for (const name of ['content-type', 'x-api-key', 'results-limit', 'x-async', 'nested', 'if-none-match'])
        expect(allow(answer, 'headers')?.split(', ')).toContain(name);
      expect([answer.headers.get('vary'), answer.headers.get('x-request-id')]).toEqual(['origin', expect.stringMatching(/./)]);
      const other = await asked(path, { method: 'OPTIONS', headers: { ...preflight, origin: 'https://evil.example' } }, runtime);
      expect([other.status, allow(other, 'origin'), other.headers.get('vary')]).toEqual([405, null, 'origin']);
    }
  });

  it('allows listed origins to read answers, including errors', async () => {
    const runtime = fakeRuntime({ CORS_ORIGINS: APP });
    for (const [path, status] of [
      ['/svc/api/health', 200],
      ['/svc/api/get_ontologies', 401],
      ['/svc/api/nothing', 404],
      [`/svc/api/get_config/${'x'.repeat(17_000)}`, 414],
    ] as const) {
      const answer = await asked(path, { headers: { origin: APP } }, runtime);
      expect([answer.status, allow(answer, 'origin')]).toEqual([status, APP]);
      expect(answer.headers.get('access-control-expose-headers')).toMatch(/x-request-id/);
      expect(allow(await asked(path, { headers: { origin: 'null' } }, runtime), 'origin')).toBe(null);
    }
  });

  it('compares whole origins', () => {
    const list = ['https://app.example', 'HTTPS://UPPER.example'];
    for (const origin of ['https://app.example', 'https://upper.example']) expect(allowedOrigin(list, origin)).toBe(origin);
    for (const origin of ['http://app.example', 'https://app.example.evil', 'https://evil-app.example', 'https://app.example:8443', 'null', '', undefined])
      expect(allowedOrigin(list, origin)).toBe(undefined);
    expect(allowedOrigin(['*'], 'https://any.example')).toBe('*');
  });
});

describe('rate limits', () => {
  it('count users, and addresses that send invalid credentials', async () => {
    const keys: string[] = [];
    let full = false;
    const runtime = fakeRuntime({ ADMIN_TOKEN: TOKEN }, { admit: async (key) => keys.push(key) > 0 && !full });
    const good = { headers: { 'x-api-key': TOKEN, 'cf-connecting-ip': '192.0.2.7' } };
    const bad = { headers: { 'x-api-key': 'tk_wrong', 'cf-connecting-ip': '2001:db8:1:2:3::4' } };
    expect((await asked('/svc/api/get_ontologies', good, runtime)).status).toBe(200);
    expect((await asked('/svc/api/get_ontologies', bad, runtime)).status).toBe(401);
    expect((await asked('/svc/api/health', good, runtime)).status).toBe(200);
    expect(keys).toEqual(['user:00000000-0000-4000-8000-000000000001', 'address:2001:db8:1:2::/64']);
    full = true;
    for (const init of [good, bad]) {
      const answer = await asked('/svc/api/get_ontologies', init, runtime);
      expect([answer.status, answer.headers.get('retry-after')]).toEqual([429, '60']);
      expect(await answer.json()).toMatchObject({ status: 'error', code: 'too_many_requests' });
    }
    expect((await asked('/svc/api/health', good, runtime)).status).toBe(200);
  });

  it('take an IPv6 address by its /64', () => {
    const of = (address: string) => addressOf(new Headers({ 'cf-connecting-ip': address }));
    expect(['192.0.2.1', '2001:db8::1', '2001:db8:0:0:ffff::', '::1', '2001:db8:1:2:3:4:5:6'].map(of)).toEqual([
      '192.0.2.1',
      '2001:db8:0:0::/64',
      '2001:db8:0:0::/64',
      '0:0:0:0::/64',
      '2001:db8:1:2::/64',
    ]);
  });
});

describe('if-none-match', () => {
  it('is a list of tags, compared weakly', () => {
    const etag = 'W/"abc"';
    for (const given of ['W/"abc"', '"abc"', '"x", W/"abc"', ' "x" ,"abc"', '*', ' * ']) expect(matches(given, etag), given).toBe(true);
    for (const given of [undefined, '', 'abc', '"abcd"', 'W/"ab"', '"x, abc"', '"*"']) expect(matches(given, etag), String(given)).toBe(false);
  });
});

describe('clear_cache', () => {
  it('needs a backend', async () => {
    const row = {
      id: 'i',
      name: 'shop',
      key: 'shop',
      description: null,
      version: 'v',
      seq: 1,
      cacheGeneration: 1,
      allowedFunctions: null,
      datasources: [],
      active: null,
      policies: [],
      policyGeneration: 0,
    };
    const init = { headers: { 'x-api-key': TOKEN } };
    for (const [kv, status] of [
      [undefined, 503],
      [keyValues(memoryNamespace(), { scope: '', secret: '' }), 200],
    ] as const) {
      const answer = await asked('/svc/api/clear_cache/shop', init, fakeRuntime({ ADMIN_TOKEN: TOKEN }, { kv }, { ontologies: [row] }));
      expect(answer.status).toBe(status);
      expect(await answer.json()).toMatchObject(status === 200 ? { status: 'success' } : { status: 'error', code: 'not_configured' });
    }
  });
});

describe('without CORS, limits and a catalog', () => {
  it('health answers', async () => {
    const app = createApp('svc', '1');
    const answer = await app.fetch(new Request('https://h/svc/api/health'), { runtime: { ...fakeRuntime(), config: readConfig({}) } });
    expect(await answer.json()).toEqual({ status: 'success', name: 'svc', version: '1' });
  });
});
