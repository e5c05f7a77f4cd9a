/** Suggestions for unknown names. */
import { describe, expect, it } from 'vitest';
import { didYouMean, nearest } from '../../src/errors.ts';
import { cpuSeconds } from '../support/cpu.ts';

describe('didYouMean', () => {
  it('names the nearest name in backquotes', () =>
    expect(`unknown concept${didYouMean(nearest('persn', ['company', 'person']))}`).toBe('unknown concept; did you mean `person`?'));
  it('is empty if no name is near', () => expect(didYouMean(nearest('zebra', ['company', 'person']))).toBe(''));
  it('is empty for an empty name', () => expect(didYouMean('')).toBe(''));
  it('shows the name as the caller of the function asks', () => expect(didYouMean('_page_', String)).toBe('; did you mean _page_?'));
});

describe('nearest', () => {
  it('ignores case and returns the name as it is known', () => expect(nearest('PERSON', ['Person'])).toBe('Person'));
  it('counts two swapped characters as one change', () => expect(nearest('anme', ['name', 'number'])).toBe('name'));
  it('allows eight changes, with insertions and deletions at both ends', () => {
    const name = 'abcdefghij'.repeat(6);
    expect(nearest(`xx${name.slice(2)}yy`, [name])).toBe(name);
    expect(nearest(`xxxx${name}yyyy`, [name])).toBe(name);
    expect(nearest(name, [`xxxx${name}yyyy`])).toBe(`xxxx${name}yyyy`);
    expect(nearest(`xxxxx${name}yyyy`, [name])).toBeUndefined();
  });
  it('compares a long name with thousands of names that are as long and differ little', () => {
    const known = Array.from({ length: 10_000 }, (_, i) => `${i}`.padStart(8, '0') + 'abcdefghij'.repeat(12));
    const before = process.cpuUsage();
    nearest('x'.repeat(8) + 'bacdefghij'.repeat(12), known);
    expect(cpuSeconds(before)).toBeLessThan(0.5);
  });
  it('allows one change in three characters', () => expect([nearest('abx', ['abc']), nearest('axy', ['abc'])]).toEqual(['abc', undefined]));
});
