/** Random choices, from fast-check's generator so that one seed gives one run. */
import type { Random } from 'fast-check';

const step = (state: number): number => (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;

export class Rng {
  private readonly source: Random;

  constructor(source: Random) {
    this.source = source;
  }

  /** Choices that depend only on a 32-bit number: the upper bits of a linear congruential generator. */
  static from(seed: number): Rng {
    let state = seed >>> 0;
    const nextInt = (min = 0, max = 2 ** 31): number => {
      state = step(state);
      return min + Math.floor((state / 2 ** 32) * (max - min + 1));
    };
    return new Rng({ nextInt } as unknown as Random);
  }

  /** Choices that depend only on a text, so that those of another Rng stay the same. */
  static of(text: string): Rng {
    let state = 0;
    for (const c of text) state = (step(state) ^ c.charCodeAt(0)) >>> 0;
    return Rng.from(state);
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
