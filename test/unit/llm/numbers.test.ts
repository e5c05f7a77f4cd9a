import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { unfoundNumbers } from '../../../src/llm/numbers.ts';
import { generated } from '../../support/generated.ts';

const unfound = (answer: string, ...rows: Readonly<Record<string, unknown>>[]) => unfoundNumbers(answer, rows, []);

describe('numbers of an answer', () => {
  it.each([
    ['It cost 24.75.', { total: 24.75 }],
    ['It cost 24,75 Euro.', { total: 24.75 }],
    ['About 25.', { total: 24.75 }],
    ['1,234,567 people', { n: 1234567 }],
    ["1'234'567 or 1.234.567", { n: 1234567 }],
    ['1.234.567,50', { n: 1234567.5 }],
    ['1.2 million and 1.23m', { n: 1234567 }],
    ['3 billion', { n: '2950000000' }],
    ['45 percent, that is 45.1%', { share: 0.4512 }],
    ['45%', { percent: 45 }],
    ['On 2024-03-05 it was -7.', { day: '2024-03-05', degrees: -7 }],
    ['A loss of 12', { profit: -12 }],
    ['There are 3 of them', { a: { b: [1, { c: 3 }] } }],
    ['B52 and h2o are names', { n: 0 }],
    ['1. Anna\n2. Ben', { name: 'x' }],
    ['no number at all', {}],
  ])('finds %s', (answer, row) => {
    expect(unfound(answer, row)).toEqual([]);
  });

  it.each([
    ['It cost 98765.43.', { total: 24.75 }, ['98765.43']],
    ['24.7', { total: 24.85 }, ['24.7']],
    ['24', { total: 24.75 }, ['24']],
    ['1.3 million', { n: 1234567 }, ['1.3']],
    ['7 and 7 and 8', { n: 1 }, ['7', '8']],
  ])('misses %s', (answer, row, missing) => {
    expect(unfound(answer, row)).toEqual(missing);
  });

  it('knows the count of the rows, the question and the SQL', () => {
    expect(unfoundNumbers('2 orders over 100', [{}, {}], ['more than 100'])).toEqual([]);
  });

  it('finds each number of the rows, however it is written', () => {
    fc.assert(
      fc.property(fc.double({ min: -1e9, max: 1e9, noNaN: true }), fc.integer({ min: 0, max: 4 }), (n, places) => {
        const written = Math.abs(n).toFixed(places);
        const grouped = Math.abs(n).toLocaleString('en-US', { minimumFractionDigits: places, maximumFractionDigits: places });
        expect(unfound(`so ${written} or ${grouped}`, { n })).toEqual([]);
      }),
      generated(300),
    );
  });

  it('reads hostile text in linear time', () => {
    expect(unfound(`${'1,'.repeat(50_000)} ${'9'.repeat(50_000)}`, {}).length).toBeGreaterThanOrEqual(0);
  });
});
