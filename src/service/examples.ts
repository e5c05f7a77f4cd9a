/**
 * Verified examples (docs/design/statements-and-versions.md#examples): questions, each with the query that answers it. Whether one is valid is decided by the
 * current model when it is asked for; an example whose query its reader could not run does not exist for that reader
 * (docs/design/rights-and-visibility.md#examples).
 */
import type { Caller } from '../auth/authenticate.ts';
import { can } from '../auth/grants.ts';
import { sha256 } from '../auth/tokens.ts';
import type { Budget } from '../budget.ts';
import { cacheOf } from '../cache.ts';
import { type ExampleRow, readExamples } from '../catalog/examples.ts';
import type { OntologyRow } from '../catalog/snapshot.ts';
import { badRequest, SvcError } from '../errors.ts';
import { productText } from '../language/expressions.ts';
import { printExample } from '../language/print-service.ts';
import type { Question, Source } from '../language/statements.ts';
import type { Graph } from '../ontology/graph.ts';
import { fold } from '../ontology/names.ts';
import { type NamedRelation, type PlanContext, planSelect } from '../planner/index.ts';
import { allowedFunctionsOf } from '../planner/own-functions.ts';
import { Definers } from './definers.ts';
import { loadGraph, quoted, requireOntology, upToDate } from './lookup.ts';
import { accessKey, accessOf, factsKey, factsOf } from './policies.ts';
import type { Runtime, ServiceRequest, Working } from './runtime.ts';
import { seenBy, seesAll, sightKey, toldTo } from './sight.ts';
import type { Spending } from './spending.ts';
import { SYSTEM_TABLES, systemColumns } from './system.ts';

/** The form in which questions are compared: without case, white space folded, without what ends a sentence. */
export const questionKey = (question: string): string =>
  fold(question.normalize('NFC'))
    .replace(/\s+/gu, ' ')
    .replace(/(?<![\s?!.\uff1f\uff01\u3002])[\s?!.\uff1f\uff01\u3002]+$/u, '')
    .trimStart();

/** Whether another text asks the same as this one, word for word. The key of a long text is made once. */
export function sameQuestionAs(asked: string): (other: string) => boolean {
  const key = questionKey(asked);
  return (other) => questionKey(other) === key;
}

/** 400 for the question of an example that there is not. */
export const unknownExample = ({ text, offset }: Question): SvcError =>
  badRequest('unknown_example', `there is no example of the question ${quoted(text)}`, { offset, hint: 'SHOW EXAMPLES lists them' });

/** The key by which the catalog tells examples of an ontology apart. */
export const exampleKey = (question: string): Promise<string> => sha256(questionKey(question));

/** An example that its reader may run. */
export interface Example {
  readonly question: string;
  /** In the product's names. */
  readonly query: string;
  readonly description: string | null;
  /** The concepts and views that the query names. */
  readonly relations: readonly NamedRelation[];
}

/** An example as SYS_EXAMPLES tells it; `error`: why it does not hold. */
export interface ToldExample extends Pick<ExampleRow, 'question' | 'description' | 'changedBy' | 'changedOn'> {
  readonly query: string;
  readonly error: string | null;
}

/** Which of the examples are wanted. */
export interface ExamplesWish {
  /** Those that may be of use, the best one first; they are judged in this order. */
  readonly rank?: <T extends { readonly question: string; readonly description: string | null }>(examples: readonly T[]) => readonly T[];
  /** At most so many. */
  readonly most?: number;
}

/**
 * The examples of an ontology that hold, and that the caller may run with the values as they are: a query that meets a mask was
 * verified on other values.
 * @throws SvcError 404 `unknown_ontology`; 503
 */
export async function examplesOf(
  request: ServiceRequest,
  ontology: string,
  { rank, most = Number.POSITIVE_INFINITY }: ExamplesWish = {},
): Promise<readonly Example[]> {
  const { runtime, spending } = request;
  const caller = await upToDate(request, ontology);
  const row = requireOntology(caller, ontology);
  const rows = await readExamples(runtime.db, row.id);
  if (rows.length === 0) return [];
  const judge = new Judge(request, caller, row, await loadGraph(runtime, row), row.version);
  const found: Example[] = [];
  for (const example of rank === undefined ? rows : rank(rows)) {
    if (found.length >= most || spending.examples.isExceeded) break;
    const { error, relations } = await judge.asReader(example).catch(unlessExceeded(spending));
    const { question, description, query } = example;
    if (error === null) found.push({ question, description, query: printed(runtime, query), relations });
  }
  return found;
}

/** For an example that was not judged: it is left out. @throws what else went wrong */
const unlessExceeded =
  ({ examples }: Spending) =>
  (error: unknown): Verdict => {
    if (!examples.isExceeded) throw error;
    return { error: 'not judged', relations: [] };
  };

/**
 * The examples that a caller is told of. Who has EDIT on the ontology and sees all of it: all of them. Who has EDIT and sees a part:
 * those that read nothing hidden, and its own. Others: those that they may run.
 * @param graph the model by which they are judged; `version`: where it is that of a version
 * @throws SvcError 503
 */
export async function toldExamples(request: Working, caller: Caller, row: OntologyRow, graph: Graph, version: string | null): Promise<readonly ToldExample[]> {
  const judge = new Judge(request, caller, row, graph.whole, version);
  const told: ToldExample[] = [];
  for (const example of await readExamples(request.runtime.db, row.id)) {
    const error = await judge.told(example);
    if (error === undefined) continue;
    const { question, description, query, changedBy, changedOn } = example;
    told.push({ question, description, query: printed(request.runtime, query), changedBy, changedOn, error });
  }
  return told;
}

/** Whether a caller is told of an example (`toldExamples`). @throws SvcError 503 */
export const seesExample = async (request: Working, caller: Caller, row: OntologyRow, graph: Graph, example: ExampleRow): Promise<boolean> =>
  (await new Judge(request, caller, row, graph.whole, null).told(example)) !== undefined;

/**
 * Whether a query can be an example: one SELECT on the ontology that plans for who writes it, over what its writer may query.
 * @throws SvcError 400 as planning does, `outside_scope` for a system table; 403 without QUERY on what it reads, or where a view's definer has lost its rights; 503
 */
export async function checkExample(request: Working, caller: Caller, row: OntologyRow, graph: Graph, query: Source): Promise<void> {
  await new Judge(request, caller, row, graph.whole, null).asWriter(query);
}

/** Scripts that make those examples again that hold and that the caller is told of. @throws SvcError 503 */
export async function printExamples(request: Working, caller: Caller, row: OntologyRow, graph: Graph, version: string | null): Promise<readonly string[]> {
  const told = await toldExamples(request, caller, row, graph, version);
  return told.filter((e) => e.error === null).map(printExample);
}

const printed = (runtime: Runtime, query: string): string => productText(runtime.parser, query, 'select', runtime.config.product);

interface Verdict {
  /** null: it holds. */
  readonly error: string | null;
  readonly relations: readonly NamedRelation[];
}

const verdicts = cacheOf<Verdict>('example');

/** Judges examples of an ontology for one caller, by one model. */
class Judge {
  readonly #runtime: Runtime;
  readonly #budget: Budget;
  readonly #caller: Caller;
  readonly #row: OntologyRow;
  readonly #whole: Graph;
  readonly #version: string | null;
  readonly #definers: Definers;
  readonly #edits: boolean;
  readonly #seesAll: boolean;
  #readerKey: Promise<string> | undefined;
  #editorKey: Promise<string> | undefined;

  /** `version`: which one `whole` is; null: it is none, so that nothing is remembered. */
  constructor({ runtime, spending }: Working, caller: Caller, row: OntologyRow, whole: Graph, version: string | null) {
    this.#runtime = runtime;
    this.#budget = spending.examples;
    this.#caller = caller;
    this.#row = row;
    this.#whole = whole;
    this.#version = version;
    this.#definers = new Definers(runtime, caller);
    this.#edits = can(caller.principal, 'edit', ['ontology', row.name]);
    this.#seesAll = seesAll(caller.principal, row.name);
  }

  /** Why an example does not hold, null where it does; undefined: the caller is not told of it. */
  async told(example: ExampleRow): Promise<string | null | undefined> {
    const { error } = this.#edits ? await this.#asEditor(example) : await this.asReader(example);
    if (error === null || (this.#edits && (this.#seesAll || example.changedById === this.#caller.principal.userId))) return error;
    return undefined;
  }

  /** For who runs it. */
  asReader({ query }: ExampleRow): Promise<Verdict> {
    const { principal } = this.#caller;
    const access = accessOf(this.#caller, this.#row);
    this.#readerKey ??= sha256(JSON.stringify([sightKey(principal, this.#row.name), accessKey(access), factsKey(factsOf(principal))]));
    return this.#judged(this.#readerKey, query, async () => {
      const graph = seenBy(principal, this.#whole, this.#runtime.parser);
      const plan = await this.#plan({ graph, access }, { text: query, offset: 0 });
      if (plan.isMasked) throw badRequest('masked', 'the query reads a property whose values are masked for you');
      return plan;
    });
  }

  /** For who edits the ontology: over all that the caller sees, read by whoever may. */
  #asEditor({ query }: ExampleRow): Promise<Verdict> {
    this.#editorKey ??= sha256(JSON.stringify(['edit', this.#seesAll ? '' : sightKey(this.#caller.principal, this.#row.name)]));
    return this.#judged(this.#editorKey, query, () =>
      this.#plan({ graph: toldTo(this.#caller.principal, this.#whole, this.#runtime.parser) }, { text: query, offset: 0 }),
    );
  }

  /** Plans a query for who writes it, values unmasked. @throws as `checkExample` */
  asWriter(query: Source): Promise<ReturnType<typeof planSelect>> {
    return this.#plan({ graph: seenBy(this.#caller.principal, this.#whole, this.#runtime.parser) }, query);
  }

  async #judged(who: Promise<string>, query: string, plan: () => Promise<ReturnType<typeof planSelect>>): Promise<Verdict> {
    const { permissions } = this.#caller.snapshot;
    const key = this.#version && [this.#row.id, this.#version, this.#row.allowedFunctions ?? '', permissions, await who, query].join('\u0000');
    const known = key === null ? undefined : verdicts.get(key);
    if (known !== undefined) return known;
    const verdict = await plan().then(
      ({ relations }): Verdict => ({ error: null, relations }),
      (error: unknown): Verdict => {
        if (error instanceof SvcError && error.status < 500 && !this.#budget.isExceeded) return { error: error.message, relations: [] };
        throw error;
      },
    );
    if (key !== null) verdicts.set(key, verdict, 300 + 2 * (verdict.error?.length ?? 0) + 100 * verdict.relations.length);
    return verdict;
  }

  #plan(seen: Pick<PlanContext, 'graph' | 'access'>, query: Source): Promise<ReturnType<typeof planSelect>> {
    const { parser, config } = this.#runtime;
    const context: PlanContext = {
      ...seen,
      parser,
      product: config.product,
      activeDatasource: this.#row.active ?? 'main',
      systemTables: SYSTEM_TABLES,
      systemTable: (name) => {
        const columns = systemColumns(name);
        return columns && { name, columns, json: '[]' };
      },
      caller: factsOf(this.#caller.principal),
      definer: (view) => this.#definers.sees(view, this.#whole),
      allowedFunctions: allowedFunctionsOf(this.#row),
    };
    return this.#definers.whileNeeded(() => {
      const plan = this.#budget.run(() => planSelect(context, query), query.offset);
      const system = plan.relations.find((r) => r.kind === 'system');
      if (system === undefined) return plan;
      throw badRequest('outside_scope', `\`${system.name}\` is a system table: an example reads concepts and views`, { offset: query.offset });
    });
  }
}
