/**
 * Folds a chain of to-many hops into the row from which it starts (docs/design/aggregates-over-several-paths.md#folding-a-chain): computes its sums and counts
 * by foreign key and joins them to the root's rows, instead of joining each level to the root again. It is faster if all roots are read and much slower if few
 * are, which is not known at plan time. So only a block without conditions is folded, over a concept that has all rows of its tables. A single hop is folded if the
 * rows of the root were counted and are few.
 */
import type { FuncCall } from '@pgsql/types';
import type { Concept } from '../../../ontology/graph.ts';
import type { ConceptRelation } from '../../bind/relation.ts';
import type { PathNode } from '../../plan/path-node.ts';
import { isWalk } from '../../plan/path-node.ts';
import type { References } from '../../plan/references.ts';
import {
  and,
  call,
  cast,
  clone,
  coalesce,
  column,
  conjuncts,
  equals,
  integer,
  isNotNull,
  isNull,
  isSubQuery,
  lastName,
  type Node,
  operator,
  rewrite,
  select,
  string,
  subselect,
  target,
  walk,
} from '../../plan/tree.ts';
import type { PlanState } from '../../plan-state.ts';
import { prepareJoins } from '../joins.ts';
import type { Block } from './block.ts';
import { isAggregateCall } from './calls.ts';
import { joinBelow, retarget } from './conditions.ts';
import { exactKind, isNullOverNulls, overNulls } from './nulls.ts';
import type { Item, Part } from './parts.ts';
import { isPrefix, levelOf, NONE, nodesIn } from './spine.ts';

/** The items that are computed by foreign key. */
export interface Fold {
  /** The first to-many hop of the chain. */
  readonly top: PathNode;
  /** The level of the items. */
  readonly level: PathNode;
  readonly items: readonly Item[];
}

/** Chains of fewer to-many hops are no slower as separate levels, unless the root has few rows. */
const MIN_HOPS = 2;

/** With this many rows of the root at most, the results by foreign key fit in work_mem, so grouping by it is cheap. */
const FEW_ROWS = 20_000;

/**
 * Replaces the parts that can be folded, and profit from it, by one part that also has the root's own items, since it has one row for each root. `groups`: the
 * expressions of GROUP BY; `several`: true with grouping sets.
 */
export function foldParts(block: Block, parts: readonly Part[], groups: readonly Node[], several: boolean): readonly Part[] {
  const isOfRoot = (tree: unknown): boolean => [...nodesIn(tree, block.relations)].every((n) => levelOf(n, block) === null);
  if (several || !readsAllRows(block) || !isOfRoot(groups)) return parts;
  const minHops = hasFewRows(block) ? 1 : MIN_HOPS;
  const folds: Fold[] = [];
  const items: Item[] = [];
  const rest: Part[] = [];
  for (const part of parts) {
    const ofRoot = part.items.filter((i) => !i.things && i.level === null && isOfRoot(i.expression));
    const deep = part.items.filter((i) => !ofRoot.includes(i));
    const top = part.level && !part.things ? topOf(part.level, block, minHops) : undefined;
    if (part.level && top && deep.every((i) => isFoldable(i, top, part.level as PathNode, block))) folds.push({ top, level: part.level, items: deep });
    else if (deep.length > 0) {
      rest.push(part);
      continue;
    }
    items.push(...part.items);
  }
  return folds.length > 0 ? [{ level: null, proved: NONE, items, folds }, ...rest] : parts;
}

/** True if the block reads all rows of one concept. */
function readsAllRows({ stmt, single, fromNodes, relations, state }: Block): boolean {
  const root = relations[0]?.root;
  if (!root || !single || fromNodes.size > 0 || stmt.whereClause) return false;
  return (state.context.access?.rows.length ?? 0) === 0 && hasAllRows(root.concept, state);
}

/** True if the concept's rows are all rows of its tables. */
function hasAllRows({ rows }: Concept, state: PlanState): boolean {
  if (rows.kind === 'logic' || rows.fromAncestors) return false;
  return rows.sources.every(({ mapping }) => {
    const { from, where } = state.texts.mapping(mapping);
    const items = from();
    if (state.context.cached?.(mapping) !== undefined && state.texts.leavesOut(mapping)) return false;
    return where().length === 0 && items.length === 1 && items.every((i) => 'RangeVar' in i);
  });
}

/** True if the rows of the block's concept were counted and are few. */
function hasFewRows({ relations, state }: Block): boolean {
  const rows = relations[0]?.root.concept.rows;
  if (rows?.kind !== 'mappings') return false;
  const counts = rows.sources.map(({ mapping }) => state.context.rowsOf?.(mapping));
  return counts.every((n) => n !== undefined) && counts.reduce<number>((sum, n) => sum + (n ?? 0), 0) <= FEW_ROWS;
}

/** The first to-many hop of a level, if the chain from there is long enough and starts from all rows that its relationship may refer to. */
function topOf(level: PathNode, block: Block, minHops: number): PathNode | undefined {
  const chain: PathNode[] = [];
  for (let at: PathNode | null = level; at?.parent; at = at.parent) chain.unshift(at);
  if (chain.some(isWalk) || chain.filter((n) => n.toMany).length < minHops) return undefined;
  const top = chain.find((n) => n.toMany) as PathNode;
  const { parent, step } = top;
  const hopsBefore = chain.slice(0, chain.indexOf(top));
  if (step?.kind !== 'hop' || parent?.concept !== step.hop.relationship.from || !hopsBefore.every((n) => hasAllRows(n.concept, block.state))) return undefined;
  return top;
}

function isBelow(node: PathNode, top: PathNode): boolean {
  for (let at: PathNode | null = node; at; at = at.parent) if (at === top) return true;
  return false;
}

/** True if the item reads only rows of the chain, and its calls can be computed from partial results. */
function isFoldable(item: Item, top: PathNode, level: PathNode, block: Block): boolean {
  let foldable = !item.things;
  walk(item.expression, (n) => {
    if (isSubQuery(n)) foldable = false;
    if (isAggregateCall(n) && !partials(n.FuncCall, block.references)) foldable = false;
    if (!('ColumnRef' in n)) return foldable;
    const ref = block.references.of(n.ColumnRef);
    const owner = block.references.owner(n.ColumnRef);
    if (!ref || (owner !== undefined && owner !== block.scope) || !isBelow(ref.node, top) || !isPrefix(levelOf(ref.node, block), level)) foldable = false;
    for (let at: PathNode | null = ref?.node ?? null; at; at = at.parent) if (isWalk(at)) foldable = false;
    return foldable;
  });
  return foldable;
}

/** The partial calls over the rows of each foreign key, and the call over their columns. `isMissing` is true if a root has no such rows. */
interface Partials {
  readonly calls: readonly Node[];
  readonly whole: (columns: readonly Node[], isMissing: Node) => Node;
}

/** The partials of a call; undefined if the call needs all rows at once, or their order. */
function partials(written: FuncCall, references: References): Partials | undefined {
  const { agg_distinct, agg_order, agg_within_group, func_variadic, over, agg_star, args = [] } = written;
  if (agg_distinct || agg_order?.length || agg_within_group || func_variadic || over) return undefined;
  const name = lastName(written.funcname);
  const [arg] = args;
  if (args.length > 1 || (agg_star ? name !== 'count' : !arg)) return undefined;
  const missing = contribution(arg, written.agg_filter, references);
  if (missing === undefined) return undefined;
  const as = (other: string): Node => ({ FuncCall: clone({ ...written, funcname: [string(other)] }) });
  const value = (v: Node, isMissing: Node): Node => (missing ? caseWhen(and([isMissing, ...missing.conditions]) as Node, missing.value, v) : v);
  const count = (n: Node): Node => {
    const one = missing && (missing.countedIf.length > 0 ? caseWhen(and(missing.countedIf) as Node, integer('1'), integer('0')) : integer('1'));
    return cast(coalesce(call('sum', [one ? coalesce(n, one) : n]), integer('0')), 'bigint');
  };
  const sum = (s: Node, isMissing: Node): Node => call('sum', [value(s, isMissing)]);
  if (name === 'count') return { calls: [as('count')], whole: ([n]) => count(n as Node) };
  if (name === 'sum' || name === 'avg') {
    const kind = exactKind(arg, references);
    if (!kind) return undefined;
    if (name === 'avg') return { calls: [as('sum'), as('count')], whole: ([s, n], isMissing) => operator('/', sum(s as Node, isMissing), count(n as Node)) };
    return { calls: [as('sum')], whole: ([s], isMissing) => (kind === 'integer' ? cast(sum(s as Node, isMissing), 'bigint') : sum(s as Node, isMissing)) };
  }
  if (!SELF_COMBINING.has(name)) return undefined;
  return { calls: [as(name)], whole: ([v], isMissing) => call(name, [value(v as Node, isMissing)]) };
}

/** Aggregates whose partial results are combined by the same aggregate. */
const SELF_COMBINING = new Set(['min', 'max', 'bool_and', 'bool_or', 'every', 'bit_and', 'bit_or']);

const caseWhen = (expr: Node, result: Node, otherwise: Node): Node => ({ CaseExpr: { args: [{ CaseWhen: { expr, result } }], defresult: otherwise } });

/** The contribution of a row of NULLs, which represents a root without related rows, to a call: a value and conditions. */
interface Contribution {
  readonly conditions: readonly Node[];
  readonly value: Node;
  /** The conditions under which `count` counts the row. */
  readonly countedIf: readonly Node[];
}

/** The contribution of a row of NULLs; null if such a row contributes nothing, undefined if its contribution is unknown. */
function contribution(arg: Node | undefined, filter: Node | undefined, references: References): Contribution | null | undefined {
  if (arg && isNullOverNulls(arg, references)) return null;
  if (conjuncts(filter).some((c) => isNotTrueOverNulls(c, references))) return null;
  const condition = filter && overNulls(clone(filter), references);
  const value = arg ? overNulls(clone(arg), references) : integer('1');
  if (!value || (filter && !condition)) return undefined;
  const conditions = condition ? [condition] : [];
  return { conditions, value, countedIf: arg ? [...conditions, isNotNull(value)] : conditions };
}

function isNotTrueOverNulls(condition: Node, references: References): boolean {
  if ('NullTest' in condition) return condition.NullTest.nulltesttype === 'IS_NOT_NULL' && isNullOverNulls(condition.NullTest.arg, references);
  return isNullOverNulls(condition, references);
}

/** The SQL of a fold: the item that is joined to the root's rows, and the expression of each item over it. */
export interface FoldedRows {
  readonly item: Node;
  readonly condition: Node;
  readonly values: ReadonlyMap<Item, Node>;
}

/** Computes the rows of the chain by foreign key. Requests the columns of the root's relation by which they are joined. */
export function foldedRows(block: Block, { top, level, items }: Fold): FoldedRows {
  const { state } = block;
  const alias = state.alias();
  const relation = block.relations[0] as ConceptRelation;
  const used = nodesIn(
    items.map((i) => i.expression),
    block.relations,
  );
  for (let at: PathNode | null = level; at?.parent; at = at.parent) used.add(at);
  const nodes = new Set([...used].filter((n) => isBelow(n, top)));
  const makers = prepareJoins(relation.root, nodes);
  const parent = top.parent as PathNode;
  const { item, condition } = joinBelow(top, makers, 'JOIN_LEFT', (name) => column(relation.alias, relation.exposeNode(parent, name)));
  const pairs = conjuncts(condition).map((c) => ('A_Expr' in c ? c.A_Expr : {}));
  const keys = pairs.map((p) => p.lexpr as Node);

  const targets: Node[] = keys.map((k, i) => target(k, `k${i}`));
  const values = new Map<Item, Node>();
  for (const i of items) {
    const whole = rewrite(clone(i.expression), (n) => {
      if (!isAggregateCall(n)) return undefined;
      const { calls, whole: combined } = partials(n.FuncCall, block.references) as Partials;
      const columns = calls.map((c) => {
        const name = `a${targets.length - keys.length}`;
        targets.push(target(retarget(nodes, c, block.references), name));
        return column(alias, name);
      });
      return combined(columns, isNull(column(alias, 'k0')));
    }) as Node;
    values.set(i, whole);
  }
  const rows = select({ targetList: targets, fromClause: [item], groupClause: clone(keys) });
  return {
    item: subselect(rows, alias),
    condition: and(pairs.map((p, i) => equals(column(alias, `k${i}`), p.rexpr as Node))) as Node,
    values,
  };
}
