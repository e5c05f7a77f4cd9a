/** Cached mappings of several callers at once: options that change while another caller reads the rows: the order of the statements is that of the requests to the catalog; and how many are read. */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { DEVELOPER } from '../../dev/roles.ts';
import { beginTable } from '../../src/catalog/caches.ts';
import type { CatalogDb } from '../../src/catalog/db.ts';
import { startService, type TestService } from '../support/service.ts';

const of = (age: string): string => `CACHE MAPPING m_person OPTIONS (schema = 'cached', max_age = '${age}')`;
/** Requests of CACHE MAPPING to the catalog: the commit of the script, and the beginning of the refresh. */
const COMMIT = /INTO kg_catalog\.mapping_caches|kg_catalog\.mapping_caches SET mapping/;
const BEGIN = /INSERT INTO kg_catalog\.cache_tables/;

let service: TestService;
let editor: string;
let maker: string;

/** Runs a statement, and another one before its first request of a kind. */
async function interrupted(at: RegExp, work: () => Promise<unknown>, between: () => Promise<unknown>): Promise<void> {
  const real = globalThis.fetch;
  let isDone = false;
  globalThis.fetch = async (input, init) => {
    if (!isDone && at.test(String(init?.body))) {
      isDone = true;
      await between();
    }
    return real(input, init);
  };
  try {
    await work();
  } finally {
    globalThis.fetch = real;
  }
  expect(isDone).toBe(true);
}
const ages = async (): Promise<unknown[]> => (await service.rows('SHOW CACHES', 'shop')).map((c) => c.max_age_seconds);

beforeAll(async () => {
  service = await startService({
    tables: ['CREATE SCHEMA shop', 'CREATE SCHEMA cached', 'CREATE TABLE shop.t_person (no integer PRIMARY KEY)', 'INSERT INTO shop.t_person VALUES (1)'],
    settings: (database) => ({ DATASOURCE_MAIN_WRITER: database.secret(DEVELOPER) }),
  });
  await service.rows(
    `CREATE ONTOLOGY shop; CREATE CONCEPT person (no integer, PRIMARY KEY (no));
CREATE MAPPING m_person INTO person AS SELECT no FROM shop.t_person; CREATE POLICY one ON CONCEPT person TO PUBLIC USING (no = 1)`,
    'shop',
  );
  editor = await service.user('eva', 'EDIT ON ALL ontology.shop', 'EDIT ON datasource.main');
  maker = await service.user('max', 'EDIT ON datasource.main');
  await service.rows('GRANT EDIT ON ALL ontology.shop TO USER max WITH GRANT OPTION');
});
afterAll(() => service.close());
beforeEach(() => service.rows(of('30 days'), 'shop', maker));

describe.each([
  ['the commit', COMMIT],
  ['the refresh', BEGIN],
])('a shorter max_age of a maker of policies before %s of an editor', (_, at) => {
  it.each([['CACHE MAPPING m_person'], [of('2 days')]])('stays: %s', async (sql) => {
    let answer: unknown[] = [];
    const work = async (): Promise<unknown> => (answer = await service.rows(sql, 'shop', editor));
    await interrupted(at, work, () => service.rows(of('60 s'), 'shop', maker));
    expect(await ages()).toEqual([60]);
    expect(answer).toMatchObject([{ rows: 1, max_age: 60 }]);
  });

  it('does not prevent one that is shorter still', async () => {
    await interrupted(
      at,
      () => service.rows(of('5 s'), 'shop', editor),
      () => service.rows(of('60 s'), 'shop', maker),
    );
    expect(await ages()).toEqual([5]);
  });

  it('is kept by a refresh of the maker, and replaced by a longer one of theirs', async () => {
    const shorten = (): Promise<unknown> => service.rows(of('60 s'), 'shop', maker);
    await interrupted(at, () => service.rows('CACHE MAPPING m_person', 'shop', maker), shorten);
    expect(await ages()).toEqual([60]);
    await interrupted(at, () => service.rows(of('2 days'), 'shop', maker), shorten);
    expect(await ages()).toEqual([172_800]);
  });
});

it('a cache that was removed meanwhile is not made again', async () => {
  await interrupted(
    COMMIT,
    () => service.rows('CACHE MAPPING m_person', 'shop', editor),
    () => service.rows('UNCACHE MAPPING m_person', 'shop', maker),
  );
  expect(await ages()).toEqual([]);
});

it('a longer max_age is refused at the end too, if a policy was made meanwhile', async () => {
  await service.rows('DROP POLICY one', 'shop');
  await service.rows(of('60 s'), 'shop', editor);
  await interrupted(
    BEGIN,
    () => service.rows(of('2 days'), 'shop', editor),
    () => service.rows('CREATE POLICY one ON CONCEPT person TO PUBLIC USING (no = 1)', 'shop'),
  );
  expect(await ages()).toEqual([60]);
});

it('the table of a refresh is named with its own schema, also if the options have another one now', async () => {
  await service.database.exec('CREATE SCHEMA other');
  await interrupted(
    BEGIN,
    () => service.rows('CACHE MAPPING m_person', 'shop', editor),
    () => service.rows("CACHE MAPPING m_person OPTIONS (schema = 'other', max_age = '60 s')", 'shop', maker),
  );
  const [cache] = await service.rows('SHOW CACHES', 'shop');
  expect([cache.table_name.split('.')[0], cache.state]).toEqual(['cached', 'used']);
});

describe('the number of refreshes at once', () => {
  const left = (): Promise<Record<string, unknown>[]> =>
    service.database.superuser(
      "SELECT rows::int AS rows, drop_after > now() + interval '2 hours' AS later FROM kg_catalog.cache_tables WHERE rows IS NULL OR rows < 0",
    );

  it('does not count those that failed without an answer of the database, whose tables are dropped later', async () => {
    const real = globalThis.fetch;
    globalThis.fetch = async (input, init) => {
      if (String(init?.body).includes('CREATE TABLE')) throw new TypeError('lost');
      return real(input, init);
    };
    try {
      for (let i = 0; i < 5; i++) expect(await service.fault('CACHE MAPPING m_person', 'shop', editor)).toBe('502 datasource_failed');
    } finally {
      globalThis.fetch = real;
    }
    expect(await service.rows('CACHE MAPPING m_person', 'shop', editor)).toHaveLength(1);
    expect(await left()).toEqual(Array.from({ length: 5 }, () => ({ rows: -1, later: true })));
    await service.database.superuser('UPDATE kg_catalog.cache_tables SET drop_after = now() WHERE rows = -1');
    await service.rows('CACHE MAPPING m_person', 'shop', editor);
    expect(await left()).toEqual([]);
  });

  it('is counted after a lock in the same transaction, which refreshes of another datasource do not wait for', async () => {
    const { runtime } = await service.request(service.token);
    const batches: (readonly string[])[] = [];
    const db: CatalogDb = {
      query: (sql, params) => {
        batches.push([sql]);
        return runtime.db.query(sql, params);
      },
      batch: (calls) => {
        batches.push(calls.map((c) => `${c.sql} ${c.params[0]}`));
        return runtime.db.batch(calls);
      },
    };
    const table = { ontologyId: crypto.randomUUID(), mappingKey: 'm', datasource: 'main', secret: 'S', connection: '', digest: '', schema: 'cached' };
    const limit = { most: 4, seconds: 600 };
    const begun = await Promise.all(Array.from({ length: 12 }, (_, i) => beginTable(db, { ...table, table: `t${i}` }, limit)));
    expect(begun.filter((id) => id !== undefined)).toHaveLength(4);
    expect(await beginTable(db, { ...table, table: 'other', secret: 'O' }, limit)).toBeDefined();
    for (const batch of batches) expect(batch).toEqual([expect.stringMatching(/advisory_xact_lock.* [SO]$/), expect.stringMatching(BEGIN)]);
    await service.database.superuser("DELETE FROM kg_catalog.cache_tables WHERE mapping_key = 'm'");
  });
});
