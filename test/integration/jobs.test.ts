/** Jobs through the routes: who may make, run and see them, with whose rights they run, failures, overlap, and what is left. */
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { DEVELOPER } from '../../dev/roles.ts';
import { createToken } from '../../src/auth/tokens.ts';
import { listJobs } from '../../src/catalog/jobs.ts';
import { DataReader } from '../../src/checks/reader.ts';
import { pointOf } from '../../src/http/log.ts';
import { sweepJobs } from '../../src/service/ops/job-life.ts';
import { runStep } from '../../src/service/ops/job-run.ts';
import { sweepCaches } from '../../src/service/write/refresh-cache.ts';
import { type Runtime, runScript } from '../../src/service.ts';
import { MemoryJobs, type MemoryStorage } from '../support/jobs-memory.ts';
import { startService, type TestService } from '../support/service.ts';

const TABLES = [
  'CREATE SCHEMA shop',
  'CREATE SCHEMA cached',
  'CREATE TABLE shop.t_person (no integer PRIMARY KEY, name text)',
  "INSERT INTO shop.t_person VALUES (1, 'Ann'), (2, 'Bob'), (3, 'Cy')",
];
const MODEL = `CREATE ONTOLOGY shop;
CREATE CONCEPT person (no integer, name string, PRIMARY KEY (no));
CREATE MAPPING m_person INTO person AS SELECT no, name FROM shop.t_person`;
const STATEMENT = "CACHE MAPPING m_person OPTIONS (schema = 'cached')";
const JOB = `CREATE OR REPLACE JOB nightly SCHEDULE '17 * * * *' TIMEZONE 'Europe/Lisbon' AS ${STATEMENT}`;
const PEOPLE = 'SELECT no, name FROM svc.person ORDER BY no';
const HOUR = 3_600_000;

let service: TestService;
let runtime: Runtime;
const clock = { ahead: 0 };
const logged: Readonly<Record<string, unknown>>[] = [];
const counted: Readonly<Record<string, unknown>>[] = [];
const jobs = new MemoryJobs(() => runtime);

const catalog = (sql: string): Promise<Record<string, unknown>[]> => service.database.superuser(sql);
const tablesLeft = async (): Promise<number> => (await catalog("SELECT tablename FROM pg_tables WHERE schemaname = 'cached'")).length;
// biome-ignore lint/suspicious/noExplicitAny: rows of every shape
const shown = async (token = service.token): Promise<any[]> => service.rows('SHOW JOBS', 'shop', token);
const ring = (): Promise<number> => jobs.ring(Date.now() + clock.ahead);
/** Lets alarms ring as long as one is due. */
async function settled(): Promise<void> {
  for (let i = 0; i < 20 && (await ring()) > 0; i++);
}
/** As if all runs had begun earlier: RUN JOB does not wait for a while. */
async function waited(): Promise<void> {
  await catalog("UPDATE kg_catalog.jobs SET started = started - interval '1 hour', ended = ended - interval '1 hour'");
  await catalog("UPDATE kg_catalog.job_starts SET started = started - interval '1 hour'");
}
async function runs(): Promise<Record<string, unknown>> {
  await waited();
  await service.rows('RUN JOB nightly', 'shop');
  await settled();
  return (await shown())[0];
}

beforeAll(async () => {
  service = await startService({
    tables: TABLES,
    settings: (database) => ({ DATASOURCE_MAIN_WRITER: database.secret(DEVELOPER) }),
    parts: { now: () => Date.now() + clock.ahead, log: (line) => logged.push(line), measured: (line) => line.method === 'JOB' && counted.push(line), jobs },
  });
  runtime = (await service.request(service.token)).runtime;
  await service.rows(MODEL, 'shop');
});
afterAll(() => service.close());
beforeEach(async () => {
  clock.ahead = 0;
  const jobsLeft = await catalog('SELECT name FROM kg_catalog.jobs');
  if (jobsLeft.length > 0) await service.rows(jobsLeft.map(({ name }) => `DROP JOB ${name}`).join('; '), 'shop');
  await settled();
  await catalog('DELETE FROM kg_catalog.job_starts');
  logged.length = 0;
  counted.length = 0;
  jobs.items.clear();
});

describe('a job', () => {
  it('runs at its time, again and again, and says what it did', async () => {
    const [made] = await service.rows(JOB, 'shop');
    expect(made).toMatchObject({ job: 'nightly', schedule: '17 * * * *', timezone: 'Europe/Lisbon' });
    expect(new Date(made.next_run).getUTCMinutes()).toBe(17);
    expect(await ring()).toBe(0);
    const [before] = await shown();
    expect(before).toMatchObject({ job_name: 'nightly', job_type: 'CACHE MAPPING', target: 'm_person', status: 'scheduled', last_run: null, message: null });
    for (let i = 1; i <= 2; i++) {
      clock.ahead = Date.parse(made.next_run) - Date.now() + (i - 1) * HOUR + 1000;
      await settled();
      const [line] = await shown();
      expect(line).toMatchObject({ status: 'succeeded', message: expect.stringMatching(/^3 rows as of 20/), maker: 'admin' });
      expect(Date.parse(line.next_run)).toBe(Date.parse(made.next_run) + i * HOUR);
    }
    clock.ahead = 0;
    expect((await service.rows('SHOW CACHES', 'shop'))[0].state).toBe('used');
  });

  it('writes a line of each run, and counts it', async () => {
    await service.rows(JOB, 'shop');
    await runs();
    await service.database.superuser('ALTER TABLE shop.t_person RENAME TO gone');
    await runs();
    await service.database.superuser('ALTER TABLE shop.gone RENAME TO t_person');
    const told = { event: 'job', name: 'nightly', kind: 'cache_mapping', ontology: 'shop', user: 'admin', ms: expect.any(Number) };
    expect(logged.filter(({ event }) => event === 'job')).toEqual([
      expect.objectContaining({ ...told, level: 'info', outcome: 'succeeded', status: 200, rows: 3 }),
      expect.objectContaining({ ...told, level: 'warn', outcome: 'failed', status: 400, code: expect.any(String) }),
    ]);
    expect(counted.map(pointOf)).toMatchObject([
      {
        indexes: ['shop'],
        blobs: ['JOB', 'cache_mapping', '200', '', 'shop', '', '', 'nightly', 'succeeded'],
        doubles: [expect.any(Number), 0, 0, 0, 0, 0, 3, 0],
      },
      { indexes: ['shop'], blobs: ['JOB', 'cache_mapping', '400', expect.any(String), 'shop', '', '', 'nightly', 'failed'] },
    ]);
  });

  it('caches a cube, and is hidden from editors who do not see it', async () => {
    await service.rows('CREATE OR REPLACE ONTOLOGY CUBE heads AS SELECT name, COUNT(no) AS n FROM dsvc.person', 'shop');
    await service.rows("CREATE JOB cubes SCHEDULE '0 0 * * *' AS CACHE CUBE heads OPTIONS (schema = 'cached')", 'shop');
    await service.rows('RUN JOB cubes', 'shop');
    await settled();
    expect((await shown())[0]).toMatchObject({ job_type: 'CACHE CUBE', target: 'heads', status: 'succeeded', message: expect.stringContaining('3 rows') });
    const blind = await service.user('blind', 'EDIT ON ontology.shop', 'QUERY ON ontology.shop.concept.person');
    expect(await shown(blind)).toEqual([]);
    await service.rows('UNCACHE CUBE heads; DROP CUBE heads', 'shop');
  });

  it('caches a view, and is hidden from editors who do not see it', async () => {
    await service.rows('CREATE OR REPLACE ONTOLOGY VIEW heads AS SELECT name FROM dsvc.person', 'shop');
    await service.rows("CREATE JOB views SCHEDULE '0 0 * * *' AS CACHE VIEW heads OPTIONS (schema = 'cached')", 'shop');
    await service.rows('RUN JOB views', 'shop');
    await settled();
    expect((await shown())[0]).toMatchObject({ job_type: 'CACHE VIEW', target: 'heads', status: 'succeeded', message: expect.stringContaining('3 rows') });
    const blind = await service.user('sightless', 'EDIT ON ontology.shop', 'QUERY ON ontology.shop.concept.person');
    expect(await shown(blind)).toEqual([]);
    await service.rows('UNCACHE VIEW heads; DROP VIEW heads', 'shop');
  });

  it('that caches a view on raw tables shows its message to those who may edit the datasource', async () => {
    await service.rows('CREATE ONTOLOGY bare; CREATE ONTOLOGY VIEW tables USING main AS SELECT 1 AS one FROM shop.t_person', 'bare');
    await service.rows("CREATE JOB j SCHEDULE '0 0 * * *' AS CACHE VIEW tables OPTIONS (schema = 'cached'); RUN JOB j", 'bare');
    await settled();
    const editor = await service.user('of_bare', 'EDIT ON ALL ontology.bare', 'QUERY ON ALL ontology.bare');
    const messages = async (token?: string): Promise<unknown> => (await service.rows('SHOW JOBS', 'bare', token))[0]?.message;
    expect([await messages(), await messages(editor)]).toEqual([expect.stringContaining('3 rows'), 'the run ended']);
    await service.rows('DROP ONTOLOGY bare');
  });

  it('runs by RUN JOB, also while it is paused, and not by its schedule then', async () => {
    await service.rows(JOB, 'shop');
    expect(await service.rows('ALTER JOB nightly PAUSE', 'shop')).toEqual([{ job: 'nightly', paused: true, next_run: null }]);
    clock.ahead = 3 * HOUR;
    await settled();
    expect((await shown())[0]).toMatchObject({ status: 'paused', last_run: null, next_run: null });
    clock.ahead = 0;
    expect(await runs()).toMatchObject({ status: 'paused', message: expect.stringContaining('3 rows'), next_run: null });
    expect([...jobs.items.values()].every(({ storage }) => storage.values.size === 0 && storage.alarmAt === null)).toBe(true);
    await service.rows('ALTER JOB nightly RESUME', 'shop');
    expect((await shown())[0].next_run).not.toBeNull();
    const [altered] = await service.rows("ALTER JOB nightly SCHEDULE '30  2 * * *' TIMEZONE 'Asia/Kolkata'", 'shop');
    expect(altered).toMatchObject({ schedule: '30 2 * * *', timezone: 'Asia/Kolkata', paused: false, next_run: expect.stringContaining('T21:00:00') });
  });

  it('does not run more often if it is dropped and made again, replaced, or another job has its statement', async () => {
    const plain = JOB.replace('OR REPLACE ', '');
    await service.rows(`${plain}; RUN JOB nightly`, 'shop');
    await settled();
    const ended = logged.length;
    const again = [`DROP JOB nightly; ${plain}; RUN JOB nightly`, `${JOB}; ${JOB}; RUN JOB nightly`, `${plain.replaceAll('nightly', 'other')}; RUN JOB other`];
    for (const sql of again) {
      const [queued] = await service.rows(sql, 'shop');
      const wait = Math.round((Date.parse(queued.next_run) - Date.now()) / 1000);
      expect([wait > 30, wait <= 60], sql).toEqual([true, true]);
      await settled();
    }
    expect(logged.slice(ended).filter(({ event }) => event === 'job')).toEqual([]);
    await waited();
    const [queued] = await service.rows('RUN JOB other', 'shop');
    expect(Date.parse(queued.next_run)).toBeLessThanOrEqual(Date.now());
    await settled();
    expect((await shown()).map(({ job_name, status }) => [job_name, status])).toEqual(expect.arrayContaining([['other', 'succeeded']]));
  });

  it('is refused if its schedule, zone, name or statement is wrong', async () => {
    const faults = {
      "CREATE JOB j SCHEDULE '61 * * * *' AS CACHE MAPPING m_person": 'bad_schedule',
      "CREATE JOB j SCHEDULE '* * * * * *' AS CACHE MAPPING m_person": 'bad_schedule',
      "CREATE JOB j SCHEDULE '*/4 * * * *' AS CACHE MAPPING m_person": 'bad_schedule',
      "CREATE JOB j SCHEDULE '*/30 * * * *' AS VALIDATE DATA shop": 'bad_schedule',
      "CREATE JOB j SCHEDULE '@daily' AS CACHE MAPPING m_person": 'bad_schedule',
      "CREATE JOB j SCHEDULE '2030-01-01T00:00:00' AS CACHE MAPPING m_person": 'bad_schedule',
      "CREATE JOB j SCHEDULE '0 0 30 2 *' AS CACHE MAPPING m_person": 'bad_schedule',
      "CREATE JOB j SCHEDULE '0 0 * * *' TIMEZONE 'Mars/Base' AS CACHE MAPPING m_person": 'bad_timezone',
      "CREATE JOB j SCHEDULE '0 0 * * *' TIMEZONE '+01:00' AS CACHE MAPPING m_person": 'bad_timezone',
      [`CREATE JOB "a[b" SCHEDULE '0 0 * * *' AS ${STATEMENT}`]: 'bad_name',
      "CREATE JOB j SCHEDULE '0 0 * * *' AS SELECT 1": 'syntax_error',
      "CREATE JOB j SCHEDULE '0 0 * * *' AS UNCACHE MAPPING m_person": 'syntax_error',
      "CREATE JOB j SCHEDULE '0 0 * * *' AS CACHE CUBE c": 'unknown_cube',
      "CREATE JOB j SCHEDULE '0 0 * * *' AS CACHE VIEW c": 'unknown_view',
      "CREATE JOB j SCHEDULE '0 0 * * *' AS CACHE MAPPING m_persn": 'unknown_mapping',
      "CREATE JOB j SCHEDULE '0 0 * * *' AS CACHE MAPPING m_person OPTIONS (schema = 'pg_x')": 'bad_value',
      'RUN JOB nobody': 'unknown_job',
      'DROP JOB nobody': 'unknown_job',
      'ALTER JOB nobody PAUSE': 'unknown_job',
    };
    for (const [sql, code] of Object.entries(faults)) expect(await service.fault(sql, 'shop'), sql).toBe(`400 ${code}`);
    expect(await service.rows('DROP JOB IF EXISTS nobody', 'shop')).toEqual([{ job: 'nobody', dropped: false }]);
    expect(await shown()).toEqual([]);
  });

  it('has a name that only one job of the ontology has, also within a script', async () => {
    const plain = JOB.replace('OR REPLACE ', '');
    expect(await service.fault(`${plain}; ${plain}`, 'shop')).toBe('400 exists');
    await service.rows(`${plain}; DROP JOB nightly; ${plain}`, 'shop');
    expect(await service.fault(plain.replace('nightly', 'NIGHTLY'), 'shop')).toBe('400 exists');
    await service.rows(plain.replace('JOB', 'JOB IF NOT EXISTS').replace('17', '18'), 'shop');
    expect((await shown()).map((j) => j.schedule)).toEqual(['17 * * * *']);
    await service.rows(JOB.replace('17', '19'), 'shop');
    expect((await shown()).map((j) => j.schedule)).toEqual(['19 * * * *']);
    expect(await service.fault("CREATE JOB j SCHEDULE '0 0 * * *' AS CACHE MAPPING m_person")).toBe('400 no_ontology');
  });

  it('that another request drops at the same time is not changed: the statement says so', async () => {
    const { runScript } = await import('../../src/service.ts');
    for (const sql of ['RUN JOB nightly', 'ALTER JOB nightly PAUSE', 'ALTER JOB nightly RESUME', "ALTER JOB nightly SCHEDULE '1 * * * *'", JOB]) {
      await service.rows(JOB, 'shop');
      const request = await service.request(service.token);
      const { db } = request.runtime;
      const batch: typeof db.batch = async (calls) => {
        if (calls.some((c) => c.sql.includes('kg_catalog.jobs'))) await catalog('DELETE FROM kg_catalog.jobs');
        return db.batch(calls);
      };
      const racing = { ...request, runtime: { ...request.runtime, db: { query: db.query.bind(db), batch } } };
      const ran = runScript(racing, { ontology: 'shop', sql, limit: null, datasource: null });
      await expect(ran, sql).rejects.toMatchObject({ status: 409, code: 'version_conflict' });
    }
  });

  it('that is resumed while its object ends keeps an alarm', async () => {
    await service.rows(`${JOB}; ALTER JOB nightly PAUSE`, 'shop');
    const real = runtime;
    let resumed: Promise<unknown> | undefined;
    const query: typeof real.db.query = async (sql, params) => {
      const found = await real.db.query(sql, params);
      if (sql.includes('FROM kg_catalog.jobs j')) resumed ??= service.rows('ALTER JOB nightly RESUME', 'shop');
      await resumed;
      return found;
    };
    runtime = { ...real, db: { query, batch: (calls) => real.db.batch(calls) } };
    clock.ahead = 2 * HOUR;
    await ring();
    runtime = real;
    expect(resumed).toBeDefined();
    expect([...jobs.items.values()].map(({ storage }) => [storage.values.size, storage.alarmAt !== null])).toEqual([[1, true]]);
  });

  it('is refused where the service has no objects for jobs', async () => {
    const { fetch } = await startServiceWithout();
    expect(await fetch()).toBe('503 not_configured');
  });
});

/** The same service without jobs. */
async function startServiceWithout(): Promise<{ fetch(): Promise<string> }> {
  const { runScript } = await import('../../src/service.ts');
  return {
    fetch: async () => {
      const request = await service.request(service.token, { jobs: undefined });
      return runScript(request, { ontology: 'shop', sql: JOB, limit: null, datasource: null }).then(
        () => 'ran',
        (error) => `${error.status} ${error.code}`,
      );
    },
  };
}

describe('a run that fails', () => {
  it('is repeated after growing pauses, changes no answer, and says why', async () => {
    await service.rows(JOB, 'shop');
    await runs();
    const before = await service.rows(PEOPLE, 'shop');
    await service.database.exec('REVOKE SELECT ON shop.t_person FROM kg_reader');
    const pauses: number[] = [];
    try {
      await waited();
      await service.rows('RUN JOB nightly', 'shop');
      for (let i = 0; i < 8; i++) {
        const at = Date.now() + clock.ahead;
        await ring();
        const [line] = await shown();
        expect(line).toMatchObject({ status: 'failed', message: expect.stringContaining('permission denied') });
        pauses.push(Math.round((Date.parse(line.next_run) - at) / 60_000));
        clock.ahead = Date.parse(line.next_run) - Date.now() + 10;
      }
    } finally {
      await service.database.exec('GRANT SELECT ON shop.t_person TO kg_reader');
    }
    expect(pauses.slice(0, 6)).toEqual([1, 2, 4, 8, 16, 32]);
    for (const pause of pauses.slice(6)) expect(pause).toBeGreaterThanOrEqual(60);
    clock.ahead = 0;
    expect(await service.rows(PEOPLE, 'shop')).toEqual(before);
    expect(await runs()).toMatchObject({ status: 'succeeded' });
  });

  it('because others read the datasource is no failure: it waits', async () => {
    await service.rows(JOB, 'shop');
    await runs();
    await waited();
    await service.rows('ALTER JOB nightly PAUSE; RUN JOB nightly', 'shop');
    const real = runtime;
    const batch: typeof real.db.batch = (calls) =>
      calls.some(({ sql }) => sql.includes('INSERT INTO kg_catalog.cache_tables')) ? Promise.resolve(calls.map(() => [])) : real.db.batch(calls);
    runtime = { ...real, db: { query: (sql, params) => real.db.query(sql, params), batch } };
    await ring();
    runtime = real;
    const [line] = await shown();
    expect(line).toMatchObject({ status: 'paused', message: expect.stringContaining('3 rows') });
    expect(Math.round((Date.parse(line.next_run) - Date.now()) / 1000)).toBeGreaterThanOrEqual(58);
    expect(await catalog('SELECT failures FROM kg_catalog.jobs')).toEqual([{ failures: 0 }]);
    clock.ahead = 62_000;
    await settled();
    expect((await shown())[0].next_run).toBeNull();
    expect(logged.filter((l) => l.event === 'job').map((l) => l.status)).toEqual([200, 503, 200]);
  });

  it('whose time is over ends the statement that it has sent', async () => {
    await service.rows(JOB, 'shop');
    const [{ id }] = (await catalog("SELECT id::text AS id FROM kg_catalog.ontologies WHERE name = 'shop'")) as [{ id: string }];
    const [job] = await listJobs(runtime.db, id);
    if (job === undefined) throw new Error('no job');
    const control = new AbortController();
    const sent: string[] = [];
    const real = globalThis.fetch;
    globalThis.fetch = async (input, init) => {
      const body = String(init?.body);
      if (!body.includes('CREATE TABLE')) return real(input, init);
      sent.push(body);
      return new Promise((_, reject) => {
        init?.signal?.addEventListener('abort', () => reject(new TypeError('aborted')));
        setTimeout(() => control.abort(), 10);
        setTimeout(() => reject(new TypeError('nothing ended the statement')), 2000).unref();
      });
    };
    try {
      const work = runStep(runScript, runtime, job, crypto.randomUUID(), undefined, control.signal);
      await expect(work).rejects.toMatchObject({ cause: { message: 'aborted' } });
    } finally {
      globalThis.fetch = real;
    }
    expect(sent).toHaveLength(1);
  });

  it('waits while the catalog cannot be reached, and goes on then', async () => {
    await service.rows(`${JOB}; RUN JOB nightly`, 'shop');
    const real = runtime;
    runtime = { ...real, db: { query: () => Promise.reject(new Error('away')), batch: () => Promise.reject(new Error('away')) } };
    const alarms: number[] = [];
    for (let i = 0; i < 3; i++) {
      const now = Date.now() + clock.ahead;
      await jobs.ring(now);
      const [item] = jobs.items.values();
      const pause = (item?.storage.alarmAt ?? 0) - now;
      alarms.push(Math.round(pause / 1000));
      clock.ahead += pause;
    }
    runtime = real;
    expect(alarms).toEqual([15, 30, 60]);
    await settled();
    clock.ahead = 0;
    expect((await shown())[0].status).toBe('succeeded');
  });
});

describe('rights', () => {
  it('to make, run and resume a job are those of its statement; to pause and drop it, EDIT on the ontology', async () => {
    const editor = await service.user('ed', 'EDIT ON ALL ontology.shop', 'QUERY ON ALL ontology.shop');
    const both = await service.user('both', 'EDIT ON ALL ontology.shop', 'EDIT ON datasource.main');
    const reader = await service.user('rita', 'QUERY ON ALL ontology.shop', 'EDIT ON datasource.main');
    await service.rows(JOB, 'shop', both);
    for (const sql of [JOB, 'RUN JOB nightly', 'ALTER JOB nightly RESUME', "ALTER JOB nightly SCHEDULE '0 * * * *'"])
      for (const token of [editor, reader]) expect(await service.fault(sql, 'shop', token), sql).toBe('403 forbidden');
    for (const sql of ['ALTER JOB nightly PAUSE', 'DROP JOB nightly', 'DROP JOB IF EXISTS nightly'])
      expect(await service.fault(sql, 'shop', reader), sql).toBe('403 forbidden');
    await service.rows('RUN JOB nightly', 'shop', both);
    await settled();
    expect(await shown(reader)).toEqual([]);
    expect((await shown(editor))[0]).toMatchObject({ maker: 'both', message: 'the run ended' });
    expect((await shown(both))[0]).toMatchObject({ maker: 'both', message: expect.stringContaining('3 rows') });
    await service.rows('ALTER JOB nightly PAUSE; DROP JOB nightly', 'shop', editor);
  });

  it('are those of the maker at the time of the run', async () => {
    const maker = await service.user('mia', 'EDIT ON ALL ontology.shop', 'EDIT ON datasource.main');
    await service.rows(JOB, 'shop', maker);
    expect(await runs()).toMatchObject({ status: 'succeeded', maker: 'mia' });
    await service.rows('REVOKE EDIT ON datasource.main FROM USER mia');
    // RUN JOB by an administrator does not lend rights to it
    expect(await runs()).toMatchObject({ status: 'paused', next_run: null, message: 'This needs EDIT on datasource.main' });
    await service.rows('GRANT EDIT ON datasource.main TO USER mia; ALTER JOB nightly RESUME; REVOKE EDIT ON ALL ontology.shop FROM USER mia', 'shop');
    expect(await runs()).toMatchObject({ status: 'paused', message: expect.stringContaining('unknown ontology') });
    await service.rows("GRANT EDIT ON ALL ontology.shop TO USER mia; ALTER JOB nightly RESUME; ALTER USER mia SET ACTIVE = 'false'", 'shop');
    expect(await runs()).toMatchObject({ status: 'paused', message: 'The user of this statement may no longer use the service' });
    await service.rows("ALTER USER mia SET ACTIVE = 'true'; ALTER JOB nightly RESUME", 'shop');
    expect(await runs()).toMatchObject({ status: 'succeeded', maker: 'mia' });
  });

  it('of a maker who has lost them pause the job: it does not try again by its schedule', async () => {
    const maker = await service.user('moe', 'EDIT ON ALL ontology.shop', 'EDIT ON datasource.main');
    await service.rows(JOB, 'shop', maker);
    await service.rows("ALTER USER moe SET ACTIVE = 'false'");
    clock.ahead = 2 * HOUR;
    await settled();
    expect((await shown())[0]).toMatchObject({ status: 'paused', next_run: null, message: 'The user of this statement may no longer use the service' });
    logged.length = 0;
    clock.ahead = 50 * HOUR;
    await settled();
    expect(logged.filter((l) => l.event === 'job')).toEqual([]);
    clock.ahead = 0;
    await service.rows("ALTER USER moe SET ACTIVE = 'true'; ALTER JOB nightly RESUME", 'shop');
    expect((await shown())[0]).toMatchObject({ status: expect.stringMatching(/scheduled|succeeded/), next_run: expect.any(String) });
  });

  it('to see the mapping are among them', async () => {
    const maker = await service.user('xeno', 'EDIT ON ontology.shop', 'EDIT ON ALL ontology.shop.concept.person', 'EDIT ON datasource.main');
    await service.rows(JOB, 'shop', maker);
    expect(await runs()).toMatchObject({ status: 'succeeded', maker: 'xeno' });
    await service.rows('REVOKE EDIT ON ALL ontology.shop.concept.person FROM USER xeno', 'shop');
    expect(await runs()).toMatchObject({ status: 'paused', next_run: null, message: expect.stringContaining('unknown mapping') });
  });

  it('to change the schedule do not let it run more often', async () => {
    await service.rows('DROP JOB IF EXISTS nightly', 'shop');
    await service.rows(JOB, 'shop');
    await service.rows('RUN JOB nightly', 'shop');
    await settled();
    const [{ last_run }] = (await service.rows('SHOW JOBS', 'shop')) as [{ last_run: string }];
    for (const change of ["ALTER JOB nightly SCHEDULE '*/5 * * * *'", 'ALTER JOB nightly RESUME', JOB.replace('17 * * * *', '*/5 * * * *')]) {
      const [{ next_run }] = (await service.rows(change, 'shop')) as [{ next_run: string }];
      expect(Date.parse(next_run) - Date.parse(last_run), change).toBeGreaterThanOrEqual(300_000 - 1000);
    }
  });

  it('to run often that an earlier release gave end with the run', async () => {
    await service.rows(JOB, 'shop');
    await catalog("UPDATE kg_catalog.jobs SET schedule = '* * * * *', next_run = now()");
    await service.rows('RUN JOB nightly', 'shop');
    await settled();
    const [{ status, last_run, next_run }] = (await shown()) as [Record<string, string>];
    expect(status).toBe('succeeded');
    expect(Date.parse(next_run ?? '') - Date.parse(last_run ?? '')).toBeGreaterThan(240_000);
  });

  it('of ADMIN_TOKEN end with it', async () => {
    await service.rows(JOB, 'shop');
    expect(await runs()).toMatchObject({ status: 'succeeded', maker: 'admin' });
    const real = runtime;
    for (const adminToken of [createToken(), null]) {
      runtime = { ...real, config: { ...real.config, adminToken } };
      expect(await runs()).toMatchObject({ status: 'paused', next_run: null, message: expect.stringContaining('ADMIN_TOKEN has changed') });
      runtime = real;
      await service.rows('ALTER JOB nightly RESUME', 'shop');
      expect(await runs()).toMatchObject({ status: 'succeeded', message: expect.stringContaining('3 rows') });
    }
    await catalog("UPDATE kg_catalog.jobs SET maker = (maker::jsonb - 'adminToken')::text");
    expect(await runs()).toMatchObject({ status: 'paused', next_run: null, message: expect.stringContaining('An earlier release made this job') });
    await service.rows(JOB, 'shop');
    expect(await runs()).toMatchObject({ status: 'succeeded' });
  });

  it('do not grow when the maker becomes an administrator, whose credential may have been made by others', async () => {
    const maker = await service.user('max', 'EDIT ON ALL ontology.shop', 'EDIT ON datasource.main');
    await service.rows(JOB, 'shop', maker);
    await service.rows('GRANT ROLE admin TO USER max; REVOKE EDIT ON datasource.main FROM USER max');
    expect(await runs()).toMatchObject({ status: 'paused', message: 'This needs EDIT on datasource.main' });
  });

  it('to see a mapping are needed to know of its job', async () => {
    await service.rows('CREATE CONCEPT secret (no integer); CREATE MAPPING m_secret INTO secret AS SELECT no FROM shop.t_person', 'shop');
    await service.rows(JOB.replaceAll('m_person', 'm_secret').replace('nightly', 'hiddn'), 'shop');
    await service.rows(JOB, 'shop');
    const rights = ['EDIT ON ontology.shop', 'QUERY ON ontology.shop.concept.person', 'EDIT ON datasource.main', 'QUERY ON datasource.main'];
    const part = await service.user('una_p', ...rights);
    expect((await shown(part)).map((j) => j.job_name)).toEqual(['nightly']);
    const script = (sql: string) => service.fault(sql, 'shop', part);
    for (const sql of ['RUN JOB', 'ALTER JOB', 'DROP JOB']) {
      const rest = sql === 'ALTER JOB' ? ' PAUSE' : '';
      expect(await script(`${sql} hiddn${rest}`), sql).toBe('400 unknown_job');
      const error = await service.rows(`${sql} hidd${rest}`, 'shop', part).catch(String);
      expect(String(error), sql).not.toContain('hiddn');
    }
    expect(await service.rows('DROP JOB IF EXISTS hiddn', 'shop', part)).toEqual([{ job: 'hiddn', dropped: false }]);
    for (const make of ['JOB', 'OR REPLACE JOB', 'JOB IF NOT EXISTS'])
      expect(await script(JOB.replace('OR REPLACE JOB nightly', `${make} hiddn`)), make).toBe('403 forbidden');
    await service.rows('ALTER JOB nightly PAUSE', 'shop', part);
    expect((await shown()).map((j) => j.job_name)).toEqual(['hiddn', 'nightly']);
    await service.rows('DROP JOB hiddn; DROP MAPPING m_secret; DROP CONCEPT secret', 'shop');
  });

  it('pass to the user who replaces the job', async () => {
    const first = await service.user('una', 'EDIT ON ALL ontology.shop', 'EDIT ON datasource.main');
    const second = await service.user('duo', 'EDIT ON ALL ontology.shop', 'EDIT ON datasource.main');
    await service.rows(JOB, 'shop', first);
    await service.rows(JOB, 'shop', second);
    expect((await shown())[0].maker).toBe('duo');
    await service.rows('DROP USER una');
    expect(await runs()).toMatchObject({ status: 'succeeded', maker: 'duo' });
  });
});

describe('two runs', () => {
  it('of one job never overlap, also from two objects', async () => {
    await service.rows(JOB, 'shop');
    const others = new MemoryJobs(() => runtime);
    const [{ id }] = (await catalog('SELECT id::text AS id FROM kg_catalog.jobs')) as [{ id: string }];
    await service.rows('RUN JOB nightly', 'shop');
    const now = Date.now();
    await others.wake(id, now);
    await Promise.all([jobs.ring(now + 10), others.ring(now + 10)]);
    expect(logged.filter((l) => l.event === 'job' && l.status === 200)).toHaveLength(1);
  });

  it('with one statement run it as often as one of them may', async () => {
    const names = ['first', 'second', 'third'];
    await service.rows(names.map((name) => `CREATE JOB ${name} SCHEDULE '*/5 * * * *' AS ${STATEMENT}`).join('; '), 'shop');
    const planned = Date.parse((await shown())[0].next_run);
    // all of them are due
    await catalog("UPDATE kg_catalog.jobs SET next_run = next_run - interval '1 hour'");
    for (const { storage } of jobs.items.values()) storage.alarmAt = Date.now();
    await Promise.all([ring(), ring()]);
    await settled();
    expect(logged.filter((l) => l.event === 'job' && l.status === 200)).toHaveLength(1);
    const lines = await shown();
    expect(lines.filter(({ last_run }) => last_run !== null)).toHaveLength(1);
    for (const line of lines) expect(Date.parse(line.next_run)).toBeGreaterThanOrEqual(planned);
    expect(new Set(lines.map(({ status }) => status))).toEqual(new Set(['scheduled', 'succeeded']));
  });

  it('wait for each other: RUN JOB during a run makes another one after it', async () => {
    await service.rows(`${JOB}; RUN JOB nightly`, 'shop');
    let again: Promise<unknown> | undefined;
    const real = runtime;
    runtime = {
      ...real,
      db: {
        ...real.db,
        query: (sql, params) => Promise.resolve(again).then(() => real.db.query(sql, params)),
        batch: (calls) => {
          if (calls.some((c) => c.sql.includes('INSERT INTO kg_catalog.cache_tables'))) again ??= service.rows('RUN JOB nightly', 'shop');
          return Promise.resolve(again).then(() => real.db.batch(calls));
        },
      },
    };
    await ring();
    runtime = real;
    expect(again).toBeDefined();
    await settled();
    expect(logged.filter((l) => l.event === 'job' && l.status === 200)).toHaveLength(1);
    // a minute after the first one began
    clock.ahead = 61_000;
    await settled();
    expect(logged.filter((l) => l.event === 'job' && l.status === 200)).toHaveLength(2);
  });

  it('do not overlap after the end of an isolate; the next one waits until no statement can run any more', async () => {
    await service.rows(`${JOB}; RUN JOB nightly`, 'shop');
    const real = runtime;
    // the isolate ends during the run
    runtime = { ...real, db: { ...real.db, batch: () => new Promise(() => undefined) } };
    void jobs.ring();
    await expect.poll(async () => (await shown())[0].status).toBe('running');
    runtime = real;
    jobs.restart();
    clock.ahead = 60_000;
    expect(await ring()).toBe(0);
    for (const { storage } of jobs.items.values()) storage.alarmAt = Date.now();
    await ring();
    expect(logged.filter((l) => l.event === 'job')).toEqual([]);
    expect((await shown())[0].status).toBe('running');
    await catalog("UPDATE kg_catalog.jobs SET run_until = now() - interval '1 second'");
    for (const { storage } of jobs.items.values()) storage.alarmAt = Date.now();
    await settled();
    const [line] = await shown();
    expect(line).toMatchObject({ status: 'failed', message: 'the platform ended the run' });
    expect(Math.round((Date.parse(line.next_run) - Date.now() - clock.ahead) / 60_000)).toBe(1);
    clock.ahead += 61_000;
    await settled();
    clock.ahead = 0;
    expect((await shown())[0].status).toBe('succeeded');
  });

  it('count as failed if the platform ends each of them', async () => {
    await service.rows(`${JOB}; RUN JOB nightly`, 'shop');
    const real = runtime;
    const pauses: number[] = [];
    for (let i = 0; i < 3; i++) {
      runtime = { ...real, db: { ...real.db, batch: () => new Promise(() => undefined) } };
      void ring();
      await expect.poll(async () => (await shown())[0].status).toBe('running');
      runtime = real;
      jobs.restart();
      await catalog("UPDATE kg_catalog.jobs SET run_until = now() - interval '1 second'");
      for (const { storage } of jobs.items.values()) storage.alarmAt = Date.now() + clock.ahead;
      await settled();
      const [line] = await shown();
      pauses.push(Math.round((Date.parse(line.next_run) - Date.now() - clock.ahead) / 60_000));
      clock.ahead = Date.parse(line.next_run) - Date.now() + 10;
    }
    expect(pauses).toEqual([1, 2, 4]);
  });

  it('of different statements: the result of the old one is not that of the new one', async () => {
    await service.rows(`${JOB}; RUN JOB nightly`, 'shop');
    const real = runtime;
    let replaced: Promise<unknown> | undefined;
    runtime = {
      ...real,
      db: {
        query: (sql, params) => Promise.resolve(replaced).then(() => real.db.query(sql, params)),
        batch: (calls) => {
          if (calls.some((c) => c.sql.includes('INSERT INTO kg_catalog.cache_tables'))) replaced ??= service.rows(JOB.replace('17', '23'), 'shop');
          return Promise.resolve(replaced).then(() => real.db.batch(calls));
        },
      },
    };
    await ring();
    runtime = real;
    expect((await shown())[0]).toMatchObject({ status: 'scheduled', message: null, schedule: '23 * * * *', next_run: expect.stringMatching(/:23:00/) });
  });
});

describe('what is left', () => {
  it('of a job whose alarm was lost is started again by the sweep', async () => {
    await service.rows(JOB, 'shop');
    for (const { storage } of jobs.items.values()) {
      storage.values.clear();
      storage.alarmAt = null;
    }
    clock.ahead = 2 * HOUR;
    expect(await ring()).toBe(0);
    await sweepJobs(runtime);
    await settled();
    expect((await shown())[0].status).toBe('succeeded');
  });

  it('of a dropped job, ontology or user is nothing', async () => {
    const maker = await service.user('zoe', 'EDIT ON ontology', 'EDIT ON datasource.main');
    const gone = async (drop: string, ontology: string): Promise<void> => {
      await service.rows(drop, ontology);
      expect(await catalog('SELECT name FROM kg_catalog.jobs')).toEqual([]);
      // the longest time until the object looks at the catalog
      clock.ahead = 24 * HOUR;
      await settled();
      clock.ahead = 0;
      for (const { storage } of jobs.items.values()) expect([storage.values.size, storage.alarmAt]).toEqual([0, null]);
    };
    await service.rows("CREATE OR REPLACE JOB yearly SCHEDULE '0 0 1 1 *' AS CACHE MAPPING m_person OPTIONS (schema = 'cached')", 'shop');
    await gone('DROP JOB yearly', 'shop');
    await service.rows("CREATE OR REPLACE JOB yearly SCHEDULE '0 0 1 1 *' AS CACHE MAPPING m_person OPTIONS (schema = 'cached')", 'shop');
    await service.rows('RUN JOB yearly', 'shop');
    await settled();
    await service.rows('UNCACHE MAPPING m_person', 'shop');
    await service.rows('DROP JOB yearly', 'shop');
    await service.rows(`${MODEL.replaceAll('ONTOLOGY shop', 'ONTOLOGY other')}; ${JOB}; RUN JOB nightly`, 'other', maker);
    await settled();
    expect(await tablesLeft()).toBeGreaterThan(0);
    await gone('DROP ONTOLOGY other', '');
    await catalog("UPDATE kg_catalog.cache_tables SET drop_after = now() WHERE drop_after <> 'infinity'");
    await sweepCaches(runtime);
    expect(await tablesLeft()).toBe(0);
    await service.rows('GRANT EDIT ON ALL ontology.shop TO USER zoe');
    await service.rows(JOB, 'shop', maker);
    await gone('DROP USER zoe', '');
  });
});

describe('VALIDATE DATA', () => {
  const CHECKS = "CREATE OR REPLACE JOB checks SCHEDULE '40 3 * * *' AS VALIDATE DATA shop";
  const ran = async (token = service.token): Promise<Record<string, unknown>> => {
    await waited();
    await service.rows('RUN JOB checks', 'shop');
    await settled();
    return (await shown(token))[0];
  };

  it('checks and counts the data, in steps, and says what it has found', async () => {
    await service.rows(
      Array.from({ length: 50 }, (_, i) => `CREATE OR REPLACE MAPPING m_more${i} INTO person AS SELECT no + 3 AS no, name FROM shop.t_person WHERE false`).join(
        '; ',
      ),
      'shop',
    );
    await service.rows(CHECKS, 'shop');
    await service.rows('RUN JOB checks', 'shop');
    const real = globalThis.fetch;
    let requests = 0;
    globalThis.fetch = (input, init) => {
      requests++;
      return real(input, init);
    };
    try {
      expect(await ring()).toBe(1);
    } finally {
      globalThis.fetch = real;
    }
    expect(requests).toBeLessThan(45);
    expect((await shown())[0].status).toBe('running');
    // the isolate ends between two steps
    jobs.restart();
    await settled();
    expect((await shown())[0]).toMatchObject({
      job_type: 'VALIDATE DATA',
      target: 'shop',
      status: 'succeeded',
      message: expect.stringMatching(/^0 errors, 0 warnings/),
    });
    const [{ n }] = (await service.rows("SELECT sum(number_of_rows) AS n FROM SYS_CONCEPT_MAPPINGS WHERE concept = 'person'", 'shop')) as [{ n: number }];
    expect(Number(n)).toBe(3);
    await service.rows(Array.from({ length: 50 }, (_, i) => `DROP MAPPING m_more${i}`).join('; '), 'shop');
  });

  it('begins again if the release that goes on splits the checks differently', async () => {
    const more = Array.from({ length: 50 }, (_, i) => `m_more${i}`);
    await service.rows(more.map((m) => `CREATE MAPPING ${m} INTO person AS SELECT no + 3 AS no, name FROM shop.t_person WHERE false`).join('; '), 'shop');
    await service.rows(`${CHECKS}; RUN JOB checks`, 'shop');
    expect(await ring()).toBe(1);
    const { storage } = jobs.items.values().next().value as { readonly storage: MemoryStorage };
    const kept = JSON.parse(String(storage.values.get('piece0')));
    expect(kept.state.done).toBeGreaterThan(0);
    // with these checks the run would be over, without a finding
    storage.values.set(
      'piece0',
      JSON.stringify({ ...kept, state: { ...kept.state, done: 10_000, of: 10_001, found: { counts: [], findings: [], statistics: [] } } }),
    );
    await settled();
    expect((await shown())[0]).toMatchObject({ status: 'succeeded', message: expect.stringMatching(/^0 errors, 0 warnings/) });
    const [{ n }] = (await service.rows("SELECT count(number_of_rows) AS n FROM SYS_CONCEPT_MAPPINGS WHERE concept = 'person'", 'shop')) as [{ n: number }];
    expect(Number(n)).toBe(51);
    await service.rows(more.map((m) => `DROP MAPPING ${m}`).join('; '), 'shop');
  });

  it('has no check of many statements, also if a concept has many properties that fail', async () => {
    const names = Array.from({ length: 40 }, (_, i) => `p${i}`);
    await service.rows(
      `CREATE ONTOLOGY wide; ${names.map((p) => `CREATE PROPERTY ${p} integer AS SELECT 1 / (no - no)`).join('; ')};
       ${names.map((p) => `CREATE MEASURE m_${p} integer AS SELECT SUM(1 / (no - no))`).join('; ')};
       CREATE CONCEPT person (no integer, ${names.map((p) => `c_${p} integer`).join(', ')}, ${names.map((p) => `${p} integer, m_${p} MEASURE integer`).join(', ')}, PRIMARY KEY (no));
       CREATE MAPPING m INTO person AS SELECT no, ${names.map((p) => `no AS c_${p}`).join(', ')} FROM shop.t_person`,
      'wide',
    );
    const counts: number[] = [];
    const plan = vi.spyOn(DataReader.prototype, 'plan');
    const real = runtime;
    runtime = { ...real, now: () => real.now() + plan.mock.calls.length * 1_000_000 };
    try {
      await service.rows("CREATE JOB wide SCHEDULE '40 3 * * *' AS VALIDATE DATA wide; RUN JOB wide", 'wide');
      clock.ahead = 60_000;
      // each alarm makes one check, because its time is over then
      for (let i = 0, before = 0; i < 60 && (await jobs.ring(Number.POSITIVE_INFINITY)) > 0; i++) {
        counts.push(plan.mock.calls.length - before);
        before = plan.mock.calls.length;
        if ((await service.rows('SHOW JOBS', 'wide'))[0].status !== 'running') break;
      }
    } finally {
      runtime = real;
      plan.mockRestore();
    }
    expect((await service.rows('SHOW JOBS', 'wide'))[0].message).toMatch(/^80 errors/);
    expect(counts.length).toBeGreaterThan(15);
    expect(Math.max(...counts)).toBeLessThanOrEqual(12);
    await service.rows('DROP ONTOLOGY wide');
  });

  it('ends after its step if the job is paused or replaced, and the next run does not wait', async () => {
    await service.rows(
      Array.from({ length: 30 }, (_, i) => `CREATE OR REPLACE MAPPING m_more${i} INTO person AS SELECT no + 3 AS no, name FROM shop.t_person WHERE false`).join(
        '; ',
      ),
      'shop',
    );
    await service.rows(`${CHECKS}; RUN JOB checks`, 'shop');
    await ring();
    await service.rows('ALTER JOB checks PAUSE', 'shop');
    await ring();
    expect((await shown())[0]).toMatchObject({ status: 'paused', message: 'the job was paused during the run', next_run: null });
    // RUN JOB runs a paused job to its end
    expect(await ran()).toMatchObject({ status: 'paused', message: expect.stringMatching(/^0 errors/) });
    await service.rows('ALTER JOB checks RESUME; RUN JOB checks', 'shop');
    await ring();
    await service.rows(CHECKS.replace('40 3', '41 3'), 'shop');
    await ring();
    expect((await shown())[0]).toMatchObject({ status: 'scheduled', message: null, last_run: null });
    await service.rows(Array.from({ length: 30 }, (_, i) => `DROP MAPPING m_more${i}`).join('; '), 'shop');
  });

  it('names what is wrong with the data', async () => {
    await service.rows('CREATE OR REPLACE MAPPING m_twice INTO person AS SELECT no, name FROM shop.t_person WHERE no < 3', 'shop');
    await service.rows('CREATE OR REPLACE MAPPING m_third INTO person AS SELECT no, name FROM shop.t_person WHERE no = 3', 'shop');
    await service.rows(CHECKS, 'shop');
    const { message } = await ran();
    expect(message).toContain('2 errors, 0 warnings');
    expect(message).toMatch(/the mappings `m_person`, `m_third` share 1 key/);
    expect(message).toMatch(/the mappings `m_person`, `m_twice` share 2 keys/);
    await service.rows('DROP MAPPING m_twice; DROP MAPPING m_third', 'shop');
  });

  it('needs all rows of the ontology and its datasources, in each run', async () => {
    const maker = await service.user('val', 'EDIT ON ALL ontology.shop', 'QUERY ON ALL ontology.shop', 'EDIT ON datasource.main');
    const part = await service.user('quinn', 'EDIT ON ontology.shop', 'QUERY ON ALL ontology.shop', 'EDIT ON datasource.main');
    const editor = await service.user('edi', 'EDIT ON ALL ontology.shop', 'QUERY ON ALL ontology.shop');
    for (const token of [part, editor]) expect(await service.fault(CHECKS, 'shop', token)).toBe('403 forbidden');
    expect(await service.fault("CREATE JOB c SCHEDULE '0 * * * *' AS VALIDATE DATA other", 'shop')).toBe('400 other_ontology');
    await service.rows(CHECKS, 'shop', maker);
    expect(await ran(maker)).toMatchObject({ status: 'succeeded', message: expect.stringContaining('0 errors') });
    expect((await shown(editor))[0].message).toBe('the run ended');
    await service.rows('CREATE POLICY few ON CONCEPT person TO PUBLIC USING (no < 2)', 'shop');
    expect(await ran()).toMatchObject({ status: 'paused', message: expect.stringContaining('no policy applies') });
    expect((await shown(maker))[0].message).toBe('the run failed');
    await service.rows('DROP POLICY few', 'shop');
    await service.rows('REVOKE EDIT ON datasource.main FROM USER val');
    expect(await ran()).toMatchObject({ status: 'paused', message: 'This needs EDIT on datasource.main' });
  });
});
