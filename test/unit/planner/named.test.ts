/** Statements whose columns PostgreSQL would name for a long time when it explains them: EXPLAIN refuses them. */
import { describe, expect, it } from 'vitest';
import { areSoonNamed } from '../../../src/planner/logical/index.ts';
import { context, plan } from './company.ts';

const isSoon = (sql: string): boolean => {
  const statement = context.parser.parse(sql).stmts[0]?.stmt;
  if (!statement || !('SelectStmt' in statement)) throw new Error('it is one SELECT');
  return areSoonNamed(statement.SelectStmt);
};
const list = (n: number, text: (i: number) => string, between = ', '): string => Array.from({ length: n }, (_, i) => text(i)).join(between);
const joined = (joins: number, columns: number, name = (_i: number, k: number): string => `n${k}`): string =>
  `SELECT 1 FROM raw.o o ${list(joins, (i) => `LEFT JOIN (SELECT id, ${list(columns, (k) => `c${k} AS ${name(i, k)}`)} FROM raw.t) s${i} ON s${i}.id = o.id`, ' ')}`;

describe('the columns of a plan', () => {
  // PostgreSQL 15 took 5.7 s for the first one, and 2.2 s for one of the queries with a name for all columns
  it.each([
    ['joins', joined(60, 50)],
    ['joins of sub-selects', `SELECT 1 FROM (${joined(60, 50)} OFFSET 0) q`],
    ['joins in a condition', `SELECT 1 FROM raw.o WHERE EXISTS (${joined(60, 50)})`],
    ['joins of tables', `SELECT 1 FROM raw.o o ${list(40, (i) => `JOIN raw.t t${i} USING (id)`, ' ')}`],
    [
      'joins in each other',
      `SELECT 1 FROM ${Array.from({ length: 50 }).reduce<string>((q, _, i) => `(SELECT * FROM ${q} LEFT JOIN (SELECT id, ${list(50, (k) => `c${k} AS n${k}`)} FROM raw.t) s${i} USING (id) OFFSET 0) q${i}`, 'raw.o')}`,
    ],
    ['a sub-select', `SELECT 1 FROM (SELECT ${list(1600, (k) => `c${k} AS n`)} FROM raw.t) q`],
    ['a query of WITH', `WITH q AS (SELECT ${list(1600, (k) => `c${k} AS n`)} FROM raw.t) SELECT 1 FROM q`],
    ['rows', `SELECT 1 FROM (VALUES (${list(1600, () => '1')})) q(${list(1600, () => 'n')})`],
  ])('take long: %s', (_what, sql) => {
    expect(isSoon(sql)).toBe(false);
  });

  it.each([
    ['20 wide joins', joined(20, 100)],
    ['40 joins', joined(40, 40)],
    ['60 joins with different names', joined(60, 100, (i, k) => `n${i}_${k}`)],
    ['joins of 25 tables', `SELECT 1 FROM raw.o o ${list(25, (i) => `JOIN raw.t t${i} USING (id)`, ' ')}`],
    ['1600 columns', `SELECT 1 FROM (SELECT ${list(1600, (k) => `c${k}`)} FROM raw.t) q`],
    [
      'a concept joined 80 times',
      plan(`SELECT c1.name FROM svc.employee c0 ${list(80, (i) => `LEFT JOIN svc.employee c${i + 1} ON c${i + 1}.party_id = c0.boss_id`, ' ')}`).sql,
    ],
  ])('are soon named: %s', (_what, sql) => {
    expect(isSoon(sql)).toBe(true);
  });
});
