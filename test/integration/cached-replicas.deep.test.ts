/** Cached mappings of a datasource with a hot standby: what queries return while the standby does not have the new table yet, and after it was dropped. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { postgresPrograms, startScratchPostgres, startStandby } from '../../dev/scratch-postgres.ts';
import { sweepCaches } from '../../src/service/write/refresh-cache.ts';
import { startService, type TestService } from '../support/service.ts';
import { type Place, place } from './support/places.ts';

const missing = postgresPrograms() === undefined;
if (missing) console.warn('cached-replicas.deep.test: no PostgreSQL on this machine; it is skipped');

const CACHE = "CACHE MAPPING m OPTIONS (schema = 'cached', incremental = 'changed_at', overlap = '0', full_every = '3', max_age = '1 hour')";

describe.skipIf(missing)('cached mappings and a standby', () => {
  let primary: Place;
  let writer: Place;
  let standby: Place;
  let service: TestService;
  const sql = (text: string): Promise<unknown> => primary.server.exec(text);
  const replay = (what: 'pause' | 'resume'): Promise<unknown> => standby.server.exec(`SELECT pg_wal_replay_${what}()`);

  beforeAll(async () => {
    primary = await place(await startScratchPostgres());
    for (const text of [
      'CREATE ROLE reader LOGIN',
      'ALTER ROLE reader SET default_transaction_read_only = on',
      "ALTER ROLE reader SET search_path = ''",
      'CREATE ROLE writer LOGIN',
      'CREATE SCHEMA cached',
      'GRANT CREATE, USAGE ON SCHEMA cached TO writer',
      'GRANT USAGE ON SCHEMA cached TO reader',
      'CREATE TABLE public.t (id int PRIMARY KEY, n bigint NOT NULL, changed_at timestamptz NOT NULL)',
      'INSERT INTO public.t SELECT g, 0, now() FROM generate_series(1, 1000) g',
      'GRANT SELECT ON public.t TO reader, writer',
    ])
      await sql(text);
    writer = await place(primary.server, 'writer');
    standby = await place(await startStandby(primary.server, ['max_standby_streaming_delay=-1']));
    service = await startService({
      settings: { DATASOURCE_D: primary.secret, DATASOURCE_D_WRITER: writer.secret, DATASOURCE_D_R1: standby.secret },
    });
    await service.rows("CREATE DATASOURCE d TYPE postgres SECRET 'DATASOURCE_D' OPTIONS (replicas = 'DATASOURCE_D_R1', max_lag = '1 h')");
    await service.rows(`CREATE ONTOLOGY o; ALTER ONTOLOGY o ADD DATASOURCE d; CREATE CONCEPT t (id integer, n integer, changed_at timestamp, PRIMARY KEY (id));
      CREATE MAPPING m INTO (t) USING d AS SELECT id, n, changed_at FROM public.t`);
  });
  afterAll(async () => {
    await service?.close();
    await standby?.stop();
    await writer?.stop();
    await primary?.stop();
  });

  const read = async (): Promise<{ readonly text: string; readonly source: string | null; readonly asOf: string | null }> => {
    const response = await service.fetch('/svc/api/query', {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-api-key': service.token },
      body: JSON.stringify({ ontology_name: 'o', query: 'SELECT COUNT(*) AS c, SUM(n) AS s FROM svc.t' }),
    });
    const text = await response.text();
    expect(response.status, text).toBe(200);
    return { text: JSON.stringify(JSON.parse(text).data), source: response.headers.get('x-datasource'), asOf: response.headers.get('x-data-as-of') };
  };
  const until = (source: RegExp): Promise<void> => expect.poll(async () => (await read()).source, { interval: 50 }).toMatch(source);

  it('the new table is read from the primary until the standby has it, then from there; no answer fails or is older', async () => {
    for (let round = 1; round <= 7; round++) {
      await until(/replica|primary/);
      await replay('pause');
      await sql(`UPDATE public.t SET n = ${round}, changed_at = clock_timestamp() WHERE id % 7 = ${round % 7}`);
      const [{ as_of }] = await service.rows(CACHE, 'o');
      const expected = JSON.stringify((await sql('SELECT count(*)::int AS c, sum(n)::int AS s FROM public.t')) as unknown[]);
      for (let i = 0; i < 5; i++) expect(await read()).toEqual({ text: expected, source: 'primary; name=d', asOf: as_of });
      await replay('resume');
      await until(/replica 1/);
      for (let i = 0; i < 5; i++) expect(await read()).toMatchObject({ text: expected, asOf: as_of });
      // the tables of earlier rounds are dropped while queries run
      await service.database.superuser("UPDATE kg_catalog.cache_tables SET drop_after = now() WHERE drop_after <> 'infinity'");
      const { runtime } = await service.request(service.token);
      await Promise.all([sweepCaches(runtime), ...Array.from({ length: 8 }, async () => expect((await read()).text).toBe(expected))]);
    }
    const left = (await sql("SELECT tablename FROM pg_tables WHERE schemaname = 'cached'")) as unknown[];
    expect(left).toHaveLength(1);
  });
});
