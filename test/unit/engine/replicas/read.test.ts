/** Which server answers a statement, and when. */
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import type { Datasource } from '../../../../src/engine/datasource.ts';
import { forgetReplicas, readNear } from '../../../../src/engine/replicas/read.ts';
import { forgetRoles } from '../../../../src/engine/settings.ts';
import { fixed } from '../../../../src/engine/statement.ts';
import { type Asked, fake, shown } from '../fake.ts';

const at = (name: string): Datasource => ({ name: 'main', url: `postgres://u:p@${name}.example/d`, endpoint: `https://${name}.example/sql` });
const near = (now: () => number, waiting: Promise<unknown>[]) => ({
  primary: at('primary'),
  replicas: [at('replica')],
  maxLagMs: 10_000,
  now,
  waitUntil: (work: Promise<unknown>) => void waiting.push(work),
  log: () => undefined,
});
const REQUEST = { text: fixed`SELECT 1`, timeoutMs: 1000, maxBytes: 100_000, owner: 'o' };
const isPosition = (sql: string): boolean => sql.includes('pg_is_in_recovery');

/** Answers each statement of a request as a primary and its replica do. */
function answer({ url, body }: Asked): Response {
  const position = [url.includes('replica') ? 'true' : 'false', '77', '1 2 u', '1'];
  const rowsOf = (sql: string): unknown => (sql === 'SHOW ALL' ? shown() : [isPosition(sql) ? position : ['{"n":1}']]);
  const result = (sql: string) => ({ fields: [{ name: 'row', dataTypeID: 114 }], rows: rowsOf(sql), command: 'SELECT', rowAsArray: true });
  const text = JSON.stringify(body.queries ? { results: body.queries.map((q) => result(q.query)) } : result(body.query ?? ''));
  return new Response(text, { headers: { 'content-length': String(text.length) } });
}

beforeEach(() => [forgetReplicas, forgetRoles].map((forget) => forget()));
afterEach(() => void vi.unstubAllGlobals());

it('the primary answers until its settings are known, and again after ten minutes, because they decide how its statements are planned', async () => {
  vi.useFakeTimers({ toFake: ['Date'] });
  try {
    // the first statement takes long: its answer comes after the position of the primary is known
    const { promise, resolve } = Promise.withResolvers<void>();
    let isFirst = true;
    const server = fake(async (asked) => {
      const sql = JSON.stringify(asked.body);
      const waits = isFirst && sql.includes('SHOW ALL');
      if (waits) isFirst = false;
      if (waits) await promise;
      return answer(asked);
    });
    vi.stubGlobal('fetch', server.fetch);
    const waiting: Promise<unknown>[] = [];
    const read = async (): Promise<number> => (await readNear(near(Date.now, waiting), REQUEST)).place;
    const first = read();
    await Promise.all(waiting.splice(0));
    expect(await read()).toBe(0);
    resolve();
    expect(await first).toBe(0);
    expect(await read()).toBe(1);
    vi.setSystemTime(Date.now() + 601_000);
    await read();
    await Promise.all(waiting.splice(0));
    expect(server.asked.filter(({ url, body }) => url.includes('primary') && JSON.stringify(body).includes('SHOW ALL'))).toHaveLength(3);
    expect(await read()).toBe(1);
  } finally {
    vi.useRealTimers();
  }
});
