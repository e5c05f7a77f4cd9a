/** The process that builds the Worker for the tests in the Workers runtime, and owns its database: a catalog and one table to map. */
import { cpSync, rmSync } from 'node:fs';
import { dirname } from 'node:path';
import { migrate, runOverHttp } from '../../dev/migrate.ts';
import { CATALOG_OWNER, DEVELOPER, READER } from '../../dev/roles.ts';
import { builtWorker } from '../../dev/start/built.ts';
import { type LocalPostgres, startLocalPostgres } from '../../dev/testing.ts';
import { BUILT_WORKER } from './options.ts';

/** Connection strings with their endpoint, for the Worker's settings. */
export interface Connections {
  readonly catalogUrl: string;
  readonly datasource: string;
  readonly writer: string;
}

async function startDatabase(): Promise<LocalPostgres> {
  const database = await startLocalPostgres();
  await migrate(runOverHttp(database.connectionString(CATALOG_OWNER), database.endpoint));
  await database.exec('CREATE SCHEMA zoo');
  await database.exec('CREATE TABLE zoo.t_animal (no bigint PRIMARY KEY, called text, weight numeric)');
  await database.exec("INSERT INTO zoo.t_animal VALUES (1, 'Ada', 12.50), (2, 'B\u00e4r', 9007199254740993), (3, NULL, NULL)");
  await database.exec('CREATE SCHEMA cached');
  return database;
}

/** Copies the build that all tests share to where the configuration of the tests expects it. */
async function build(): Promise<void> {
  const folder = await builtWorker();
  rmSync(dirname(BUILT_WORKER), { recursive: true, force: true });
  cpSync(folder, dirname(BUILT_WORKER), { recursive: true });
}

const [database] = await Promise.all([startDatabase(), build()]);
process.once('disconnect', async () => {
  await database.close().catch(() => undefined);
  process.exit(0);
});
process.send?.({ catalogUrl: database.secret(CATALOG_OWNER), datasource: database.secret(READER), writer: database.secret(DEVELOPER) } satisfies Connections);
