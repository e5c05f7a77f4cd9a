import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { exactText, isExact, parseExact } from '../../../src/nesting/exact.ts';
import { generated } from '../../support/generated.ts';

describe('parseExact', () => {
  it('keeps numbers that a double represents, and converts others to texts', () => {
    const cases: [string, unknown][] = [
      ['0', 0],
      ['-12.50', -12.5],
      ['1000000.5000', 1000000.5],
      ['9007199254740991', 9007199254740991],
      ['9007199254740992', '9007199254740992'],
      ['-9007199254740993', '-9007199254740993'],
      ['12345678901234567890.1234', '12345678901234567890.1234'],
      ['0.1000000000000000055511151231257827', '0.1000000000000000055511151231257827'],
      ['0.30000000000000000000', 0.3],
      ['1e+300', 1e300],
      ['1e400', '1e400'],
      ['1.7976931348623157e+308', Number.MAX_VALUE],
    ];
    for (const [text, value] of cases) expect(parseExact(text), text).toEqual(value);
  });

  it('converts inside arrays and objects, and does not change texts', () => {
    expect(parseExact('{"a":[1,9007199254740993,{"b":12345678901234567.5}],"c":"9007199254740993"}')).toEqual({
      a: [1, '9007199254740993', { b: '12345678901234567.5' }],
      c: '9007199254740993',
    });
  });

  it('loses no digit of any decimal number', () => {
    const digits = fc.stringMatching(/^(0|[1-9][0-9]{0,22})(\.[0-9]{1,20})?$/);
    fc.assert(
      fc.property(fc.boolean(), digits, (negative, number) => {
        const text = negative ? `-${number}` : number;
        const value = parseExact(text);
        if (typeof value === 'string') expect(value).toBe(text);
        else expect(scaled(String(value))).toBe(scaled(text));
      }),
      generated(300),
    );
  });
});

/** A decimal number times 10^60, which is a whole number. */
function scaled(text: string): bigint {
  const [mantissa = '', exponent = '0'] = text.split('e');
  const [whole = '', fraction = ''] = mantissa.split('.');
  return BigInt(`${whole}${fraction}`) * 10n ** BigInt(60 - fraction.length + Number(exponent));
}

describe('exactText', () => {
  it('is the text itself if nothing is lost, otherwise the result of parseExact on one line', () => {
    for (const same of ['{"a":1.10,"b":"9,\\n"}', '{ "a" : 1 }', '{"a":1e5}']) expect(exactText(same)).toBe(same);
    expect(exactText('{"a":9007199254740993,"b":1.50}')).toBe('{"a":"9007199254740993","b":1.5}');
    expect(exactText('{"a":1e400}')).toBe('{"a":"1e400"}');
    expect(exactText('{"a":{"b": [1,\n 2]},\r"c":"x\\ny"}')).toBe('{"a":{"b":[1,2]},"c":"x\\ny"}');
  });

  it('changes only texts with long numbers, wherever they are', () => {
    const part = fc.oneof(
      fc.stringMatching(/^[0-9]{1,17}$/),
      fc.stringMatching(/^[0-9.]{1,40}$/),
      fc.stringMatching(/^[a-z :,.]{1,20}$/),
      fc.constant('.'.repeat(20)),
    );
    const texts = fc.array(part, { maxLength: 12 }).map((parts) => parts.join(''));
    fc.assert(
      fc.property(texts, (text) => {
        expect(isExact(text)).toBe(!/[0-9][0-9.]{15}|[eE][+-]?\d{3}/.test(text));
      }),
      generated(1000),
    );
  });

  it('agrees for an integer beyond 2^53-1 that is written as a decimal', () => {
    expect(exactText('[1000000000.00000E10, 1e19, 1e22]')).toBe('["1000000000.00000E10","1e19",1e+22]');
  });

  it('agrees for any JSON', () => {
    const number = fc.stringMatching(/^-?(0|[1-9][0-9]{0,19})(\.[0-9]{1,19})?([eE][+-]?[0-9]{1,3})?$/);
    const json = fc.letrec((tie) => ({
      value: fc.oneof(
        number,
        fc.string().map((t) => JSON.stringify(t)),
        fc.array(tie('value') as fc.Arbitrary<string>, { maxLength: 3 }).map((all) => `[${all.join(', \n')}]`),
        fc.constantFrom('null', 'true'),
      ),
    })).value as fc.Arbitrary<string>;
    fc.assert(
      fc.property(json, (value) => {
        const text = `{"a":${value}}`;
        const same = JSON.stringify(parseExact(text));
        expect(JSON.stringify(parseExact(exactText(text)))).toBe(same);
        expect(JSON.stringify(JSON.parse(exactText(text))), 'for a reader of doubles').toBe(same);
        expect(exactText(text)).not.toMatch(/[\n\r]/);
      }),
      generated(300),
    );
  });
});
