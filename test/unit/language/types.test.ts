import { describe, expect, it } from 'vitest';
import { parseType } from '../../../src/language/types.ts';

describe('parseType', () => {
  it.each([
    ['string', 'string', 'text'],
    ['INT', 'integer', 'integer'],
    ['integer', 'integer', 'integer'],
    ['bigint', 'bigint', 'bigint'],
    ['smallint', 'smallint', 'smallint'],
    ['float', 'float', 'double precision'],
    ['Double', 'double', 'double precision'],
    ['decimal', 'decimal', 'numeric'],
    ['decimal(10)', 'decimal(10)', 'numeric(10)'],
    ['DECIMAL ( 10 , 2 )', 'decimal(10,2)', 'numeric(10,2)'],
    ['boolean', 'boolean', 'boolean'],
    ['date', 'date', 'date'],
    ['time', 'time', 'time without time zone'],
    ['timestamp', 'timestamp', 'timestamp without time zone'],
    ['timestamptz', 'timestamptz', 'timestamp with time zone'],
    ['datetime', 'datetime', 'timestamp without time zone'],
    ['json', 'json', 'jsonb'],
    ['uuid', 'uuid', 'uuid'],
  ])('%s', (text, name, sql) => expect(parseType(text)).toEqual({ name, sql }));

  it.each([
    ['strng', 'string'],
    ['varchr2', undefined],
    ['text', 'string'],
    ['numeric', 'decimal'],
    ['timestamtz', 'timestamptz'],
    ['xyzzy', undefined],
    ['toString', undefined],
    ['__proto__', undefined],
  ])('%s is none', (text, near) => {
    const error = expect.objectContaining({ status: 400, code: 'unknown_type', offset: 7, message: expect.stringContaining(`\`${text}\``) });
    expect(() => parseType(text, 7)).toThrow(error);
    if (near !== undefined) expect(() => parseType(text)).toThrow(`did you mean \`${near}\`?`);
  });

  it.each(['string(10)', 'integer(4)', 'decimal(0)', 'decimal(1001)', 'decimal(5,6)', 'decimal(1,2,3)', 'decimal(', 'decimal(-1)', '', 'double precision'])(
    '%s is none',
    (text) => expect(() => parseType(text)).toThrow(expect.objectContaining({ code: 'unknown_type' })),
  );
});
