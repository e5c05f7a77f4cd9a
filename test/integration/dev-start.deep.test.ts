/** `npm start` with a DATABASE_URL, as a process. dev-start.test.ts has the starts with the embedded database. */
import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { freePort, startScratchPostgres } from '../../dev/scratch-postgres.ts';
import { serverRoles } from '../../dev/start/server-roles.ts';
import { localPostgresAvailable } from '../../dev/testing.ts';
import { PROJECT, Start, sql } from './support/npm-start-process.ts';

let dir: string;
let port: number;
let started: Start | undefined;
beforeEach(async () => {
  dir = mkdtempSync(join(tmpdir(), 'dev-start-'));
  port = await freePort();
});
afterEach(async () => {
  await started?.stop();
  started = undefined;
  rmSync(dir, { recursive: true, force: true });
});

describe('npm start', () => {
  it.skipIf(!localPostgresAvailable())(
    'uses the PostgreSQL of DATABASE_URL, and prints what to grant (skipped if PostgreSQL is not installed)',
    { timeout: 240_000 },
    async () => {
      const scratch = await startScratchPostgres({ passwords: true });
      try {
        await scratch.exec("CREATE ROLE app LOGIN PASSWORD 'hush-77'");
        const url = `postgres://app:hush-77@127.0.0.1:${scratch.port}/shop`;
        await scratch.exec('CREATE DATABASE shop');
        started = new Start(dir, port, { DATABASE_URL: url });
        expect(await started.exited).toBe(1);
        expect(started.output).toMatch(/ALTER ROLE app CREATEROLE; GRANT CREATE ON DATABASE shop TO app/);
        await scratch.exec('ALTER ROLE app CREATEROLE');
        await scratch.exec('GRANT CREATE ON DATABASE shop TO app');
        started = new Start(dir, port, { DATABASE_URL: url });
        const session = await started.ready();
        expect(existsSync(join(dir, 'pgdata'))).toBe(false);
        expect(await sql(session, 'SELECT current_user::text AS me, current_database()::text AS db')).toEqual([{ me: 'app', db: 'shop' }]);
        const { owner, reader } = serverRoles('shop');
        expect(await sql(session, `SELECT has_schema_privilege('${reader}', 'kg_catalog', 'USAGE') AS may`)).toEqual([{ may: false }]);
        expect(started.output).toMatch(new RegExp(`^DATABASE_URL: made the role ${owner}: .*\nDATABASE_URL: made the role ${reader}: `, 'm'));
        expect(started.output).not.toContain('hush-77');
        // the database may have other applications, so its functions are not changed, and the start says so
        expect(started.output).toMatch(new RegExp(`^${reader}: not done, a superuser can: ALTER ROLE "${reader}" SET temp_file_limit = '1GB' \\(`, 'm'));
        expect(started.output).toMatch(
          new RegExp(`^${reader}: it may execute \\d{3} functions that it does not need: a superuser can run docs/restrict-functions\\.sql`, 'm'),
        );
        expect(await sql(session, 'SELECT pg_sleep(0)', session.reader_url)).toEqual([{ pg_sleep: '' }]);
        started.child.kill('SIGTERM');
        await started.exited;
        if (existsSync('/proc/self/stat')) expect(started.processes()).toEqual([]);

        const superuser = `postgres://postgres:${scratch.password}@127.0.0.1:${scratch.port}/shop`;
        started = new Start(dir, port, { DATABASE_URL: superuser, RESTRICT_FUNCTIONS: 'true' });
        const restricted = await started.ready();
        expect(started.output).not.toMatch(/^kg_start_reader/m);
        expect(await sql(restricted, 'SELECT pg_sleep(0)', restricted.reader_url)).toBe('42501');
        await started.stop();

        const environment = { ...process.env, DATABASE_URL: superuser, DATA_DIR: join(dir, 'pgdata'), SESSION_FILE: join(dir, 'session.json') };
        const reset = spawnSync(process.execPath, ['dev/reset.ts', '--database'], { cwd: PROJECT, env: environment, encoding: 'utf8' });
        expect(reset.stdout).toMatch(/^removed the schema kg_catalog\n(removed the schema world\n)?removed the role kg_start_/);
        expect(await scratch.exec("SELECT count(*)::int AS n FROM pg_roles WHERE rolname LIKE 'kg\\_%'")).toEqual([{ n: 0 }]);
      } finally {
        await started?.stop();
        await scratch.stop();
      }
    },
  );
});
