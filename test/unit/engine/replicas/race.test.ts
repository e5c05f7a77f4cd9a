/** A statement on a replica, and on the primary if the replica fails, is silent or slow. */
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { DOUBT_MS, firstOf, type Race } from '../../../../src/engine/replicas/race.ts';
import type { RowStream } from '../../../../src/engine/rows.ts';

const TIMEOUT = 30_000;
/** What a side does: its rows or error after this time. An aborted side fails. */
type Side = { readonly after: number; readonly error?: string };

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

function run(replica: Side, primary: Side, more: Partial<Race> = {}) {
  const log: string[] = [];
  const begun = Date.now();
  const side =
    (name: string, { after, error }: Side) =>
    (signal: AbortSignal): Promise<RowStream> =>
      new Promise((resolve, reject) => {
        log.push(name);
        signal.addEventListener('abort', () => {
          log.push(`${name} aborted`);
          reject(new Error(`${name} aborted`));
        });
        const rows = { cancel: () => void log.push(`${name} cancelled`) } as unknown as RowStream;
        setTimeout(() => (error === undefined ? resolve(rows) : reject(new Error(error))), after);
      });
  const primaryTimes: number[] = [];
  const onPrimary = side('primary', primary);
  const outcome = firstOf({
    now: Date.now,
    begun,
    timeoutMs: TIMEOUT,
    leastMs: 200,
    signal: undefined,
    replica: side('replica', replica),
    primary: (signal, timeoutMs) => {
      primaryTimes.push(timeoutMs);
      return onPrimary(signal);
    },
    answers: () => Promise.resolve(true),
    isFinal: (error) => error instanceof Error && error.message === 'too large',
    dead: () => void log.push('dead'),
    ...more,
  }).then(
    ({ first }) => `${first} after ${Date.now() - begun}`,
    (error: Error) => `${error.message} after ${Date.now() - begun}`,
  );
  return { log, outcome, primaryTimes };
}

async function ended(of: ReturnType<typeof run>): Promise<{ outcome: string; log: string[]; primaryTimes: number[] }> {
  await vi.runAllTimersAsync();
  return { outcome: await of.outcome, log: of.log, primaryTimes: of.primaryTimes };
}

describe('the rows', () => {
  it('are those of the replica, and the primary is not asked', async () => {
    const { outcome, log } = await ended(run({ after: 14_999 }, { after: 1 }));
    expect(outcome).toBe('replica after 14999');
    expect(log).toEqual(['replica']);
  });

  it('are those of the primary after a fault, with the time that is left', async () => {
    const { outcome, log, primaryTimes } = await ended(run({ after: 1000, error: 'down' }, { after: 500 }));
    expect(outcome).toBe('primary after 1500');
    expect(primaryTimes).toEqual([29_000]);
    expect(log).toEqual(['replica', 'primary', 'replica aborted']);
  });

  it('are those of the primary if the replica does not answer at all', async () => {
    const { outcome, log } = await ended(run({ after: 1e9 }, { after: 500 }, { answers: () => Promise.resolve(false) }));
    expect(outcome).toBe(`primary after ${DOUBT_MS + 500}`);
    expect(log).toContain('dead');
    expect(log).toContain('replica aborted');
  });

  it('are those of the first of both after half of the time', async () => {
    expect((await ended(run({ after: 1e9 }, { after: 700 }))).outcome).toBe('primary after 15700');
    const slow = await ended(run({ after: 20_000 }, { after: 1e9 }));
    expect(slow.outcome).toBe('replica after 20000');
    expect(slow.log).toEqual(['replica', 'primary', 'primary aborted']);
    expect((await ended(run({ after: 20_000 }, { after: 100, error: 'primary down' }))).outcome).toBe('replica after 20000');
  });
});

describe('the error', () => {
  it('is that of the primary, which is asked once', async () => {
    const { outcome, log } = await ended(run({ after: 10, error: 'down' }, { after: 10, error: 'division by zero' }));
    expect(outcome).toBe('division by zero after 20');
    expect(log.filter((l) => l === 'primary')).toHaveLength(1);
    expect((await ended(run({ after: 20_000, error: 'down' }, { after: 10, error: 'primary down' }))).outcome).toBe('primary down after 20000');
  });

  it('is that of the replica if the primary would give the same, or no time is left', async () => {
    expect((await ended(run({ after: 10, error: 'too large' }, { after: 10 }))).outcome).toBe('too large after 10');
    const { outcome, log } = await ended(run({ after: 29_900, error: 'late' }, { after: 1e9 }, { timeoutMs: 30_000, leastMs: 1e6 }));
    expect(outcome).toBe('late after 29900');
    expect(log).not.toContain('primary');
  });

  it('comes at once if the caller leaves, and both are aborted', async () => {
    const abort = new AbortController();
    const of = run({ after: 1e6 }, { after: 1e6 }, { signal: abort.signal });
    await vi.advanceTimersByTimeAsync(16_000);
    abort.abort();
    const { outcome, log } = await ended(of);
    expect(outcome).toMatch(/aborted after 16000$/);
    expect(log).toEqual(expect.arrayContaining(['replica aborted', 'primary aborted']));
  });
});
