/**
 * Parameters of tests with generated values. `npm test` generates the same values each time. DEEP=1 generates more of them with a random
 * seed, which a failure prints. SEED=n uses that seed.
 */
const FIXED = 20_240_229;

export const DEEP = Boolean(process.env.DEEP);
/** The seed of this run. */
export const SEED = Number(process.env.SEED ?? (DEEP ? Math.floor(Math.random() * 2 ** 31) : FIXED));

/** The maximum number of runs of a deep run, as a multiple of that of `npm test`. */
export const TIMES = Number(process.env.DEEP_TIMES ?? Number.POSITIVE_INFINITY);

/** The seed and the number of runs, as options of fc.assert, fc.check and fc.sample. `deep`: the number with DEEP=1. */
export function generated(runs = 100, deep = runs * 10): { seed: number; numRuns: number } {
  return { seed: SEED, numRuns: DEEP ? Math.min(deep, runs * TIMES) : runs };
}

/** A timeout ends a test that hangs, also on a machine that is twenty times slower because of other work. */
const LEAST_MS = 900_000;

/** The timeout of a test that needs this many milliseconds on a busy machine, at least `LEAST_MS`; longer with DEEP=1. */
export const patience = (ms: number): number => (DEEP ? Math.max(60 * ms, 3_600_000) : Math.max(ms, LEAST_MS));
