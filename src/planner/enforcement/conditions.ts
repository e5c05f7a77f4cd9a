/** Whether the condition of a logic concept reads what its writer may not: it is planned over the whole model, whoever wrote it. */
import { SvcError } from '../../errors.ts';
import { quoteDouble } from '../../language/quote.ts';
import { compile } from '../../ontology/compile.ts';
import type { Graph } from '../../ontology/graph.ts';
import type { MappingDef } from '../../ontology/model.ts';
import { printSelect } from '../print.ts';
import { Resolver } from '../resolve.ts';
import { Work } from '../work.ts';
import { reachedConditions } from './reached.ts';
import type { ModelContext } from './work.ts';

/** The SQL of a concept's condition, its names looked up in `graph`; '' without a condition, null: it cannot be planned. */
function conditionText(context: ModelContext, graph: Graph, whole: Graph, concept: string): string | null {
  const logic = whole.concept(concept)?.def?.logic;
  if (logic == null) return '';
  const work = new Work({ ...context, graph, whole });
  try {
    const parsed = work.parse(`SELECT 1 AS one FROM ${logic.schema}.${quoteDouble(logic.concept)} WHERE (${logic.condition}\n)`, undefined);
    new Resolver(work, parsed, graph).query(work.bindCaller(parsed.stmt), undefined);
    return printSelect(parsed.stmt);
  } catch (error) {
    if (error instanceof SvcError) return null;
    throw error;
  }
}

/**
 * Whether the condition means the same over the part of the model that its writer may use as over the whole: rows of `thing`, and whole rows of a
 * concept with properties of others, are more there.
 * @param usable the part, of which the condition holds
 */
export function meansTheSame(context: ModelContext, usable: Graph, whole: Graph, concept: string): boolean {
  const text = conditionText(context, usable, whole, concept);
  return text !== null && text === conditionText(context, whole, whole, concept);
}

/**
 * The concepts of both versions whose conditions a change of the model makes read something else: other relationships, properties or concepts, or rows of
 * other mappings. New mappings, and new SQL of known ones, do not count.
 */
export function changedConditions(context: ModelContext, before: Graph, after: Graph): readonly string[] {
  const concepts = reachedConditions(before, after);
  if (concepts.length === 0) return [];
  const now = withOldMappings(before, after);
  return concepts.filter((name) => conditionText(context, before, before, name) !== conditionText(context, now, now, name));
}

/** A version of a model with the mappings of the one before, as far as it has them and what they map into. */
function withOldMappings(before: Graph, after: Graph): Graph {
  const isThere = (concept: string | null | undefined): boolean => concept == null || after.concept(concept) !== undefined;
  const old = (m: MappingDef): readonly MappingDef[] => {
    const known = before.mapping(m.name);
    return known && [known.concept, known.link?.forward.concept, known.link?.back.concept].every(isThere) ? [known] : [];
  };
  return compile({ ...after.model, mappings: after.model.mappings.flatMap(old) }, after.ontology);
}
