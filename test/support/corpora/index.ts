/**
 * The statements of all corpora of the tests with their plans, for independent checks of the SQL. Each corpus has the DDL of the tables
 * that its statements read.
 */

import { SvcError } from '../../../src/errors.ts';
import type { SqlParser } from '../../../src/language/parser.ts';
import type { Graph } from '../../../src/ontology/graph.ts';
import { type Plan, type PlanContext, type PlanOptions, planSelect } from '../../../src/planner/index.ts';
import type { Declared } from '../../../src/planner/verify/index.ts';
import { declaredOf } from '../declared.ts';

/** A statement that the planner accepts. */
export interface Planned {
  readonly corpus: string;
  /** The caller's text. */
  readonly text: string;
  readonly plan: Plan;
  readonly declared: Declared;
  readonly context: PlanContext;
}

export interface Corpus {
  readonly name: string;
  /** Statements that create the tables. */
  readonly tables: readonly string[];
  /** @param every plans one of that many questions */
  readonly planned: (every?: number) => Iterable<Planned>;
}

/** A text to plan, and the options. */
export interface Question {
  readonly text: string;
  readonly context: PlanContext;
  readonly options?: PlanOptions;
}

/** Options of the outermost stage other than plain rows. */
const NESTED: PlanOptions = { nested: true, limit: 3, offset: 1 };

/** Plans one of `every` questions; refused ones are omitted. If rows can be nested, the nested form is planned too. */
export function* plansOf(corpus: string, questions: Iterable<Question>, every = 1): Generator<Planned> {
  let turn = 0;
  for (const { text, context, options } of questions) {
    if (turn++ % every !== 0) continue;
    const plan = planned(context, text, options);
    if (!plan) continue;
    const declared = (p: Plan): Declared => declaredOf(wholeOf(context), context.parser, p.params.length, context.allowedFunctions);
    yield { corpus, text, plan, declared: declared(plan), context };
    const nested = plan.shape.nests ? planned(context, text, { ...options, ...NESTED }) : undefined;
    if (nested) yield { corpus, text, plan: nested, declared: declared(nested), context };
  }
}

const wholeOf = (context: PlanContext): Graph => context.whole ?? context.graph.whole;

function planned(context: PlanContext, text: string, options?: PlanOptions): Plan | undefined {
  try {
    return planSelect(context, { text, offset: 0 }, options);
  } catch (error) {
    if (error instanceof SvcError) return undefined;
    throw error;
  }
}

export const contextOf = (graph: Graph, parser: SqlParser, more: Partial<PlanContext> = {}): PlanContext => ({
  graph,
  parser,
  product: 'svc',
  activeDatasource: 'main',
  ...more,
});

/** Each text in each context. */
export function* each(contexts: readonly PlanContext[], texts: Iterable<string>): Generator<Question> {
  for (const text of texts) for (const context of contexts) yield { text, context };
}
