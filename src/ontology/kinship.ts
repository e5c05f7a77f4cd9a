import type { Graph } from './graph.ts';
import type { Kinship } from './links.ts';

/** Returns the function that measures how closely two concepts of a graph are related, by name. */
export const kinshipIn =
  (graph: Graph): Kinship =>
  (concept, end) => {
    const a = graph.concept(concept);
    const b = graph.concept(end);
    if (!a || !b) return undefined;
    if (a === b) return 0;
    if (a.isA(b)) return 1;
    return b.isA(a) ? 2 : undefined;
  };
