/** The quick test before equal columns are counted: what it accepts costs few nodes when they are counted, and usual statements pass it. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { hasFewJoins } from '../../../../src/planner/effort/few-joins.ts';
import { Effort } from '../../../../src/planner/effort/queries.ts';
import { Spent } from '../../../../src/planner/effort/spent.ts';
import type { SelectStmt } from '../../../../src/planner/plan/tree.ts';
import { generated } from '../../../support/generated.ts';
import { sizesOf } from '../../../support/sizes.ts';
import { context } from '../company.ts';

/** The nodes that may stay uncounted. */
const FEW = 30_000;
const SIZES = sizesOf('unit/planner/effort/few-joins');

function parsed(sql: string): SelectStmt {
  const [raw] = context.parser.parse(sql).stmts;
  if (!raw?.stmt || !('SelectStmt' in raw.stmt)) throw new Error('it is one SELECT');
  return raw.stmt.SelectStmt;
}

/** The nodes of a statement while PostgreSQL plans it; infinite beyond the limit. */
function nodesOf(query: SelectStmt, isFew: boolean): number {
  const spent = new Spent(() => undefined);
  try {
    new Effort(query, [], new Map(), spent, isFew).query(query, undefined, new Map());
    return spent.pulled;
  } catch {
    return Number.POSITIVE_INFINITY;
  }
}

const COLUMNS = ['a', 'b', 'c', 'd'];
const column = fc.constantFrom(...COLUMNS);
const alias = fc.integer({ min: 0, max: 9 }).map((n) => `t${n}`);
const value = fc.oneof({ weight: 6, arbitrary: fc.tuple(alias, column).map(([t, c]) => `${t}.${c}`) }, { weight: 1, arbitrary: column }, fc.constant('1'));

interface Texts {
  readonly query: string;
  readonly condition: string;
}
const { query } = fc.letrec<Texts>((tie) => ({
  condition: fc.oneof(
    { maxDepth: 2 },
    { weight: 5, arbitrary: fc.tuple(value, value).map(([l, r]) => `${l} = ${r}`) },
    { weight: 1, arbitrary: fc.tuple(value, value).map(([l, r]) => `(${l} + 0) = ${r}`) },
    { weight: 1, arbitrary: fc.tuple(value, value, value, value).map(([a, b, c, d]) => `(${a}, ${b}) = (${c}, ${d})`) },
    { weight: 1, arbitrary: fc.tuple(value, value).map(([l, r]) => `${l} IN (${r}, ${r})`) },
    { weight: 1, arbitrary: tie('query').map((q) => `EXISTS (${q})`) },
    { weight: 1, arbitrary: fc.tuple(value, tie('query')).map(([v, q]) => `${v} IN (SELECT q.a FROM (${q}) AS q)`) },
  ),
  query: fc
    .tuple(
      fc.array(
        fc.tuple(
          fc.oneof({ maxDepth: 2 }, { weight: 4, arbitrary: fc.constant('') }, { weight: 1, arbitrary: tie('query') }),
          fc.constantFrom('JOIN', 'LEFT JOIN', 'LEFT JOIN LATERAL'),
          fc.oneof(fc.array(tie('condition'), { minLength: 1, maxLength: 4 }), fc.subarray(COLUMNS, { minLength: 1 })),
        ),
        { minLength: 1, maxLength: 9 },
      ),
      fc.array(tie('condition'), { maxLength: 4 }),
      fc.array(value, { minLength: 4, maxLength: 4 }),
      fc.constantFrom('', 'DISTINCT '),
    )
    .map(([items, conditions, list, distinct]) => {
      const from = items.map(([inner, join, on], i) => {
        const item = inner === '' ? `shop.t AS t${i}(a, b, c, d)` : `(${inner}) AS t${i}`;
        if (i === 0) return item;
        const how = COLUMNS.includes(on[0] as string) ? `USING (${on.join(', ')})` : `ON ${on.join(' AND ')}`;
        return `${inner === '' ? join.replace(' LATERAL', '') : join} ${item} ${how}`;
      });
      const where = conditions.length === 0 ? '' : ` WHERE ${conditions.join(' AND ')}`;
      return `SELECT ${distinct}${list.map((v, i) => `${v} AS ${COLUMNS[i]}`).join(', ')} FROM ${from.join(' ')}${where}`;
    }),
}));

describe('few joins', () => {
  it('cost few nodes when they are counted', () => {
    let accepted = 0;
    fc.assert(
      fc.property(query, (sql) => {
        const stmt = parsed(sql);
        if (!hasFewJoins(stmt)) return;
        const [counted, uncounted] = [nodesOf(stmt, false), nodesOf(stmt, true)];
        if (counted > uncounted) accepted++;
        expect(counted - uncounted).toBeLessThanOrEqual(FEW);
      }),
      generated(SIZES.queries, SIZES.queries),
    );
    expect(accepted).toBeGreaterThan(0);
  });

  it.each([
    'SELECT t.a FROM shop.t AS t JOIN shop.u AS u USING (a) JOIN shop.v AS v ON v.b = u.b WHERE EXISTS (SELECT FROM shop.w AS w WHERE w.c = v.c)',
    'WITH RECURSIVE w(a, n) AS (SELECT ARRAY[t.a], 1 FROM shop.t AS t UNION ALL SELECT w.a || t.b, n + 1 FROM w JOIN shop.t AS t ON t.a = w.n) SELECT w.n FROM w JOIN shop.u AS u ON u.n = w.n',
  ])('are those of %s', (sql) => {
    expect(hasFewJoins(parsed(sql))).toBe(true);
  });

  it.each([
    'SELECT t.a FROM shop.t AS t NATURAL JOIN shop.u AS u',
    'WITH w AS NOT MATERIALIZED (SELECT t.a FROM shop.t AS t) SELECT w.a FROM w',
    `SELECT t0.a FROM shop.t AS t0 ${Array.from({ length: 8 }, (_, i) => `JOIN shop.t AS t${i + 1} USING (a, b)`).join(' ')}`,
  ])('are not those of %s', (sql) => {
    expect(hasFewJoins(parsed(sql))).toBe(false);
  });
});
