/** The result cache through the routes: hits, requests that bypass it, and the check of rights before it is read. */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { cacheOf } from '../../src/cache.ts';
import { keyValues } from '../../src/catalog/kv.ts';
import { memoryNamespace } from '../support/memory-namespace.ts';
import { startService, type TestService } from '../support/service.ts';

const MODEL = `CREATE ONTOLOGY shop;
CREATE CONCEPT item (no bigint, name string, PRIMARY KEY (no), LABEL (name));
CREATE MAPPING map_item INTO item AS SELECT no, name FROM shop.t_item;
CREATE CONCEPT seen (no bigint, at timestamp, PRIMARY KEY (no));
CREATE MAPPING map_seen INTO seen AS SELECT no, now()::timestamp AS at FROM shop.t_item;
CREATE CONCEPT part (code string, no bigint, PRIMARY KEY (code), CONSTRAINT part_of FOREIGN KEY (no) REFERENCES item (no) INVERSEOF has_part);
CREATE MAPPING map_part INTO part AS SELECT code, no FROM shop.t_part;
CREATE VIEW all_items AS SELECT no, name FROM svc.item`;

let service: TestService;
const namespace = memoryNamespace();
const clock = { ahead: 0 };
const tokens: Record<string, string> = {};

interface Got {
  readonly status: number;
  readonly cache: string | null;
  readonly text: string;
}
async function got(path: string, { token = service.token, body = undefined as string | undefined, headers = {} as Record<string, string> } = {}): Promise<Got> {
  const type = path.startsWith('/svc/openapi') ? 'text/plain' : 'application/json';
  const answer = await service.fetch(path, {
    headers: { 'x-api-key': token, ...(body === undefined ? {} : { 'content-type': type }), ...headers },
    ...(body === undefined ? {} : { method: 'POST', body }),
  });
  return { status: answer.status, cache: answer.headers.get('x-cache'), text: await answer.text() };
}
const query = (sql: string, { ontology = 'shop', ...options }: { ontology?: string; token?: string; headers?: Record<string, string> } = {}): Promise<Got> =>
  got('/svc/api/query/', { ...options, body: JSON.stringify({ ontology_name: ontology, query: sql }) });
const states = async (...asking: (() => Promise<Got>)[]): Promise<(string | null)[]> => {
  const found: (string | null)[] = [];
  for (const ask of asking) {
    const { status, cache, text } = await ask();
    expect(status, text).toBe(200);
    found.push(cache);
  }
  return found;
};
const rename = (name: string): Promise<unknown> => service.database.exec('UPDATE shop.t_item SET name = $1 WHERE no = 1', [name]);
const coldIsolate = (): void => cacheOf('result').clear();

beforeAll(async () => {
  service = await startService({
    settings: { RESULT_CACHE_TTL: '300' },
    parts: { kv: keyValues(namespace, { scope: 'test', secret: 'secret' }), now: () => Date.now() + clock.ahead },
  });
  for (const statement of [
    'CREATE SCHEMA shop',
    'CREATE TABLE shop.t_item (no bigint PRIMARY KEY, name text)',
    "INSERT INTO shop.t_item VALUES (1, 'Ball'), (2, 'Bat')",
    'CREATE TABLE shop.t_part (code text PRIMARY KEY, no bigint)',
    "INSERT INTO shop.t_part VALUES ('a', 1), ('b', 1)",
  ])
    await service.database.exec(statement);
  await service.rows(MODEL, 'shop');
  for (const user of ['ann', 'nobody']) tokens[user] = String((await service.rows(`CREATE USER ${user}; CREATE TOKEN FOR ${user}`))[0]?.token);
  await service.rows('GRANT QUERY ON ALL ontology.shop TO USER ann');
});
afterAll(() => service.close());
beforeEach(async () => {
  clock.ahead = 0;
  await service.get('clear_cache/shop');
});

const ITEMS = 'SELECT no, name FROM svc.item ORDER BY no';

describe('an answer', () => {
  it('is a miss, then a hit with the same bytes, in this isolate and in another one', async () => {
    const first = await query(ITEMS);
    await rename('Other');
    const hit = await query(ITEMS);
    coldIsolate();
    const elsewhere = await query(ITEMS);
    await rename('Ball');
    expect([first.cache, hit.cache, elsewhere.cache]).toEqual(['miss', 'hit', 'hit']);
    expect(first.text).toBe('{"status":"success","data":[{"no":1,"name":"Ball"},{"no":2,"name":"Bat"}]}');
    expect([hit.text, elsewhere.text]).toEqual([first.text, first.text]);
  });

  it('is cached for every route and format', async () => {
    const asking: Record<string, () => Promise<Got>> = {
      concept: () => got('/svc/api/q/shop/concept/item?_order_=no'),
      filtered: () => got('/svc/api/q/shop/concept/item?_subj_=name&_op_=eq&_comp_=Bat'),
      view: () => got('/svc/api/q/shop/view/all_items?_order_=no'),
      openapi: () => got('/svc/openapi/ontology/shop/query', { body: `${ITEMS}, 2` }),
      csv: () => query(ITEMS, { headers: { accept: 'text/csv' } }),
      ndjson: () => query(ITEMS, { headers: { accept: 'application/x-ndjson' } }),
      limited: () => query(ITEMS, { headers: { 'results-limit': '1' } }),
      nested: () => query('SELECT entity_id, "has_part[part].code" FROM dsvc.item', { headers: { nested: 'true' } }),
    };
    for (const [name, ask] of Object.entries(asking)) {
      const [first, second] = [await ask(), await ask()];
      expect([name, first.status, first.cache, second.cache]).toEqual([name, 200, 'miss', 'hit']);
      expect(second.text, name).toBe(first.text);
      coldIsolate();
      expect((await ask()).text, name).toBe(first.text);
    }
  });

  it('of two statements that differ only in the names of nested columns has two entries', async () => {
    const ask = (alias: string) =>
      query(`SELECT entity_id, name AS ${alias}, "has_part[part].code" FROM dsvc.item WHERE no = 2`, { headers: { nested: 'true' } });
    const [a, b] = [await ask('alpha'), await ask('beta')];
    expect([a.cache, b.cache]).toEqual(['miss', 'miss']);
    expect(JSON.parse(a.text).data).toEqual([{ entity_id: 'item:2', alpha: 'Bat', 'has_part[part]': [] }]);
    expect(JSON.parse(b.text).data).toEqual([{ entity_id: 'item:2', beta: 'Bat', 'has_part[part]': [] }]);
  });

  it('of a caller without the right is the refusal, also while an answer is cached', async () => {
    await query(ITEMS);
    expect((await query(ITEMS)).cache).toBe('hit');
    const refused = await query(ITEMS, { token: tokens.nobody as string });
    expect([refused.status, refused.cache, refused.text.includes('Ball')]).toEqual([404, null, false]);
    expect((await query(ITEMS, { token: tokens.ann as string })).cache).toBe('hit');
  });

  it('is gone when it is too old, though KV still has it', async () => {
    await query(ITEMS);
    coldIsolate();
    clock.ahead = 299_000;
    expect((await query(ITEMS)).cache).toBe('hit');
    coldIsolate();
    clock.ahead = 600_000;
    expect(namespace.entries.size).toBeGreaterThan(0);
    expect((await query(ITEMS)).cache).toBe('miss');
  });

  it('is unreachable after clear_cache, and after another version', async () => {
    expect(
      await states(
        () => query(ITEMS),
        () => query(ITEMS),
      ),
    ).toEqual(['miss', 'hit']);
    expect((await service.get('clear_cache/shop')).json).toEqual({ status: 'success' });
    expect(
      await states(
        () => query(ITEMS),
        () => query(ITEMS),
      ),
    ).toEqual(['miss', 'hit']);
    await service.rows("ALTER CONCEPT item UPDATE TAG t = '1'", 'shop');
    expect(
      await states(
        () => query(ITEMS),
        () => query(ITEMS),
      ),
    ).toEqual(['miss', 'hit']);
  });

  it('of another ontology is not affected', async () => {
    await service.rows('CREATE ONTOLOGY other', 'other');
    const ask = () => query('SELECT 1 AS one', { ontology: 'other' });
    expect(await states(ask, ask)).toEqual(['miss', 'hit']);
    await service.get('clear_cache/shop');
    expect(await states(ask)).toEqual(['hit']);
  });
});

describe('the cache is bypassed by', () => {
  it.each([
    ['a random value', 'SELECT random() AS r'],
    ['the clock', 'SELECT now() AS t'],
    ['the clock by a word', "SELECT DATE 'today' AS t"],
    ['the clock of a mapping', 'SELECT no, at FROM svc.seen'],
    ['a system table', 'SELECT * FROM SYS_CONCEPTS'],
    ['SHOW', 'SHOW CONCEPTS'],
    ['EXPLAIN', `EXPLAIN ${ITEMS}`],
    ['a script', 'SELECT 1 AS a; SELECT 2 AS b'],
  ])('%s', async (_, sql) =>
    expect(
      await states(
        () => query(sql),
        () => query(sql),
      ),
    ).toEqual(['bypass', 'bypass']),
  );

  it('a statement about no ontology, which could not be cleared', async () =>
    expect(
      await states(
        () => query('SELECT 1 AS a', { ontology: '' }),
        () => query('SELECT 1 AS a', { ontology: 'system_db' }),
      ),
    ).toEqual(['bypass', 'bypass']));

  it('a request with the header, and its answer is not stored', async () => {
    await rename('Fresh');
    for (const value of ['no-cache', 'No-Cache, max-age=0', 'no-store']) {
      const past = await query(ITEMS, { headers: { 'cache-control': value } });
      expect([past.cache, past.text.includes('Fresh')]).toEqual(['bypass', true]);
    }
    expect(await states(() => query(ITEMS, { headers: { 'cache-control': 'max-age=0' } }))).toEqual(['miss']);
    await rename('Ball');
  });

  it('an answer of more than a mebibyte, which is complete', async () => {
    const ask = () => query("SELECT n, repeat('x', 1000) AS pad FROM generate_series(1, 1100) AS g(n)");
    expect(await states(ask, ask)).toEqual(['miss', 'miss']);
    expect(JSON.parse((await ask()).text).data.length).toBe(1100);
  });
});

it('an error', async () => {
  const ask = () => query('SELECT 1 / (no - no) AS x FROM svc.item');
  for (let i = 0; i < 2; i++) expect([(await ask()).status, (await ask()).cache]).toEqual([400, null]);
});
