/**
 * One sub-select for each level, with the block's FROM, WHERE and GROUP BY (docs/design/aggregates-over-several-paths.md#shapes-of-one-level), and their
 * combination (docs/design/aggregates-over-several-paths.md#combining-levels).
 */
import type { PropertyDef } from '../../../ontology/model.ts';
import { locating } from '../../plan/located-error.ts';
import { type PathNode, propertyKey } from '../../plan/path-node.ts';
import {
  and,
  boolean,
  call,
  cast,
  clone,
  column,
  conjuncts,
  integer,
  isNotNull,
  join,
  type Node,
  nullValue,
  operator,
  replaceNode,
  type SelectStmt,
  select,
  subselect,
  target,
  unionAll,
  walk,
} from '../../plan/tree.ts';
import { actualProperty } from '../../plan/wanted.ts';
import { propertyFor } from '../../secure/shown.ts';
import type { Block } from './block.ts';
import { isAggregateCall } from './calls.ts';
import { asExists, type Branches, branchNodes, connected, joinBranches, referencesOf, retarget } from './conditions.ts';
import { foldedRows, foldParts } from './fold.ts';
import { type GroupSet, groupingBits, groupingsIn, groupSets, replaceGrouped } from './groups.ts';
import { expandMeasure } from './measures.ts';
import { type Level as Computed, merge, pickOf } from './merge.ts';
import { resultType } from './nulls.ts';
import { type Item, type Part, partsOf, type Things } from './parts.ts';
import { isOnSpine, type Level, nodesIn } from './spine.ts';
import { isStrict } from './strict.ts';

/** Replaces the block's FROM by the combined levels (in place). */
export function combine(block: Block, items: readonly Item[]): void {
  const { stmt, state } = block;
  const sets = groupSets(stmt, block.references);
  const expressions = sets.expressions;
  const parts = foldParts(block, partsOf(items, block), expressions, sets.several);
  const names = new Map<Node, Node>();
  const groupings = groupingsIn(stmt);
  const grouped = expressions.length > 0 || sets.several;
  const levels: Computed[] = [];
  let alias = state.alias();
  for (const [p, part] of parts.entries()) {
    const here = p === 0 ? groupings : [];
    const query = arms(block, part, sets.sets, expressions, here, `c${p}_`);
    part.items.forEach((item, i) => {
      names.set(item.node, column(grouped ? alias : `${alias}_${p}`, `c${p}_${i}`));
    });
    const columns = part.items.map((item, i) => {
      return { name: `c${p}_${i}`, pick: pickOf(item.expression, item.type), type: item.type ?? resultType(item.expression, block.references) };
    });
    levels.push({ query, columns: [...columns, ...here.map((_, s) => ({ name: `s${s}`, pick: 'max' as const, type: 'integer' }))] });
  }
  const from = grouped
    ? [subselect(merge(state, levels, expressions.length, sets.several).query, alias)]
    : levels.map((l, p) => subselect(l.query, `${alias}_${p}`));
  if (!grouped) alias = `${alias}_0`;
  const groupNames = expressions.map((expression, i) => ({ expression, column: column(alias, `g${i}`) }));
  groupings.forEach((g, i) => {
    names.set(g, column(alias, `s${i}`));
  });
  const outer = <T>(tree: T): T => replaceGrouped(tree, names, groupNames, block);
  stmt.targetList = outer(stmt.targetList ?? []);
  stmt.sortClause = outer(stmt.sortClause ?? []);
  if (stmt.distinctClause) stmt.distinctClause = outer(stmt.distinctClause);
  if (stmt.windowClause) stmt.windowClause = outer(stmt.windowClause);
  const having = stmt.havingClause ? outer(stmt.havingClause) : undefined;
  stmt.fromClause = from;
  delete stmt.groupClause;
  delete stmt.groupDistinct;
  delete stmt.havingClause;
  if (having) stmt.whereClause = having;
  else delete stmt.whereClause;
  if (stmt.sortClause.length === 0) delete stmt.sortClause;
}

/** The sub-select of a part: one SELECT, or a UNION ALL with one SELECT for each grouping set. */
function arms(block: Block, part: Part, sets: readonly GroupSet[], expressions: readonly Node[], groupings: readonly Node[], prefix: string): SelectStmt {
  const arm = (set: GroupSet, i: number, empty: boolean): SelectStmt => {
    const bits = groupings.map((g, s) => target(cast(integer(String(groupingBits(g, set))), 'integer'), `s${s}`));
    const query = part.things ? thingsSelect(block, part.things, set, expressions, empty, prefix) : rowsSelect(block, part, set, expressions, empty, prefix);
    if (sets.length > 1) query.targetList?.push(target(cast(integer(String(i)), 'integer'), 'n'));
    query.targetList?.push(...bits);
    return query;
  };
  const first = sets[0] as GroupSet;
  if (sets.length === 1) return arm(first, 0, false);
  // The first arm has no rows. It gives PostgreSQL the types of columns that other arms leave NULL.
  const typed = arm({ expressions: [...expressions] }, -1, true);
  return sets.map((s, i) => arm(s, i, false)).reduce(unionAll, typed);
}

function rowsSelect(block: Block, part: Part, set: GroupSet, expressions: readonly Node[], empty: boolean, prefix: string): SelectStmt {
  const { state } = block;
  const branches: Branches = { relations: block.relations, isBranch: (n) => !isOnSpine(n, part, block) };
  const where = conjuncts(clone(block.stmt.whereClause));
  const groups = set.expressions.map((e) => clone(e));
  const folded = (part.folds ?? []).map((f) => foldedRows(block, f));
  const computed = part.items.map((i) => folded.map((f) => f.values.get(i)).find((v) => v !== undefined) ?? clone(i.expression));
  const starts = (part.folds ?? []).flatMap((f) => pathTo(f.top.parent));
  const spine = new Set(
    [...nodesIn([where, groups, computed], block.relations), ...block.fromNodes, ...pathTo(part.level), ...starts].filter((n) => !branches.isBranch(n)),
  );

  const onBranch = where.filter((w) => branchNodes(w, branches).size > 0);
  const branchGroups = groups.filter((g) => branchNodes(g, branches).size > 0);
  const filters = branchFilters(computed, branches);
  const onSpine = where.filter((w) => !onBranch.includes(w));
  const from: Node[] = [];
  if (branchGroups.length > 0 || filters.length > 0) {
    const inside = connected([...branchGroups, ...filters.map((f) => f.condition), ...onBranch], branches).filter((c) =>
      c.conditions.some((x) => branchGroups.includes(x) || filters.some((f) => f.condition === x)),
    );
    const within = onBranch.filter((w) => inside.some((c) => c.conditions.includes(w)));
    const alias = state.alias();
    const lateral = lateralSelect(branches, branchGroups, filters, within);
    branchGroups.forEach((g, i) => {
      replaceNode(g, column(alias, `g${i}`));
    });
    filters.forEach((f, i) => {
      f.put(column(alias, `f${i}`));
    });
    onSpine.push(...onBranch.filter((w) => !within.includes(w)).map((w) => asExists(w, branches)));
    from.push(subselect(lateral, alias, { lateral: true }));
  } else {
    const rest = connected(onBranch, branches).map((c) => asExists(and(c.conditions) as Node, branches));
    onSpine.push(...rest);
  }
  if (empty) onSpine.push(boolean(false));
  const base = block.from(spine);
  const rows = folded.length > 0 ? [folded.reduce((l, f) => join('JOIN_LEFT', l, f.item, f.condition), base[0] as Node)] : base;
  return levelSelect(rows, from, onSpine, set, groups, expressions, computed, prefix);
}

/** `SELECT groups, computed FROM .. WHERE .. GROUP BY groups`. */
function levelSelect(
  base: Node[],
  lateral: Node[],
  where: readonly Node[],
  set: GroupSet,
  groups: readonly Node[],
  expressions: readonly Node[],
  computed: readonly Node[],
  prefix: string,
): SelectStmt {
  const condition = and(where);
  return select({
    targetList: [
      ...expressions.map((e, i) => {
        const at = set.expressions.indexOf(e);
        return target(at < 0 ? nullValue() : clone(groups[at] as Node), `g${i}`);
      }),
      ...computed.map((c, i) => target(c, `${prefix}${i}`)),
    ],
    fromClause: [...base, ...lateral],
    ...(condition ? { whereClause: condition } : {}),
    ...(groups.length > 0 ? { groupClause: [...groups] } : {}),
  });
}

interface BranchFilter {
  readonly condition: Node;
  put(flag: Node): void;
}

/** The FILTERs on branches. Their conditions are evaluated in the LATERAL sub-select, which yields a flag for each. */
function branchFilters(computed: readonly Node[], branches: Branches): BranchFilter[] {
  const filters: BranchFilter[] = [];
  walk(computed, (n) => {
    if ('SelectStmt' in n) return false;
    if (!isAggregateCall(n) || !n.FuncCall.agg_filter) return undefined;
    const parts = conjuncts(n.FuncCall.agg_filter);
    const onBranch = parts.filter((p) => branchNodes(p, branches).size > 0);
    if (onBranch.length === 0) return false;
    const condition = and(onBranch) as Node;
    const call = n.FuncCall;
    filters.push({
      condition,
      put: (flag) => {
        call.agg_filter = and([...parts.filter((p) => !onBranch.includes(p)), flag]) as Node;
      },
    });
    return false;
  });
  return filters;
}

/**
 * The distinct values of the groups on branches for a row of the spine, with a flag for each filter that is true if one of the joined rows meets it
 * (docs/design/aggregates-over-several-paths.md#groups-and-filters-on-branches).
 */
function lateralSelect(branches: Branches, groups: readonly Node[], filters: readonly BranchFilter[], where: readonly Node[]): SelectStmt {
  const pieces = clone({ groups: [...groups], filters: filters.map((f) => f.condition), where: [...where] });
  const nodes = branchNodes(pieces, branches);
  const condition = and(pieces.where);
  const { from, conditions } = joinBranches(nodes, branches, condition !== undefined && isStrict(condition, nodes, referencesOf(branches)));
  retarget(nodes, pieces, referencesOf(branches));
  const all = and([...conditions, ...pieces.where]);
  return select({
    ...(filters.length === 0 ? { distinctClause: [{} as Node] } : {}),
    targetList: [...pieces.groups.map((g, i) => target(g, `g${i}`)), ...pieces.filters.map((f, i) => target(call('bool_or', [f]), `f${i}`))],
    fromClause: [from],
    ...(all ? { whereClause: all } : {}),
    ...(filters.length > 0 && groups.length > 0 ? { groupClause: clone(pieces.groups) } : {}),
    ...(filters.length > 0 && groups.length === 0 ? { havingClause: operator('>', countAll(), integer('0')) } : {}),
  });
}

const countAll = (): Node => ({ FuncCall: { funcname: [{ String: { sval: 'count' } }], agg_star: true, funcformat: 'COERCE_EXPLICIT_CALL' } });

/** A measure over the distinct things to which the joined rows of each group lead (docs/design/aggregates-over-several-paths.md#measures). */
function thingsSelect(block: Block, things: Things, set: GroupSet, expressions: readonly Node[], empty: boolean, prefix: string): SelectStmt {
  const { state } = block;
  const { measure } = things;
  const { relation, node, concept } = measure;
  const x = state.alias();
  const where = conjuncts(clone(block.stmt.whereClause));
  const groups = set.expressions.map((e) => clone(e));
  const filter = clone(things.filter);
  const inner = new Map<string, Node>([['m', relation.columnAt(node, { kind: 'mapping' })]]);
  for (const p of concept.key?.properties ?? []) inner.set(propertyKey(p, state.policies !== undefined), relation.columnAt(node, actualProperty(state, p)));
  const nameOf = new Map<string, string>();
  const seen = relation.named.graph.concept(concept.name) ?? concept;
  const columnOf = (def: PropertyDef): Node => {
    const key = `p:${def.name}`;
    if (!inner.has(key)) inner.set(key, relation.columnAt(node, propertyFor(seen, def)));
    if (!nameOf.has(key)) nameOf.set(key, `x${[...inner.keys()].indexOf(key)}`);
    return column(x, nameOf.get(key) as string);
  };
  const filters = (): Node[] => [isNotNull(column(x, 'x0')), ...(filter ? [column(x, 'f')] : [])];
  const value = locating(things.call, () => expandMeasure(state, measure, columnOf, filters));
  const targets = [...groups.map((g, i) => target(g, `g${i}`)), ...[...inner.values()].map((v, i) => target(v, `x${i}`))];
  const nodes = new Set([...nodesIn([where, groups, filter], block.relations), ...block.fromNodes, ...pathTo(node)]);
  if (empty) where.push(boolean(false));
  const condition = and(where);
  const distinct = select({
    ...(filter ? { groupClause: targets.map((t) => clone((t as { ResTarget: { val: Node } }).ResTarget.val)) } : { distinctClause: [{} as Node] }),
    targetList: [...targets, ...(filter ? [target(call('bool_or', [filter]), 'f')] : [])],
    fromClause: block.from(nodes),
    ...(condition ? { whereClause: condition } : {}),
  });
  const outerGroups = groups.map((_, i) => column(x, `g${i}`));
  return levelSelect([subselect(distinct, x)], [], [], set, outerGroups, expressions, [value], prefix);
}

/** A node and its ancestors, except the root. */
function pathTo(node: Level): PathNode[] {
  const nodes: PathNode[] = [];
  for (let at: PathNode | null = node; at?.parent; at = at.parent) nodes.push(at);
  return nodes;
}
