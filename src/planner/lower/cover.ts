/** GROUP BY a key: the columns that it determines count as grouped (docs/design/aggregates-over-several-paths.md#grouping-by-a-key). */
import type { ColumnRef } from '@pgsql/types';
import { visited } from '../../budget.ts';
import type { ConceptRelation } from '../bind/relation.ts';
import type { Reference } from '../plan/references.ts';
import { clone, type Node, type SelectStmt, walk } from '../plan/tree.ts';
import type { PlanState } from '../plan-state.ts';
import { isAggregateCall } from './aggregate/calls.ts';
import { selectItem } from './aggregate/groups.ts';

/**
 * Adds to GROUP BY the columns that its keys determine. If the whole PRIMARY KEY or the entity_id of a concept is grouped, these are its own columns and those of its
 * to-one paths. They are included only as far as the select list, HAVING or ORDER BY reads them outside of aggregates. A masked key determines nothing, because different
 * rows have equal values.
 */
export function coverByKey(state: PlanState, stmt: SelectStmt, relations: readonly ConceptRelation[]): void {
  const { groupClause = [] } = stmt;
  if (groupClause.length === 0 || groupClause.some((item) => 'GroupingSet' in item)) return;
  const items = groupClause.flatMap((item) => ('RowExpr' in item ? (item.RowExpr.args ?? []) : [item])).map((item) => selectItem(item, stmt, state.references));
  visited(relations.length * items.length);
  const determined = relations.filter((r) => isDetermined(state, r, items));
  if (determined.length === 0) return;
  // a text decides how many columns are grouped and how many are read
  const grouped = new Set(items.flatMap((item) => ('ColumnRef' in item ? [keyOf(item.ColumnRef)] : [])));
  const covered: Node[] = [];
  for (const column of readOutsideAggregates(stmt)) {
    visited();
    const ref = state.references.of(column);
    if (ref === undefined || !determined.includes(ref.relation) || !isToOne(ref)) continue;
    const key = keyOf(column);
    if (grouped.has(key)) continue;
    grouped.add(key);
    covered.push(clone({ ColumnRef: column }));
  }
  if (covered.length > 0) stmt.groupClause = [...groupClause, ...covered];
}

/** True if the grouped items contain the key of a relation's rows. */
function isDetermined(state: PlanState, relation: ConceptRelation, items: readonly Node[]): boolean {
  const { root } = relation;
  const key = root.concept.key?.properties ?? [];
  if (key.length === 0 || key.some((def) => state.policies?.maskedBelow(state, root.concept, def) !== undefined)) return false;
  const grouped = items.flatMap((item) => {
    const ref = 'ColumnRef' in item ? state.references.of(item.ColumnRef) : undefined;
    const wanted = ref?.relation === relation && ref.node === root && ref.alias === root.alias ? root.wantedOf(ref.column) : undefined;
    return wanted === undefined ? [] : [wanted];
  });
  const isGrouped = (name: string): boolean => grouped.some((w) => w.kind === 'property' && w.def.name === name);
  return grouped.some((w) => w.kind === 'entity_id') || key.every((def) => isGrouped(def.name));
}

/** True for a column of the relation's rows or of a to-one path from them. */
function isToOne({ relation, node, alias }: Reference): boolean {
  if (alias !== node.alias) return false;
  for (let at = node; at !== relation.root; at = at.parent) if (at.toMany || at.parent === null) return false;
  return true;
}

/** Equal for equal references, regardless of their places. */
const keyOf = ({ fields }: ColumnRef): string => JSON.stringify(fields);

/** The column references that must be grouped, without those in aggregates. */
function readOutsideAggregates({ targetList, havingClause, sortClause }: SelectStmt): ColumnRef[] {
  const found: ColumnRef[] = [];
  walk([targetList, havingClause, sortClause], (n) => {
    if (isAggregateCall(n)) return false;
    if ('ColumnRef' in n) found.push(n.ColumnRef);
    return undefined;
  });
  return found;
}
