import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { PgliteHost } from './sql/pglite-host.ts';

const POSTGRES_VERSION = '18';
const CONTROL_BYTES = 8192;

/** Why a data folder cannot be used, in words for the one who starts the service. */
export class DataFolderError extends Error {
  /** Whether it is a database's folder, which `npm run reset` may clear. */
  readonly isDatabase: boolean;
  constructor(message: string, isDatabase = true) {
    super(message);
    this.isDatabase = isDatabase;
  }
}

/**
 * Opens the embedded database in a data folder; makes one in a folder that is missing or empty. A new one is made
 * beside it and moved there whole, so that an interrupted start leaves nothing half-written.
 * Throws DataFolderError.
 */
export async function openEmbedded(dataDir: string): Promise<PgliteHost> {
  if (!existsSync(dataDir) || readdirSync(dataDir).length === 0) await create(dataDir);
  else check(dataDir);
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
  const host = new PgliteHost(fresh);
  try {
    await host.client();
    await host.close();
    if (existsSync(dataDir)) rmSync(dataDir, { recursive: true });
    renameSync(fresh, dataDir);
  } catch (error) {
    await host.close();
    rmSync(fresh, { recursive: true, force: true });
    throw new DataFolderError(`the data folder ${dataDir} cannot be made: ${(error as Error).message}`);
  }
}

/** What a damaged folder would do inside PGlite is not worth seeing: the signs of one are looked for before. */
function check(dataDir: string): void {
  const wrong = (what: string, isDatabase = true) => new DataFolderError(`the data folder ${dataDir} ${what}`, isDatabase);
  const version = `${dataDir}/PG_VERSION`;
  if (!existsSync(version)) throw wrong('holds something else than a database', false);
  const found = readFileSync(version, 'utf8').trim();
  if (found !== POSTGRES_VERSION) throw wrong(`is of PostgreSQL ${found || 'of an unknown version'}, not ${POSTGRES_VERSION}, or half-written`);
  for (const part of ['base', 'global', 'pg_wal', 'pg_xact', 'postgresql.conf', 'global/pg_control']) {
    if (!existsSync(`${dataDir}/${part}`)) throw wrong(`is half-written: ${part} is missing`);
  }
  if (statSync(`${dataDir}/global/pg_control`).size !== CONTROL_BYTES) throw wrong('is half-written: global/pg_control is cut short');
}

/** Copies a database that is not open. */
export function copyDatabase(from: string, to: string): void {
  cpSync(from, to, { recursive: true });
}
