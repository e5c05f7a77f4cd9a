/** Places the entities of a drawing by forces (ForceAtlas2). Loaded on use. */
/// <reference path="./forceatlas2.d.ts" />
import iterate from 'graphology-layout-forceatlas2/iterate.js';
import { change, type DataGraph } from './graph.ts';

/** How many numbers a node and an edge have in the matrices. */
const NODE = 10;
const EDGE = 3;
const MASS = 6;

/** Moves the entities that are not pinned. */
export function arrange(graph: DataGraph): DataGraph {
  const entities = [...graph.entities.values()];
  const size = entities.length;
  if (size < 2) return graph;
  const nodes = new Float32Array(entities.flatMap((e) => [e.x, e.y, 0, 0, 0, 0, 1, 1, 1, e.pinned ? 1 : 0]));
  const index = new Map(entities.map((e, i) => [e.id, i * NODE]));
  // several links of two entities attract them as one
  const pairs = new Map<string, readonly number[]>();
  for (const { from, to } of graph.links) {
    const ends = [index.get(from) as number, index.get(to) as number].sort((a, b) => a - b);
    if (from !== to) pairs.set(ends.join(), [...ends, 1]);
  }
  const edges = new Float32Array([...pairs.values()].flat());
  for (const [i, end] of edges.entries()) if (i % EDGE !== EDGE - 1) nodes[end + MASS] = (nodes[end + MASS] as number) + 1;
  const settings = {
    linLogMode: false,
    outboundAttractionDistribution: false,
    adjustSizes: false,
    edgeWeightInfluence: 1,
    scalingRatio: 60,
    strongGravityMode: false,
    gravity: 0.6,
    slowDown: 4,
    barnesHutOptimize: size > 150,
    barnesHutTheta: 0.5,
  };
  for (let i = size > 200 ? 60 : 150; i > 0; i--) iterate(settings, nodes, edges);
  const places = entities.map((_, i) => ({ x: nodes[i * NODE] as number, y: nodes[i * NODE + 1] as number }));
  // pinned entities stay, so a drawing that has them is not enlarged
  const factor = entities.some((e) => e.pinned) ? 1 : enlargement(places);
  return change(graph, new Map(entities.map((e, i) => [e.id, { x: places[i]!.x * factor, y: places[i]!.y * factor }])));
}

/** The least distance between two entities at which their labels are readable. */
const ROOM = 90;

/** By how much a drawing must grow so that its entities are not too close to each other. */
function enlargement(places: readonly { readonly x: number; readonly y: number }[]): number {
  const nearest = places.map((p) => Math.min(...places.filter((q) => q !== p).map((q) => Math.hypot(p.x - q.x, p.y - q.y))));
  const typical = [...nearest].sort((a, b) => a - b)[Math.floor(nearest.length / 4)] ?? ROOM;
  return Math.min(8, Math.max(1, ROOM / Math.max(typical, 1)));
}
