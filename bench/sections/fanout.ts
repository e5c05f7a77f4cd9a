/** (fanout) Revenue by nation with numbers of customers and of items: aggregates of two levels against hand-written pre-aggregation, on a million lines. */
import { loadNodeParser } from '../../src/cli/node-parser.ts';
import { planSelect } from '../../src/planner/index.ts';
import { interleaved, median, ms, ratio } from '../lib/measure.ts';
import { aim, note, table } from '../lib/table.ts';
import { explained, rowsOf, startTpch, tpchContext } from '../tpch/database.ts';

/** A sixth of TPC-H: 25,000 customers, 250,000 orders, a million lines. */
const SCALE = 1 / 6;
const ROUNDS = 9;

interface Question {
  readonly name: string;
  readonly sql: string;
  readonly byHand: string;
  /** One block of plain joins, as other tools write it. */
  readonly plain: string;
}

/** If only some customers are selected, orders of the others are filtered out before they are aggregated. */
const handBy = (where: string): string => `SELECT n_name AS nation, COUNT(*) AS customers, COALESCE(SUM(items), 0)::bigint AS items, SUM(revenue) AS revenue
FROM tpch.customer JOIN tpch.nation ON n_nationkey = c_nationkey
LEFT JOIN (SELECT o_custkey, COUNT(*) AS items, SUM(l_extendedprice * (1 - l_discount)) AS revenue
           FROM ${where ? 'tpch.customer JOIN tpch.orders ON o_custkey = c_custkey' : 'tpch.orders'} JOIN tpch.lineitem ON l_orderkey = o_orderkey
           ${where} GROUP BY o_custkey) o ON o_custkey = c_custkey
${where} GROUP BY n_name ORDER BY n_name`;

const plainBy = (where: string): string => `SELECT n_name AS nation, COUNT(c_custkey) AS customers, COUNT(l_linenumber) AS items,
  SUM(l_extendedprice * (1 - l_discount)) AS revenue
FROM tpch.customer JOIN tpch.nation ON n_nationkey = c_nationkey
LEFT JOIN tpch.orders ON o_custkey = c_custkey LEFT JOIN tpch.lineitem ON l_orderkey = o_orderkey
${where} GROUP BY n_name ORDER BY n_name`;

const ontologyBy = (where: string): string => `SELECT "lives_in[nation].name" AS nation, COUNT(customer_key) AS customers,
  COUNT("placed[order].has_line[lineitem].line_number") AS items, SUM("placed[order].has_line[lineitem].net_price") AS revenue
FROM dsvc.customer ${where} GROUP BY nation ORDER BY nation`;

const QUESTIONS: readonly Question[] = [
  { name: 'all customers', sql: ontologyBy(''), byHand: handBy(''), plain: plainBy('') },
  {
    name: 'all customers, by measures',
    sql: `SELECT "lives_in[nation].name" AS nation, SUM("measure.customer_count") AS customers,
  SUM("measure.placed[order].has_line[lineitem].line_count") AS items, SUM("measure.placed[order].has_line[lineitem].revenue") AS revenue
FROM dsvc.customer GROUP BY nation ORDER BY nation`,
    byHand: handBy(''),
    plain: plainBy(''),
  },
  {
    name: 'customers of one segment',
    sql: ontologyBy("WHERE market_segment = 'BUILDING'"),
    byHand: handBy("WHERE c_mktsegment = 'BUILDING'"),
    plain: plainBy("WHERE c_mktsegment = 'BUILDING'"),
  },
  {
    name: 'fifty customers',
    sql: ontologyBy('WHERE customer_key BETWEEN 1000 AND 1049'),
    byHand: handBy('WHERE c_custkey BETWEEN 1000 AND 1049'),
    plain: plainBy('WHERE c_custkey BETWEEN 1000 AND 1049'),
  },
];

export async function run(): Promise<void> {
  const database = await startTpch(SCALE);
  try {
    const { client } = database;
    const context = await tpchContext(await loadNodeParser(), client);
    for (const memory of ['4MB', '64MB']) {
      await client.query(`SET work_mem = '${memory}'`);
      const rows: string[][] = [];
      for (const { name, sql, byHand, plain } of QUESTIONS) {
        const plan = planSelect(context, { text: sql, offset: 0 });
        const [hand, wrong] = [byHand, plain].map((text) => `SELECT row_to_json(q) FROM (${text}) q`) as [string, string];
        if ((await rowsOf(client, plan.sql, plan.params)).join('\n') !== (await rowsOf(client, hand)).join('\n')) throw new Error(`the rows differ: ${name}`);
        const took = await interleaved(
          { ours: () => explained(client, plan.sql, plan.params), hand: () => explained(client, hand), wrong: () => explained(client, wrong) },
          ROUNDS,
          1,
        );
        const figures = { ours: median(took.ours), hand: median(took.hand), wrong: median(took.wrong) };
        aim('fanout', `${name}, work_mem ${memory}, against pre-aggregation by hand`, figures.ours / figures.hand, { most: 1.2 });
        rows.push([name, ms(figures.hand), ms(figures.ours), ms(figures.wrong), ratio(figures.ours, figures.hand), ratio(figures.ours, figures.wrong)]);
      }
      table(
        `(fanout) revenue, customers and items by nation, 1,000,000 lines, work_mem ${memory}, ${database.name}`,
        ['query over', 'by hand', 'ontology', 'wrong plain join', 'to hand', 'to plain join'],
        rows,
      );
    }
    note('By hand: orders and lines are aggregated by customer before the join. The plain join returns wrong numbers of customers: each counts once per line.');
  } finally {
    await database.stop();
  }
}
