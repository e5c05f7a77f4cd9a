/** Places the entities of a drawing by forces (ForceAtlas2). Loaded on use. */
import Graph from 'graphology';
import forceAtlas2 from 'graphology-layout-forceatlas2';
import { change, type DataGraph } from './graph.ts';

/** Moves the entities that are not pinned. */
export function arrange(graph: DataGraph): DataGraph {
  if (graph.entities.size < 2) return graph;
  const g = new Graph({ type: 'undirected' });
  for (const e of graph.entities.values()) g.addNode(e.id, { x: e.x, y: e.y, fixed: e.pinned });
  for (const l of graph.links) if (l.from !== l.to) g.mergeEdge(l.from, l.to);
  const size = graph.entities.size;
  forceAtlas2.assign(g, {
    iterations: size > 200 ? 60 : 150,
    settings: {
      ...forceAtlas2.inferSettings(g),
      gravity: 0.6,
      scalingRatio: 60,
      strongGravityMode: false,
      adjustSizes: false,
      barnesHutOptimize: size > 150,
      slowDown: 4,
    },
  });
  spread(g, graph);
  return change(
    graph,
    new Map([...graph.entities.keys()].map((id) => [id, { x: g.getNodeAttribute(id, 'x') as number, y: g.getNodeAttribute(id, 'y') as number }])),
  );
}

/** The least distance between two entities at which their labels are readable. */
const ROOM = 90;

/** Enlarges a drawing whose entities are too close to each other. Pinned entities stay, so a drawing that has them is not enlarged. */
function spread(g: Graph, { entities }: DataGraph): void {
  if ([...entities.values()].some((e) => e.pinned)) return;
  const places = g.mapNodes((_, { x, y }) => ({ x: x as number, y: y as number }));
  const nearest = places.map((p) => Math.min(...places.filter((q) => q !== p).map((q) => Math.hypot(p.x - q.x, p.y - q.y))));
  const typical = [...nearest].sort((a, b) => a - b)[Math.floor(nearest.length / 4)] ?? ROOM;
  const factor = Math.min(8, Math.max(1, ROOM / Math.max(typical, 1)));
  g.updateEachNodeAttributes((_, place) => ({ ...place, x: place.x * factor, y: place.y * factor }));
}
