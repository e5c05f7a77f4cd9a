/**
 * Gives the names inside a model their declared spelling, and link mappings their direction. Runs at the end of a script,
 * when everything is defined. Names that cannot be resolved stay unchanged, and the checks reject them.
 */
import type { Graph } from '../graph.ts';
import type { relationshipOf } from '../links.ts';
import type { ConceptDef, LinkDef, LinkEnd, MappingDef, Model } from '../model.ts';

/** Normalises the objects of `after` that are not in `before`. `graph` is compiled from `after`. */
export function normalise(before: Model, after: Model, graph: Graph, links: (link: LinkDef) => ReturnType<typeof relationshipOf>): Model {
  const old = new Set<object>([...before.concepts, ...before.mappings]);
  const names = spellings(graph);
  let changed = false;
  const each = <T extends object>(values: readonly T[], make: (value: T) => T): readonly T[] =>
    values.map((value) => {
      if (old.has(value)) return value;
      changed = true;
      return make(value);
    });
  const concepts = each(after.concepts, (c) => concept(c, names));
  const mappings = each(after.mappings, (m) => mapping(m, names, links));
  return changed ? { ...after, concepts, mappings } : after;
}

interface Spellings {
  readonly concept: (name: string) => string;
  readonly property: (name: string) => string;
  readonly measure: (name: string) => string;
}

const spellings = (graph: Graph): Spellings => ({
  concept: (name) => graph.concept(name)?.name ?? name,
  property: (name) => graph.property(name)?.name ?? name,
  measure: (name) => graph.measure(name)?.name ?? name,
});

const concept = (c: ConceptDef, names: Spellings): ConceptDef => ({
  ...c,
  parents: c.parents.map(names.concept),
  properties: c.properties.map(names.property),
  multi: c.multi.map(names.property),
  measures: c.measures.map(names.measure),
  primaryKey: c.primaryKey.map(names.property),
  label: c.label.map(names.property),
  relationships: c.relationships.map((r) => ({
    ...r,
    target: names.concept(r.target),
    source: r.source.map(names.property),
    references: r.references.map(names.property),
  })),
  logic: c.logic && { ...c.logic, concept: names.concept(c.logic.concept) },
});

function mapping(m: MappingDef, names: Spellings, links: (link: LinkDef) => ReturnType<typeof relationshipOf>): MappingDef {
  const end = (e: LinkEnd, relationship: string): LinkEnd => ({
    ...e,
    relationship,
    concept: names.concept(e.concept),
    references: e.references.map(names.property),
  });
  const found = m.link && links(m.link);
  let { link } = m;
  if (link && found) {
    const [forward, back] = found.forward ? [link.forward, link.back] : [link.back, link.forward];
    link = { forward: end(forward, found.pair.def.name), back: end(back, found.pair.inverseName) };
  }
  return { ...m, concept: m.concept && names.concept(m.concept), property: m.property && names.property(m.property), link };
}
