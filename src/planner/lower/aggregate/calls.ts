/** The aggregate calls of a block and the level of each (docs/design/aggregates-over-several-paths.md#levels). */
import type { FuncCall } from '@pgsql/types';
import type { ConceptRelation } from '../../bind/relation.ts';
import type { Scope } from '../../bind/scope.ts';
import { isAggregate } from '../../guard/index.ts';
import { LocatedError } from '../../plan/located-error.ts';
import type { PathNode } from '../../plan/path-node.ts';
import type { References } from '../../plan/references.ts';
import { lastName, type Node, walk } from '../../plan/tree.ts';

/** The deepest to-many node of a path; null for the row that FROM yields. */
export type Level = PathNode | null;

/** An aggregate call of a block. */
export interface Call {
  /** The node of the call in the block's tree, which is valid until the block is rewritten. */
  readonly node: Node;
  readonly call: FuncCall;
  readonly level: Level;
  /** True if the call is insensitive to duplicates (min, max, DISTINCT ...), so any joined rows that contain the paths of its arguments suffice. */
  readonly ignoresDuplicates: boolean;
  /** The nodes of its arguments. */
  readonly nodes: ReadonlySet<PathNode>;
}

const IGNORES_DUPLICATES = new Set(['min', 'max', 'bool_and', 'bool_or', 'every', 'bit_and', 'bit_or']);

/** True for a call of an aggregate that is not a window function. */
export const isAggregateCall = (node: Node): node is { FuncCall: FuncCall } =>
  'FuncCall' in node && !node.FuncCall.over && isAggregate(lastName(node.FuncCall.funcname));

/** The part of a block that levels depend on. */
export interface BlockFacts {
  readonly scope: Scope;
  readonly relations: readonly ConceptRelation[];
  readonly references: References;
  /** The nodes that FROM itself joins, in ON or LATERAL. They belong to the root's row. */
  readonly fromNodes: ReadonlySet<PathNode>;
  /** True if a call without columns counts the root's rows, whatever paths the block follows. */
  readonly cube?: boolean;
}

/** The nodes of the block's relations that a tree refers to, and their ancestors, except roots. */
export function nodesIn(tree: unknown, relations: readonly ConceptRelation[]): Set<PathNode> {
  const found = new Set<PathNode>();
  walk(tree, (n) => {
    if (!('ColumnRef' in n)) return undefined;
    const ref = relations[0]?.state.references.of(n.ColumnRef);
    if (ref && relations.includes(ref.relation)) for (let at: PathNode | null = ref.node; at?.parent; at = at.parent) found.add(at);
    return undefined;
  });
  return found;
}

/** The to-many node that a node belongs to. Nodes that FROM joins belong to the root. */
export function levelOf(node: PathNode, facts: BlockFacts): Level {
  for (let at: PathNode | null = node; at?.parent; at = at.parent) if (at.toMany && !facts.fromNodes.has(at)) return at;
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

/** The error for a call whose level is ambiguous. */
const fanout = (call: Node, message: string, hint: string) => new LocatedError('fanout', message, call, { hint });

/**
 * The aggregate calls in some trees that belong to the block. `tree`: all nodes that the block uses, for calls without columns.
 * @throws SvcError 400 `fanout`
 */
export function callsOf(trees: readonly unknown[], facts: BlockFacts, tree: ReadonlySet<PathNode>): Call[] {
  const calls: Call[] = [];
  walk(trees, (n) => {
    if ('SelectStmt' in n) return false;
    if (!isAggregateCall(n)) return undefined;
    if (!belongs(n.FuncCall, facts.scope, facts.references)) return undefined;
    calls.push(callOf(n, n.FuncCall, facts, tree));
    return false;
  });
  return calls;
}

/**
 * True if the call belongs to this block: the innermost block that owns a column of its arguments. A call without columns belongs to the block that contains
 * it.
 */
function belongs(call: FuncCall, scope: Scope, references: References): boolean {
  let any = false;
  let own = false;
  walk(argumentsOf(call), (n) => {
    if (!('ColumnRef' in n)) return undefined;
    any = true;
    const owner = references.owner(n.ColumnRef);
    if (owner === undefined || owner === scope) own = true;
    return undefined;
  });
  return own || !any;
}

/** The arguments, ORDER BY and WITHIN GROUP of a call, without the direct arguments of ordered-set aggregates. */
const argumentsOf = (call: FuncCall): unknown[] => [call.agg_within_group ? undefined : call.args, call.agg_order];

function callOf(node: Node, call: FuncCall, facts: BlockFacts, tree: ReadonlySet<PathNode>): Call {
  const nodes = nodesIn(argumentsOf(call), facts.relations);
  const ignoresDuplicates = IGNORES_DUPLICATES.has(lastName(call.funcname)) || call.agg_distinct === true;
  let columns = false;
  walk(argumentsOf(call), (n) => {
    if ('ColumnRef' in n && facts.references.owner(n.ColumnRef) === facts.scope) columns = true;
    return undefined;
  });
  if (!columns) {
    const level = facts.cube ? null : deepestLevel([...tree].map((n) => levelOf(n, facts)));
    if (level === undefined)
      throw fanout(
        node,
        `${lastName(call.funcname)}(*) is ambiguous: the query follows two independent to-many paths and would count their cross product`,
        'Count a column of one path, or COUNT(DISTINCT entity_id) for the rows themselves.',
      );
    return { node, call, level, ignoresDuplicates, nodes };
  }
  const level = deepestLevel([...nodes].map((n) => levelOf(n, facts)));
  if (level === undefined)
    throw fanout(
      node,
      `${lastName(call.funcname)}(...) is ambiguous: its arguments have columns of two independent to-many paths`,
      'Aggregate each path in a call or a sub-query of its own.',
    );
  return { node, call, level, ignoresDuplicates, nodes };
}
