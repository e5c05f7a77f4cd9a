/**
 * The aggregates of a block. If plain joins give the right result, the block keeps them; otherwise it becomes one sub-select for each level, combined by group
 * (docs/design/aggregates-over-several-paths.md#procedure).
 */
import { badRequest } from '../../../errors.ts';
import type { PropertyDef } from '../../../ontology/model.ts';
import { parseType } from '../../../ontology/types.ts';
import type { ConceptRelation } from '../../bind/relation.ts';
import type { Scope } from '../../bind/scope.ts';
import { isVolatileFunction } from '../../guard/index.ts';
import { LocatedError, locating } from '../../plan/located-error.ts';
import type { PathNode } from '../../plan/path-node.ts';
import type { MeasureReference, References } from '../../plan/references.ts';
import { conjuncts, isNotNull, lastName, type Node, rewrite, type SelectStmt, walk } from '../../plan/tree.ts';
import type { PlanState } from '../../plan-state.ts';
import { propertyFor } from '../../secure/shown.ts';
import { callsOf } from './calls.ts';
import { combine } from './levels.ts';
import {
  calledFor,
  countsDuplicates,
  expandMeasure,
  HIDDEN,
  isKeyed,
  type KeyGap,
  keyGap,
  reachedOnce,
  refuseBareMeasures,
  refuseInWhere,
  wrappedMeasure,
} from './measures.ts';
import type { Item, Things } from './parts.ts';
import type { Proofs } from './proofs.ts';
import { type BlockFacts, isOnSpine, levelOf, NONE, nodesIn } from './spine.ts';

/** A bound block: all names are resolved, and the concepts of FROM are still slots. */
export interface Block {
  readonly state: PlanState;
  readonly stmt: SelectStmt;
  readonly scope: Scope;
  readonly relations: readonly ConceptRelation[];
  readonly references: References;
  /** The nodes that FROM itself refers to. */
  readonly fromNodes: ReadonlySet<PathNode>;
  /** True if the block reads a cube: calls without columns then count the rows of the cube's concept. */
  readonly cube: boolean;
  /** True if FROM is a single concept. */
  readonly single: boolean;
  readonly proofs: Proofs;
  /** Copies FROM and replaces the slots of concepts by sub-selects that join the given nodes. */
  readonly from: (nodes: ReadonlySet<PathNode>) => Node[];
}

/**
 * Rewrites the block if its aggregates need it.
 * @returns true if the block has been rewritten, with a FROM of its own; false if plain joins of the nodes that it refers to are right
 * @throws SvcError 400 `fanout`, `no_key`, `bad_measure`, `bare_measure`
 */
export function finishAggregates(block: Block): boolean {
  const { stmt, relations } = block;
  const facts: BlockFacts = block;
  refuseInWhere(stmt.whereClause, relations, block.references);
  refuseBareMeasures([stmt.whereClause, stmt.groupClause], block.references, true);
  const outer = [stmt.targetList, stmt.havingClause, stmt.sortClause, stmt.distinctClause, stmt.windowClause];
  refuseBareMeasures(outer, block.references);
  let nodes: ReadonlySet<PathNode> | undefined;
  const tree = (): ReadonlySet<PathNode> => (nodes ??= nodesIn([outer, stmt.whereClause, stmt.groupClause], relations));
  const measures = measureItems(block, outer);
  const taken = new Set(measures.map((m) => m.node));
  const calls = callsOf(outer, facts, tree).filter((c) => !taken.has(c.node));
  if (calls.length === 0 && measures.length === 0) return false;
  const items: Item[] = [
    ...calls.map((c) => ({ node: c.node, expression: c.node, level: c.level, proved: c.proved, ignoresDuplicates: c.ignoresDuplicates, nodes: c.nodes })),
    ...measures,
  ];

  if (isPlain(items, tree(), facts)) {
    for (const clause of ['targetList', 'havingClause', 'sortClause', 'distinctClause', 'windowClause'] as const) {
      const value = stmt[clause];
      if (value && measures.length > 0) (stmt as Record<string, unknown>)[clause] = rewrite(value, (n) => measures.find((m) => m.node === n)?.expression);
    }
    return false;
  }
  refuseVolatile(block);
  combine(block, items);
  return true;
}

/** True if plain joins are right: the calls have one level, and every to-many path of the block is a prefix of that level. */
function isPlain(items: readonly Item[], tree: ReadonlySet<PathNode>, facts: BlockFacts): boolean {
  if (items.some((i) => i.things)) return false;
  const counted = items.filter((i) => !i.ignoresDuplicates);
  const [first] = counted;
  if (!first) return true;
  const spine = counted.find((i) => i.proved.size > 0) ?? first;
  if (counted.some((i) => i.level !== spine.level)) return false;
  return [...tree, ...items.flatMap((i) => [...i.nodes])].every((n) => isOnSpine(n, spine, facts));
}

/** The measures in some trees, with their expansions. */
function measureItems(block: Block, trees: readonly unknown[]): Item[] {
  const items: Item[] = [];
  if (!block.references.hasMeasures) return items;
  walk(trees, (n) => {
    if ('SelectStmt' in n) return false;
    const measure = wrappedMeasure(n, block.references);
    if (!measure) return undefined;
    if (!block.relations.includes(measure.relation)) return false;
    items.push(locating(n, () => measureItem(block, n, measure)));
    return false;
  });
  return items;
}

function measureItem(block: Block, node: Node, measure: MeasureReference): Item {
  const { state } = block;
  const { relation, node: at, concept } = measure;
  const wrapper = (node as { FuncCall: { agg_filter?: Node } }).FuncCall;
  const type = parseType(measure.def.type).sql;
  const isRoot = at === relation.root;
  const once = block.single && block.fromNodes.size === 0 && (isRoot || reachedOnce(at));
  if ((!once || !isRoot) && !isKeyed(concept)) throw keyless(state, measure);
  const gap = once ? undefined : keyGap(state, concept);
  if (gap && countsDuplicates(state, measure)) throw keyless(state, measure, gap);
  if (once) {
    const seen = relation.named.graph.concept(concept.name) ?? concept;
    const columnOf = (def: PropertyDef): Node => relation.columnAt(at, propertyFor(seen, def));
    const filters = (): Node[] => [...(isRoot ? [] : [isNotNull(relation.columnAt(at, { kind: 'mapping' }))]), ...conjuncts(wrapper.agg_filter)];
    const expression = expandMeasure(state, measure, columnOf, filters);
    return { node, expression, level: levelOf(at, block), proved: NONE, ignoresDuplicates: false, nodes: new Set(nodesIn(expression, block.relations)), type };
  }
  const columns = new Map<string, { name: string; def: PropertyDef }>();
  const things: Things = { measure, call: node, columns, filter: wrapper.agg_filter };
  return { node, expression: node, level: null, proved: NONE, ignoresDuplicates: false, nodes: new Set(), things, type };
}

function keyless(state: PlanState, measure: MeasureReference, gap?: KeyGap): Error {
  const called = calledFor(state, measure);
  const isNamed = measure.cubeColumn === undefined && called !== HIDDEN;
  const of = isNamed ? `\`${measure.concept.name}\`` : 'its concept';
  if (!gap) return badRequest('no_key', `${called} requires a primary key on ${of} in this query`);
  const lacks =
    isNamed && state.mayName && !state.hidesTables(gap.mapping.datasource) && state.seen.property(gap.column)
      ? `the mapping \`${gap.mapping.name}\` does not provide \`${gap.column}\``
      : 'one of its mappings does not provide all columns of the primary key';
  return badRequest('no_key', `${called} needs a key in all rows of ${of} in this query; ${lacks}`);
}

/** Throws 400 `fanout` for volatile functions, because each level evaluates WHERE and GROUP BY on its own and the results would differ. */
function refuseVolatile(block: Block): void {
  const volatile = volatileCall([block.stmt.whereClause, block.stmt.groupClause]);
  if (volatile === undefined) return;
  throw new LocatedError('fanout', 'a volatile function is not allowed in WHERE or GROUP BY of a query that aggregates several paths', volatile, {
    hint: 'Aggregate the paths in a sub-query in FROM that is grouped by the key, and call the function outside of it.',
  });
}

/** The first call of a volatile function in a tree. */
function volatileCall(tree: unknown): Node | undefined {
  let found: Node | undefined;
  walk(tree, (n) => {
    if ('FuncCall' in n && isVolatileFunction(lastName(n.FuncCall.funcname))) found ??= n;
    return found === undefined;
  });
  return found;
}
