// `npm run reset`: deletes the data folder (DATA_DIR), the files next to it, and the session file.
import { existsSync, readdirSync, rmSync } from 'node:fs';
import { StartFailure } from './start/failure.ts';
import { lock, readPlaces } from './start/places.ts';

try {
  const { dataDir, stateDir, sessionFile } = readPlaces({ ...process.env, PORT: undefined, DATABASE_URL: undefined });
  if (existsSync(stateDir)) lock(stateDir);
  // If DATA_DIR is set to another folder by mistake, its files must not be deleted.
  const found = existsSync(dataDir) ? readdirSync(dataDir) : [];
  if (found.length && !found.includes('PG_VERSION')) throw new StartFailure(`${dataDir} contains no database, so it was not deleted`);
  for (const dir of [dataDir, `${dataDir}.new`, stateDir]) rmSync(dir, { recursive: true, force: true });
  rmSync(sessionFile, { force: true });
  console.log(`cleared ${dataDir}`);
} catch (error) {
  console.error(`npm run reset: ${(error as Error).message}`);
  process.exitCode = 1;
}
