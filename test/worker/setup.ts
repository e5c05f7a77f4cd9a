/** A database with a catalog and one table to map, for the tests in the Workers runtime. */
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { TestProject } from 'vitest/node';
import { migrate, runOverHttp } from '../../dev/migrate.ts';
import { CATALOG_OWNER, DEVELOPER, READER } from '../../dev/roles.ts';
import { type LocalPostgres, startLocalPostgres } from '../../dev/testing.ts';
import { bundle } from '../../scripts/bundle.ts';
import { createToken } from '../../src/auth/tokens.ts';

declare module 'vitest' {
  export interface ProvidedContext {
    catalogUrl: string;
    datasource: string;
    writer: string;
    adminToken: string;
    strangersToken: string;
    apiAuthSalt: string;
    sessionSecret: string;
  }
}

/** The main module of the Worker as it is deployed, which `setup` builds. */
export const BUILT_WORKER = fileURLToPath(new URL('../../dist/tests/worker/index.js', import.meta.url));

async function startDatabase(): Promise<LocalPostgres> {
  const database = await startLocalPostgres();
  await migrate(runOverHttp(database.connectionString(CATALOG_OWNER), database.endpoint));
  await database.exec('CREATE SCHEMA zoo');
  await database.exec('CREATE TABLE zoo.t_animal (no bigint PRIMARY KEY, called text, weight numeric)');
  await database.exec("INSERT INTO zoo.t_animal VALUES (1, 'Ada', 12.50), (2, 'B\u00e4r', 9007199254740993), (3, NULL, NULL)");
  await database.exec('CREATE SCHEMA cached');
  return database;
}

export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  // the tests of all projects wait for this function
  const [database] = await Promise.all([startDatabase(), bundle({ outdir: dirname(BUILT_WORKER) })]);
  project.provide('catalogUrl', database.secret(CATALOG_OWNER));
  project.provide('datasource', database.secret(READER));
  project.provide('writer', database.secret(DEVELOPER));
  project.provide('adminToken', createToken());
  project.provide('strangersToken', createToken());
  project.provide('apiAuthSalt', createToken());
  project.provide('sessionSecret', createToken());
  return () => database.close();
}
