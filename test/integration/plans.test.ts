/**
 * Filters reach the tables (docs/design/sql-shapes.md#conditions-that-reach-the-tables): PostgreSQL's plan of the generated SQL reads, completely scans or
 * sorts no table that the plan of the hand-written query does not.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { withColumnTypes } from '../../bench/tpch/typed.ts';
import { graphOf } from '../../examples/world/graph.ts';
import { loadNodeParser } from '../../src/cli/node-parser.ts';
import { type PlanContext, planSelect } from '../../src/planner/index.ts';
import { CASES, type Case } from './plans/cases.ts';
import { answerOf, closePlans, type Facts, factsOf, openPlans, rowsOf } from './plans/database.ts';
import { MODEL, TABLES } from './plans/world.ts';

const parser = await loadNodeParser();
let context: PlanContext;

beforeAll(async () => {
  await openPlans(TABLES);
  context = {
    graph: await withColumnTypes(graphOf(MODEL, 'plans', parser), answerOf),
    parser,
    product: 'svc',
    activeDatasource: 'main',
    keepsNames: () => true,
  };
});
afterAll(closePlans);

const generated = (sql: string) => planSelect(context, { text: sql, offset: 0 });

/** Runs both, compares the rows, returns what their plans do. */
async function both({ sql, byHand }: Case): Promise<{ ours: Facts; hand: Facts }> {
  const plan = generated(sql);
  const asked = await rowsOf(`SELECT r::text FROM (${plan.sql}) q(r)`, plan.params);
  const wanted = await rowsOf(`SELECT row_to_json(q)::text AS r FROM (${byHand}) q`);
  expect(asked.length).toBeGreaterThan(0);
  if (/ORDER BY/.test(byHand)) expect(asked).toEqual(wanted);
  else expect(asked.map((r) => JSON.stringify(r)).sort()).toEqual(wanted.map((r) => JSON.stringify(r)).sort());
  return { ours: await factsOf(plan.sql, plan.params), hand: await factsOf(byHand) };
}

/** What the generated statement's plan does beyond that of the other one. */
async function excess(c: Case): Promise<Record<string, readonly string[]>> {
  const { ours, hand } = await both(c);
  const beyond = (of: (facts: Facts) => readonly string[]): string[] => of(ours).filter((x) => !of(hand).includes(x));
  const found = {
    tables: beyond((f) => f.tables),
    scanned: beyond((f) => f.scanned),
    sorts: !hand.sorts && ours.sorts ? ['a sort'] : [],
    crosses: !hand.crosses && ours.crosses ? ['a join'] : [],
  };
  return Object.fromEntries(Object.entries(found).filter(([, names]) => names.length > 0));
}

describe('plans', () => {
  for (const c of CASES) it(c.what, async () => expect(await excess(c)).toEqual({}));
});
