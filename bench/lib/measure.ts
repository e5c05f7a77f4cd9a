/** Measures variants of one operation against each other: interleaved, medians, ratios. */

export const quantile = (values: readonly number[], q: number): number => {
  const sorted = [...values].sort((a, b) => a - b);
  const at = (sorted.length - 1) * q;
  const low = sorted[Math.floor(at)] ?? Number.NaN;
  const high = sorted[Math.ceil(at)] ?? Number.NaN;
  return low + (high - low) * (at - Math.floor(at));
};

export const median = (values: readonly number[]): number => quantile(values, 0.5);

/** Runs `step` and returns the milliseconds that it took. */
export async function timed(step: () => unknown): Promise<number> {
  const start = performance.now();
  await step();
  return performance.now() - start;
}

/**
 * Samples of each variant, in milliseconds: `rounds` rounds of all variants, alternately forwards and backwards, so that
 * other load of the machine affects all equally. The first `warmUp` rounds do not count.
 */
export async function interleaved<K extends string>(
  variants: Readonly<Record<K, () => Promise<number>>>,
  rounds: number,
  warmUp: number,
): Promise<Record<K, number[]>> {
  const names = Object.keys(variants) as K[];
  const samples = Object.fromEntries(names.map((name) => [name, [] as number[]])) as Record<K, number[]>;
  for (let round = -warmUp; round < rounds; round++) {
    for (const name of round % 2 === 0 ? names : [...names].reverse()) {
      const took = await variants[name]();
      if (round >= 0) samples[name].push(took);
    }
  }
  return samples;
}

export const ratio = (a: number, b: number): string => `x${(a / b).toFixed(2)}`;
export const ms = (value: number): string => `${value.toFixed(value < 10 ? 2 : 1)} ms`;
export const us = (milliseconds: number): string => `${(milliseconds * 1000).toFixed(milliseconds < 0.01 ? 1 : 0)} us`;
