import { describe, expect, it } from 'vitest';
import { comparable, findType, parseType, postgresFamily, postgresTypeName } from '../../../src/ontology/types.ts';

describe('types', () => {
  it.each([
    ['string', 'string', 'text'],
    ['INT', 'integer', 'integer'],
    ['Integer', 'integer', 'integer'],
    ['bigint', 'bigint', 'bigint'],
    ['smallint', 'smallint', 'smallint'],
    ['float', 'float', 'double precision'],
    ['double', 'double', 'double precision'],
    ['decimal', 'decimal', 'numeric'],
    ['decimal ( 10 , 2 )', 'decimal(10,2)', 'numeric(10,2)'],
    ['DECIMAL(7)', 'decimal(7)', 'numeric(7)'],
    ['boolean', 'boolean', 'boolean'],
    ['date', 'date', 'date'],
    ['time', 'time', 'time'],
    ['timestamp', 'timestamp', 'timestamp'],
    ['timestamptz', 'timestamptz', 'timestamptz'],
    ['datetime', 'datetime', 'timestamp'],
    ['json', 'json', 'jsonb'],
    ['uuid', 'uuid', 'uuid'],
  ])('%s is %s, in PostgreSQL %s', (written, name, sql) => {
    expect(findType(written)).toMatchObject({ name, sql });
  });

  it.each(['strng', '', 'text', 'decimal(0)', 'decimal(2,3)', 'decimal(1001)', 'integer(4)', 'constructor', '__proto__', 'string[]'])(
    '%j is unknown',
    (written) => {
      expect(findType(written)).toBeUndefined();
    },
  );

  it('suggests the most similar type, or that of other systems', () => {
    expect(() => parseType('strng', 7)).toThrow(
      expect.objectContaining({ code: 'unknown_type', offset: 7, message: 'unknown type `strng`; did you mean `string`?' }),
    );
    expect(() => parseType('VARCHAR(20)')).toThrow(/did you mean `string`/);
    expect(() => parseType('numeric')).toThrow(/did you mean `decimal`/);
    expect(() => parseType('timestamtz')).toThrow(/did you mean `timestamptz`/);
  });

  it('reports errors of the digits', () => {
    for (const text of ['decimal(0)', 'decimal(1001)', 'decimal(5,6)', 'decimal(1,2,3)', 'decimal(', 'decimal(-1)'])
      expect(() => parseType(text, 3)).toThrow(
        expect.objectContaining({
          status: 400,
          code: 'unknown_type',
          offset: 3,
          message: `unknown type \`${text}\`: decimal takes a precision of 1 to 1000 and a scale of 0 to the precision`,
        }),
      );
    expect(() => parseType('integer(4)')).toThrow('unknown type `integer(4)`: integer takes no numbers');
  });

  it('knows which types can be compared', () => {
    expect([
      comparable('bigint', 'decimal(10,2)'),
      comparable('date', 'timestamptz'),
      comparable('date', 'bigint'),
      comparable('string', 'uuid'),
      comparable('json', 'json'),
    ]).toEqual([true, true, false, false, false]);
  });

  it("knows PostgreSQL's own names", () => {
    expect(
      ['int8', 'bpchar', 'citext', 'numeric', 'bool', 'jsonb', 'timetz', 'box', 'constructor'].map((t) => [postgresTypeName(t), postgresFamily(t)]),
    ).toEqual([
      ['bigint', 'number'],
      ['string', 'text'],
      ['string', 'text'],
      ['decimal', 'number'],
      ['boolean', 'boolean'],
      ['json', 'json'],
      [undefined, 'time'],
      [undefined, undefined],
      [undefined, undefined],
    ]);
  });
});
