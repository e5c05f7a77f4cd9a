/** Whether the condition of a logic concept reads what its writer may not: it is planned over the whole model, whoever wrote it. */
import { SvcError } from '../../errors.ts';
import { quoteDouble } from '../../language/quote.ts';
import type { Graph } from '../../ontology/graph.ts';
import { printSelect } from '../print.ts';
import { Resolver } from '../resolve.ts';
import { Work } from '../work.ts';
import type { ModelContext } from './work.ts';

/**
 * Whether the condition means the same over the part of the model that its writer may use as over the whole: rows of `thing`, and whole rows of a
 * concept with properties of others, are more there.
 * @param usable the part, of which the condition holds
 */
export function meansTheSame(context: ModelContext, usable: Graph, whole: Graph, concept: string): boolean {
  const logic = whole.concept(concept)?.def?.logic;
  if (logic == null) return true;
  const textOf = (graph: Graph): string => {
    const work = new Work({ ...context, graph, whole });
    const parsed = work.parse(`SELECT 1 AS one FROM ${logic.schema}.${quoteDouble(logic.concept)} WHERE (${logic.condition}\n)`, undefined);
    new Resolver(work, parsed, graph).query(work.bindCaller(parsed.stmt), undefined);
    return printSelect(parsed.stmt);
  };
  try {
    return textOf(usable) === textOf(whole);
  } catch (error) {
    if (error instanceof SvcError) return false;
    throw error;
  }
}
