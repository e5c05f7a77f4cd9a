/** Starts the process that lends databases to test files, names the run for the build of the Worker, and ends and removes both after the last file. */
import { fork } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { rmSync } from 'node:fs';
import { QUICK_WASM } from './wasm.ts';

export default async function setup(): Promise<() => Promise<void>> {
  const secret = randomBytes(16).toString('hex');
  const host = fork(new URL('./host.ts', import.meta.url), { env: { ...process.env, TEST_DATABASES_SECRET: secret }, execArgv: [...QUICK_WASM] });
  const [{ port }] = (await once(host, 'message')) as [{ port: number }];
  // the processes of test files inherit it
  process.env.TEST_DATABASES = `http://127.0.0.1:${port}`;
  process.env.TEST_DATABASES_SECRET = secret;
  const build = `tests-${randomBytes(6).toString('hex')}`;
  process.env.TEST_BUILD = build;
  return async () => {
    const ended = once(host, 'exit');
    host.disconnect();
    await ended;
    rmSync(new URL(`../../../dist/bench/${build}`, import.meta.url), { recursive: true, force: true });
  };
}
