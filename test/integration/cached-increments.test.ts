/** CACHE MAPPING with increments: which rows they read, what they keep, and what is refused. */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { DEVELOPER } from '../../dev/roles.ts';
import { forgetSnapshots } from '../../src/catalog/snapshot.ts';
import { startService, type TestService } from '../support/service.ts';
import { TestCaches } from './support/caches.ts';

const of = (more = ''): string =>
  `CACHE MAPPING m_item OPTIONS (schema = 'cached', incremental = 'changed_at', overlap = '10 minutes', full_every = '3'${more})`;
const NEXT = 'CACHE MAPPING m_item';

let service: TestService;
let caches: TestCaches;
const exec = (sql: string): Promise<unknown> => service.database.exec(sql);
/** Sets the table's rows: number, name, and the minutes since its last change (null: none). */
async function rowsAre(...rows: readonly (readonly [number | null, string, number | null])[]): Promise<void> {
  await exec('DELETE FROM shop.t_item');
  for (const [no, name, minutes] of rows) await add(no, name, minutes);
}
const add = (no: number | null, name: string, minutes: number | null): Promise<unknown> =>
  exec(`INSERT INTO shop.t_item VALUES (${no}, '${name}', now() - make_interval(mins => ${minutes}), ${minutes === null ? null : 100_000 - minutes})`);
const change = (no: number, name: string, minutes: number | null): Promise<unknown> =>
  exec(`UPDATE shop.t_item SET name = '${name}', changed_at = now() - make_interval(mins => ${minutes}) WHERE no = ${no}`);
const names = async (concept = 'item'): Promise<string> =>
  (await service.rows(`SELECT name FROM svc.${concept} ORDER BY name`, 'shop')).map((r) => r.name).join('');
const increments = async (): Promise<unknown> =>
  (await service.database.superuser('SELECT t.increments FROM kg_catalog.mapping_caches c JOIN kg_catalog.cache_tables t ON t.id = c.current'))[0]?.increments;
const tablesLeft = async (): Promise<number> => (await caches.tables()).length;

beforeAll(async () => {
  service = await startService({
    tables: [
      'CREATE SCHEMA shop',
      'CREATE SCHEMA cached',
      'CREATE TABLE shop.t_item (no integer, name text, changed_at timestamptz, edition bigint)',
      'CREATE TABLE shop.t_tag (no integer, tag text)',
    ],
    settings: (database) => ({ DATASOURCE_MAIN_WRITER: database.secret(DEVELOPER) }),
  });
  caches = new TestCaches(service);
  await service.rows(
    `CREATE ONTOLOGY shop;
CREATE CONCEPT item (no integer, name string, changed_at timestamp, edition integer, PRIMARY KEY (no), CONSTRAINT tags MULTIVALUE string);
CREATE MAPPING m_item INTO item AS SELECT no, name, changed_at, edition FROM shop.t_item;
CREATE MAPPING m_tag INTO item MULTIVALUE tags AS SELECT no, tag AS tags FROM shop.t_tag;
CREATE CONCEPT note (name string, changed_at timestamp);
CREATE MAPPING m_note INTO note AS SELECT name, changed_at FROM shop.t_item`,
    'shop',
  );
});
afterAll(() => service.close());
beforeEach(async () => {
  await service.rows('UNCACHE MAPPING m_item', 'shop').catch(() => undefined);
  await rowsAre([1, 'a', 60], [2, 'b', 60], [3, 'c', 40], [4, 'd', null]);
});

describe('an increment', () => {
  it('reads new and changed rows, those without a time, and those within the overlap; a full refresh follows', async () => {
    await service.rows(of(), 'shop');
    await add(5, 'e', 1);
    await change(1, 'A', 1);
    // lower than the highest value, but within the overlap; and the same value
    await add(6, 'f', 45);
    await add(7, 'g', 40);
    await change(4, 'D', null);
    // what an increment does not see: a row that is changed before the overlap
    await change(2, 'x', 55);
    expect(await service.rows(NEXT, 'shop')).toMatchObject([{ rows: 7 }]);
    expect([await names(), await increments()]).toEqual(['ADbcefg', 1]);
    await exec('DELETE FROM shop.t_item WHERE no = 3');
    await service.rows(of(), 'shop');
    expect([await names(), await increments()]).toEqual(['ADbefg', 2]);
    await service.rows(NEXT, 'shop');
    expect([await names(), await increments()]).toEqual(['ADefgx', 0]);
  });

  it('reads rows of the future every time, and finds the others too', async () => {
    await add(9, 'z', -10_000);
    await exec("INSERT INTO shop.t_item VALUES (8, 'y', 'infinity')");
    await service.rows(of(), 'shop');
    await add(5, 'e', 1);
    await change(8, 'Y', -10_000);
    await service.rows(NEXT, 'shop');
    expect([await names(), await increments()]).toEqual(['Yabcdez', 1]);
  });

  it('reads all rows while no row has a time, and rows without a key every time', async () => {
    await rowsAre([1, 'a', null], [null, 'n', null]);
    await service.rows(of(), 'shop');
    await add(2, 'b', 9000);
    await add(null, 'm', 9000);
    await exec("DELETE FROM shop.t_item WHERE name = 'n'");
    await service.rows(NEXT, 'shop');
    const left = async (): Promise<unknown> =>
      (await service.database.superuser(`SELECT string_agg(c2, '' ORDER BY c2) AS s FROM cached."${await current()}"`))[0]?.s;
    expect([await left(), await increments()]).toEqual(['abm', 1]);
    // now there is a highest value
    await add(3, 'c', 9011);
    await add(null, 'k', 9011);
    await service.rows(NEXT, 'shop');
    expect([await left(), await increments()]).toEqual(['abkm', 2]);
  });

  it.each([
    ['integers', 'edition', "overlap = '5'"],
    ['timestamps without a time zone', 'local', "overlap = '5 minutes'"],
    ['dates', 'day', "overlap = '0'"],
  ])('finds changes by %s', async (_, column, overlap) => {
    await service.rows(
      `CREATE OR REPLACE CONCEPT kind (no integer, name string, edition integer, local timestamp, day date, PRIMARY KEY (no));
CREATE OR REPLACE MAPPING m_kind INTO kind AS SELECT no, name, edition, changed_at::timestamp AS local, changed_at::date AS day FROM shop.t_item`,
      'shop',
    );
    await rowsAre([1, 'a', 60], [2, 'b', 9000]);
    await service.rows(`CACHE MAPPING m_kind OPTIONS (schema = 'cached', incremental = '${column}', ${overlap})`, 'shop');
    await change(2, 'x', 9000);
    await add(3, 'c', 60);
    await add(4, 'd', 9000);
    await service.rows('CACHE MAPPING m_kind', 'shop');
    expect(await names('kind')).toBe('abc');
    await service.rows('DROP MAPPING m_kind; UNCACHE MAPPING m_kind', 'shop');
  });

  it('leaves out rows that are deleted, or under another key, or that a condition or a join of the mapping leaves out now', async () => {
    await service.rows(
      `CREATE CONCEPT sale (no integer, tag string, name string, changed_at timestamp, PRIMARY KEY (no, tag));
CREATE MAPPING m_sale INTO sale AS SELECT i.no, t.tag, i.name, i.changed_at FROM shop.t_item i JOIN shop.t_tag t ON t.no = i.no WHERE i.edition IS DISTINCT FROM 0`,
      'shop',
    );
    await add(5, 'e', 60);
    await exec("INSERT INTO shop.t_tag SELECT no, 'x' FROM shop.t_item");
    try {
      await service.rows("CACHE MAPPING m_sale OPTIONS (schema = 'cached', incremental = 'changed_at')", 'shop');
      expect(await names('sale')).toBe('abcde');
      // as a row that is marked as deleted, with its time of change
      await exec('UPDATE shop.t_item SET edition = 0, changed_at = now() WHERE no = 1');
      await exec('DELETE FROM shop.t_item WHERE no = 2');
      await exec('DELETE FROM shop.t_tag WHERE no = 3');
      await exec("UPDATE shop.t_tag SET tag = 'y' WHERE no = 4");
      await exec('UPDATE shop.t_item SET changed_at = now() WHERE no = 4');
      await service.rows('CACHE MAPPING m_sale', 'shop');
      expect([await names('sale'), await increments()]).toEqual(['de', 1]);
    } finally {
      await exec('DELETE FROM shop.t_tag');
      await service.rows('UNCACHE MAPPING m_sale; DROP MAPPING m_sale; DROP CONCEPT sale', 'shop');
    }
  });

  it('is not made of rows of another mapping, another column, or a table that is gone', async () => {
    await service.rows(of(), 'shop');
    await change(2, 'x', 9000);
    await service.rows(of(", indexes = 'none'"), 'shop');
    expect([await names(), await increments()]).toEqual(['abcd', 1]);
    await service.rows(of().replace('10 minutes', '11 minutes'), 'shop');
    expect([await names(), await increments()]).toEqual(['acdx', 0]);
    await change(2, 'b', 9000);
    await exec(`DROP TABLE cached."${await current()}"`);
    await service.rows(NEXT, 'shop');
    expect([await names(), await increments()]).toEqual(['abcd', 0]);
    await service.rows('CREATE OR REPLACE MAPPING m_item INTO item AS SELECT no, upper(name) AS name, changed_at, edition FROM shop.t_item', 'shop');
    await service.rows(NEXT, 'shop');
    expect([await names(), await increments()]).toEqual(['ABCD', 0]);
    await service.rows('CREATE OR REPLACE MAPPING m_item INTO item AS SELECT no, name, changed_at, edition FROM shop.t_item', 'shop');
  });

  it('has the types of the mapping, also after they changed in the database', async () => {
    await service.rows(of(), 'shop');
    await exec('ALTER TABLE shop.t_item ALTER no TYPE bigint');
    await add(5, 'e', 1);
    await service.rows(NEXT, 'shop');
    const types = await service.database.superuser(
      `SELECT format_type(atttypid, atttypmod) AS t FROM pg_attribute WHERE attrelid = 'cached."${await current()}"'::regclass AND attname = 'c1'`,
    );
    expect([types, await names(), await increments()]).toEqual([[{ t: 'bigint' }], 'abcde', 1]);
    await exec('ALTER TABLE shop.t_item ALTER no TYPE integer');
  });

  it('is not used if somebody has read all rows meanwhile', async () => {
    await service.rows(of(), 'shop');
    await change(2, 'x', 9000);
    const real = globalThis.fetch;
    let isDone = false;
    globalThis.fetch = async (input, init) => {
      if (!isDone && String(init?.body).includes('INSERT INTO kg_catalog.cache_tables')) {
        isDone = true;
        await service.rows("CACHE MAPPING m_item OPTIONS (schema = 'cached')", 'shop');
      }
      return real(input, init);
    };
    try {
      await service.rows(NEXT, 'shop');
    } finally {
      globalThis.fetch = real;
    }
    expect([isDone, await names(), await increments()]).toEqual([true, 'acdx', 0]);
    expect(await service.rows('SHOW CACHES', 'shop')).toMatchObject([{ incremental: null, state: 'used' }]);
  });

  it('is shown with the moment of the last refresh of all rows', async () => {
    const [{ as_of }] = await service.rows(of(), 'shop');
    await service.rows(NEXT, 'shop');
    const [cache] = await service.rows('SHOW CACHES', 'shop');
    expect(cache.incremental).toBe('changed_at');
    expect(Date.parse(cache.last_full) - Date.parse(as_of)).toBeLessThan(2);
    expect(Date.parse(cache.as_of)).toBeGreaterThan(Date.parse(cache.last_full));
  });

  it('that is killed at any step changes no answer, and leaves at most one table too many', async () => {
    await service.rows(of().replace("full_every = '3'", "full_every = '1000'"), 'shop');
    await caches.dropDue();
    expect(await tablesLeft()).toBe(1);
    const steps = await caches.killedAtEachStep(
      () => service.query(NEXT, 'shop'),
      async () => expect(await names()).toBe('abcd'),
    );
    expect(steps).toBeGreaterThan(8);
    forgetSnapshots();
    expect(Number(await increments())).toBeGreaterThan(2);
  });
});

describe('options', () => {
  it('are refused where an increment is not possible', async () => {
    const faults = {
      [of().replace('changed_at', 'changed')]: '400 bad_value',
      [of().replace('changed_at', 'name')]: '400 bad_value',
      [of().replace('10 minutes', 'soon')]: '400 bad_value',
      [of().replace('10 minutes', '31 days')]: '400 bad_value',
      [of().replace('changed_at', 'edition')]: '400 bad_value',
      [of().replace("full_every = '3'", "full_every = '0'")]: '400 bad_value',
      "CACHE MAPPING m_item OPTIONS (schema = 'cached', overlap = '1 hour')": '400 bad_value',
      "CACHE MAPPING m_item OPTIONS (schema = 'cached', full_every = '2')": '400 bad_value',
      "CACHE MAPPING m_note OPTIONS (schema = 'cached', incremental = 'changed_at')": '400 not_supported',
      "CACHE MAPPING m_tag OPTIONS (schema = 'cached', incremental = 'no')": '400 not_supported',
    };
    for (const [sql, fault] of Object.entries(faults)) expect(await service.fault(sql, 'shop'), sql).toBe(fault);
  });

  it('are refused with rows of the same key, also later, and the last rows stay', async () => {
    await add(1, 'again', 60);
    const { status, json } = await service.query(of(), 'shop');
    expect([status, JSON.stringify(json)]).toEqual([400, expect.stringContaining('several rows with the same key')]);
    await exec("DELETE FROM shop.t_item WHERE name = 'again'");
    await service.rows(NEXT, 'shop');
    const before = await tablesLeft();
    await add(1, 'again', 1);
    await add(1, 'more', 1);
    expect(await service.fault(NEXT, 'shop')).toBe('400 not_supported');
    expect([await names(), await tablesLeft()]).toEqual(['abcd', before]);
  });

  it('need the right to make policies, if there are any: increments keep values that are gone', async () => {
    const editor = await service.user('eva', 'EDIT ON ALL ontology.shop', 'EDIT ON datasource.main');
    await service.rows("CREATE POLICY some ON CONCEPT item TO PUBLIC USING (name <> 'q')", 'shop');
    try {
      await service.rows("CACHE MAPPING m_item OPTIONS (schema = 'cached')", 'shop');
      expect(await service.fault(of(), 'shop', editor)).toBe('403 forbidden');
      await service.rows(of(), 'shop');
      expect(await service.rows(NEXT, 'shop', editor)).toHaveLength(1);
      expect(await service.rows(of(), 'shop', editor)).toHaveLength(1);
      expect(await service.fault(of().replace("full_every = '3'", "full_every = '4'"), 'shop', editor)).toBe('403 forbidden');
      expect(await service.rows("CACHE MAPPING m_item OPTIONS (schema = 'cached')", 'shop', editor)).toHaveLength(1);
    } finally {
      await service.rows('DROP POLICY some', 'shop');
    }
  });
});

async function current(): Promise<string> {
  const [row] = await service.database.superuser('SELECT t.table_name FROM kg_catalog.mapping_caches c JOIN kg_catalog.cache_tables t ON t.id = c.current');
  return String(row?.table_name);
}
