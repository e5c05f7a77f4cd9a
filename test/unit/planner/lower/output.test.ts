/** The JSON of a row: made of named columns, or of the whole row of the derived table where the datasource keeps the names of its columns. */
import { describe, expect, it } from 'vitest';
import { type Plan, planSelect } from '../../../../src/planner/index.ts';
import { context } from '../company.ts';

const named = (text: string, options = {}) => planSelect(context, { text, offset: 0 }, options);
const whole = (text: string, options = {}) => planSelect({ ...context, keepsNames: () => true }, { text, offset: 0 }, options);

const rest = ({ sql, rowLength }: Plan): string => sql.slice(rowLength);

describe('the JSON of a row', () => {
  it('is made of named columns unless the datasource keeps names', () => {
    const text = 'SELECT name, salary AS "The pay" FROM dsvc.employee ORDER BY salary';
    const [safe, quick] = [named(text), whole(text)];
    expect(safe.sql).toMatch(/^SELECT \(SELECT row_to_json\("~3"\) FROM \(SELECT "~2".name AS name, "~2"."The pay" AS "The pay"\) AS "~3"\) AS "row" FROM /);
    expect(quick.sql).toMatch(/^SELECT row_to_json\("~2"\) AS "row" FROM /);
    expect(rest(quick)).toBe(rest(safe));
    expect([safe.keepsNames, quick.keepsNames]).toEqual([false, true]);
  });

  it('is the beginning of the SQL, and what follows does not depend on its form', () => {
    for (const text of [
      'SELECT 1 AS "row"',
      'WITH c AS (SELECT name AS "row" FROM dsvc.employee) SELECT c."row" AS " AS ""row"" FROM " FROM c',
      `SELECT name AS "${' AS row FROM '.repeat(6)}" FROM dsvc.employee`,
      'SELECT name FROM dsvc.employee UNION SELECT name FROM dsvc.firm ORDER BY 1 LIMIT 3',
      'SELECT FROM dsvc.employee',
    ]) {
      const [safe, quick] = [named(text), whole(text)];
      expect(safe.rowLength).toBeGreaterThan(10);
      expect(rest(safe)).toMatch(/^ FROM \(/);
      expect(rest(quick)).toBe(rest(safe));
    }
  });

  it('names its columns where the derived table has others, or none', () => {
    for (const text of ['SELECT name FROM dsvc.employee ORDER BY salary + 1', 'SELECT FROM dsvc.employee']) expect(whole(text).sql).toBe(named(text).sql);
  });

  it('is a text where a key is longer than a name', () => {
    const text = `SELECT name AS "${'x'.repeat(64)}" FROM dsvc.employee`;
    expect(whole(text).sql).toBe(named(text).sql);
  });

  it('is made of the whole row for nesting, too, if the columns are in order', () => {
    const text = 'SELECT entity_id, name, "works_for[firm].name" FROM dsvc.employee';
    expect(whole(text, { nested: true }).sql).toMatch(/^SELECT row_to_json\("~\d+"\) AS "row" FROM \(.*\) AS "~\d+"\(c0, c1, c2\)$/);
    expect(named(text, { nested: true }).sql).toMatch(/^SELECT \(SELECT row_to_json/);
    const parted = 'SELECT entity_id, "works_for[firm].name", name FROM dsvc.employee';
    expect(whole(parted, { nested: true }).sql).toMatch(/^SELECT \(SELECT row_to_json/);
    expect(whole(text, { nested: true, limit: 5 }).sql).toMatch(/^SELECT \(SELECT row_to_json/);
  });

  it('depends on the datasource of the mappings', () => {
    const of = (name: string) => planSelect({ ...context, keepsNames: (d) => d === name }, { text: 'SELECT name FROM dsvc.firm', offset: 0 }).keepsNames;
    expect([of('main'), of('other')]).toEqual([true, false]);
  });
});
