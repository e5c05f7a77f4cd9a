/** Unions that Citus reads by themselves, and the tables on which the others rely. */
import { describe, expect, it } from 'vitest';
import { graphOf } from '../../../../examples/world/graph.ts';
import type { Placements, Target } from '../../../../src/planner/index.ts';
import { planSelect } from '../../../../src/planner/index.ts';
import { ANYWHERE, targetFor } from '../../../../src/planner/lower/placed.ts';
import { separateUnions } from '../../../../src/planner/lower/separate-unions.ts';
import type { SelectStmt } from '../../../../src/planner/plan/tree.ts';
import { printSelect, STATEMENT_LIMITS } from '../../../../src/planner/print/index.ts';
import { verify } from '../../../../src/planner/verify/index.ts';
import { context } from '../company.ts';

const PLACED = { column: 'id', group: 1 };
/** The tables `d1` and `d2` are distributed, `r1` and `r2` are reference tables; `v` is a view with a union; nothing is known of others. */
const PLACES: Placements = new Map<string, typeof PLACED | 'union' | null>([
  ['["s","d1"]', PLACED],
  ['["s","d2"]', PLACED],
  ['["s","r1"]', null],
  ['["s","r2"]', null],
  ['["s","v"]', 'union'],
]);
const [R1, R2, X] = ['["s","r1"]', '["s","r2"]', '["s","x",0]'];
const D = '(SELECT id FROM s.d1 UNION ALL SELECT id FROM s.d2)';
const R = '(SELECT id FROM s.r1 UNION ALL SELECT id FROM s.r2)';

function separated(sql: string, places = PLACES): { readonly relied: string[]; readonly offsets: number } {
  const statement = (context.parser.parse(sql) as unknown as { stmts: [{ stmt: { SelectStmt: SelectStmt } }] }).stmts[0].stmt.SelectStmt;
  const relied = separateUnions(statement, places, [{ schema: 's', name: 'v', columns: new Set(['id']), isWhole: false }]);
  return { relied: [...new Set(relied)].sort(), offsets: printSelect(statement, STATEMENT_LIMITS).split('OFFSET 0').length - 1 };
}

describe('a union', () => {
  it.each([
    ['by itself relies on nothing', `SELECT * FROM ${D} u`, [], 0],
    ['of reference tables by itself relies on nothing', `SELECT * FROM ${R} u`, [], 0],
    ['next to a distributed table is read by itself', `SELECT * FROM ${D} u JOIN s.d1 t ON t.v = u.id`, [], 1],
    [
      'next to a table of which nothing is known is read by itself, and relies on that it is no view with a union',
      `SELECT * FROM ${D} u JOIN s.x t ON t.v = u.id`,
      [X],
      1,
    ],
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
    ['of a view by itself relies on nothing', 'SELECT * FROM s.v', [], 0],
    ['of a view next to a distributed table is read by itself', 'SELECT u.id FROM s.v u JOIN s.d1 t ON t.v = u.id', [], 1],
    ['of a view next to a reference table relies on that table', 'SELECT u.id FROM s.v u JOIN s.r1 t ON t.v = u.id', [R1], 0],
    ['of a view in a condition is read by itself', 'SELECT * FROM s.d1 t WHERE t.id IN (SELECT u.id FROM s.v u WHERE u.id > 3)', [], 1],
    ['that an unknown table may become relies on that table next to a distributed one', 'SELECT * FROM s.x u JOIN s.d1 t ON t.v = u.id', [X], 0],
    ['that an unknown table may become relies on nothing if the table is read by itself', 'SELECT * FROM s.x u', [], 0],
    ['that an unknown table may become relies on that table next to a reference table', 'SELECT * FROM s.x u JOIN s.r1 t ON t.v = u.id', [X], 0],
  ])('%s', (_, sql, relied, offsets) => {
    expect(separated(sql)).toEqual({ relied, offsets });
  });

  it('may become one too next to a reference table if no table is distributed yet', () => {
    const sql = 'SELECT * FROM s.x u JOIN s.r1 t ON t.v = u.id';
    expect(separated(sql, new Map([['["s","r1"]', null]])).relied).toEqual([X]);
    expect(separated(sql, new Map()).relied).toEqual([]);
  });
});

it('a view that is read by itself passes the verifier, however its mapping names its columns', () => {
  const { parser } = context;
  const from = [
    'SELECT id, d FROM s.v',
    'SELECT id, d FROM s.v WHERE id > 3',
    'SELECT v.id, t.d FROM s.v JOIN s.d2 t ON t.id = v.d',
    'SELECT v.id, t.d FROM (SELECT id, d FROM s.d2) t JOIN s.v ON t.id = v.d',
    'SELECT t.id, t.d FROM s.v CROSS JOIN s.d2 t',
    'SELECT id, d FROM s.v NATURAL JOIN s.d2 t',
  ];
  const graph = graphOf(
    `CREATE CONCEPT near (id integer, d integer, PRIMARY KEY (id)); CREATE MAPPING m_near INTO near AS SELECT id, d FROM s.d1;
    ${from.map((sql, i) => `CREATE CONCEPT c${i} (id integer, d integer, PRIMARY KEY (id)); CREATE MAPPING m_${i} INTO c${i} AS ${sql}`).join('; ')}`,
    'g',
    parser,
  );
  for (const target of [targetFor(PLACES), ANYWHERE])
    for (const i of from.keys()) {
      const text = `SELECT x.id, y.id AS other FROM svc.c${i} x JOIN svc.near y ON y.id = x.d WHERE x.id < 9`;
      const { sql, declared } = planSelect({ graph, parser, product: 'svc', activeDatasource: 'main', target: () => target }, { text, offset: 0 });
      expect(sql).toMatch(/FROM s\.v( WHERE [^()]*)? OFFSET 0\)/);
      expect(() => verify(parser, sql, declared)).not.toThrow();
    }
});

it('a view of which it is not known which columns are read is refused, but not a table that may be such a view', () => {
  const { parser } = context;
  const from = ['SELECT v.id, e FROM s.v JOIN s.d2 t ON t.id = v.id', 'SELECT v.id, t.d FROM s.v JOIN s.d2 t USING (id)'];
  for (const sql of from) {
    const graph = graphOf(
      `CREATE CONCEPT c (id integer, d integer, PRIMARY KEY (id)); CREATE MAPPING m INTO c AS ${sql.replace(' e ', ' e AS d ')}`,
      'g',
      parser,
    );
    const planned = (target: Target) =>
      planSelect({ graph, parser, product: 'svc', activeDatasource: 'main', target: () => target }, { text: 'SELECT id, d FROM svc.c', offset: 0 });
    expect(() => planned(targetFor(PLACES))).toThrow('Citus would lose rows');
    const { sql: written, declared } = planned(ANYWHERE);
    expect(() => verify(parser, written, declared)).not.toThrow();
  }
});
