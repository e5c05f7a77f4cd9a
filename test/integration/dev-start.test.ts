/** `npm start` as a process: its output, its files, the settings that it passes on, how it ends, and how it fails. */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { freePort, startScratchPostgres } from '../../dev/scratch-postgres.ts';
import { serverRoles } from '../../dev/start/server-roles.ts';
import { localPostgresAvailable } from '../../dev/testing.ts';

const PROJECT = fileURLToPath(new URL('../../', import.meta.url));
const READY_MS = 100_000;

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

/** One `node dev/start.ts`, in its own process group as in a terminal. */
class Start {
  readonly child: ChildProcess;
  output = '';
  readonly exited: Promise<number | string | null>;

  constructor(env: Record<string, string> = {}) {
    const places = { PORT: String(port), DATA_DIR: join(dir, 'pgdata'), SESSION_FILE: join(dir, 'session.json'), SAMPLE: 'none' };
    const { PATH = '', HOME = '' } = process.env;
    this.child = spawn(process.execPath, [join(PROJECT, 'dev', 'start.ts')], { cwd: PROJECT, detached: true, env: { PATH, HOME, ...places, ...env } });
    for (const stream of [this.child.stdout!, this.child.stderr!]) stream.on('data', (d: Buffer) => (this.output += d.toString()));
    this.exited = new Promise((resolve) => this.child.once('exit', (code, signal) => resolve(code ?? signal)));
  }

  async ready(): Promise<Record<string, string>> {
    const end = Date.now() + READY_MS;
    while (!/^READY /m.test(this.output)) {
      if (this.child.exitCode !== null || Date.now() > end) throw new Error(`not ready:\n${this.output.slice(-3000)}`);
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
    return JSON.parse(readFileSync(join(dir, 'session.json'), 'utf8')) as Record<string, string>;
  }

  /** Ctrl-C: the whole group gets the signal. */
  signal(name: NodeJS.Signals): void {
    try {
      process.kill(-this.child.pid!, name);
    } catch {
      // The group has ended.
    }
  }

  /** Live processes that belong to this start. */
  processes(): string[] {
    const found: string[] = [];
    for (const pid of readdirSync('/proc').filter((name) => /^\d+$/.test(name))) {
      try {
        const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
        const [state, , group] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
        const command = readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ');
        if (state !== 'Z' && (Number(group) === this.child.pid || command.includes(dir))) found.push(`${pid} ${command}`);
      } catch {
        // It has ended in the meantime.
      }
    }
    return found;
  }

  async stop(): Promise<void> {
    if (this.child.exitCode === null && this.child.signalCode === null) this.signal('SIGINT');
    await this.exited;
    this.signal('SIGKILL');
  }
}

const get = async (session: Record<string, string>, path: string) => {
  const response = await fetch(`${session.base_url}${path}`, { headers: { 'x-api-key': session.admin_token! } });
  return [response.status, ((await response.json()) as { data?: unknown }).data];
};
const sql = async (session: Record<string, string>, query: string, url = session.database_url!) => {
  const headers = { 'neon-connection-string': url };
  const response = await fetch(session.sql_endpoint!, { method: 'POST', headers, body: JSON.stringify({ query }) });
  const body = (await response.json()) as { rows?: unknown[]; code?: string };
  return body.rows ?? body.code;
};

describe('npm start', () => {
  it('gets ready, passes every setting on unchanged, keeps secrets out of command lines, and ends with all its processes', { timeout: 400_000 }, async () => {
    const odd = {
      ODD_TEXT: `a$b $HOME \\n 'x' # "y" = é 🌍`,
      MCP_DEFAULT_ONTOLOGY: 'with $dollar #hash',
      ODD_PEM: '-----BEGIN PUBLIC KEY-----\nMIIB+/=\n-----END PUBLIC KEY-----',
      ODD_JSON: '{"a":"it\'s","b":[1,"$c"]}',
      ROW_LIMIT: '7',
    };
    const env = {
      ...odd,
      ALLOWED_CONFIG_ENVS_IN_API: Object.keys(odd).join(','),
      PRODUCT_NAME: 'acme',
      API_AUTH_SALT: 'a salt not to be seen',
      UNRELATED: 'x',
      ENABLE_TOKEN: 'true',
      JWT_ACME_KEY: 'not to be seen either',
    };
    started = new Start(env);
    const session = await started.ready();
    expect(started.output, 'invalid settings are named').toMatch(/"event":"setting_refused","variable":"JWT_ACME_KEY"/);
    expect(started.output).not.toContain(env.JWT_ACME_KEY);
    expect(started.output.match(/^READY .*$/gm)).toEqual([`READY http://127.0.0.1:${port}`]);
    expect(started.output.split(/^READY.*$/m)[1]).toContain(session.demo_token);
    expect(statSync(join(dir, 'session.json')).mode & 0o777).toBe(0o600);
    expect(statSync(join(dir, 'pgdata')).mode & 0o777, 'PGlite creates files that everybody may write').toBe(0o700);
    expect(Object.keys(session)).toEqual(['base_url', 'admin_token', 'demo_token', 'database_url', 'sql_endpoint', 'catalog_url', 'reader_url']);
    expect(await sql(session, 'SELECT current_user::text AS me')).toEqual([{ me: 'kg_dev' }]);
    expect(await sql(session, "SELECT count(*)::int AS n FROM kg_catalog.users WHERE name = 'admin'"), 'whose machine it is may look').toEqual([{ n: 1 }]);
    expect(await sql(session, 'DELETE FROM kg_catalog.users'), 'and not write').toBe('42501');
    expect(await sql(session, 'SELECT pg_sleep(0)', session.reader_url)).toBe('42501');
    expect(started.output, 'the embedded database refuses no restriction').not.toMatch(/^kg_reader:/m);
    for (const [name, value] of Object.entries(odd)) expect(await get(session, `/acme/api/get_config/${name}`)).toEqual([200, { [name]: value }]);
    expect((await get(session, '/acme/api/get_config/UNRELATED'))[0]).not.toBe(200);
    await sql(session, 'CREATE TABLE kept (a int)');

    if (existsSync('/proc/self/stat')) {
      const lines = started.processes();
      expect(lines.length).toBeGreaterThan(2);
      for (const secret of [session.admin_token!, new URL(session.database_url!).password, env.API_AUTH_SALT])
        expect(lines.filter((line) => line.includes(secret))).toEqual([]);
    }
    const second = new Start({ PORT: String(await freePort()) });
    expect(await second.exited, 'a second start on the same data folder').toBe(1);
    expect(second.output).toMatch(/is in use by process \d+/);

    // after it is killed no process is left, and it starts again
    const killed = started;
    killed.child.kill('SIGKILL');
    await killed.exited;
    if (existsSync('/proc/self/stat')) await expect.poll(() => killed.processes(), { timeout: 30_000, interval: 200 }).toEqual([]);
    started = new Start();
    const again = await started.ready();
    expect([again.admin_token, again.demo_token]).toEqual([session.admin_token, session.demo_token]);
    expect(await sql(again, 'SELECT count(*)::int AS n FROM kept')).toEqual([{ n: 0 }]);
    expect(await sql(again, 'SELECT pg_sleep(0)', again.reader_url)).toBe('42501');

    started.signal('SIGINT');
    await started.exited;
    if (existsSync('/proc/self/stat')) expect(started.processes()).toEqual([]);
    expect(readdirSync(join(dir, 'pgdata.state')).filter((name) => name.endsWith('.env'))).toEqual([]);
  });

  it.skipIf(!localPostgresAvailable())(
    'uses the PostgreSQL of DATABASE_URL, and prints what to grant (skipped if PostgreSQL is not installed)',
    { timeout: 240_000 },
    async () => {
      const scratch = await startScratchPostgres({ passwords: true });
      try {
        await scratch.exec("CREATE ROLE app LOGIN PASSWORD 'hush-77'");
        const url = `postgres://app:hush-77@127.0.0.1:${scratch.port}/shop`;
        await scratch.exec('CREATE DATABASE shop');
        started = new Start({ DATABASE_URL: url });
        expect(await started.exited).toBe(1);
        expect(started.output).toMatch(/ALTER ROLE app CREATEROLE; GRANT CREATE ON DATABASE shop TO app/);
        await scratch.exec('ALTER ROLE app CREATEROLE');
        await scratch.exec('GRANT CREATE ON DATABASE shop TO app');
        started = new Start({ DATABASE_URL: url });
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
        started = new Start({ DATABASE_URL: superuser, RESTRICT_FUNCTIONS: 'true' });
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

  const fails = async (env: Record<string, string>, line: RegExp) => {
    started = new Start(env);
    expect(await started.exited).toBe(1);
    expect(started.output.split('\n').filter((l) => line.test(l))).toHaveLength(1);
    expect(started.output).not.toMatch(/^\s+at /m);
    if (existsSync('/proc/self/stat')) expect(started.processes()).toEqual([]);
  };

  it('fails with one line if the port is in use', async () => {
    const taken = createServer();
    await new Promise<void>((resolve) => taken.listen(port, '127.0.0.1', resolve));
    try {
      await fails({}, new RegExp(`port ${port} is in use`));
    } finally {
      taken.close();
    }
  });

  it('fails with one line, without the password, if the database cannot be reached', async () => {
    const nowhere = await freePort();
    await fails(
      { DATABASE_URL: `postgres://somebody:hush-77@127.0.0.1:${nowhere}/nothing` },
      new RegExp(`127\\.0\\.0\\.1:${nowhere}/nothing cannot be reached: ECONNREFUSED`),
    );
    expect(started!.output).not.toContain('hush-77');
  });

  it('fails with one line if the data folder is incomplete', async () => {
    mkdirSync(join(dir, 'pgdata', 'global'), { recursive: true });
    writeFileSync(join(dir, 'pgdata', 'PG_VERSION'), '18\n');
    await fails({}, /data folder .* is incomplete.*npm run reset/);
  });

  it('fails with one line if the port is invalid', async () => {
    await fails({ PORT: 'http' }, /PORT must be a number/);
  });
});
