/** The procedures of docs/operating.md: backup and restore of the catalog, migrations while requests run, new secrets; and what a request costs. */
import { execFileSync } from 'node:child_process';
import { cpSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { migrate, runOverHttp } from '../../dev/migrate.ts';
import { CATALOG_OWNER, READER } from '../../dev/roles.ts';
import { postgresPrograms } from '../../dev/scratch-postgres.ts';
import { PgBackend } from '../../dev/sql/pg-backend.ts';
import { startSqlServer } from '../../dev/sql-server.ts';
import { localPostgresAvailable } from '../../dev/testing.ts';
import { createToken } from '../../src/auth/tokens.ts';
import { neonDb } from '../../src/catalog/db.ts';
import { keyValues } from '../../src/catalog/kv.ts';
import { forgetSnapshots } from '../../src/catalog/snapshot.ts';
import { loadNodeParser } from '../../src/cli/node-parser.ts';
import { readConfig } from '../../src/config.ts';
import { createApp } from '../../src/http/app.ts';
import { memoryNamespace } from '../support/memory-namespace.ts';
import { startService, type TestService } from '../support/service.ts';

const MIGRATIONS = fileURLToPath(new URL('../../migrations/', import.meta.url));
const MODEL = `CREATE ONTOLOGY shop; CREATE CONCEPT city (id bigint, name string, PRIMARY KEY (id));
  CREATE MAPPING m INTO (city) AS SELECT id, name FROM shop.t_city`;
const TABLES = ['CREATE SCHEMA shop', 'CREATE TABLE shop.t_city (id bigint PRIMARY KEY, name text)', "INSERT INTO shop.t_city VALUES (1, 'Oslo'), (2, 'Lima')"];

const start = (): Promise<TestService> => startService({ tables: TABLES, database: { backend: 'pg' } });
const owner = ({ database }: TestService): string => database.direct?.(CATALOG_OWNER) ?? '';
/** Runs one of PostgreSQL's clients. */
const client = (program: string, ...args: string[]): string =>
  execFileSync(join(postgresPrograms() ?? '', program), args, { encoding: 'utf8', env: { PATH: process.env.PATH } });

/** Counts what `fetch` sends until `stop`. */
function countSubrequests(): { readonly count: () => number; readonly stop: () => void } {
  const real = globalThis.fetch;
  let sent = 0;
  globalThis.fetch = (...args) => {
    sent++;
    return real(...args);
  };
  const stop = (): void => {
    globalThis.fetch = real;
  };
  return { count: () => sent, stop };
}

describe.skipIf(!localPostgresAvailable())('the catalog', () => {
  let s: TestService;
  beforeAll(async () => {
    s = await start();
    // as the role that makes the schema has it
    await s.database.superuser(`GRANT CREATE ON DATABASE postgres TO ${CATALOG_OWNER}`);
  });
  afterAll(() => s?.close());

  it('comes back from a backup with its models, users, tokens and policies', async () => {
    await s.rows(MODEL, 'shop');
    const ann = await s.user('ann', 'QUERY ON ALL ontology.shop', 'QUERY ON datasource.main');
    await s.rows('CREATE POLICY few ON CONCEPT city TO PUBLIC USING (id < 2)', 'shop');
    const state = async () => {
      const created = await s.rows('SHOW CREATE ONTOLOGY shop');
      return { created, rows: await s.rows('SELECT id, name FROM svc.city', 'shop', ann) };
    };
    const before = await state();
    expect(before.rows).toEqual([{ id: 1, name: 'Oslo' }]);
    const dir = mkdtempSync(join(tmpdir(), 'backup-'));
    const file = join(dir, 'catalog.sql');
    try {
      client('pg_dump', '--schema=kg_catalog', '--no-owner', '--no-privileges', `--file=${file}`, owner(s));
      await s.database.superuser('DROP SCHEMA kg_catalog CASCADE');
      forgetSnapshots();
      expect((await s.query('SELECT id FROM svc.city', 'shop', ann)).status).toBe(500);
      client('psql', '--quiet', '--single-transaction', '--set=ON_ERROR_STOP=1', `--file=${file}`, owner(s));
    } finally {
      rmSync(dir, { recursive: true, force: true });
    }
    forgetSnapshots();
    expect(await state()).toEqual(before);
    // the sequences go on, so changes work too
    await s.rows('CREATE CONCEPT town (id bigint, PRIMARY KEY (id)); CREATE USER bob', 'shop');
    expect(await migrate(runOverHttp(s.database.connectionString(CATALOG_OWNER), s.database.endpoint))).toEqual([]);
  });

  it('is migrated while requests run, and none fails', async () => {
    // the catalog of an earlier release
    await s.database.superuser('DROP SCHEMA kg_catalog CASCADE');
    forgetSnapshots();
    const run = runOverHttp(s.database.connectionString(CATALOG_OWNER), s.database.endpoint);
    const dir = mkdtempSync(join(tmpdir(), 'migrations-'));
    const files = readdirSync(MIGRATIONS).sort();
    // this release reads these tables and columns in every request, so its own code needs them from the start
    const early = [...files.slice(0, 10), '016_mapping_caches.sql', '019_placements.sql'];
    for (const name of early) cpSync(join(MIGRATIONS, name), join(dir, name));
    await migrate(run, dir);
    rmSync(dir, { recursive: true, force: true });
    await s.rows(MODEL, 'shop');
    let isOver = false;
    const done = { reads: 0, writes: 0 };
    const failed: string[] = [];
    const caller = async (id: number): Promise<void> => {
      for (let i = 0; !isOver; i++) {
        const writes = id === 0 && i % 3 === 0;
        const sql = writes
          ? `CREATE OR REPLACE CONCEPT extra (id bigint, p${i % 7} string, PRIMARY KEY (id))`
          : `SELECT name FROM svc.city WHERE id = ${1 + (i % 2)}`;
        // every request asks the catalog
        forgetSnapshots();
        const { status, text } = await s.query(sql, 'shop');
        if (status !== 200) failed.push(`${status} ${text}`);
        done[writes ? 'writes' : 'reads']++;
      }
    };
    const callers = Array.from({ length: 6 }, (_, id) => caller(id));
    try {
      await expect.poll(() => failed.length > 0 || (done.reads > 100 && done.writes > 3)).toBe(true);
      const before = done.reads;
      expect(await migrate(run)).toEqual(files.filter((name) => !early.includes(name)));
      await expect.poll(() => failed.length > 0 || done.reads > before + 100).toBe(true);
    } finally {
      isOver = true;
      await Promise.all(callers);
    }
    console.log(`migrated under load: ${done.reads} reads and ${done.writes} changes of the model, ${failed.length} failed`);
    expect(failed).toEqual([]);
  });
});

describe.skipIf(!localPostgresAvailable())('a service with other secrets', () => {
  let s: TestService;
  const namespace = memoryNamespace();
  beforeAll(async () => {
    s = await start();
    await s.rows(MODEL, 'shop');
  });
  afterAll(() => s?.close());

  /** The service as it is after a deploy with these settings, over the same catalog and Workers KV. */
  async function deployed(settings: Record<string, string>, secret = 'a', waits = true) {
    // a new isolate, which has written nothing
    forgetSnapshots(0);
    const config = readConfig({ CATALOG_URL: s.database.secret(CATALOG_OWNER), DATASOURCE_MAIN: s.database.secret(READER), ...settings });
    const kv = keyValues(namespace, { scope: 'service', secret });
    const waiting: Promise<unknown>[] = [];
    const runtime = {
      config,
      db: neonDb(config.catalog ?? { url: '', endpoint: null }),
      parser: await loadNodeParser(),
      now: Date.now,
      waitUntil: (work: Promise<unknown>) => void waiting.push(work),
      log: () => undefined,
      kv,
    };
    return async (token: string, sql = 'SELECT name FROM svc.city WHERE id = 1'): Promise<number> => {
      const headers = { 'content-type': 'application/json', 'x-api-key': token };
      const body = JSON.stringify({ ontology_name: 'shop', query: sql });
      const answer = await createApp('svc', '1').fetch(new Request('http://127.0.0.1/svc/api/query', { method: 'POST', headers, body }), { runtime });
      await answer.text();
      if (waits) await Promise.all(waiting.splice(0));
      return answer.status;
    };
  }

  it('accepts the new ADMIN_TOKEN only, and tokens of users as before', async () => {
    const [old, next] = [createToken(), createToken()];
    const ann = await s.user('ann', 'QUERY ON ALL ontology.shop', 'QUERY ON datasource.main');
    const before = await deployed({ ADMIN_TOKEN: old });
    expect([await before(old), await before(next), await before(ann)]).toEqual([200, 401, 200]);
    const after = await deployed({ ADMIN_TOKEN: next });
    expect([await after(old), await after(next), await after(ann)]).toEqual([401, 200, 200]);
  });

  it('uses no entry of Workers KV that it made with the old password of the catalog, and works', async () => {
    const token = createToken();
    namespace.entries.clear();
    const subrequests = async (secret: string): Promise<number> => {
      const ask = await deployed({ ADMIN_TOKEN: token }, secret);
      const { count, stop } = countSubrequests();
      try {
        expect(await ask(token)).toBe(200);
        return count();
      } finally {
        stop();
      }
    };
    const first = await subrequests('old password');
    const entries = new Map(namespace.entries);
    expect(entries.size).toBeGreaterThan(0);
    // an isolate that can open the entry does not ask the catalog
    expect(await subrequests('old password')).toBeLessThan(first);
    expect(await subrequests('new password')).toBe(first);
    expect([...namespace.entries].filter(([key, entry]) => entries.get(key) === entry)).toEqual([]);
  });

  it('reads with a second role, while the old one still works', async () => {
    const direct = new URL(s.database.direct?.(READER) ?? '');
    await s.database.superuser("CREATE ROLE kg_reader_2 LOGIN PASSWORD 'p' CONNECTION LIMIT 50 IN ROLE kg_reader");
    const backend = new PgBackend(({ user, password, database }) => ({ host: '127.0.0.1', port: Number(direct.port), user, password, database }));
    const server = await startSqlServer({ backend });
    try {
      const token = createToken();
      const statusAs = async (user: string, password: string): Promise<number> => {
        const url = `postgres://${user}:${password}@127.0.0.1/postgres`;
        const ask = await deployed({ ADMIN_TOKEN: token, DATASOURCE_MAIN: JSON.stringify({ url, endpoint: server.endpoint }) });
        return ask(token);
      };
      expect([await statusAs('kg_reader_2', 'p'), await statusAs(READER, direct.password)]).toEqual([200, 200]);
    } finally {
      await server.close();
    }
  });

  it('costs this many requests', async () => {
    const token = createToken();
    namespace.entries.clear();
    const ask = await deployed({ ADMIN_TOKEN: token }, 'a', false);
    const counts = { reads: 0, writes: 0 };
    const subrequests = countSubrequests();
    const [get, put] = [namespace.getWithMetadata, namespace.put];
    Object.assign(namespace, {
      getWithMetadata: (...args: Parameters<typeof get>) => {
        counts.reads++;
        return (get as (...a: unknown[]) => unknown)(...args);
      },
      put: (...args: Parameters<typeof put>) => {
        counts.writes++;
        return put(...args);
      },
    });
    const measured = async (times: number) => {
      Object.assign(counts, { reads: 0, writes: 0 });
      const before = subrequests.count();
      for (let i = 0; i < times; i++) expect(await ask(token, `SELECT name FROM svc.city WHERE id = ${i % 10}`)).toBe(200);
      return { subrequests: subrequests.count() - before, ...counts };
    };
    try {
      const cold = await measured(1);
      const warm = await measured(1000);
      console.log('a first request:', JSON.stringify(cold), ' 1,000 further ones:', JSON.stringify(warm));
      // a statement each, the audit of a few at once, and a snapshot a minute
      expect(warm.subrequests).toBeLessThan(1200);
      expect(warm.reads + warm.writes).toBeLessThan(50);
    } finally {
      subrequests.stop();
      Object.assign(namespace, { getWithMetadata: get, put });
    }
  });
});
