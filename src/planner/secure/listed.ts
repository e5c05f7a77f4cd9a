/**
 * Values that a concept shows only because it lists the property itself. A logic concept may list a property that its source does not have, and a concept may list a
 * multi-valued property of another concept with the same key. Such a list may be older than the values, so the current rights of its writer decide whether they are shown.
 */
import { SvcError } from '../../errors.ts';
import type { Concept, Graph } from '../../ontology/graph.ts';
import type { ConceptDef, MappingDef, PropertyDef } from '../../ontology/model.ts';
import { fold } from '../../ontology/names.ts';
import type { PlanState } from '../plan-state.ts';
import { isShown } from './shown.ts';

/** True if a query that reads the rows of `mapping` through the concept `reader` may show their values of a property. */
export function listsFor(state: PlanState, reader: Concept, def: PropertyDef, mapping: MappingDef, mapped: Concept): boolean {
  return isListed(state, reader, mapped, 'properties', def, (seen) => isShown({ def, seen }, mapping));
}

/** The same for a multi-valued property whose values come from `mapping`. */
export function listsMultiFor(state: PlanState, reader: Concept, def: PropertyDef, mapping: MappingDef): boolean {
  const mapped = state.graph.concept(mapping.concept ?? '');
  if (mapped === undefined) return true;
  const isOpen = ({ readable, whole }: Concept): boolean => readable && mapped.isA(whole) && whole.multi.some((m) => m.def === def);
  return isListed(state, reader, mapped, 'multi', def, (seen) => seen.concepts.some(isOpen));
}

function isListed(state: PlanState, reader: Concept, mapped: Concept, list: List, def: PropertyDef, isOpen: (seen: Graph) => boolean): boolean {
  // a concept has all properties of its ancestors
  if (mapped.isA(reader) || state.position.isTrusted || state.context.definer === undefined) return true;
  const lists = [reader, ...reader.ancestors].filter((c) => hasName(c, list, def.name));
  return lists.length === 0 || lists.some((c) => mapped.isA(c) || c.def?.definer === undefined || isOpenTo(state, c.def, isOpen));
}

type List = 'properties' | 'multi';

/** The folded names in the lists of a concept. */
const NAMES = new WeakMap<Concept, Map<List, ReadonlySet<string>>>();

/** True if a concept lists a name itself. Each property that a statement reads is looked for. */
function hasName(concept: Concept, list: List, name: string): boolean {
  const known = NAMES.get(concept) ?? new Map<List, ReadonlySet<string>>();
  const names = known.get(list) ?? new Set(concept.def?.[list].map(fold));
  NAMES.set(concept, known.set(list, names));
  return names.has(fold(name));
}

/** True if the writer of a concept may read the values now. A dropped user may not. */
function isOpenTo(state: PlanState, concept: ConceptDef, isOpen: (seen: Graph) => boolean): boolean {
  try {
    const seen = state.asDefined(concept);
    return seen === undefined || seen === seen.whole || isOpen(seen);
  } catch (error) {
    if (error instanceof SvcError && error.status === 403) return false;
    throw error;
  }
}
