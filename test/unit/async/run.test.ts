/** The end of an asynchronous statement is stored although the object that counts it does not answer. */
import { afterEach, expect, it, vi } from 'vitest';
import { AsyncRun } from '../../../src/async/run.ts';
import type { AsyncJob, Runtime } from '../../../src/service.ts';
import { memoryStorage } from '../../support/async-memory.ts';

afterEach(() => void vi.useRealTimers());

it.each(['waiting', 'running'])('is stored although the release of a %s one hangs', async (state) => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  const released: string[] = [];
  const runtime = {
    config: { asyncTimeoutMs: 1000 },
    now: () => 0,
    log: () => undefined,
    asyncStatements: {
      release: (key: string) => {
        released.push(key);
        return new Promise(() => undefined);
      },
    },
  } as unknown as Runtime;
  const job = { id: 'j', owner: 'o', caller: { userId: 'u', name: 'dan', actor: { userId: 'a' } }, rights: { ontology: null, digest: '' } };
  const storage = memoryStorage(() => undefined);
  const run = new AsyncRun(storage, () => runtime);
  await run.start(job as unknown as AsyncJob);
  if (state === 'running') storage.database.exec("UPDATE job SET state = 'running'");
  const alarm = run.alarm();
  // the modules of the run are loaded in real time
  await vi.waitFor(() => expect(released).toHaveLength(2), { timeout: 60_000 });
  await vi.advanceTimersByTimeAsync(5_000);
  await alarm;
  expect(run.poll('o')).toMatchObject({ state: 'error' });
  expect(released).toEqual(['a:u', 'a:all']);
});
