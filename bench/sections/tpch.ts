/** (tpch) The 22 queries of TPC-H: the SQL that the planner writes against hand-written SQL, inside PostgreSQL. */
import { loadNodeParser } from '../../src/cli/node-parser.ts';
import { planSelect } from '../../src/planner/index.ts';
import { interleaved, median, ms } from '../lib/measure.ts';
import { aim, note, table } from '../lib/table.ts';
import { explained, rowsOf, startTpch, tpchContext } from '../tpch/database.ts';
import { QUERIES, texts } from '../tpch/queries/index.ts';

/** Milliseconds that the runs of one query may take together, approximately. */
const BUDGET = 6000;

export const run = (): Promise<void> => runAt(0.1);

/** Measures at a scale factor: 0.1 has 600,000 lines, 1 has 6 million. */
export async function runAt(scale: number): Promise<void> {
  const database = await startTpch(scale);
  try {
    const { client } = database;
    const context = await tpchContext(await loadNodeParser(), client);
    const rows: string[][] = [];
    const ratios: number[] = [];
    for (const query of QUERIES) {
      const { sql, byHand } = texts(query, scale);
      const plan = planSelect(context, { text: sql, offset: 0 });
      const hand = `SELECT row_to_json(q) FROM (${byHand}) q`;
      const [ours, theirs] = [await rowsOf(client, plan.sql, plan.params), await rowsOf(client, hand)];
      if (ours.length === 0 || ours.join('\n') !== theirs.join('\n')) throw new Error(`the rows of query ${query.number} differ`);
      const once = await explained(client, hand);
      const rounds = Math.min(41, Math.max(5, Math.round(BUDGET / (2 * once))));
      const took = await interleaved({ ours: () => explained(client, plan.sql, plan.params), hand: () => explained(client, hand) }, rounds, 1);
      // Ratios of runs that are close in time: other load of the machine in a round affects both.
      const ratio = median(took.ours.map((t, i) => t / (took.hand[i] as number)));
      ratios.push(ratio);
      rows.push([`${query.number}. ${query.title}`, String(ours.length), ms(median(took.hand)), ms(median(took.ours)), `x${ratio.toFixed(2)}`]);
    }
    const geometric = (values: readonly number[]): number => Math.exp(values.reduce((sum, r) => sum + Math.log(r), 0) / values.length);
    const mean = (values: readonly number[]): string => `x${geometric(values).toFixed(2)}`;
    const section = scale === 1 ? 'tpch-1' : 'tpch';
    aim(section, `22 queries at scale ${scale}, geometric mean`, geometric(ratios), { most: 1.05 });
    aim(section, `22 queries at scale ${scale}, worst`, Math.max(...ratios), { most: 1.3 });
    rows.push(['geometric mean', '', '', '', mean(ratios)]);
    rows.push(['geometric mean, ratios below x1 counted as x1', '', '', '', mean(ratios.map((r) => Math.max(1, r)))]);
    rows.push(['worst', '', '', '', `x${Math.max(...ratios).toFixed(2)}`]);
    table(`(tpch) 22 queries over the ontology against SQL by hand, scale ${scale}, ${database.name}`, ['query', 'rows', 'by hand', 'ontology', 'ratio'], rows);
    note('Planning and execution, rows as JSON on both sides; the rows are equal. The ratio is the median of the ratios of each round.');
  } finally {
    await database.stop();
  }
}
