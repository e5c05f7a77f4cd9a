/** What a caller with grants on a part of an ontology may have of rows that it reads: values of properties of descendants, and steps of walks. */
import type { Concept, Graph } from '../ontology/graph.ts';
import type { MappingDef, PropertyDef } from '../ontology/model.ts';
import { fold } from '../ontology/names.ts';
import { sourcesOf } from './policies.ts';
import type { Wanted } from './sources.ts';

/** Rows of a concept as those that a caller may read as instances of another one. */
export interface OpenAs {
  readonly concept: Concept;
  readonly seen: Graph;
}

/**
 * A column of a property as a reader of the concept may have it. `concept`: as the reader sees it. In `dsvc` and `esvc` a concept also has the properties of its
 * descendants, and the reader may not be allowed to query all descendants that have rows.
 */
export const propertyFor = (concept: Concept, def: PropertyDef): Extract<Wanted, { kind: 'property' }> =>
  concept.graph === concept.graph.whole || has(concept.whole, def) ? { kind: 'property', def } : { kind: 'property', def, seen: concept.graph };

const SHOWN = new WeakMap<Graph, ReadonlyMap<MappingDef, ReadonlySet<string>>>();
const NOTHING: ReadonlySet<string> = new Set();

/** Whether a column has its values in the rows of a mapping. */
export const isShown = ({ def, seen }: { readonly def: PropertyDef; readonly seen?: Graph }, mapping: MappingDef): boolean =>
  seen === undefined || shownIn(seen, mapping).has(fold(def.name));

/** The folded names of properties whose values are open to a caller in all rows of a mapping: by a concept that has the property and all of the rows. */
function shownIn(seen: Graph, mapping: MappingDef): ReadonlySet<string> {
  let shown = SHOWN.get(seen);
  if (shown === undefined) {
    const made = new Map<MappingDef, Set<string>>();
    for (const { whole } of seen.concepts.filter((c) => c.readable)) {
      const { mappings, when } = sourcesOf(whole);
      if (when.length > 0) continue;
      for (const m of mappings) {
        const names = made.get(m) ?? new Set();
        for (const { def } of whole.properties) names.add(fold(def.name));
        made.set(m, names);
      }
    }
    SHOWN.set(seen, made);
    shown = made;
  }
  return shown.get(mapping) ?? NOTHING;
}

/**
 * What narrows the rows of a concept that declares a relationship to those from which the caller may take a step of a walk: it may read them through a concept
 * that has the relationship. undefined: all of them.
 */
export function openAs(concept: Concept, seen: Graph): OpenAs | undefined {
  return seen === seen.whole || seen.concept(concept.name)?.readable ? undefined : { concept, seen };
}

/** Whether the caller may read all rows of a mapping as instances of the concept. */
export const isOpenAs = ({ concept, seen }: OpenAs, mapping: MappingDef): boolean =>
  seen.concepts.some(({ readable, whole }) => {
    if (!readable || !whole.isA(concept)) return false;
    const { mappings, when } = sourcesOf(whole);
    return when.length === 0 && mappings.has(mapping);
  });

/** Whether a property is the concept's own or inherited one. */
export function has(concept: Concept, def: PropertyDef): boolean {
  let names = OWN.get(concept);
  if (!names) {
    names = new Set(concept.properties.map((p) => p.def.name));
    OWN.set(concept, names);
  }
  return names.has(def.name);
}
const OWN = new WeakMap<Concept, Set<string>>();
