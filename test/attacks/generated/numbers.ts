/** Random choices from a seed, so that a failed run can be repeated. */
import type { Random } from 'fast-check';
import { Rng } from '../../integration/differential/rng.ts';

/** The same seed gives the same choices: the upper bits of a linear congruential generator. */
export function choices(seed: number): Rng {
  let state = (seed ^ 0x2545f491) >>> 0;
  const next = (): number => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
  const nextInt = (min = 0, max = 2 ** 31): number => min + Math.floor(next() * (max - min + 1));
  return new Rng({ nextInt } as unknown as Random);
}
