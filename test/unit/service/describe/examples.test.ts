import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { questionKey, sameQuestionAs } from '../../../../src/service/describe/examples.ts';
import { generated } from '../../../support/generated.ts';

describe('questions are the same', () => {
  it.each([
    ['How many orders are there?', 'how many  orders\n are there'],
    ['  How MANY orders are there ?! ', 'How many orders are there...'],
    ['Welche Städte?', 'WELCHE STA\u0308DTE'],
    ['多少？', '多少'],
  ])('%j and %j', (a, b) => expect(sameQuestionAs(a)(b)).toBe(true));

  it.each([
    ['How many orders are there?', 'How many orders are here?'],
    ['Is it 1.5?', 'Is it 15?'],
    ['What? Orders!', 'What orders'],
    ['', 'x'],
  ])('and are not: %j and %j', (a, b) => expect(sameQuestionAs(a)(b)).toBe(false));

  it('by a normalized form', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), fc.constantFrom('', ' ', '?', '!! ', '\n.', ' ? ! .'), (text, end) => {
        expect(questionKey(questionKey(text))).toBe(questionKey(text));
        expect(sameQuestionAs(` ${text}${end}`)(text)).toBe(true);
      }),
      generated(500),
    );
  });
});
