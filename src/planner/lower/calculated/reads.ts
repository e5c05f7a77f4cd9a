/** What the expressions of calculated properties read: names, and paths. */
import type { Concept, Graph } from '../../../ontology/graph.ts';
import type { MappingDef, PropertyDef } from '../../../ontology/model.ts';
import { isPath, propertyAtEnd } from '../../../ontology/paths.ts';
import { fieldsOf, walk } from '../../plan/tree.ts';
import { has, type WantedColumns } from '../../plan/wanted.ts';
import type { PlanState } from '../../plan-state.ts';
import { ownFunction } from '../../read/own-functions.ts';
import { isAggregateCall } from '../aggregate/calls.ts';

/** The names in an expression, whether it has paths or aggregates, and whether it calls functions of the datasource. */
interface Reads {
  readonly names: readonly string[];
  readonly paths: boolean;
  readonly callsOwn: boolean;
}
const READS = new WeakMap<object, Map<string, Reads>>();

function readsOf(state: PlanState, owner: object, expression: string): Reads {
  const known = READS.get(owner)?.get(expression);
  if (known) return known;
  const names: string[] = [];
  let paths = false;
  let calls = false;
  walk(state.texts.sharedExpression(owner, expression), (n) => {
    if (isAggregateCall(n)) paths = true;
    calls ||= ownFunction(n) !== undefined;
    if ('ColumnRef' in n) names.push(fieldsOf(n.ColumnRef).at(-1) ?? '');
    return undefined;
  });
  const reads = { names, paths: paths || names.some(isPath), callsOwn: calls };
  // without a claim, the call of svc_claim over a path is a constant
  if (state.texts.isShared(owner, expression)) READS.set(owner, (READS.get(owner) ?? new Map<string, Reads>()).set(expression, reads));
  return reads;
}

/** True if the expression of a calculated property has paths or aggregates. */
export const readsPaths = (state: PlanState, def: PropertyDef, expression: string): boolean => readsOf(state, def, expression).paths;

const hasPaths = (reads: Reads): boolean => reads.paths;

/**
 * True if a property is calculated over paths, or from properties that are. `mapping`: the masks on its rows count too. `counts`: a test of an expression, if anything
 * else is looked for
 */
export function followsAny(state: PlanState, def: PropertyDef, mapping?: MappingDef, seen: Set<PropertyDef> = new Set(), counts = hasPaths): boolean {
  const isPlain = def.expression === null && (mapping === undefined || state.policies === undefined);
  if (isPlain || seen.has(def)) return false;
  seen.add(def);
  const follows = (owner: object, expression: string): boolean => {
    const reads = readsOf(state, owner, expression);
    return counts(reads) || reads.names.some((name) => followsProperty(name));
  };
  const followsProperty = (name: string): boolean => {
    const property = state.graph.property(name);
    return property !== undefined && followsAny(state, property, mapping, seen, counts);
  };
  if (def.expression !== null && follows(def, def.expression)) return true;
  const masks = mapping ? (state.policies?.masks(mapping, def.name) ?? []) : [];
  // a mask of a calculated value may compute it in a sub-select, whose names must not be those of a table
  if (counts === hasPaths && def.expression !== null && masks.some(({ mask, concept }) => mask.kind === 'partial' || concept !== null)) return true;
  return masks.some(({ mask }) => mask.kind === 'with' && follows(mask, mask.expression));
}

/** True if a property reads properties along its paths that are calculated over paths themselves. */
export function readsCalculatedAlong(state: PlanState, def: PropertyDef): boolean {
  return readsOf(state, def, def.expression ?? '').names.some((name) => {
    const far = isPath(name) ? state.graph.property(propertyAtEnd(name) ?? '') : undefined;
    return far !== undefined && followsAny(state, far);
  });
}

/** The rows of a mapping. */
export interface RowsOfMapping {
  readonly state: PlanState;
  readonly mapping: MappingDef;
  readonly mapped: Concept;
}

/**
 * True if a SELECT of columns calls functions of the datasource. These may return several rows: PostgreSQL then computes all values of the SELECT before the conditions
 * around it.
 */
export const callsOwnFunctions = (rows: RowsOfMapping, wanted: WantedColumns): boolean => anyWanted(rows, wanted, (reads) => reads.callsOwn);

/** True if a SELECT of columns over the rows of a mapping follows paths. */
export const followsPaths = (rows: RowsOfMapping, wanted: WantedColumns): boolean => anyWanted(rows, wanted, hasPaths);

/** True if an expression of the wanted columns, or a mask on them, passes a test. */
function anyWanted({ state, mapping, mapped }: RowsOfMapping, wanted: WantedColumns, counts: (reads: Reads) => boolean): boolean {
  let seen: Set<PropertyDef> | undefined;
  const follows = (def: PropertyDef): boolean => {
    if (def.expression === null && state.policies === undefined) return false;
    seen ??= new Set();
    return followsAny(state, def, mapping, seen, counts);
  };
  for (const w of wanted.values()) if (w.kind === 'property' ? follows(w.def) : w.kind === 'entity_label' && mapped.label.some(follows)) return true;
  return false;
}

/**
 * The concept from which a calculated property's paths start in the rows of a mapping, in the model that the reader sees; undefined if the reader does not see the
 * property there.
 */
export function ownerOf(def: PropertyDef, mapped: Concept, reader: Concept, graph: Graph): Concept | undefined {
  const isWhole = graph === graph.whole;
  for (const { name } of [reader, mapped, ...mapped.ancestors].filter((c) => has(c, def))) {
    const concept = graph.concept(name);
    if (concept && (isWhole || (concept.readable && has(concept, def)))) return concept;
  }
  return undefined;
}
