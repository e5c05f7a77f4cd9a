/** The table of sizes names files that exist and that read their own line. */
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { deepSize, oneIn, SIZES } from '../support/sizes.ts';

describe('the sizes of generated tests', () => {
  it.each(Object.entries(SIZES))('%s reads its line, and each number of it', (file, sizes) => {
    const text = readFileSync(new URL(`../${file}.test.ts`, import.meta.url), 'utf8');
    expect(text).toContain(`const SIZES = sizesOf('${file}');`);
    for (const what of Object.keys(sizes)) expect(text, what).toContain(`SIZES.${what}`);
  });

  it.each([
    [[60, 10_000, 640], 640, 320, 160],
    [[4, 7, 6], 6, 4, 4],
    [[13, 1, 2], 2, 4, 8],
    [[5, 1, 1], 1, 2, 4],
    [[40, 40, 40], 40, 40, 40],
    [[2, 500], 16, 8, 4],
    [[48, 1], 6, 12, 24],
    [[0, 1], 1, 1, 1],
  ] as const)('%j take a share of a deep run if it is limited more', (size, ...expected) => {
    expect([8, 4, 2].map((times) => deepSize(size, times))).toEqual(expected);
    expect(deepSize(size, Number.POSITIVE_INFINITY)).toBe(size[1]);
  });

  it('cover each element of a list over all turns', () => {
    const list = Array.from({ length: 20 }, (_, i) => i);
    const tried = [0, 1, 2].map((turn) => oneIn(3, list, turn));
    expect(tried.flat().sort((a, b) => a - b)).toEqual(list);
    expect(oneIn(1, list, 5)).toEqual(list);
  });
});
