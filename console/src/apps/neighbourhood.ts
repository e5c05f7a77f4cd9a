/** The concepts around one concept of a model, and their places in a drawing. Pure: no DOM. */
import type { DataGraph, Entity, Link } from '../data/graph.ts';
import { listOf, text } from './answer.ts';

/** A concept, as the sections `ontology` and `relationships` of `describe_knowledge_graph` have it. */
export interface Concept {
  readonly name: string;
  readonly description: string;
  readonly key: string;
  readonly parents: readonly string[];
  /** Whether it is defined by a query. */
  readonly isLogic: boolean;
  readonly relationships: readonly Relationship[];
}

export interface Relationship {
  readonly name: string;
  readonly target: string;
  readonly isInverse: boolean;
  readonly isTransitive: boolean;
}

export type Concepts = ReadonlyMap<string, Concept>;

/** The text of the link from a concept to its parent. */
export const IS_A = 'is a';
/** The most concepts of a drawing. */
export const MOST = 60;

/** The concepts in the sections of a description. */
export function conceptsOf(sections: Readonly<Record<string, unknown>>): Concepts {
  const of = Map.groupBy(listOf(sections.relationships), (r) => text(r.concept));
  return new Map(
    listOf(sections.ontology).map((row) => {
      const name = text(row.concept);
      const relationships = (of.get(name) ?? []).map((r) => ({
        name: text(r.relationship_name),
        target: text(r.target_concept),
        isInverse: r.is_inverse === true,
        isTransitive: r.transitivity !== null && r.transitivity !== undefined,
      }));
      const parents = text(row.inheritance)
        .split(', ')
        .filter((parent) => parent !== '');
      return [name, { name, description: text(row.description), key: text(row.primary_keys), parents, isLogic: text(row.query) !== '', relationships }];
    }),
  );
}

/** The links of a model. A relationship is drawn once: at the concept that declares it, in its own direction. */
export function linksOf(concepts: Concepts): readonly Link[] {
  const links: Link[] = [];
  for (const { name, parents, relationships } of concepts.values()) {
    for (const parent of parents) if (concepts.has(parent)) links.push({ from: name, to: parent, relationship: IS_A });
    for (const r of relationships) {
      const isInherited = parents.some((parent) => concepts.get(parent)?.relationships.some((p) => p.name === r.name && p.target === r.target));
      if (!r.isInverse && !isInherited && concepts.has(r.target))
        links.push({ from: name, to: r.target, relationship: r.isTransitive ? `${r.name}*` : r.name });
    }
  }
  return links;
}

/** The concept to begin with: the first of the wanted ones, or else the one with the most links. Null if there are no concepts. */
export function firstOf(concepts: Concepts, links: readonly Link[], wanted: readonly string[]): string | null {
  const named = wanted.find((name) => concepts.has(name));
  if (named !== undefined) return named;
  const counts = new Map<string, number>([...concepts.keys()].map((name) => [name, 0]));
  for (const { from, to } of links) for (const end of new Set([from, to])) counts.set(end, (counts.get(end) ?? 0) + 1);
  return [...counts].reduce<readonly [string, number] | null>((best, one) => (best === null || one[1] > best[1] ? one : best), null)?.[0] ?? null;
}

/** A concept and what is around it: its neighbours in a circle, and theirs in a wider one. At most MOST concepts, nearest first. */
export function around(concepts: Concepts, links: readonly Link[], focus: string, depth: number): DataGraph {
  const rings: string[][] = [[focus]];
  const seen = new Set([focus]);
  for (let step = 0; step < depth; step++) {
    const ring: string[] = [];
    for (const inner of rings[step] ?? [])
      for (const { from, to } of links) {
        const other = from === inner ? to : to === inner ? from : inner;
        if (seen.has(other) || seen.size >= MOST) continue;
        seen.add(other);
        ring.push(other);
      }
    rings.push(ring);
  }
  const entities = new Map<string, Entity>();
  let before = 0;
  for (const [i, ring] of rings.entries()) {
    const radius = i === 0 ? 0 : Math.max(before + 110, (ring.length * 66) / (2 * Math.PI));
    before = radius;
    for (const [k, name] of ring.entries()) {
      // circles are wider than high, as frames are
      const angle = ((k + (i % 2 === 0 ? 0.5 : 0)) * 2 * Math.PI) / ring.length;
      const type = concepts.get(name)?.isLogic === true ? 'logic concept' : 'concept';
      entities.set(name, { id: name, type, label: name, x: 1.35 * radius * Math.cos(angle), y: 0.8 * radius * Math.sin(angle), pinned: false });
    }
  }
  // a link of a concept to itself would be hidden by the concept
  return { entities, links: links.filter((l) => l.from !== l.to && seen.has(l.from) && seen.has(l.to)), styles: new Map() };
}
