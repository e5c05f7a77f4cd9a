/** Random choices, from fast-check's generator so that one seed gives one run. */
import type { Random } from 'fast-check';

export class Rng {
  private readonly source: Random;

  constructor(source: Random) {
    this.source = source;
  }

  /** From `min` to `max`, both included. */
  int(min: number, max: number): number {
    return this.source.nextInt(min, max);
  }

  /** True in `percent` of 100 cases. */
  chance(percent: number): boolean {
    return this.int(1, 100) <= percent;
  }

  pick<T>(list: readonly T[]): T {
    if (!list.length) throw new Error('nothing to pick from');
    return list[this.int(0, list.length - 1)] as T;
  }

  /** Up to `n` different ones. */
  some<T>(list: readonly T[], n: number): T[] {
    const rest = [...list];
    const out: T[] = [];
    while (out.length < n && rest.length) out.push(rest.splice(this.int(0, rest.length - 1), 1)[0] as T);
    return out;
  }
}
