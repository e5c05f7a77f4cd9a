/**
 * A block with aggregates: left as it is if plain joins are right, else one sub-select for each level, combined by group
 * (docs/design/aggregates-over-several-paths.md#procedure).
 */
import { badRequest } from '../../errors.ts';
import type { PropertyDef } from '../../ontology/model.ts';
import { parseType } from '../../ontology/types.ts';
import type { PathNode } from '../joins.ts';
import { calledMeasure, type MeasureReference } from '../references.ts';
import type { ConceptRelation } from '../relation.ts';
import type { Scope } from '../scope.ts';
import { propertyFor } from '../shown.ts';
import { isNotNull, type Node, rewrite, type SelectStmt, walk } from '../tree.ts';
import type { Work } from '../work.ts';
import { type BlockFacts, callsOf, isBeginning, type Level, levelOf, nodesIn } from './calls.ts';
import { conjuncts } from './conditions.ts';
import { combine, type Item, type Things } from './levels.ts';
import { expandMeasure, isKeyed, reachedOnce, refuseBareMeasures, wrappedMeasure } from './measures.ts';

/** A block as its resolver hands it over: all names resolved, the concepts of FROM still in their slots. */
export interface Block {
  readonly work: Work;
  readonly stmt: SelectStmt;
  readonly scope: Scope;
  readonly relations: readonly ConceptRelation[];
  /** Nodes that FROM itself refers to. */
  readonly fromNodes: ReadonlySet<PathNode>;
  /** Whether it reads a cube: calls without columns count the rows of the cube's concept. */
  readonly cube: boolean;
  /** Whether FROM is one concept and nothing else. */
  readonly single: boolean;
  /** A copy of FROM with the sub-selects of concepts put in that join the given nodes. */
  readonly from: (nodes: ReadonlySet<PathNode>) => Node[];
}

/** Rewrites the block where its aggregates need it; true: done, with a FROM of its own; false: plain joins of what it refers to are right. */
export function finishAggregates(block: Block): boolean {
  const { stmt, relations } = block;
  const facts: BlockFacts = block;
  refuseBareMeasures([stmt.whereClause, stmt.groupClause]);
  const outer = [stmt.targetList, stmt.havingClause, stmt.sortClause, stmt.distinctClause, stmt.windowClause];
  refuseBareMeasures(outer);
  const tree = nodesIn([outer, stmt.whereClause, stmt.groupClause], relations);
  const measures = measureItems(block, outer);
  const taken = new Set(measures.map((m) => m.node));
  const calls = callsOf(outer, facts, tree).filter((c) => !taken.has(c.node));
  if (calls.length === 0 && measures.length === 0) return false;
  const items: Item[] = [...calls.map((c) => ({ node: c.node, expression: c.node, level: c.level, free: c.free, nodes: c.nodes })), ...measures];

  if (isPlain(items, tree, facts)) {
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

/** Plain joins are right where one level is asked for and every to-many path of the block is that level or a beginning of it. */
function isPlain(items: readonly Item[], tree: ReadonlySet<PathNode>, facts: BlockFacts): boolean {
  if (items.some((i) => i.things)) return false;
  const counted = new Set(items.filter((i) => !i.free).map((i) => i.level));
  const walked: Level[] = [...tree, ...items.flatMap((i) => [...i.nodes])].map((n) => levelOf(n, facts));
  if (counted.size === 0) return true;
  if (counted.size > 1) return false;
  const [level] = counted;
  return [...walked, ...items.map((i) => i.level)].every((l) => isBeginning(l, level as Level));
}

/** The measures that stand in some trees, each with its expansion. */
function measureItems(block: Block, trees: readonly unknown[]): Item[] {
  const items: Item[] = [];
  walk(trees, (n) => {
    if ('SelectStmt' in n) return false;
    const measure = wrappedMeasure(n);
    if (!measure) return undefined;
    if (!block.relations.includes(measure.relation)) return false;
    items.push(measureItem(block, n, measure));
    return false;
  });
  return items;
}

function measureItem(block: Block, node: Node, measure: MeasureReference): Item {
  const { work } = block;
  const { relation, node: at, concept } = measure;
  const wrapper = (node as { FuncCall: { agg_filter?: Node } }).FuncCall;
  const type = parseType(measure.def.type).sql;
  const isRoot = at === relation.root;
  const once = block.single && block.fromNodes.size === 0 && (isRoot || reachedOnce(at));
  if ((!once || !isRoot) && !isKeyed(concept))
    throw badRequest(
      'no_key',
      `${calledMeasure(measure)} needs a primary key on ${measure.cubeColumn === undefined ? `\`${concept.name}\`` : 'its concept'} here`,
    );
  if (once) {
    const seen = relation.named.graph.concept(concept.name) ?? concept;
    const columnOf = (def: PropertyDef): Node => relation.columnAt(at, propertyFor(seen, def));
    const there = (): Node[] => [...(isRoot ? [] : [isNotNull(relation.columnAt(at, { kind: 'mapping' }))]), ...conjuncts(wrapper.agg_filter)];
    const expression = expandMeasure(work, measure, columnOf, there);
    return { node, expression, level: levelOf(at, block), free: false, nodes: new Set(nodesIn(expression, block.relations)), type };
  }
  const columns = new Map<string, { name: string; def: PropertyDef }>();
  const things: Things = { measure, columns, filter: wrapper.agg_filter };
  return { node, expression: node, level: null, free: false, nodes: new Set(), things, type };
}

/** Levels are computed apart: what gives another result each time would make them disagree. */
function refuseVolatile(block: Block): void {
  if (block.work.isVolatile([block.stmt.whereClause, block.stmt.groupClause])) {
    throw badRequest('fanout', 'a volatile function in WHERE or GROUP BY of a block that aggregates several paths', {
      hint: 'compute it in a sub-query in FROM',
    });
  }
}
