/** The kinds of format tags. */
import { describe, expect, it } from 'vitest';
import { formatOf } from '../../../src/nesting/format.ts';

describe('a format tag', () => {
  it.each([
    ['date:DD/MM/YYYY', '"1985-04-04"', '"04/04/1985"'],
    ['date:YYYY-MM-DD', '"2016-06-06T23:59:59+00:00"', '"2016-06-06"'],
    ['datetime:HH24:MI', '"2024-02-10T11:30:00"', '"11:30"'],
    ['datetime:Day, DDth "of" FMMonth', '"2024-02-10T11:30:00"', '"Saturday , 10th of February"'],
    ['date:"\\""', '"2024-02-10"', '"\\""'],
    ['number:1', '25.46', '"25.5"'],
    ['number', '25.5', '"26"'],
    ['number:0', '12345678901234567890', '"12345678901234567890"'],
    ['percent:0', '0.25', '"25%"'],
    ['percent:1', '-0.1255', '"-12.6%"'],
    ['currency:EUR', '7.5', '"7.50 EUR"'],
    ['currency:jpy', '7.5', '"8 JPY"'],
    ['currency:KWD', '7.5', '"7.500 KWD"'],
    ['uppercase', '"straße \\u0000 \\"é\\""', '"STRASSE \\u0000 \\"É\\""'],
    ['lowercase', '"ÀB"', '"àb"'],
    ['UPPERCASE', '"a"', '"A"'],
  ])('%s of %s', (tag, source, expected) => expect(formatOf(tag)?.(source)).toBe(expected));

  it.each([
    ['date:YYYY', '"Lee"'],
    ['date:YYYY', '"2024-02-30"'],
    ['date:YYYY', '"2024-02"'],
    ['date:YYYY', '"infinity"'],
    ['date:YYYY', '20240210'],
    ['datetime:YYYY', '"12:30:00"'],
    ['date:YYYY', 'null'],
    ['number:2', '"Ann"'],
    ['number:2', '"NaN"'],
    ['number:2', 'null'],
    ['number:2', 'true'],
    ['number:2', '[1]'],
    ['percent:2', '"1"'],
    ['currency:EUR', 'null'],
    ['uppercase', '1'],
    ['uppercase', 'null'],
    ['uppercase', '["a"]'],
    ['lowercase', '{"A":1}'],
  ])('%s does not change %s', (tag, source) => expect(formatOf(tag)?.(source)).toBe(source));

  it.each([
    '',
    'number:x',
    'number:-1',
    'number:101',
    'number:1.5',
    'percent:a',
    'currency',
    'currency:EURO',
    'currency:E1',
    'date',
    'date:',
    'datetime',
    'uppercase:x',
    'roman',
    'constructor',
    '__proto__:1',
  ])('%j is invalid', (tag) => expect(formatOf(tag)).toBeUndefined());
});
