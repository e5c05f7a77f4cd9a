/** Asks datasources for the columns and types of new mappings and views. */
import type { Caller } from '../../auth/authenticate.ts';
import { STEPS_OF_A_CHARACTER, STEPS_OF_A_QUESTION, stepsOfPiece, visited } from '../../budget.ts';
import type { Datasource } from '../../engine/datasource.ts';
import { httpEngine } from '../../engine/engine.ts';
import { DatasourceFault } from '../../engine/errors.ts';
import { isDistributed, knownRole } from '../../engine/settings.ts';
import { badRequest, SvcError } from '../../errors.ts';
import { quoteBack } from '../../language/quote.ts';
import type { Places } from '../../ontology/apply.ts';
import type { Graph } from '../../ontology/graph.ts';
import { type ColumnDef, isRaw, type MappingDef, type Model, type ViewDef } from '../../ontology/model.ts';
import { fold } from '../../ontology/names.ts';
import { Resolver } from '../../planner/bind/resolve.ts';
import { viewItem } from '../../planner/bind/views.ts';
import { STEPS_OF_A_PLAN } from '../../planner/check.ts';
import { equivalentOfCall } from '../../planner/guard/dialects.ts';
import { lowerBlocks } from '../../planner/lower/finish.ts';
import { settleBarriers } from '../../planner/plan/barriers.ts';
import type { PlanContext } from '../../planner/plan/context.ts';
import { PlanState } from '../../planner/plan-state.ts';
import { printSelect } from '../../planner/print/index.ts';
import type { Verified } from '../../planner/verify/index.ts';
import { datasourceOf } from '../caller/datasource.ts';
import { renewLater } from '../read/placements.ts';
import { verified, verifiedText } from '../read/verified.ts';
import type { Runtime } from '../runtime.ts';

/** The maximum number of concurrent requests. */
const CONCURRENCY = 6;

/** A question to a datasource about the columns of a mapping or view. */
export interface Question {
  readonly kind: 'mapping' | 'view';
  /** Names of columns that are known from the text, because PostgreSQL truncates names to 63 bytes; empty if they are unknown. */
  readonly columns: readonly string[];
  /** True for a view over concepts: only the types are needed, and an error is ignored. */
  readonly lenient: boolean;
  readonly name: string;
  readonly datasource: Datasource;
  /** The text as the planner has checked and printed it, never the modeller's original text. */
  readonly text: Verified;
  readonly offset: number;
}

/**
 * Prepares the questions about the mappings and views that a script has written. It plans each of them, so the budget of the script should count it.
 * @throws SvcError 400 if a text cannot be planned
 */
export function questionsAbout(
  runtime: Runtime,
  caller: Caller,
  { graph, allowedFunctions, activeDatasource }: { readonly graph: Graph; readonly allowedFunctions: ReadonlySet<string>; readonly activeDatasource: string },
  places: Places,
): readonly Question[] {
  const { model } = graph;
  const context = { graph, parser: runtime.parser, product: runtime.config.product, activeDatasource, allowedFunctions };
  const questions: Question[] = [];
  const ask = (kind: Question['kind'], def: MappingDef | ViewDef, datasource: string): void => {
    const offset = places.get(kind, def.name);
    if (offset === undefined) return;
    try {
      const work = new PlanState(context);
      const sql = work.texts.tableSql(def);
      visited(STEPS_OF_A_QUESTION + stepsOfPiece(sql.length));
      questions.push({
        kind,
        name: def.name,
        datasource: datasourceOf(runtime, caller, datasource),
        text: verifiedText(runtime, sql, work.declared, { kind, name: def.name }),
        offset,
        columns: def.columns.map((c) => c.name),
        lenient: false,
      });
    } catch (error) {
      throw error instanceof SvcError && error.offset === undefined ? error.at(offset) : error;
    }
  };
  for (const mapping of model.mappings) ask('mapping', mapping, mapping.datasource);
  for (const view of model.views) {
    if (view.datasource !== null && isRaw(view)) ask('view', view, view.datasource);
    else if (places.get('view', view.name) !== undefined) {
      const question = viewQuestion(runtime, caller, context, view, places.get('view', view.name) as number, activeDatasource);
      if (question !== undefined) questions.push(question);
    }
  }
  return questions;
}

/**
 * Returns the model with the columns of the mappings and views that the script has written.
 * @param questions from `questionsAbout`
 * @throws SvcError 400 `mapping_failed`, `view_failed` with PostgreSQL's message if the datasource refuses the SELECT;
 *   502 if it cannot be reached
 */
export async function described(runtime: Runtime, model: Model, questions: readonly Question[]): Promise<Model> {
  if (questions.length === 0) return model;
  const answers = await answersOf(runtime, questions);
  for (const [q, columns] of await collations(runtime, questions, answers)) answers.set(keyOf(q), columns);
  const withColumns = <T extends { readonly name: string; readonly columns: readonly ColumnDef[] }>(kind: string, def: T): T => {
    const columns = answers.get(`${kind} ${fold(def.name)}`);
    return columns === undefined ? def : { ...def, columns };
  };
  return { ...model, mappings: model.mappings.map((m) => withColumns('mapping', m)), views: model.views.map((v) => withColumns('view', v)) };
}

/** Asks for the columns of all questions, in requests of many SELECTs. The SELECTs of a request that fails are asked for one by one, so that an error belongs to one of them. */
async function answersOf(runtime: Runtime, questions: readonly Question[]): Promise<Map<string, readonly ColumnDef[]>> {
  const answers = new Map<string, readonly ColumnDef[]>();
  const alone = new Set<Question>();
  const unreached = new Set<string>();
  await concurrently(batchesOf(questions), async (of) => {
    const all = of.length === 1 ? undefined : await columnsOfAll(runtime, of);
    for (const [i, question] of of.entries()) {
      if (all === undefined) alone.add(question);
      else answers.set(keyOf(question), named(question, all[i] as readonly ColumnDef[]));
    }
  });
  await concurrently(
    questions.filter((q) => alone.has(q)),
    async (question) => void answers.set(keyOf(question), await columnsOf(runtime, question, unreached)),
  );
  return answers;
}

/** Runs tasks, some of them at the same time. After an error none begins. */
async function concurrently<T>(tasks: readonly T[], run: (task: T) => Promise<void>): Promise<void> {
  const queue = [...tasks];
  const work = async (): Promise<void> => {
    for (let task = queue.shift(); task !== undefined; task = queue.shift()) {
      try {
        await run(task);
      } catch (error) {
        queue.length = 0;
        throw error;
      }
    }
  };
  await Promise.all(Array.from({ length: Math.min(CONCURRENCY, queue.length) }, work));
}

const keyOf = ({ kind, name }: Pick<Question, 'kind' | 'name'>): string => `${kind} ${fold(name)}`;

/** The maximum number of SELECTs in one request. */
const SELECTS_PER_REQUEST = 50;
/** The maximum length of the SELECTs of one request together, unless there is only one. */
const CHARACTERS_PER_REQUEST = 512 * 1024;

/** Groups questions to the same datasource into requests. The first question to a datasource with unknown settings has a request of its own, which reads them too. */
function batchesOf(questions: readonly Question[]): Question[][] {
  const batches: Question[][] = [];
  for (const of of Map.groupBy(questions, (q) => q.datasource.name).values()) {
    let open: Question[] = [];
    let characters = 0;
    let most = knownRole((of[0] as Question).datasource) === undefined ? 1 : SELECTS_PER_REQUEST;
    for (const question of of) {
      characters += question.text.sql.length;
      if (open.length === 0 || open.length === most || characters > CHARACTERS_PER_REQUEST) {
        if (batches.at(-1) === open) most = SELECTS_PER_REQUEST;
        open = [];
        characters = question.text.sql.length;
        batches.push(open);
      }
      open.push(question);
    }
  }
  return batches;
}

/** Adds collations to the columns of mappings and of views over tables. Views over concepts have the collations of the mappings that they read. */
async function collations(runtime: Runtime, questions: readonly Question[], answers: ReadonlyMap<string, readonly ColumnDef[]>) {
  const found: (readonly [Question, readonly ColumnDef[]])[] = [];
  for (const part of batchesOf(questions.filter((q) => !q.lenient))) {
    const described = part.map((q) => ({ text: q.text, columns: answers.get(keyOf(q)) ?? [] }));
    const columns = await httpEngine.collated((part[0] as Question).datasource, described, { timeoutMs: runtime.config.statementTimeoutMs });
    found.push(...part.map((q, n) => [q, columns[n] as readonly ColumnDef[]] as const));
  }
  return found;
}

/** Reads after the request where the datasources of new mappings on Citus have their tables: they may be new as well. */
export function renewPlacements(runtime: Runtime, { snapshot }: Caller, questions: readonly Question[]): void {
  for (const datasource of new Set(questions.map((q) => q.datasource))) if (isDistributed(datasource)) renewLater(runtime, snapshot, datasource, true);
}

/** Prepares the question about a view over concepts; undefined if no single datasource can answer it. */
function viewQuestion(runtime: Runtime, caller: Caller, context: PlanContext, view: ViewDef, offset: number, activeDatasource: string): Question | undefined {
  visited(STEPS_OF_A_PLAN);
  const work = new PlanState(context);
  const { query, columns } = view.cube ? cubeItem(work, view) : viewItem(work, view);
  lowerBlocks(work);
  const [datasource = activeDatasource, another] = work.texts.datasources;
  if (another !== undefined || work.params.length > 0) return undefined;
  const sql = 'SelectStmt' in query ? printSelect(settleBarriers(query.SelectStmt, work, false)) : undefined;
  if (sql === undefined) return undefined;
  visited(STEPS_OF_A_QUESTION + STEPS_OF_A_CHARACTER * sql.length);
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

/** Plans reading a whole cube: all columns, grouped by the dimensions. */
function cubeItem(state: PlanState, cube: ViewDef): ReturnType<typeof viewItem> {
  const parsed = state.texts.parse(`SELECT * FROM vsvc.${quoteBack(cube.name)}`, undefined);
  const columns = new Resolver(state, parsed).query(parsed.stmt, undefined);
  return { query: { SelectStmt: parsed.stmt }, columns };
}

/** The columns of several SELECTs over one datasource, in one request; undefined if it fails. */
async function columnsOfAll(runtime: Runtime, questions: readonly Question[]): Promise<(readonly ColumnDef[])[] | undefined> {
  const { datasource } = questions[0] as Question;
  const texts = questions.map((q) => q.text);
  try {
    return await httpEngine.describeAll(datasource, texts, { timeoutMs: runtime.config.statementTimeoutMs, ownText: true });
  } catch (error) {
    if (!(error instanceof SvcError)) throw error;
    return undefined;
  }
}

/** The columns of an answer, with the names that are known from the text. */
const named = ({ columns }: Question, found: readonly ColumnDef[]): readonly ColumnDef[] =>
  columns.length === found.length ? columns.map((name, i) => ({ ...found[i], name })) : found;

/** The columns of one SELECT. @param unreached names of datasources that did not answer: views over concepts are not asked for there */
async function columnsOf(runtime: Runtime, question: Question, unreached: Set<string>): Promise<readonly ColumnDef[]> {
  const { columns, datasource, lenient } = question;
  const unknown = columns.map((name) => ({ name }));
  if (lenient && unreached.has(datasource.name)) return unknown;
  try {
    return named(question, await httpEngine.describe(datasource, question.text, { timeoutMs: runtime.config.statementTimeoutMs, ownText: true }));
  } catch (error) {
    if (lenient) {
      if (!isOfStatement(error)) unreached.add(datasource.name);
      return unknown;
    }
    if (!(error instanceof SvcError) || error.status !== 400) throw error;
    // PostgreSQL's position refers to the printed text, so use the offset of the definition
    throw badRequest(`${question.kind}_failed`, `the ${question.kind} \`${question.name}\` is not valid on its datasource: ${error.message}`, {
      offset: question.offset,
      hint: equivalentOfCall(error.message, question.text.sql) ?? error.hint,
      cause: error,
    });
  }
}

/** True for an error that PostgreSQL reported, and false if the datasource could not be asked. */
const isOfStatement = (error: unknown): boolean => error instanceof SvcError && error.cause instanceof DatasourceFault && error.cause.sqlstate !== undefined;
