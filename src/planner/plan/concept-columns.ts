/** The columns of a concept by their names, and the keys of wanted columns. */
import type { Concept } from '../../ontology/graph.ts';
import type { PropertyDef } from '../../ontology/model.ts';
import type { PlanState } from '../plan-state.ts';
import { propertyKey } from './path-node.ts';
import type { Wanted } from './wanted.ts';

/** The columns that every concept has. */
export const ENTITY: ReadonlySet<string> = new Set(['entity_id', 'entity_type', 'entity_label']);

/** The key of a wanted column. Columns with equal keys are the same column. The same property has different columns for readers with different rights. */
export function wantedKey(state: PlanState, wanted: Wanted): string {
  const seen = 'seen' in wanted && wanted.seen ? state.sightKey(wanted.seen) : '';
  if (wanted.kind === 'property') {
    const by = wanted.by && !wanted.seen ? state.sightKey(wanted.by) : '';
    return `${propertyKey(wanted.def, wanted.actual)}${wanted.reader ? `[${wanted.reader.name}]` : ''}${seen}${by}`;
  }
  if (wanted.kind === 'raw') return `r:${wanted.def.name}${seen}`;
  if (wanted.kind === 'mapped_in') return `in:${JSON.stringify([...wanted.mappings].map((m) => m.name))}`;
  return wanted.kind !== 'mapping' && wanted.actual ? `a:${wanted.kind}` : wanted.kind;
}

const LOOKUPS = new WeakMap<Concept, { own: Map<string, PropertyDef>; derived: Map<string, PropertyDef> }>();

/** A single-valued property of a concept by its lower-case name. `derived`: include properties that only descendants have. */
export function propertyOf(concept: Concept, lower: string, derived: boolean): PropertyDef | undefined {
  let found = LOOKUPS.get(concept);
  if (!found) {
    found = {
      own: new Map(concept.properties.map((p) => [p.def.name.toLowerCase(), p.def])),
      derived: new Map(concept.derivedProperties.map((p) => [p.def.name.toLowerCase(), p.def])),
    };
    LOOKUPS.set(concept, found);
  }
  return found.own.get(lower) ?? (derived ? found.derived.get(lower) : undefined);
}

/** A multi-valued property of a concept by its lower-case name. */
export const multiOf = (concept: Concept, lower: string): PropertyDef | undefined => concept.multi.find((m) => m.def.name.toLowerCase() === lower)?.def;

/** The names of the columns of SELECT *. */
export const columnNames = (concept: Concept, derived: boolean): string[] => [
  'entity_id',
  'entity_type',
  'entity_label',
  ...concept.properties.map((p) => p.def.name),
  ...(derived ? concept.derivedProperties.map((p) => p.def.name) : []),
];
