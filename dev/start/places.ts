import { chmodSync, existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { StartFailure } from './failure.ts';

/** The project's folder. */
export const PROJECT = fileURLToPath(new URL('../../', import.meta.url));

/** The environment of `npm start` (except the settings of the service). */
export interface Places {
  port: number;
  /** Undefined: the embedded database. */
  databaseUrl: string | undefined;
  /** Whether EXECUTE on functions is revoked from PUBLIC in the database of DATABASE_URL, to restrict kg_reader. */
  restrictFunctions: boolean;
  dataDir: string;
  /** A folder next to the data folder: secrets, the service's KV, the lock. */
  stateDir: string;
  sessionFile: string;
  sample: boolean;
}

/** Reads PORT, DATABASE_URL, RESTRICT_FUNCTIONS, DATA_DIR, SESSION_FILE and SAMPLE. Throws StartFailure. */
export function readPlaces(env: NodeJS.ProcessEnv): Places {
  const port = env.PORT?.trim() || '8787';
  if (!/^\d{1,5}$/.test(port) || Number(port) < 1 || Number(port) > 65535)
    throw new StartFailure(`PORT must be a number from 1 to 65535, not ${JSON.stringify(port)}`);
  const databaseUrl = env.DATABASE_URL?.trim() || undefined;
  if (databaseUrl !== undefined && !/^postgres(ql)?:\/\/./.test(databaseUrl))
    throw new StartFailure('DATABASE_URL must be a connection string postgresql://user:password@host/database');
  if (databaseUrl !== undefined && !URL.canParse(databaseUrl))
    throw new StartFailure('DATABASE_URL is not a valid URL: special characters in its password must be percent-encoded');
  const restrict = env.RESTRICT_FUNCTIONS?.trim().toLowerCase() || 'false';
  if (restrict !== 'true' && restrict !== 'false') throw new StartFailure(`RESTRICT_FUNCTIONS must be true or false, not ${JSON.stringify(restrict)}`);
  const dataDir = resolve(PROJECT, env.DATA_DIR?.trim() || '.dev/pgdata');
  return {
    port: Number(port),
    databaseUrl,
    restrictFunctions: restrict === 'true',
    dataDir,
    stateDir: `${dataDir}.state`,
    sessionFile: resolve(PROJECT, env.SESSION_FILE?.trim() || '.dev/session.json'),
    sample: env.SAMPLE?.trim().toLowerCase() !== 'none',
  };
}

/** Creates the folder next to the data folder, readable only by its owner. */
export function makeStateDir(stateDir: string): void {
  mkdirSync(stateDir, { recursive: true, mode: 0o700 });
  chmodSync(stateDir, 0o700);
}

/** Writes a file that only its owner may read, atomically. */
export function writePrivate(file: string, text: string): void {
  mkdirSync(dirname(file), { recursive: true });
  const fresh = `${file}.${process.pid}.new`;
  writeFileSync(fresh, text, { mode: 0o600 });
  chmodSync(fresh, 0o600);
  renameSync(fresh, file);
}

/** Prevents a second start on the same data folder, because two processes on its files would destroy them. Returns the function that releases it. */
export function lock(stateDir: string): () => void {
  const file = `${stateDir}/lock`;
  if (existsSync(file)) {
    const pid = Number(readFileSync(file, 'utf8'));
    if (pid !== process.pid && isStart(pid))
      throw new StartFailure(`the data folder ${stateDir.replace(/\.state$/, '')} is in use by process ${pid}; set DATA_DIR to another one`);
  }
  writePrivate(file, String(process.pid));
  return () => rmSync(file, { force: true });
}

/** Whether this process is alive and one of ours: another program may have got its number since. */
function isStart(pid: number): boolean {
  if (!Number.isSafeInteger(pid) || pid < 1) return false;
  try {
    process.kill(pid, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
  try {
    return /start\.ts/.test(readFileSync(`/proc/${pid}/cmdline`, 'utf8'));
  } catch {
    return true;
  }
}
