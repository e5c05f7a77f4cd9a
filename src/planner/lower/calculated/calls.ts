/** The paths that the expression of a calculated property names, and the checks of its aggregates. */
import type { ColumnRef, FuncCall } from '@pgsql/types';
import { badRequest } from '../../../errors.ts';
import { isPath } from '../../../ontology/paths.ts';
import type { ConceptRelation } from '../../bind/relation.ts';
import { isVolatileFunction, SET_RETURNING } from '../../guard/index.ts';
import { LocatedError } from '../../plan/located-error.ts';
import type { PathNode } from '../../plan/path-node.ts';
import type { Reference } from '../../plan/references.ts';
import { fieldsOf, lastName, type Node, walk } from '../../plan/tree.ts';
import { isAggregateCall } from '../aggregate/calls.ts';
import { isNullOverNulls } from '../aggregate/nulls.ts';
import { deepestLevel, isPrefix, type Level, levelOf, NONE } from '../aggregate/spine.ts';

/** A call of a function. */
export type Call = Extract<Node, { FuncCall: unknown }>;

/** An aggregate call over the rows of a path. */
export interface PathCall {
  /** The call, with references to columns of the path. */
  readonly node: Call;
  /** The first node of the path, and all nodes that the call reads, with those before them. */
  readonly top: PathNode;
  readonly nodes: ReadonlySet<PathNode>;
  /** How hops after the first one are joined. */
  readonly kind: 'JOIN_INNER' | 'JOIN_LEFT';
  /** True if a row without related rows adds nothing to the call. */
  readonly isStrict: boolean;
}

/** Aggregates that leave out NULL, so that a row of NULLs adds nothing to them. */
const IGNORE_NULL = new Set(
  'sum avg count min max bool_and bool_or every bit_and bit_or string_agg stddev stddev_pop stddev_samp variance var_pop var_samp'.split(' '),
);
/** Ordered-set aggregates that leave out NULL. */
const IGNORE_NULL_IN_ORDER = new Set(['percentile_cont', 'percentile_disc', 'mode']);

/**
 * Refuses calls that return several rows, or another value each time. PostgreSQL does not merge a sub-select with such a value with the SELECT around it, so it computes
 * all values before the conditions of policies, and an error would reveal a hidden row (docs/design/policies.md#barriers).
 * @throws SvcError 400 `bad_expression`
 */
export function requireMergeable(tree: Node, called: string): void {
  walk(tree, (n) => {
    const name = 'FuncCall' in n ? lastName(n.FuncCall.funcname) : '';
    if (SET_RETURNING.has(name)) throw new LocatedError('bad_expression', `${called} has one value, but \`${name}\` returns several rows`, n);
    if (isVolatileFunction(name)) {
      const hint = name === 'clock_timestamp' || name === 'timeofday' ? 'Write now(), the time at which the statement starts.' : 'Call it in the query.';
      throw new LocatedError('bad_expression', `${called} must not call \`${name}\`, whose result is another one each time`, n, { hint });
    }
    return undefined;
  });
}

/** The column that a path, or a multi-valued property, names; undefined for any other name. */
export function pathOf(relation: ConceptRelation, ref: ColumnRef): { readonly node: Node; readonly reference: Reference } | undefined {
  const fields = fieldsOf(ref);
  const name = fields.at(-1) ?? '';
  if (fields.length > 1 || !(isPath(name) || relation.named.multi.some((m) => m.def.name.toLowerCase() === name.toLowerCase()))) return undefined;
  const node = relation.find(name)?.node;
  const reference = node && 'ColumnRef' in node ? relation.state.references.of(node.ColumnRef) : undefined;
  if (!node || !reference)
    throw new LocatedError(
      'bad_expression',
      `a calculated property must not read \`${name}\``,
      { ColumnRef: ref },
      { hint: 'It may read properties, and paths to properties.' },
    );
  return { node, reference };
}

/** The last to-many node on the way to a node; null if the path leads to one row. */
export const severalAt = (node: PathNode): Level => levelOf(node, { fromNodes: NONE });

/** A path outside an aggregate. @throws SvcError 400 `several_values` */
export function requireSingle(relation: ConceptRelation, ref: ColumnRef, called: string): Reference {
  const reference = pathOf(relation, ref)?.reference;
  const name = fieldsOf(ref).at(-1) ?? '';
  if (!reference) throw badRequest('unknown_property', `unknown property \`${name}\` in ${called}`);
  if (severalAt(reference.node) === null) return reference;
  throw new LocatedError(
    'several_values',
    `\`${name}\` may have several values for a row, but ${called} has one`,
    { ColumnRef: ref },
    { hint: `Aggregate it, for example SUM("${name}"), MAX("${name}") or COUNT("${name}").` },
  );
}

/** The level of an aggregate call. @throws SvcError 400 `bad_expression`, `fanout` */
export function levelOfCall(relation: ConceptRelation, written: Call, called: string): Level {
  const { args, agg_order, agg_within_group, agg_filter } = written.FuncCall;
  const levels = (tree: unknown): Level[] => {
    const found: Level[] = [];
    walk(tree, (n) => {
      if (isAggregateCall(n)) throw new LocatedError('bad_expression', `${called} has an aggregate inside an aggregate`, n);
      if (!('ColumnRef' in n)) return undefined;
      const far = pathOf(relation, n.ColumnRef);
      if (far) found.push(severalAt(far.reference.node));
      return undefined;
    });
    return found;
  };
  const level = deepestLevel(levels([agg_within_group ? undefined : args, agg_order]));
  if (level === null)
    throw new LocatedError('bad_expression', `an aggregate in ${called} reads no path to several rows`, written, {
      hint: 'Write an aggregate over a to-many path, such as SUM("relationship[concept].property"). A measure aggregates the rows of a concept.',
    });
  const isOneWay = level !== undefined && levels(agg_filter).every((l) => isPrefix(l, level));
  if (!isOneWay)
    throw new LocatedError('fanout', `an aggregate in ${called} reads two independent to-many paths`, written, {
      hint: 'Aggregate each path in a call of its own.',
    });
  return level;
}

/** A call whose columns of paths are references. `found` are those references. */
export function pathCall(relation: ConceptRelation, node: Call, level: Level, found: readonly Reference[]): PathCall {
  const nodes = new Set<PathNode>();
  let top = level as PathNode;
  for (const { node: far } of found) for (let at: PathNode | null = far; at?.parent; at = at.parent) nodes.add(at);
  while (top.parent?.parent) top = top.parent;
  const kind = found.every((r) => r.node === found[0]?.node) ? 'JOIN_INNER' : 'JOIN_LEFT';
  const isStrict = addsNothingForNulls(relation, node.FuncCall);
  return { node, top, nodes, kind: isStrict ? kind : 'JOIN_LEFT', isStrict };
}

function addsNothingForNulls({ state }: ConceptRelation, { funcname, args, agg_order, agg_within_group }: FuncCall): boolean {
  const name = lastName(funcname);
  const [first] = agg_within_group ? (agg_order ?? []) : (args ?? []);
  const value = first && 'SortBy' in first ? first.SortBy.node : first;
  return (agg_within_group ? IGNORE_NULL_IN_ORDER : IGNORE_NULL).has(name) && isNullOverNulls(value, state.references);
}

/**
 * Checks the paths of a calculated property. The tree may have locations.
 * @throws SvcError as the methods of RowPaths
 */
export function checkPaths(relation: ConceptRelation, tree: Node, called: string): void {
  requireMergeable(tree, called);
  walk(tree, (n) => {
    if (isAggregateCall(n)) {
      levelOfCall(relation, n, called);
      return false;
    }
    if ('ColumnRef' in n && isPath(fieldsOf(n.ColumnRef).at(-1) ?? '')) requireSingle(relation, n.ColumnRef, called);
    return undefined;
  });
}
