/** GET /svc/api/health/ready: what the service depends on, and what is reported if a part of it fails. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { keyValues } from '../../src/catalog/kv.ts';
import { LATEST_MIGRATION } from '../../src/catalog/migrations.ts';
import { memoryNamespace } from '../support/memory-namespace.ts';
import { startService, type TestService } from '../support/service.ts';

let service: TestService;
const namespace = memoryNamespace();
const kv = { broken: false };
const objects = { broken: false };

beforeAll(async () => {
  const reading: typeof namespace.getWithMetadata = ((...args: Parameters<typeof namespace.getWithMetadata>) =>
    kv.broken ? Promise.reject(new Error('KV is down')) : namespace.getWithMetadata(...args)) as typeof namespace.getWithMetadata;
  service = await startService({
    settings: { DATASOURCE_NOWHERE: JSON.stringify({ url: 'postgres://u:secret-77@db.internal/x', endpoint: 'http://127.0.0.1:1/sql' }) },
    parts: {
      jobs: { wake: () => Promise.resolve(), ping: () => (objects.broken ? Promise.reject(new Error('gone')) : Promise.resolve()) },
      kv: keyValues({ ...namespace, getWithMetadata: reading }, { scope: 'test', secret: 'secret' }),
    },
  });
});
afterAll(() => service?.close());

const ready = async (token: string): Promise<{ status: number; text: string; states: Record<string, string> }> => {
  const response = await service.fetch('/svc/api/health/ready', { headers: { 'x-api-key': token } });
  const text = await response.text();
  const body = JSON.parse(text);
  const checks: { name: string; state: string; detail?: string }[] = body.data?.checks ?? body.checks ?? [];
  return {
    status: response.status,
    text,
    states: Object.fromEntries(checks.map(({ name, state, detail }) => [name, detail === undefined ? state : `${state}: ${detail}`])),
  };
};

describe('health/ready', () => {
  const OK = { catalog: 'ok', migrations: 'ok', 'datasource main': 'ok', kv: 'ok', durable_objects: 'ok', jobs: 'ok', language_model: 'off' };

  it('reports each part to an administrator', async () => {
    const { status, states, text } = await ready(service.token);
    expect([status, states]).toEqual([200, OK]);
    for (const { name, ms } of JSON.parse(text).data.checks as { name: string; ms?: number }[])
      if (states[name] === 'ok') expect(ms, name).toBeGreaterThanOrEqual(0);
  });

  it('is for administrators only', async () => {
    expect((await ready(await service.user('ann'))).status).toBe(403);
    expect((await service.fetch('/svc/api/health/ready')).status).toBe(401);
  });

  it('warns of jobs that fail or do not run, and stays ready', async () => {
    await service.rows('CREATE ONTOLOGY farm; CREATE ONTOLOGY shop');
    for (const name of ['fails', 'late', 'later', 'busy', 'paused', 'refused', 'well'])
      await service.rows(`CREATE JOB ${name} SCHEDULE '17 * * * *' AS VALIDATE DATA farm`, 'farm');
    await service.rows("CREATE JOB other SCHEDULE '17 * * * *' AS VALIDATE DATA shop", 'shop');
    const change = (jobs: string, set: string) => service.database.superuser(`UPDATE kg_catalog.jobs SET ${set} WHERE name IN (${jobs})`);
    await change("'fails', 'other'", 'failures = 3');
    await change("'late', 'later', 'busy'", "next_run = now() - interval '21 minutes'");
    await change("'later'", "run = gen_random_uuid(), run_until = now() - interval '21 minutes'");
    await change("'busy'", "run = gen_random_uuid(), run_until = now() + interval '5 minutes'");
    await change("'refused'", 'paused = true, next_run = NULL, failures = 2');
    await change("'paused'", 'failures = 2');
    await service.rows('ALTER JOB paused PAUSE', 'farm');
    await change("'well'", "next_run = now() - interval '10 minutes'");
    const { status, states } = await ready(service.token);
    expect([status, states]).toEqual([
      200,
      {
        ...OK,
        jobs: 'warning: farm.fails has failed (3 in a row); shop.other has failed (3 in a row); farm.refused has failed (2 in a row); farm.late has not run when it was due; farm.later has not run when it was due',
      },
    ]);
    await service.rows('DROP ONTOLOGY shop; DROP ONTOLOGY farm');
  });

  it('is 503 if the objects of jobs do not answer', async () => {
    objects.broken = true;
    const { status, states } = await ready(service.token);
    objects.broken = false;
    expect([status, states.durable_objects]).toEqual([503, 'failed: it failed']);
  });

  it('is 503 and names the parts that fail, without addresses or passwords', async () => {
    kv.broken = true;
    await service.database.superuser(`UPDATE kg_catalog.migrations SET name = '001_x.sql' WHERE name = '${LATEST_MIGRATION}.sql'`);
    await service.rows("CREATE DATASOURCE nowhere TYPE postgres SECRET 'DATASOURCE_NOWHERE'");
    const { status, states, text } = await ready(service.token);
    expect(status).toBe(503);
    expect(JSON.parse(text)).toMatchObject({ status: 'error', code: 'not_ready', data: 'The service is not ready: migrations, datasource nowhere, kv' });
    expect(states).toMatchObject({
      catalog: 'ok',
      migrations: expect.stringContaining(`the service needs ${LATEST_MIGRATION}`),
      'datasource main': 'ok',
      'datasource nowhere': expect.stringMatching(/^failed: /),
      kv: 'failed: it failed',
    });
    expect(text).not.toMatch(/secret-77|db\.internal|127\.0\.0\.1/);
  });
});
