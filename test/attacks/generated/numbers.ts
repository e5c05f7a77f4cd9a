/** Random choices from a seed, so that a failed run can be repeated. */
import { Rng } from '../../integration/differential/rng.ts';

/** The same seed gives the same choices. */
export const choices = (seed: number): Rng => Rng.from(seed ^ 0x2545f491);
