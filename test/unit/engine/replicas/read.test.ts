/** Which server answers a statement, and when. */
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import type { Datasource } from '../../../../src/engine/datasource.ts';
import { forgetReplicas, readNear } from '../../../../src/engine/replicas/read.ts';
import { forgetRoles } from '../../../../src/engine/settings.ts';
import { fixed } from '../../../../src/engine/statement.ts';
import { type Asked, fake, shown } from '../fake.ts';

const at = (name: string): Datasource => ({ name: 'main', url: `postgres://u:p@${name}.example/d`, endpoint: `https://${name}.example/sql` });
const near = (now: () => number, waiting: Promise<unknown>[], maxLagMs = 10_000) => ({
  primary: at('primary'),
  replicas: [at('replica')],
  maxLagMs,
  now,
  waitUntil: (work: Promise<unknown>) => void waiting.push(work),
  log: () => undefined,
});
const REQUEST = { text: fixed`SELECT 1`, timeoutMs: 1000, maxBytes: 100_000, owner: 'o' };
const isPosition = (sql: string): boolean => sql.includes('pg_is_in_recovery');
const asksPrimary = ({ url }: Asked, sql: string, body: string): boolean => url.includes('primary') && body.includes(sql);

/** Answers each statement of a request as a primary and its replica do. @param settings the answer to SHOW ALL */
function answer({ url, body }: Asked, settings: unknown = shown()): Response {
  const position = [url.includes('replica') ? 'true' : 'false', '77', '1 2 u', '1'];
  const rowsOf = (sql: string): unknown => (sql === 'SHOW ALL' ? settings : [isPosition(sql) ? position : ['{"n":1}']]);
  const result = (sql: string) => ({ fields: [{ name: 'row', dataTypeID: 114 }], rows: rowsOf(sql), command: 'SELECT', rowAsArray: true });
  const text = JSON.stringify(body.queries ? { results: body.queries.map((q) => result(q.query)) } : result(body.query ?? ''));
  return new Response(text, { headers: { 'content-length': String(text.length) } });
}

/** An isolate whose servers answer in this way. */
function isolate(reply: (asked: Asked) => Response | Promise<Response>, maxLagMs?: number) {
  const server = fake(reply);
  vi.stubGlobal('fetch', server.fetch);
  const waiting: Promise<unknown>[] = [];
  /** The place of the server that answers; then the work in the background ends. */
  const read = async (): Promise<number | string> => {
    const place = await readNear(near(Date.now, waiting, maxLagMs), REQUEST).then(
      (rows) => rows.place,
      () => 'failed',
    );
    await Promise.all(waiting.splice(0));
    return place;
  };
  const asked = (sql: string): number => server.asked.filter((a) => asksPrimary(a, sql, JSON.stringify(a.body))).length;
  return { read, asked };
}

beforeEach(() => {
  for (const forget of [forgetReplicas, forgetRoles]) forget();
  vi.useFakeTimers({ toFake: ['Date'] });
});
afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

it('the primary answers until its settings are known, because they decide how its statements are planned', async () => {
  let settings: unknown = [['search_path', 'of a server that does not show the others']];
  const { read } = isolate((asked) => answer(asked, settings));
  expect([await read(), await read(), await read()]).toEqual([0, 0, 0]);
  settings = shown();
  expect([await read(), await read()]).toEqual([0, 1]);
});

it('replicas answer if the statements of a primary fail that says where it is', async () => {
  const isLate = (asked: Asked): boolean => asksPrimary(asked, 'SELECT 1', JSON.stringify(asked.body)) && !isPosition(JSON.stringify(asked.body));
  const { read } = isolate((asked) => (isLate(asked) ? new Response('{"message":"overloaded"}', { status: 503 }) : answer(asked)));
  expect([await read(), await read()]).toEqual(['failed', 1]);
});

it('replicas answer for max_lag after the primary is gone, also if its settings are old then', async () => {
  let isGone = false;
  const { read } = isolate((asked) => (isGone && asked.url.includes('primary') ? Promise.reject(new TypeError('gone')) : answer(asked)), 3_600_000);
  expect([await read(), await read()]).toEqual([0, 1]);
  isGone = true;
  vi.setSystemTime(Date.now() + 1_800_000);
  expect([await read(), await read()]).toEqual([1, 1]);
});

it('the settings of the primary are read again every ten minutes, in the background', async () => {
  const { read, asked } = isolate(answer, 60_000);
  expect([await read(), await read()]).toEqual([0, 1]);
  const before = asked('SHOW ALL');
  for (let minute = 0; minute < 12; minute++) {
    vi.setSystemTime(Date.now() + 55_000);
    expect(await read()).toBe(1);
  }
  expect(asked('SHOW ALL')).toBe(before + 1);
});
