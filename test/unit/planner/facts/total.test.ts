/** Total expressions. A statement that may raise an error must evaluate the conditions of policies first. */
import { describe, expect, it } from 'vitest';
import { loadNodeParser } from '../../../../src/cli/node-parser.ts';
import { compile } from '../../../../src/ontology/compile.ts';
import { castsAlways, collationsConflict } from '../../../../src/planner/facts/column-types.ts';
import { isTotal } from '../../../../src/planner/facts/total.ts';
import { planSelect } from '../../../../src/planner/index.ts';
import type { Access } from '../../../../src/planner/secure/access.ts';
import { context } from '../company.ts';

const parser = await loadNodeParser();
const total = (expression: string): boolean => isTotal(parser.parse(`SELECT 1 FROM t WHERE ${expression}`).stmts[0]?.stmt);

describe('expressions that raise no error', () => {
  it.each([
    'a = 1 AND (b IS NULL OR NOT c) AND d IN (1, 2) AND e BETWEEN 1 AND 2',
    "name IN ('x', 'y') AND name = ANY ('{x,y}') AND price < 12345678901234567890.5 AND code <> 'B12345-7'",
    "lower(a) = 'x' AND length(b) > 2 AND c::text = 'd' AND day > DATE '2020-01-01' AND at > CURRENT_TIMESTAMP",
    "at > TIMESTAMP '2020-01-01 12:00:00.123456+02' AND phone = '03012345' AND id = '7d9f6a1b-12a4-4c55-9b1a-3f0012345678' AND mail = 'a.b12345@x.de'",
    'CASE WHEN a > 1 THEN b ELSE coalesce(c, d) END = greatest(1, 2)',
    'EXISTS (SELECT 1 FROM svc.u WHERE u.a = t.a LIMIT 1) AND a IN (SELECT b FROM svc.u) AND a > ALL (SELECT b FROM svc.u GROUP BY b HAVING count(*) > 1)',
  ])('%s', (expression) => expect(total(expression)).toBe(true));

  it('include aggregates of the outermost block, which are evaluated after all conditions', () => {
    expect(isTotal(parser.parse("SELECT sum(a), avg(b), string_agg(c, ',') FROM t").stmts[0]?.stmt)).toBe(true);
  });
});

describe('expressions that may raise an error', () => {
  it.each([
    ['operators of sub-queries', "'x' ~ ANY (SELECT t.note)"],
    ['LIKE of sub-queries', "'x' LIKE ALL (SELECT t.note)"],
    ['a sub-query as a value: it may find several rows', '(SELECT v FROM (VALUES (1), (2)) x(v) WHERE t.pay > 9) = 1'],
    ['a sub-query as a row', '(a, b) = (SELECT v, v FROM (VALUES (1), (2)) x(v) WHERE t.pay > 9)'],
    ['an array of arrays that differ', 'ARRAY(SELECT t.list FROM u) IS NULL'],
    ['arrays in an array', 'ARRAY[CASE WHEN t.pay > 9 THEN t.one ELSE t.two END, t.one] IS NULL'],
    ['rows of different forms', '(CASE WHEN t.pay > 9 THEN ROW(1, 2) ELSE ROW(1) END) = ROW(1)'],
    ['a negative LIMIT in a sub-query', 'EXISTS (SELECT 1 LIMIT CASE WHEN t.pay > 9 THEN -1 ELSE 1 END)'],
    ['the same, a constant', 't.pay > 9 AND EXISTS (SELECT 1 FROM u LIMIT -1)'],
    ['a negative OFFSET in an arm', 'EXISTS ((SELECT 1 FROM u OFFSET -1) UNION SELECT 2)'],
    ['sums in sub-queries', 'EXISTS (SELECT 1 FROM u WHERE t.pay > 9 HAVING sum(u.v) > 0)'],
    ['texts longer than any may be', "EXISTS (SELECT 1 FROM u WHERE t.pay > 9 HAVING string_agg(u.text, '') > '')"],
    ['keys of objects in sub-queries', "EXISTS (SELECT 1 FROM u HAVING json_object_agg(CASE WHEN t.pay > 9 THEN NULL ELSE 'a' END, 1) IS NULL)"],
    ['JSON that jsonb does not take', `EXISTS (SELECT 1 FROM u HAVING jsonb_agg(CASE WHEN t.pay > 9 THEN json '"\\u0000"' END) IS NULL)`],
    ['frames of windows', 'EXISTS (SELECT count(*) OVER (ROWS t.pay PRECEDING) FROM u)'],
    ['a key of JSON that is NULL', "JSON_OBJECT(CASE WHEN t.pay > 9 THEN NULL ELSE 'a' END : 1) IS NULL"],
    ['a key of JSON that comes twice', "JSON_OBJECT('a' : 1, t.name : 2 WITH UNIQUE KEYS) IS NULL"],
    ['JSON of a sub-query', 'JSON_ARRAY(SELECT t.note RETURNING varchar(1)) IS NULL'],
    ['comparisons of areas', "CASE WHEN t.pay > 9 THEN box '((0,0),(1e200,1e200))' ELSE box '((0,0),(1,1))' END = box '((0,0),(1,1))'"],
    ['lengths in an encoding', "length(t.bytes, 'UTF8') > 1"],
    ['numbers beyond those of another type', 't.pay > 9 AND u.n = 1e400'],
    ['the same as a text', "t.pay > 9 AND u.n = numeric '1e400'"],
    ['days beyond those of another type', "coalesce(t.day, DATE '294277-01-01') > t.at"],
    ['the same, in other orders', "coalesce(t.day, DATE '1/1/294277') > t.at"],
    ['the same, by the name of the month', "coalesce(t.day, '294277 Jan 1', t.at) > t.at"],
    ['the same, with points', "coalesce(t.day, DATE '1.1.294277') > t.at"],
    ['the same, without separators', "coalesce(t.day, DATE '2942770101') > t.at"],
    ['the same, by the number of the day', "coalesce(t.day, DATE ' J109202770') > t.at"],
    ['days before Christ', "coalesce(t.day, DATE '4713-11-24bc') > t.at"],
    ['the last days of a type', "coalesce(t.at, TIMESTAMP '12/31/294276 23:59:59') > t.moment"],
    ['addresses of other lengths', "coalesce(t.long, macaddr8 '01:02:03:04:05:06:07:08', t.short) = t.short"],
    ['the same, in an array', "'{01:02:03:04:05:06:07:08}'::_macaddr8 = t.list"],
    ['a collation of its own', "CASE WHEN t.pay > 9 THEN name 'x' ELSE t.note END = 'y'"],
    ['a sub-query that may run for hours', 'EXISTS (SELECT 1 FROM svc.u a, svc.u b WHERE t.pay > 9 AND (a.v = 1 OR b.v = 1))'],
    ['the same, one in another', 'EXISTS (SELECT 1 FROM svc.u a WHERE NOT EXISTS (SELECT 1 FROM svc.u b WHERE t.pay > 9 AND a.v <> b.v))'],
    ['the same, by a common table expression', 't.pay > 9 AND EXISTS (SELECT 1 FROM x)'],
    ['the same, over rows that it writes', 't.pay > 9 AND 1 IN (SELECT 2 FROM (VALUES (1), (2)) a(v), (VALUES (1), (2)) b(v))'],
    ['functions of other schemas', 'pg_catalog.lower(a) = b'],
  ])('%s', (_, expression) => expect(total(expression)).toBe(false));

  it('include sub-selects in FROM that PostgreSQL may evaluate only for a hidden row', () => {
    expect(isTotal(parser.parse('SELECT 1 FROM t, (SELECT sum(v) FROM u) x WHERE t.pay > 9').stmts[0]?.stmt)).toBe(false);
    expect(isTotal(parser.parse('WITH x AS (SELECT sum(v) FROM u) SELECT 1 FROM t, x WHERE t.pay > 9').stmts[0]?.stmt)).toBe(false);
  });
});

describe('a plan under a policy', () => {
  const typeOf = (name: string): string =>
    name === 'born' ? 'date' : ['name', 'serial', 'nickname'].includes(name) ? 'text' : name === 'salary' ? 'numeric' : 'int8';
  const { model } = context.graph;
  const typed = compile(
    { ...model, mappings: model.mappings.map((m) => ({ ...m, columns: m.columns.map((c) => ({ ...c, type: typeOf(c.name) })) })) },
    'company',
  );
  const caller = { username: 'ann', roles: [], claims: {} };
  const access: Access = { rows: [{ concept: 'employee', conditions: [{ policy: 'p', condition: 'party_id > 10' }] }], masks: [], caller, maskKey: 's' };
  const hasBarrier = (sql: string): boolean => planSelect({ ...context, graph: typed, access, caller }, { text: sql, offset: 0 }).sql.includes('OFFSET 0');

  it.each([
    ['SELECT e.name FROM svc.employee e WHERE e.party_id > 1', false],
    ['SELECT e.name FROM svc.employee e, svc.town t WHERE CASE WHEN e.party_id > 9 THEN e ELSE t END = t', true],
    ['SELECT e.name FROM svc.employee e, svc.town t WHERE CASE WHEN e.party_id > 9 THEN e.* ELSE t.* END = t.*', true],
    ['SELECT t.* FROM svc.employee e, svc.town t', false],
    ['SELECT x.n FROM (SELECT count(*) AS n FROM svc.employee) x', false],
    ['SELECT x.n FROM (SELECT sum(party_id) AS n FROM svc.employee) x', true],
  ])('has a barrier if it needs one: %s', (sql, expected) => expect(hasBarrier(sql)).toBe(expected));
});

describe('conflicting collations', () => {
  it.each([
    [[{ collation: '"C"' }, { collation: '"POSIX"' }], true],
    [[{ collation: '"C"' }, {}, { collation: '"C"' }], false],
    [[{ type: 'name' }, { collation: '"POSIX"' }], true],
    [[{ type: 'name' }, { type: 'name', collation: '"C"' }, { type: 'text' }], false],
    [[{ collation: '' }], true],
    [[], false],
  ])('%j', (columns, conflict) => expect(collationsConflict(columns.map((c) => ({ name: 'x', ...c })))).toBe(conflict));

  it('include columns without a collation, which cannot be compared', () => {
    expect(castsAlways({ name: 'x', type: 'text', collation: '' }, 'text')).toBe(false);
    expect(castsAlways({ name: 'x', type: 'text', collation: '"C"' }, 'text')).toBe(true);
  });
});
