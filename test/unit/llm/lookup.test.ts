/** The names of a question that are looked up in the datasource. */
import { describe, expect, it } from 'vitest';
import { namesIn } from '../../../src/llm/lookup.ts';

describe('names in a question', () => {
  it.each([
    ['How many orders has "blue ridge ltd"?', ['blue ridge ltd']],
    ["Orders of 'acme'", ['acme']],
    ["What did the firm's owner say about Ann's 'blue door'?", ['blue door', "Ann's"]],
    ['\u201crosa parks\u201d or \u00abJos\u00e9\u00bb', ['rosa parks', 'Jos\u00e9']],
    ['which orders has Rosa Parks', ['Rosa Parks']],
    ['an "open mark and \n"another line"', ['another line']],
    ['"x" is too short, and so is ""', []],
    [`"${'a'.repeat(61)}"`, []],
    ['no names at all', []],
  ])('%s', (question, names) => {
    expect([...namesIn(question)].sort()).toEqual([...names].sort());
  });

  it('are at most three', () => {
    expect(namesIn('"one" "two" "three" "four"')).toEqual(['one', 'two', 'three']);
  });

  it('are read from long texts in linear time', () => {
    expect(namesIn('"'.repeat(4_000_000))).toEqual([]);
  });
});
