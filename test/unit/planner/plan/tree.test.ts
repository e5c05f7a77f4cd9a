import type { ColumnRef } from '@pgsql/types';
import { describe, expect, it } from 'vitest';
import { loadNodeParser } from '../../../../src/cli/node-parser.ts';
import { cast, column, eachColumn, isSame, type Node, walk } from '../../../../src/planner/plan/tree.ts';
import { ACCEPTED } from '../corpus/accepted.ts';

const parser = await loadNodeParser();
const expression = (sql: string): unknown => {
  const target = parser.parse(`SELECT ${sql}`).stmts[0]?.stmt;
  return target && 'SelectStmt' in target ? target.SelectStmt.targetList?.[0] : undefined;
};

describe('equality of trees', () => {
  it.each([
    ['a.b + 1', 'a.b   +   1'],
    ["CASE WHEN x IN (1, 2) THEN 'a' END", "CASE  WHEN x IN (1 , 2) THEN 'a' END"],
    ['ARRAY[1, x]', 'ARRAY[ 1, x ]'],
  ])('%s is the same as %s', (a, b) => expect(isSame(expression(a), expression(b))).toBe(true));

  it.each([
    ['a', 'b'],
    ['a', '"A"'],
    ['0', '1'],
    ['a', 'a::text'],
    ['f(a)', 'f(DISTINCT a)'],
    ['f(DISTINCT a)', 'f(a)'],
    ['f(a)', 'f(a, a)'],
    ['x IN (1, 2)', 'x IN (2, 1)'],
    ['NULL', "''"],
  ])('%s is not the same as %s', (a, b) => expect(isSame(expression(a), expression(b))).toBe(false));

  it('ignores the locations of each statement of the corpus', () => {
    for (const sql of Object.values(ACCEPTED)) {
      const stmts = [sql, `  \n${sql}`].map((text) => parser.parse(text).stmts[0]?.stmt);
      expect(isSame(stmts[0], stmts[1]), sql).toBe(true);
    }
  });
});

describe('references to columns', () => {
  it('are visited in the order of the nodes', () => {
    let found = 0;
    for (const sql of Object.values(ACCEPTED)) {
      const tree = parser.parse(sql).stmts;
      const [walked, visited]: [ColumnRef[], ColumnRef[]] = [[], []];
      walk(tree, (n: Node) => {
        if ('ColumnRef' in n) walked.push(n.ColumnRef);
        return undefined;
      });
      eachColumn(tree, (ref) => visited.push(ref));
      expect(visited.length, sql).toBe(walked.length);
      expect(
        visited.every((ref, i) => ref === walked[i]),
        sql,
      ).toBe(true);
      found += visited.length;
    }
    expect(found).toBeGreaterThan(100);
  });
});

describe('types of casts', () => {
  it('are shared, and cannot be changed', () => {
    const [a, b] = [cast(column('x'), 'bigint'), cast(column('y'), 'bigint')] as [Extract<Node, { TypeCast: unknown }>, Extract<Node, { TypeCast: unknown }>];
    expect(a.TypeCast.typeName).toBe(b.TypeCast.typeName);
    expect(Object.isFrozen(a.TypeCast.typeName)).toBe(true);
  });
});
