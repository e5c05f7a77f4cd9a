import { describe, expect, it } from 'vitest';
import { typedValue, type ValueType } from '../../../src/language/filters-values.ts';

const type = (sql: string, family: ValueType['family'], digits?: number): ValueType => ({
  name: sql,
  sql,
  family,
  ...(digits === undefined ? {} : { digits }),
});
const TYPES = {
  text: type('text', 'text'),
  integer: type('integer', 'number'),
  bigint: type('bigint', 'number'),
  smallint: type('smallint', 'number'),
  numeric: type('numeric', 'number'),
  'numeric(5,2)': type('numeric', 'number', 3),
  real: type('real', 'number'),
  double: type('double precision', 'number'),
  boolean: type('boolean', 'boolean'),
  date: type('date', 'date'),
  time: type('time', 'time'),
  timestamp: type('timestamp', 'date'),
  timestamptz: type('timestamptz', 'date'),
  uuid: type('uuid', 'uuid'),
  jsonb: type('jsonb', 'json'),
} satisfies Record<string, ValueType>;

const FITS: readonly [keyof typeof TYPES, string, string][] = [
  ['text', " it's ", "' it''s '"],
  ['text', '', "''"],
  ['integer', ' +007 ', '7'],
  ['integer', '-2147483648', '-2147483648'],
  ['bigint', '9223372036854775807', '9223372036854775807'],
  ['smallint', '-32768', '-32768'],
  ['numeric', '12345678901234567890.1234', '12345678901234567890.1234'],
  ['numeric', '+.5', '.5'],
  ['numeric', '-1.5e3', '-1.5e3'],
  ['numeric', 'NaN', "'NaN'::numeric"],
  ['numeric(5,2)', '999.999', '999.999'],
  ['numeric(5,2)', '0.00001e7', '0.00001e7'],
  ['real', '3.4e38', "'3.4e38'::real"],
  ['double', '1e308', "'1e308'::double precision"],
  ['double', '0e-999', "'0e-999'::double precision"],
  ['double', '-Infinity', "'-Infinity'::double precision"],
  ['boolean', 'True', 'TRUE'],
  ['boolean', '0', 'FALSE'],
  ['date', '2020-02-29', "DATE '2020-02-29'"],
  ['date', '0001-02-29 BC', "DATE '0001-02-29 BC'"],
  ['date', 'infinity', "DATE 'infinity'"],
  ['time', '24:00:00', "TIME '24:00:00'"],
  ['time', '09:30', "TIME '09:30'"],
  ['timestamp', '2024-02-10T11:30:00', "TIMESTAMP '2024-02-10T11:30:00'"],
  ['timestamp', '2024-02-10 11:30:00.123456Z', "TIMESTAMP '2024-02-10 11:30:00.123456Z'"],
  ['timestamp', '2024-02-10', "TIMESTAMP '2024-02-10'"],
  ['timestamptz', '2016-06-06T20:00:00-04:00', "TIMESTAMPTZ '2016-06-06T20:00:00-04:00'"],
  ['timestamptz', '2016-06-06 20:00 +0530', "TIMESTAMPTZ '2016-06-06 20:00 +0530'"],
  ['uuid', 'A0EEBC99-9C0B-4EF8-BB6D-6BB9BD380A11', "UUID 'A0EEBC99-9C0B-4EF8-BB6D-6BB9BD380A11'"],
  ['jsonb', '{"a": [1, "x\'"]}', `'{"a": [1, "x''"]}'::jsonb`],
];
const MISFITS: readonly [keyof typeof TYPES, ...string[]][] = [
  ['integer', '', 'abc', '5.5', '1e3', '2147483648', '-2147483649', '1;2', '0x10', '1_000', '٣', '5 5', '--5'],
  ['bigint', '9223372036854775808', '99999999999999999999'],
  ['smallint', '32768'],
  ['numeric', '', '.', '12 000', '1,5', '1e', '1e999999', '1e-16384', 'Infinity', '--1', '0x1'],
  ['numeric(5,2)', '1000', '1e3', '100000e-2'],
  ['real', '3.5e38', '1e-46', ''],
  ['double', '1e309', '1e-400', 'much', ''],
  ['boolean', 'maybe', '', '2', 'tru', 'TRUE OR TRUE'],
  [
    'date',
    '',
    'today',
    'now',
    '2021-02-29',
    '1900-02-29',
    '2024-13-01',
    '2024-00-10',
    '2024-01-00',
    '0000-01-01',
    '01/02/2024',
    '20240101',
    '2024-1-1',
    '2024-02-10T11:30:00',
  ],
  ['time', '25:00', '24:00:01', '12:60', '12', '12:00:00+02'],
  ['timestamp', 'noon', '2024-02-30 10:00', '2024-02-10T25:00', '2024-02-10T11:30:00+02:00', '2024-02-10T', '2024-02-10 yesterday'],
  ['timestamptz', 'now', '2016-06-06T20:00:00+99:00', '2016-06-06T20:00:00 Europe/Paris'],
  ['uuid', 'x', 'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a1', 'g0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11'],
  ['jsonb', '', '{', '"\\u0000"', '"\\ud800"', '{"\\u0000": 1}', 'NaN', "{'a': 1}"],
];

describe('values', () => {
  it.each(FITS)('of %s: %j is %s', (name, value, literal) => expect(typedValue(TYPES[name], value)?.literal).toBe(literal));
  it.each(MISFITS.flatMap(([name, ...values]) => values.map((v) => [name, v] as const)))('of %s: %j does not fit', (name, value) =>
    expect(typedValue(TYPES[name], value)).toBeUndefined(),
  );
});
