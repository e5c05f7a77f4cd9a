/**
 * Parameters of tests over generated values. `npm test` generates the same values each time; DEEP=1 more of them from a random
 * seed, which a failure shows; SEED=n takes that seed.
 */
const FIXED = 20_240_229;

export const DEEP = Boolean(process.env.DEEP);
/** The seed of this run. */
export const SEED = Number(process.env.SEED ?? (DEEP ? Math.floor(Math.random() * 2 ** 31) : FIXED));

/** A deep run tries at most so many times what `npm test` tries. */
export const TIMES = Number(process.env.DEEP_TIMES ?? Number.POSITIVE_INFINITY);

/** The seed and the number of runs, as options of fc.assert, fc.check and fc.sample. `deep`: the number with DEEP=1. */
export function generated(runs = 100, deep = runs * 10): { seed: number; numRuns: number } {
  return { seed: SEED, numRuns: DEEP ? Math.min(deep, runs * TIMES) : runs };
}

/** How long a test may take that needs so many milliseconds on a busy machine, and more with DEEP=1. */
export const patience = (ms: number): number => (DEEP ? Math.max(60 * ms, 3_600_000) : ms);
