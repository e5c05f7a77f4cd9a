/**
 * Conditions on branches as EXISTS, split so that each sub-query reads as few paths as possible
 * (docs/design/aggregates-over-several-paths.md#conditions-on-branches).
 */

import type { ConceptRelation } from '../../bind/relation.ts';
import type { PathNode } from '../../plan/path-node.ts';
import type { References } from '../../plan/references.ts';
import { and, column, conjuncts, exists, join, type Node, not, or, select, string, subselect, target, walk } from '../../plan/tree.ts';
import { type Joined, type Maker, prepareJoins } from '../joins.ts';
import { nodesIn } from './spine.ts';
import { isStrict } from './strict.ts';

/** The branches of a level: the nodes of the relations that are not on its spine. */
export interface Branches {
  readonly relations: readonly ConceptRelation[];
  readonly isBranch: (node: PathNode) => boolean;
  /** True if the conditions are inside the relation's own sub-select, where the nodes have their own aliases. */
  readonly inside?: boolean;
}

/** The references of the plan to which the branches belong. */
export const referencesOf = (branches: Branches): References => (branches.relations[0] as ConceptRelation).state.references;

/** The branch nodes that a tree refers to. */
export const branchNodes = (tree: unknown, branches: Branches): Set<PathNode> => new Set([...nodesIn(tree, branches.relations)].filter(branches.isBranch));

/** The first node of a branch. The nodes below it share its joined rows. */
function topOf(node: PathNode, branches: Branches): PathNode {
  let top = node;
  while (top.parent?.parent && branches.isBranch(top.parent)) top = top.parent;
  return top;
}

const topsOf = (tree: unknown, branches: Branches): Set<PathNode> => new Set([...branchNodes(tree, branches)].map((n) => topOf(n, branches)));

/** Groups conditions so that no two groups share a branch. */
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

/** A condition that is true for a row of the spine if some joined row of its branches meets it. The tree may be changed. */
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

/** Pushes NOT one step into AND, OR or NOT, which is valid in three-valued logic. */
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
  const { from, conditions } = joinBranches(nodes, branches, isStrict(condition, nodes, referencesOf(branches)));
  return exists(
    select({
      targetList: [],
      fromClause: [from],
      whereClause: and([...conditions, ...conjuncts(retarget(nodes, condition, referencesOf(branches)))]) as Node,
    }),
  );
}

/**
 * `path.column IS NULL` over one hop: a related row has NULL there, or there is no related row
 * (docs/design/aggregates-over-several-paths.md#conditions-on-branches).
 */
function isNullOrMissing(condition: Node, nodes: ReadonlySet<PathNode>, branches: Branches): Node {
  const related = joinBranches(nodes, branches, true);
  const missing = joinBranches(nodes, branches, true);
  const isNull = retarget(nodes, condition, referencesOf(branches));
  return or([
    not(exists(select({ targetList: [], fromClause: [missing.from], whereClause: and(missing.conditions) as Node }))),
    exists(select({ targetList: [], fromClause: [related.from], whereClause: and([...related.conditions, isNull]) as Node })),
  ]);
}

/**
 * FROM that joins branch nodes to the outer row of the spine, with conditions for WHERE. `inner`: only related rows, for conditions that a row of NULLs cannot
 * meet; otherwise there is one row of NULLs if no row is related. Further hops are joined inside the item of their parent: in a chain of LEFT JOINs that starts
 * with a constant or an outer reference, PostgreSQL 18 returns rows as related that are not.
 */
export function joinBranches(nodes: ReadonlySet<PathNode>, branches: Branches, inner: boolean): { from: Node; conditions: Node[] } {
  const { state } = branches.relations[0] as ConceptRelation;
  const conditions: Node[] = [];
  let from: Node | undefined = inner ? undefined : subselect(select({ targetList: [target({ A_Const: { ival: { ival: 1 } } }, 'one')] }), state.alias());
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

/** A node with the nodes below it joined inside its item. `parentColumn` gives a column of the parent row. */
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

/** Replaces references to columns of `nodes` by references to the joined nodes (in place). */
export function retarget<T>(nodes: ReadonlySet<PathNode>, tree: T, references: References): T {
  walk(tree, (n) => {
    if (!('ColumnRef' in n)) return undefined;
    const ref = references.of(n.ColumnRef);
    if (ref && nodes.has(ref.node)) n.ColumnRef.fields = [string(ref.alias), string(ref.column)];
    return undefined;
  });
  return tree;
}
