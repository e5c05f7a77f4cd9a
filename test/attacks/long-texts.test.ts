/** Long texts on which a backtracking pattern takes quadratic time: minutes, where a linear pattern takes milliseconds. */
import { expect, it } from 'vitest';
import { typedValue } from '../../src/language/filters-values.ts';
import { rounded } from '../../src/nesting/decimal.ts';
import { exactText } from '../../src/nesting/exact.ts';
import { findType, parseType } from '../../src/ontology/types.ts';
import { questionKey, sameQuestionAs } from '../../src/service/describe/examples.ts';

const LONG = 1_000_000;

it('a number of many zeros', () => {
  const number = `0.1${'0'.repeat(LONG)}1`;
  expect(exactText(`{"a":${number}}`)).toBe(`{"a":"${number}"}`);
});

it('a number that is rounded after many nines', () => {
  const nines = '9'.repeat(LONG);
  expect(rounded(`${nines}1.55`, 1)).toBe(`${nines}1.6`);
});

it('a question of many full stops', () => {
  const question = `a${'?.'.repeat(LONG / 2)}x`;
  expect(questionKey(question)).toBe(question);
  expect(sameQuestionAs('How many?')(`how  many ${'?.'.repeat(LONG / 2)}`)).toBe(true);
});

it('a type of many spaces', () => {
  const type = `a${' '.repeat(LONG)}b`;
  expect(findType(type)).toBeUndefined();
  expect(() => parseType(type)).toThrow('unknown type');
});

it('a value of many spaces', () => {
  const type = { name: 'bigint', sql: 'bigint', family: 'number' } as const;
  expect(typedValue(type, `1${' '.repeat(LONG)}x`)).toBeUndefined();
  expect(typedValue(type, ` 1${' '.repeat(LONG)}`)?.text).toBe('1');
});
