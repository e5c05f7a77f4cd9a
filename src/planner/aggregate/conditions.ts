/** Conditions on branches as EXISTS, split so that each reads as little as it can (docs/design/aggregates-over-several-paths.md#conditions-on-branches). */
import type { PathNode } from '../joins.ts';
import { type Joined, type Maker, prepareJoins } from '../joins.ts';
import { forget, referenceOf } from '../references.ts';
import type { ConceptRelation } from '../relation.ts';
import { and, column, exists, join, type Node, nameOf, not, or, select, string, subselect, target, walk } from '../tree.ts';
import { nodesIn } from './calls.ts';

/** Branch nodes of a level by relation: what is not on its spine. */
export interface Branches {
  readonly relations: readonly ConceptRelation[];
  readonly isBranch: (node: PathNode) => boolean;
  /** Whether the conditions stand inside the relation's own sub-select, where its nodes have their own aliases. */
  readonly inside?: boolean;
}

/** The branch nodes that a tree refers to. */
export const branchNodes = (tree: unknown, branches: Branches): Set<PathNode> => new Set([...nodesIn(tree, branches.relations)].filter(branches.isBranch));

/** Where a branch leaves the spine: nodes of one top share joined rows. */
function topOf(node: PathNode, branches: Branches): PathNode {
  let top = node;
  while (top.parent?.parent && branches.isBranch(top.parent)) top = top.parent;
  return top;
}

const topsOf = (tree: unknown, branches: Branches): Set<PathNode> => new Set([...branchNodes(tree, branches)].map((n) => topOf(n, branches)));

/** Conditions in groups that share no branch. */
export function connected(conditions: readonly Node[], branches: Branches): { readonly tops: Set<PathNode>; readonly conditions: Node[] }[] {
  let groups: { tops: Set<PathNode>; conditions: Node[] }[] = [];
  for (const condition of conditions) {
    const tops = topsOf(condition, branches);
    const touched = groups.filter((g) => [...g.tops].some((t) => tops.has(t)));
    const merged = { tops: new Set([...touched.flatMap((g) => [...g.tops]), ...tops]), conditions: [...touched.flatMap((g) => g.conditions), condition] };
    groups = [...groups.filter((g) => !touched.includes(g)), merged];
  }
  return groups;
}

/** The parts of a condition that are joined by AND. */
export function conjuncts(condition: Node | undefined): Node[] {
  if (!condition) return [];
  if ('BoolExpr' in condition && condition.BoolExpr.boolop === 'AND_EXPR') return (condition.BoolExpr.args ?? []).flatMap(conjuncts);
  return [condition];
}

/** A condition that is true of a spine row where some joined row of its branches meets it. The tree may be changed. */
export function asExists(condition: Node, branches: Branches): Node {
  if (branchNodes(condition, branches).size === 0) return condition;
  if ('BoolExpr' in condition) {
    const args = condition.BoolExpr.args ?? [];
    if (condition.BoolExpr.boolop === 'OR_EXPR') return or(args.map((a) => asExists(a, branches)));
    if (condition.BoolExpr.boolop === 'AND_EXPR') {
      const groups = connected(conjuncts(condition), branches);
      return and(
        groups.map((g) => (g.conditions.length === 1 ? asExists(g.conditions[0] as Node, branches) : existsRow(and(g.conditions) as Node, branches))),
      ) as Node;
    }
    const inner = args[0];
    if (inner && 'BoolExpr' in inner) return asExists(pushNot(inner), branches);
  }
  return existsRow(condition, branches);
}

/** NOT over AND, OR and NOT, pushed one step down: it holds for three-valued logic. */
function pushNot(inner: Node): Node {
  if (!('BoolExpr' in inner)) return not(inner);
  const args = inner.BoolExpr.args ?? [];
  if (inner.BoolExpr.boolop === 'NOT_EXPR') return args[0] as Node;
  if (inner.BoolExpr.boolop === 'AND_EXPR') return or(args.map(pushNot));
  return and(args.map(pushNot)) as Node;
}

function existsRow(condition: Node, branches: Branches): Node {
  const nodes = branchNodes(condition, branches);
  const [only] = nodes;
  if (
    nodes.size === 1 &&
    only &&
    'NullTest' in condition &&
    condition.NullTest.nulltesttype === 'IS_NULL' &&
    condition.NullTest.arg &&
    'ColumnRef' in condition.NullTest.arg
  ) {
    return isNullOrMissing(condition, nodes, branches);
  }
  const { from, conditions } = joinBranches(nodes, branches, isStrict(condition, nodes));
  return exists(select({ targetList: [], fromClause: [from], whereClause: and([...conditions, ...conjuncts(pointInside(nodes, condition))]) as Node }));
}

/**
 * `path.column IS NULL`, one hop away: a related row has NULL there, or nothing is related
 * (docs/design/aggregates-over-several-paths.md#conditions-on-branches).
 */
function isNullOrMissing(condition: Node, nodes: ReadonlySet<PathNode>, branches: Branches): Node {
  const related = joinBranches(nodes, branches, true);
  const missing = joinBranches(nodes, branches, true);
  const isNull = pointInside(nodes, condition);
  return or([
    not(exists(select({ targetList: [], fromClause: [missing.from], whereClause: and(missing.conditions) as Node }))),
    exists(select({ targetList: [], fromClause: [related.from], whereClause: and([...related.conditions, isNull]) as Node })),
  ]);
}

/**
 * FROM that joins branch nodes to the spine row outside, with the conditions that go into WHERE beside it. `inner`: only rows
 * that are there (for conditions that no row of NULLs meets), else one row of NULLs where nothing is related. What hangs on a
 * node is joined inside its item: in a chain of LEFT JOINs that begins with a constant or an outer reference, PostgreSQL 18
 * takes rows for related that are not.
 */
export function joinBranches(nodes: ReadonlySet<PathNode>, branches: Branches, inner: boolean): { from: Node; conditions: Node[] } {
  const { work } = branches.relations[0] as ConceptRelation;
  const conditions: Node[] = [];
  let from: Node | undefined = inner ? undefined : subselect(select({ targetList: [target({ A_Const: { ival: { ival: 1 } } }, 'one')] }), work.alias());
  for (const relation of branches.relations) {
    const mine = new Set([...nodes].filter((n) => rootOf(n) === relation.root));
    const makers = prepareJoins(relation.root, mine);
    const outside = (parent: PathNode, name: string): Node =>
      branches.inside ? column(parent.alias, name) : column(relation.alias, relation.exposeNode(parent, name));
    for (const node of makers.keys()) {
      const parent = node.parent as PathNode;
      if (mine.has(parent)) continue;
      const { item, condition } = joinBelow(node, makers, inner ? 'JOIN_INNER' : 'JOIN_LEFT', (name) => outside(parent, name));
      if (!from) {
        from = item;
        conditions.push(condition);
      } else from = join(inner ? 'JOIN_INNER' : 'JOIN_LEFT', from, item, condition);
    }
  }
  return { from: from as Node, conditions };
}

/** A node with what hangs on it joined inside its item. `parentColumn`: a column of the row that it hangs on. */
export function joinBelow(
  node: PathNode,
  makers: ReadonlyMap<PathNode, Maker>,
  kind: 'JOIN_INNER' | 'JOIN_LEFT',
  parentColumn: (name: string) => Node,
): Joined {
  const made = (makers.get(node) as Maker)(parentColumn);
  let { item } = made;
  for (const child of node.children.values()) {
    if (!makers.has(child)) continue;
    const below = joinBelow(child, makers, kind, (name) => column(node.alias, name));
    item = join(kind, item, below.item, below.condition);
  }
  return { item, condition: made.condition };
}

const rootOf = (node: PathNode): PathNode => {
  let at = node;
  while (at.parent) at = at.parent;
  return at;
};

/** Turns references to columns of `nodes` from the relation's own columns to the joined nodes (in place). */
export function pointInside<T>(nodes: ReadonlySet<PathNode>, tree: T): T {
  walk(tree, (n) => {
    if (!('ColumnRef' in n)) return undefined;
    const ref = referenceOf(n.ColumnRef);
    if (ref && nodes.has(ref.node)) {
      n.ColumnRef.fields = [string(ref.alias), string(ref.column)];
      forget(n.ColumnRef);
    }
    return undefined;
  });
  return tree;
}

const STRICT_OPERATORS = new Set(['=', '<>', '!=', '<', '>', '<=', '>=', '~~', '!~~', '~~*', '!~~*', '~', '~*', '!~', '!~*']);

/** Whether a condition is surely not true of a row of NULLs of every node: each leaf of the join tree has a comparison that needs it. */
export function isStrict(condition: Node, nodes: ReadonlySet<PathNode>): boolean {
  const needed = new Set<PathNode>();
  for (const part of conjuncts(condition)) for (const n of strictNodes(part)) for (let at: PathNode | null = n; at; at = at.parent) needed.add(at);
  return [...nodes].every((n) => needed.has(n));
}

/** Nodes of whose columns a comparison needs a value. */
function strictNodes(part: Node): PathNode[] {
  const nodeOf = (n: Node | undefined): PathNode[] => {
    const bare = n && 'TypeCast' in n ? n.TypeCast.arg : n;
    const ref = bare && 'ColumnRef' in bare ? referenceOf(bare.ColumnRef) : undefined;
    return ref ? [ref.node] : [];
  };
  if ('NullTest' in part) return part.NullTest.nulltesttype === 'IS_NOT_NULL' ? nodeOf(part.NullTest.arg) : [];
  if (!('A_Expr' in part)) return [];
  const { kind, name, lexpr, rexpr } = part.A_Expr;
  const op = nameOf(name?.[0]) ?? '';
  if (kind === 'AEXPR_OP' && STRICT_OPERATORS.has(op)) return [...nodeOf(lexpr), ...nodeOf(rexpr)];
  if (kind === 'AEXPR_LIKE' || kind === 'AEXPR_ILIKE' || kind === 'AEXPR_BETWEEN') return nodeOf(lexpr);
  if (kind === 'AEXPR_IN' && rexpr && 'List' in rexpr && op === '=') return nodeOf(lexpr);
  return [];
}
