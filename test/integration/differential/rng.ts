/** Random choices, from fast-check's generator so that one seed gives one run. */
import type { Random } from 'fast-check';

export class Rng {
  private readonly source: Random;

  constructor(source: Random) {
    this.source = source;
  }

  /** Choices that follow from a text, which leave those of another Rng as they are. */
  static of(text: string): Rng {
    let state = 0;
    const next = (): number => {
      state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
      return state;
    };
    for (const c of text) state = (next() ^ c.charCodeAt(0)) >>> 0;
    return new Rng({ nextInt: (min: number, max: number) => min + Math.floor((next() / 2 ** 32) * (max - min + 1)) } as Random);
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
