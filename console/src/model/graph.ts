/** The drawing of a model: which concepts and edges it shows, and where. Pure: no DOM. */
import dagre from '@dagrejs/dagre';
import type { Model } from './model.ts';

export interface Wish {
  /** The concept in the middle; null: all concepts. */
  readonly focus: string | null;
  /** How many edges away from the focus. */
  readonly depth: number;
  readonly inheritance: boolean;
  readonly relationships: boolean;
  /** Concepts whose descendants are not shown. */
  readonly collapsed: ReadonlySet<string>;
}

export interface Edge {
  readonly from: string;
  readonly to: string;
  readonly kind: 'inherits' | 'relates';
  /** A line for each relationship of the pair. */
  readonly labels: readonly string[];
}

/** The most concepts that are drawn without a focus. */
export const MOST_WITHOUT_FOCUS = 300;

/** All edges between concepts of a model: inheritance, and one edge for each pair of concepts that relationships connect. */
export function edgesOf(model: Model, { inheritance, relationships }: Pick<Wish, 'inheritance' | 'relationships'>): readonly Edge[] {
  const edges: Edge[] = [];
  for (const concept of model.detail.ontology) {
    if (inheritance)
      for (const parent of concept.inheritance) if (model.concepts.has(parent)) edges.push({ from: concept.concept, to: parent, kind: 'inherits', labels: [] });
  }
  if (!relationships) return edges;
  const pairs = new Map<string, { from: string; to: string; labels: string[] }>();
  for (const concept of model.detail.ontology) {
    for (const r of concept.relationships) {
      if (r.is_inverse || r.inherited_from !== null || !model.concepts.has(r.target)) continue;
      const key = JSON.stringify([concept.concept, r.target]);
      const pair = pairs.get(key) ?? { from: concept.concept, to: r.target, labels: [] };
      pair.labels.push(`${r.name}${r.transitivity === null ? '' : '*'} ${r.is_mtm ? 'n:m' : 'n:1'}`);
      pairs.set(key, pair);
    }
  }
  for (const pair of pairs.values()) edges.push({ ...pair, kind: 'relates' });
  return edges;
}

/** The concepts and edges that a wish shows. */
export function shown(model: Model, wish: Wish): { readonly nodes: readonly string[]; readonly edges: readonly Edge[] } {
  const hidden = new Set<string>();
  const hide = (name: string): void => {
    for (const child of model.children.get(name) ?? []) {
      if (hidden.has(child)) continue;
      hidden.add(child);
      hide(child);
    }
  };
  for (const name of wish.collapsed) hide(name);
  const edges = edgesOf(model, wish).filter((e) => !hidden.has(e.from) && !hidden.has(e.to));
  const all = [...model.concepts.keys()].filter((name) => !hidden.has(name));
  if (wish.focus === null || !model.concepts.has(wish.focus)) {
    const nodes = all.slice(0, MOST_WITHOUT_FOCUS);
    const kept = new Set(nodes);
    return { nodes, edges: edges.filter((e) => kept.has(e.from) && kept.has(e.to)) };
  }
  const near = new Set([wish.focus]);
  for (let step = 0; step < wish.depth; step++) {
    const before = [...near];
    const inside = new Set(before);
    for (const e of edges) {
      if (inside.has(e.from)) near.add(e.to);
      if (inside.has(e.to)) near.add(e.from);
    }
  }
  return { nodes: all.filter((name) => near.has(name)), edges: edges.filter((e) => near.has(e.from) && near.has(e.to)) };
}

export interface Placed {
  readonly width: number;
  readonly height: number;
  readonly nodes: readonly { readonly name: string; readonly x: number; readonly y: number; readonly width: number; readonly height: number }[];
  readonly edges: readonly (Edge & {
    readonly points: readonly { readonly x: number; readonly y: number }[];
    /** The middle of the right side of the concept, if the edge leads back to it. */
    readonly loop: { readonly x: number; readonly y: number } | null;
    /** The middle of the labels. */
    readonly label: { readonly x: number; readonly y: number } | null;
  })[];
}

/** The width of a text in pixels, estimated: the drawing needs it before anything is drawn. */
const textWidth = (text: string, size: number): number => text.length * size * 0.6;

/** Places nodes in layers, parents above. */
export function layout({ nodes, edges }: { readonly nodes: readonly string[]; readonly edges: readonly Edge[] }): Placed {
  const graph = new dagre.graphlib.Graph({ multigraph: true });
  graph.setGraph({ rankdir: 'TB', nodesep: 28, ranksep: 64, edgesep: 16, marginx: 16, marginy: 16 });
  // dagre finds nodes as members of an object, which has `constructor` and `__proto__` already
  const ids = new Map(nodes.map((name, i) => [name, String(i)]));
  const idOf = (name: string): string => ids.get(name) ?? '';
  for (const name of nodes) graph.setNode(idOf(name), { width: Math.max(72, textWidth(name, 14) + 28), height: 36 });
  for (const [i, e] of edges.entries()) {
    const label = e.labels.length === 0 ? {} : { width: Math.max(...e.labels.map((l) => textWidth(l, 11))) + 8, height: e.labels.length * 14 };
    // dagre puts the source above: an ancestor belongs above its descendants
    const [top, bottom] = e.kind === 'inherits' ? [e.to, e.from] : [e.from, e.to];
    graph.setEdge(idOf(top), idOf(bottom), { ...label, labelpos: 'c' }, String(i));
  }
  dagre.layout(graph);
  const { width = 0, height = 0 } = graph.graph();
  return {
    width,
    height,
    nodes: nodes.map((name) => {
      const { x, y, width: w, height: h } = graph.node(idOf(name));
      return { name, x, y, width: w, height: h };
    }),
    edges: edges.map((e, i) => {
      const [top, bottom] = e.kind === 'inherits' ? [e.to, e.from] : [e.from, e.to];
      const placed = graph.edge(idOf(top), idOf(bottom), String(i));
      const points = e.kind === 'inherits' ? [...placed.points].reverse() : placed.points;
      const own = e.from === e.to ? graph.node(idOf(e.from)) : undefined;
      const loop = own === undefined ? null : { x: own.x + own.width / 2, y: own.y };
      const widest = Math.max(0, ...e.labels.map((l) => textWidth(l, 11)));
      if (loop !== null) return { ...e, points, loop, label: { x: loop.x + 34 + widest / 2, y: loop.y } };
      return { ...e, points, loop, label: e.labels.length === 0 || placed.x === undefined ? null : { x: placed.x, y: placed.y as number } };
    }),
  };
}
