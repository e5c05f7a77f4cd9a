/** The tag `format` of a property: how its values are formatted as text (docs/design/nested-results.md#format-tags). */
import { rounded } from './decimal.ts';
import { readMoment } from './moment.ts';
import { toChar } from './to-char.ts';

/** Maps the source text of a JSON value to that of another. A value that the format does not apply to stays unchanged. */
export type Change = (source: string) => string;

/** Currencies of ISO 4217 whose minor unit is not a hundredth, with their number of decimal places. */
const DIGITS: Readonly<Record<string, number>> = {
  ...Object.fromEntries('BIF CLP DJF GNF ISK JPY KMF KRW PYG RWF UGX UYI VND VUV XAF XOF XPF'.split(' ').map((c) => [c, 0])),
  ...Object.fromEntries('BHD IQD JOD KWD LYD OMR TND'.split(' ').map((c) => [c, 3])),
  CLF: 4,
  UYW: 4,
};

/** A tag with more decimal places than this is not a valid format. */
const MAX_DIGITS = 100;

const FORMATS: Readonly<Record<string, (argument: string) => Change | undefined>> = {
  date: moments,
  datetime: moments,
  number: (argument) => numbers(digitsOf(argument), 0, ''),
  percent: (argument) => numbers(digitsOf(argument), 2, '%'),
  currency: (argument) => {
    const code = argument.trim().toUpperCase();
    return /^[A-Z]{3}$/.test(code) ? numbers(DIGITS[code] ?? 2, 0, ` ${code}`) : undefined;
  },
  uppercase: (argument) => (argument === '' ? texts((text) => text.toUpperCase()) : undefined),
  lowercase: (argument) => (argument === '' ? texts((text) => text.toLowerCase()) : undefined),
};

/** The function that formats values for a tag. Undefined if the tag is not a known format: values then stay unchanged. */
export function formatOf(tag: string): Change | undefined {
  const colon = tag.indexOf(':');
  const name = (colon < 0 ? tag : tag.slice(0, colon)).trim().toLowerCase();
  return Object.hasOwn(FORMATS, name) ? FORMATS[name]?.(colon < 0 ? '' : tag.slice(colon + 1)) : undefined;
}

const isText = (source: string): boolean => source.charCodeAt(0) === 0x22;

/** Formats strings. `change` returns undefined for a string that it does not apply to. */
const texts =
  (change: (text: string) => string | undefined): Change =>
  (source) => {
    if (!isText(source)) return source;
    const changed = change(JSON.parse(source) as string);
    return changed === undefined ? source : JSON.stringify(changed);
  };

function moments(pattern: string): Change | undefined {
  const write = toChar(pattern);
  if (write === undefined) return undefined;
  return texts((text) => {
    const moment = readMoment(text);
    return moment && write(moment);
  });
}

function digitsOf(argument: string): number | undefined {
  const digits = argument.trim() === '' ? 0 : Number(argument.trim());
  return /^\d{0,3}$/.test(argument.trim()) && digits <= MAX_DIGITS ? digits : undefined;
}

function numbers(digits: number | undefined, shift: number, unit: string): Change | undefined {
  if (digits === undefined) return undefined;
  return (source) => {
    const text = rounded(source, digits, shift);
    return text === undefined ? source : `"${text}${unit}"`;
  };
}
