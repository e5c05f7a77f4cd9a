import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { Answer } from '../../../dev/sql/answer.ts';
import { SlowReaders } from '../../../dev/sql/slow-readers.ts';

const MIB = 1024 * 1024;

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

/** Answers that end when their readers keep PostgreSQL waiting. `ended` has their names. */
function readers() {
  const slow = new SlowReaders({ slowMs: 5000, patienceMs: 2000 });
  const ended: string[] = [];
  /** Starts a pause. @returns what ends it */
  const pause = (name: string, bytes = 0, answer = { bytes } as Answer) => {
    let resume: () => void = () => undefined;
    Object.assign(answer, { drained: () => new Promise<void>((resolve) => (resume = resolve)), abort: () => void ended.push(name) });
    void slow.drained(answer);
    return { answer, resume: () => resume() };
  };
  return { slow, ended, pause };
}
const elapse = (time: number) => vi.advanceTimersByTimeAsync(time);
/** A request that waits for a connection. @returns what gives it one */
function waits(slow: SlowReaders): () => void {
  let give: () => void = () => undefined;
  void slow.makeRoom(new Promise<void>((resolve) => (give = resolve)));
  return () => give();
}

describe('a slow reader', () => {
  it('is not ended while nothing waits, or until a request has waited', async () => {
    const { slow, ended, pause } = readers();
    pause('slow');
    await elapse(60_000);
    const give = waits(slow);
    await elapse(1900);
    give();
    await elapse(60_000);
    expect(ended).toEqual([]);
    waits(slow);
    await elapse(1900);
    expect(ended).toEqual([]);
    await elapse(200);
    expect(ended).toEqual(['slow']);
  });

  it('may read for half a second for each MiB in addition to its time', async () => {
    const { slow, ended, pause } = readers();
    pause('four', 4 * MIB);
    pause('none');
    waits(slow);
    await elapse(4900);
    expect(ended).toEqual([]);
    await elapse(200);
    expect(ended).toEqual(['none']);
    await elapse(1800);
    expect(ended).toEqual(['none']);
    await elapse(300);
    expect(ended).toEqual(['none', 'four']);
  });

  it('is ended if its pauses together are too long, and not for the time in which PostgreSQL computes', async () => {
    const { slow, ended, pause } = readers();
    waits(slow);
    const { answer, resume } = pause('little');
    await elapse(3000);
    resume();
    await elapse(60_000);
    expect(ended).toEqual([]);
    pause('little', 0, answer);
    await elapse(1900);
    expect(ended).toEqual([]);
    await elapse(200);
    expect(ended).toEqual(['little']);
  });

  it('is ended before faster ones, and one at a time, also if several requests wait', async () => {
    const { slow, ended, pause } = readers();
    pause('second', MIB);
    pause('first');
    pause('third', 2 * MIB);
    slow.ended(pause('left').answer);
    await elapse(10_000);
    for (let i = 0; i < 5; i++) waits(slow);
    await elapse(2050);
    expect(ended).toEqual(['first']);
    await elapse(100);
    expect(ended).toEqual(['first', 'second']);
    await elapse(1000);
    expect(ended).toEqual(['first', 'second', 'third']);
  });

  it('is not ended while the requests before get connections, until one has waited for 5 seconds', async () => {
    const { slow, ended, pause } = readers();
    for (const name of ['first', 'second']) pause(name);
    await elapse(10_000);
    const gives = Array.from({ length: 8 }, () => waits(slow));
    for (const give of gives) {
      await elapse(600);
      give();
    }
    expect(ended).toEqual([]);
    const more = Array.from({ length: 8 }, () => waits(slow));
    for (const give of more) {
      await elapse(1000);
      give();
      if (give === more[3]) expect(ended).toEqual([]);
    }
    expect(ended).toEqual(['first', 'second']);
  });

  it('is ended once for several requests, if the connection that becomes free serves them', async () => {
    const { slow, ended, pause } = readers();
    for (const name of ['first', 'second', 'third']) pause(name);
    await elapse(10_000);
    const gives = Array.from({ length: 5 }, () => waits(slow));
    await elapse(2050);
    expect(ended).toEqual(['first']);
    for (const give of gives) {
      give();
      await elapse(300);
    }
    expect(ended).toEqual(['first']);
  });
});
