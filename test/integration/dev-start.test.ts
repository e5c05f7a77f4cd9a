/**
 * `npm start` as a process: its output, its files, the settings that it passes on, how it ends, also when it is killed, and how it fails.
 * dev-start.deep.test.ts has the start with a DATABASE_URL.
 */
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { freePort } from '../../dev/scratch-postgres.ts';
import { startBuilt, startWatching, untilHealthy } from '../../dev/start/worker.ts';
import { patience } from '../support/generated.ts';
import { Start, sql } from './support/npm-start-process.ts';

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

const get = async (session: Record<string, string>, path: string) => {
  const response = await fetch(`${session.base_url}${path}`, { headers: { 'x-api-key': session.admin_token! } });
  return [response.status, ((await response.json()) as { data?: unknown }).data];
};

describe('npm start', () => {
  it('gets ready, passes every setting on unchanged, keeps secrets out of command lines, ends with all its processes, and starts again after a kill', {
    timeout: 4 * patience(100_000),
  }, async () => {
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
    started = new Start(dir, port, env);
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

    if (existsSync('/proc/self/stat')) {
      const lines = started.processes();
      expect(lines.length).toBeGreaterThan(2);
      for (const secret of [session.admin_token!, new URL(session.database_url!).password, env.API_AUTH_SALT])
        expect(lines.filter((line) => line.includes(secret))).toEqual([]);
    }
    const second = new Start(dir, port, { PORT: String(await freePort()) });
    expect(await second.exited, 'a second start on the same data folder').toBe(1);
    expect(second.output).toMatch(/is in use by process \d+/);

    await sql(session, 'CREATE TABLE kept (a int)');
    const killed = started;
    killed.child.kill('SIGKILL');
    await killed.exited;
    if (existsSync('/proc/self/stat')) await expect.poll(() => killed.processes(), { interval: 200 }).toEqual([]);
    started = new Start(dir, port, env);
    const again = await started.ready();
    expect([again.admin_token, again.demo_token]).toEqual([session.admin_token, session.demo_token]);
    expect(await sql(again, 'SELECT count(*)::int AS n FROM kept')).toEqual([{ n: 0 }]);
    expect(await sql(again, 'SELECT pg_sleep(0)', again.reader_url)).toBe('42501');

    started.signal('SIGINT');
    await started.exited;
    if (existsSync('/proc/self/stat')) expect(started.processes()).toEqual([]);
    expect(readdirSync(join(dir, 'pgdata.state')).filter((name) => name.endsWith('.env'))).toEqual([]);
  });

  const fails = async (env: Record<string, string>, line: RegExp) => {
    started = new Start(dir, port, env);
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

/** The Worker on this port has no pages or API that show or change its storage. */
async function hidesStorage(): Promise<void> {
  const base = `http://127.0.0.1:${port}`;
  const explorer = '/cdn-cgi/explorer/api';
  for (const path of ['/cdn-cgi/explorer', explorer, `${explorer}/storage/kv/namespaces`, `${explorer}/workers/durable_objects/namespaces`])
    expect([path, (await fetch(base + path)).status]).toEqual([path, 404]);
  const entry = `${base}${explorer}/storage/kv/namespaces/CACHE/values/forged`;
  expect((await fetch(entry, { method: 'PUT', body: 'x' })).status).toBe(404);
}

describe('a Worker on this machine', () => {
  it('of npm start waits for a port that a connection of another process has meanwhile, and then hides its storage', {
    timeout: patience(240_000),
  }, async () => {
    const taken = createServer();
    await new Promise<void>((resolve) => taken.listen(port, '127.0.0.1', resolve));
    const lines: string[] = [];
    const onLine = (line: string): void => {
      lines.push(line);
      if (/port is in use, trying again/.test(line)) taken.close();
    };
    const worker = await startBuilt({ port, settings: {}, persistDir: join(dir, 'state'), stateDir: dir, onLine });
    try {
      await Promise.race([worker.listens, worker.ended.then((last) => Promise.reject(new Error(last)))]);
      const said = lines.filter((line) => /^host: /.test(line));
      expect(said[0]).toBe('host: the port is in use, trying again');
      expect(said.at(-1)).toBe(`host: ready on http://127.0.0.1:${port}`);
      await untilHealthy(worker, `http://127.0.0.1:${port}/svc/api/health`, patience(120_000));
      await hidesStorage();
    } finally {
      await worker.stop();
      taken.close();
    }
  });

  it('of npm run dev hides its storage', { timeout: patience(240_000) }, async () => {
    const worker = await startWatching({ port, settings: {}, persistDir: join(dir, 'worker'), stateDir: dir, onLine: () => undefined });
    try {
      await untilHealthy(worker, `http://127.0.0.1:${port}/svc/api/health`, patience(120_000));
      await hidesStorage();
    } finally {
      await worker.stop();
    }
  });
});
