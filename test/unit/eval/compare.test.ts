/** When two results are the same answer. */
import { describe, expect, it } from 'vitest';
import { type CompareOptions, compareRows, type Row, sameValue } from '../../../dev/eval/compare.ts';

const same = (gold: readonly Row[], answer: readonly Row[], options?: CompareOptions): boolean => compareRows(gold, answer, options).same;

describe('rows', () => {
  it('are compared regardless of names and order of columns', () => {
    expect(same([{ name: 'a', n: 1 }], [{ Count: 1, Label: 'a' }])).toBe(true);
    expect(same([{ a: 1 }, { a: 2 }], [{ b: 2 }, { b: 1 }])).toBe(true);
  });

  it('count with their multiplicity', () => {
    expect(same([{ a: 1 }, { a: 1 }, { a: 2 }], [{ a: 1 }, { a: 2 }, { a: 2 }])).toBe(false);
    expect(same([{ a: 1 }, { a: 1 }, { a: 2 }], [{ a: 2 }, { a: 1 }, { a: 1 }])).toBe(true);
    expect(compareRows([{ a: 1 }], [{ a: 1 }, { a: 1 }]).why).toBe('2 rows instead of 1');
  });

  it('must be in order if the question asks for one', () => {
    const [gold, other] = [
      [{ a: 1 }, { a: 2 }],
      [{ a: 2 }, { a: 1 }],
    ] as const;
    expect(same(gold, other)).toBe(true);
    expect(same(gold, other, { ordered: true })).toBe(false);
    expect(same(gold, [...gold], { ordered: true })).toBe(true);
  });

  it('are compared as a whole: equal columns are not enough', () => {
    const gold = [
      { name: 'a', n: 1 },
      { name: 'b', n: 2 },
    ];
    const mixed = [
      { name: 'a', n: 2 },
      { name: 'b', n: 1 },
    ];
    expect(compareRows(gold, mixed)).toEqual({ same: false, why: 'the columns have the right values, but in other rows' });
  });

  it('may have a few additional columns, and no missing ones', () => {
    const gold = [{ name: 'a' }, { name: 'b' }];
    const answer = [
      { id: 7, name: 'b', n: 2 },
      { id: 8, name: 'a', n: 1 },
    ];
    expect(same(gold, answer)).toBe(true);
    expect(same(gold, answer, { mostExtra: 1 })).toBe(false);
    expect(compareRows(answer, gold).why).toBe('1 columns instead of 3');
    expect(compareRows(gold, [{ n: 1 }, { n: 2 }]).why).toBe('no column has the values of "name"');
  });

  it('find the columns among several with the same values', () => {
    const gold = [
      { x: 1, y: 2, name: 'a' },
      { x: 2, y: 1, name: 'b' },
    ];
    const answer = [
      { name: 'b', p: 1, q: 2 },
      { name: 'a', p: 2, q: 1 },
    ];
    expect(same(gold, answer)).toBe(true);
    expect(same(gold, [{ name: 'b', p: 1, q: 1 }, answer[1] as Row])).toBe(false);
  });

  it('are equal without rows, also with different columns', () => {
    expect(same([], [])).toBe(true);
    expect(same([], [{ a: null }])).toBe(false);
  });

  it('are compared quickly if many columns have the same values', () => {
    const wide = (n: number) => Array.from({ length: 30 }, (_, i) => Object.fromEntries(Array.from({ length: n }, (__, c) => [`c${c}`, (i + c * 7) % 30])));
    expect(same(wide(8), wide(8))).toBe(true);
    expect(same(wide(8), [...wide(8).slice(1), Object.fromEntries(Array.from({ length: 8 }, (_, c) => [`c${c}`, 0]))])).toBe(false);
  });
});

describe('values', () => {
  it.each<[unknown, unknown, boolean]>([
    [1, 1, true],
    [1, '1', true],
    ['1', '01', false],
    ['0123', 123, true],
    [9007199254740992, '9007199254740993', true],
    [4.285714285714286, 4.2857142857, true],
    [4.285714285714286, 4.29, true],
    [4.285714285714286, 4.3, false],
    [0.0142857, 0.01, false],
    [1234.567, 1234.57, true],
    [1000, 1000.004, false],
    [1000000, 1000001, false],
    [0, null, false],
    [null, null, true],
    ['', null, false],
    ['France', 'france', false],
    ['2024-05-01', '2024-05-01T00:00:00', true],
    ['2024-05-01', '2024-05-01T00:00:00+00:00', true],
    ['2024-05-01', '2024-05-01T10:00:00', false],
    [true, true, true],
    [true, 'true', false],
    [[1, 2], [1, 2], true],
    [{ a: 1 }, { a: 2 }, false],
  ])('%j and %j: %j', (gold, answer, expected) => expect(sameValue(gold, answer)).toBe(expected));
});
