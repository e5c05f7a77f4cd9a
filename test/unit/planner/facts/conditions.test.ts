/** Stored conditions that fail on some rows and not on others. */
import { describe, expect, it } from 'vitest';
import { loadNodeParser } from '../../../../src/cli/node-parser.ts';
import { mayFail } from '../../../../src/planner/facts/conditions.ts';

const parser = await loadNodeParser();
const fails = (condition: string): boolean => mayFail(parser.parse(`SELECT ${condition}`).stmts[0]?.stmt);

describe('a condition', () => {
  it.each([
    "state = 'open' AND (tenant = 5 OR box IN (1, 2))",
    "name LIKE 'A%' AND mail ILIKE 'a' || '%' AND NOT code LIKE '\\%x'",
    "region = ANY (string_to_array('a,b', ',')) AND region = ANY (ARRAY['a', 'b'])",
    "at > now() - interval '30 days' AND date_trunc('day', at) = CURRENT_DATE AND extract(year FROM at) = 2020",
    "left(code, 2) = 'DE' AND substring(code FROM 1 FOR 2) = 'DE' AND doc ->> 'kind' = 'x' AND doc @> '{\"a\": 1}'",
    'EXISTS (SELECT 1 FROM a.b x, a.c y WHERE x.id = y.id)',
  ])('does not depend on the row: %s', (condition) => expect(fails(condition)).toBe(false));

  it.each([
    '1 / (n - 7) > 0',
    "code::bigint > 0 AND state = 'open'",
    'CASE WHEN n = 7 THEN 1 / 0 > 0 ELSE true END',
    'coalesce(n = 8, 1 / 0 > 0)',
    "name LIKE 'a\\'",
    'name LIKE pattern',
    "name LIKE 'a' || note",
    'left(code, n) = code',
    'n + 1 > 2',
    "'{}'::jsonb @> doc::jsonb",
    "left(note::bigint::text, 2) = '12'",
    "(note::jsonb ->> 'a') = 'x'",
    "substring('abc', 1, n) = 'a'",
    "substring('abc' FROM pattern) = 'a'",
    'date_trunc(unit, now()) = CURRENT_DATE',
    "date_trunc('millennium', at) = CURRENT_DATE",
    'date_part(unit, now()) = 1',
    "own.left(code) = 'DE'",
    "list || '{5}' = '{5}'",
  ])('may fail on a row: %s', (condition) => expect(fails(condition)).toBe(true));

  it.each([
    "area && '<(0,0),5>'",
    "route @> '(1,1)'::point",
    "spot <@ circle '((0,0),5)'",
    "area = '1, 2, 3'",
    "area < ' <(-1.5e0 , 2),3>'",
    "ring @> '((0,0),(1,1),(2,0))'",
  ])('over columns of unknown types may overflow: %s', (condition) => {
    const { stmt } = parser.parse(`SELECT ${condition}`).stmts[0] ?? {};
    expect(mayFail(stmt, false, true)).toBe(true);
  });

  it.each(["tags && '{a,b}'", 'doc @> \'{"a": 1}\'', "during && '[2020-01-01,2021-01-01)'", 'sizes @> ARRAY[1, 2]', "name = 'Lyon, France'"])(
    'over columns of unknown types does not depend on the row: %s',
    (condition) => {
      const { stmt } = parser.parse(`SELECT ${condition}`).stmts[0] ?? {};
      expect(mayFail(stmt, false, true)).toBe(false);
    },
  );

  it.each(["date_trunc('day', at) = CURRENT_DATE", "doc ->> 'kind' = 'x'", "doc #>> '{a}' = 'x'", 'n < 1.0::float8', 'n < sqrt(2)'])(
    'over columns of unknown types may fail on a row: %s',
    (condition) => {
      const { stmt } = parser.parse(`SELECT ${condition}`).stmts[0] ?? {};
      expect([mayFail(stmt), mayFail(stmt, false, true)]).toEqual([false, true]);
    },
  );
});
