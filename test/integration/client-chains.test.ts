/**
 * The chains of a public client run whole: the requests of support/client-steps.ts are sent in their order, with the SQL that a scripted language model writes. The packages
 * themselves are not installed.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { sql } from '../../src/catalog/db.ts';
import { startService, type TestService } from '../support/service.ts';
import { AGENT, BENCHMARK, CONVERSATION, generate, IDENTIFY, type Json, NEXT, SECOND, SEVERAL, SQL, type Step } from './support/client-steps.ts';

const MODEL = `CREATE ONTOLOGY shop DESCRIPTION 'goods';
  CREATE CONCEPT maker (maker_no bigint, maker_name string, PRIMARY KEY (maker_no), LABEL (maker_name));
  CREATE CONCEPT item (sku bigint, title string, price decimal, maker_no bigint, PRIMARY KEY (sku), LABEL (title),
    CONSTRAINT made_by FOREIGN KEY (maker_no) REFERENCES maker (maker_no) INVERSEOF makes);
  CREATE MAPPING map_maker INTO maker AS SELECT maker_no, maker_name FROM public.maker;
  CREATE MAPPING map_item INTO item AS SELECT sku, title, price, maker_no FROM public.item;
  CREATE EXAMPLE 'How many items are there?' DESCRIPTION 'Counts all items' AS SELECT COUNT(*) AS n FROM timbr.item`;
const DEPOT = `CREATE ONTOLOGY depot DESCRIPTION 'places'; CREATE CONCEPT shelf (shelf_no bigint, PRIMARY KEY (shelf_no));
  CREATE MAPPING map_shelf INTO shelf AS SELECT maker_no AS shelf_no FROM public.maker`;
const AGENTS = "CREATE AGENT seller ONTOLOGY (shop) OPTIONS (note = 'In euro', enable_trace = 'true'); CREATE AGENT both ONTOLOGY (shop, depot)";

let s: TestService;
let token: string;

beforeAll(async () => {
  s = await startService({
    settings: { PRODUCT_NAME: 'timbr' },
    tables: [
      'CREATE TABLE public.maker (maker_no bigint PRIMARY KEY, maker_name text)',
      'CREATE TABLE public.item (sku bigint PRIMARY KEY, title text, price numeric, maker_no bigint)',
      "INSERT INTO public.maker VALUES (1, 'Aco'), (2, 'Bex')",
      "INSERT INTO public.item VALUES (1, 'Atlas', 30, 1), (2, 'Pen', 1, 1), (3, 'Cup', 5, 2)",
    ],
  });
  for (const text of [MODEL, DEPOT, AGENTS]) await s.rows(text);
  token = await s.user('ada', 'QUERY ON ALL ontology.shop', 'QUERY ON ALL ontology.depot');
});
afterAll(() => s?.close());

async function send(step: Step, ontology: string, as: string): Promise<Json> {
  const isReport = step.path?.startsWith('/timbr-server/') === true;
  const credential = isReport ? { authorization: `Basic ${btoa(`token:${as}`)}` } : { 'x-api-key': as };
  const response =
    step.sql === undefined
      ? await s.fetch(step.path ?? '', {
          method: step.body === undefined ? 'GET' : 'POST',
          headers: { 'Content-Type': 'application/json', ...credential },
          ...(step.body === undefined || Object.keys(step.body).length === 0 ? {} : { body: JSON.stringify(step.body) }),
        })
      : await s.fetch(`/timbr/openapi/ontology/${step.ontology ?? ontology}/query`, {
          method: 'POST',
          headers: { 'Content-Type': 'application/text', nested: 'false', ...credential },
          body: step.sql,
        });
  const text = await response.text();
  expect(response.status, `${step.file}: ${step.sql ?? step.path}: ${text}`).toBe(200);
  return JSON.parse(text);
}

async function run(steps: readonly Step[], ontology: string, as = token): Promise<void> {
  for (const step of steps) step.reads(await send(step, ontology, as));
}

describe('the chains of a public client', () => {
  it('an agent answers a question, and one that follows it', async () => {
    await run(AGENT, 'shop');
    await run(SECOND, 'shop');
    const history = await s.rows(
      'SELECT question, concept, query, status, duration_ms, tokens, tries FROM timbr.SYS_AGENTS_HISTORY ORDER BY started',
      'shop',
      token,
    );
    expect(history).toEqual([
      { question: 'Items by maker', concept: 'item', query: SQL, status: 'completed', duration_ms: 2000, tokens: 900, tries: 2 },
      { question: 'and of Aco?', concept: 'item', query: NEXT, status: 'completed', duration_ms: 900, tokens: 0, tries: 1 },
    ]);
  });

  it('the nodes of a graph: concept, SQL, its check, rows, answer', () =>
    run([...IDENTIFY, ...generate(SQL), { file: 'langgraph/execute_timbr_query_node.py', sql: SQL, reads: (a) => expect(a).toHaveLength(2) }], 'shop'));

  it('an agent with several ontologies', () => run(SEVERAL, 'shop'));

  it('the benchmark command', () => run(BENCHMARK, 'shop'));
});

const FILLERS = sql`INSERT INTO kg_catalog.agents_history (user_id, user_name, question, status, started, duration_ms, tokens, tries, query_id)
  SELECT id, name, 'filler', 'completed', now(), 0, 0, 0, 'f' FROM kg_catalog.users, generate_series(1, 999) WHERE name = 'eve'`;
const COUNT = sql`SELECT count(*)::text AS n FROM kg_catalog.agents_history WHERE user_name = 'eve'`;

describe('conversations of clients', () => {
  const read = async (as: string, id = CONVERSATION): Promise<Json[]> =>
    (await send({ file: '', path: `/timbr/api/fetch_conversation_history?conversation_id=${encodeURIComponent(id)}&top=9`, reads: () => undefined }, '', as))
      .data;
  const report = (as: string, body: object) =>
    s.fetch('/timbr-server/log_agent/history', {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Basic ${btoa(`token:${as}`)}` },
      body: JSON.stringify(body),
    });

  it('belong to their user, and end with a change of its rights', async () => {
    const other = await s.user('bob', 'QUERY ON ALL ontology.shop');
    expect(await read(other)).toEqual([]);
    expect(await read(token)).toHaveLength(2);
    await s.rows('REVOKE QUERY ON ALL ontology.shop FROM USER ada');
    expect(await read(token)).toEqual([]);
    await s.rows('GRANT QUERY ON ALL ontology.shop TO USER ada');
    expect(await read(token)).toHaveLength(2);
    await s.rows('CREATE POLICY dear ON CONCEPT item TO USER ada USING (price > 2)', 'shop');
    expect(await read(token)).toEqual([]);
    await s.rows('DROP POLICY dear', 'shop');
  });

  it('are refused without a valid token, and in other forms', async () => {
    expect((await report('tk_nothing', { query_id: 'q', question: 'x' })).status).toBe(401);
    expect((await report('nothing', { query_id: 'q', question: 'x' })).status).toBe(401);
    expect((await report(token, { question: 'x' })).status).toBe(400);
    expect((await report(token, { query_id: 'q' })).status).toBe(400);
    const status = async (path: string, init: RequestInit = {}) =>
      (await s.fetch(path, { headers: { 'x-api-key': token, 'content-type': 'application/json' }, ...init })).status;
    expect(await status('/timbr-server/log_agent/other', { method: 'POST', body: '{}' })).toBe(404);
    for (const query of ['', '?conversation_id=', '?conversation_id=a&top=0', '?conversation_id=a&top=x'])
      expect(await status(`/timbr/api/fetch_conversation_history${query}`)).toBe(400);
    for (const body of [
      {},
      { question: 'x', knowledge_bases: [] },
      { question: 'x', knowledge_bases: ['shop'], top_k: 0 },
      { question: 'x', knowledge_bases: ['shop'], high_threshold: 0.1 },
    ])
      expect(await status('/timbr/api/kb/search', { method: 'POST', body: JSON.stringify(body) })).toBe(400);
    const read = await s.fetch('/timbr-server/log_agent/history', {
      method: 'POST',
      headers: { 'x-api-key': token, 'x-read-only': 'true', 'content-type': 'application/json' },
      body: '{}',
    });
    expect(read.status).toBe(403);
  });

  it('a user keeps the newest thousand reports', async () => {
    const eve = await s.user('eve', 'QUERY ON ALL ontology.shop');
    await report(eve, { query_id: 'old', question: 'the oldest', ontology: 'shop' });
    const { db } = (await s.request(eve)).runtime;
    await db.query(FILLERS);
    const count = async () => Number((await db.query(COUNT))[0]?.n);
    expect(await count()).toBe(1000);
    await report(eve, { query_id: 'new', question: 'the newest', ontology: 'shop' });
    expect(await count()).toBe(1000);
    const rows = await s.rows("SELECT question FROM timbr.SYS_AGENTS_HISTORY WHERE question LIKE 'the%'", 'shop', eve);
    expect(rows).toEqual([{ question: 'the newest' }]);
  });

  it('start when they are reported, if the reported time is in the future or not possible', async () => {
    const fay = await s.user('fay', 'QUERY ON ALL ontology.shop');
    const times = ['9999-01-01 00:00:00', '+275760-09-12 00:00:00', '-271821-04-21 00:00:00', '0000-01-01 00:00:00', 'soon'];
    const before = Date.now();
    for (const start_time of times) expect((await report(fay, { query_id: 'q', question: start_time, start_time })).status).toBe(200);
    await report(fay, { query_id: 'q', question: 'past', start_time: '2020-01-02 03:04:05' });
    const rows = await s.rows('SELECT question, started FROM timbr.SYS_AGENTS_HISTORY', '', fay);
    const started = new Map(rows.map((r) => [r.question, Date.parse(r.started)]));
    expect(started.get('past')).toBe(Date.UTC(2020, 0, 2, 3, 4, 5));
    for (const time of times) {
      expect(started.get(time)).toBeGreaterThanOrEqual(before);
      expect(started.get(time)).toBeLessThanOrEqual(Date.now());
    }
  });

  it('are read back up to a million characters', async () => {
    const gus = await s.user('gus', 'QUERY ON ALL ontology.shop');
    const [text, query] = ['\u{1f600}'.repeat(4000), '\u{1f600}'.repeat(20_000)];
    for (let i = 0; i < 40; i++)
      expect((await report(gus, { query_id: `q${i}`, question: text, answer: text, generated_sql: query, conversation_id: 'long' })).status).toBe(200);
    const messages = (await send({ file: '', path: '/timbr/api/fetch_conversation_history?conversation_id=long&top=50', reads: () => undefined }, '', gus))
      .data;
    expect(messages.map((m: Json) => m.message_id)).toEqual(Array.from({ length: 35 }, (_, i) => `q${i + 5}`));
  });

  it('find each example once', async () => {
    const names = ['shop', 'Shop', 'SHOP', 'sHOP'];
    const body = { question: 'How many items are there', knowledge_bases: names, medium_threshold: 0 };
    const found = await send({ file: '', path: '/timbr/api/kb/search', body, reads: () => undefined }, '', token);
    expect(found.matches.map((m: Json) => m.knowledge_base)).toEqual(['shop']);
  });

  it('find no examples of ontologies that the caller may not see', async () => {
    const nobody = await s.user('nobody', 'QUERY ON ALL ontology.depot');
    const found = await send(
      {
        file: '',
        path: '/timbr/api/kb/search',
        body: { question: 'How many items are there', knowledge_bases: ['shop', 'depot', 'none'] },
        reads: () => undefined,
      },
      '',
      nobody,
    );
    expect(found).toMatchObject({ matches: [], match_level: 'none' });
    expect(await s.rows('SELECT benchmark_name FROM timbr.SYS_AGENTS_BENCHMARKS', '', nobody)).toEqual([{ benchmark_name: 'both' }]);
    expect(await s.rows('SELECT number_of_questions AS n FROM timbr.SYS_AGENTS_BENCHMARKS', '', nobody)).toEqual([{ n: 0 }]);
  });
});
