/**
 * Gives the names inside a model their declared spelling, and link mappings their direction. Runs at the end of a script,
 * when everything is defined. Names that cannot be resolved stay unchanged, and the checks reject them.
 */
import { NO_ITEMS } from '../compact.ts';
import type { Graph } from '../graph.ts';
import type { relationshipOf } from '../links.ts';
import type { ConceptDef, LinkDef, LinkEnd, MappingDef, Model } from '../model.ts';

/** Normalises the objects of `after` that are not in `before`. `graph` is compiled from `after`. */
export function normalise(before: Model, after: Model, graph: Graph, links: (link: LinkDef) => ReturnType<typeof relationshipOf>): Model {
  const old = new Set<object>([...before.concepts, ...before.mappings]);
  const names = spellings(graph);
  let changed = false;
  const renew = <T extends object>(values: readonly T[], make: (value: T) => T): readonly T[] =>
    values.map((value) => {
      if (old.has(value)) return value;
      changed = true;
      return make(value);
    });
  const concepts = renew(after.concepts, (c) => concept(c, names));
  const mappings = renew(after.mappings, (m) => mapping(m, names, links));
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

/** `list.map(make)`; all empty lists are one. */
const each = <T, U>(list: readonly T[], make: (value: T) => U): readonly U[] => (list.length === 0 ? NO_ITEMS : list.map(make));

const concept = (c: ConceptDef, names: Spellings): ConceptDef => ({
  ...c,
  parents: each(c.parents, names.concept),
  properties: each(c.properties, names.property),
  multi: each(c.multi, names.property),
  measures: each(c.measures, names.measure),
  primaryKey: each(c.primaryKey, names.property),
  label: each(c.label, names.property),
  relationships: each(c.relationships, (r) => ({
    ...r,
    target: names.concept(r.target),
    source: each(r.source, names.property),
    references: each(r.references, names.property),
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
