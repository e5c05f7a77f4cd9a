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
  const password = randomBytes(12).toString('hex');
  return startCluster(password, (run, dir, own) => {
    const passwordFile = join(dir, 'password');
    writeFileSync(passwordFile, password);
    own(passwordFile);
    run('initdb', [
      '-D',
      join(dir, 'data'),
      '-U',
      'postgres',
      '-A',
      passwords ? 'scram-sha-256' : 'trust',
      `--pwfile=${passwordFile}`,
      '-E',
      'UTF8',
      '--no-sync',
    ]);
  });
}

/** A server of a distributed database: its programs, and its settings. */
export interface ServerOptions {
  /** The folder of PostgreSQL's programs. */
  readonly programs: string;
  /** Settings of the server, such as `shared_preload_libraries=citus`. */
  readonly settings: readonly string[];
}

/** Creates and starts a cluster without passwords, with programs and settings of its own. */
export const startServer = ({ programs, settings }: ServerOptions): Promise<ScratchPostgres> =>
  startCluster('', (run, dir) => run('initdb', ['-D', join(dir, 'data'), '-U', 'postgres', '-A', 'trust', '-E', 'UTF8', '--no-sync']), settings, programs);

/**
 * Starts a hot standby of a cluster without passwords, by streaming replication.
 * @param settings settings of the standby's server, such as `max_standby_streaming_delay=0`
 */
export async function startStandby(primary: ScratchPostgres, settings: readonly string[] = []): Promise<ScratchPostgres> {
  const copy = (run: Run, dir: string): void =>
    run('pg_basebackup', ['-D', join(dir, 'data'), '-d', primary.url, '-R', '-X', 'stream', '-c', 'fast', '--no-sync']);
  return startCluster(primary.password, copy, settings);
}

/** Runs one of PostgreSQL's programs as the user that runs the server. */
type Run = (program: string, args: readonly string[]) => void;

async function startCluster(
  password: string,
  create: (run: Run, dir: string, own: (path: string) => void) => void,
  more: readonly string[] = [],
  programs = postgresPrograms(),
): Promise<ScratchPostgres> {
  if (!programs) throw new Error('there is no PostgreSQL on this machine');
  const user = otherUser();
  const own = (path: string): void => {
    if (user) chownSync(path, user.uid, user.gid);
  };
  const dir = mkdtempSync(join(tmpdir(), 'scratch-pg-'));
  own(dir);
  const options = { ...user, cwd: dir, stdio: 'ignore' as const, env: { PATH: process.env.PATH ?? '', LC_ALL: 'C.UTF-8' } };
  create((program, args) => void execFileSync(join(programs, program), args, options), dir, own);
  const data = join(dir, 'data');
  const settings = ['fsync=off', 'full_page_writes=off', 'synchronous_commit=off', 'listen_addresses=127.0.0.1', `unix_socket_directories=${dir}`, ...more];
  for (let tries = 0; ; tries++) {
    const port = await freePort();
    const server = spawn(join(programs, 'postgres'), ['-D', data, '-p', String(port), ...settings.flatMap((s) => ['-c', s])], options);
    const url = `postgres://postgres${password === '' ? '' : `:${password}`}@127.0.0.1:${port}/postgres`;
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
