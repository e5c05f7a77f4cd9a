/**
 * A chain of to-many hops folded into the row that it starts from (docs/design/aggregates-over-several-paths.md#folding-a-chain): its sums and counts by
 * foreign key, joined to the root's rows, where each level would otherwise be joined to the root again. It is faster if all roots are asked for and much slower
 * if few are, which is not known at plan time: only a block without any condition is folded, over a concept that is a table's rows.
 */
import type { FuncCall } from '@pgsql/types';
import type { Concept } from '../../ontology/graph.ts';
import { type PathNode, prepareJoins } from '../joins.ts';
import { cloneResolved, ownerOf, referenceOf } from '../references.ts';
import type { ConceptRelation } from '../relation.ts';
import {
  and,
  call,
  cast,
  coalesce,
  column,
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
} from '../tree.ts';
import type { Work } from '../work.ts';
import type { Block } from './block.ts';
import { isAggregateCall, isBeginning, levelOf, nodesIn } from './calls.ts';
import { conjuncts, joinBelow, pointInside } from './conditions.ts';
import type { Item, Part } from './levels.ts';
import { exactKind, isNullOverNulls, overNulls } from './nulls.ts';

/** What of a part is computed by foreign key first. */
export interface Fold {
  /** The first to-many hop of the chain. */
  readonly top: PathNode;
  /** The level of the items. */
  readonly level: PathNode;
  readonly items: readonly Item[];
}

/** Chains of fewer to-many hops are no slower as a level of their own. */
const LEAST_HOPS = 2;

/**
 * The parts with those folded for which it is right and worth it: they become one, with the root's own items beside, for each root has one row there.
 * `groups`: what the block groups by; `several`: grouping sets.
 */
export function foldParts(block: Block, parts: readonly Part[], groups: readonly Node[], several: boolean): readonly Part[] {
  const isOfRoot = (tree: unknown): boolean => [...nodesIn(tree, block.relations)].every((n) => levelOf(n, block) === null);
  if (several || !asksForAll(block) || !isOfRoot(groups)) return parts;
  const folds: Fold[] = [];
  const items: Item[] = [];
  const rest: Part[] = [];
  for (const part of parts) {
    const ofRoot = part.items.filter((i) => !i.things && i.level === null && isOfRoot(i.expression));
    const deep = part.items.filter((i) => !ofRoot.includes(i));
    const top = part.level && !part.things ? topOf(part.level, block) : undefined;
    if (part.level && top && deep.every((i) => isFoldable(i, top, part.level as PathNode, block))) folds.push({ top, level: part.level, items: deep });
    else if (deep.length > 0) {
      rest.push(part);
      continue;
    }
    items.push(...part.items);
  }
  return folds.length > 0 ? [{ level: null, items, folds }, ...rest] : parts;
}

/** Whether a block reads all rows of one concept. */
function asksForAll({ stmt, single, fromNodes, relations, work }: Block): boolean {
  const root = relations[0]?.root;
  if (!root || !single || fromNodes.size > 0 || stmt.whereClause) return false;
  return (work.context.access?.rows.length ?? 0) === 0 && isWhole(root.concept, work);
}

/** Whether the rows of a concept are those of tables, none left out. */
function isWhole({ rows }: Concept, work: Work): boolean {
  if (rows.kind === 'logic' || rows.standIn) return false;
  return rows.sources.every(({ mapping }) => {
    const { from, where } = work.mapping(mapping);
    const items = from();
    return where().length === 0 && items.length === 1 && items.every((i) => 'RangeVar' in i);
  });
}

/** The first to-many hop on the way to a level, where the chain from there is long enough and starts from all rows that its relationship knows. */
function topOf(level: PathNode, block: Block): PathNode | undefined {
  const chain: PathNode[] = [];
  for (let at: PathNode | null = level; at?.parent; at = at.parent) chain.unshift(at);
  if (chain.some(isWalk) || chain.filter((n) => n.toMany).length < LEAST_HOPS) return undefined;
  const top = chain.find((n) => n.toMany) as PathNode;
  const { parent, step } = top;
  const onTheWay = chain.slice(0, chain.indexOf(top));
  if (step?.kind !== 'hop' || parent?.concept !== step.hop.relationship.from || !onTheWay.every((n) => isWhole(n.concept, block.work))) return undefined;
  return top;
}

const isWalk = (node: PathNode): boolean => node.step?.kind === 'hop' && node.step.hop.depth !== null;

function isBelow(node: PathNode, top: PathNode): boolean {
  for (let at: PathNode | null = node; at; at = at.parent) if (at === top) return true;
  return false;
}

/** Whether an item takes nothing but rows of the chain, and its calls can be computed from those of parts. */
function isFoldable(item: Item, top: PathNode, level: PathNode, block: Block): boolean {
  let able = !item.things;
  walk(item.expression, (n) => {
    if (isSubQuery(n)) able = false;
    if (isAggregateCall(n) && !partials(n.FuncCall)) able = false;
    if (!('ColumnRef' in n)) return able;
    const ref = referenceOf(n.ColumnRef);
    const owner = ownerOf(n.ColumnRef);
    if (!ref || (owner !== undefined && owner !== block.scope) || !isBelow(ref.node, top) || !isBeginning(levelOf(ref.node, block), level)) able = false;
    for (let at: PathNode | null = ref?.node ?? null; at; at = at.parent) if (isWalk(at)) able = false;
    return able;
  });
  return able;
}

/** A call as calls over the rows of each foreign key, and the whole over their columns; `isMissing` is true where a root has no such rows. */
interface Partials {
  readonly calls: readonly Node[];
  readonly whole: (columns: readonly Node[], isMissing: Node) => Node;
}

/** undefined: the call needs all rows at once, or its additions in their order. */
function partials(written: FuncCall): Partials | undefined {
  const { agg_distinct, agg_order, agg_within_group, func_variadic, over, agg_star, args = [] } = written;
  if (agg_distinct || agg_order?.length || agg_within_group || func_variadic || over) return undefined;
  const name = lastName(written.funcname);
  const [arg] = args;
  if (args.length > 1 || (agg_star ? name !== 'count' : !arg)) return undefined;
  const missing = contribution(arg, written.agg_filter);
  if (missing === undefined) return undefined;
  const as = (other: string): Node => ({ FuncCall: cloneResolved({ ...written, funcname: [string(other)] }) });
  const value = (v: Node, isMissing: Node): Node => (missing ? choose(and([isMissing, ...missing.conditions]) as Node, missing.value, v) : v);
  const count = (n: Node): Node => {
    const one = missing && (missing.isSomething.length > 0 ? choose(and(missing.isSomething) as Node, integer('1'), integer('0')) : integer('1'));
    return cast(coalesce(call('sum', [one ? coalesce(n, one) : n]), integer('0')), 'bigint');
  };
  const sum = (s: Node, isMissing: Node): Node => call('sum', [value(s, isMissing)]);
  if (name === 'count') return { calls: [as('count')], whole: ([n]) => count(n as Node) };
  if (name === 'sum' || name === 'avg') {
    const kind = exactKind(arg);
    if (!kind) return undefined;
    if (name === 'avg') return { calls: [as('sum'), as('count')], whole: ([s, n], isMissing) => operator('/', sum(s as Node, isMissing), count(n as Node)) };
    return { calls: [as('sum')], whole: ([s], isMissing) => (kind === 'integer' ? cast(sum(s as Node, isMissing), 'bigint') : sum(s as Node, isMissing)) };
  }
  if (!AGAIN.has(name)) return undefined;
  return { calls: [as(name)], whole: ([v], isMissing) => call(name, [value(v as Node, isMissing)]) };
}

/** Calls that are their own combination. */
const AGAIN = new Set(['min', 'max', 'bool_and', 'bool_or', 'every', 'bit_and', 'bit_or']);

const choose = (expr: Node, result: Node, otherwise: Node): Node => ({ CaseExpr: { args: [{ CaseWhen: { expr, result } }], defresult: otherwise } });

/** What a row of NULLs, where nothing is related, gives to a call: a value under conditions. */
interface Contribution {
  readonly conditions: readonly Node[];
  readonly value: Node;
  /** Under which it counts. */
  readonly isSomething: readonly Node[];
}

/** null: nothing; undefined: not to be known. */
function contribution(arg: Node | undefined, filter: Node | undefined): Contribution | null | undefined {
  if (arg && isNullOverNulls(arg)) return null;
  if (conjuncts(filter).some(isNotTrueOverNulls)) return null;
  const condition = filter && overNulls(cloneResolved(filter));
  const value = arg ? overNulls(cloneResolved(arg)) : integer('1');
  if (!value || (filter && !condition)) return undefined;
  const conditions = condition ? [condition] : [];
  return { conditions, value, isSomething: arg ? [...conditions, isNotNull(value)] : conditions };
}

function isNotTrueOverNulls(condition: Node): boolean {
  if ('NullTest' in condition) return condition.NullTest.nulltesttype === 'IS_NOT_NULL' && isNullOverNulls(condition.NullTest.arg);
  return isNullOverNulls(condition);
}

/** A fold as SQL: what is joined to the root's rows, and what each item becomes over it. */
export interface FoldedRows {
  readonly item: Node;
  readonly condition: Node;
  readonly values: ReadonlyMap<Item, Node>;
}

/** The rows of the chain by foreign key. Asks the root's relation for the columns that it is joined by. */
export function foldedRows(block: Block, { top, level, items }: Fold): FoldedRows {
  const { work } = block;
  const alias = work.alias();
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
    const whole = rewrite(cloneResolved(i.expression), (n) => {
      if (!isAggregateCall(n)) return undefined;
      const { calls, whole: combined } = partials(n.FuncCall) as Partials;
      const columns = calls.map((c) => {
        const name = `a${targets.length - keys.length}`;
        targets.push(target(pointInside(nodes, c), name));
        return column(alias, name);
      });
      return combined(columns, isNull(column(alias, 'k0')));
    }) as Node;
    values.set(i, whole);
  }
  const rows = select({ targetList: targets, fromClause: [item], groupClause: cloneResolved(keys) });
  return {
    item: subselect(rows, alias),
    condition: and(pairs.map((p, i) => equals(column(alias, `k${i}`), p.rexpr as Node))) as Node,
    values,
  };
}
