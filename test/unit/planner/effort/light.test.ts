/** The quick test before the estimate of effort: what it accepts cannot reach the limit, and usual statements pass it. */
import { describe, expect, it } from 'vitest';
import { requireInterruptible } from '../../../../src/planner/effort/index.ts';
import { isLight } from '../../../../src/planner/effort/light.ts';
import { planSelect } from '../../../../src/planner/index.ts';
import { context } from '../company.ts';

function light(sql: string, params: readonly (string | null)[] = []): boolean {
  const [raw] = context.parser.parse(sql).stmts;
  if (!raw?.stmt || !('SelectStmt' in raw.stmt)) throw new Error('it is one SELECT');
  return isLight(raw.stmt.SelectStmt, params);
}

/** A value that becomes `times` times as long in each of several sub-queries. */
const growing = (value: string, levels: number): string =>
  Array.from({ length: levels }).reduce<string>((from) => `SELECT ${value} AS x FROM (${from}) q`, 'SELECT t.x FROM shop.t AS t');

describe('light', () => {
  it.each([
    "SELECT t.a::text AS a, count(*) AS n, round(sum(t.b) / nullif(count(t.b), 0), 2) AS r FROM shop.t AS t WHERE t.a = 'x' AND t.b IN (1, 2) GROUP BY t.a",
    'SELECT row_to_json(q) AS "row" FROM (SELECT t.a, t.b FROM shop.t AS t LEFT JOIN shop.u AS u ON u.a = t.a) AS q(a, b) ORDER BY q.a',
    "SELECT t.a || ':' || t.b AS id, CASE WHEN t.c > 1 THEN upper(t.a) ELSE 'none' END AS c FROM shop.t AS t WHERE EXISTS (SELECT FROM shop.u AS u WHERE u.a = t.a)",
    'SELECT row_number() OVER (PARTITION BY t.a ORDER BY t.b) AS n, max(t.b) FILTER (WHERE t.c) AS m FROM shop.t AS t',
    'WITH RECURSIVE w(a, n) AS (SELECT t.a, t.b FROM shop.t AS t UNION SELECT t.c, w.n FROM w JOIN shop.t AS t ON t.a = w.a) SELECT w.a FROM w',
    growing('q.x || q.x', 3),
  ])('%s', (sql) => {
    expect(light(sql)).toBe(true);
  });

  it.each([true, false])('a planned query, for a datasource that keeps names: %s', (keeps) => {
    const text = "SELECT name, COUNT(entity_id) AS n FROM svc.person WHERE name <> 'Ann' GROUP BY name ORDER BY n DESC";
    expect(light(planSelect({ ...context, keepsNames: () => keeps }, { text, offset: 0 }).sql)).toBe(true);
  });
});

describe('not light', () => {
  it.each([
    // each level doubles the length
    growing('q.x || q.x', 12),
    growing('concat(q.x, q.x, q.x, q.x)', 6),
    growing('q.x * q.x', 6),
    growing('(ROW(q.x, q.x, q.x, q.x))::text', 6),
    // a name without a relation may mean a whole row
    growing('q AS a, q AS b, q AS c, q AS d, q AS e, q AS f, q', 6),
    growing('u AS a, u AS b, u AS c, u AS d, u AS e, u', 6).replaceAll(') q', ') q JOIN shop.t USING (x) AS u'),
    growing('j AS a, j AS b, j AS c, j AS d, j AS e, j', 6).replaceAll(/FROM (\(.*\) q)/g, 'FROM ($1 JOIN shop.u ON true) AS j'),
    `WITH ${Array.from({ length: 6 }, (_, i) => `w${i + 1} AS (SELECT ${Array(6).fill(`w${i}`).join(', ')} FROM ${i === 0 ? 'shop.w0' : `w${i}`})`).join(', ')} SELECT w6.a FROM w6`,
    growing(`upper((SELECT v::text FROM (VALUES (${Array(400).fill('q.x').join(', ')})) AS v))`, 2),
    'SELECT t.a::char(10000000) AS a, upper(t.a::char(10000000)) AS b FROM shop.t AS t',
    "WITH RECURSIVE w(a) AS (SELECT t.a FROM shop.t AS t UNION ALL SELECT w.a || 'x' FROM w) SELECT w.a FROM w",
    'SELECT array_agg(t.a) AS l FROM shop.t AS t',
    'SELECT ARRAY(SELECT t.a FROM shop.t AS t) AS l',
    'SELECT ARRAY[t.a] AS l FROM shop.t AS t',
    'SELECT q.* FROM shop.t AS q',
    'SELECT g.n FROM generate_series(1, 9) AS g(n)',
    'SELECT u.n FROM shop.t AS t, unnest(t.a) AS u(n)',
    'SELECT repeat(t.a, 3) AS l FROM shop.t AS t',
    "SELECT translate(t.a, t.b, '') AS l FROM shop.t AS t",
    "SELECT t.a LIKE '%x' AS l FROM shop.t AS t",
    "SELECT t.a ~ 'x' AS l FROM shop.t AS t",
    'SELECT t.a @> t.b AS l FROM shop.t AS t',
    'SELECT t.a::tsvector AS l FROM shop.t AS t',
    'SELECT t.a::text[] AS l FROM shop.t AS t',
    'SELECT normalize(t.a) AS l FROM shop.t AS t',
    'SELECT is_normalized(t.a) AS l FROM shop.t AS t',
    'SELECT btrim(t.a, t.b) AS l FROM shop.t AS t',
    'SELECT unnest(t.a) AS l FROM shop.t AS t',
    'SELECT round(t.a, 9999) AS l FROM shop.t AS t',
    'SELECT own.f(t.a) AS l FROM shop.t AS t',
    'SELECT t.a = ANY (t.b) AS l FROM shop.t AS t',
    'SELECT (SELECT row_to_json(t.a) FROM (SELECT array_agg(u.a) AS a FROM shop.u AS u) AS t) AS l',
    'SELECT (SELECT concat(t.a, t.b) FROM (SELECT array_agg(u.a) AS a FROM shop.u AS u) AS t) AS l',
    'SELECT row_to_json(q) AS l FROM (SELECT row_to_json(t) AS a FROM shop.t AS t) AS q',
    'SELECT q.l AS l FROM (SELECT row_to_json(t) AS l FROM shop.t AS t) AS q',
    'SELECT row_to_json(t.a || t.b) AS l FROM shop.t AS t',
    `SELECT 1e100000 * t.a AS l FROM shop.t AS t`,
    // many relations that are equal in many columns
    `SELECT t.a FROM shop.t AS t ${Array.from({ length: 8 }, (_, i) => `JOIN shop.t AS t${i} ON ${Array.from({ length: 20 }, (_, c) => `t${i}.c${c} = t.c${c}`).join(' AND ')}`).join(' ')}`,
    `SELECT t.a FROM shop.t AS t ${Array.from({ length: 8 }, (_, i) => `JOIN shop.t AS t${i} USING (${Array.from({ length: 20 }, (_, c) => `c${c}`).join(', ')})`).join(' ')}`,
    'SELECT t.a FROM shop.t AS t NATURAL JOIN shop.u AS u',
    `SELECT ${Array(3_000).fill('t.a').join(' = t.b AND ')} AS l FROM shop.t AS t`,
  ])('%s', (sql) => {
    expect(light(sql)).toBe(false);
  });

  // a call is looked at wherever it is
  it.each([
    'SELECT t.a FROM shop.t AS t WHERE upper(t.a) IS NULL',
    'SELECT count(*) AS n FROM shop.t AS t GROUP BY upper(t.a)',
    'SELECT t.a FROM shop.t AS t ORDER BY upper(t.a)',
    'SELECT count(*) AS n FROM shop.t AS t HAVING max(upper(t.a)) IS NULL',
    'SELECT t.a FROM shop.t AS t LIMIT length(upper($1))',
    'SELECT t.a FROM shop.t AS t OFFSET length(upper($1))',
    'SELECT DISTINCT ON (upper(t.a)) t.b FROM shop.t AS t',
    'SELECT rank() OVER w AS n FROM shop.t AS t WINDOW w AS (ORDER BY upper(t.a))',
    'SELECT rank() OVER (ORDER BY upper(t.a)) AS n FROM shop.t AS t',
    'SELECT max(t.a ORDER BY upper(t.a)) AS n FROM shop.t AS t',
    'SELECT max(t.a) FILTER (WHERE upper(t.a) IS NULL) AS n FROM shop.t AS t',
    'SELECT t.a FROM shop.t AS t JOIN shop.u AS u ON upper(t.a) = u.a',
    'SELECT upper(t.a) AS a FROM shop.t AS t UNION SELECT u.a FROM shop.u AS u',
    'SELECT u.a FROM shop.u AS u UNION SELECT upper(t.a) AS a FROM shop.t AS t',
    'WITH w AS (SELECT upper(t.a) AS a FROM shop.t AS t) SELECT w.a FROM w',
    'SELECT v.a FROM shop.t AS t, LATERAL (VALUES (upper(t.a))) AS v(a)',
    'SELECT t.a FROM shop.t AS t WHERE EXISTS (SELECT FROM shop.u AS u WHERE u.a = upper(t.a))',
  ])('a call in %s', (sql) => {
    expect(light(sql)).toBe(true);
    expect(light(sql.replace('upper(', 'normalize('))).toBe(false);
  });

  it('many calls with a long text', () => {
    const calls = (length: number): string => `SELECT ${Array(200).fill('upper(q.x)').join(', ')} FROM (SELECT '${'x'.repeat(length)}' AS x) AS q`;
    expect(light(calls(300))).toBe(true);
    expect(light(calls(300_000))).toBe(false);
  });

  it('a long parameter', () => {
    expect(light('SELECT upper($1) AS l', ['x'])).toBe(true);
    expect(light('SELECT upper($1) AS l', ['x'.repeat(20_000_000)])).toBe(false);
  });
});

/** True if the estimate accepts a statement. It is a sub-query of one that is not light, since a light one is not measured. */
function accepted(sql: string): boolean {
  const [raw] = context.parser.parse(`SELECT (${sql}) AS l, repeat('x', 1) AS m`).stmts;
  if (!raw?.stmt || !('SelectStmt' in raw.stmt)) throw new Error('it is one SELECT');
  const query = raw.stmt.SelectStmt;
  expect(isLight(query, [])).toBe(false);
  try {
    requireInterruptible(query, [], new Map(), () => undefined);
    return true;
  } catch {
    return false;
  }
}

it.each([
  'q.x || q.x',
  'upper(concat(q.x, q.x, q.x))',
  'q.x * q.x',
  'upper((SELECT v::text FROM (VALUES (q.x, q.x, q.x, q.x, q.x, q.x, q.x, q.x)) AS v))',
  '(SELECT concat(v.a, v.b) FROM (VALUES (q.x, q.x), (q.x || q.x, q.x)) AS v(a, b))',
  'upper(q.x::char(100))',
])('the estimate accepts a light statement: %s', (value) => {
  const statements = Array.from({ length: 9 }, (_, i) => growing(value, i + 1));
  const isLightAt = statements.map((sql) => light(sql));
  expect(isLightAt).toContain(true);
  for (const [i, sql] of statements.entries()) if (isLightAt[i]) expect(accepted(sql), `${i + 1} levels`).toBe(true);
});
