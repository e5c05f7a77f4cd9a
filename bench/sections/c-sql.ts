/** (c) The SQL that the planner writes against hand-written SQL, inside PostgreSQL. */
import pg from 'pg';
import { READER } from '../../dev/roles.ts';
import { graphOf, worldModel } from '../../examples/world/graph.ts';
import { QUESTIONS } from '../../examples/world/questions.ts';
import { loadNodeParser } from '../../src/cli/node-parser.ts';
import { type PlanContext, planSelect } from '../../src/planner/index.ts';
import { interleaved, median, ms, ratio } from '../lib/measure.ts';
import { type WorldDatabase, worldDatabase } from '../lib/stack.ts';
import { aim, note, table } from '../lib/table.ts';
import { enforcedIn, withColumnTypes } from '../tpch/typed.ts';

const ROUNDS = 15;

/** Planning and execution time of one statement, in milliseconds, as PostgreSQL reports them; the execution time goes to `executions`. */
async function explained({ local }: WorldDatabase, sql: string, params: readonly unknown[], executions: number[] = []): Promise<number> {
  const [row] = await local.exec(`EXPLAIN (ANALYZE, TIMING OFF, FORMAT JSON) ${sql}`, [...params], READER);
  const [plan] = Object.values(row ?? {})[0] as [{ 'Planning Time': number; 'Execution Time': number }];
  executions.push(plan['Execution Time']);
  return plan['Planning Time'] + plan['Execution Time'];
}

/** The sample's model as a service has it: with the types of its columns, counted rows, and enforced foreign keys. */
async function contextOf({ local }: WorldDatabase): Promise<PlanContext> {
  const parser = await loadNodeParser();
  let graph = graphOf(await worldModel(), 'world', parser);
  let enforces: PlanContext['enforces'];
  const direct = local.direct?.(READER);
  if (direct !== undefined) {
    const client = new pg.Client({ connectionString: direct });
    await client.connect();
    try {
      graph = await withColumnTypes(graph, (sql) => client.query(sql));
      enforces = await enforcedIn((sql) => client.query(sql));
    } finally {
      await client.end();
    }
  }
  const counts = new Map<string, number>();
  for (const { name, sql } of graph.model.mappings) counts.set(name, Number((await local.exec(`SELECT count(*) AS n FROM (${sql}) m`))[0]?.n));
  return { graph, parser, product: 'svc', activeDatasource: 'main', rowsOf: ({ name }) => counts.get(name), enforces, keepsNames: () => true };
}

export async function run(): Promise<void> {
  const database = await worldDatabase();
  const context = await contextOf(database);
  const rows: string[][] = [];
  const ratios: Record<'json' | 'plain' | 'execution', number[]> = { json: [], plain: [], execution: [] };
  for (const [i, { question, sql, byHand }] of QUESTIONS.entries()) {
    const name = `${i + 1}. ${question.length > 50 ? `${question.slice(0, 47)}...` : question}`;
    const plan = planSelect(context, { text: sql, offset: 0 });
    const executed = { generated: [] as number[], json: [] as number[] };
    const variants = {
      generated: () => explained(database, plan.sql, plan.params, executed.generated),
      json: () => explained(database, `SELECT to_json(q) FROM (${byHand}) q`, [], executed.json),
      plain: () => explained(database, byHand, []),
    };
    const took = await interleaved(variants, ROUNDS, 3);
    const [generated, json, plain] = [median(took.generated), median(took.json), median(took.plain)];
    ratios.json.push(generated / json);
    ratios.plain.push(generated / plain);
    const execution = median(executed.generated) / median(executed.json);
    ratios.execution.push(execution);
    rows.push([name, ms(plain), ms(json), ms(generated), ratio(generated, json), ratio(generated, plain), ratio(execution, 1)]);
  }
  rows.push([
    'median of the ratios',
    '',
    '',
    '',
    `x${median(ratios.json).toFixed(2)}`,
    `x${median(ratios.plain).toFixed(2)}`,
    `x${median(ratios.execution).toFixed(2)}`,
  ]);
  aim('c', 'generated against hand-written SQL, median of ten questions', median(ratios.json), { most: 1.1 });
  aim('c', 'the same, question 7', ratios.json[6] as number, { most: 1.5 });
  table(
    `(c) generated SQL against hand-written SQL, planning and execution, ${database.name}`,
    ['question of docs/world.md', 'by hand', 'by hand, rows as JSON', 'generated', 'to JSON', 'to plain', 'to JSON, execution only'],
    rows,
  );
  note('Generated SQL returns each row as JSON; so does the second column, with to_json around the hand-written statement.');
}
