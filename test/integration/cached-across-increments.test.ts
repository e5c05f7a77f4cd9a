/** CACHE MAPPING ... USING with increments: which rows are sent to the other database, and which rows it has then. */
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { DEVELOPER, READER } from '../../dev/roles.ts';
import type { LocalPostgres } from '../../dev/testing.ts';
import { forgetSnapshots } from '../../src/catalog/snapshot.ts';
import { borrowPostgres } from '../support/databases/index.ts';
import { SEED } from '../support/generated.ts';
import { startService, type TestService } from '../support/service.ts';
import { sizesOf } from '../support/sizes.ts';
import { TestCaches } from './support/caches.ts';
import { sentWith } from './support/sent.ts';

const SIZES = sizesOf('integration/cached-across-increments');
const COLUMNS = ['no', 'part', 'name', 'changed_at', 'edition', 'day', 'local', 'price'];
const of = (column = 'changed_at', overlap = '10 minutes'): string =>
  `CACHE MAPPING m_item USING other OPTIONS (schema = 'cached', incremental = '${column}', overlap = '${overlap}', full_every = '1000')`;
const NEXT = 'CACHE MAPPING m_item USING other';

let service: TestService;
let other: LocalPostgres;
let caches: TestCaches;
const exec = (sql: string): Promise<unknown> => service.database.exec(sql);

beforeAll(async () => {
  other = await borrowPostgres();
  for (const sql of ['CREATE SCHEMA shop', 'CREATE SCHEMA cached', 'CREATE TABLE shop.t_sale (no integer)']) await other.exec(sql);
  service = await startService({
    tables: [
      'CREATE SCHEMA shop',
      'CREATE TABLE shop.t_item (no numeric, part char(3), name text, changed_at timestamptz, edition bigint, day date, local timestamp, price numeric)',
    ],
    settings: { DATASOURCE_OTHER: other.secret(READER), DATASOURCE_OTHER_WRITER: other.secret(DEVELOPER) },
  });
  caches = new TestCaches(service, other);
  await service.rows("CREATE DATASOURCE other TYPE postgres SECRET 'DATASOURCE_OTHER'");
  await service.rows(
    `CREATE ONTOLOGY shop;
ALTER ONTOLOGY shop ADD DATASOURCE other;
CREATE CONCEPT item (no decimal, part string, name string, changed_at timestamp, edition bigint, day date, local timestamp, price decimal, PRIMARY KEY (no, part));
CREATE MAPPING m_item INTO item AS SELECT ${COLUMNS.join(', ')} FROM shop.t_item WHERE edition <> 0;
CREATE CONCEPT sale (no decimal, PRIMARY KEY (no));
CREATE MAPPING m_sale INTO sale USING other AS SELECT no FROM shop.t_sale`,
    'shop',
  );
});
afterAll(async () => {
  await service?.close();
  await other?.close();
});
beforeEach(async () => {
  await service.rows('UNCACHE MAPPING m_item', 'shop').catch(() => undefined);
  await exec('DELETE FROM shop.t_item');
  await add(1, 8, 60);
  await add(9, 9, 30);
});

/** Adds rows from one number to another, which were changed so many minutes ago. */
const add = (first: number, last: number, minutes: number): Promise<unknown> =>
  exec(`INSERT INTO shop.t_item SELECT g, 'p' || g % 3, 'name' || g, now() - make_interval(mins => ${minutes}), 100000 - ${minutes}, (now() - make_interval(mins => ${minutes}))::date,
    now() - make_interval(mins => ${minutes}), g * 1.10 FROM generate_series(${first}, ${last}) g`);
const change = (where: string, minutes: number, name = 'changed'): Promise<unknown> =>
  exec(`UPDATE shop.t_item SET name = '${name}', changed_at = now() - make_interval(mins => ${minutes}), edition = 100000 - ${minutes},
    day = (now() - make_interval(mins => ${minutes}))::date, local = now() - make_interval(mins => ${minutes}) WHERE ${where}`);
async function current(): Promise<{ readonly table: string; readonly increments: number }> {
  const [row] = await service.database.superuser(
    'SELECT t.table_name, t.increments FROM kg_catalog.mapping_caches c JOIN kg_catalog.cache_tables t ON t.id = c.current',
  );
  return { table: `cached."${row?.table_name}"`, increments: Number(row?.increments) };
}
/** The rows of the table, each as one text. */
async function there(): Promise<unknown[]> {
  const columns = COLUMNS.map((_, i) => (i === 1 ? `'[' || c2 || ']'` : `c${i + 1}::text`)).join(', ');
  return (await other.superuser(`SELECT concat_ws('|', ${columns}) AS r FROM ${(await current()).table} ORDER BY 1`)).map((r) => r.r);
}
const here = async (where = 'edition <> 0'): Promise<unknown[]> =>
  (
    await service.database.superuser(
      `SELECT concat_ws('|', ${COLUMNS.map((c) => (c === 'part' ? `'[' || part || ']'` : `${c}::text`)).join(', ')}) AS r FROM shop.t_item WHERE ${where} ORDER BY 1`,
    )
  ).map((r) => r.r);
/** Refreshes. @returns the parts that were sent to the other database */
const refreshed = (sql = NEXT): Promise<string[]> => sentWith('json_array_elements', () => service.rows(sql, 'shop'));

it('sends changed rows and the keys of the others, and leaves out rows that are gone', async () => {
  await refreshed(of());
  expect(await there()).toEqual(await here());
  await add(10, 11, 1);
  await change('no = 3', 1);
  // before the overlap: it is not seen
  await change('no = 4', 80, 'unseen');
  await exec('DELETE FROM shop.t_item WHERE no = 5');
  await exec('UPDATE shop.t_item SET edition = 0 WHERE no = 6');
  await exec("UPDATE shop.t_item SET part = 'q', changed_at = now() WHERE no = 7");
  await exec('UPDATE shop.t_item SET changed_at = NULL WHERE no = 8');
  const sent = (await refreshed()).join('');
  expect(sent).not.toMatch(/name[12456]\b|unseen/);
  for (const name of ['name10', 'name11', 'changed', 'name7', 'name8', 'name9']) expect(sent, name).toContain(name);
  const wanted = (await here('edition <> 0 AND no <> 4')) as string[];
  expect((await there()).filter((r) => !String(r).startsWith('4|'))).toEqual(wanted);
  expect((await there()).filter((r) => String(r).startsWith('4|'))).toEqual([expect.stringContaining('|name4|')]);
  expect((await current()).increments).toBe(1);
  // no key, and a time of the future: sent every time
  await exec("INSERT INTO shop.t_item VALUES (NULL, 'x', 'none', now() - interval '1 day', 1), (20, 'x', 'later', 'infinity', 1)");
  await change('no = 4', 0, 'seen');
  await refreshed(of());
  await exec("UPDATE shop.t_item SET name = name || '!' WHERE name IN ('none', 'later')");
  await refreshed();
  expect(await there()).toEqual(await here());
  expect((await current()).increments).toBe(3);
});

it.each([
  ['edition', '5'],
  ['day', '0'],
  ['local', '5 minutes'],
])('finds changes by the column %s', async (column, overlap) => {
  await change('no < 9', 9000, 'old');
  await refreshed(of(column, overlap));
  await change('no = 1', 9001, 'unseen');
  await change('no = 2', 20);
  await add(30, 30, 20);
  await refreshed();
  expect((await there()).filter((r) => !String(r).startsWith('1|'))).toEqual(await here('no <> 1'));
  expect([(await there()).filter((r) => String(r).includes('unseen')), (await current()).increments]).toEqual([[], 1]);
});

it('reads all rows if the older table is gone or has other options, and refuses rows of one key', async () => {
  await refreshed(of());
  await change('no = 2', 9000);
  await other.exec(`DROP TABLE ${(await current()).table}`);
  await refreshed();
  expect([await there(), (await current()).increments]).toEqual([await here(), 0]);
  await change('no = 3', 9000);
  await refreshed(of('changed_at', '11 minutes'));
  expect([await there(), (await current()).increments]).toEqual([await here(), 0]);
  await exec('INSERT INTO shop.t_item SELECT * FROM shop.t_item WHERE no = 4');
  const before = (await current()).table;
  expect(await service.fault(NEXT, 'shop')).toBe('400 not_supported');
  expect((await current()).table).toBe(before);
  await caches.dropDue();
  expect(await caches.tables()).toHaveLength(1);
});

it('changes no answer when it is killed at any step, and leaves at most one table too many', async () => {
  await refreshed(of());
  await caches.dropDue();
  await other.exec('INSERT INTO shop.t_sale SELECT generate_series(1, 9)');
  const sql = 'SELECT s.no, i.name FROM svc.sale s JOIN svc.item i ON i.no = s.no ORDER BY s.no';
  const wanted = (await service.database.superuser('SELECT no::int AS no, name FROM shop.t_item ORDER BY no')).map((r) => ({ ...r }));
  let answered = 0;
  await caches.killedAtEachStep(
    () => service.query(NEXT, 'shop'),
    async () => {
      const { status, json } = await service.query(sql, 'shop');
      // a snapshot in KV may name a table that this test has dropped before its time
      if (status !== 200) return expect(json.code).toBe('several_datasources');
      expect(json.data).toEqual(wanted);
      answered++;
    },
  );
  forgetSnapshots();
  expect([answered > 0, (await current()).increments > 0, await there()]).toEqual([true, true, await here()]);
});

it('has the rows of the mapping after any changes', async () => {
  let state = SEED;
  const below = (n: number): number => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return Math.floor((state / 2 ** 32) * n);
  };
  await refreshed(of());
  for (let n = 1; n <= SIZES.refreshes; n++) {
    for (let c = below(5); c > 0; c--) {
      const no = below(12);
      if (below(3) === 0) await exec(`DELETE FROM shop.t_item WHERE no = ${no}`);
      else if (below(2) === 0) await change(`no = ${no}`, 0, `v${n}`);
      else await exec(`DELETE FROM shop.t_item WHERE no = ${no}`).then(() => add(no, no, below(9)));
    }
    await refreshed();
    expect(await there(), `SEED=${SEED} refresh ${n}`).toEqual(await here());
    expect((await current()).increments).toBe(n);
  }
});
