/** A Citus cluster on this machine with the lifetime of a test: built from source, outside the folders of the installed PostgreSQL. */
import { execFileSync, spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, readFileSync, utimesSync, writeFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { postgresPrograms, type ScratchPostgres, startServer } from './scratch-postgres.ts';

/** A coordinator and its workers. */
export interface CitusCluster {
  /** A connection string of the coordinator's superuser. */
  readonly url: string;
  stop(): Promise<void>;
}

/** `jit` is off, as docs/scale-out.md#settings-of-the-workers asks for. */
const SETTINGS = ['shared_preload_libraries=citus', 'citus.shard_count=8', 'shared_buffers=64MB', 'max_connections=80', 'jit=off'];

/**
 * Builds Citus and installs it into a copy of the machine's PostgreSQL, unless `dir` already contains one. PostgreSQL finds its files relative to its programs, so the
 * copy needs no rights on the system's folders.
 * @param source the folder of Citus' source
 * @param dir the folder to build in
 * @returns the folder of the programs of the copy
 * @throws Error if PostgreSQL or its development package is missing, or with the last lines of a step that fails
 */
export function buildCitus(source: string, dir: string): string {
  const config = join(postgresPrograms() ?? '', 'pg_config');
  if (!existsSync(config)) throw new Error('Building Citus needs PostgreSQL and its development package (Debian: postgresql-server-dev-15).');
  const place = (flag: string): string => execFileSync(config, [flag], { encoding: 'utf8' }).trim();
  const root = join(dir, 'root');
  const programs = join(root, place('--bindir'));
  const finished = join(dir, 'finished');
  if (existsSync(finished)) return programs;
  for (const flag of ['--bindir', '--pkglibdir', '--sharedir']) cpSync(place(flag), join(root, place(flag)), { recursive: true, dereference: true });
  const work = join(dir, 'source');
  mkdirSync(work, { recursive: true });
  cpSync(source, work, { recursive: true });
  const compatible = join(work, 'src/include/pg_version_compat.h');
  // PostgreSQL has a function of this name since 15.18, in dbcommands.h
  if (/have_createdb_privilege/.test(readFileSync(join(place('--includedir-server'), 'commands/dbcommands.h'), 'utf8')))
    writeFileSync(compatible, readFileSync(compatible, 'utf8').replace('\nhave_createdb_privilege(void)', '\ncitus_have_createdb_privilege(void)'));
  // the copy has new times; if `configure` were older than its sources, make would call autoconf
  const now = new Date();
  utimesSync(join(work, 'configure'), now, now);
  const step = (program: string, ...args: string[]): void => {
    const { status, stdout, stderr } = spawnSync(program, args, {
      cwd: work,
      encoding: 'utf8',
      maxBuffer: 1 << 28,
      env: { ...process.env, PG_CONFIG: config },
    });
    if (status !== 0) throw new Error(`${program} ${args.join(' ')} failed:\n${`${stdout}\n${stderr}`.split('\n').slice(-20).join('\n')}`);
  };
  step('./configure', '--without-libcurl');
  // `jit` is off in all sessions of the service, so the bitcode for it, which takes half of the time, is not needed
  step('make', '-s', `-j${availableParallelism()}`, 'extension', 'with_llvm=no');
  step('make', '-s', 'install-extension', 'with_llvm=no', `DESTDIR=${root}`);
  writeFileSync(finished, '');
  return programs;
}

/** Starts a coordinator and workers with the programs that `buildCitus` has returned. */
export async function startCitus(programs: string, workers = 2): Promise<CitusCluster> {
  const servers: ScratchPostgres[] = [];
  const stop = async (): Promise<void> => void (await Promise.all(servers.map((s) => s.stop())));
  try {
    for (let i = 0; i <= workers; i++) {
      const server = await startServer({ programs, settings: SETTINGS });
      servers.push(server);
      await server.exec('CREATE EXTENSION citus');
    }
    const [coordinator, ...others] = servers as [ScratchPostgres, ...ScratchPostgres[]];
    await coordinator.exec(`SELECT citus_set_coordinator_host('127.0.0.1', ${coordinator.port})`);
    for (const { port } of others) await coordinator.exec(`SELECT citus_add_node('127.0.0.1', ${port})`);
    return { url: coordinator.url, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}
