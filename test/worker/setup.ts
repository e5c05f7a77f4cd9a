/**
 * Starts the process that builds the Worker and owns its database. That work is not done here, because Vite transforms each module that this file imports,
 * with those of packages: the project inlines all of them.
 */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import type { TestProject } from 'vitest/node';
import { createToken } from '../../src/auth/tokens.ts';
import { QUICK_WASM } from '../support/databases/wasm.ts';
import type { Connections } from './host.ts';

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

export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  // the tests of all projects wait for this function
  const host = fork(new URL('./host.ts', import.meta.url), { execArgv: [...QUICK_WASM] });
  const failed = once(host, 'exit').then(() => {
    throw new Error('the process with the Worker and its database has failed');
  });
  const [{ catalogUrl, datasource, writer }] = (await Promise.race([once(host, 'message'), failed])) as [Connections];
  const ended = failed.catch(() => undefined);
  project.provide('catalogUrl', catalogUrl);
  project.provide('datasource', datasource);
  project.provide('writer', writer);
  project.provide('adminToken', createToken());
  project.provide('strangersToken', createToken());
  project.provide('apiAuthSalt', createToken());
  project.provide('sessionSecret', createToken());
  return async () => {
    host.disconnect();
    await ended;
  };
}
