/** Suggestions for unknown names. */
import { describe, expect, it } from 'vitest';
import { didYouMean, nearest } from '../../src/errors.ts';

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
  it('allows one change in three characters', () => expect([nearest('abx', ['abc']), nearest('axy', ['abc'])]).toEqual(['abc', undefined]));
});
