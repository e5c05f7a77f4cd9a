/** Starts the process that lends databases to test files, and ends it after the last file. */
import { fork } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';

export default async function setup(): Promise<() => Promise<void>> {
  const secret = randomBytes(16).toString('hex');
  const host = fork(new URL('./host.ts', import.meta.url), { env: { ...process.env, TEST_DATABASES_SECRET: secret } });
  const [{ port }] = (await once(host, 'message')) as [{ port: number }];
  // the processes of test files inherit it
  process.env.TEST_DATABASES = `http://127.0.0.1:${port}`;
  process.env.TEST_DATABASES_SECRET = secret;
  return async () => {
    const ended = once(host, 'exit');
    host.disconnect();
    await ended;
  };
}
