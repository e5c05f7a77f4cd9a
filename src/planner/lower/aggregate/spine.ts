/** Levels and their spines: the nodes that have one row for each row of a level (docs/design/aggregates-over-several-paths.md#words). */
import type { ConceptRelation } from '../../bind/relation.ts';
import type { Scope } from '../../bind/scope.ts';
import type { PathNode } from '../../plan/path-node.ts';
import type { References } from '../../plan/references.ts';
import { eachColumn } from '../../plan/tree.ts';
import type { Proofs } from './proofs.ts';

/** The deepest to-many node of a path; null for the row that FROM yields. */
export type Level = PathNode | null;

/** The rows that a call is computed over. */
export interface Spine {
  readonly level: Level;
  /** The to-many nodes that are proved to have at most one row for each row of the level, if a call needs them (proofs.ts). */
  readonly proved: ReadonlySet<PathNode>;
}

/** The part of a block that levels depend on. */
export interface BlockFacts {
  readonly scope: Scope;
  readonly relations: readonly ConceptRelation[];
  readonly references: References;
  /** The nodes that FROM itself joins, in ON or LATERAL. They belong to the root's row. */
  readonly fromNodes: ReadonlySet<PathNode>;
  /** True if a call without columns counts the root's rows, regardless of the paths that the block follows. */
  readonly cube?: boolean;
  readonly proofs: Proofs;
}

/** The nodes of the block's relations that a tree refers to, and their ancestors, except roots. */
export function nodesIn(tree: unknown, relations: readonly ConceptRelation[]): Set<PathNode> {
  const found = new Set<PathNode>();
  if (relations.every((r) => r.root.children.size === 0)) return found;
  eachColumn(tree, (column) => {
    const ref = relations[0]?.state.references.of(column);
    if (ref) addNode(found, ref.node, ref.relation, relations);
  });
  return found;
}

/** Adds a node that a reference names, and its ancestors except the root, if it belongs to one of the block's relations. */
export function addNode(found: Set<PathNode>, node: PathNode, relation: ConceptRelation, relations: readonly ConceptRelation[]): void {
  if (node.parent && relations.includes(relation)) for (let at: PathNode | null = node; at?.parent; at = at.parent) found.add(at);
}

/** The to-many node that a node belongs to. Nodes that FROM joins belong to the root. */
export function levelOf(node: PathNode, { fromNodes }: Pick<BlockFacts, 'fromNodes'>): Level {
  for (let at: PathNode | null = node; at?.parent; at = at.parent) if (at.toMany && !fromNodes.has(at)) return at;
  return null;
}

/** True if `a` is `b` or an ancestor of it. */
export function isPrefix(a: Level, b: Level): boolean {
  if (a === null) return true;
  for (let at: Level = b; at; at = at.parent) if (at === a) return true;
  return false;
}

/** The deepest of some levels; undefined if two of them are on different paths. */
export function deepestLevel(levels: Iterable<Level>): Level | undefined {
  let found: Level = null;
  for (const l of levels) {
    if (isPrefix(l, found)) continue;
    if (!isPrefix(found, l)) return undefined;
    found = l;
  }
  return found;
}

/** No nodes. */
export const NONE: ReadonlySet<PathNode> = new Set();

/** True if a node has one row for each row of a level: it is on the level's path, a to-one path from it, or proved. */
export function isOnSpine(node: PathNode, { level, proved }: Spine, facts: BlockFacts): boolean {
  const own = levelOf(node, facts);
  return isPrefix(own, level) || (own !== null && proved.has(own));
}
