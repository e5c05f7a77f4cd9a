/** Hints for names that a concept does not have. */
import { describe, expect, it } from 'vitest';
import { SvcError } from '../../../../src/errors.ts';
import { plan } from '../company.ts';

function refusal(sql: string): SvcError {
  try {
    plan(sql);
  } catch (error) {
    if (error instanceof SvcError) return error;
    throw error;
  }
  throw new Error(`not refused: ${sql}`);
}

describe('the hint for an unknown name', () => {
  it.each([
    ['SELECT works_for[firm].name FROM dsvc.employee', 'Write "works_for[firm].name"', 7],
    ['SELECT e.works_for[firm].name FROM dsvc.employee e', 'Write "works_for[firm].name"', 7],
    ['SELECT "works_for.name" FROM dsvc.employee', 'Write "works_for[firm].name"', 7],
    ['SELECT works_for.name FROM dsvc.employee', 'Write "works_for[firm].name"', 7],
    ['SELECT "works_for.located.name" FROM dsvc.employee', 'Write "works_for[firm].located[town].name"', 7],
    ['SELECT works_for FROM dsvc.employee', 'Write "works_for[firm].', 7],
    ['SELECT works_for FROM svc.employee', 'and read it from dsvc.employee', 7],
    ['SELECT "reports_to[employee].name" FROM dsvc.firm', 'It is a relationship of `employee`. Write "employs[employee].reports_to[employee].name"', 7],
    ['SELECT name FROM svc.employee WHERE name = "Ada Lovelace"', "in single quotes: 'Ada Lovelace'", 43],
  ])('%s', (sql, said, offset) => {
    const error = refusal(sql);
    expect(error.hint).toContain(said);
    expect(error.offset).toBe(offset);
  });

  it('is not given for other names', () => {
    expect(refusal('SELECT nothing_such FROM dsvc.employee').hint).toBeUndefined();
    expect(refusal('SELECT nam FROM dsvc.employee').message).toContain('did you mean `name`?');
  });
});

describe('errors of aggregates', () => {
  it.each([
    ['SELECT name, SUM("employs[employee].salary" * "~issued_by[pass].holder") AS x FROM dsvc.firm GROUP BY name', 'fanout', 13],
    ['SELECT 1 AS one, COUNT(*) AS x FROM dsvc.firm WHERE "employs[employee].salary" > 0 AND "~issued_by[pass].holder" > 0', 'fanout', 17],
    ['SELECT name, born, name FROM dsvc.person', 'duplicate_column', 19],
  ])('%s', (sql, code, offset) => {
    const error = refusal(sql);
    expect([error.code, error.offset]).toEqual([code, offset]);
  });
});
