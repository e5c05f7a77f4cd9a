import { describe, expect, it } from 'vitest';
import { AttemptCounter, delayAfter, EXPIRY_MS, KNOWN_MS, LEASE_MS, MAX_FAILURES } from '../../../src/auth/throttle.ts';

/** A Durable Object's storage and clock. */
function object() {
  const values = new Map<string, unknown>();
  const it = {
    now: 1_000_000,
    alarm: null as number | null,
    writes: 0,
    values,
    counter: undefined as unknown as AttemptCounter,
    async fail(times: number): Promise<number[]> {
      const delays: number[] = [];
      for (let i = 0; i < times; i++) delays.push(await it.counter.settle(true));
      return delays;
    },
  };
  it.counter = new AttemptCounter(
    {
      get: async <T>(key: string) => values.get(key) as T | undefined,
      put: async (key, value) => {
        it.writes++;
        values.set(key, value);
      },
      setAlarm: async (at) => {
        it.alarm = at;
      },
      deleteAll: async () => {
        values.clear();
        it.alarm = null;
      },
    },
    () => it.now,
  );
  return it;
}

describe('failed attempts', () => {
  it('delay answers from the fifth on, by at most four seconds', async () => {
    expect(await object().fail(11)).toEqual([0, 0, 0, 0, 500, 1000, 2000, 4000, 4000, 4000, 4000]);
    expect(delayAfter(1e9)).toBe(4000);
  });

  it('also count with seconds in between', async () => {
    const o = object();
    const delays: number[] = [];
    for (let i = 0; i < 6; i++) {
      delays.push(await o.counter.settle(true));
      o.now += 3000;
    }
    expect(delays).toEqual([0, 0, 0, 0, 500, 1000]);
  });

  it('delay a right answer too, so that a delay reveals nothing, and are not reset by success', async () => {
    const o = object();
    await o.fail(8);
    expect([await o.counter.settle(false), await o.counter.settle(false), await o.counter.settle(true)]).toEqual([4000, 4000, 4000]);
  });

  it('are forgotten one by one', async () => {
    const o = object();
    await o.fail(6);
    o.now += EXPIRY_MS;
    expect(await o.counter.settle(false)).toBe(500);
    o.now += EXPIRY_MS;
    expect(await o.counter.settle(false)).toBe(0);
    o.now += 60 * EXPIRY_MS;
    expect(await o.fail(5)).toEqual([0, 0, 0, 0, 500]);
  });

  it('are counted up to a limit, so that all are forgotten in a quarter of an hour', async () => {
    const o = object();
    await o.fail(1000);
    expect(o.alarm).toBe(o.now + MAX_FAILURES * EXPIRY_MS);
    expect(MAX_FAILURES * EXPIRY_MS).toBe(15 * 60_000);
    o.now += MAX_FAILURES * EXPIRY_MS;
    expect(await o.counter.settle(false)).toBe(0);
  });

  it('are not reduced by a clock that goes back', async () => {
    const o = object();
    await o.fail(6);
    o.now -= 10 * EXPIRY_MS;
    expect(await o.counter.settle(false)).toBe(1000);
  });
});

describe('running attempts', () => {
  it('are limited, and free their slot when they are settled or cancelled', async () => {
    const o = object();
    const [a, b] = [o.counter.begin(2), o.counter.begin(2)] as [string, string];
    expect(o.counter.begin(2)).toBe(null);
    await o.counter.settle(false, a);
    const c = o.counter.begin(2) as string;
    expect([typeof c, o.counter.begin(2)]).toEqual(['string', null]);
    o.counter.cancel(b);
    o.counter.cancel(b);
    expect([typeof o.counter.begin(2), o.counter.begin(2)]).toEqual(['string', null]);
    expect(o.writes).toBe(0);
  });

  it('run until their answer is sent, right or wrong', async () => {
    for (const failed of [true, false]) {
      const o = object();
      await o.fail(8);
      const ticket = o.counter.begin(1) as string;
      expect(await o.counter.settle(failed, ticket)).toBe(4000);
      o.now += 3999;
      expect(o.counter.begin(1)).toBe(null);
      o.now += 1;
      expect(o.counter.begin(1)).not.toBe(null);
    }
  });

  it('end with their lease if they are not settled, and when the clock goes back', () => {
    const o = object();
    o.counter.begin(1);
    o.now += LEASE_MS - 1;
    expect(o.counter.begin(1)).toBe(null);
    o.now += 1;
    expect(o.counter.begin(1)).not.toBe(null);
    o.now -= 60 * LEASE_MS;
    expect(o.counter.begin(1)).not.toBe(null);
  });
});

describe('the storage', () => {
  it('is empty without failures', async () => {
    const o = object();
    await o.counter.settle(false);
    expect([o.writes, o.alarm]).toEqual([0, null]);
  });

  it('has the success of a key that is to be remembered, for sixty days after the last one', async () => {
    const o = object();
    expect(await o.counter.isKnown()).toBe(false);
    await o.counter.remember();
    await o.counter.remember();
    expect([o.writes, o.alarm, await o.counter.isKnown()]).toEqual([1, o.now + KNOWN_MS, true]);
    await o.fail(1);
    expect(o.alarm).toBe(o.now + EXPIRY_MS);
    o.now += KNOWN_MS / 2;
    await o.counter.alarm();
    expect([o.alarm, await o.counter.isKnown()]).toEqual([o.now + KNOWN_MS / 2, true]);
    await o.counter.remember();
    expect(o.writes).toBe(3);
    o.now += KNOWN_MS;
    expect(await o.counter.isKnown()).toBe(false);
    await o.counter.alarm();
    expect([o.values.size, o.alarm]).toEqual([0, null]);
  });

  it('has two numbers, deleted by the alarm once they are forgotten', async () => {
    const o = object();
    await o.fail(2);
    expect([...o.values]).toEqual([['counted', { failures: 2, at: o.now }]]);
    o.now += EXPIRY_MS;
    await o.counter.alarm();
    expect([o.values.size, o.alarm]).toEqual([1, o.now + EXPIRY_MS]);
    o.now += EXPIRY_MS;
    await o.counter.alarm();
    expect([o.values.size, o.alarm]).toEqual([0, null]);
  });
});
