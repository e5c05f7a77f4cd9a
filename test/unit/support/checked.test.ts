import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { checkUntil } from '../../support/checked.ts';
import { generated } from '../../support/generated.ts';

describe('checkUntil', () => {
  it('adds the cases that a larger run would have, until they are enough', async () => {
    const all = fc.sample(fc.integer(), generated(12, 12));
    const seen: number[] = [];
    const property = fc.asyncProperty(fc.integer(), async (n) => void seen.push(n));
    const isEnough = (): boolean => seen.length >= 7;
    expect((await checkUntil(property, 5, isEnough)).failed).toBe(false);
    expect(seen).toEqual(all.slice(0, 7));
  });

  it('adds no cases if the first ones are enough, and ends if they never are', async () => {
    let cases = 0;
    const property = fc.asyncProperty(fc.integer(), async () => void cases++);
    await checkUntil(property, 5, () => true);
    expect(cases).toBe(5);
    await checkUntil(property, 5, () => false);
    expect(cases).toBe(5 + 5 + 100);
  });

  it('reports a failure of an added case', async () => {
    let cases = 0;
    const property = fc.asyncProperty(fc.integer(), async () => {
      if (++cases === 7) throw new Error('the seventh');
    });
    const { failed, errorInstance } = await checkUntil(property, 5, () => false);
    expect([failed, String(errorInstance)]).toEqual([true, 'Error: the seventh']);
    expect(cases).toBe(7);
  });
});
