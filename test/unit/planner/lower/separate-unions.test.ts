/** Unions that Citus reads by themselves, and the tables on which the others rely. */
import { describe, expect, it } from 'vitest';
import type { Placements } from '../../../../src/planner/index.ts';
import { separateUnions } from '../../../../src/planner/lower/separate-unions.ts';
import type { SelectStmt } from '../../../../src/planner/plan/tree.ts';
import { printSelect, STATEMENT_LIMITS } from '../../../../src/planner/print/index.ts';
import { context } from '../company.ts';

const PLACED = { column: 'id', group: 1 };
/** The tables `d1` and `d2` are distributed, `r1` and `r2` are reference tables; nothing is known of others. */
const PLACES: Placements = new Map([
  ['["s","d1"]', PLACED],
  ['["s","d2"]', PLACED],
  ['["s","r1"]', null],
  ['["s","r2"]', null],
]);
const [R1, R2] = ['["s","r1"]', '["s","r2"]'];
const D = '(SELECT id FROM s.d1 UNION ALL SELECT id FROM s.d2)';
const R = '(SELECT id FROM s.r1 UNION ALL SELECT id FROM s.r2)';

function separated(sql: string): { readonly relied: string[]; readonly offsets: number } {
  const statement = (context.parser.parse(sql) as unknown as { stmts: [{ stmt: { SelectStmt: SelectStmt } }] }).stmts[0].stmt.SelectStmt;
  const relied = separateUnions(statement, PLACES);
  return { relied: [...new Set(relied)].sort(), offsets: printSelect(statement, STATEMENT_LIMITS).split('OFFSET 0').length - 1 };
}

describe('a union', () => {
  it.each([
    ['by itself relies on nothing', `SELECT * FROM ${D} u`, [], 0],
    ['of reference tables by itself relies on nothing', `SELECT * FROM ${R} u`, [], 0],
    ['next to a distributed table is read by itself', `SELECT * FROM ${D} u JOIN s.d1 t ON t.v = u.id`, [], 1],
    ['next to a table of which nothing is known is read by itself', `SELECT * FROM ${D} u JOIN s.x t ON t.v = u.id`, [], 1],
    ['next to a reference table relies on that table', `SELECT * FROM ${D} u JOIN s.r1 t ON t.v = u.id`, [R1], 0],
    ['of reference tables next to a distributed table relies on its tables', `SELECT * FROM ${R} u JOIN s.d1 t ON t.v = u.id`, [R1, R2], 0],
    ['of both kinds next to nothing relies on nothing', 'SELECT * FROM (SELECT id FROM s.d1 UNION ALL SELECT id FROM s.r1) u', [], 0],
    [
      'in a sub-query that is run by itself relies on the tables there',
      `SELECT * FROM s.r2 JOIN (SELECT u.id FROM ${D} u JOIN s.r1 t ON t.v = u.id LIMIT 5) q ON true`,
      [R1],
      0,
    ],
    ['in a condition relies on the table outside', `SELECT * FROM s.r1 t WHERE t.id IN ${D}`, [R1], 0],
    ['of constants relies on nothing', 'SELECT * FROM (SELECT 1 UNION ALL SELECT 2) u (id) JOIN s.r1 t ON t.id = u.id', [], 0],
  ])('%s', (_, sql, relied, offsets) => {
    expect(separated(sql)).toEqual({ relied, offsets });
  });
});
