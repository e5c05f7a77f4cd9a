/** The table of sizes names files that exist and that read their own line. */
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { oneIn, SIZES } from '../support/sizes.ts';

describe('the sizes of generated tests', () => {
  it.each(Object.entries(SIZES))('%s reads its line, and each number of it', (file, sizes) => {
    const text = readFileSync(new URL(`../${file}.test.ts`, import.meta.url), 'utf8');
    expect(text).toContain(`const SIZES = sizesOf('${file}');`);
    for (const what of Object.keys(sizes)) expect(text, what).toContain(`SIZES.${what}`);
  });

  it('cover each element of a list over all turns', () => {
    const list = Array.from({ length: 20 }, (_, i) => i);
    const tried = [0, 1, 2].map((turn) => oneIn(3, list, turn));
    expect(tried.flat().sort((a, b) => a - b)).toEqual(list);
    expect(oneIn(1, list, 5)).toEqual(list);
  });
});
