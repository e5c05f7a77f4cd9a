import { describe, expect, it } from 'vitest';
import { DatasourceFault } from '../../../src/engine/errors.ts';
import { faultOf, scrubber } from '../../../src/engine/faults.ts';

const pg = (code: string | null, message: string, more: Record<string, unknown> = {}): string => JSON.stringify({ message, code, ...more });

it.each([
  ['complex joins are only supported when all distributed tables are co-located and joined on their distribution columns', /reference tables/],
  ['the query contains a join that requires repartitioning', /by the same key/],
  ['recursive CTEs are only supported when they contain a filter on the distribution column', /one value of the key/],
  ['could not run distributed query with GROUPING', /OFFSET 0/],
  ['subquery in LIMIT is not supported in multi-shard queries', /a number/],
  ['cannot perform a lateral outer join when a distributed subquery references a reference table', /Start from the distributed table/],
])('a distributed PostgreSQL that refuses a query has a hint: %s', (message, hint) => {
  expect(faultOf(400, pg('0A000', message)).hint).toMatch(hint);
});

it.each(['PlaceHolderVar found where not expected', 'Distributed queries with outer joins and pseudoconstant quals are not supported in PG15 and PG16.'])(
  'an outer join that Citus cannot plan is refused, and not an error of the datasource: %s',
  (message) => {
    const refused = faultOf(400, pg('XX000', message), { mayQuote: true });
    expect(refused).toMatchObject({ status: 400, code: 'feature_not_supported', message: expect.stringMatching(/outer join/), hint: expect.any(String) });
    expect(faultOf(400, pg('XX000', 'cache lookup failed'))).toMatchObject({ status: 502 });
  },
);

it.each(['the query contains a join that requires repartitioning', 'cannot approximate count(distinct) and order by it'])(
  'what Citus refuses as an internal error of PostgreSQL is refused, and not an error of the datasource: %s',
  (message) => {
    expect(faultOf(400, pg('XX000', message))).toMatchObject({ status: 400, code: 'feature_not_supported', message });
  },
);

describe('an error of a datasource', () => {
  for (const [code, status, name] of [
    ['22012', 400, 'division_by_zero'],
    ['22P02', 400, 'invalid_text_representation'],
    ['22003', 400, 'numeric_value_out_of_range'],
    ['21000', 400, 'cardinality_violation'],
    ['42883', 400, 'undefined_function'],
    ['42804', 400, 'datatype_mismatch'],
    ['42803', 400, 'grouping_error'],
    ['0A000', 400, 'feature_not_supported'],
    ['54001', 400, 'statement_too_complex'],
    ['23514', 400, 'check_violation'],
    ['229ZZ', 400, 'sql_229zz'],
    ['P0001', 400, 'raise_exception'],
    ['42P01', 502, 'datasource_failed'],
    ['42703', 502, 'datasource_failed'],
    ['42501', 502, 'datasource_failed'],
    ['53300', 502, 'datasource_failed'],
    ['57P01', 502, 'datasource_failed'],
    ['08006', 502, 'datasource_failed'],
    ['28P01', 502, 'datasource_failed'],
    ['XX000', 502, 'datasource_failed'],
    ['40001', 503, 'datasource_conflict'],
    ['40P01', 503, 'datasource_conflict'],
    ['53400', 400, 'configuration_limit_exceeded'],
    ['57014', 504, 'statement_timeout'],
    ['55P03', 504, 'statement_timeout'],
  ] as const) {
    it(`SQLSTATE ${code} is ${status} ${name}`, () => {
      const error = faultOf(400, pg(code, 'the message of t_secret', { position: '17' }), { physicalNames: ['t_secret'] });
      expect([error.status, error.code]).toEqual([status, name]);
      expect(`${error.message} ${error.hint}`).not.toContain('t_secret');
      expect(error.cause).toBeInstanceOf(DatasourceFault);
      expect(error.cause).toMatchObject({ sqlstate: code, position: 17, message: 'the message of t_secret' });
    });
  }

  it('keeps the message of PostgreSQL and its hint', () => {
    const error = faultOf(400, pg('42883', 'operator does not exist: text + integer', { hint: 'You might need to add explicit type casts.' }));
    expect([error.message, error.hint]).toEqual(['operator does not exist: text + integer', 'You might need to add explicit type casts.']);
  });

  it('drops the hint with the stack depth of the server', () => {
    const hint = 'Increase the configuration parameter "max_stack_depth" (currently 2048kB), after ensuring the platform\'s stack depth limit is adequate.';
    const error = faultOf(400, pg('54001', 'stack depth limit exceeded', { hint }), { ownText: true });
    expect([error.code, error.message, error.hint]).toEqual(['statement_too_complex', 'stack depth limit exceeded', undefined]);
  });

  it('reports only that a limit of the server was reached, not its value', () => {
    const serverMessage = 'temporary file size exceeds "temp_file_limit" (1048576kB)';
    for (const context of [{}, { ownText: true }, { mayQuote: true }]) {
      const error = faultOf(400, pg('53400', serverMessage, { hint: 'Raise "temp_file_limit".' }), context);
      expect([error.code, error.message, error.hint]).toEqual(['configuration_limit_exceeded', 'configuration limit exceeded', undefined]);
      expect(error.cause).toMatchObject({ message: serverMessage });
    }
  });

  it('does not quote a value that PostgreSQL reports as a syntax error', () => {
    const value = pg('42601', 'syntax error in tsquery: "Ann & &"');
    expect(faultOf(400, value, { mayQuote: true }).message).toBe('syntax error');
    expect(faultOf(400, value).message).toContain('Ann');
    // an error with a position is one of the statement
    expect(faultOf(400, pg('42883', 'operator does not exist: text + integer', { position: '8' }), { mayQuote: true }).message).toContain('operator');
  });

  it('treats a missing field of a row as an error of the caller', () => {
    expect(faultOf(400, pg('42703', 'could not identify column "x" in record data type')).status).toBe(400);
  });

  it("names a missing table if the text is the modeller's own", () => {
    const error = faultOf(400, pg('42P01', 'relation "m.t_gone" does not exist'), { ownText: true, physicalNames: ['t_gone'] });
    expect([error.status, error.code, error.message]).toEqual([400, 'undefined_table', 'relation "m.t_gone" does not exist']);
  });

  for (const [what, status, body] of [
    ['an error without SQLSTATE', 400, pg(null, 'password authentication failed for user secret')],
    ['an error that is not JSON', 400, 'bad secret gateway'],
    ['401', 401, '{"message":"secret"}'],
    ['404', 404, 'secret'],
    ['500', 500, 'secret'],
    ['a redirect', 302, ''],
    ['503 with a SQLSTATE', 503, pg('22012', 'secret')],
  ] as const) {
    it(`${what} is 502 without the answer's text`, () => {
      const error = faultOf(status, body);
      expect([error.status, error.code]).toEqual([502, 'datasource_failed']);
      expect(`${error.message} ${error.hint}`).not.toContain('secret');
    });
  }

  it('507 becomes result_too_large', () => {
    const error = faultOf(507, '{"message":"response is too large"}', { maxBytes: 50_000_000 });
    expect([error.status, error.code, error.message]).toEqual([400, 'result_too_large', 'the result is larger than 50 MB']);
  });
});

describe('removing physical names from a message', () => {
  const scrub = scrubber(['t_city', 'city_name', 'value', 'store', 'integer', 'a.b*c', '']);
  for (const [message, wanted] of [
    ['relation "t_city" does not exist', 'relation "…" does not exist'],
    ['relation "T_CITY" does not exist', 'relation "…" does not exist'],
    ['column t0.city_name does not exist', 'column t0.… does not exist'],
    ['my_t_city and city_names stay', 'my_t_city and city_names stay'],
    ['null value in column "value" of relation "store"', 'null value in column "…" of relation "…"'],
    ['null value where a value is due', 'null value where a value is due'],
    ['permission denied for schema store', 'permission denied for schema …'],
    ['column store.x does not exist', 'column ….x does not exist'],
    ['invalid input syntax for an integer: "abc"', 'invalid input syntax for an integer: "abc"'],
    ['odd a.b*c here', 'odd … here'],
  ] as const) {
    it(message, () => expect(scrub(message)).toBe(wanted));
  }

  it('changes nothing if no name is known', () => expect(scrubber([])('relation "x"')).toBe('relation "x"'));
});
