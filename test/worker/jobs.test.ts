/** Jobs in Durable Objects: alarms run them, the cron finds those whose alarm was lost, and nothing is left of a dropped job. */
/// <reference types="@cloudflare/vitest-pool-workers/types" />
import { createExecutionContext, createScheduledController, env, runDurableObjectAlarm, runInDurableObject, waitOnExecutionContext } from 'cloudflare:test';
import { exports } from 'cloudflare:workers';
import worker from 'built-worker';
import { beforeAll, describe, expect, inject, it } from 'vitest';

const ADMIN = inject('adminToken');

// biome-ignore lint/suspicious/noExplicitAny: rows of every shape
async function rows(sql: string, ontology = 'farm'): Promise<any[]> {
  const init = {
    method: 'POST',
    headers: { 'x-api-key': ADMIN, 'content-type': 'application/json' },
    body: JSON.stringify({ query: sql, ontology_name: ontology }),
  };
  const response = await exports.default.fetch(new Request('http://127.0.0.1:8787/svc/api/query', init));
  const text = await response.text();
  expect(response.status, text).toBe(200);
  return JSON.parse(text).data;
}

/** The names of the objects are ids of jobs, which no answer shows: the only objects are those of this test. */
async function objects(): Promise<DurableObjectStub[]> {
  const { listDurableObjectIds } = await import('cloudflare:test');
  return (await listDurableObjectIds(env.JOB)).map((id) => env.JOB.get(id));
}
const alarmOf = (stub: DurableObjectStub): Promise<number | null> => runInDurableObject(stub, (_object, state) => state.storage.getAlarm());
const keysOf = (stub: DurableObjectStub): Promise<string[]> => runInDurableObject(stub, async (_object, state) => [...(await state.storage.list()).keys()]);
/** Every day at a time far from now: the pace of jobs can move a time in the next minutes. */
const DAILY = `30 ${(new Date().getUTCHours() + 12) % 24} * * *`;
const shown = async () => (await rows('SHOW JOBS'))[0];

async function sweep(): Promise<void> {
  const context = createExecutionContext();
  await worker.scheduled?.(createScheduledController({ cron: '17 * * * *' }), env, context);
  await waitOnExecutionContext(context);
}

beforeAll(async () => {
  await rows(
    'CREATE ONTOLOGY farm; CREATE CONCEPT animal (no bigint, name string, PRIMARY KEY (no)); CREATE MAPPING m INTO animal AS SELECT no, called AS name FROM zoo.t_animal',
  );
});

describe('a job', () => {
  it('is run by the alarm of its object, again and again, until it is dropped', async () => {
    const [made] = await rows(`CREATE JOB daily SCHEDULE '${DAILY}' TIMEZONE 'Europe/Lisbon' AS CACHE MAPPING m OPTIONS (schema = 'cached')`);
    const [stub] = (await objects()) as [DurableObjectStub];
    expect(await alarmOf(stub)).toBe(Date.parse(made.next_run));
    // too early: the catalog decides
    expect(await runDurableObjectAlarm(stub)).toBe(true);
    expect([(await shown()).status, await alarmOf(stub)]).toEqual(['scheduled', Date.parse(made.next_run)]);
    await rows('RUN JOB daily');
    await expect.poll(async () => (await shown()).status).toBe('succeeded');
    expect(await shown()).toMatchObject({ message: expect.stringMatching(/^3 rows as of/), next_run: made.next_run });
    await expect.poll(() => alarmOf(stub)).toBe(Date.parse(made.next_run));
    expect((await rows('SHOW CACHES'))[0]).toMatchObject({ mapping_name: 'm', state: 'used' });
    expect(await keysOf(stub)).toEqual(['id']);
    await rows(`DROP JOB daily; CREATE JOB daily SCHEDULE '${DAILY}' AS VALIDATE DATA farm; RUN JOB daily`);
    await expect.poll(async () => (await shown()).status).toBe('succeeded');
    expect((await shown()).message).toMatch(/^0 errors, 0 warnings/);
    expect((await rows("SELECT number_of_rows FROM SYS_CONCEPT_MAPPINGS WHERE concept = 'animal'"))[0].number_of_rows).toBe(3);
    await rows('DROP JOB daily');
    await expect.poll(() => keysOf(stub)).toEqual([]);
    expect(await alarmOf(stub)).toBeNull();
  });

  it('whose alarm was lost is woken by the cron', async () => {
    const before = new Set((await objects()).map((o) => o.id.toString()));
    await rows("CREATE JOB lost SCHEDULE '*/5 * * * *' AS CACHE MAPPING m OPTIONS (schema = 'cached')");
    const [stub] = (await objects()).filter((o) => !before.has(o.id.toString())) as [DurableObjectStub];
    await runInDurableObject(stub, async (_object, state) => {
      await state.storage.deleteAlarm();
      await state.storage.deleteAll();
    });
    await sweep();
    expect([await keysOf(stub), await alarmOf(stub)]).toEqual([['id'], Date.parse((await shown()).next_run)]);
    await rows('DROP ONTOLOGY farm', '');
    await runDurableObjectAlarm(stub);
    await expect.poll(() => keysOf(stub)).toEqual([]);
    expect(await alarmOf(stub)).toBeNull();
  });
});
