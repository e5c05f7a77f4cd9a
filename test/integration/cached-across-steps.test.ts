/** CACHE MAPPING ... USING by a job, in steps: a copy that takes longer than an alarm may goes on in the next one. The clock goes on with each part that is sent. */
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { DEVELOPER, READER } from '../../dev/roles.ts';
import type { LocalPostgres } from '../../dev/testing.ts';
import { forgetSnapshots } from '../../src/catalog/snapshot.ts';
import type { Runtime } from '../../src/service.ts';
import { borrowPostgres } from '../support/databases/index.ts';
import { MemoryJobs } from '../support/jobs-memory.ts';
import { startService, type TestService } from '../support/service.ts';
import { TestCaches } from './support/caches.ts';
import { killed } from './support/killed.ts';

const PART_MS = 10 * 60_000;
const STATEMENT = "CACHE MAPPING m_item USING other OPTIONS (schema = 'cached', max_age = '10 hours')";

let service: TestService;
let other: LocalPostgres;
let caches: TestCaches;
let runtime: Runtime;
let real: typeof fetch;
const clock = { ahead: 0 };
/** Called with each part that was sent. */
let onPart: (count: number) => Promise<unknown> = async () => undefined;
let parts = 0;
const jobs = new MemoryJobs(() => runtime);

beforeAll(async () => {
  other = await borrowPostgres();
  for (const sql of ['CREATE SCHEMA shop', 'CREATE SCHEMA cached', 'CREATE TABLE shop.t_sale (no integer)']) await other.exec(sql);
  service = await startService({
    tables: ['CREATE SCHEMA shop', 'CREATE TABLE shop.t_item (no integer, part integer, name text, edition integer)'],
    settings: { DATASOURCE_OTHER: other.secret(READER), DATASOURCE_OTHER_WRITER: other.secret(DEVELOPER) },
    parts: { now: () => Date.now() + clock.ahead, jobs },
  });
  ({ runtime } = await service.request(service.token));
  caches = new TestCaches(service, other);
  await service.rows("CREATE DATASOURCE other TYPE postgres SECRET 'DATASOURCE_OTHER'");
  await service.rows(
    `CREATE ONTOLOGY shop;
ALTER ONTOLOGY shop ADD DATASOURCE other;
CREATE CONCEPT item (no integer, part integer, name string, edition integer, PRIMARY KEY (no));
CREATE MAPPING m_item INTO item AS SELECT no, part, name, edition FROM shop.t_item;
CREATE CONCEPT pair (no integer, part integer, name string, PRIMARY KEY (no, part));
CREATE MAPPING m_pair INTO pair AS SELECT no, part, name FROM shop.t_item;
CREATE CONCEPT sale (no integer, PRIMARY KEY (no));
CREATE MAPPING m_sale INTO sale USING other AS SELECT no FROM shop.t_sale`,
    'shop',
  );
  real = globalThis.fetch;
  globalThis.fetch = async (input, init) => {
    const answer = await real(input, init);
    if (String(init?.body).includes('json_array_elements')) {
      clock.ahead += PART_MS;
      await onPart(++parts);
    }
    return answer;
  };
});
afterAll(async () => {
  globalThis.fetch = real;
  await service?.close();
  await other?.close();
});
beforeEach(async () => {
  onPart = async () => undefined;
  parts = 0;
  await service.database.exec('DELETE FROM shop.t_item');
  // keys of several rows, and rows without a key; in no order
  await service.database.exec(
    "INSERT INTO shop.t_item SELECT CASE WHEN g > 70 THEN NULL ELSE (g * 37 % 70) / 5 END, g, repeat('x', 40000) || g, g FROM generate_series(1, 90) g",
  );
});

/** Runs the job with a statement, alarm by alarm. @returns its row in SHOW JOBS, and how many alarms rang */
async function ran(statement: string): Promise<{ readonly job: Record<string, unknown>; readonly alarms: number }> {
  clock.ahead = 0;
  await service.rows('DROP JOB copy', 'shop').catch(() => undefined);
  await service.rows(`CREATE OR REPLACE JOB copy SCHEDULE '17 3 * * *' AS ${statement}`, 'shop');
  await service.database.superuser("UPDATE kg_catalog.jobs SET started = started - interval '1 hour', ended = ended - interval '1 hour'");
  await service.database.superuser("UPDATE kg_catalog.job_starts SET started = started - interval '1 hour'");
  await service.rows('RUN JOB copy', 'shop');
  let alarms = 0;
  for (; alarms < 30 && (await jobs.ring(Date.now() + clock.ahead)) > 0; alarms++) jobs.restart();
  clock.ahead = 0;
  return { job: (await service.rows('SHOW JOBS', 'shop'))[0], alarms };
}
const rowsOf = async (database: Pick<LocalPostgres, 'superuser'>, table: string, [no, part, name]: readonly string[]): Promise<unknown> =>
  database.superuser(`SELECT ${no} AS no, ${part} AS part, md5(${name}) AS name FROM ${table} ORDER BY 1, 2`);
const here = (): Promise<unknown> => rowsOf(service.database, 'shop.t_item', ['no', 'part', 'name']);
const there = async (): Promise<unknown> => rowsOf(other, String((await caches.shown('m_item'))?.table_name), ['c1', 'c2', 'c3']);

it('goes on by the key, with all rows of each key and those without one', async () => {
  const { job, alarms } = await ran(STATEMENT);
  expect(job).toMatchObject({ status: 'succeeded', message: expect.stringContaining('90 rows') });
  // one in any order, and then one for each part of about 1 MiB, and the last one for the indexes
  expect([parts > 4, alarms > parts]).toEqual([true, true]);
  expect(await there()).toEqual(await here());
  await caches.dropDue();
  expect(await caches.tables()).toHaveLength(1);
});

it('has no error while it goes on, and each of its steps counts among the refreshes of the datasource', async () => {
  const catalog = (sql: string): Promise<Record<string, unknown>[]> => service.database.superuser(sql);
  const seen: unknown[] = [];
  let faults = 0;
  onPart = async (count) => {
    seen.push((await caches.shown('m_item'))?.error);
    if (count !== 4) return;
    await catalog("UPDATE kg_catalog.cache_tables SET as_of = as_of - interval '20 minutes' WHERE rows IS NULL");
    await catalog(
      `INSERT INTO kg_catalog.cache_tables (ontology_id, mapping_key, datasource, secret, connection, digest, schema_name, table_name, drop_after)
       SELECT gen_random_uuid(), 'm', 'other', 'DATASOURCE_OTHER', '', '', 'cached', 'busy' || i, now() + interval '3 hours' FROM generate_series(1, 3) i`,
    );
    expect(await service.fault("CACHE MAPPING m_sale OPTIONS (schema = 'cached')", 'shop')).toBe('503 busy');
    await catalog("DELETE FROM kg_catalog.cache_tables WHERE table_name = 'busy1'");
    expect(await service.rows("CACHE MAPPING m_sale OPTIONS (schema = 'cached')", 'shop')).toHaveLength(1);
    await service.rows('UNCACHE MAPPING m_sale', 'shop');
    faults++;
  };
  try {
    const { job } = await ran(STATEMENT);
    expect([job.status, faults]).toEqual(['succeeded', 1]);
    expect(new Set(seen)).toEqual(new Set([null]));
  } finally {
    await catalog("DELETE FROM kg_catalog.cache_tables WHERE table_name LIKE 'busy%'");
  }
});

it('sees later changes of the keys that follow, and keeps the moment of its beginning', async () => {
  onPart = async (count) => {
    if (count !== 3) return;
    await service.database.exec("UPDATE shop.t_item SET name = 'new' WHERE no = 13");
    await service.database.exec('DELETE FROM shop.t_item WHERE no IS NULL AND part > 80');
  };
  const before = Date.now();
  await ran(STATEMENT);
  expect(await there()).toEqual(await here());
  const { as_of } = (await caches.shown('m_item')) ?? {};
  expect(Math.abs(Date.parse(as_of) - before)).toBeLessThan(60_000);
});

it('ends if the mapping changes between two steps, and leaves no table', async () => {
  await caches.dropDue();
  const { length } = await caches.tables();
  onPart = async (count) => {
    if (count === 3) await service.rows("CREATE OR REPLACE MAPPING m_item INTO item AS SELECT no, part, name || '' AS name, edition FROM shop.t_item", 'shop');
  };
  const { job } = await ran(STATEMENT);
  expect(job).toMatchObject({ status: 'failed', message: expect.stringContaining('changed during the copy') });
  await caches.dropDue();
  expect(await caches.tables()).toHaveLength(length);
  await service.rows('CREATE OR REPLACE MAPPING m_item INTO item AS SELECT no, part, name, edition FROM shop.t_item', 'shop');
});

it('ends if one key has more rows than a step sends, and leaves no table', async () => {
  await caches.dropDue();
  const { length } = await caches.tables();
  await service.database.exec("INSERT INTO shop.t_item SELECT 13, g, repeat('x', 40000) || g, g FROM generate_series(100, 180) g");
  const { job, alarms } = await ran(STATEMENT);
  expect(job).toMatchObject({ status: 'failed', message: expect.stringContaining('more rows than a step') });
  expect(alarms).toBeLessThan(30);
  await caches.dropDue();
  expect(await caches.tables()).toHaveLength(length);
});

it('makes no cache again that was removed between two steps', async () => {
  onPart = async (count) => {
    if (count === 3) await service.rows('UNCACHE MAPPING m_item', 'shop');
  };
  await ran(STATEMENT);
  expect(parts).toBeGreaterThan(3);
  expect(await caches.shown('m_item')).toBeUndefined();
  await caches.dropDue();
  expect(await caches.tables()).toEqual([]);
  onPart = async () => undefined;
  await ran(STATEMENT);
  expect(await there()).toEqual(await here());
});

it('leaves at most one table if it ends between two steps', async () => {
  await caches.dropDue();
  const { length } = await caches.tables();
  onPart = async (count) => {
    if (count === 3) await service.rows('ALTER JOB copy PAUSE', 'shop');
  };
  await ran(STATEMENT);
  expect((await caches.tables()).length).toBeLessThanOrEqual(length + 1);
  await caches.dropDue();
  expect(await caches.tables()).toHaveLength(length);
});

it('changes no answer if a request of a step fails, and leaves at most one table too many', async () => {
  await other.exec('INSERT INTO shop.t_sale VALUES (1), (13)');
  await ran(STATEMENT);
  await caches.dropDue();
  const sql = 'SELECT s.no, i.part FROM svc.sale s JOIN svc.item i ON i.no = s.no ORDER BY i.part';
  const wanted = await service.database.superuser('SELECT no, part FROM shop.t_item WHERE no IN (1, 13) ORDER BY part');
  const sent: number[] = [];
  for (const [n, isSent] of [
    [14, true],
    [25, false],
    [32, true],
    [41, true],
    [53, false],
  ] as const) {
    parts = 0;
    await killed(n, isSent, () => ran(STATEMENT)).catch(() => undefined);
    forgetSnapshots(0);
    clock.ahead = 0;
    sent.push(parts);
    expect(await service.rows(sql, 'shop'), `${n}`).toEqual(wanted);
    await caches.dropDue('AND rows IS NOT NULL');
    expect((await caches.tables()).length, `${n}`).toBeLessThanOrEqual(2);
    await caches.dropDue();
    expect(await caches.tables(), `${n}`).toHaveLength(1);
  }
  // they failed in different steps
  expect(new Set(sent).size, String(sent)).toBeGreaterThan(2);
});

it('is refused in time where it cannot go on', async () => {
  const { job } = await ran(STATEMENT.replace('m_item', 'm_pair'));
  expect(job).toMatchObject({ status: 'failed', message: expect.stringContaining('cannot go on in another step') });
  await service.database.exec('DELETE FROM shop.t_item WHERE part % 5 <> 0 OR no IS NULL');
  await service.database.exec("UPDATE shop.t_item SET no = part, name = name || repeat('y', 100000)");
  const increments = await ran(STATEMENT.replace("max_age = '10 hours'", "incremental = 'edition'"));
  expect(increments.job).toMatchObject({ status: 'failed', message: expect.stringContaining('cannot go on in another step') });
  clock.ahead = 0;
  const { status, json } = await service.query(STATEMENT, 'shop');
  clock.ahead = 0;
  expect([status, json.code, json.hint]).toEqual([504, 'statement_timeout', expect.stringContaining('Let a job run this statement')]);
});
