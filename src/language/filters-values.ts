/**
 * Checks values of URL filters against the types of properties (docs/design/filters.md#values). A value that does not fit is rejected here, before the
 * database is queried.
 */
import type { TypeFamily } from '../ontology/types.ts';
import { quoteLiteral } from './quote.ts';

/** The type of the property that a filter compares. */
export interface ValueType {
  /** The name that the caller knows. */
  readonly name: string;
  /** The type that a value is cast to. A decimal keeps all its digits in comparisons; it is not rounded to the property's scale. */
  readonly sql: string;
  readonly family: TypeFamily;
  /** The maximum number of digits before the decimal point, if the decimal has one. */
  readonly digits?: number;
}

/** A value that fits its type: as a parameter, and as SQL. */
export interface TypedValue {
  readonly text: string;
  readonly literal: string;
}

/** Converts a value to a type. Returns undefined if it does not fit. */
export function typedValue(type: ValueType, value: string): TypedValue | undefined {
  if (type.family === 'text') return { text: value, literal: quoteLiteral(value) };
  const text = value.replace(/^[ \t\n\r\f\v]+|(?<![ \t\n\r\f\v])[ \t\n\r\f\v]+$/g, '');
  const read = READERS[type.sql];
  return read?.(text, type);
}

type Reader = (text: string, type: ValueType) => TypedValue | undefined;

const same = (text: string, literal = text): TypedValue => ({ text, literal });
const written =
  (word: string): Reader =>
  (text) =>
    same(text, `${word} ${quoteLiteral(text)}`);
const cast = (text: string, type: string): TypedValue => same(text, `${quoteLiteral(text)}::${type}`);
const when =
  (fits: (text: string) => boolean, then: Reader): Reader =>
  (text, type) =>
    fits(text) ? then(text, type) : undefined;

const READERS: Readonly<Record<string, Reader>> = {
  smallint: (text) => integer(text, 15n),
  integer: (text) => integer(text, 31n),
  bigint: (text) => integer(text, 63n),
  numeric: decimal,
  real: (text) => float(text, 'real', 3.4028235677973366e38, 7.006492321624085e-46),
  'double precision': (text) => float(text, 'double precision', Number.POSITIVE_INFINITY, 0),
  boolean: (text) => {
    const word = text.toLowerCase();
    if (/^(true|t|yes|y|on|1)$/.test(word)) return same('true', 'TRUE');
    return /^(false|f|no|n|off|0)$/.test(word) ? same('false', 'FALSE') : undefined;
  },
  date: when((text) => INFINITE.test(text) || isDate(text, 5_874_897), written('DATE')),
  time: when((text) => isTime(text), written('TIME')),
  timestamp: when((text) => INFINITE.test(text) || isTimestamp(text, UTC), written('TIMESTAMP')),
  timestamptz: when((text) => INFINITE.test(text) || isTimestamp(text, ZONE), written('TIMESTAMPTZ')),
  uuid: when((text) => UUID.test(text), written('UUID')),
  jsonb: when(isJson, (text) => cast(text, 'jsonb')),
};

function integer(text: string, bits: bigint): TypedValue | undefined {
  if (!/^[+-]?\d+$/.test(text)) return undefined;
  const n = BigInt(text.replace(/^\+/, ''));
  return n >= -(1n << bits) && n < 1n << bits ? same(String(n)) : undefined;
}

const NUMBER = /^([+-]?)(?:(\d+)(?:\.(\d*))?|\.(\d+))(?:[eE]([+-]?\d+))?$/;
/** Limits of PostgreSQL's numeric: digits before and after the decimal point, and the first exponent that it rejects, even for zero. */
const NUMERIC = { before: 131_072, after: 16_383, exponent: 2 ** 30 - 1 };

function decimal(text: string, type: ValueType): TypedValue | undefined {
  if (/^nan$/i.test(text)) return cast('NaN', 'numeric');
  const m = NUMBER.exec(text);
  if (m === null) return undefined;
  if (!isNumeric(m, type.digits)) return undefined;
  return same(`${m[1] === '-' ? '-' : ''}${text.replace(/^[+-]/, '')}`);
}

/** Whether a match of NUMBER fits numeric, with at most `digits` digits before the decimal point. */
function isNumeric(m: RegExpExecArray, digits = NUMERIC.before): boolean {
  const [, , whole = '', fraction = m[4] ?? '', , exponent = '0'] = m;
  const shift = Number(exponent);
  const written = (whole + fraction).replace(/^0+/, '').length;
  // in plain notation; zero has no digits before the point
  const before = written === 0 ? 0 : written - fraction.length + shift;
  return Math.abs(shift) < NUMERIC.exponent && before <= digits && fraction.length - shift <= NUMERIC.after;
}

function float(text: string, sql: string, largest: number, least: number): TypedValue | undefined {
  if (/^(nan|[+-]?inf(inity)?)$/i.test(text)) return cast(text, sql);
  if (!NUMBER.test(text)) return undefined;
  const n = Math.abs(Number(text));
  const isZero = !/[1-9]/.test(text.split(/e/i, 1)[0] as string);
  if (n === Number.POSITIVE_INFINITY || n >= largest || (!isZero && n <= least)) return undefined;
  return cast(text, sql);
}

const INFINITE = /^-?infinity$/i;
const UUID = /^(?:[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}|[0-9a-f]{32})$/i;
const DATE = /^(\d{4,7})-(\d\d)-(\d\d)( BC)?$/;
const TIME = /^(\d\d):(\d\d)(?::(\d\d)(?:\.(\d{1,9}))?)?$/;
/** Suffixes of a timestamp without time zone: all its values are UTC. */
const UTC = /(?:Z|[+-]00(?::?00)?)$/;
const ZONE = /(?:Z|[+-](?:0\d|1[0-5])(?::?[0-5]\d)?)$/;

/** A date in ISO 8601, optionally with ` BC`, as in answers. Special values (`today`) and other orders of day and month do not fit. */
function isDate(text: string, lastYear: number): boolean {
  const m = DATE.exec(text);
  if (m === null) return false;
  const year = Number(m[1]);
  const month = Number(m[2]);
  const day = Number(m[3]);
  if (year < 1 || year > (m[4] === undefined ? lastYear : 4713)) return false;
  // 1 BC is year 0, a leap year
  const y = m[4] === undefined ? year : 1 - year;
  const leap = y % 4 === 0 && (y % 100 !== 0 || y % 400 === 0);
  const last = [31, leap ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31][month - 1];
  return last !== undefined && day >= 1 && day <= last;
}

function isTime(text: string): boolean {
  const m = TIME.exec(text);
  if (m === null) return false;
  const [hour, minute, second] = [Number(m[1]), Number(m[2]), Number(m[3] ?? 0)];
  if (hour === 24) return minute === 0 && second === 0 && /^0*$/.test(m[4] ?? '');
  return hour < 24 && minute < 60 && second < 60;
}

function isTimestamp(text: string, zone: RegExp): boolean {
  const era = / BC$/.exec(text)?.[0] ?? '';
  const rest = text.slice(0, text.length - era.length);
  const split = /[T ]/i.exec(rest)?.index ?? -1;
  if (split < 0) return isDate(text, 294_275);
  const clock = rest.slice(split + 1);
  return isDate(rest.slice(0, split) + era, 294_275) && isTime(clock.replace(zone, '').trimEnd());
}

/** The tokens of a JSON text that jsonb limits: strings (also keys), numbers and brackets. */
const JSON_TOKENS = /"(?:[^"\\]|\\.)*"|-?\d[\d.eE+-]*|[[\]{}]/g;
/** Maximum nesting of arrays and objects. A server accepts what its stack allows, several thousand. */
const JSON_DEPTH = 1000;

/** Whether jsonb accepts a JSON text: strings without U+0000, numbers within numeric's range. Checks the text itself, since JSON.parse drops duplicate keys. */
function isJson(text: string): boolean {
  try {
    JSON.parse(text);
  } catch {
    return false;
  }
  let depth = 0;
  for (const [token] of text.matchAll(JSON_TOKENS)) {
    if (token === '[' || token === '{') depth++;
    else if (token === ']' || token === '}') depth--;
    else if (token.startsWith('"')) {
      const value: string = JSON.parse(token);
      if (value.includes('\0') || !value.isWellFormed()) return false;
    } else {
      const m = NUMBER.exec(token);
      if (m === null || !isNumeric(m)) return false;
    }
    if (depth > JSON_DEPTH) return false;
  }
  return true;
}
