/// <reference types="@cloudflare/vitest-pool-workers/types" />
import { env, listDurableObjectIds, runDurableObjectAlarm, runInDurableObject } from 'cloudflare:test';
import { exports } from 'cloudflare:workers';
import { beforeAll, describe, expect, inject, it } from 'vitest';

const ADMIN = inject('adminToken');
const UNKNOWN = '0f8fad5b-d9cb-469f-a165-70867728950e';

interface Answer {
  readonly status: number;
  readonly headers: Headers;
  // biome-ignore lint/suspicious/noExplicitAny: answers of every shape
  readonly json: any;
}

async function send(method: string, path: string, { token = ADMIN as string | null, headers = {} as Record<string, string>, body = '' } = {}): Promise<Answer> {
  const init = { method, headers: { ...(token === null ? {} : { 'x-api-key': token }), ...headers }, ...(body === '' ? {} : { body }) };
  const response = await exports.default.fetch(new Request(`http://127.0.0.1:8787${path}`, init));
  return { status: response.status, headers: response.headers, json: JSON.parse(await response.text()) };
}

const script = (sql: string, ontology = '') =>
  send('POST', '/svc/api/query', { body: JSON.stringify({ query: sql, ontology_name: ontology }), headers: { 'content-type': 'application/json' } });

const begin = (sql: string, { ontology = 'yard', suffix = '', token = ADMIN as string | null, headers = {} as Record<string, string> } = {}) =>
  send('POST', `/svc/openapi/ontology/${ontology}/query${suffix}`, {
    token,
    body: sql,
    headers: { 'content-type': 'text/plain', 'x-async': 'true', ...headers },
  });

const poll = (id: string, token: string | null = ADMIN) => send('GET', `/svc/openapi/get-async-results/${id}`, { token });

async function settle(id: string, token = ADMIN): Promise<Answer> {
  for (let i = 0; i < 800; i++) {
    const answer = await poll(id, token);
    expect(answer.status).toBe(200);
    if (answer.json.status !== 'running') return answer;
    expect(answer.json).toEqual({ status: 'running', response_id: id });
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  throw new Error('it does not end');
}

const NOT_FOUND = [404, { error: 'Response not found' }];
const objectOf = (id: string) => env.ASYNC_STATEMENT.get(env.ASYNC_STATEMENT.idFromName(`-:${id}`));
/** Names of the tables in an object's database. */
const tables = (id: string) =>
  runInDurableObject(objectOf(id), (_object, state) =>
    state.storage.sql.exec("SELECT name FROM sqlite_master WHERE name NOT LIKE '\\_cf%' ESCAPE '\\'").toArray(),
  );

let other: string;
beforeAll(async () => {
  await script(
    'CREATE ONTOLOGY yard; CREATE CONCEPT animal (no bigint, name string, PRIMARY KEY (no)); CREATE MAPPING m INTO animal AS SELECT no, called AS name FROM zoo.t_animal',
  );
  other = (await script('CREATE USER dan; GRANT QUERY ON ALL ontology.yard TO USER dan; CREATE TOKEN FOR dan')).json.data[0].token;
});

describe('x-async', () => {
  it('answers 202 with the URL to poll, which returns the rows', async () => {
    const answer = await begin('SELECT name FROM svc.animal ORDER BY no');
    const id = answer.json.response_id;
    expect(answer.status).toBe(202);
    expect(answer.json).toEqual({ async: true, response_id: id, poll_url: `/svc/openapi/get-async-results/${id}`, message: expect.stringMatching(/./) });
    expect(answer.headers.get('x-ontology-version')).toMatch(/^[0-9a-f-]{36}$/);
    const done = await settle(id);
    expect(done.json).toEqual({ status: 'completed', response: [{ name: 'Ada' }, { name: 'B\u00e4r' }, { name: null }], original_status_code: 200 });
    expect(done.headers.get('x-ontology-version')).toBe(answer.headers.get('x-ontology-version'));
    expect((await poll(id.toUpperCase())).json.status).toBe('completed');
  });

  it('reports an error of the statement in the result', async () => {
    for (const [sql, message] of [
      ['SELEC 1', /./],
      ['SELECT naem FROM svc.animal', /naem.*name/],
      ['SELECT 1 / (no - no) AS x FROM svc.animal', /division by zero/],
      ['CREATE CONCEPT c INHERITS (nobody)', /nobody/],
    ] as const) {
      const { json } = await settle((await begin(sql)).json.response_id);
      expect(json).toEqual({ status: 'error', error: expect.stringMatching(message), error_type: 'ExecutionError' });
    }
  });

  it('reports an error of the request at once', async () => {
    const refused = async (status: number, code: string, answer: Answer) => expect([answer.status, answer.json.code]).toEqual([status, code]);
    await refused(404, 'unknown_ontology', await begin('SELECT 1', { ontology: 'yrad' }));
    await refused(404, 'unknown_ontology', await begin('SELECT 1', { ontology: 'zzz', token: other }));
    await refused(400, 'unknown_datasource', await begin('SELECT 1', { suffix: '?datasource=nowhere' }));
    await refused(400, 'bad_results_limit', await begin('SELECT 1', { headers: { 'results-limit': '0' } }));
    await refused(400, 'empty_query', await begin(' \n'));
    await refused(401, 'credential_missing', await begin('SELECT 1', { token: null }));
    await refused(401, 'credential_missing', await poll(UNKNOWN, null));
  });

  it('runs statements that change something, once, with the caller\u2019s rights', async () => {
    const done = await settle((await begin('CREATE PROPERTY late string')).json.response_id);
    expect(done.json.response).toEqual([{ version: done.headers.get('x-ontology-version'), statements: 1, warnings: [] }]);
    const { json } = await settle((await begin('CREATE PROPERTY later string', { token: other })).json.response_id, other);
    expect([json.status, json.error]).toEqual(['error', expect.stringMatching(/EDIT/)]);
  });

  it('stores large results in pieces, with every digit', async () => {
    const n = 30_000;
    const { json } = await settle((await begin(`SELECT n, n * 1.10 AS x, repeat('\u00e9', 50) AS pad FROM generate_series(1, ${n}) AS g(n)`)).json.response_id);
    expect([json.status, json.response.length, json.response[n - 1].n]).toEqual(['completed', n, n]);
    expect(new Set(json.response.map((r: { pad: string }) => r.pad))).toEqual(new Set(['\u00e9'.repeat(50)]));
  });

  it('refuses a result over 50 MB', async () => {
    const { json } = await settle((await begin("SELECT n, repeat('x', 1000000) AS pad FROM generate_series(1, 55) AS g(n)")).json.response_id);
    expect([json.status, json.error]).toEqual(['error', expect.stringMatching(/larger than 50 MB/)]);
  });

  it('does not find results of other users or unknown ids', async () => {
    const id = (await begin('SELECT 1 AS one')).json.response_id;
    await settle(id);
    for (const answer of [await poll(id, other), await poll(UNKNOWN), await poll('nothing'), await poll(encodeURIComponent("x'--"))])
      expect([answer.status, answer.json]).toEqual(NOT_FOUND);
    const own = (await begin('SELECT 2 AS two', { token: other })).json.response_id;
    expect((await settle(own, other)).json.response).toEqual([{ two: 2 }]);
    const answer = await poll(own);
    expect([answer.status, answer.json]).toEqual(NOT_FOUND);
  });

  it('writes nothing if no statement was started', async () => {
    await poll(UNKNOWN);
    expect(await tables(UNKNOWN)).toEqual([]);
    expect(await runInDurableObject(objectOf(UNKNOWN), (_object, state) => state.storage.getAlarm())).toBe(null);
    const before = await listDurableObjectIds(env.ASYNC_STATEMENT);
    await poll('nothing');
    expect(await listDurableObjectIds(env.ASYNC_STATEMENT)).toEqual(before);
  });

  it('is deleted by a second alarm after ten minutes', async () => {
    const id = (await begin('SELECT 1 AS one')).json.response_id;
    await settle(id);
    const alarm = await runInDurableObject(objectOf(id), (_object, state) => state.storage.getAlarm());
    expect(Math.abs((alarm ?? 0) - Date.now() - 10 * 60_000)).toBeLessThan(30_000);
    expect(await runDurableObjectAlarm(objectOf(id))).toBe(true);
    expect(await tables(id)).toEqual([]);
    const answer = await poll(id);
    expect([answer.status, answer.json]).toEqual(NOT_FOUND);
  });

  it('never runs twice: an interrupted run ends in an error', async () => {
    const id = (await begin('SELECT 1 AS one')).json.response_id;
    await settle(id);
    await runInDurableObject(objectOf(id), async (_object, state) => {
      state.storage.sql.exec("UPDATE job SET state = 'running'");
      await state.storage.setAlarm(Date.now() + 60_000);
    });
    expect((await poll(id)).json.status).toBe('running');
    await runDurableObjectAlarm(objectOf(id));
    expect((await poll(id)).json).toEqual({ status: 'error', error: expect.stringMatching(/interrupted/), error_type: 'ExecutionError' });
  });

  it('counts what waits or runs of a user, with all its tokens, in an object of the user, and refuses more', async () => {
    const first = (await begin('SELECT 1 AS one', { token: other })).json.response_id;
    await settle(first, other);
    const { caller } = JSON.parse(
      await runInDurableObject(objectOf(first), (_object, { storage }) => String(storage.sql.exec('SELECT job FROM job').one().job)),
    );
    const counter = objectOf(`user:${caller.userId}`);
    const count = () => runInDurableObject(counter, (_object, { storage }) => storage.sql.exec('SELECT count(*) AS n FROM slot').one().n);
    expect(await count()).toBe(0);
    // statements whose isolate has ended: their alarm comes later
    const taken = await runInDurableObject(counter, async (object) => {
      const slots = object as unknown as { take(id: string, most: number, leaseMs: number): Promise<boolean> };
      return Promise.all(Array.from({ length: 20 }, (_, n) => slots.take(`crashed ${n}`, 20, 600_000)));
    });
    expect(taken).toEqual(taken.map(() => true));
    const second = (await script('CREATE TOKEN FOR dan')).json.data[0].token;
    for (const token of [other, second]) {
      const answer = await begin('SELECT 1 AS one', { token });
      expect([answer.status, answer.json.code, answer.headers.get('retry-after')]).toEqual([429, 'too_many_async', '5']);
      expect(answer.json.hint).toMatch(/without x-async/);
    }
    // what an administrator sends as the user counts for both together, and in all
    const self = (await begin('SELECT 1 AS one')).json.response_id;
    await settle(self);
    const actor = JSON.parse(await runInDurableObject(objectOf(self), (_object, { storage }) => String(storage.sql.exec('SELECT job FROM job').one().job)));
    const as = (user: string) => begin('SELECT 1 AS one', { headers: { 'x-api-impersonate-user': user } });
    expect([(await as('dan')).status, await count()]).toEqual([202, 20]);
    const fill = (key: string, most: number) =>
      runInDurableObject(objectOf(`user:${key}`), async (object) => {
        const slots = object as unknown as { take(id: string, most: number, leaseMs: number): Promise<boolean> };
        for (let n = 0; n < most; n++) await slots.take(`crashed ${n}`, 1000, 600_000);
      });
    const refused = async (user: string) => {
      const { status, json } = await as(user);
      return [status, json.code, json.data];
    };
    await script('CREATE USER eve; GRANT QUERY ON ALL ontology.yard TO USER eve');
    await fill(`${actor.caller.userId}:${caller.userId}`, 20);
    expect(await refused('dan')).toEqual([429, 'too_many_async', '20 asynchronous statements that you send as `dan` wait or run']);
    expect((await as('eve')).status).toBe(202);
    await fill(`${actor.caller.userId}:all`, 200);
    expect(await refused('eve')).toEqual([429, 'too_many_async', '200 asynchronous statements that you send as other users wait or run']);
    expect((await begin('SELECT 1 AS one')).status).toBe(202);
    await runInDurableObject(counter, (_object, { storage }) => {
      storage.sql.exec("UPDATE slot SET ends = 0 WHERE id = 'crashed 7'");
    });
    const answer = await begin('SELECT 1 AS one', { token: second });
    expect(answer.status).toBe(202);
    await settle(answer.json.response_id, second);
    const failing = await begin('SELEC 1', { token: other });
    expect((await settle(failing.json.response_id, other)).json.status).toBe('error');
    expect(await count()).toBe(19);
    const interrupted = (await begin('SELECT 1 AS one', { token: other })).json.response_id;
    await settle(interrupted, other);
    await runInDurableObject(counter, (_object, { storage }) => {
      storage.sql.exec('INSERT INTO slot (id, ends) VALUES (?, ?)', interrupted, Date.now() + 600_000);
    });
    await runInDurableObject(objectOf(interrupted), (_object, { storage }) => {
      storage.sql.exec("UPDATE job SET state = 'running'");
    });
    await runDurableObjectAlarm(objectOf(interrupted));
    expect((await poll(interrupted, other)).json.error).toMatch(/interrupted/);
    expect(await count()).toBe(19);
  });
});
