/** Values in the console keep every digit. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { cellText, Exact, numberOf, parseExact, printed } from '../../../console/src/api/exact.ts';
import { generated } from '../../support/generated.ts';

describe('numbers of answers', () => {
  it('stay as they were written', () => {
    const text = '{"big":9007199254740993,"exact":20.50,"small":0.1,"list":[1e400,-0.0]}';
    expect(printed(parseExact(text))).toBe(text);
  });

  it('are JavaScript numbers where nothing is lost', () => {
    expect(parseExact('[1,2.5]')).toEqual([1, 2.5]);
    expect(parseExact('20.50')).toBeInstanceOf(Exact);
    expect(numberOf(parseExact('20.50'))).toBe(20.5);
  });

  it('and all other values are printed as JSON does', () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 3 }), (value) => {
        const text = JSON.stringify(value);
        expect(printed(parseExact(text))).toBe(text);
        expect(JSON.parse(printed(parseExact(text), 2))).toEqual(JSON.parse(text));
      }),
      generated(100),
    );
  });

  it('show NULL as no text', () => {
    expect(cellText(null)).toBeNull();
    expect(cellText('')).toBe('');
    expect(cellText({ a: [1] })).toBe('{"a":[1]}');
  });
});
