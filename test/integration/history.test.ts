/** The history of questions: what is recorded, who may read it, and when it is deleted. */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { CATALOG_OWNER } from '../../dev/roles.ts';
import { impersonate } from '../../src/auth/impersonate.ts';
import { catalogUnavailable, neonDb } from '../../src/catalog/db.ts';
import { housekeeping } from '../../src/catalog/housekeeping.ts';
import { parseConnection } from '../../src/config.ts';
import { SvcError } from '../../src/errors.ts';
import { storeQuestion, visibleHistory } from '../../src/service/describe/history.ts';
import { recordQuestion } from '../../src/service/ops/questions.ts';
import type { QuestionRecord, Runtime } from '../../src/service.ts';
import { startService, type TestService } from '../support/service.ts';

let s: TestService;
const tokens: Record<string, string> = {};

const ASKED: QuestionRecord = {
  agent: 'clerk',
  ontology: 'SHOP',
  question: 'How many?',
  concept: 'item',
  query: 'SELECT COUNT(*) AS n FROM svc.item',
  status: 'success',
  started: Date.UTC(2026, 0, 31, 12, 0, 0, 5),
  durationMs: 1234.6,
  tokens: 777,
  tries: 2,
  error: null,
};

/** Records a question as a user, and waits for the work after the answer. */
async function record(user: string, asked: Partial<QuestionRecord> = {}, parts: Partial<Runtime> = {}, as?: string): Promise<void> {
  const waited: Promise<unknown>[] = [];
  const request = await s.request(tokens[user] ?? '', { waitUntil: (work) => void waited.push(work), ...parts });
  const caller = as === undefined ? request.caller : await impersonate(request.caller, as, request.runtime);
  expect(recordQuestion({ ...request, caller }, { ...ASKED, ...asked })).toBeUndefined();
  expect(waited).toHaveLength(1);
  await waited[0];
}
const historyOf = (user: string, ontology = 'shop', columns = '*') => s.rows(`SELECT ${columns} FROM svc.SYS_AGENTS_HISTORY`, ontology, tokens[user]);
const questions = async (user: string, ontology?: string): Promise<string[]> => (await historyOf(user, ontology)).map((r) => r.question);
const catalog = (sql: string) => s.database.exec(sql, [], CATALOG_OWNER);

beforeAll(async () => {
  // without a KV namespace only questions are written in the background
  s = await startService({ parts: { kv: undefined } });
  tokens.admin = s.token;
  await s.rows('CREATE ONTOLOGY shop; CREATE CONCEPT item (id bigint, PRIMARY KEY (id))');
  await s.rows('CREATE ONTOLOGY other');
  for (const name of ['una', 'bob']) {
    await s.rows(`CREATE USER ${name}; GRANT QUERY ON ALL ontology.shop TO USER ${name}`);
    tokens[name] = (await s.rows(`CREATE TOKEN FOR ${name}`))[0].token;
  }
  await s.rows('GRANT QUERY ON ALL ontology.other TO USER una; GRANT AUTH ON user.una TO USER bob');
});
afterAll(() => s?.close());
beforeEach(() => catalog('DELETE FROM kg_catalog.agents_history'));

describe('a question', () => {
  it('is shown to its user and to admins, with its results', async () => {
    await record('una');
    const row = {
      user_name: 'una',
      agent_name: 'clerk',
      question: 'How many?',
      concept: 'item',
      query: 'SELECT COUNT(*) AS n FROM svc.item',
      status: 'success',
      started: '2026-01-31T12:00:00.005+00:00',
      duration_ms: 1235,
      tokens: 777,
      tries: 2,
      error: null,
      ontology: 'shop',
      actor: null,
    };
    expect(await historyOf('una')).toEqual([row]);
    expect(await historyOf('admin')).toEqual([row]);
    expect(await historyOf('bob')).toEqual([]);
    // a user who may change the ontology is not an admin
    await s.rows('GRANT EDIT ON ALL ontology.shop TO USER bob WITH GRANT OPTION');
    expect(await historyOf('bob')).toEqual([]);
    await s.rows('REVOKE EDIT ON ALL ontology.shop FROM USER bob');
    expect(await s.rows('SELECT SUM(tokens) AS t FROM SYS_AGENTS_HISTORY WHERE duration_ms > 1000 AND started < now() GROUP BY user_name', 'shop')).toEqual([
      { t: 777 },
    ]);
  });

  it('belongs to its ontology; without one, those of all visible ontologies are shown', async () => {
    await record('una', { question: 'a', started: 1 });
    await record('una', { question: 'b', ontology: 'other', started: 2 });
    await record('una', { question: 'c', ontology: null, started: 3 });
    await record('una', { question: 'd', ontology: 'nowhere', started: 4 });
    await record('bob', { question: 'e', started: 5 });
    expect([await questions('una'), await questions('una', 'other'), await questions('una', '')]).toEqual([['a'], ['b'], ['d', 'c', 'b', 'a']]);
    expect([await questions('admin'), await questions('admin', ''), await questions('bob', '')]).toEqual([['e', 'a'], ['e', 'd', 'c', 'b', 'a'], ['e']]);
    // an ontology that its user no longer sees is not shown; nor is another one of the same name the same
    await s.rows('REVOKE QUERY ON ALL ontology.other FROM USER una');
    expect(await questions('una', '')).toEqual(['d', 'c', 'a']);
    await s.rows('DROP ONTOLOGY other; CREATE ONTOLOGY other; GRANT QUERY ON ALL ontology.other TO USER una');
    expect([await questions('una', ''), await questions('una', 'other'), await questions('admin', '')]).toEqual([
      ['d', 'c', 'a'],
      [],
      ['e', 'd', 'c', 'b', 'a'],
    ]);
  });

  it('of an impersonating user belongs to the impersonated one, and names both', async () => {
    await record('bob', {}, {}, 'una');
    expect(await historyOf('una', 'shop', 'user_name, actor')).toEqual([{ user_name: 'una', actor: 'bob' }]);
    expect(await historyOf('bob')).toEqual([]);
  });

  it('asked with claims is shown to callers with the same claims', async () => {
    const request = await s.request(tokens.una ?? '');
    const withClaims = (claims: Readonly<Record<string, string>>) => ({ ...request.caller, principal: { ...request.caller.principal, claims } });
    const ask = (question: string, claims: Readonly<Record<string, string>>) =>
      storeQuestion({ ...request, caller: withClaims(claims) }, { ...ASKED, question });
    await ask('of customer 5', { customer: '5', region: 'north' });
    await ask('of customer 6', { customer: '6', region: 'north' });
    await ask('without claims', {});
    const seen = async (claims: Readonly<Record<string, string>>) =>
      (await visibleHistory(request.runtime, withClaims(claims), undefined)).map((line) => line.question);
    expect(await seen({ region: 'north', customer: '5' })).toEqual(['of customer 5']);
    expect(await seen({ customer: '6', region: 'north' })).toEqual(['of customer 6']);
    expect(await seen({ customer: '5' })).toEqual([]);
    expect(await seen({})).toEqual(['without claims']);
    expect(await questions('una')).toEqual(['without claims']);
    expect(await questions('admin')).toHaveLength(3);
  });

  it('of a user does not belong to a later user of the same name', async () => {
    await s.rows('CREATE USER eve; GRANT QUERY ON ALL ontology.shop TO USER eve');
    const again = async () => (await s.rows('CREATE TOKEN FOR eve'))[0].token;
    tokens.eve = await again();
    await record('eve');
    await s.rows('DROP USER eve; CREATE USER eve; GRANT QUERY ON ALL ontology.shop TO USER eve');
    tokens.eve = await again();
    expect([await historyOf('eve'), (await historyOf('admin')).length]).toEqual([[], 1]);
  });

  it('is truncated, to characters that the catalog accepts', async () => {
    await record('una', {
      question: `\0${'🜁'.repeat(5000)}\ud800`,
      query: 'x'.repeat(30_000),
      error: 'e'.repeat(3000),
      agent: 'a'.repeat(500),
      tokens: Number.NaN,
      durationMs: -5,
      tries: 1e12,
    });
    const [row] = await historyOf('una');
    expect([[...row.question].length, [...row.question].slice(0, 2), row.question.endsWith('🜁…')]).toEqual([4000, ['\ufffd', '🜁'], true]);
    expect([row.query.length, row.error.length, row.agent_name.length]).toEqual([20_000, 2000, 128]);
    expect([row.tokens, row.duration_ms, row.tries]).toEqual([0, 0, 2_000_000_000]);
    await record('una', { question: 'short' });
    expect((await questions('una')).includes('short')).toBe(true);
  });

  it('has only errors that callers may see', async () => {
    for (const [error, expected] of [
      [
        new SvcError(504, 'llm_timeout', 'The language model did not answer in time', { cause: new Error('key=sk-secret'), hint: 'x' }),
        'The language model did not answer in time',
      ],
      [new Error('connect postgres://u:secret@db'), 'The service failed to answer this request'],
      ['said by the chain', 'said by the chain'],
      [undefined, null],
    ] as const) {
      await catalog('DELETE FROM kg_catalog.agents_history');
      await record('una', { error });
      expect(await historyOf('una', 'shop', 'error')).toEqual([{ error: expected }]);
    }
  });

  it('does not fail if its entry cannot be written', async () => {
    const lines: unknown[] = [];
    const down = () => Promise.reject(catalogUnavailable(new Error('gone')));
    await record('una', {}, { db: { query: down, batch: down }, log: (line) => void lines.push(line) });
    expect(lines).toEqual([{ level: 'error', event: 'history_failed', cause: 'The catalog of the service cannot be reached at the moment' }]);
  });
});

describe('the history', () => {
  const INSERT =
    'INSERT INTO kg_catalog.agents_history (user_id, user_name, ontology_id, ontology, question, query, status, started, duration_ms, tokens, tries)';
  const FROM = "FROM kg_catalog.users u, kg_catalog.ontologies o, generate_series(1, $n) n WHERE u.key = 'una' AND o.key = 'shop'";
  const fill = (n: number, query: string) =>
    catalog(
      `${INSERT} SELECT u.id, u.name, o.id, o.name, 'q ' || n, ${query}, 'success', now() - n * interval '1 second', 1, 1, 1 ${FROM.replace('$n', String(n))}`,
    );

  it('is read from the newest question: 10,000 questions, or 4 million characters', async () => {
    await fill(10_050, 'NULL');
    const count = "count(*) AS n, min(question) AS one, bool_or(question = 'q 10000') AS last";
    expect(await historyOf('una', 'shop', count)).toEqual([{ n: 10_000, one: 'q 1', last: true }]);
    expect((await s.rows('SELECT question FROM svc.SYS_AGENTS_HISTORY LIMIT 2', 'shop')).map((r) => r.question)).toEqual(['q 1', 'q 2']);
    await catalog('DELETE FROM kg_catalog.agents_history');
    await fill(300, "repeat('x', 20000)");
    const [{ n }] = await historyOf('una', 'shop', count);
    expect(n).toBe(Math.floor(4_000_000 / 20_304));
  });

  it('is deleted after its retention', async () => {
    await catalog(
      `${INSERT} SELECT u.id, u.name, o.id, o.name, 'q ' || n, NULL, 'success', now() - n * interval '1 day' - interval '1 minute', 1, 1, 1 ${FROM.replace('$n', '40')}`,
    );
    const db = neonDb(parseConnection(s.database.secret(CATALOG_OWNER), 'CATALOG_URL'));
    await housekeeping(db, { auditRetentionDays: 90, historyRetentionDays: 30, versionRetentionDays: 0 });
    expect(await historyOf('una', 'shop', 'count(*) AS n')).toEqual([{ n: 29 }]);
    await housekeeping(db, { auditRetentionDays: 1, historyRetentionDays: 1, versionRetentionDays: 0 });
    expect(await historyOf('una', 'shop', 'count(*) AS n')).toEqual([{ n: 0 }]);
  });
});
