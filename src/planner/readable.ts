/** Rights on rows, where a text names a concept or view that its writer sees (decisions 2: 403). */
import { forbidden, type SvcError } from '../errors.ts';
import type { Concept, Graph } from '../ontology/graph.ts';
import type { ViewDef } from '../ontology/model.ts';

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
