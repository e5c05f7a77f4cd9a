/** Rows of links and of multi-value properties, without those that belong to rows that the caller may not read. */
import type { Concept, Graph } from '../../ontology/graph.ts';
import type { PropertyDef } from '../../ontology/model.ts';
import { parseType } from '../../ontology/types.ts';
import { BARRIER } from '../plan/barriers.ts';
import { and, boolean, cast, column, equals, exists, type Node, OFFSET_ZERO, type SelectStmt, select, string, subselect } from '../plan/tree.ts';
import { actualProperty } from '../plan/wanted.ts';
import type { PlanState } from '../plan-state.ts';
import { baseOf, isRefusedAsMasked, refusedAsMasked, sourcesOf } from '../secure/policies.ts';
import { circularConcept } from './logic.ts';
import type { RowFilter } from './narrow.ts';
import { conceptSource } from './sources.ts';

/** A concept whose rows a link or a value belongs to. `keys` maps columns of the link to properties of the concept. */
export interface Owner {
  readonly concept: Concept;
  readonly keys: readonly (readonly [string, PropertyDef])[];
}

/** True if rows of the owner may be hidden from the caller: it does not see the whole model, or mappings leave rows out. */
function hidesOwner(state: PlanState, { concept }: Owner): boolean {
  return leavesOutHidden(state, concept) || state.hidesRows();
}

/** True if conditions on the rows of a concept may be kept above a barrier: by a row policy, or because mappings leave out rows that are hidden from the caller. */
export function hasBarriers(state: PlanState, concept: Concept): boolean {
  if (state.position.isTrusted) return false;
  if (state.policies?.isGuarded(concept) === true || (concept.rows.kind === 'logic' && state.hidesRows(concept.rows.source))) return true;
  return leavesOutHidden(state, concept);
}

const leavesOutHidden = (state: PlanState, concept: Concept): boolean =>
  [...sourcesOf(concept).mappings].some((m) => state.hidesTables(m.datasource) && state.texts.leavesOut(m));

/**
 * The rows of a link or multi-value property as an item of FROM. If an expression of the statement may raise an error on a value, the item contains only rows
 * that belong to rows that the caller may read, by its policies and its grants (admitted.ts explains OFFSET 0).
 */
export function visibleItem(state: PlanState, rows: SelectStmt, alias: string, owners: readonly Owner[]): Node {
  const item = subselect(rows, alias);
  if (state.position.isTrusted) return item;
  const guarded = owners.filter((o) => state.policies?.isGuarded(o.concept));
  if (guarded.length > 0) state.facts.hasRowPolicies = true;
  const hidden = owners.filter((o) => hidesOwner(state, o));
  if (hidden.length > 0) state.facts.hidesRows = true;
  const restricted = owners.filter((o) => guarded.includes(o) || hidden.includes(o));
  if (restricted.length === 0) return item;
  return state.item(item, () => subselect(visibleRows(state, rows, restricted, hidden, OFFSET_ZERO), alias));
}

/**
 * Keeps the rows whose key belongs to a row of a concept that the caller may read by its row policies. This is always applied, not only if an expression may raise
 * an error. Links to a logic concept that the reader may not query are hidden, because whether an instance exists may depend on values that the reader does not see.
 * @param reader the concept whose rows are joined with them by the keys: if all of these are rows of the owner, the join applies the policies
 * @param seen the model as the reader of the rows sees it
 */
export function rowsOfVisible(state: PlanState, rows: SelectStmt, owner: Owner, reader: Concept | undefined, seen: Graph): SelectStmt {
  if (state.position.isTrusted || state.policies?.isGuarded(owner.concept) !== true) return rows;
  if (reader && !hasOtherRows(state.graph.concept(reader.name) ?? reader, owner.concept)) return rows;
  state.facts.hasRowPolicies = true;
  if (owner.concept.rows.kind === 'logic' && !mayQuery(seen, owner.concept)) return { ...rows, whereClause: boolean(false) };
  return visibleRows(state, rows, [owner], [], BARRIER, true);
}

/** True if a reader with this sight may query a concept. Otherwise it must not learn which rows are instances of it. */
const mayQuery = (seen: Graph, concept: Concept): boolean => seen === seen.whole || seen.concept(concept.name)?.readable === true;

/**
 * True if a concept may have rows that an ancestor of it, or the parent of a logic concept, does not have. A logic concept may have rows of an ancestor of its parent, and has
 * the relationships of the parent for them. A concept without mappings may have rows of several parents.
 */
export function hasOtherRows(concept: Concept, than: Concept): boolean {
  if (concept === than) return false;
  const { mappings } = sourcesOf(than);
  return than.rows.kind === 'logic' || [...sourcesOf(concept).mappings].some((m) => !mappings.has(m));
}

function visibleRows(
  state: PlanState,
  rows: SelectStmt,
  restricted: readonly Owner[],
  hidden: readonly Owner[],
  barrier: Partial<SelectStmt> | typeof BARRIER,
  isReferredTo = false,
): SelectStmt {
  const conditions = restricted.map((owner) => {
    const { keys } = owner;
    // A policy applies to the rows of a logic concept's source.
    const { base, when } = hidden.includes(owner) ? { base: owner.concept, when: [] } : baseOf(owner.concept);
    // Where links refer to the concept, another row with the same key may be visible without being an instance. Where rows of the concept are joined, the join tests the condition.
    const filter = isReferredTo ? instancesOnly(state, owner.concept, when) : undefined;
    const wanted = new Map(keys.map(([name, def]) => [name, actualProperty(state, def)] as const));
    const same = keys.map(([name, def]) => equals(column('o', name), cast(column('r', name), parseType(def.type).sql)));
    const source = state.position.asOwner(
      base,
      () => circularConcept(base),
      () => conceptSource(state, base, wanted, base, filter),
    );
    return exists(select({ targetList: [], fromClause: [subselect(source, 'o')], whereClause: and(same) as Node }));
  });
  return select({
    targetList: [{ ResTarget: { val: { ColumnRef: { fields: [string('r'), { A_Star: {} }] } } } }],
    fromClause: [subselect(rows, 'r')],
    whereClause: and(conditions) as Node,
    ...barrier,
  });
}

/**
 * The filter of the rows that are instances of logic concepts: `concept`, and those between it and its rows. Their conditions are tested over true values, so they must not
 * read a property that is masked for the caller: which rows are instances would show its value. The rows of the concept itself are refused in the same cases.
 * @throws SvcError 403 `masked`
 */
function instancesOnly(state: PlanState, concept: Concept, instancesOf: readonly Concept[]): RowFilter | undefined {
  if (instancesOf.length === 0) return undefined;
  if (readsMasked(state, concept)) throw refusedAsMasked('a concept to which links refer', 'a property whose values are masked for you');
  return { comparisons: [], instancesOf };
}

/** The states of plans that `readsMasked` makes. There, links that refer to a logic concept need no test: conditions are tested over all links. */
const TRIALS = new WeakSet<PlanState>();

/** True if the caller cannot read the rows of a logic concept because its condition, or one below it, reads a masked property. */
function readsMasked(state: PlanState, concept: Concept): boolean {
  const { policies } = state;
  if (policies === undefined || !policies.hasMasks || TRIALS.has(state)) return false;
  let known = policies.readingMasked.get(concept.name);
  if (known === undefined) {
    const trial = state.trial({ definer: undefined });
    TRIALS.add(trial);
    known = isRefused(() => void conceptSource(trial, concept, new Map()));
    policies.readingMasked.set(concept.name, known);
  }
  return known;
}

function isRefused(plan: () => void): boolean {
  try {
    plan();
    return false;
  } catch (error) {
    if (isRefusedAsMasked(error)) return true;
    throw error;
  }
}
