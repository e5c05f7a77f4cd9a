/** ORDER BY that can use an index: an integer property sorts in the order of the table's column, regardless of the integer type that it is cast to. */
import type { SortBy } from '@pgsql/types';
import type { PropertyDef } from '../../ontology/model.ts';
import type { ConceptRelation } from '../bind/relation.ts';
import { cast, clone, coalesce, integer, type Node, operator, type SelectStmt, walk } from '../plan/tree.ts';
import { isMixedInteger, rawType } from '../plan/wanted.ts';
import { isConstant } from './narrow.ts';

/**
 * Sorts a block with LIMIT and without grouping by the tables' own columns, if all mappings have the same integer type for a column and it is not the declared
 * type.
 */
export function sortByTable(stmt: SelectStmt, relations: readonly ConceptRelation[]): void {
  if (stmt.distinctClause || stmt.groupClause || stmt.havingClause || !stmt.limitCount) return;
  for (const item of stmt.sortClause ?? []) {
    const node = 'SortBy' in item ? item.SortBy.node : undefined;
    const ref = node && 'ColumnRef' in node ? relations[0]?.state.references.of(node.ColumnRef) : undefined;
    if (!('SortBy' in item) || !ref || !relations.includes(ref.relation) || ref.alias !== ref.node.alias) continue;
    const at = ref.node.wantedOf(ref.column);
    const masked = at?.kind === 'property' && ref.relation.state.policies?.maskedBelow(ref.relation.state, ref.node.concept, at.def) !== undefined;
    const type = at?.kind === 'property' && !masked ? rawType(ref.node.concept, at.def) : undefined;
    if (at?.kind === 'property' && type)
      item.SortBy.node = ref.relation.columnAt(ref.node, { kind: 'raw', def: at.def, type, ...(at.seen ? { seen: at.seen } : {}) });
  }
}

/**
 * Adds ORDER BY and LIMIT to each mapping, if the sort columns are integers of different types in different mappings. PostgreSQL cannot then merge the indexes
 * of the mappings, but the first rows of each mapping suffice. Applies only to a block that reads all rows of one concept.
 */
export function firstOfEach(stmt: SelectStmt, relations: readonly ConceptRelation[]): void {
  const [relation] = relations;
  const { sortClause = [], limitCount, limitOption } = stmt;
  if (!relation || !limitCount || limitOption !== 'LIMIT_OPTION_COUNT' || sortClause.length === 0) return;
  if (!isConstant(limitCount) || (stmt.limitOffset && !isConstant(stmt.limitOffset))) return;
  if (stmt.whereClause || stmt.distinctClause || stmt.groupClause || stmt.havingClause || callsSomething(stmt)) return;
  const { root, state } = relation;
  const { rows } = root.concept;
  if (rows.kind !== 'mappings' || state.policies) return;
  const sorts = sortClause.map((item) => sortOf(item, relation));
  if (!sorts.every((s) => s !== undefined && (isMixedInteger(root.concept, s.def) || rawType(root.concept, s.def) !== undefined))) return;
  if (!sorts.some((s) => isMixedInteger(root.concept, (s as { def: PropertyDef }).def))) return;
  root.filter = {
    comparisons: [],
    ...root.filter,
    first: { sorts: sorts as { def: PropertyDef; like: SortBy }[], count: countOf(limitCount, stmt.limitOffset) },
  };
}

/** An aggregate returns one row for all rows, and a set-returning function may return none or several for each. */
function callsSomething(stmt: SelectStmt): boolean {
  let found = false;
  walk([stmt.targetList, stmt.windowClause], (n) => {
    if ('FuncCall' in n) found = true;
    return !found;
  });
  return found;
}

function sortOf(item: Node, relation: ConceptRelation): { def: PropertyDef; like: SortBy } | undefined {
  const node = 'SortBy' in item ? item.SortBy.node : undefined;
  const ref = node && 'ColumnRef' in node ? relation.state.references.of(node.ColumnRef) : undefined;
  if (!('SortBy' in item) || item.SortBy.useOp?.length || ref?.relation !== relation || ref.node !== relation.root || ref.alias !== relation.root.alias)
    return undefined;
  const wanted = ref.node.wantedOf(ref.column);
  return (wanted?.kind === 'property' || wanted?.kind === 'raw') && wanted.seen === undefined ? { def: wanted.def, like: item.SortBy } : undefined;
}

const MOST_ROWS = '9223372036854775807';

/** The sum of LIMIT and OFFSET. LIMIT NULL means no limit, so it gives the maximum. */
function countOf(limit: Node, offset: Node | undefined): Node {
  if (!offset) return clone(limit);
  const number = (n: Node): Node => cast(cast(clone(n), 'bigint'), 'numeric');
  const sum = operator('+', number(limit), coalesce(number(offset), integer('0')));
  return cast({ MinMaxExpr: { op: 'IS_LEAST', args: [sum, integer(MOST_ROWS)] } }, 'bigint');
}
