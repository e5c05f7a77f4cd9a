/** (citus) The 22 queries of TPC-H on a Citus cluster: the SQL that the planner writes against hand-written SQL, in three layouts of the tables. */
import pg from 'pg';
import { loadNodeParser } from '../../src/cli/node-parser.ts';
import { PLACEMENTS, placementsIn } from '../../src/engine/placements.ts';
import { type FinishedRewrite, type Plan, planSelect } from '../../src/planner/index.ts';
import { decorrelate } from '../../src/planner/lower/decorrelate.ts';
import { targetFor } from '../../src/planner/lower/placed.ts';
import { interleaved, median, ms, timed } from '../lib/measure.ts';
import { aim, note, table } from '../lib/table.ts';
import { tpchContext } from '../tpch/database.ts';
import { distribute, isRefusal, LAYOUTS, type Layout } from '../tpch/layouts.ts';
import { intoPostgres, loadTpch } from '../tpch/load.ts';
import { QUERIES, type Query, texts } from '../tpch/queries/index.ts';

const SCALE = Number(process.env.CITUS_SCALE ?? 0.1);
/** True for data so small that the standard's values would find no rows. */
const IS_SMALL = SCALE < 0.02;
const ROUNDS = 11;

/** A statement of one of the ways to ask. `name`: that of a prepared statement. */
interface Sent {
  readonly text: string;
  readonly values: readonly unknown[];
  readonly name?: string;
}

/** The number of prepared statements. Their names are unique: pg remembers them. */
let prepared = 0;

type Measured = Readonly<Record<'hand' | 'json' | 'ours' | 'prepared', readonly number[]>>;

/** Replaces the schema `tpch` of the database of CITUS_URL. */
export async function run(): Promise<void> {
  if (process.env.CITUS_URL === undefined) throw new Error('CITUS_URL is not set: it names the coordinator of a Citus cluster (docs/scale-out.md#try-it)');
  const client = new pg.Client({ connectionString: process.env.CITUS_URL });
  await client.connect();
  try {
    await requireNoJit(client);
    for (const layout of LAYOUTS) await measure(client, layout);
    note(
      `Elapsed times of statements, at scale ${SCALE}. Each ratio is the median of the ratios of ${ROUNDS} runs in turn. JSON: to the hand-written SQL with rows as JSON. Prepared: the second and later runs of a prepared statement, to the same. The rows are equal.`,
    );
  } finally {
    await client.query('DROP SCHEMA IF EXISTS tpch CASCADE');
    await client.end();
  }
}

/** @throws Error if a node compiles expressions, which it must not do for the service either (docs/scale-out.md#settings-of-the-workers) */
async function requireNoJit(client: pg.Client): Promise<void> {
  const { rows } = await client.query("SELECT 1 FROM run_command_on_all_nodes('SHOW jit') WHERE result IS DISTINCT FROM 'off'");
  if (rows.length > 0) throw new Error('jit is on for the role of CITUS_URL on some nodes: ALTER ROLE ... SET jit = off');
}

async function measure(client: pg.Client, { name, columns }: Layout): Promise<void> {
  await client.query('DROP SCHEMA IF EXISTS tpch CASCADE');
  await loadTpch(intoPostgres(client), SCALE);
  await distribute(client, 'tpch', columns);
  await client.query('VACUUM ANALYZE');
  const target = targetFor(placementsIn((await client.query({ text: PLACEMENTS.sql, rowMode: 'array' })).rows));
  const context = { ...(await tpchContext(await loadNodeParser(), client)), target: () => target };
  const planOf = (sql: string, rewrite?: FinishedRewrite): Plan => planSelect({ ...context, ...(rewrite && { rewrite }) }, { text: sql, offset: 0 });
  const rows: string[][] = [];
  const ratios: Record<'hand' | 'json' | 'prepared', number[]> = { hand: [], json: [], prepared: [] };
  for (const query of QUERIES) {
    const [plan, ours] = await accepted(client, query, planOf);
    const found = await measured(client, plan, query, ours);
    const between = (a: keyof Measured, b: keyof Measured): number => median(found[a].map((t, i) => t / (found[b][i] as number)));
    const cells = [`${query.number}. ${query.title}`, found.hand.length === 0 ? 'refused' : ms(median(found.hand)), ms(median(found.ours))];
    if (found.hand.length === 0) {
      rows.push([...cells, '', '', '']);
      continue;
    }
    const each = { hand: between('ours', 'hand'), json: between('ours', 'json'), prepared: between('prepared', 'json') };
    for (const key of ['hand', 'json', 'prepared'] as const) ratios[key].push(each[key]);
    rows.push([...cells, ...Object.values(each).map((r) => `x${r.toFixed(2)}`)]);
  }
  const mean = (values: readonly number[]): number => Math.exp(values.reduce((sum, r) => sum + Math.log(r), 0) / values.length);
  const lines = [ratios.hand, ratios.json, ratios.prepared];
  rows.push(['geometric mean', '', '', ...lines.map((r) => `x${mean(r).toFixed(2)}`)]);
  rows.push(['worst', '', '', ...lines.map((r) => `x${Math.max(...r).toFixed(2)}`)]);
  aim('citus', `${name}, rows as JSON on both sides, geometric mean`, mean(ratios.json), { most: 1.1 });
  aim('citus', `${name}, rows as JSON on both sides, worst`, Math.max(...ratios.json), { most: 2 });
  table(`(citus) ${name}`, ['query', 'by hand', 'ontology', 'ratio', 'JSON', 'prepared'], rows);
}

/** The plan of a query that Citus accepts, as the service finds it, and its rows. @throws Error if Citus refuses all forms */
async function accepted(client: pg.Client, query: Query, planOf: (sql: string, rewrite?: FinishedRewrite) => Plan): Promise<[Plan, readonly string[]]> {
  const { sql } = texts(query, SCALE, IS_SMALL);
  let plan = planOf(sql);
  for (;;) {
    try {
      return [plan, await rowsOf(client, plan)];
    } catch (error) {
      const rewrite = plan.isRewritten ? plan.nextRewrite : decorrelate;
      if (rewrite === undefined || !isRefusal(error)) throw error;
      plan = planOf(sql, rewrite);
    }
  }
}

/** The times of the ways to ask. Those by hand are empty if Citus refuses the hand-written SQL. @throws Error if the rows differ */
async function measured(client: pg.Client, plan: Plan, query: Query, ours: readonly string[]): Promise<Measured> {
  const { byHand } = texts(query, SCALE, IS_SMALL);
  const json = `SELECT row_to_json(q) FROM (${byHand}) q`;
  const once = (sent: Sent) => () => timed(() => client.query({ ...sent, values: [...sent.values] }));
  const own = { text: plan.sql, values: plan.params };
  const ontology = { ours: once(own), prepared: once({ ...own, name: `q${++prepared}` }) };
  try {
    const theirs = await rowsByHand(client, byHand);
    if (JSON.stringify(theirs) !== JSON.stringify(ours)) throw new Error(`the rows of query ${query.number} differ`);
  } catch (error) {
    if (!isRefusal(error)) throw error;
    return { hand: [], json: [], ...(await interleaved(ontology, ROUNDS, 2)) };
  }
  return interleaved({ hand: once({ text: byHand, values: [] }), json: once({ text: json, values: [] }), ...ontology }, ROUNDS, 2);
}

/** The rows of a plan, which are JSON, with the texts of their values. */
async function rowsOf(client: pg.Client, { sql, params }: Plan): Promise<readonly string[]> {
  const { rows } = await client.query({ text: sql, values: [...params], rowMode: 'array', types: AS_TEXT });
  const digits = (_: string, value: unknown, { source }: { source?: string } = {}): unknown => (typeof value === 'number' ? source : value);
  return (rows as [string][]).map(([row]) => JSON.stringify(Object.entries(JSON.parse(row, digits) as object)));
}

/** The rows of a statement by hand, in the same form. */
async function rowsByHand(client: pg.Client, text: string): Promise<readonly string[]> {
  const { rows, fields } = await client.query({ text, rowMode: 'array', types: AS_TEXT });
  return (rows as (string | null)[][]).map((row) => JSON.stringify(row.map((value, i) => [fields[i]?.name, value])));
}

const AS_TEXT = { getTypeParser: () => (value: string) => value } as never;
