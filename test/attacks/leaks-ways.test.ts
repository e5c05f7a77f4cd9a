/** Other ways to rows than a query: other routes, formats, caches, and impersonation. The caller is that of leaks.test.ts. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { keyValues } from '../../src/catalog/kv.ts';
import { memoryNamespace } from '../support/memory-namespace.ts';
import { startService, type TestService } from '../support/service.ts';
import { shows } from '../support/shows.ts';
import { MODEL, POLICIES, SECRETS, TABLES } from './leaks-world.ts';

let service: TestService;
const tokens: Record<string, string> = {};

interface Got {
  readonly status: number;
  readonly text: string;
  readonly cache: string | null;
}
async function got(path: string, { as = 'rex', body = '', headers = {} as Record<string, string> } = {}): Promise<Got> {
  const type = path.startsWith('/svc/openapi') ? 'text/plain' : 'application/json';
  const answer = await service.fetch(path, {
    headers: { 'x-api-key': tokens[as] as string, ...(body ? { 'content-type': type } : {}), ...headers },
    ...(body ? { method: 'POST', body } : {}),
  });
  return { status: answer.status, text: await answer.text(), cache: answer.headers.get('x-cache') };
}
const query = (sql: string, options: { as?: string; headers?: Record<string, string> } = {}): Promise<Got> =>
  got('/svc/api/query/', { ...options, body: JSON.stringify({ ontology_name: 'lab', query: sql }) });
const leaked = (question: string, text: string): string[] => shows(text, SECRETS, question);
const NAMES = 'SELECT name FROM svc.person ORDER BY name';
const names = (text: string): string[] => JSON.parse(text).data.map((r: { name: string }) => r.name);
const SEEN = ['Ann', 'Bob', 'Eve', 'Hal'];

beforeAll(async () => {
  service = await startService({ settings: { RESULT_CACHE_TTL: '300' }, parts: { kv: keyValues(memoryNamespace(), { scope: 'test', secret: 'secret' }) } });
  for (const statement of TABLES) await service.database.exec(statement);
  await service.rows(MODEL, 'lab');
  await service.rows('CREATE ROLE payers');
  for (const name of ['rex', 'boss', 'none']) {
    await service.rows(`CREATE USER ${name}`);
    await service.rows(`GRANT QUERY ON ALL ontology.lab TO USER ${name}`);
    tokens[name] = String((await service.rows(`CREATE TOKEN FOR ${name}`))[0]?.token);
  }
  tokens.admin = service.token;
  await service.rows(POLICIES, 'lab');
  await service.rows('CREATE POLICY p_all ON CONCEPT person TO USER boss USING (true)', 'lab');
});
afterAll(() => service?.close());

describe('filters in URLs', () => {
  it.each([
    ['a hidden name', '_subj_=name&_op_=eq&_comp_=Zorro', 0],
    ['the start of a hidden name', '_subj_=name&_op_=like&_comp_=Zor%25', 0],
    ['a hidden key', '_subj_=id&_op_=eq&_comp_=3', 0],
    ['a masked value', '_subj_=ssn&_op_=eq&_comp_=111-11-1111', 0],
    ['a masked number', '_subj_=salary&_op_=gt&_comp_=500', 0],
    ['a hidden column', '_subj_=amount&_op_=gt&_comp_=0', 4],
  ])('%s', async (_, filter, rows) => {
    const { status, text } = await got(`/svc/api/q/lab/concept/person?${filter}`);
    expect([status, leaked(decodeURIComponent(filter), text)], text).toEqual([200, []]);
    expect(JSON.parse(text).data).toHaveLength(rows);
  });

  it('that fail, and the statement in the answer', async () => {
    for (const filter of ['_subj_=born&_op_=gt&_comp_=x', '_subj_=id&_op_=eq&_comp_=x', '_subj_=note&_op_=like&_comp_=%5B']) {
      const { text } = await got(`/svc/api/q/lab/concept/person?${filter}`);
      expect(leaked(filter, text), text).toEqual([]);
    }
    const { text } = await got('/svc/api/q/lab/view/everyone');
    expect([JSON.parse(text).data.length, leaked('', text)], text).toEqual([4, []]);
  });
});

describe('formats of answers', () => {
  it.each(['text/csv', 'application/x-ndjson'])('%s', async (accept) => {
    const { status, text } = await got('/svc/openapi/ontology/lab/query', { body: 'SELECT * FROM esvc.person', headers: { accept } });
    expect([status, leaked('', text), SEEN.every((n) => text.includes(n))], text).toEqual([200, [], true]);
  });

  it('nested', async () => {
    const sql = 'SELECT name, "has_resident[person].name", "has_resident[person].ssn", "has_resident[person].knows[person].name" FROM dsvc.town';
    const { status, text } = await query(sql, { headers: { nested: 'true' } });
    expect([status, leaked(sql, text)], text).toEqual([200, []]);
    expect([...new Set(names(text))].sort()).toEqual(['Bern', 'Lima', 'Oslo']);
  });
});

describe('stored answers', () => {
  it('in the result cache are for callers who see the same, in any order of requests', async () => {
    const admin = await query(NAMES, { as: 'admin' });
    expect(names(admin.text)).toHaveLength(8);
    for (const [as, expected] of [
      ['rex', SEEN],
      ['none', []],
    ] as const) {
      for (const _ of [1, 2]) expect(names((await query(NAMES, { as })).text), as).toEqual(expected);
    }
    expect([(await query(NAMES, { as: 'boss' })).cache, (await query(NAMES, { as: 'rex' })).cache]).toEqual(['miss', 'hit']);
  });

  it('of an async statement are for its caller', async () => {
    const started = await got('/svc/openapi/ontology/lab/query', { as: 'boss', body: NAMES, headers: { 'x-async': 'true' } });
    expect(started.status).toBe(202);
    const { poll_url } = JSON.parse(started.text);
    await expect.poll(async () => JSON.parse((await got(poll_url, { as: 'boss' })).text).status).toBe('completed');
    const other = await got(poll_url);
    expect([other.status, leaked('', other.text)]).toEqual([404, []]);
    expect((await got(poll_url, { headers: { 'x-api-impersonate-user': 'boss' } })).status).toBe(403);
  });

  it('of another version are not available', async () => {
    const { text } = await query(NAMES, { headers: { 'x-ontology-version': '00000000-0000-4000-8000-000000000001' } });
    expect(leaked('', text)).toEqual([]);
  });
});

describe('impersonation', () => {
  it('needs the right, and applies the policies of the user', async () => {
    for (const name of ['admin', 'boss', 'nobody']) expect((await query(NAMES, { headers: { 'x-api-impersonate-user': name } })).status).toBe(403);
    expect(names((await query(NAMES, { as: 'admin', headers: { 'x-api-impersonate-user': 'rex' } })).text)).toEqual(SEEN);
  });
});

describe('descriptions of the model', () => {
  it.each([
    'SHOW POLICIES',
    'SHOW CONCEPTS',
    'SHOW CREATE ONTOLOGY lab',
    'DESCRIBE CONCEPT person',
    'SELECT * FROM svc.SYS_CONCEPTS',
    'SELECT * FROM svc.SYS_POLICIES',
    'SELECT * FROM svc.SYS_MAPPINGS',
    'EXPLAIN SELECT name, ssn FROM svc.person WHERE 10 / (id - 3) > 0',
    'EXPLAIN SELECT "made_by[person].name" FROM dsvc.deal',
  ])('%s', async (sql) => {
    const { status, text } = await query(sql);
    // conditions of views and of policies that name the caller may be shown; rows, values, tables and row counts may not
    const own = `${MODEL} ${POLICIES.replace(/^CREATE POLICY m_.*$/gm, '')}`.replace(/^CREATE MAPPING.*$/gm, '');
    expect([status, leaked(own, text)], text).toEqual([200, []]);
    if (sql.startsWith('EXPLAIN')) expect(JSON.parse(text).data[0].SQL).toBeNull();
  });
});
