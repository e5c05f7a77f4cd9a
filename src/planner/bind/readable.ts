/** Checks the right to read the rows of visible concepts and views that a text names (docs/design/rights-and-visibility.md#seeing-and-reading). */
import { forbidden, SvcError } from '../../errors.ts';
import { neutralSchema } from '../../ontology/apply/context.ts';
import type { Concept, Graph } from '../../ontology/graph.ts';
import type { ViewDef } from '../../ontology/model.ts';
import { walk } from '../plan/tree.ts';
import type { PlanState } from '../plan-state.ts';
import type { Parsed } from '../read/texts.ts';

const refused = (graph: Graph, kind: 'concept' | 'view', name: string): SvcError =>
  forbidden('forbidden', `This needs QUERY on ontology.${graph.ontology}.${kind}.${name}`, { hint: 'Ask an administrator for the right' });

/** Requires the right to read the rows of a concept. @throws SvcError 403 `forbidden` */
export function requireReadable(concept: Concept): void {
  if (!concept.readable) throw refused(concept.graph, 'concept', concept.name);
}

/** Requires the right to read a view. @throws SvcError 403 `forbidden` */
export function requireReadableView(graph: Graph, view: ViewDef): void {
  if (!graph.reads(view)) throw refused(graph, 'view', view.name);
}

/**
 * Checks the right to read the relations that a text names with their schema, before all other checks of the text
 * (docs/design/rights-and-visibility.md#seeing-and-reading).
 * @throws SvcError 403 `forbidden` for the first visible relation whose rows may not be read
 */
export function requireReadableText(state: PlanState, parsed: Parsed): void {
  const graph = state.seen;
  if (graph === state.graph) return;
  walk(parsed.stmt, (node) => {
    if (!('RangeVar' in node) || !node.RangeVar.schemaname) return undefined;
    const { schemaname, relname = '', location } = node.RangeVar;
    const name = parsed.standIns.get(relname) ?? relname;
    const schema = neutralSchema(schemaname, state.context.product);
    const concept = schema === null || schema === 'vsvc' ? undefined : graph.concept(name);
    const view = schema === 'vsvc' ? graph.view(name) : undefined;
    try {
      if (concept) requireReadable(concept);
      if (view) requireReadableView(graph, view);
    } catch (error) {
      throw error instanceof SvcError ? error.at(parsed.offsetOf(location)) : error;
    }
    return undefined;
  });
}
