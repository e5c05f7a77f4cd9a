/** The declared columns of a table may be read, and all of it if it is declared as a whole. */
import { describe, expect, it } from 'vitest';
import { reason } from './verified.ts';

const TABLES: Readonly<Record<string, readonly (readonly [sql: string, reason: string])[]>> = {
  'whole rows and stars of a table with only some columns declared': [
    ['SELECT u FROM s.u', 'row:s.u'],
    ['SELECT to_json(x) FROM s.u x', 'row:s.u'],
    ['SELECT count(u.*) FROM s.u', 'row:s.u'],
    ['SELECT u.* FROM s.u', 'row:s.u'],
    ['SELECT s.u.* FROM s.u', 'row:s.u'],
    ['SELECT * FROM s.u', 'row:s.u'],
    ['SELECT ROW(u.*) FROM s.u', 'row:s.u'],
    ['SELECT (u).* FROM s.u', 'row:s.u'],
    ['SELECT (u.*).a FROM s.u', 'row:s.u'],
    ['SELECT x FROM s.u x (a)', 'row:s.u'],
    ['SELECT j FROM (s.t JOIN s.u USING (a)) j', 'row:s.u'],
    ['SELECT j.* FROM (s.t CROSS JOIN s.u) j', 'row:s.u'],
    ['SELECT * FROM s.t, s.u', 'row:s.u'],
    ['SELECT * FROM s.t NATURAL JOIN (SELECT a FROM s.u) x', 'passes'],
    ['SELECT t.a FROM s.t NATURAL JOIN s.u', 'row:s.u'],
    ['SELECT (SELECT u) FROM s.u', 'row:s.u'],
    ['SELECT 1 FROM s.u, LATERAL (SELECT to_jsonb(u)) x', 'row:s.u'],
    ['SELECT 1 FROM s.u WHERE u IS NULL', 'row:s.u'],
    ['SELECT 1 FROM s.u GROUP BY u', 'row:s.u'],
    ['WITH x AS (SELECT * FROM s.u) SELECT a FROM x', 'row:s.u'],
    ['SELECT a FROM s.t UNION SELECT * FROM s.u', 'row:s.u'],
    ['SELECT t, t.*, u.a FROM s.t, s.u', 'passes'],
    ['SELECT a FROM s.u a', 'passes'],
  ],
  'columns that a table may have, though something else has the name': [
    ['SELECT (SELECT d FROM s.u) FROM (SELECT 1 AS d) y', 'column:d'],
    ['SELECT (SELECT ctid FROM s.u) FROM (SELECT 1 AS ctid) y', 'column:ctid'],
    ['SELECT y.n FROM (SELECT 1 AS d) x, LATERAL (SELECT d AS n FROM s.u) y', 'column:d'],
    ['SELECT (SELECT d FROM s.u) FROM (SELECT 1 AS a) d', 'column:d'],
    ['SELECT (SELECT to_json(d) FROM s.u) FROM (SELECT 1 AS a) d', 'column:d'],
    ['SELECT a AS d FROM s.u ORDER BY d || $$x$$', 'column:d'],
    ['SELECT a AS ctid FROM s.u ORDER BY ctid::text', 'column:ctid'],
    ['SELECT a AS u FROM s.u ORDER BY to_json(u)::text', 'row:s.u'],
    ['SELECT a AS d FROM s.u GROUP BY d', 'column:d'],
    ['SELECT a AS d FROM s.u GROUP BY ROLLUP (d)', 'column:d'],
    ['SELECT DISTINCT ON (d || $$x$$) a AS d FROM s.u', 'column:d'],
    ['SELECT a AS d FROM s.u ORDER BY d', 'passes'],
    ['SELECT DISTINCT ON (d) a AS d FROM s.u ORDER BY d DESC', 'passes'],
    ['SELECT upper(a) AS b FROM s.u GROUP BY b ORDER BY b || $$x$$', 'passes'],
    ['SELECT (SELECT a AS d FROM (SELECT 1 AS a) x GROUP BY d ORDER BY d) FROM s.u', 'passes'],
    ['SELECT (SELECT a AS d FROM (SELECT 1 AS a) x ORDER BY d || $$x$$) FROM s.u', 'column:d'],
    ['SELECT (SELECT a FROM s.u) FROM (SELECT 1 AS a) y', 'passes'],
  ],
  'columns that are declared of another table': [
    ['SELECT u.md5 FROM s.u', 'field:md5'],
    ['SELECT md5 FROM s.u', 'column:md5'],
    ['SELECT u.md5 FROM s.t, s.u', 'field:md5'],
    ['SELECT md5 FROM s.t, s.u', 'passes'],
    ['SELECT 1 FROM s."T x" JOIN s.u USING (b)', 'column:b'],
    ['SELECT x.b FROM (SELECT * FROM s.t) x', 'passes'],
    ['SELECT "T x".b FROM s."T x"', 'field:b'],
  ],
};

describe.each(Object.entries(TABLES))('%s', (_, statements) => {
  it.each(statements)('%s', (sql, expected) => expect(reason(sql)).toBe(expected));
});
