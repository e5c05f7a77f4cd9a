// `npm run reset`: clears the data folder (DATA_DIR), what stands beside it, and the session file.
import { existsSync, readdirSync, rmSync } from 'node:fs';
import { StartFailure } from './start/failure.ts';
import { lock, readPlaces } from './start/places.ts';

try {
  const { dataDir, stateDir, sessionFile } = readPlaces({ ...process.env, PORT: undefined, DATABASE_URL: undefined });
  if (existsSync(stateDir)) lock(stateDir);
  // A DATA_DIR set by mistake to some other folder is not ours to clear.
  const found = existsSync(dataDir) ? readdirSync(dataDir) : [];
  if (found.length && !found.includes('PG_VERSION')) throw new StartFailure(`${dataDir} holds no database, so it is left alone`);
  for (const dir of [dataDir, `${dataDir}.new`, stateDir]) rmSync(dir, { recursive: true, force: true });
  rmSync(sessionFile, { force: true });
  console.log(`cleared ${dataDir}`);
} catch (error) {
  console.error(`npm run reset: ${(error as Error).message}`);
  process.exitCode = 1;
}
