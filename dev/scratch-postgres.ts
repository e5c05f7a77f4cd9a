import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { chownSync, existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import pg from 'pg';

/** A PostgreSQL server with the lifetime of a test. */
export interface ScratchPostgres {
  port: number;
  /** A connection string of its superuser. */
  url: string;
  /** The password of the superuser. */
  password: string;
  /** Runs one statement as the superuser. */
  exec(sql: string): Promise<unknown>;
  stop(): Promise<void>;
}

/** The folder of PostgreSQL's programs: that of the PATH, or the newest one in Debian's folder; undefined if PostgreSQL is not installed. */
export function postgresPrograms(): string | undefined {
  const debian = '/usr/lib/postgresql';
  const versions = existsSync(debian) ? readdirSync(debian).sort((a, b) => Number(b) - Number(a)) : [];
  const places = [...versions.map((v) => join(debian, v, 'bin')), ...(process.env.PATH ?? '').split(delimiter)];
  return places.find((dir) => dir && existsSync(join(dir, 'initdb')) && existsSync(join(dir, 'postgres')));
}

/** PostgreSQL does not run as root. If this process does, the user `postgres` runs the server. */
function otherUser(): { uid: number; gid: number } | undefined {
  if (process.getuid?.() !== 0) return undefined;
  const id = (flag: string) => Number(execFileSync('id', [flag, 'postgres'], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }));
  return { uid: id('-u'), gid: id('-g') };
}

/**
 * Creates and starts a cluster on a free port of the loopback interface. With `passwords` it requires them, otherwise it uses trust authentication.
 * Throws if PostgreSQL is not installed.
 */
export async function startScratchPostgres({ passwords = false } = {}): Promise<ScratchPostgres> {
  const programs = postgresPrograms();
  if (!programs) throw new Error('there is no PostgreSQL on this machine');
  const user = otherUser();
  const dir = mkdtempSync(join(tmpdir(), 'scratch-pg-'));
  if (user) chownSync(dir, user.uid, user.gid);
  const options = { ...user, cwd: dir, stdio: 'ignore' as const, env: { PATH: process.env.PATH ?? '', LC_ALL: 'C.UTF-8' } };
  const data = join(dir, 'data');
  const password = randomBytes(12).toString('hex');
  const passwordFile = join(dir, 'password');
  writeFileSync(passwordFile, password);
  if (user) chownSync(passwordFile, user.uid, user.gid);
  const initdb = ['-D', data, '-U', 'postgres', '-A', passwords ? 'scram-sha-256' : 'trust', `--pwfile=${passwordFile}`, '-E', 'UTF8', '--no-sync'];
  execFileSync(join(programs, 'initdb'), initdb, options);
  const settings = ['fsync=off', 'full_page_writes=off', 'synchronous_commit=off', 'listen_addresses=127.0.0.1', `unix_socket_directories=${dir}`];
  for (let tries = 0; ; tries++) {
    const port = await freePort();
    const server = spawn(join(programs, 'postgres'), ['-D', data, '-p', String(port), ...settings.flatMap((s) => ['-c', s])], options);
    const url = `postgres://postgres:${password}@127.0.0.1:${port}/postgres`;
    const stop = async () => {
      await ended(server, 'SIGINT');
      rmSync(dir, { recursive: true, force: true });
    };
    try {
      if (await answers(server, url, data)) return { port, url, password, stop, exec: (sql) => execute(url, sql) };
      // another process has taken the port in the meantime
      if (tries === 5) throw new Error('PostgreSQL ends as soon as it is started');
    } catch (error) {
      await stop();
      throw error;
    }
  }
}

async function execute(url: string, sql: string): Promise<Record<string, unknown>[]> {
  const client = new pg.Client({ connectionString: url });
  try {
    await client.connect();
    return (await client.query(sql)).rows;
  } finally {
    await client.end().catch(() => undefined);
  }
}

/** Waits until the server of a folder answers; false: it has ended, and another server may answer on its port. */
async function answers(server: ChildProcess, url: string, data: string): Promise<boolean> {
  for (let tries = 0; server.exitCode === null && server.signalCode === null; tries++) {
    try {
      const [row] = await execute(url, 'SHOW data_directory');
      if (row?.data_directory === data) return true;
    } catch (error) {
      if (tries > 900) throw error;
    }
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  return false;
}

/** A free TCP port of the loopback interface. */
export const freePort = (): Promise<number> =>
  new Promise((resolve, reject) => {
    const server = createServer().once('error', reject);
    server.listen(0, '127.0.0.1', () => {
      const { port } = server.address() as { port: number };
      server.close(() => resolve(port));
    });
  });

async function ended(child: ChildProcess, signal: NodeJS.Signals): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exit = new Promise((resolve) => child.once('exit', resolve));
  child.kill(signal);
  const timer = setTimeout(() => child.kill('SIGQUIT'), 5000);
  await exit;
  clearTimeout(timer);
}
