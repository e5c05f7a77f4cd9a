/// <reference types="@cloudflare/vitest-pool-workers/types" />
import { env, listDurableObjectIds, runDurableObjectAlarm, runInDurableObject } from 'cloudflare:test';
import { exports } from 'cloudflare:workers';
import { beforeAll, describe, expect, inject, it } from 'vitest';
import { makeBearer } from '../../src/auth/bearer.ts';
import { sha256 } from '../../src/auth/tokens.ts';

const SALT = inject('apiAuthSalt');
const PASSWORD = 'Correct-horse-9!';
const BASE = 'http://127.0.0.1:8787';

const send = (path: string, init: RequestInit = {}): Promise<Response> => exports.default.fetch(new Request(BASE + path, { redirect: 'manual', ...init }));

/** POST get_token from a separate address, so that no test waits for another's failures. */
async function give(user: string, password: string, address: string): Promise<{ status: number; data: unknown; code?: string }> {
  const authorization = `Bearer ${await makeBearer({ user, password }, SALT, Date.now())}`;
  const response = await send('/svc/api/get_token', { method: 'POST', headers: { authorization, 'cf-connecting-ip': address } });
  const { data, code } = (await response.json()) as { data: unknown; code: string };
  return { status: response.status, data, code };
}

const objectOf = async (kind: 'user' | 'address', name: string) => env.LOGIN_THROTTLE.get(env.LOGIN_THROTTLE.idFromName(`-:${kind}:${await sha256(name)}`));
type Throttle = Awaited<ReturnType<typeof objectOf>>;
const stored = (object: Throttle) => runInDurableObject(object, async (_object, state) => [...(await state.storage.list())]);
const alarm = (object: Throttle) => runInDurableObject(object, (_object, state) => state.storage.getAlarm());

beforeAll(async () => {
  const response = await send('/svc/api/query', {
    method: 'POST',
    headers: { 'x-api-key': inject('adminToken'), 'content-type': 'application/json' },
    body: JSON.stringify({ query: `CREATE USER sue PASSWORD '${PASSWORD}'` }),
  });
  expect([response.status, await response.text()]).toEqual([200, expect.anything()]);
});

describe('in the Workers runtime', () => {
  it('a bearer gives an API token, and nothing is stored without a failure', async () => {
    const { status, data } = await give('sue', PASSWORD, '192.0.2.1');
    expect([status, data]).toEqual([200, [expect.stringMatching(/^tk_/)]]);
    const rows = await send('/svc/api/get_ontologies', { headers: { 'x-api-key': (data as string[])[0] as string } });
    expect([rows.status, await rows.text()]).toEqual([200, expect.anything()]);
    for (const object of [await objectOf('user', 'sue'), await objectOf('address', '192.0.2.1')])
      expect([await stored(object), await alarm(object)]).toEqual([[], null]);
  });

  it('failures are counted by user and by address, each in its own object, and are deleted when they are forgotten', async () => {
    expect(await give('Bob', 'wrong', '192.0.2.2')).toMatchObject({ status: 401, code: 'invalid_bearer' });
    for (const object of [await objectOf('user', 'bob'), await objectOf('address', '192.0.2.2')]) {
      expect(await stored(object)).toEqual([['counted', { failures: 1, at: expect.any(Number) }]]);
      expect(Math.abs(((await alarm(object)) ?? 0) - Date.now() - 60_000)).toBeLessThan(30_000);
      await runInDurableObject(object, (_object, state) => state.storage.put('counted', { failures: 1, at: Date.now() - 61_000 }));
      expect(await runDurableObjectAlarm(object)).toBe(true);
      expect([await stored(object), await alarm(object)]).toEqual([[], null]);
    }
  });

  it('the fifth failure is the first one to wait, and a correct password also waits', async () => {
    const object = await objectOf('user', 'sue');
    await runInDurableObject(object, (_object, state) => state.storage.put('counted', { failures: 4, at: Date.now() }));
    expect(await object.settle(false)).toBe(0);
    expect((await give('sue', 'wrong', '192.0.2.3')).status).toBe(401);
    expect(await object.settle(false)).toBe(500);
    expect((await give('sue', PASSWORD, '192.0.2.4')).status).toBe(200);
    expect(await object.settle(true)).toBe(1000);
  });

  it('an invalid bearer calls no object', async () => {
    const before = await listDurableObjectIds(env.LOGIN_THROTTLE);
    const response = await send('/svc/api/get_token', { method: 'POST', headers: { authorization: 'Bearer gAAAAA', 'cf-connecting-ip': '192.0.2.5' } });
    expect([response.status, await response.text()]).toEqual([401, expect.anything()]);
    expect(await listDurableObjectIds(env.LOGIN_THROTTLE)).toEqual(before);
  });

  it('the login page gives a session, which issues a token until it ends', async () => {
    const cookies: Record<string, string> = {};
    const visit = async (path: string, fields?: Record<string, string>) => {
      const headers: Record<string, string> = {
        accept: 'text/html',
        'cf-connecting-ip': '192.0.2.6',
        cookie: Object.entries(cookies)
          .map((pair) => pair.join('='))
          .join('; '),
      };
      const body = fields && new URLSearchParams(fields).toString();
      if (body !== undefined) Object.assign(headers, { 'content-type': 'application/x-www-form-urlencoded', origin: BASE });
      const response = await send(path, { method: body === undefined ? 'GET' : 'POST', headers, ...(body === undefined ? {} : { body }) });
      for (const line of response.headers.getSetCookie()) {
        const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
        cookies[name] = value;
      }
      return { status: response.status, location: response.headers.get('location'), text: await response.text() };
    };
    const token = (html: string) => ({ form_token: /name="form_token" value="([^"]+)"/.exec(html)?.[1] as string });
    const page = '/svc/get_svc_user_token/';
    const sent = await visit(page);
    expect([sent.status, sent.location]).toEqual([303, `/svc/login?${new URLSearchParams({ return_to: page })}`]);
    const shown = await visit(sent.location as string);
    const done = await visit('/svc/login', { ...token(shown.text), user: 'sue', password: PASSWORD, return_to: page });
    expect([done.status, done.location]).toEqual([303, page]);
    const given = await visit(page);
    expect([given.status, JSON.parse(given.text)]).toEqual([200, { token: expect.stringMatching(/^tk_/) }]);
    const session = cookies.svc_session as string;
    expect((await visit('/svc/logout', token((await visit('/svc/login')).text))).status).toBe(303);
    cookies.svc_session = session;
    expect((await visit(page)).status).toBe(303);
  });
});
