/** Jobs whose isolate ends in the middle of a run: at each of its requests to a database, before the request is sent or after. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { DEVELOPER } from '../../dev/roles.ts';
import { sweepCaches } from '../../src/service/write/refresh-cache.ts';
import type { Runtime } from '../../src/service.ts';
import { patience, SEED } from '../support/generated.ts';
import { MemoryJobs } from '../support/jobs-memory.ts';
import { startService, type TestService } from '../support/service.ts';
import { sizesOf } from '../support/sizes.ts';
import { killed } from './support/killed.ts';

const SIZES = sizesOf('integration/jobs-killed');

let service: TestService;
let runtime: Runtime;
const jobs = new MemoryJobs(() => runtime);

const catalog = (sql: string): Promise<Record<string, unknown>[]> => service.database.superuser(sql);
const people = (): Promise<Record<string, unknown>[]> => service.rows('SELECT no, name FROM svc.person ORDER BY no', 'shop');
const tablesLeft = async (): Promise<number> => (await catalog("SELECT tablename FROM pg_tables WHERE schemaname = 'cached'")).length;
const status = async (): Promise<string> => (await service.rows('SHOW JOBS', 'shop'))[0].status;
/** Lets alarms ring as long as one is due. */
async function settled(): Promise<void> {
  for (let i = 0; i < 20 && (await jobs.ring(Date.now())) > 0; i++);
}
/** Asks for a run, as if all runs had begun earlier: RUN JOB does not wait for a while. */
async function queued(): Promise<void> {
  await catalog("UPDATE kg_catalog.jobs SET started = started - interval '1 hour', ended = ended - interval '1 hour'");
  await catalog("UPDATE kg_catalog.job_starts SET started = started - interval '1 hour'");
  await service.rows('RUN JOB nightly', 'shop');
}
/** Drops the tables of caches that nothing reads. @param which a further condition */
async function swept(which = ''): Promise<void> {
  await catalog(`UPDATE kg_catalog.cache_tables SET drop_after = now() WHERE drop_after <> 'infinity' ${which}`);
  await sweepCaches(runtime);
}

beforeAll(async () => {
  service = await startService({
    tables: [
      'CREATE SCHEMA shop',
      'CREATE SCHEMA cached',
      'CREATE TABLE shop.t_person (no integer PRIMARY KEY, name text)',
      "INSERT INTO shop.t_person VALUES (1, 'Ann'), (2, 'Bob'), (3, 'Cy')",
    ],
    settings: (database) => ({ DATASOURCE_MAIN_WRITER: database.secret(DEVELOPER) }),
    parts: { jobs },
  });
  runtime = (await service.request(service.token)).runtime;
  await service.rows(
    `CREATE ONTOLOGY shop;
CREATE CONCEPT person (no integer, name string, PRIMARY KEY (no));
CREATE MAPPING m_person INTO person AS SELECT no, name FROM shop.t_person;
CREATE JOB nightly SCHEDULE '17 * * * *' AS CACHE MAPPING m_person OPTIONS (schema = 'cached')`,
    'shop',
  );
});
afterAll(() => service?.close());

/** Kills a run at its n-th request. @returns false if the run ends before that request */
async function isKilled(n: number, isSent: boolean): Promise<boolean> {
  const what = `SEED=${SEED} ${isSent ? 'after' : 'before'} request ${n}`;
  const before = await people();
  await service.database.exec(`UPDATE shop.t_person SET name = 'n${n}${isSent}'`);
  await queued();
  const isReached = await killed(n, isSent, () => jobs.ring(Date.now()));
  jobs.restart();
  // the rows of before, or those of the run if it was killed after its end
  const after = await people();
  if (after[0]?.name !== `n${n}${isSent}`) expect(after, what).toEqual(before);
  else expect(after.map((r) => r.name)).toEqual([after[0].name, after[0].name, after[0].name]);
  await swept('AND rows IS NOT NULL');
  expect(await tablesLeft(), what).toBeLessThanOrEqual(2);
  await swept();
  expect(await tablesLeft(), what).toBe(1);
  // the job goes on when the time of the run is over
  await catalog("UPDATE kg_catalog.jobs SET run_until = now() - interval '1 second' WHERE run_until IS NOT NULL");
  for (const { storage } of jobs.items.values()) storage.alarmAt = Date.now();
  await settled();
  expect(await status(), what).toMatch(/succeeded|failed/);
  return isReached;
}

it('a run that is killed at any step changes no answer, leaves at most one table too many, and the job goes on', { timeout: patience(240_000) }, async () => {
  await queued();
  await settled();
  expect(await status()).toBe('succeeded');
  await swept();
  let points = 0;
  // the points of a run: before its first request is sent, after that, before the second one, ...
  for (let point = SEED % SIZES.every, goesOn = true; goesOn; point += SIZES.every) {
    goesOn = await isKilled(1 + Math.floor(point / 2), point % 2 === 1);
    if (goesOn) points++;
  }
  expect(points).toBeGreaterThanOrEqual(Math.floor(20 / SIZES.every));
  await queued();
  await settled();
  expect(await status()).toBe('succeeded');
});
