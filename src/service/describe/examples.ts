/**
 * Verified examples (docs/design/statements-and-versions.md#examples): questions with queries that answer them. Each use checks whether an example is valid for
 * the current model. A caller who could not run the query does not see the example (docs/design/rights-and-visibility.md#examples).
 */
import type { Caller } from '../../auth/authenticate.ts';
import { can } from '../../auth/grants.ts';
import { sha256 } from '../../auth/tokens.ts';
import type { Budget } from '../../budget.ts';
import { cacheOf } from '../../cache.ts';
import { type ExampleRow, readExamples } from '../../catalog/examples.ts';
import type { OntologyRow } from '../../catalog/snapshot.ts';
import { badRequest, quoted, SvcError } from '../../errors.ts';
import { productText } from '../../language/expressions.ts';
import { printExample } from '../../language/print-service.ts';
import type { Question, Source } from '../../language/statements.ts';
import { normalized } from '../../normalize.ts';
import type { Graph } from '../../ontology/graph.ts';
import { fold } from '../../ontology/names.ts';
import { type NamedRelation, type PlanContext, planSelect } from '../../planner/index.ts';
import { allowedFunctionsOf } from '../../planner/read/own-functions.ts';
import { Definers } from '../caller/definers.ts';
import { loadGraph, requireOntology, upToDate } from '../caller/lookup.ts';
import { accessKey, accessOf, factsKey, factsOf } from '../caller/policies.ts';
import { definitionsSeenBy, seenBy, seesAll, sightKey } from '../caller/sight.ts';
import type { Runtime, ServiceRequest, Working } from '../runtime.ts';
import type { Spending } from '../spending.ts';
import { SYSTEM_TABLES, systemColumns } from './system.ts';

/** Normalizes a question for comparison: folds case and whitespace, and removes punctuation at the end. */
export const questionKey = (question: string): string =>
  fold(normalized(question, 'NFC'))
    .replace(/\s+/gu, ' ')
    .replace(/(?<![\s?!.\uff1f\uff01\u3002])[\s?!.\uff1f\uff01\u3002]+$/u, '')
    .trimStart();

/** Returns a function that compares questions with this one by `questionKey`. The key of this question is computed once. */
export function sameQuestionAs(question: string): (other: string) => boolean {
  const key = questionKey(question);
  return (other) => questionKey(other) === key;
}

/** 400 for the question of an unknown example. */
export const unknownExample = ({ text, offset }: Question): SvcError =>
  badRequest('unknown_example', `there is no example of the question ${quoted(text)}`, { offset, hint: 'SHOW EXAMPLES lists them' });

/** An example that the caller may run. */
export interface Example {
  readonly question: string;
  /** The SQL, with the product's names. */
  readonly query: string;
  readonly description: string | null;
  /** The concepts and views in the query. */
  readonly relations: readonly NamedRelation[];
}

/** An example as in SYS_EXAMPLES. `error` is the reason why it is invalid; null if it is valid. */
export interface VisibleExample extends Pick<ExampleRow, 'question' | 'description' | 'changedBy' | 'changedOn'> {
  readonly query: string;
  readonly error: string | null;
}

/** Selects examples. */
export interface ExamplesWish {
  /** Returns the relevant examples, best first. They are checked in this order. */
  readonly rank?: <T extends { readonly question: string; readonly description: string | null }>(examples: readonly T[]) => readonly T[];
  /** The maximum number of examples. */
  readonly most?: number;
}

/**
 * Returns the valid examples of an ontology that the caller may run and that read no masked values. A query over masked values
 * was verified with other values.
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
  const checker = new ExampleChecker(request, caller, row, await loadGraph(runtime, row), row.version);
  const found: Example[] = [];
  for (const example of rank === undefined ? rows : rank(rows)) {
    if (found.length >= most || spending.examples.isExceeded) break;
    const { error, relations } = await checker.asReader(example).catch(unlessExceeded(spending));
    const { question, description, query } = example;
    if (error === null) found.push({ question, description, query: printed(runtime, query), relations });
  }
  return found;
}

/** Handles an example that was not checked because the budget is exceeded: it is omitted. @throws all other errors */
const unlessExceeded =
  ({ examples }: Spending) =>
  (error: unknown): CheckResult => {
    if (!examples.isExceeded) throw error;
    return { error: 'not checked', relations: [] };
  };

/**
 * Returns the examples that a caller sees. A caller with EDIT on the ontology who sees all of it gets all examples. A caller with
 * EDIT who sees a part gets those that read nothing hidden, and its own. Other callers get those that they may run.
 * @param graph the model to check the examples against
 * @param version the version of `graph`; null: a draft
 * @throws SvcError 503
 */
export async function visibleExamples(
  request: Working,
  caller: Caller,
  row: OntologyRow,
  graph: Graph,
  version: string | null,
): Promise<readonly VisibleExample[]> {
  const checker = new ExampleChecker(request, caller, row, graph.whole, version);
  const visible: VisibleExample[] = [];
  for (const example of await readExamples(request.runtime.db, row.id)) {
    const error = await checker.errorFor(example);
    if (error === undefined) continue;
    const { question, description, query, changedBy, changedOn } = example;
    visible.push({ question, description, query: printed(request.runtime, query), changedBy, changedOn, error });
  }
  return visible;
}

/** True if a caller sees an example (`visibleExamples`). A caller with EDIT who sees all of the ontology needs no plan for it. @throws SvcError 503 */
export async function seesExample(request: Working, caller: Caller, row: OntologyRow, graph: Graph, example: ExampleRow): Promise<boolean> {
  const checker = new ExampleChecker(request, caller, row, graph.whole, null);
  return checker.seesEach || (await checker.errorFor(example)) !== undefined;
}

/**
 * Checks that a query can be an example: one SELECT on the ontology that can be planned with the rights of its writer.
 * @throws SvcError 400 for an invalid query, `outside_scope` for a system table; 403 without QUERY on what it reads, or if a view's definer has lost its rights; 503
 */
export async function checkExample(request: Working, caller: Caller, row: OntologyRow, graph: Graph, query: Source): Promise<void> {
  await new ExampleChecker(request, caller, row, graph.whole, null).asWriter(query);
}

/** Prints scripts that create the valid examples that the caller sees. @throws SvcError 503 */
export async function printExamples(request: Working, caller: Caller, row: OntologyRow, graph: Graph, version: string | null): Promise<readonly string[]> {
  const visible = await visibleExamples(request, caller, row, graph, version);
  return visible.filter((e) => e.error === null).map(printExample);
}

const printed = (runtime: Runtime, query: string): string => productText(runtime.parser, query, 'select', runtime.config.product);

interface CheckResult {
  /** Null if the example is valid. */
  readonly error: string | null;
  readonly relations: readonly NamedRelation[];
}

const results = cacheOf<CheckResult>('example');

/** Checks examples of an ontology for one caller and one model. */
class ExampleChecker {
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

  /** @param version the version of `whole`; null for a draft, whose results are not cached */
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

  /** Whether the caller sees every example, also the invalid ones. */
  get seesEach(): boolean {
    return this.#edits && this.#seesAll;
  }

  /** Returns why an example is invalid; null if it is valid, undefined if the caller does not see it. */
  async errorFor(example: ExampleRow): Promise<string | null | undefined> {
    const { error } = this.#edits ? await this.#asEditor(example) : await this.asReader(example);
    if (error === null || (this.#edits && (this.#seesAll || example.changedById === this.#caller.principal.userId))) return error;
    return undefined;
  }

  /** Checks an example for a caller who runs it. */
  asReader({ query }: ExampleRow): Promise<CheckResult> {
    const { principal } = this.#caller;
    const access = accessOf(this.#caller, this.#row);
    this.#readerKey ??= sha256(JSON.stringify([sightKey(principal, this.#row.name), accessKey(access), factsKey(factsOf(principal))]));
    return this.#cached(this.#readerKey, query, async () => {
      const graph = seenBy(principal, this.#whole, this.#runtime.parser);
      const plan = await this.#plan({ graph, access }, { text: query, offset: 0 });
      if (plan.isMasked) throw badRequest('masked', 'the query reads a property whose values are masked for you');
      return plan;
    });
  }

  /** Checks an example for an editor of the ontology: over everything that the editor sees, even without the right to query it. */
  #asEditor({ query }: ExampleRow): Promise<CheckResult> {
    this.#editorKey ??= sha256(JSON.stringify(['edit', this.#seesAll ? '' : sightKey(this.#caller.principal, this.#row.name)]));
    return this.#cached(this.#editorKey, query, () =>
      this.#plan({ graph: definitionsSeenBy(this.#caller.principal, this.#whole, this.#runtime.parser) }, { text: query, offset: 0 }),
    );
  }

  /** Plans a query for its writer, without masks. @throws as `checkExample` */
  asWriter(query: Source): Promise<ReturnType<typeof planSelect>> {
    return this.#plan({ graph: seenBy(this.#caller.principal, this.#whole, this.#runtime.parser) }, query);
  }

  async #cached(callerKey: Promise<string>, query: string, plan: () => Promise<ReturnType<typeof planSelect>>): Promise<CheckResult> {
    const { permissions } = this.#caller.snapshot;
    const key = this.#version && [this.#row.id, this.#version, this.#row.allowedFunctions ?? '', permissions, await callerKey, query].join('\u0000');
    const known = key === null ? undefined : results.get(key);
    if (known !== undefined) return known;
    const result = await plan().then(
      ({ relations }): CheckResult => ({ error: null, relations }),
      (error: unknown): CheckResult => {
        if (error instanceof SvcError && error.status < 500 && !this.#budget.isExceeded) return { error: error.message, relations: [] };
        throw error;
      },
    );
    if (key !== null) results.set(key, result, 300 + 2 * (result.error?.length ?? 0) + 100 * result.relations.length);
    return result;
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
        return columns && { name, columns, json: '[]', longestRow: 0 };
      },
      caller: factsOf(this.#caller.principal),
      definer: (view) => this.#definers.sees(view, this.#whole),
      allowedFunctions: allowedFunctionsOf(this.#row),
    };
    return this.#definers.whileNeeded(() => {
      const plan = this.#budget.run(() => planSelect(context, query), query.offset);
      const system = plan.relations.find((r) => r.kind === 'system');
      if (system === undefined) return plan;
      throw badRequest('outside_scope', `\`${system.name}\` is a system table, but an example may read only concepts and views`, { offset: query.offset });
    });
  }
}
