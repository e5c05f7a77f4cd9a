/** The aggregate calls of a block and the level of each (docs/design/aggregates-over-several-paths.md#levels). */
import type { FuncCall } from '@pgsql/types';
import { badRequest } from '../../errors.ts';
import { isAggregate } from '../guard/index.ts';
import type { PathNode } from '../joins.ts';
import { ownerOf, referenceOf } from '../references.ts';
import type { ConceptRelation } from '../relation.ts';
import type { Scope } from '../scope.ts';
import { lastName, type Node, walk } from '../tree.ts';

/** The deepest to-many node of a path, or null: the row that FROM yields. */
export type Level = PathNode | null;

export interface Call {
  /** The call's node in the tree, as long as the block stands as it was written. */
  readonly node: Node;
  readonly call: FuncCall;
  readonly level: Level;
  /** Sees a set of values, never how often each: any joined rows that contain its spine will do. */
  readonly free: boolean;
  /** Nodes of its arguments. */
  readonly nodes: ReadonlySet<PathNode>;
}

const FREE = new Set(['min', 'max', 'bool_and', 'bool_or', 'every', 'bit_and', 'bit_or']);

/** Whether a node is a call of an aggregate (no window). */
export const isAggregateCall = (node: Node): node is { FuncCall: FuncCall } =>
  'FuncCall' in node && !node.FuncCall.over && isAggregate(lastName(node.FuncCall.funcname));

/** What a block is asked about: its relations, and the nodes that FROM itself joins. */
export interface BlockFacts {
  readonly scope: Scope;
  readonly relations: readonly ConceptRelation[];
  /** Nodes that stand in FROM, in ON or LATERAL: they belong to the root's row. */
  readonly fromNodes: ReadonlySet<PathNode>;
  /** Whether a call without columns counts the root's rows, whatever is walked. */
  readonly cube?: boolean;
}

/** Nodes of the block's relations that a tree refers to, with all on the way to them (roots left out). */
export function nodesIn(tree: unknown, relations: readonly ConceptRelation[]): Set<PathNode> {
  const found = new Set<PathNode>();
  walk(tree, (n) => {
    if (!('ColumnRef' in n)) return undefined;
    const ref = referenceOf(n.ColumnRef);
    if (ref && relations.includes(ref.relation)) for (let at: PathNode | null = ref.node; at?.parent; at = at.parent) found.add(at);
    return undefined;
  });
  return found;
}

/** The to-many node that a node belongs to; what FROM joins counts as the root's. */
export function levelOf(node: PathNode, facts: BlockFacts): Level {
  for (let at: PathNode | null = node; at?.parent; at = at.parent) if (at.toMany && !facts.fromNodes.has(at)) return at;
  return null;
}

/** Whether `a` is `b` or lies on the way to it. */
export function isBeginning(a: Level, b: Level): boolean {
  if (a === null) return true;
  for (let at: Level = b; at; at = at.parent) if (at === a) return true;
  return false;
}

/** The longest of some levels; undefined where two of them part. */
export function longest(levels: Iterable<Level>): Level | undefined {
  let deepest: Level = null;
  for (const l of levels) {
    if (isBeginning(l, deepest)) continue;
    if (!isBeginning(deepest, l)) return undefined;
    deepest = l;
  }
  return deepest;
}

/** Why a call over parting paths is refused. */
const fanout = (message: string, hint: string) => badRequest('fanout', message, { hint });

/**
 * The calls that stand in some trees of a block and belong to it. `tree`: all nodes that the block walks, for calls
 * without columns. Errors: 400 `fanout`.
 */
export function callsOf(trees: readonly unknown[], facts: BlockFacts, tree: ReadonlySet<PathNode>): Call[] {
  const calls: Call[] = [];
  walk(trees, (n) => {
    if ('SelectStmt' in n) return false;
    if (!isAggregateCall(n)) return undefined;
    if (!belongs(n.FuncCall, facts.scope)) return undefined;
    calls.push(callOf(n, n.FuncCall, facts, tree));
    return false;
  });
  return calls;
}

/** A call belongs to the innermost block that owns a column of its arguments; one without columns to the block where it stands. */
function belongs(call: FuncCall, scope: Scope): boolean {
  let any = false;
  let own = false;
  walk(argumentsOf(call), (n) => {
    if (!('ColumnRef' in n)) return undefined;
    any = true;
    const owner = ownerOf(n.ColumnRef);
    if (owner === undefined || owner === scope) own = true;
    return undefined;
  });
  return own || !any;
}

/** Arguments, ORDER BY and WITHIN GROUP; direct arguments of ordered-set calls aside. */
const argumentsOf = (call: FuncCall): unknown[] => [call.agg_within_group ? undefined : call.args, call.agg_order];

function callOf(node: Node, call: FuncCall, facts: BlockFacts, tree: ReadonlySet<PathNode>): Call {
  const nodes = nodesIn(argumentsOf(call), facts.relations);
  const free = FREE.has(lastName(call.funcname)) || call.agg_distinct === true;
  let columns = false;
  walk(argumentsOf(call), (n) => {
    if ('ColumnRef' in n && ownerOf(n.ColumnRef) === facts.scope) columns = true;
    return undefined;
  });
  if (!columns) {
    const level = facts.cube ? null : longest([...tree].map((n) => levelOf(n, facts)));
    if (level === undefined)
      throw fanout(
        `${lastName(call.funcname)}(*) over two paths that part counts their product`,
        'count one of them, or COUNT(DISTINCT entity_id) for the rows themselves',
      );
    return { node, call, level, free, nodes };
  }
  const level = longest([...nodes].map((n) => levelOf(n, facts)));
  if (level === undefined)
    throw fanout(`a call of ${lastName(call.funcname)} takes columns of two paths that part`, 'aggregate each path by itself, in two calls or in a sub-query');
  return { node, call, level, free, nodes };
}
