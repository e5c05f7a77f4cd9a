/**
 * Leaves out the mappings of a concept whose rows cannot meet WHERE (docs/design/sql-shapes.md#mappings-that-where-excludes), and notes whether anything filters by the
 * types of rows. PostgreSQL would find most such mappings itself, but plans each of them first.
 */
import type { ConceptRelation } from '../bind/relation.ts';
import { conjuncts, eachColumn, fieldsOf, type Node, type SelectStmt, walk } from '../plan/tree.ts';
import { columnNamed, has, INTEGER_SQL } from '../plan/wanted.ts';
import type { PlanState } from '../plan-state.ts';
import { isShown } from '../secure/shown.ts';
import type { Branch } from './branch.ts';
import { idsOf } from './entity-id.ts';
import { excludes, testOf } from './exclusion.ts';
import type { Comparison, RowFilter } from './narrow.ts';
import { hasPlainTexts } from './one-table.ts';

/** Adds to the filters of nodes the values of `entity_type` that WHERE allows. */
export function noteTypes(state: PlanState, { whereClause }: SelectStmt, relations: readonly ConceptRelation[]): void {
  for (const condition of conjuncts(whereClause)) {
    const compared = new Set<ConceptRelation['root']>();
    const types = idsOf(condition, (n) => {
      const ref = 'ColumnRef' in n ? state.references.of(n.ColumnRef) : undefined;
      if (!ref || !relations.includes(ref.relation) || ref.alias !== ref.node.alias) return false;
      if (ref.node.columns.get('entity_type')?.name !== ref.column) return false;
      compared.add(ref.node);
      return true;
    });
    if (types === undefined) continue;
    for (const node of compared) node.filter = { comparisons: [], ...node.filter, types: [...(node.filter?.types ?? []), new Set(types.ids)] };
  }
}

/** Notes for the outermost block that no condition reads the types of rows: no other block can read its result. */
export function noteShownTypes(state: PlanState, stmt: SelectStmt, relations: readonly ConceptRelation[]): void {
  if (stmt !== state.outermost || state.policies !== undefined) return;
  for (const { root, concept } of relations) {
    if (readsTypes(state, [stmt.whereClause, stmt.fromClause], root) || filtersByType(state, concept)) continue;
    for (const node of root.all()) node.filter = { comparisons: [], ...node.filter, typesAreFiltered: false };
  }
}

/** True if some trees read a column of a root or its paths that depends only on the mapping of a row. */
function readsTypes(state: PlanState, trees: unknown, root: ConceptRelation['root']): boolean {
  let found = false;
  eachColumn(trees, (column) => {
    const ref = found ? undefined : state.references.of(column);
    if (ref?.relation.root !== root) return;
    const wanted = ref.node.wantedOf(ref.column);
    found = wanted === undefined || ['entity_type', 'mapping', 'mapped_in'].includes(wanted.kind);
  });
  return found;
}

/** True if the condition of a logic concept reads the types of rows. */
function filtersByType(state: PlanState, concept: ConceptRelation['concept']): boolean {
  let found = false;
  for (let { rows } = concept; rows.kind === 'logic'; { rows } = rows.source) {
    walk(state.texts.expression(rows, rows.condition).node, (n) => {
      if ('ColumnRef' in n) found ||= /^(entity_type$|_type_of_)/i.test(fieldsOf(n.ColumnRef).at(-1) ?? '');
      return !found;
    });
  }
  return found;
}

/** True if no row of a mapping meets a filter. Mappings with row policies are kept, because the conditions of policies are evaluated in an order of their own. */
export function isExcluded(branch: Branch, filter: RowFilter): boolean {
  if (branch.rules.length > 0) return false;
  if (filter.types?.some((names) => !names.has(branch.mapped.name))) return true;
  return filter.comparisons.some((c) => !branch.isMasked(c.def) && (isAlwaysNull(branch, c) || contradicts(branch, c)));
}

/** True if the property is NULL in all rows of the mapping: then no comparison with it is true. */
function isAlwaysNull({ mapped, mapping }: Branch, { def }: Comparison): boolean {
  if (def.expression !== null) return false;
  return !has(mapped, def) || columnNamed(mapping, def.name.toLowerCase()) === undefined;
}

const TEXTS = new Set(['text', 'varchar']);

/** True if the condition of the mapping excludes a comparison. The property must have the values of the table's column, unconverted, and the caller must see them. */
function contradicts(branch: Branch, comparison: Comparison): boolean {
  const { def, on } = comparison;
  if (!isShown(comparison, branch.mapping)) return false;
  const given = branch.given(def);
  if (given?.type === undefined) return false;
  const declared = branch.typeOf(def);
  if (!(declared === 'text' ? TEXTS.has(given.type) : INTEGER_SQL[given.type] !== undefined && Object.values(INTEGER_SQL).includes(declared))) return false;
  const test = testOf(on(branch.rows.column(given.name)) as Node);
  if (test === undefined) return false;
  return branch.rows
    .where()
    .flatMap(conjuncts)
    .some((condition) => {
      const own = testOf(condition);
      return own !== undefined && excludes(test, own, (column) => hasPlainTexts(branch, column));
    });
}
