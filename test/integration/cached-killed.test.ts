/**
 * Refreshes by jobs that are killed at a request: to one of the databases, the catalog, KV or the storage of the job. The process ends there; a new one gets the alarm.
 * No answer is other than before the refresh or after it, at most one table is too many, the next run ends, and nothing is left.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { DEVELOPER, READER } from '../../dev/roles.ts';
import type { LocalPostgres } from '../../dev/testing.ts';
import { keyValues } from '../../src/catalog/kv.ts';
import { forgetSnapshots } from '../../src/catalog/snapshot.ts';
import type { Runtime } from '../../src/service.ts';
import { borrowPostgres } from '../support/databases/index.ts';
import { patience, SEED } from '../support/generated.ts';
import { MemoryJobs } from '../support/jobs-memory.ts';
import { memoryNamespace } from '../support/memory-namespace.ts';
import { startService, type TestService } from '../support/service.ts';
import { oneIn, sizesOf } from '../support/sizes.ts';
import { TestCaches } from './support/caches.ts';
import { lived, mortalFetch, mortalNamespace, mortalStorage } from './support/mortal.ts';

const SIZES = sizesOf('integration/cached-killed');
/** The time of a part in a run that goes on in steps: each part ends a step. */
const PART_MS = 10 * 60_000;
const STEP_MS = 26 * 60_000;
const MOST_ALARMS = 60;

const OPTIONS = "schema = 'cached', max_age = '10 hours'";
const GROWING = `${OPTIONS}, incremental = 'changed_at', overlap = '0', full_every = '1000'`;
const ACROSS = 'SELECT s.no, i.part, i.edition FROM svc.sale s JOIN svc.item i ON i.no = s.no ORDER BY s.no, i.part';
const WITHIN = 'SELECT no, part, edition FROM svc.item ORDER BY no, part';

/** What is killed. `bytes`: the size of a row. */
const RUNS = {
  'all rows': { statement: `CACHE MAPPING m_item OPTIONS (${OPTIONS})`, query: WITHIN, bytes: 10 },
  'an increment': { statement: `CACHE MAPPING m_item OPTIONS (${GROWING})`, query: WITHIN, bytes: 10 },
  'all rows of another datasource': { statement: `CACHE MAPPING m_item USING other OPTIONS (${OPTIONS})`, query: ACROSS, bytes: 10 },
  'an increment of another datasource': { statement: `CACHE MAPPING m_item USING other OPTIONS (${GROWING})`, query: ACROSS, bytes: 10 },
  'all rows of another datasource in steps': { statement: `CACHE MAPPING m_item USING other OPTIONS (${OPTIONS})`, query: ACROSS, bytes: 110_000 },
  'an increment of another datasource that goes on in steps': {
    statement: `CACHE MAPPING m_item USING other OPTIONS (${GROWING})`,
    query: ACROSS,
    bytes: 110_000,
  },
} as const;

let service: TestService;
let other: LocalPostgres;
let caches: TestCaches;
let putBack: () => void;
const namespace = memoryNamespace();
const clock = { ahead: 0 };
const jobs: MemoryJobs = new MemoryJobs(() => runtime, mortalStorage);
let runtime: Runtime;

beforeAll(async () => {
  other = await borrowPostgres();
  for (const sql of [
    'CREATE SCHEMA shop',
    'CREATE SCHEMA cached',
    'CREATE TABLE shop.t_sale (no integer)',
    'INSERT INTO shop.t_sale SELECT generate_series(1, 40)',
  ])
    await other.exec(sql);
  service = await startService({
    tables: [
      'CREATE SCHEMA shop',
      'CREATE SCHEMA cached',
      'CREATE TABLE shop.t_item (no integer, part integer, name text, edition integer, changed_at timestamptz)',
    ],
    settings: (database) => ({
      DATASOURCE_MAIN_WRITER: database.secret(DEVELOPER),
      DATASOURCE_OTHER: other.secret(READER),
      DATASOURCE_OTHER_WRITER: other.secret(DEVELOPER),
    }),
    parts: { now: () => Date.now() + clock.ahead, jobs, kv: keyValues(mortalNamespace(namespace), { scope: 'test', secret: 'test' }) },
  });
  ({ runtime } = await service.request(service.token));
  caches = new TestCaches(service);
  await service.rows("CREATE DATASOURCE other TYPE postgres SECRET 'DATASOURCE_OTHER'");
  await service.rows(
    `CREATE ONTOLOGY shop;
ALTER ONTOLOGY shop ADD DATASOURCE other;
CREATE CONCEPT item (no integer, part integer, name string, edition integer, changed_at timestamp, PRIMARY KEY (no));
CREATE MAPPING m_item INTO item AS SELECT no, part, name, edition, changed_at FROM shop.t_item;
CREATE CONCEPT sale (no integer, PRIMARY KEY (no));
CREATE MAPPING m_sale INTO sale USING other AS SELECT no FROM shop.t_sale`,
    'shop',
  );
  putBack = mortalFetch();
  const real = globalThis.fetch;
  // each part of a large copy ends its step
  globalThis.fetch = async (input, init) => {
    const answer = await real(input, init);
    const body = String(init?.body);
    if (body.length > 500_000 && body.includes('json_array_elements')) clock.ahead += PART_MS;
    return answer;
  };
});
afterAll(async () => {
  putBack?.();
  await service?.close();
  await other?.close();
});

/** The names of the tables of all caches. */
const tables = async (): Promise<unknown[]> => {
  const sql = "SELECT tablename AS t FROM pg_tables WHERE schemaname = 'cached' ORDER BY 1";
  return [...(await service.database.superuser(sql)), ...(await other.superuser(sql))].map((r) => r.t);
};
/** Whether the last run has succeeded since `queued`. */
const isDone = async (): Promise<boolean> => {
  const sql = "SELECT run IS NULL AND failures = 0 AND ended > now() - interval '30 minutes' AS done FROM kg_catalog.jobs";
  return (await service.database.superuser(sql))[0]?.done === true;
};
/** Drops what nothing reads, when the time of all snapshots and tables has passed. @param which a further condition for the tables */
async function swept(which = ''): Promise<void> {
  namespace.entries.clear();
  forgetSnapshots(0);
  await caches.dropDue(which);
}
/** What a query returns, by the clock of the databases. */
async function answer(query: string): Promise<string> {
  const { ahead } = clock;
  clock.ahead = 0;
  try {
    return JSON.stringify(await service.rows(query, 'shop'));
  } finally {
    clock.ahead = ahead;
  }
}
const wanted = async (): Promise<string> => JSON.stringify(await service.database.superuser('SELECT no, part, edition FROM shop.t_item ORDER BY no, part'));

/** Changes, adds and deletes rows. */
async function change(n: number): Promise<void> {
  await service.database.exec(`DELETE FROM shop.t_item WHERE no % 7 = ${n % 7}`);
  await service.database.exec(`UPDATE shop.t_item SET edition = edition + 1, part = ${n}, changed_at = clock_timestamp() WHERE no % 3 = ${n % 3}`);
  await service.database.exec(
    `INSERT INTO shop.t_item SELECT g, ${n}, (SELECT repeat(max(left(name, 1)), max(length(name))) FROM shop.t_item) || g, 0, clock_timestamp()
     FROM generate_series(1, 24) g WHERE NOT EXISTS (SELECT FROM shop.t_item i WHERE i.no = g)`,
  );
}

/** Lets the job run now. */
async function queued(): Promise<void> {
  await service.database.superuser("UPDATE kg_catalog.jobs SET started = started - interval '1 hour', ended = ended - interval '1 hour'");
  await service.database.superuser("UPDATE kg_catalog.job_starts SET started = started - interval '1 hour'");
  await service.rows('RUN JOB copy', 'shop');
}
/** Lets the alarms ring that are due, in the process that it is called in. Each object begins with what is stored. */
async function rung(): Promise<void> {
  for (let alarms = 0; alarms < MOST_ALARMS && (await jobs.ring(Date.now() + clock.ahead)) > 0; alarms++) jobs.restart();
}
/** Lets the alarms ring until the job has succeeded, as if the time of lost runs and pauses had passed. */
async function ended(): Promise<void> {
  for (let alarms = 0; !(await isDone()); alarms++) {
    if (alarms === MOST_ALARMS) throw new Error(`no end: ${JSON.stringify(await service.rows('SHOW JOBS', 'shop'))}`);
    await service.database.superuser("UPDATE kg_catalog.jobs SET run_until = now() - interval '1 second' WHERE run_until > now() + interval '1 minute'");
    clock.ahead += STEP_MS;
    jobs.restart();
    await lived(rung);
  }
}

/** Kills a run of the job at a request, and lets the next process end it. @returns false if the run ends before that request */
async function killed(query: string, n: number, isSent: boolean): Promise<boolean> {
  const what = `SEED=${SEED} ${isSent ? 'after' : 'before'} request ${n}`;
  clock.ahead = 0;
  const before = await answer(query);
  await change(n);
  const after = await wanted();
  await queued();
  const requests = await lived(rung, { n, isSent });
  expect([before, after], what).toContain(await answer(query));
  await swept('AND rows IS NOT NULL');
  expect((await tables()).length, what).toBeLessThanOrEqual(2);
  // the platform calls the object again: at once, or when it has set its alarm to ring
  for (const { storage } of jobs.items.values()) if (storage.alarmAt === null || n % 3 === 0) storage.alarmAt = Date.now() + clock.ahead;
  // the sweep may come before the next run
  if (n % 2 === 0) {
    await swept();
    expect(await tables(), what).toHaveLength(1);
    expect([before, after], what).toContain(await answer(query));
  }
  await ended();
  expect([before, after], what).toContain(await answer(query));
  await swept();
  expect(await answer(query), what).toBe(after);
  expect(await tables(), what).toHaveLength(1);
  return requests === n;
}

describe.each(Object.entries(RUNS))('%s', (_, { statement, query, bytes }) => {
  it('changes no answer and leaves nothing, wherever the process ends', { timeout: patience(400_000) }, async () => {
    clock.ahead = 0;
    await service.database.exec('DELETE FROM shop.t_item');
    await service.database.exec(`INSERT INTO shop.t_item SELECT g, 0, repeat('x', ${bytes}) || g, 0, clock_timestamp() FROM generate_series(1, 24) g`);
    await service.rows(`CREATE OR REPLACE JOB copy SCHEDULE '17 3 * * *' AS ${statement}`, 'shop');
    await queued();
    await lived(rung);
    expect(await isDone()).toBe(true);
    await swept();
    expect(await tables()).toHaveLength(1);
    await change(1);
    await queued();
    const requests = await lived(rung);
    await swept();
    expect(await answer(query)).toBe(await wanted());
    const isInSteps = bytes > 100_000;
    expect(requests).toBeGreaterThan(isInSteps ? 40 : 10);
    const every = isInSteps ? SIZES.everyOfSteps : SIZES.every;
    const all = Array.from({ length: requests }, (_, i) => i + 1);
    let reached = 0;
    for (const isSent of [false, true])
      for (const n of oneIn(every, all, SEED + (isSent ? Math.floor(every / 2) : 0))) if (await killed(query, n, isSent)) reached++;
    expect(reached).toBeGreaterThan(0);
    await service.rows('DROP JOB copy; UNCACHE MAPPING m_item', 'shop');
    clock.ahead = 0;
    await swept();
    expect(await tables()).toEqual([]);
  });
});
