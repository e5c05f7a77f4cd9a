/** Reads from replicas, on PostgreSQL servers with hot standbys that are killed, lag, hang, are promoted, or belong to another cluster. */
import { createServer, type Server } from 'node:net';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { postgresPrograms, startScratchPostgres, startStandby } from '../../dev/scratch-postgres.ts';
import { forgetReplicas } from '../../src/engine/replicas/read.ts';
import { forgetRoles } from '../../src/engine/settings.ts';
import { Budget } from '../../src/nesting/cut.ts';
import { connect, listingSession } from '../support/mcp.ts';
import { startService, type TestService } from '../support/service.ts';
import { type Place, place } from './support/places.ts';

const missing = postgresPrograms() === undefined;
if (missing) console.warn('replicas.deep.test: no PostgreSQL on this machine; it is skipped');

const TIMEOUT_MS = 10_000;
const MAX_LAG_MS = 1000;

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

describe.skipIf(missing)('replicas', () => {
  let primary: Place;
  let first: Place;
  let second: Place;
  let other: Place;
  let hole: Server;
  let service: TestService;
  const open: { stop(): Promise<void> }[] = [];
  const lines: Readonly<Record<string, unknown>>[] = [];

  const standby = async (settings: readonly string[] = []): Promise<Place> => {
    const made = await place(await startStandby(primary.server, ['max_standby_streaming_delay=-1', ...settings]));
    open.unshift(made);
    return made;
  };

  beforeAll(async () => {
    primary = await place(await startScratchPostgres());
    open.push(primary);
    for (const sql of [
      'CREATE ROLE reader LOGIN',
      'ALTER ROLE reader SET default_transaction_read_only = on',
      `ALTER ROLE reader SET statement_timeout = '${TIMEOUT_MS}ms'`,
      "ALTER ROLE reader SET search_path = ''",
      'ALTER ROLE reader SET "TimeZone" = \'UTC\'',
      'ALTER ROLE reader SET jit = off',
      'CREATE TABLE public.clock (id int PRIMARY KEY, tick bigint NOT NULL)',
      'INSERT INTO public.clock VALUES (1, 0)',
      'GRANT SELECT ON public.clock TO reader',
    ])
      await primary.server.exec(sql);
    first = await standby();
    second = await standby();
    other = await place(await startScratchPostgres());
    open.push(other);
    for (const sql of ['CREATE ROLE reader LOGIN', 'CREATE TABLE public.clock AS SELECT 1 AS id, -5::bigint AS tick', 'GRANT SELECT ON public.clock TO reader'])
      await other.server.exec(sql);
    // accepts connections, and never answers
    hole = createServer(() => undefined);
    await new Promise<void>((resolve) => hole.listen(0, '127.0.0.1', resolve));
    const { port } = hole.address() as { port: number };
    service = await startService({
      settings: {
        STATEMENT_TIMEOUT_MS: String(TIMEOUT_MS),
        DATASOURCE_D: primary.secret,
        DATASOURCE_D_R1: first.secret,
        DATASOURCE_D_R2: second.secret,
        DATASOURCE_OTHER: other.secret,
        DATASOURCE_HOLE: JSON.stringify({ url: 'postgres://reader@127.0.0.1:1/postgres', endpoint: `http://127.0.0.1:${port}/sql` }),
        DATASOURCE_BROKEN: 'nonsense',
      },
      parts: { log: (line) => lines.push(line) },
    });
    await service.rows("CREATE DATASOURCE d TYPE postgres SECRET 'DATASOURCE_D'");
    await service.rows(`CREATE ONTOLOGY o; ALTER ONTOLOGY o ADD DATASOURCE d; CREATE CONCEPT clock (id integer, tick bigint, PRIMARY KEY (id));
      CREATE MAPPING m INTO (clock) USING d AS SELECT id, tick FROM public.clock`);
  });
  afterAll(async () => {
    await service?.close();
    hole?.close();
    for (const { stop } of open) await stop();
  });

  /** Uses these variables as replicas. */
  const use = async (...names: string[]): Promise<void> => {
    const options = names.length === 0 ? '' : ` OPTIONS (replicas = '${names.join(', ')}', max_lag = '${MAX_LAG_MS} ms')`;
    await service.rows(`CREATE OR REPLACE DATASOURCE d TYPE postgres SECRET 'DATASOURCE_D'${options}`);
    forgetReplicas();
    forgetRoles();
    lines.length = 0;
  };
  beforeEach(() => use('DATASOURCE_D_R1', 'DATASOURCE_D_R2'));

  interface Read {
    readonly status: number;
    readonly tick: number;
    readonly source: string | null;
    readonly text: string;
  }
  const read = async (sql = 'SELECT tick FROM svc.clock', headers: Readonly<Record<string, string>> = {}, token = service.token): Promise<Read> => {
    const response = await service.fetch('/svc/api/query', {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-api-key': token, ...headers },
      body: JSON.stringify({ ontology_name: 'o', query: sql }),
    });
    const text = await response.text();
    return { status: response.status, tick: Number(JSON.parse(text).data?.[0]?.tick), source: response.headers.get('x-datasource'), text };
  };
  /** Reads until a database answers that fits. */
  const until = (source: RegExp): Promise<void> => expect.poll(async () => (await read()).source, { interval: 50 }).toMatch(source);
  /** Reads in a row, and from `workers` places at once. @returns how many answers each database gave */
  const many = async (count: number, workers = 4): Promise<{ readonly sources: Record<string, number>; readonly failed: string[] }> => {
    const sources: Record<string, number> = {};
    const failed: string[] = [];
    const work = async (): Promise<void> => {
      for (let i = 0; i < count / workers; i++) {
        const { status, source, text } = await read();
        if (status !== 200) failed.push(text);
        sources[String(source)] = (sources[String(source)] ?? 0) + 1;
      }
    };
    await Promise.all(Array.from({ length: workers }, work));
    return { sources, failed };
  };
  /** Counts up on the primary while `during` runs, and checks that each answer has all that was written more than `max_lag` before it. */
  const ticking = async (during: () => Promise<void>): Promise<number> => {
    const written: { at: number; tick: number }[] = [];
    let isOver = false;
    const writer = async (): Promise<void> => {
      for (let tick = Number(((await primary.server.exec('SELECT tick FROM public.clock')) as { tick: string }[])[0]?.tick) + 1; !isOver; tick++) {
        await primary.server.exec(`UPDATE public.clock SET tick = ${tick} WHERE id = 1`);
        written.push({ at: Date.now(), tick });
        await pause(20);
      }
    };
    let reads = 0;
    const wrong: string[] = [];
    const reader = async (): Promise<void> => {
      while (!isOver) {
        const begun = Date.now();
        const { status, tick, source, text } = await read();
        reads++;
        const known = written.findLast(({ at }) => at <= begun - MAX_LAG_MS)?.tick ?? 0;
        if (status !== 200 || !(tick >= known)) wrong.push(`${source}: ${text}, ${known} was written`);
      }
    };
    const all = [writer(), reader(), reader(), reader()];
    try {
      await during();
    } finally {
      isOver = true;
      await Promise.all(all);
    }
    expect(wrong).toEqual([]);
    expect(reads).toBeGreaterThan(20);
    return reads;
  };

  it('answer most reads, and the header says which one', async () => {
    expect((await read()).source).toBe('primary; name=d');
    await until(/replica/);
    const { sources, failed } = await many(300);
    expect(failed).toEqual([]);
    expect(Object.keys(sources)).toEqual(expect.arrayContaining(['replica 1; name=d', 'replica 2; name=d']));
    expect((sources['replica 1; name=d'] ?? 0) + (sources['replica 2; name=d'] ?? 0)).toBeGreaterThan(200);
  });

  it('are not asked if the caller wants the rows of the primary', async () => {
    await until(/replica/);
    for (let i = 0; i < 10; i++) expect((await read(undefined, { 'x-consistency': 'primary' })).source).toBe('primary; name=d');
    expect(await read(undefined, { 'x-consistency': 'strong' })).toMatchObject({ status: 400, text: expect.stringContaining('bad_consistency') });
  });

  it('are named by the answers of asynchronous statements, which are not asked either', async () => {
    const wait = async (headers: Readonly<Record<string, string>> = {}): Promise<string | null> => {
      const own = { 'content-type': 'text/plain', 'x-api-key': service.token };
      const begun = await service.fetch('/svc/openapi/ontology/o/query', {
        method: 'POST',
        headers: { ...own, 'x-async': 'true', ...headers },
        body: 'SELECT tick FROM svc.clock',
      });
      const { response_id } = (await begun.json()) as { response_id: string };
      let source: string | null = null;
      await expect
        .poll(async () => {
          const answer = await service.fetch(`/svc/openapi/get-async-results/${response_id}`, { headers: own });
          source = answer.headers.get('x-datasource');
          return ((await answer.json()) as { status: string }).status;
        })
        .toBe('completed');
      return source;
    };
    await until(/replica/);
    await expect.poll(() => wait()).toMatch(/^replica [12]; name=d$/);
    for (let i = 0; i < 5; i++) expect(await wait({ 'x-consistency': 'primary' })).toBe('primary; name=d');
  });

  it('are not asked by a tool of the MCP server if its client wants the rows of the primary', async () => {
    await use('DATASOURCE_D_R1');
    await until(/replica/);
    const request = await service.request(service.token);
    const tick = async (fresh: boolean): Promise<number> => {
      const target = { ontology: 'o', isNamed: true, agent: undefined };
      const session = listingSession({ ...request, target, fresh, answers: new Budget(1e6) });
      const client = await connect(session);
      const answer = await client.callTool({ name: 'execute_sql', arguments: { query: 'SELECT tick FROM svc.clock' } });
      expect(answer.isError, JSON.stringify(answer)).toBeFalsy();
      return (answer.structuredContent as { rows: { tick: number }[] }).rows[0]?.tick ?? Number.NaN;
    };
    // what was committed a moment ago is only on the primary, within max_lag
    await first.server.exec('SELECT pg_wal_replay_pause()');
    try {
      const before = await tick(true);
      await primary.server.exec('UPDATE public.clock SET tick = tick + 1');
      expect([await tick(false), await tick(true)]).toEqual([before, before + 1]);
    } finally {
      await first.server.exec('SELECT pg_wal_replay_resume()');
    }
  });

  it('are not named to callers who do not see the datasource', async () => {
    const ann = await service.user('ann', 'QUERY ON ALL ontology.o');
    await until(/replica/);
    for (let i = 0; i < 10; i++) expect((await read(undefined, {}, ann)).source).toMatch(/^(primary|replica [12])$/);
  });

  it('are used while the primary is idle', async () => {
    await primary.server.exec('SELECT pg_switch_wal()');
    await pause(2 * MAX_LAG_MS);
    forgetReplicas();
    await until(/replica/);
    await pause(2 * MAX_LAG_MS);
    await until(/replica/);
  });

  it('never return older rows than max_lag while they lag', async () => {
    await ticking(async () => {
      await until(/replica/);
      for (const { server } of [first, second]) await server.exec('SELECT pg_wal_replay_pause()');
      await pause(3 * MAX_LAG_MS);
      expect((await many(40, 2)).sources).toEqual({ 'primary; name=d': 40 });
      await first.server.exec('SELECT pg_wal_replay_resume()');
      await until(/replica 1/);
      await second.server.exec('SELECT pg_wal_replay_resume()');
      await until(/replica 2/);
    });
  });

  it('spare errors of tables that they do not have yet', async () => {
    for (const { server } of [first, second]) await server.exec('SELECT pg_wal_replay_pause()');
    await primary.server.exec('CREATE TABLE public.late AS SELECT 7 AS id');
    await primary.server.exec('GRANT SELECT ON public.late TO reader');
    await service.rows('CREATE CONCEPT late (id integer, PRIMARY KEY (id)); CREATE MAPPING l INTO (late) USING d AS SELECT id FROM public.late', 'o');
    try {
      await read();
      await pause(100);
      for (let i = 0; i < 10; i++) expect(await read('SELECT id FROM svc.late')).toMatchObject({ status: 200, source: 'primary; name=d' });
    } finally {
      for (const { server } of [first, second]) await server.exec('SELECT pg_wal_replay_resume()');
    }
  });

  it('give the errors of the primary', async () => {
    await until(/replica/);
    const wrong = await read('SELECT tick / 0 AS x FROM svc.clock');
    expect(wrong).toMatchObject({ status: 400, text: expect.stringContaining('division_by_zero') });
    await until(/replica/);
  });

  it('do not delay reads that they block for the whole time', async () => {
    await use('DATASOURCE_D_R1');
    await until(/replica 1/);
    // the standby has replayed the lock, and not its end
    const lock = primary.server.exec('BEGIN; LOCK TABLE public.clock; SELECT pg_sleep(5); COMMIT');
    await expect
      .poll(
        async () => {
          // writes down what is before it
          await primary.server.exec('SELECT pg_switch_wal()');
          return first.server.exec("SELECT count(*)::int AS n FROM pg_locks WHERE mode = 'AccessExclusiveLock' AND relation = 'public.clock'::regclass");
        },
        { interval: 50 },
      )
      .toEqual([{ n: 1 }]);
    await first.server.exec('SELECT pg_wal_replay_pause()');
    await lock;
    try {
      const answers = await Promise.all(Array.from({ length: 5 }, () => read()));
      expect(answers.map((a) => a.status)).toEqual([200, 200, 200, 200, 200]);
    } finally {
      await first.server.exec('SELECT pg_wal_replay_resume()');
    }
  });

  it('that never answer are given up soon', async () => {
    await use('DATASOURCE_HOLE');
    expect((await read()).source).toBe('primary; name=d');
    await expect.poll(() => lines.some((l) => l.reason === 'it does not answer') || read().then(() => false)).toBe(true);
    let asked = 0;
    const count = (): void => void asked++;
    hole.on('connection', count);
    expect((await many(20)).sources).toEqual({ 'primary; name=d': 20 });
    hole.off('connection', count);
    // not for each read
    expect(asked).toBeLessThan(20);
  });

  it('of another cluster, without a connection or without a variable are not used', async () => {
    const [row] = await service.rows(
      "CREATE OR REPLACE DATASOURCE d TYPE postgres SECRET 'DATASOURCE_D' OPTIONS (replicas = 'DATASOURCE_OTHER, DATASOURCE_BROKEN, DATASOURCE_NONE')",
    );
    expect(row.warning).toContain('DATASOURCE_NONE');
    forgetReplicas();
    await read();
    await expect.poll(() => lines.some((l) => l.reason === 'not a standby') || read().then(() => false)).toBe(true);
    for (let i = 0; i < 20; i++) expect(await read()).toMatchObject({ status: 200, source: 'primary; name=d' });
    const response = await service.fetch('/svc/api/health/ready', { headers: { 'x-api-key': service.token } });
    const { data } = (await response.json()) as { data: { checks: { name: string; state: string; detail?: string }[] } };
    expect(data.checks.filter((c) => c.name.startsWith('datasource d replica')).map(({ name, state }) => [name, state])).toEqual([
      ['datasource d replica 1', 'warning'],
      ['datasource d replica 2', 'warning'],
      ['datasource d replica 3', 'warning'],
    ]);
  });

  it('of the primary itself, or a standby of another one, are not used', async () => {
    const stranger = await place(await startStandby(other.server));
    open.unshift(stranger);
    const settings = service.request(service.token).then((r) => r.runtime.config.datasourceSecrets as Record<string, string>);
    Object.assign(await settings, { DATASOURCE_STRANGER: stranger.secret, DATASOURCE_SELF: primary.secret });
    await use('DATASOURCE_STRANGER', 'DATASOURCE_SELF');
    const { sources, failed } = await many(60);
    expect([sources, failed]).toEqual([{ 'primary; name=d': 60 }, []]);
    expect(new Set(lines.filter((l) => l.event === 'replica').map((l) => l.reason))).toEqual(new Set(['another database', 'not a standby']));
  });

  it('that are killed cost no request', async () => {
    const doomed = await standby();
    const settings = (await service.request(service.token)).runtime.config.datasourceSecrets as Record<string, string>;
    settings.DATASOURCE_DOOMED = doomed.secret;
    await use('DATASOURCE_DOOMED', 'DATASOURCE_D_R2');
    await until(/replica 1/);
    await ticking(async () => {
      await pause(500);
      await doomed.server.stop();
      await pause(2000);
    });
    const { sources, failed } = await many(100);
    expect(failed).toEqual([]);
    expect(sources['replica 1; name=d']).toBeUndefined();
    expect(sources['replica 2; name=d']).toBeGreaterThan(0);
  });

  it('that are promoted never answer again', async () => {
    const heir = await standby();
    const settings = (await service.request(service.token)).runtime.config.datasourceSecrets as Record<string, string>;
    settings.DATASOURCE_HEIR = heir.secret;
    await use('DATASOURCE_HEIR');
    await until(/replica 1/);
    await ticking(async () => {
      await pause(300);
      await heir.server.exec('SELECT pg_promote()');
      await heir.server.exec('UPDATE public.clock SET tick = -1');
      await pause(1500);
    });
    expect((await many(40)).sources).toEqual({ 'primary; name=d': 40 });
  });
});
