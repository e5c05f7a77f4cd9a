/** What a caller with grants on a part of an ontology may see of the rows that it reads: the values of properties of descendants, and the steps of walks. */
import type { Concept, Graph } from '../../ontology/graph.ts';
import type { MappingDef, PropertyDef } from '../../ontology/model.ts';
import { fold } from '../../ontology/names.ts';
import type { Wanted } from '../plan/wanted.ts';
import { has } from '../plan/wanted.ts';
import { sourcesOf } from './policies.ts';

/** The rows of `concept` that the caller, who sees the model `seen`, may read as instances of it. */
export interface ReadableAs {
  readonly concept: Concept;
  readonly seen: Graph;
}

/**
 * The column of a property for a reader of the concept. `concept` is the concept as the reader sees it. In `dsvc` and `esvc` a concept also has the properties
 * of its descendants, and the reader may lack the right to query some descendants that have rows.
 */
export function propertyFor({ graph, whole }: Concept, def: PropertyDef): Extract<Wanted, { kind: 'property' }> {
  if (graph === graph.whole) return { kind: 'property', def };
  // the paths of a calculated property are followed with the rights of the reader
  const by = def.expression === null ? {} : { by: graph };
  return has(whole, def) ? { kind: 'property', def, ...by } : { kind: 'property', def, ...by, seen: graph };
}

const SHOWN = new WeakMap<Graph, ReadonlyMap<MappingDef, ReadonlySet<string>>>();
const NOTHING: ReadonlySet<string> = new Set();

/** True if a column may show its values in the rows of a mapping. */
export const isShown = ({ def, seen }: { readonly def: PropertyDef; readonly seen?: Graph }, mapping: MappingDef): boolean =>
  seen === undefined || visibleProperties(seen, mapping).has(fold(def.name));

/**
 * The folded names of the properties whose values the caller may see in all rows of a mapping: it may query a concept that has the property and all rows of the
 * mapping.
 */
function visibleProperties(seen: Graph, mapping: MappingDef): ReadonlySet<string> {
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
 * Restricts the steps of a walk for a caller who may not query the concept that declares the relationship. A step may start only from rows that it may read
 * through another concept that has the relationship. Returns undefined if all rows are shown.
 */
export function readableAs(concept: Concept, seen: Graph): ReadableAs | undefined {
  return seen === seen.whole || seen.concept(concept.name)?.readable ? undefined : { concept, seen };
}

/** True if the caller may read all rows of a mapping as instances of the concept. */
export const isReadableAs = ({ concept, seen }: ReadableAs, mapping: MappingDef): boolean =>
  seen.concepts.some(({ readable, whole }) => {
    if (!readable || !whole.isA(concept)) return false;
    const { mappings, when } = sourcesOf(whole);
    return when.length === 0 && mappings.has(mapping);
  });
