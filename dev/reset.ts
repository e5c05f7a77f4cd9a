// `npm run reset`: deletes the data folder (DATA_DIR), the files next to it, and the session file. With --database also what `npm start` made in the database of
// DATABASE_URL.
import { existsSync, readdirSync, rmSync } from 'node:fs';
import pg from 'pg';
import { StartFailure } from './start/failure.ts';
import { lock, readPlaces } from './start/places.ts';
import { removeRoles } from './start/server-roles.ts';

try {
  const wrong = process.argv.slice(2).find((argument) => argument !== '--database');
  if (wrong !== undefined) throw new StartFailure(`unknown argument ${wrong}; the only one is --database`);
  const alsoDatabase = process.argv.includes('--database');
  const { databaseUrl } = readPlaces({ ...process.env, PORT: undefined });
  if (alsoDatabase && databaseUrl === undefined) throw new StartFailure('--database needs DATABASE_URL, the one that npm start had');
  const { dataDir, stateDir, sessionFile } = readPlaces({ ...process.env, PORT: undefined, DATABASE_URL: undefined });
  if (existsSync(stateDir)) lock(stateDir);
  // If DATA_DIR is set to another folder by mistake, its files must not be deleted.
  const found = existsSync(dataDir) ? readdirSync(dataDir) : [];
  if (found.length && !found.includes('PG_VERSION')) throw new StartFailure(`${dataDir} contains no database, so it was not deleted`);
  if (alsoDatabase) await clearDatabase(databaseUrl!);
  for (const dir of [dataDir, `${dataDir}.new`, stateDir]) rmSync(dir, { recursive: true, force: true });
  rmSync(sessionFile, { force: true });
  console.log(`cleared ${dataDir}`);
} catch (error) {
  console.error(`npm run reset: ${(error as Error).message}`);
  process.exitCode = 1;
}

async function clearDatabase(connectionString: string): Promise<void> {
  const client = new pg.Client({ connectionString, connectionTimeoutMillis: 10_000 });
  client.on('error', () => undefined);
  try {
    await client.connect();
    const removed = await removeRoles((sql) => client.query(sql), client.database as string);
    for (const line of removed.length ? removed : ['the database has nothing that npm start made']) console.log(line);
  } finally {
    await client.end().catch(() => undefined);
  }
}
