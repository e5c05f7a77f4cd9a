/**
 * Counts keys instead of entity ids, and groups by them: `COUNT(entity_id)` is the number of rows with a key. The database then need not build and compare
 * the texts (docs/design/sql-shapes.md#counts-of-entity_id).
 */
import type { ColumnRef, FuncCall } from '@pgsql/types';
import type { ConceptRelation } from '../bind/relation.ts';
import type { PathNode } from '../plan/path-node.ts';
import { eachColumn, lastName, type SelectStmt, walk } from '../plan/tree.ts';
import { declaredType, type Wanted } from '../plan/wanted.ts';
import type { PlanState } from '../plan-state.ts';

const ENTITY_ID = 'entity_id';

/** Types of which two values are equal if and only if their texts are equal: `numeric` is not among them, since 1.0 = 1.00. */
const EXACT = new Set(['text', 'smallint', 'integer', 'bigint', 'uuid', 'date', 'boolean']);

/** How a block uses the ids of a node. */
interface Uses {
  /** The number of references. */
  all: number;
  /** The number of references that are the only argument of COUNT, or an item of GROUP BY. */
  counted: number;
  /** True if different ids must have different keys. */
  distinct: boolean;
}

/** Lets the nodes whose `entity_id` a block only counts or groups by return the key instead. Only for a block that reads one concept, since a join by USING names its columns otherwise. */
export function countKeys(state: PlanState, stmt: SelectStmt, relations: readonly ConceptRelation[]): void {
  // a masked key is no key, and a caller who sees a part of the model may not see the property
  if (state.policies !== undefined || state.seen !== state.graph || relations.some((r) => r.barriers.length > 0)) return;
  const uses = usesOf(state, stmt, relations);
  for (const [node, { all, counted, distinct }] of uses) {
    const wanted = all === counted ? keyColumn(state, node, distinct) : undefined;
    if (wanted !== undefined) node.replace(ENTITY_ID, `counted:${ENTITY_ID}`, wanted);
  }
}

function usesOf(state: PlanState, stmt: SelectStmt, relations: readonly ConceptRelation[]): ReadonlyMap<PathNode, Uses> {
  const uses = new Map<PathNode, Uses>();
  if (!relations.some((r) => r.root.all().some((n) => n.columns.has(ENTITY_ID)))) return uses;
  const usesAt = (ref: ColumnRef): Uses | undefined => {
    const found = state.references.of(ref);
    if (!found || !relations.includes(found.relation) || found.alias !== found.node.alias) return undefined;
    if (found.node.columns.get(ENTITY_ID)?.name !== found.column) return undefined;
    const known = uses.get(found.node) ?? { all: 0, counted: 0, distinct: false };
    uses.set(found.node, known);
    return known;
  };
  eachColumn(stmt, (ref) => {
    const at = usesAt(ref);
    if (at !== undefined) at.all++;
  });
  if (uses.size === 0) return uses;
  for (const item of stmt.groupClause ?? []) {
    const at = 'ColumnRef' in item ? usesAt(item.ColumnRef) : undefined;
    if (at === undefined) continue;
    at.counted++;
    at.distinct = true;
  }
  walk(stmt, (n) => {
    const argument = 'FuncCall' in n && isCount(n.FuncCall) ? n.FuncCall.args?.[0] : undefined;
    const at = argument && 'ColumnRef' in argument ? usesAt(argument.ColumnRef) : undefined;
    if (at === undefined) return undefined;
    at.counted++;
    at.distinct ||= (n as { FuncCall: FuncCall }).FuncCall.agg_distinct ?? false;
    return undefined;
  });
  return uses;
}

const isCount = ({ funcname, args, agg_order }: FuncCall): boolean =>
  funcname?.length === 1 && lastName(funcname) === 'count' && args?.length === 1 && !agg_order;

/** The column that has a value in the same rows as the id; `distinct`: and different values for different ids. undefined: no column has. */
function keyColumn(state: PlanState, { concept }: PathNode, distinct: boolean): Wanted | undefined {
  let { rows } = concept;
  while (rows.kind === 'logic') rows = rows.source.rows;
  const keys = rows.sources.map(({ target }) => target.key);
  const [first] = keys;
  const [def] = first?.properties ?? [];
  // ids of several holders differ although their keys are equal, and a concept without the key does not list its property
  if (!first || def === undefined || ![...keys, concept.key].every((k) => k?.holder === first.holder)) return undefined;
  if (first.properties.length !== 1 || def.expression !== null) return undefined;
  const type = declaredType(state.graph, def);
  // columns of several mappings may have different collations, by which PostgreSQL cannot compare texts; ids have the database's own
  if (distinct && (!EXACT.has(type) || (type === 'text' && keys.length > 1))) return undefined;
  return { kind: 'property', def };
}
