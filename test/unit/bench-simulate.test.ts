/** The simulation of many isolates: what follows from the assumptions without running it. */
import { describe, expect, it } from 'vitest';
import { type Design, type Load, simulate } from '../../bench/simulate/simulate.ts';

const LOAD: Load = { tenants: 50, callers: 2, locations: 3, requestsPerDay: 4_000_000, startsPerDay: 500, lifetime: 1800 };
const DESIGN: Design = { snapshotBytes: 4000, modelBytes: 100_000, kv: 'none' };
const TIMES = { warmUp: 120, measured: 120 };

describe('the simulation', () => {
  it('uses no rights of a minute or more, and counts each request once', () => {
    for (const kv of ['none', 'at once', 'misses cached'] as const) {
      const of = simulate(LOAD, { ...DESIGN, kv }, TIMES);
      expect(of.ages.at(-1)).toBeLessThan(60);
      expect(of.ages.length / TIMES.measured).toBeCloseTo(LOAD.requestsPerDay / 86_400, -1);
      expect(of.fromMemory + of.fromKv).toBeGreaterThan(0);
      expect(of.fromMemory + of.fromKv).toBeLessThanOrEqual(1);
    }
  });

  it('reads the catalog for each request if a snapshot is too large for the store', () => {
    const of = simulate(LOAD, { ...DESIGN, snapshotBytes: 20 * 2 ** 20 }, TIMES);
    expect(of.fromMemory).toBe(0);
    expect(of.snapshotReads).toBeCloseTo(of.ages.length / TIMES.measured, 6);
  });

  it('reads less with KV, and less again if a miss is not cached', () => {
    const reads = (kv: Design['kv']): number => simulate(LOAD, { ...DESIGN, kv }, TIMES).snapshotReads;
    const [none, cached, atOnce] = [reads('none'), reads('misses cached'), reads('at once')];
    expect(cached).toBeLessThanOrEqual(none);
    expect(atOnce).toBeLessThan(cached);
  });

  it('is the same each time', () => {
    expect(simulate(LOAD, DESIGN, TIMES)).toEqual(simulate(LOAD, DESIGN, TIMES));
  });
});
