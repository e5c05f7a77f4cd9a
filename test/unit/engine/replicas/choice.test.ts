/** The choice of a replica, and what an isolate remembers of each one. */
import { describe, expect, it } from 'vitest';
import { begin, choose, fail, loadOf, newReplica, type ReplicaState, rest } from '../../../../src/engine/replicas/choice.ts';

const TIMEOUT = 30_000;
const NOW = 1_000_000;

const first = (): number => 0;

/** Random numbers that are the same in each run. */
function numbers(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648;
    return state / 2_147_483_648;
  };
}

describe('the choice', () => {
  it('is empty without replicas, or if all rest', () => {
    const tired = newReplica();
    rest(tired, NOW + 1);
    expect(choose([], NOW, TIMEOUT, first)).toBeUndefined();
    expect(choose([tired], NOW, TIMEOUT, first)).toBeUndefined();
    expect(choose([tired, newReplica()], NOW, TIMEOUT, first)).toBe(1);
    expect(choose([tired], NOW + 1, TIMEOUT, first)).toBe(0);
  });

  it('takes two different ones, each equally often, and the one that is less busy', () => {
    const states = [0, 1, 2, 3].map(() => newReplica());
    for (let i = 0; i < 3; i++) begin(states[2] as ReplicaState, NOW, TIMEOUT);
    const random = numbers(7);
    const counts = [0, 0, 0, 0];
    for (let i = 0; i < 6000; i++) (counts[choose(states, NOW, TIMEOUT, random) as number] as number)++;
    expect(counts[2]).toBe(0);
    // the busy one is in half of the pairs, and each other one wins three of its pairs or half of them
    for (const i of [0, 1, 3]) expect((counts[i] as number) / 2000).toBeCloseTo(1, 0);
  });

  it('evens the load of replicas that answer with different speed', () => {
    const speeds = [10, 10, 100];
    const states = speeds.map(() => newReplica());
    const random = numbers(3);
    const counts = [0, 0, 0];
    const running: { at: number; end: (end: number, succeeded: boolean) => void }[] = [];
    for (let now = NOW; now < NOW + 20_000; now++) {
      for (const one of running.splice(0)) {
        if (one.at <= now) one.end(now, true);
        else running.push(one);
      }
      if (now % 4 !== 0) continue;
      const i = choose(states, now, TIMEOUT, random) as number;
      (counts[i] as number)++;
      running.push({ at: now + (speeds[i] as number), end: begin(states[i] as ReplicaState, now, TIMEOUT) });
    }
    const [a, b, slow] = counts as [number, number, number];
    expect(a / b).toBeGreaterThan(0.8);
    expect(a / b).toBeLessThan(1.25);
    // it is asked seldom, and not never: its latency is forgotten slowly
    expect(slow).toBeGreaterThan(0);
    expect(slow).toBeLessThan(a / 3);
  });
});

describe('the memory', () => {
  it('forgets statements whose request ended without a word', () => {
    const state = newReplica();
    begin(state, NOW, TIMEOUT);
    begin(state, NOW + TIMEOUT / 2, TIMEOUT);
    const idle = loadOf(newReplica(), NOW, TIMEOUT);
    expect(loadOf(state, NOW + TIMEOUT / 2, TIMEOUT)).toBe(3 * idle);
    expect(loadOf(state, NOW + TIMEOUT, TIMEOUT)).toBe(2 * idle);
    expect(loadOf(state, NOW + 2 * TIMEOUT, TIMEOUT)).toBe(idle);
    begin(state, NOW + 3 * TIMEOUT, TIMEOUT);
    expect(state.begun).toHaveLength(1);
  });

  it('rests longer after each failure, up to a minute, until a statement succeeds', () => {
    const state = newReplica();
    const rests: number[] = [];
    for (let now = NOW; rests.length < 9; now = state.restsUntil) {
      fail(state, now);
      rests.push(state.restsUntil - now);
    }
    expect(rests).toEqual([1000, 2000, 4000, 8000, 16_000, 32_000, 60_000, 60_000, 60_000]);
    const later = state.restsUntil;
    begin(state, later, TIMEOUT)(later + 5, true);
    expect(state).toMatchObject({ failures: 0, restsUntil: 0, isOnTrial: false, latency: 5 });
  });

  it.each([
    ['a failure', (state: ReplicaState) => fail(state, NOW)],
    ['a refusal', (state: ReplicaState) => rest(state, NOW + 1000)],
  ])('lets one statement try it after %s', (_, happen) => {
    const state = newReplica();
    happen(state);
    const awake = NOW + 1000;
    expect(choose([state], awake - 1, TIMEOUT, first)).toBeUndefined();
    expect(choose([state], awake, TIMEOUT, first)).toBe(0);
    const end = begin(state, awake, TIMEOUT);
    expect(choose([state], awake + 1, TIMEOUT, first)).toBeUndefined();
    end(awake + 2, true);
    expect(choose([state], awake + 3, TIMEOUT, first)).toBe(0);
  });
});
