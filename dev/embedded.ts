import { chmodSync, cpSync, existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { PgliteHost } from './sql/pglite-host.ts';

const POSTGRES_VERSION = '18';
const CONTROL_BYTES = 8192;

/** The reason why a data folder cannot be used, as a message for the user of `npm start`. */
export class DataFolderError extends Error {
  /** Whether it is a database's folder, which `npm run reset` may delete. */
  readonly isDatabase: boolean;
  constructor(message: string, isDatabase = true) {
    super(message);
    this.isDatabase = isDatabase;
  }
}

/**
 * Opens the embedded database in a data folder, or creates one in a folder that is missing or empty. A new database is created
 * next to the folder and then moved there, so that an interrupted start leaves nothing incomplete.
 * Throws DataFolderError.
 */
export async function openEmbedded(dataDir: string): Promise<PgliteHost> {
  if (!existsSync(dataDir) || readdirSync(dataDir).length === 0) await create(dataDir);
  else check(dataDir);
  // PGlite creates files that every user of the machine may write
  chmodSync(dataDir, 0o700);
  const host = new PgliteHost(dataDir);
  try {
    const client = await host.client();
    await client.query('SELECT 1');
    return host;
  } catch (error) {
    await host.close();
    throw new DataFolderError(`the data folder ${dataDir} cannot be opened: ${(error as Error).message}`);
  }
}

async function create(dataDir: string): Promise<void> {
  const fresh = `${dataDir}.new`;
  rmSync(fresh, { recursive: true, force: true });
  mkdirSync(dirname(dataDir), { recursive: true });
  mkdirSync(fresh, { mode: 0o700 });
  const host = new PgliteHost(fresh);
  try {
    await host.client();
    await host.close();
    if (existsSync(dataDir)) rmSync(dataDir, { recursive: true });
    renameSync(fresh, dataDir);
  } catch (error) {
    await host.close();
    rmSync(fresh, { recursive: true, force: true });
    throw new DataFolderError(`the data folder ${dataDir} cannot be created: ${(error as Error).message}`);
  }
}

/** PGlite behaves unpredictably on a damaged folder, so signs of damage are checked before. */
function check(dataDir: string): void {
  const wrong = (what: string, isDatabase = true) => new DataFolderError(`the data folder ${dataDir} ${what}`, isDatabase);
  const version = `${dataDir}/PG_VERSION`;
  if (!existsSync(version)) throw wrong('is not a database folder', false);
  const found = readFileSync(version, 'utf8').trim();
  if (found !== POSTGRES_VERSION) throw wrong(`is of PostgreSQL ${found || 'of an unknown version'}, not ${POSTGRES_VERSION}, or is incomplete`);
  for (const part of ['base', 'global', 'pg_wal', 'pg_xact', 'postgresql.conf', 'global/pg_control']) {
    if (!existsSync(`${dataDir}/${part}`)) throw wrong(`is incomplete: ${part} is missing`);
  }
  if (statSync(`${dataDir}/global/pg_control`).size !== CONTROL_BYTES) throw wrong('is incomplete: global/pg_control is truncated');
}

/** Copies a database that is not open. */
export function copyDatabase(from: string, to: string): void {
  cpSync(from, to, { recursive: true });
}
