/** ORDER BY that reaches an index: a whole number sorts as its column in the table does, whatever it is cast to. */
import { referenceOf } from './references.ts';
import type { ConceptRelation } from './relation.ts';
import { rawType } from './sources.ts';
import type { SelectStmt } from './tree.ts';

/** Lets a block without grouping sort by the tables' own columns, where all mappings have one integer type that is not the declared one. */
export function sortByTable(stmt: SelectStmt, relations: readonly ConceptRelation[]): void {
  if (stmt.distinctClause || stmt.groupClause || stmt.havingClause || !stmt.limitCount) return;
  for (const item of stmt.sortClause ?? []) {
    const node = 'SortBy' in item ? item.SortBy.node : undefined;
    const ref = node && 'ColumnRef' in node ? referenceOf(node.ColumnRef) : undefined;
    if (!('SortBy' in item) || !ref || !relations.includes(ref.relation) || ref.alias !== ref.node.alias) continue;
    const at = [...ref.node.columns.values()].find((c) => c.name === ref.column)?.wanted;
    const masked = at?.kind === 'property' && ref.relation.work.policies?.maskedBelow(ref.relation.work, ref.node.concept, at.def) !== undefined;
    const type = at?.kind === 'property' && !masked ? rawType(ref.node.concept, at.def) : undefined;
    if (at?.kind === 'property' && type) item.SortBy.node = ref.relation.columnAt(ref.node, { kind: 'raw', def: at.def, type });
  }
}
