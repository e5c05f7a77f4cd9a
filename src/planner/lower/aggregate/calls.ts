/** The aggregate calls of a block and the level of each (docs/design/aggregates-over-several-paths.md#levels). */
import type { FuncCall } from '@pgsql/types';
import type { Scope } from '../../bind/scope.ts';
import { isAggregate } from '../../guard/index.ts';
import type { PathNode } from '../../plan/path-node.ts';
import type { References } from '../../plan/references.ts';
import { lastName, type Node, walk } from '../../plan/tree.ts';
import { fanout } from './fanout.ts';
import { type BlockFacts, deepestLevel, isPrefix, levelOf, NONE, nodesIn, type Spine } from './spine.ts';

/** An aggregate call of a block. */
export interface Call extends Spine {
  /** The node of the call in the block's tree, which is valid until the block is rewritten. */
  readonly node: Node;
  readonly call: FuncCall;
  /** True if the call is insensitive to duplicates (min, max, DISTINCT ...), so any joined rows that contain the paths of its arguments suffice. */
  readonly ignoresDuplicates: boolean;
  /** The nodes of its arguments. */
  readonly nodes: ReadonlySet<PathNode>;
}

const IGNORES_DUPLICATES = new Set(['min', 'max', 'bool_and', 'bool_or', 'every', 'bit_and', 'bit_or']);

/** True for a call of an aggregate whose result does not depend on how often a value occurs. */
export const ignoresDuplicates = (call: FuncCall): boolean => IGNORES_DUPLICATES.has(lastName(call.funcname)) || call.agg_distinct === true;

/** True for a call of an aggregate that is not a window function. */
export const isAggregateCall = (node: Node): node is { FuncCall: FuncCall } =>
  'FuncCall' in node && !node.FuncCall.over && isAggregate(lastName(node.FuncCall.funcname));

/** The level of some nodes: the deepest one, or one for whose rows the other paths are proved to lead to one row. undefined: the nodes have no common level. */
function commonLevel(nodes: Iterable<PathNode>, facts: BlockFacts): Spine | undefined {
  const levels = new Set([...nodes].map((n) => levelOf(n, facts)));
  const deepest = deepestLevel(levels);
  if (deepest !== undefined) return { level: deepest, proved: NONE };
  for (const level of levels) {
    const proved = facts.proofs.given((n) => isPrefix(levelOf(n, facts), level));
    if ([...levels].every((l) => isPrefix(l, level) || (l !== null && proved.has(l)))) return { level, proved };
  }
  return undefined;
}

/**
 * The aggregate calls in some trees that belong to the block. `tree`: all nodes that the block uses, for calls without columns.
 * @throws SvcError 400 `fanout`
 */
export function callsOf(trees: readonly unknown[], facts: BlockFacts, tree: () => ReadonlySet<PathNode>): Call[] {
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

function callOf(node: Node, call: FuncCall, facts: BlockFacts, tree: () => ReadonlySet<PathNode>): Call {
  const nodes = nodesIn(argumentsOf(call), facts.relations);
  let columns = false;
  walk(argumentsOf(call), (n) => {
    if ('ColumnRef' in n && facts.references.owner(n.ColumnRef) === facts.scope) columns = true;
    return undefined;
  });
  const used = columns ? nodes : facts.cube ? NONE : tree();
  const common = commonLevel(used, facts);
  if (!common) throw fanout(node, call, used, columns, facts);
  return { node, call, ...common, ignoresDuplicates: ignoresDuplicates(call), nodes: common.proved.size > 0 ? new Set(used) : nodes };
}
