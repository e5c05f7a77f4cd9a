/** ORDER BY that reaches an index: a whole number sorts as its column in the table does, whatever it is cast to. */
import type { SortBy } from '@pgsql/types';
import type { PropertyDef } from '../ontology/model.ts';
import { isConstant } from './narrow.ts';
import { referenceOf } from './references.ts';
import type { ConceptRelation } from './relation.ts';
import { isMixedInteger, rawType } from './sources.ts';
import { cast, clone, coalesce, integer, type Node, operator, type SelectStmt, walk } from './tree.ts';

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
    if (at?.kind === 'property' && type)
      item.SortBy.node = ref.relation.columnAt(ref.node, { kind: 'raw', def: at.def, type, ...(at.seen ? { seen: at.seen } : {}) });
  }
}

/**
 * ORDER BY whole numbers with LIMIT through mappings whose columns have several integer types: no one order of the union is that of an index, but the
 * first rows of each mapping are enough. Only for a block that takes every row of one concept.
 */
export function firstOfEach(stmt: SelectStmt, relations: readonly ConceptRelation[]): void {
  const [relation] = relations;
  const { sortClause = [], limitCount, limitOption } = stmt;
  if (!relation || !limitCount || limitOption !== 'LIMIT_OPTION_COUNT' || sortClause.length === 0) return;
  if (!isConstant(limitCount) || (stmt.limitOffset && !isConstant(stmt.limitOffset))) return;
  if (stmt.whereClause || stmt.distinctClause || stmt.groupClause || stmt.havingClause || callsSomething(stmt)) return;
  const { root, work } = relation;
  const { rows } = root.concept;
  if (rows.kind !== 'mappings' || work.policies) return;
  const sorts = sortClause.map((item) => sortOf(item, relation));
  if (!sorts.every((s) => s !== undefined && (isMixedInteger(root.concept, s.def) || rawType(root.concept, s.def) !== undefined))) return;
  if (!sorts.some((s) => isMixedInteger(root.concept, (s as { def: PropertyDef }).def))) return;
  root.filter = {
    comparisons: [],
    ...root.filter,
    first: { sorts: sorts as { def: PropertyDef; like: SortBy }[], count: countOf(limitCount, stmt.limitOffset) },
  };
}

/** An aggregate makes one row of all, a function may make none or several of one. */
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
  const ref = node && 'ColumnRef' in node ? referenceOf(node.ColumnRef) : undefined;
  if (!('SortBy' in item) || item.SortBy.useOp?.length || ref?.relation !== relation || ref.node !== relation.root || ref.alias !== relation.root.alias)
    return undefined;
  const wanted = [...ref.node.columns.values()].find((c) => c.name === ref.column)?.wanted;
  return (wanted?.kind === 'property' || wanted?.kind === 'raw') && wanted.seen === undefined ? { def: wanted.def, like: item.SortBy } : undefined;
}

const MOST_ROWS = '9223372036854775807';

/** LIMIT and OFFSET together; of LIMIT NULL, which is none, the most that there can be. */
function countOf(limit: Node, offset: Node | undefined): Node {
  if (!offset) return clone(limit);
  const number = (n: Node): Node => cast(cast(clone(n), 'bigint'), 'numeric');
  const sum = operator('+', number(limit), coalesce(number(offset), integer('0')));
  return cast({ MinMaxExpr: { op: 'IS_LEAST', args: [sum, integer(MOST_ROWS)] } }, 'bigint');
}
