/** Rights on rows, if a text names a concept or view that its writer sees: 403 (docs/design/rights-and-visibility.md#seeing-and-reading). */
import { forbidden, SvcError } from '../errors.ts';
import { neutralSchema } from '../ontology/apply.ts';
import type { Concept, Graph } from '../ontology/graph.ts';
import type { ViewDef } from '../ontology/model.ts';
import { walk } from './tree.ts';
import type { Parsed, Work } from './work.ts';

const refused = (graph: Graph, kind: 'concept' | 'view', name: string): SvcError =>
  forbidden('forbidden', `This needs QUERY on ontology.${graph.ontology}.${kind}.${name}`, { hint: 'Ask an administrator for the right' });

/** @throws SvcError 403 where the concept is seen, but its rows may not be read */
export function requireReadable(concept: Concept): void {
  if (!concept.readable) throw refused(concept.graph, 'concept', concept.name);
}

/** The same of a view. @throws SvcError 403 */
export function requireReadableView(graph: Graph, view: ViewDef): void {
  if (!graph.reads(view)) throw refused(graph, 'view', view.name);
}

/**
 * Checks rights before anything else that may be wrong with a text (docs/design/rights-and-visibility.md#seeing-and-reading): the relations that it names with
 * their schema.
 * @throws SvcError 403 at the first that is seen and may not be read
 */
export function requireReadableText(work: Work, parsed: Parsed): void {
  const graph = work.seen;
  if (graph === work.graph) return;
  walk(parsed.stmt, (node) => {
    if (!('RangeVar' in node) || !node.RangeVar.schemaname) return undefined;
    const { schemaname, relname = '', location } = node.RangeVar;
    const name = parsed.standIns.get(relname) ?? relname;
    const schema = neutralSchema(schemaname, work.context.product);
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
