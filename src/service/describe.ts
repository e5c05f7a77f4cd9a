/** Asking a datasource, once, which columns of which types a new mapping or raw view gives. */
import type { Caller } from '../auth/authenticate.ts';
import type { Datasource } from '../engine/datasource.ts';
import { httpEngine } from '../engine/engine.ts';
import { badRequest, SvcError } from '../errors.ts';
import { quoteBack } from '../language/quote.ts';
import type { Places } from '../ontology/apply.ts';
import type { Graph } from '../ontology/graph.ts';
import { type ColumnDef, isRaw, type MappingDef, type Model, type ViewDef } from '../ontology/model.ts';
import { fold } from '../ontology/names.ts';
import { printSelect } from '../planner/print.ts';
import { Resolver } from '../planner/resolve.ts';
import type { Verified } from '../planner/verify/index.ts';
import { viewItem } from '../planner/views.ts';
import { type PlanContext, Work } from '../planner/work.ts';
import { datasourceOf } from './datasource.ts';
import type { Runtime } from './runtime.ts';
import { verified, verifiedText } from './verified.ts';

/** How many SELECTs are asked about at the same time. */
const AT_ONCE = 6;

interface Question {
  readonly kind: 'mapping' | 'view';
  /** Names that the text tells, which PostgreSQL would cut at 63 bytes; empty: it does not tell them. */
  readonly columns: readonly string[];
  /** A view over concepts: only types are asked for, and no answer is no fault. */
  readonly lenient: boolean;
  readonly name: string;
  readonly datasource: Datasource;
  /** Checked by the planner and printed by it: what runs is never the modeller's own text. */
  readonly text: Verified;
  readonly offset: number;
}

/**
 * The model with the columns of those mappings and raw views that the script wrote.
 * @throws SvcError 400 `mapping_failed`, `view_failed` with PostgreSQL's message where the datasource refuses the SELECT;
 *   502 where it cannot be reached
 */
export async function described(
  runtime: Runtime,
  caller: Caller,
  graph: Graph,
  places: Places,
  allowedFunctions: ReadonlySet<string>,
  activeDatasource: string,
): Promise<Model> {
  const { model } = graph;
  const context = { graph, parser: runtime.parser, product: runtime.config.product, activeDatasource, allowedFunctions };
  const questions: Question[] = [];
  const ask = (
    kind: Question['kind'],
    def: { readonly name: string; readonly sql: string; readonly datasource: string; readonly columns: readonly ColumnDef[] },
  ): void => {
    const offset = places.get(kind, def.name);
    if (offset === undefined) return;
    try {
      const work = new Work(context);
      const sql = work.tableSql(def as MappingDef | ViewDef);
      questions.push({
        kind,
        name: def.name,
        datasource: datasourceOf(runtime, caller, def.datasource),
        text: verifiedText(runtime, sql, work.declared, { kind, name: def.name }),
        offset,
        columns: def.columns.map((c) => c.name),
        lenient: false,
      });
    } catch (error) {
      throw error instanceof SvcError && error.offset === undefined ? error.at(offset) : error;
    }
  };
  for (const mapping of model.mappings) ask('mapping', mapping);
  for (const view of model.views) {
    if (view.datasource !== null && isRaw(view)) ask('view', { ...view, datasource: view.datasource });
    else if (places.get('view', view.name) !== undefined) {
      const question = viewQuestion(runtime, caller, context, view, places.get('view', view.name) as number, activeDatasource);
      if (question !== undefined) questions.push(question);
    }
  }
  if (questions.length === 0) return model;
  const answers = new Map<string, readonly ColumnDef[]>();
  const queue = [...questions];
  const work = async (): Promise<void> => {
    for (let q = queue.shift(); q !== undefined; q = queue.shift()) answers.set(keyOf(q), await columnsOf(runtime, q));
  };
  await Promise.all(Array.from({ length: Math.min(AT_ONCE, questions.length) }, work));
  for (const [q, columns] of await collations(runtime, questions, answers)) answers.set(keyOf(q), columns);
  const told = <T extends { readonly name: string; readonly columns: readonly ColumnDef[] }>(kind: string, def: T): T => {
    const columns = answers.get(`${kind} ${fold(def.name)}`);
    return columns === undefined ? def : { ...def, columns };
  };
  return { ...model, mappings: model.mappings.map((m) => told('mapping', m)), views: model.views.map((v) => told('view', v)) };
}

const keyOf = ({ kind, name }: Pick<Question, 'kind' | 'name'>): string => `${kind} ${fold(name)}`;

/** How many SELECTs one request asks about for their collations. */
const COLLATIONS_AT_ONCE = 50;

/** The columns of mappings and raw views with their collations. Views over concepts have those of the mappings that they read. */
async function collations(runtime: Runtime, questions: readonly Question[], answers: ReadonlyMap<string, readonly ColumnDef[]>) {
  const found: (readonly [Question, readonly ColumnDef[]])[] = [];
  const byName = Map.groupBy(
    questions.filter((q) => !q.lenient),
    (q) => q.datasource.name,
  );
  for (const of of byName.values()) {
    for (let i = 0; i < of.length; i += COLLATIONS_AT_ONCE) {
      const part = of.slice(i, i + COLLATIONS_AT_ONCE);
      const described = part.map((q) => ({ text: q.text, columns: answers.get(keyOf(q)) ?? [] }));
      const columns = await httpEngine.collated((part[0] as Question).datasource, described, { timeoutMs: runtime.config.statementTimeoutMs });
      found.push(...part.map((q, n) => [q, columns[n] as readonly ColumnDef[]] as const));
    }
  }
  return found;
}

/** What a view over concepts asks its datasource. */
function viewQuestion(runtime: Runtime, caller: Caller, context: PlanContext, view: ViewDef, offset: number, activeDatasource: string): Question | undefined {
  const work = new Work(context);
  const { query, columns } = view.cube ? cubeItem(work, view) : viewItem(work, view);
  const [datasource = activeDatasource, another] = work.datasources;
  if (another !== undefined || work.params.length > 0) return undefined;
  const sql = 'SelectStmt' in query ? printSelect(query.SelectStmt) : undefined;
  if (sql === undefined) return undefined;
  return {
    kind: 'view',
    name: view.name,
    columns: columns.map((c) => c.key),
    lenient: true,
    datasource: datasourceOf(runtime, caller, datasource),
    text: verified(runtime, sql, work.declared),
    offset,
  };
}

/** A cube as it is read whole: all its columns, grouped by the dimensions. */
function cubeItem(work: Work, cube: ViewDef): ReturnType<typeof viewItem> {
  const parsed = work.parse(`SELECT * FROM vsvc.${quoteBack(cube.name)}`, undefined);
  const columns = new Resolver(work, parsed).query(parsed.stmt, undefined);
  return { query: { SelectStmt: parsed.stmt }, columns };
}

async function columnsOf(runtime: Runtime, question: Question): Promise<readonly ColumnDef[]> {
  const { columns } = question;
  try {
    const found = await httpEngine.describe(question.datasource, question.text, { timeoutMs: runtime.config.statementTimeoutMs, ownText: true });
    if (columns.length !== found.length) return found;
    return columns.map((name, i) => ({ ...found[i], name }));
  } catch (error) {
    if (question.lenient) return columns.map((name) => ({ name }));
    if (!(error instanceof SvcError) || error.status !== 400) throw error;
    // PostgreSQL's place is one in the printed text
    throw badRequest(`${question.kind}_failed`, `the ${question.kind} \`${question.name}\` does not hold on its datasource: ${error.message}`, {
      offset: question.offset,
      hint: error.hint,
      cause: error,
    });
  }
}
