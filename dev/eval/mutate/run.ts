/** What the checks catch of wrong statements, and what runs: each gold SQL of a set, changed in each of the applicable ways. */
import { graphOf } from '../../../examples/world/graph.ts';
import { Failure } from '../../../src/cli/failure.ts';
import type { ServiceClient } from '../../../src/cli/service-client.ts';
import { parseStatement } from '../../../src/language/classify.ts';
import type { SqlParser } from '../../../src/language/parser.ts';
import { quoteBack } from '../../../src/language/quote.ts';
import { splitScript } from '../../../src/language/split.ts';
import type { Graph } from '../../../src/ontology/graph.ts';
import { compareRows, type Row } from '../compare.ts';
import type { ReplayModel } from '../replay.ts';
import type { EvalService, Said } from '../service.ts';
import type { Question } from '../set.ts';
import { analyse } from './analysis.ts';
import { OPERATORS } from './operators.ts';

/**
 * - `planner`: refused before anything is sent to the datasource; `datasource`: refused by its EXPLAIN; `run`: it fails on a value.
 * - `same`: it returns the rows of the gold SQL; `again`: other rows, but the service asks the model again (if the service is not available:
 *   it returns no rows, or one of NULLs); `other`: other rows, and nobody notices.
 */
export type Fate = 'planner' | 'datasource' | 'run' | 'same' | 'again' | 'other';

export interface Mutant {
  readonly question: string;
  readonly operator: string;
  readonly sql: string;
  readonly fate: Fate;
  /** The error, or the difference. */
  readonly why: string;
}

/** The checks of a statement. */
export interface Executor {
  /** The planner and the datasource's EXPLAIN. `code`: of the error; undefined: it is valid. */
  check(sql: string, caller: string | undefined): Promise<{ readonly code: string; readonly message: string } | undefined>;
  run(sql: string, caller: string | undefined): Promise<Said<{ readonly rows: readonly Row[]; readonly truncated: boolean }>>;
  /** Whether the service asks the model again for this answer to the question; undefined: unknown. @throws Failure if the model fails */
  readonly asksAgain?: ((question: Question, sql: string) => Promise<boolean>) | undefined;
}

/** The checks of a running service. `model`: the model that the service uses. */
export const judgeOf = (
  service: EvalService,
  restOf: (caller: string | undefined) => Promise<ServiceClient>,
  ontology: string,
  model: ReplayModel | undefined,
): Executor => ({
  check: async (sql, caller) => (await (await restOf(caller)).query(`EXPLAIN ${sql}`, ontology)).fault,
  run: (sql, caller) => service.run(sql, caller),
  asksAgain:
    model &&
    (async ({ question, concept, caller }, sql) => {
      model.play(new Map([[question, { sql, concept }]]));
      const said = await service.ask(question, caller, 1000);
      if (!said.ok) throw new Failure(`the chain does not accept a valid statement: ${said.error}\n  ${sql}`);
      return said.value.tries > 1;
    }),
});

/** The ontology's model, as the service shows it to callers who may read its definitions. @throws Failure */
export async function graphOfService(service: ServiceClient, ontology: string, parser: SqlParser): Promise<Graph> {
  const { fault, rows } = await service.query(`SHOW CREATE ONTOLOGY ${quoteBack(ontology)}`, ontology);
  const script = rows[0]?.script;
  if (fault || typeof script !== 'string') throw new Failure(`the model of ${ontology} cannot be read: ${fault?.message ?? 'no script'}`);
  const kept = splitScript(script).filter((source) => !/policy|datasource|alter|tag|example/.test(parseStatement(source).kind));
  return graphOf(kept.map((s) => s.text).join(';\n'), ontology, parser);
}

/** One mutant of each applicable way, chosen by a hash, so that each run makes the same ones. */
export function mutantsOf(question: Question, graph: Graph, parser: SqlParser): readonly Pick<Mutant, 'question' | 'operator' | 'sql'>[] {
  const gold = question.gold as string;
  const analysis = analyse(gold, graph, parser);
  return OPERATORS.flatMap(({ name, of }) => {
    const all = of(analysis, graph).filter((sql) => sql !== gold);
    const sql = all[hash(question.id + name) % Math.max(1, all.length)];
    return sql === undefined ? [] : [{ question: question.id, operator: name, sql }];
  });
}

/** FNV-1a. */
function hash(text: string): number {
  let h = 0x811c9dc5;
  for (let i = 0; i < text.length; i++) h = Math.imul(h ^ text.charCodeAt(i), 0x01000193) >>> 0;
  return h;
}

/** Changes the gold SQL of a question in all ways, and checks the results. @throws Failure if the gold SQL itself is invalid */
export async function mutate(
  question: Question,
  graph: Graph,
  parser: SqlParser,
  executor: Executor,
  report: (m: Mutant) => void = () => undefined,
): Promise<readonly Mutant[]> {
  const { gold, caller } = question;
  if (gold === null) return [];
  const right = await executor.run(gold, caller);
  if (!right.ok) throw new Failure(`the gold SQL of ${question.id} fails: ${right.error}`);
  const made: Mutant[] = [];
  for (const broken of mutantsOf(question, graph, parser)) {
    const mutant = { ...broken, ...(await fateOf(question, broken.sql, right.value.rows, executor)) };
    made.push(mutant);
    report(mutant);
  }
  return made;
}

async function fateOf(question: Question, sql: string, gold: readonly Row[], executor: Executor): Promise<Pick<Mutant, 'fate' | 'why'>> {
  const { caller, ordered } = question;
  const fault = await executor.check(sql, caller);
  if (fault !== undefined) return { fate: ofDatasource(fault.code) ? 'datasource' : 'planner', why: `${fault.code}: ${fault.message}` };
  const ran = await executor.run(sql, caller);
  if (!ran.ok) return { fate: 'run', why: ran.error };
  const { rows } = ran.value;
  const { same, why } = compareRows(gold, rows, { ordered });
  if (same && !ran.value.truncated) return { fate: 'same', why: '' };
  const again = executor.asksAgain === undefined ? isEmpty(rows) && !isEmpty(gold) : await executor.asksAgain(question, sql);
  return { fate: again ? 'again' : 'other', why };
}

/** As the service does (src/llm/questions.ts): no rows, or one without a value. */
const isEmpty = (rows: readonly Row[]): boolean => rows.length === 0 || (rows.length === 1 && Object.values(rows[0] ?? {}).every((v) => v === null));

/** PostgreSQL's condition names (src/engine/sqlstates.ts) that EXPLAIN returns. */
const OF_DATASOURCE =
  /^(undefined_|invalid_|datatype_mismatch|grouping_error|cannot_coerce|ambiguous_function|wrong_object_type|indeterminate_|datetime_field|numeric_value|division_by_zero|windowing_error|collation_mismatch|cardinality_violation|data_exception|datasource_failed)/;
const ofDatasource = (code: string): boolean => OF_DATASOURCE.test(code);

const FATES: readonly Fate[] = ['planner', 'datasource', 'run', 'same', 'again', 'other'];

/** The table of a run, as lines of Markdown. `asked`: with the service. */
export function tableOf(mutants: readonly Mutant[], asked: boolean): readonly string[] {
  const line = (name: string, of: readonly Mutant[]): string =>
    `| ${[name, of.length, ...FATES.map((fate) => of.filter((m) => m.fate === fate).length)].join(' | ')} |`;
  return [
    `| The statement has | Mutants | Refused by the planner | by EXPLAIN | when run | Same rows | ${asked ? 'Asked again' : 'No rows'} | Other rows |`,
    '|---|---:|---:|---:|---:|---:|---:|---:|',
    ...OPERATORS.map(({ name }) => ({ name, of: mutants.filter((m) => m.operator === name) }))
      .filter(({ of }) => of.length > 0)
      .map(({ name, of }) => line(name, of)),
    line('all', mutants),
  ];
}
