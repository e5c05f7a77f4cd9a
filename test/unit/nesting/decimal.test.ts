/** Rounding of source texts, compared with exact arithmetic on whole numbers. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { rounded } from '../../../src/nesting/decimal.ts';
import { generated } from '../../support/generated.ts';

describe('rounding', () => {
  it.each([
    ['25.46', 1, 0, '25.5'],
    ['25.45', 1, 0, '25.5'],
    ['-25.45', 1, 0, '-25.5'],
    ['0.25', 0, 2, '25'],
    ['7.5', 2, 0, '7.50'],
    ['9.99', 1, 0, '10.0'],
    ['99.5', 0, 0, '100'],
    ['0.4', 0, 0, '0'],
    ['-0.4', 0, 0, '0'],
    ['-0', 2, 0, '0.00'],
    ['12345678901234567890.125', 2, 0, '12345678901234567890.13'],
    ['1e+20', 0, 0, '100000000000000000000'],
    ['1.5e-7', 8, 0, '0.00000015'],
    ['1e-300', 2, 0, '0.00'],
    ['5e-1', 0, 0, '1'],
    ['0.001', 0, 2, '0'],
    ['3', 0, 0, '3'],
  ])('%s to %i digits, times 10^%i', (source, digits, shift, expected) => expect(rounded(source, digits, shift)).toBe(expected));

  it.each(['null', '"1"', 'true', '', '1e99999', '1e-99999', '[1]', 'NaN'])('%s cannot be rounded', (source) => expect(rounded(source, 1)).toBeUndefined());

  it('is exact', () => {
    fc.assert(
      fc.property(fc.bigInt({ min: -(10n ** 30n), max: 10n ** 30n }), fc.nat(12), fc.nat(12), fc.nat(4), (units, scale, digits, shift) => {
        const text = units
          .toString()
          .replace('-', '')
          .padStart(scale + 1, '0');
        const source = `${units < 0n ? '-' : ''}${text.slice(0, text.length - scale)}${scale === 0 ? '' : `.${text.slice(text.length - scale)}`}`;
        // units * 10^(shift + digits - scale), halves away from zero
        const power = shift + digits - scale;
        const size = units < 0n ? -units : units;
        const scaled = power >= 0 ? size * 10n ** BigInt(power) : (size * 2n + 10n ** BigInt(-power)) / (2n * 10n ** BigInt(-power));
        const wanted = scaled.toString().padStart(digits + 1, '0');
        const expected = `${units < 0n && scaled > 0n ? '-' : ''}${wanted.slice(0, wanted.length - digits)}${digits === 0 ? '' : `.${wanted.slice(wanted.length - digits)}`}`;
        expect(rounded(source, digits, shift)).toBe(expected);
      }),
      generated(2000),
    );
  });
});
