/** What callers and the log learn about the time of a request. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startService, type TestService } from '../support/service.ts';
import { shows } from '../support/shows.ts';

// biome-ignore lint/suspicious/noExplicitAny: lines of every shape
type Line = any;

let s: TestService;
const lines: Line[] = [];
const users: Record<string, string> = {};

beforeAll(async () => {
  s = await startService({
    tables: [
      'CREATE SCHEMA shop',
      'CREATE TABLE shop.t_city (id bigint PRIMARY KEY, name text, note text)',
      "INSERT INTO shop.t_city SELECT i, 'city ' || i, repeat('x', 1000) FROM generate_series(1, 4000) AS i",
    ],
    settings: { SLOW_QUERY_MS: '1', RESULT_CACHE_TTL: '60' },
    parts: { log: (line) => void lines.push(line) },
  });
  for (const name of ['shop', 'closed'])
    await s.rows(
      `CREATE ONTOLOGY ${name}; CREATE CONCEPT city (id bigint, name string, note string, PRIMARY KEY (id));
       CREATE MAPPING m INTO (city) AS SELECT id, name, note FROM shop.t_city WHERE id > 0`,
      name,
    );
  await s.rows('CREATE POLICY few ON CONCEPT city TO PUBLIC USING (id < 10)', 'closed');
  const all = (privilege: string, name: string) => `${privilege} ON ALL ontology.${name}`;
  const tables = 'QUERY ON datasource.main';
  users.editor = await s.user('editor', all('EDIT', 'shop'), tables);
  users.reader = await s.user('reader', all('QUERY', 'shop'), tables);
  users.rowless = await s.user('rowless', all('EDIT', 'shop'));
  users.partial = await s.user('partial', 'QUERY ON ontology.shop.concept.city', tables);
  users.limited = await s.user('limited', all('EDIT', 'closed'), tables);
});
afterAll(() => s?.close());

/** The header of an answer to a SELECT. */
async function times(
  user: string | null,
  ontology: string,
  headers: Record<string, string> = {},
  sql = 'SELECT name FROM svc.city WHERE id = 1',
): Promise<string | null> {
  const token = user === null ? s.token : (users[user] as string);
  const answer = await s.fetch('/svc/api/query', {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-api-key': token, ...headers },
    body: JSON.stringify({ ontology_name: ontology, query: sql }),
  });
  const text = await answer.text();
  expect(answer.status, text).toBe(200);
  return answer.headers.get('server-timing');
}

/** The newest line that fits. */
const line = (event: string | undefined): Line => lines.findLast((l) => l.event === event);

describe('server-timing', () => {
  const asked = { 'x-server-timing': 'true' };

  it('is for editors, and for readers who ask', async () => {
    expect(await times(null, 'shop')).toMatch(/^auth;dur=[\d.]+, plan;dur=[\d.]+(, wait;dur=[\d.]+)?, database;dur=[\d.]+, cache;desc=miss$/);
    expect(await times('editor', 'shop')).toMatch(/^auth;dur=.*cache;desc=hit$/);
    expect(await times('reader', 'shop')).toBe(null);
    expect(await times('reader', 'shop', asked)).toMatch(/^auth;dur=/);
    expect(await times('reader', 'shop', { 'x-server-timing': 'false' })).toBe(null);
    expect(await times(null, 'closed')).toMatch(/^auth;dur=/);
  });

  it('shows no caller the time of rows that are hidden from the caller', async () => {
    for (const user of ['rowless', 'partial']) expect(await times(user, 'shop', asked), user).toBe(null);
    expect(await times('limited', 'closed', asked)).toBe(null);
    for (const path of ['/svc/api/get_ontologies', '/svc/api/health', '/svc/api/q/closed/concept/city?_limit_=1', '/svc/api/q/shop/concept/nothing']) {
      const { headers } = await s.fetch(path, { headers: { 'x-api-key': users.limited as string, ...asked } });
      expect(headers.get('server-timing'), path).toBe(null);
    }
    const { headers } = await s.fetch('/svc/api/query', {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-api-key': 'wrong', ...asked },
      body: '{}',
    });
    expect(headers.get('server-timing')).toBe(null);
  });
});

describe('the clock while a statement runs', () => {
  const ASKS: readonly ((clock: string) => string)[] = [
    (clock) => `WITH a AS MATERIALIZED (SELECT ${clock} AS t), b AS (SELECT count(*) AS n FROM svc.city) SELECT b.n, ${clock} AS u, a.t FROM a, b`,
    (clock) => `SELECT name, (SELECT ${clock}) AS t FROM svc.city ORDER BY id LIMIT 1`,
    (clock) => `SELECT count(*) AS n FROM svc.city WHERE ${clock} IS NOT NULL`,
    (clock) => `SELECT id FROM svc.city UNION ALL SELECT length(${clock}::text) LIMIT 1`,
  ];
  const CLOCKS = ['clock_timestamp()', 'pg_catalog.timeofday()', '"clock_timestamp"()'];
  const asked = (user: string, ontology: string, sql: string) => s.query(sql, ontology, users[user] as string);

  it.each(ASKS.flatMap((ask) => CLOCKS.map((clock) => [ask(clock), clock] as const)))(
    'is not for a caller from whom rows are hidden: %s',
    async (sql, clock) => {
      for (const [user, ontology] of [
        ['limited', 'closed'],
        ['rowless', 'shop'],
        ['partial', 'shop'],
      ] as const) {
        const { status, json } = await asked(user, ontology, sql);
        expect([status, json.code], user).toEqual([400, 'forbidden_function']);
        expect(sql.slice(json.position - 1).startsWith(clock), `${json.position}`).toBe(true);
      }
      for (const user of ['reader', 'editor']) expect((await asked(user, 'shop', sql)).status, user).toBe(200);
    },
  );

  it('is not in a view of such a caller either, and now() is for all', async () => {
    expect(await s.fault('CREATE VIEW timed AS SELECT id, clock_timestamp() AS t FROM svc.city; SELECT t FROM vsvc.timed', 'closed', users.limited)).toBe(
      '400 forbidden_function',
    );
    await s.rows('CREATE VIEW timed AS SELECT id, clock_timestamp() AS t FROM svc.city', 'closed');
    const { status, json } = await asked('limited', 'closed', 'SELECT t FROM vsvc.timed');
    expect([status, json.code, json.position]).toEqual([400, 'forbidden_function', undefined]);
    expect(await s.rows('SELECT now() IS NOT NULL AS t FROM svc.city LIMIT 1', 'closed', users.limited)).toEqual([{ t: true }]);
    expect(await s.rows('SELECT clock_timestamp() IS NOT NULL AS t', 'closed', users.limited)).toEqual([{ t: true }]);
  });
});

describe('the clock in texts of a model', () => {
  const MS = 'extract(epoch FROM clock_timestamp() - now())::bigint';
  const ASKS = [
    'SELECT sum("measure.spread") AS t FROM dsvc.city',
    'SELECT sum("measure.doubled") AS t FROM dsvc.city',
    'SELECT sum("measure.soon") AS t FROM dsvc.city',
    'SELECT count(*) AS t FROM svc.slow',
    'SELECT count(*) AS t FROM svc.slower',
    'SELECT count(*) AS t FROM svc.city WHERE EXISTS (SELECT 1 FROM svc.slow)',
    'SELECT "_type_of_slow" AS t FROM dsvc.city LIMIT 1',
    'SELECT s.id AS t FROM svc.city c JOIN dsvc.slow s ON s.id = c.id LIMIT 1',
  ];
  let limited = '';
  let editor = '';

  beforeAll(async () => {
    for (const name of ['timed', 'open'])
      await s.rows(
        `CREATE ONTOLOGY ${name}; CREATE MEASURE spread bigint AS SELECT max(${MS}) - min(${MS}); CREATE MEASURE doubled bigint AS SELECT 2 * spread;
         CREATE MEASURE soon bigint AS SELECT count(id) WHERE ${MS} < 1; CREATE MEASURE plain bigint AS SELECT count(id) WHERE now() > '2020-01-01';
         CREATE CONCEPT city (id bigint, name string, spread MEASURE bigint, doubled MEASURE bigint, soon MEASURE bigint, plain MEASURE bigint, PRIMARY KEY (id));
         CREATE MAPPING m INTO (city) AS SELECT id, name FROM shop.t_city;
         CREATE CONCEPT slow INHERITS (city) FROM svc.city WHERE ${MS} >= 0; CREATE CONCEPT slower INHERITS (slow) FROM svc.slow WHERE id > 0;
         CREATE CONCEPT late INHERITS (city) FROM svc.city WHERE now() > '2020-01-01'`,
        name,
      );
    await s.rows("CREATE POLICY few ON CONCEPT city TO PUBLIC USING (id < 10 AND clock_timestamp() > '2020-01-01')", 'timed');
    limited = await s.user('limited_timed', 'EDIT ON ALL ontology.timed', 'QUERY ON datasource.main');
    editor = await s.user('editor_open', 'EDIT ON ALL ontology.open', 'QUERY ON datasource.main');
  });

  it.each(ASKS)('is not for a caller from whom rows are hidden: %s', async (sql) => {
    const { status, json } = await s.query(sql, 'timed', limited);
    // the call is not in the caller's text
    expect([status, json.code, json.position]).toEqual([400, 'forbidden_function', undefined]);
    expect(json.hint).toMatch(/a view, a measure or a logic concept/);
    expect((await s.query(sql, 'open', editor)).status).toBe(200);
  });

  it('may be read by policies, and the start of the statement by all texts', async () => {
    expect(await s.rows('SELECT count(*) AS n FROM svc.city', 'timed', limited)).toEqual([{ n: 9 }]);
    expect(await s.rows('SELECT count(*) AS n FROM svc.late', 'timed', limited)).toEqual([{ n: 9 }]);
    expect(await s.rows('SELECT sum("measure.plain") AS n FROM dsvc.city', 'timed', limited)).toEqual([{ n: 9 }]);
  });
});

describe('the line of a request', () => {
  const PARTS = ['auth_ms', 'plan_ms', 'wait_ms', 'database_ms', 'stream_ms'];

  it('has the time by part, the datasource, and what was sent', async () => {
    await times('reader', 'shop', { 'cache-control': 'no-cache' }, 'SELECT name FROM svc.city ORDER BY id LIMIT 2');
    const found = line(undefined);
    expect(found).toMatchObject({ level: 'info', user: 'reader', ontology: 'shop', datasource: 'main', cache: 'bypass', rows: 2, status: 200 });
    expect(Date.parse(found.time)).toBeGreaterThan(Date.now() - 600_000);
    expect(found.bytes).toBe('{"status":"success","data":[{"name":"city 1"},{"name":"city 2"}]}'.length);
    expect(PARTS.reduce((sum, part) => sum + (found[part] ?? 0), 0)).toBe(found.ms);
    expect(found.database_ms).toBeTypeOf('number');
  });

  it('comes after the last row of a large answer', async () => {
    const before = lines.length;
    const answer = await s.fetch('/svc/api/q/shop/concept/city?_select_=id,note', { headers: { 'x-api-key': users.reader as string } });
    await new Promise((resolve) => setTimeout(resolve, 50));
    expect(lines.slice(before).filter((l) => l.event === undefined)).toEqual([]);
    await answer.text();
    await expect.poll(() => lines.slice(before).find((l) => l.event === undefined)).toMatchObject({ rows: 4000, datasource: 'main' });
    const found = line(undefined);
    expect(found.bytes).toBeGreaterThan(4_000_000);
    expect(found.stream_ms).toBeGreaterThanOrEqual(45);
  });
});

describe('slow statements', () => {
  it('have a line of their own, without a value', async () => {
    lines.splice(0);
    await times('reader', 'shop', { 'cache-control': 'no-cache' }, "SELECT count(*) AS n FROM svc.city WHERE note LIKE '%Geheim%' OR name LIKE '%4711%'");
    await expect
      .poll(() => line('slow_query'))
      .toMatchObject({ level: 'warn', ontology: 'shop', datasource: 'main', rows: 1, digest: expect.stringMatching(/^[0-9a-f]{64}$/) });
    expect(line('slow_query').request_id).toBe(line(undefined).request_id);
    expect(line('slow_query').ms).toBeGreaterThanOrEqual(1);
    expect(shows(JSON.stringify(lines), ['Geheim', '4711'])).toEqual([]);
  });
});
