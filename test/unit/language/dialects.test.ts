/** Functions and types of other dialects in mappings, measures and properties. The values of the translations are compared in test/integration/field-models.test.ts. */
import { describe, expect, it } from 'vitest';
import { translated } from '../../../src/language/dialects.ts';

const text = (sql: string): string => translated({ text: sql, offset: 0 }).text;

describe('what has an exact equivalent', () => {
  it.each([
    ['YEAR(d)', 'CAST(extract(year FROM d) AS integer)'],
    ['year ( /* c */ d )', 'CAST(extract(year FROM d) AS integer)'],
    ["DATE_FORMAT(d, '%Y-%m at %H:%i%%')", `to_char(d, 'YYYY-MM" at "HH24:MI%')`],
    ["DATE_FORMAT(d, '%e.%c.''%y')", "to_char(d, 'FMDD.FMMM.''YY')"],
    ['IFNULL(a, NVL(b, 0)) + 1', 'coalesce(a, coalesce(b, 0)) + 1'],
    ['NVL2(a OR b, 1, 2)', 'CASE WHEN (a OR b) IS NOT NULL THEN 1 ELSE 2 END'],
    ['SUM(IF(k > 1, YEAR(d), 0))', 'SUM(CASE WHEN k > 1 THEN CAST(extract(year FROM d) AS integer) ELSE 0 END)'],
    ['CAST(d AS DATETIME)', 'CAST(d AS timestamp)'],
    ['CAST(IFNULL(d, e) AS DATETIME)', 'CAST(coalesce(d, e) AS timestamp)'],
    ['d::datetime', 'd::timestamp'],
    ['CAST(k AS string)', 'CAST(k AS text)'],
    ['CAST(k AS DOUBLE)', 'CAST(k AS double precision)'],
    ['CAST(k AS NUMBER(10, 2))', 'CAST(k AS numeric(10, 2))'],
    ['k::VARCHAR2(5)', 'k::varchar(5)'],
    ['CONVERT(IFNULL(a, b), SIGNED)', 'CAST(coalesce(a, b) AS bigint)'],
    ['CONVERT(a, CHAR)', 'CAST(a AS text)'],
    ['DATEDIFF(a, b)', '(CAST(a AS date) - CAST(b AS date))'],
    ['DATEDIFF(day, a, b)', '(CAST(b AS date) - CAST(a AS date))'],
    ['DATEDIFF(year, a, b)', 'CAST(extract(year FROM b) - extract(year FROM a) AS integer)'],
    ['COUNT_IF(a > 1)', 'count(*) FILTER (WHERE a > 1)'],
    ['CURDATE()', 'current_date'],
    ['SELECT d FROM t WHERE YEAR(d) = 1', 'SELECT d FROM t WHERE CAST(extract(year FROM d) AS integer) = 1'],
  ])('%s', (sql, wanted) => {
    expect(text(sql)).toBe(wanted);
    // a translation is PostgreSQL, which is not translated again
    expect(text(wanted)).toBe(wanted);
  });
  it('is listed by its outermost calls, with their positions', () => {
    const { translations } = translated({ text: 'a + IFNULL(YEAR(d), 0), LCASE(b)', offset: 100 });
    expect(translations?.map(({ offset, from }) => [offset, from])).toEqual([
      [104, 'IFNULL(YEAR(d), 0)'],
      [124, 'LCASE(b)'],
    ]);
  });
});

describe('nested calls', () => {
  /** How often the text is read to translate it. */
  function readsOf(sql: string): number {
    let reads = 0;
    translated({
      get text() {
        reads++;
        return sql;
      },
      offset: 0,
    });
    return reads;
  }
  const nested = (before: string, after: string, depth: number): string => `${before.repeat(depth)}x${after.repeat(depth)}`;

  it.each([
    ['without an equivalent', 'YEAR(', ', 1)'],
    ['without an equivalent, in later arguments', 'IF(a, ', ')'],
    ['with one', 'YEAR(', ')'],
    ['of both kinds', 'IFNULL(YEAR(', ', 1), 2)'],
    ['of a unit without an equivalent', 'DATEDIFF(month, ', ', b)'],
    ['of a format without an equivalent', 'DATE_FORMAT(', ", '%U')"],
  ])('%s are translated in linear time', (_, before, after) => {
    expect(readsOf(nested(before, after, 17))).toBeLessThan(500);
    expect(readsOf(nested(before, after, 2000))).toBeLessThan(50_000);
  });
});

describe('what stays as it is', () => {
  it.each([
    // PostgreSQL's own
    'extract(year FROM d)',
    "interval '1' second(3)",
    'SELECT * FROM generate_series(1, 3) AS month(n)',
    'SELECT * FROM generate_series(1, 3) month(n)',
    'WITH year(y) AS (SELECT 1), month(m) AS (SELECT 2) SELECT y FROM year',
    'SELECT year, "if"(a, b, c), t.month, s.year(d) FROM t',
    "SELECT 'YEAR(d)', $$IFNULL(a, b)$$ -- NVL(a, b)",
    'SELECT a AS datetime, b AS string FROM t',
    // no exact equivalent: the planner refuses them with a hint
    "DATE_FORMAT(d, '%U')",
    'DATE_FORMAT(d, f)',
    "DATE_FORMAT(d, 'yyyy-MM')",
    'DATEDIFF(month, a, b)',
    'WEEK(d)',
    'NVL(a)',
    'IF(a, b)',
    'YEAR(d',
  ])('%s', (sql) => expect(text(sql)).toBe(sql));
  it('calls that are nested very deeply, in linear time', () => {
    const sql = `${'IFNULL('.repeat(6000)}a${', 0)'.repeat(6000)}`;
    expect(text(sql).length).toBeGreaterThan(sql.length);
    expect(text(`${'YEAR('.repeat(13_000)}a`)).toMatch(/^YEAR/);
  });
});
