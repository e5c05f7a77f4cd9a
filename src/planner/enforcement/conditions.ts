/** Compares what conditions of logic concepts and views read, planned over the whole model, with what their writer may read. */
import { SvcError } from '../../errors.ts';
import { quoteDouble } from '../../language/quote.ts';
import { compile } from '../../ontology/compile.ts';
import type { Graph } from '../../ontology/graph.ts';
import type { MappingDef } from '../../ontology/model.ts';
import { sameName } from '../../ontology/names.ts';
import { Resolver } from '../bind/resolve.ts';
import { lowerBlocks } from '../lower/finish.ts';
import { settleBarriers } from '../plan/barriers.ts';
import type { Defined } from '../plan/context.ts';
import { PlanState } from '../plan-state.ts';
import { printSelect } from '../print/index.ts';
import type { ModelContext } from './model-state.ts';
import { reachedConditions, reachedViews } from './reached.ts';

/** The SQL of a concept's condition, with its names resolved in `graph`; '' without a condition, null if it cannot be planned. */
function conditionText(context: ModelContext, graph: Graph, whole: Graph, concept: string): string | null {
  const logic = whole.concept(concept)?.def?.logic;
  if (logic == null) return '';
  const state = new PlanState({ ...context, graph, whole, keepsMappings: true });
  try {
    const parsed = state.texts.parse(`SELECT 1 AS one FROM ${logic.schema}.${quoteDouble(logic.concept)} WHERE (${logic.condition}\n)`, undefined);
    new Resolver(state, parsed, graph).query(state.forCaller(parsed.stmt, parsed.facts), undefined);
    lowerBlocks(state);
    return printSelect(settleBarriers(parsed.stmt, state, false));
  } catch (error) {
    if (error instanceof SvcError) return null;
    throw error;
  }
}

/** The SQL of a view or cube, its names looked up in `graph`; null: it cannot be planned. */
function viewText(context: ModelContext, graph: Graph, whole: Graph, view: string): string | null {
  const definer = (defined: Defined): Graph => ('sql' in defined && sameName(defined.name, view) ? graph : whole);
  const state = new PlanState({ ...context, graph: whole, whole, definer, keepsMappings: true });
  try {
    const parsed = state.texts.parse(`SELECT * FROM vsvc.${quoteDouble(view)}`, undefined);
    new Resolver(state, parsed, whole).query(parsed.stmt, undefined);
    lowerBlocks(state);
    return printSelect(settleBarriers(parsed.stmt, state, false));
  } catch (error) {
    if (error instanceof SvcError) return null;
    throw error;
  }
}

/**
 * True if a condition means the same over the part of the model that its writer may use as over the whole model. In the whole model, `thing` may have more
 * rows, and a whole row of a concept may have properties of other concepts.
 * @param usable the part of the model
 */
export function meansTheSame(context: ModelContext, usable: Graph, whole: Graph, concept: string): boolean {
  const text = conditionText(context, usable, whole, concept);
  return text !== null && text === conditionText(context, whole, whole, concept);
}

/** The same of a view or cube. */
export function showsTheSame(context: ModelContext, usable: Graph, whole: Graph, view: string): boolean {
  const text = viewText(context, usable, whole, view);
  return text !== null && text === viewText(context, whole, whole, view);
}

/**
 * The concepts of both versions whose conditions read something else after a change of the model: other relationships, properties or concepts, or rows of other
 * mappings. New mappings, and changed SQL of existing ones, do not count.
 */
export function changedConditions(context: ModelContext, before: Graph, after: Graph): readonly string[] {
  const concepts = reachedConditions(before, after);
  if (concepts.length === 0) return [];
  const now = withOldMappings(before, after);
  return concepts.filter((name) => conditionText(context, before, before, name) !== conditionText(context, now, now, name));
}

/** The existing views and cubes over concepts that read something else after a change of the model, in the same sense. */
export function changedViews(context: ModelContext, before: Graph, after: Graph): readonly string[] {
  const views = reachedViews(before, after);
  if (views.length === 0) return [];
  const now = withOldMappings(before, after);
  return views.filter((name) => viewText(context, before, before, name) !== viewText(context, now, now, name));
}

/** A version of a model with the mappings of the previous version, except those that map into missing concepts. */
function withOldMappings(before: Graph, after: Graph): Graph {
  const isThere = (concept: string | null | undefined): boolean => concept == null || after.concept(concept) !== undefined;
  const old = (m: MappingDef): readonly MappingDef[] => {
    const known = before.mapping(m.name);
    return known && [known.concept, known.link?.forward.concept, known.link?.back.concept].every(isThere) ? [known] : [];
  };
  return compile({ ...after.model, mappings: after.model.mappings.flatMap(old) }, after.ontology);
}
