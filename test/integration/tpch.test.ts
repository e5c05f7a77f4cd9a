/** The 22 queries of TPC-H over the ontology, some also in other words, and hand-written: the same rows in the same order. */
import { readFile } from 'node:fs/promises';
import type { PGlite } from '@electric-sql/pglite';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { intoPglite, loadTpch } from '../../bench/tpch/load.ts';
import { QUERIES, texts } from '../../bench/tpch/queries/index.ts';
import { sizesOf } from '../../bench/tpch/sizes.ts';
import { graphOf } from '../../examples/world/graph.ts';
import { loadNodeParser } from '../../src/cli/node-parser.ts';
import { planSelect } from '../../src/planner/index.ts';
import { memoryDatabase } from '../support/databases/memory.ts';

const SCALE = 0.005;

const parser = await loadNodeParser();
const graph = graphOf(await readFile(new URL('../../bench/tpch/model.kg', import.meta.url), 'utf8'), 'tpch', parser);
const context = { graph, parser, product: 'svc', activeDatasource: 'main', keepsNames: () => true };

let db: PGlite;
type Row = Record<string, unknown>;
const query = async (sql: string, params: unknown[] = []) => (await db.query<Row>(sql, params as never[])).rows;

/** Rows as PostgreSQL writes them, so that numbers are compared with every digit. */
async function ask(sql: string): Promise<string[]> {
  const plan = planSelect(context, { text: sql, offset: 0 });
  return (await query(`SELECT row::text FROM (${plan.sql}) q(row)`, [...plan.params])).map((r) => r.row as string);
}
const byHand = async (sql: string): Promise<string[]> => (await query(`SELECT row_to_json(q)::text AS row FROM (${sql}) q`)).map((r) => r.row as string);

beforeAll(async () => {
  db = await memoryDatabase();
  await loadTpch(intoPglite(db), SCALE);
});
afterAll(() => db.close());

describe('the tables of TPC-H', () => {
  it('have the sizes of the scale factor', async () => {
    const count = async (table: string) => (await query(`SELECT count(*)::int AS n FROM tpch.${table}`))[0]?.n as number;
    const { suppliers, parts, customers, orders } = sizesOf(SCALE);
    expect(await Promise.all(['region', 'nation', 'supplier', 'part', 'partsupp', 'customer', 'orders'].map(count))).toEqual([
      5,
      25,
      suppliers,
      parts,
      4 * parts,
      customers,
      orders,
    ]);
    expect((await count('lineitem')) / orders).toBeCloseTo(4, 0);
  });

  it('have no dangling reference', async () => {
    const dangling = `SELECT count(*)::int AS n FROM tpch.lineitem
      LEFT JOIN tpch.orders ON o_orderkey = l_orderkey LEFT JOIN tpch.customer ON c_custkey = o_custkey
      LEFT JOIN tpch.partsupp ON ps_partkey = l_partkey AND ps_suppkey = l_suppkey LEFT JOIN tpch.part ON p_partkey = ps_partkey
      LEFT JOIN tpch.supplier ON s_suppkey = ps_suppkey LEFT JOIN tpch.nation ON n_nationkey = s_nationkey LEFT JOIN tpch.region ON r_regionkey = n_regionkey
      WHERE c_custkey IS NULL OR p_partkey IS NULL OR r_regionkey IS NULL`;
    expect(await query(dangling)).toEqual([{ n: 0 }]);
  });
});

describe('the queries of TPC-H', () => {
  it.each(QUERIES)('$number: $title', async (q) => {
    const { sql, alternatives, byHand: hand } = texts(q, SCALE, true);
    const rows = await ask(sql);
    expect(rows.length).toBeGreaterThan(0);
    // Two empty results would also be equal.
    expect(rows.some((row) => Object.values(JSON.parse(row)).every((v) => v !== null))).toBe(true);
    const expected = await byHand(hand);
    expect(rows).toEqual(expected);
    for (const other of alternatives) expect(await ask(other)).toEqual(expected);
  });
});
