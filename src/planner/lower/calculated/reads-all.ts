/** Finds the blocks that read all rows of their concepts, for the shape of aggregates in calculated properties (docs/design/calculated-over-paths.md#the-sql). */
import type { ConceptRelation } from '../../bind/relation.ts';
import type { Reference } from '../../plan/references.ts';
import { conjuncts, type Node, type SelectStmt, walk } from '../../plan/tree.ts';
import { followsAny } from './reads.ts';

/** Marks the nodes of a block that reads all rows of one concept, or of several that it joins without a condition on one of them. */
export function readAllRows(stmt: SelectStmt, relations: readonly ConceptRelation[]): void {
  if (!conjuncts(stmt.whereClause).every((c) => readsCalculated(c, relations)) || isShort(stmt, relations)) return;
  for (const { root } of relations) for (const node of root.all()) node.filter = { comparisons: [], ...node.filter, readsAll: true };
}

/** True if LIMIT ends the block before the calculated values of most rows are needed. */
function isShort({ limitCount, sortClause = [], groupClause, distinctClause }: SelectStmt, relations: readonly ConceptRelation[]): boolean {
  return limitCount !== undefined && !groupClause && !distinctClause && !sortClause.some((s) => readsCalculated(s, relations));
}

/** True if a tree reads a property that is calculated over paths: then it is needed for all rows. */
function readsCalculated(tree: Node, relations: readonly ConceptRelation[]): boolean {
  let found = false;
  walk(tree, (n) => {
    const ref = 'ColumnRef' in n ? relations[0]?.state.references.of(n.ColumnRef) : undefined;
    if (ref) found ||= isCalculated(ref);
    return !found;
  });
  return found;
}

function isCalculated({ node, alias, column, relation }: Reference): boolean {
  if (alias !== node.alias) return false;
  const wanted = node.wantedOf(column);
  return wanted?.kind === 'property' && followsAny(relation.state, wanted.def);
}
