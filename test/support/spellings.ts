/** Syntactic forms of a function call in a statement over the model of every-function.ts. */

/** A form, and one with an allowed function, which shows that the statement itself is valid. `some`: a variant of a form that is tested with every name. */
export interface Spelling {
  readonly what: string;
  readonly sql: (f: string) => string;
  readonly sound?: string;
  readonly some?: true;
}

export const CALLS: readonly Spelling[] = [
  { what: 'a call', sql: (f) => `SELECT ${f}('x') AS v`, sound: 'upper' },
  { what: 'a call without arguments', sql: (f) => `SELECT ${f}() AS v`, sound: 'now' },
  { what: 'a call with several arguments', sql: (f) => `SELECT ${f}('x', 1, NULL) AS v`, sound: 'lpad', some: true },
  { what: 'a call with a named argument', sql: (f) => `SELECT ${f}(days => 1) AS v`, sound: 'make_interval', some: true },
  { what: 'a call with VARIADIC', sql: (f) => `SELECT ${f}(VARIADIC ARRAY['x']) AS v`, sound: 'concat', some: true },
  { what: 'a qualified call', sql: (f) => `SELECT pg_catalog.${f}('x') AS v`, sound: 'upper' },
  { what: 'a call on a column', sql: (f) => `SELECT ${f}(c.zq_name) AS v FROM svc.zq_one c`, sound: 'upper' },
  { what: 'a call on a whole row', sql: (f) => `SELECT ${f}(c) AS v FROM svc.zq_one c`, sound: 'to_jsonb', some: true },
  { what: 'a call in FROM', sql: (f) => `SELECT v FROM ${f}('x') AS v`, sound: 'upper' },
  { what: 'a qualified call in FROM', sql: (f) => `SELECT v FROM pg_catalog.${f}('x') AS v`, sound: 'upper', some: true },
  { what: 'a call in ROWS FROM', sql: (f) => `SELECT * FROM ROWS FROM (generate_series(1, 2), ${f}('x')) AS r (n, v)`, sound: 'upper' },
  { what: 'a call with a column list', sql: (f) => `SELECT r.a FROM ${f}('{}') AS r (a int)`, sound: 'json_to_record', some: true },
  { what: 'a call in LATERAL', sql: (f) => `SELECT v FROM svc.zq_one c, LATERAL ${f}(c.zq_name) AS v`, sound: 'upper', some: true },
  { what: 'an aggregate', sql: (f) => `SELECT ${f}(zq_id) AS v FROM svc.zq_one`, sound: 'count' },
  { what: 'an aggregate of all rows', sql: (f) => `SELECT ${f}(*) AS v FROM svc.zq_one`, sound: 'count', some: true },
  {
    what: 'an aggregate with DISTINCT and ORDER BY',
    sql: (f) => `SELECT ${f}(DISTINCT zq_id ORDER BY zq_id) AS v FROM svc.zq_one`,
    sound: 'array_agg',
    some: true,
  },
  { what: 'an aggregate with FILTER', sql: (f) => `SELECT ${f}(zq_id) FILTER (WHERE zq_id > 1) AS v FROM svc.zq_one`, sound: 'count' },
  { what: 'an ordered-set aggregate', sql: (f) => `SELECT ${f}(0.5) WITHIN GROUP (ORDER BY zq_id) AS v FROM svc.zq_one`, sound: 'percentile_disc', some: true },
  { what: 'a window function', sql: (f) => `SELECT ${f}(zq_id) OVER (ORDER BY zq_id) AS v FROM svc.zq_one`, sound: 'count' },
  {
    what: 'a window function over a named window',
    sql: (f) => `SELECT ${f}(zq_id) OVER w AS v FROM svc.zq_one WINDOW w AS (ORDER BY zq_id)`,
    sound: 'count',
    some: true,
  },
  { what: 'an argument of an aggregate', sql: (f) => `SELECT count(${f}('x')) AS v FROM svc.zq_one`, sound: 'upper' },
  { what: 'the FILTER of an aggregate', sql: (f) => `SELECT count(*) FILTER (WHERE ${f}('x') IS NULL) AS v FROM svc.zq_one`, sound: 'upper', some: true },
  { what: 'the order of an aggregate', sql: (f) => `SELECT array_agg(zq_id ORDER BY ${f}('x')) AS v FROM svc.zq_one`, sound: 'upper', some: true },
  { what: 'WHERE', sql: (f) => `SELECT zq_id FROM svc.zq_one WHERE ${f}('x') IS NULL`, sound: 'upper', some: true },
  { what: 'ORDER BY', sql: (f) => `SELECT zq_id FROM svc.zq_one ORDER BY ${f}(zq_name)`, sound: 'upper', some: true },
  {
    what: 'GROUP BY and HAVING',
    sql: (f) => `SELECT count(*) AS n FROM svc.zq_one GROUP BY ${f}(zq_name) HAVING ${f}('x') IS NULL`,
    sound: 'upper',
    some: true,
  },
  {
    what: 'a sub-query',
    sql: (f) => `SELECT (SELECT ${f}('x')) AS v FROM svc.zq_one WHERE EXISTS (SELECT 1 WHERE ${f}('x') IS NULL)`,
    sound: 'upper',
    some: true,
  },
  { what: 'a common table expression', sql: (f) => `WITH w AS (SELECT ${f}('x') AS v) SELECT v FROM w`, sound: 'upper', some: true },
  { what: 'a set operation', sql: (f) => `SELECT 'a' AS v UNION ALL SELECT ${f}('x')`, sound: 'upper', some: true },
  { what: 'VALUES', sql: (f) => `VALUES (${f}('x'))`, sound: 'upper', some: true },
  { what: 'LIMIT', sql: (f) => `SELECT zq_id FROM svc.zq_one LIMIT ${f}('x')`, sound: 'length', some: true },
  { what: 'a default of JSON_VALUE', sql: (f) => `SELECT JSON_VALUE('{}', '$.a' DEFAULT ${f}('x') ON EMPTY) AS v`, sound: 'upper', some: true },
];

/** Attributes of values without fields: refused for every name. */
export const ATTRIBUTES: readonly Spelling[] = [
  { what: 'a literal', sql: (f) => `SELECT ('x').${f} AS v` },
  { what: 'a number', sql: (f) => `SELECT (1).${f} AS v` },
  { what: 'NULL', sql: (f) => `SELECT (NULL).${f} AS v` },
  { what: 'a cast', sql: (f) => `SELECT ('x'::text).${f} AS v` },
  { what: 'a column', sql: (f) => `SELECT (c.zq_name).${f} AS v FROM svc.zq_one c` },
  { what: 'a bare column', sql: (f) => `SELECT (zq_name).${f} AS v FROM svc.zq_one` },
  { what: 'the entity_id', sql: (f) => `SELECT (entity_id).${f} AS v FROM dsvc.zq_one` },
  { what: 'a column of a sub-select', sql: (f) => `SELECT (x.a).${f} AS v FROM (SELECT 'x'::text AS a) x` },
  { what: 'a column of VALUES', sql: (f) => `SELECT (x.a).${f} AS v FROM (VALUES ('x'::text)) x (a)` },
  { what: 'a call', sql: (f) => `SELECT (lower('X')).${f} AS v` },
  { what: 'an aggregate', sql: (f) => `SELECT (max(zq_name)).${f} AS v FROM svc.zq_one` },
  { what: 'an operation', sql: (f) => `SELECT ('x' || 'y').${f} AS v` },
  { what: 'CASE', sql: (f) => `SELECT (CASE WHEN true THEN 'x' END).${f} AS v` },
  { what: 'COALESCE', sql: (f) => `SELECT (coalesce('x', 'y')).${f} AS v` },
  { what: 'a sub-query', sql: (f) => `SELECT (SELECT 'x'::text).${f} AS v` },
  { what: 'an array', sql: (f) => `SELECT (ARRAY['x']).${f} AS v` },
  { what: 'an element of an array', sql: (f) => `SELECT (ARRAY['x'])[1].${f} AS v` },
  { what: 'a value under a collation', sql: (f) => `SELECT ('x' COLLATE "C").${f} AS v` },
  { what: 'a value of the clock', sql: (f) => `SELECT (current_date).${f} AS v` },
  { what: 'the value of a function in FROM', sql: (f) => `SELECT u.${f} AS v FROM unnest(ARRAY['x']) u` },
  { what: 'the value of a function in FROM, in brackets', sql: (f) => `SELECT (u).${f} AS v FROM unnest(ARRAY['x']) u` },
  { what: 'an attribute', sql: (f) => `SELECT ((ROW('x'::text)).f1).${f} AS v` },
  { what: 'a literal, all of it', sql: (f) => `SELECT (('x').${f}).* ` },
  { what: 'a literal in WHERE', sql: (f) => `SELECT zq_id FROM svc.zq_one WHERE ('x').${f} IS NULL` },
  { what: 'a literal in an argument', sql: (f) => `SELECT count(('x').${f}) AS v FROM svc.zq_one` },
  { what: 'a literal in FROM', sql: (f) => `SELECT g FROM generate_series(1, ('x').${f}) g` },
];

/** Attributes of rows: refused if the row has no such field. */
export const FIELDS: readonly Spelling[] = [
  { what: 'an empty row', sql: (f) => `SELECT (ROW()).${f} AS v` },
  { what: 'a row', sql: (f) => `SELECT (ROW('x'::text)).${f} AS v`, sound: 'f1' },
  { what: 'a row in brackets', sql: (f) => `SELECT (('x'::text, 1)).${f} AS v`, sound: 'f2' },
  { what: 'a concept', sql: (f) => `SELECT c.${f} AS v FROM svc.zq_one c`, sound: 'zq_name' },
  { what: 'a concept in dsvc', sql: (f) => `SELECT c.${f} AS v FROM dsvc.zq_one c`, sound: 'zq_name' },
  { what: 'the whole row of a concept', sql: (f) => `SELECT (c).${f} AS v FROM svc.zq_one c`, sound: 'zq_name' },
  { what: 'all columns of a concept', sql: (f) => `SELECT (c.*).${f} AS v FROM svc.zq_one c`, sound: 'zq_name' },
  { what: 'a concept without an alias', sql: (f) => `SELECT zq_one.${f} AS v FROM svc.zq_one`, sound: 'zq_name' },
  { what: 'a concept with its schema', sql: (f) => `SELECT svc.zq_one.${f} AS v FROM svc.zq_one`, sound: 'zq_name' },
  { what: 'a sub-select', sql: (f) => `SELECT x.${f} AS v FROM (SELECT 1 AS a) x`, sound: 'a' },
  { what: 'the whole row of a sub-select', sql: (f) => `SELECT (x).${f} AS v FROM (SELECT 1 AS a) x`, sound: 'a' },
  { what: 'a common table expression', sql: (f) => `WITH x AS (SELECT 1 AS a) SELECT x.${f} AS v FROM x`, sound: 'a' },
  { what: 'the whole row of one', sql: (f) => `WITH x AS (SELECT 1 AS a) SELECT (x).${f} AS v FROM x`, sound: 'a' },
  { what: 'VALUES', sql: (f) => `SELECT x.${f} AS v FROM (VALUES (1)) x (a)`, sound: 'a' },
  { what: 'a row of a sub-select', sql: (f) => `SELECT (x.r).${f} AS v FROM (SELECT ROW(1, 2) AS r) x`, sound: 'f2' },
  { what: 'a call with result columns', sql: (f) => `SELECT (jsonb_each('{}')).${f} AS v`, sound: 'key' },
  { what: 'a function with result columns in FROM', sql: (f) => `SELECT e.${f} AS v FROM jsonb_each('{}') e`, sound: 'key' },
  { what: 'the whole row of one', sql: (f) => `SELECT (e).${f} AS v FROM jsonb_each('{}') e`, sound: 'value' },
  { what: 'a function with a column list', sql: (f) => `SELECT e.${f} AS v FROM json_to_record('{}') AS e (a int)`, sound: 'a' },
  { what: 'ROWS FROM', sql: (f) => `SELECT e.${f} AS v FROM ROWS FROM (generate_series(1, 2), jsonb_each('{}')) e (n, k, w)`, sound: 'k' },
  { what: 'a join under an alias', sql: (f) => `SELECT j.${f} AS v FROM ((SELECT 1 AS a) x CROSS JOIN (SELECT 2 AS b) y) AS j`, sound: 'b' },
  { what: 'the alias of USING', sql: (f) => `SELECT j.${f} AS v FROM (SELECT 1 AS a) x JOIN (SELECT 1 AS a, 2 AS b) y USING (a) AS j`, sound: 'a' },
  { what: 'a concept in ORDER BY', sql: (f) => `SELECT zq_id FROM svc.zq_one c ORDER BY c.${f}`, sound: 'zq_name' },
  { what: 'a concept from a sub-query', sql: (f) => `SELECT zq_id FROM svc.zq_one c WHERE EXISTS (SELECT 1 WHERE c.${f} IS NULL)`, sound: 'zq_name' },
];
