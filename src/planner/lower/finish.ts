/** Lowers bound blocks: replaces the slots of concepts by sub-selects, and computes aggregates on their levels. */
import { visited } from '../../budget.ts';
import { forbidden } from '../../errors.ts';
import type { ViewDef } from '../../ontology/model.ts';
import type { ConceptRelation } from '../bind/relation.ts';
import type { BoundBlock, PendingBlock } from '../plan/block.ts';
import { LocatedError, locating } from '../plan/located-error.ts';
import type { PathNode } from '../plan/path-node.ts';
import { conceptOfSlot } from '../plan/slots.ts';
import { and, clone, conjuncts, isSame, type Node, rewrite, walk } from '../plan/tree.ts';
import type { PlanState } from '../plan-state.ts';
import { type Block, finishAggregates } from './aggregate/block.ts';
import { Proofs } from './aggregate/proofs.ts';
import { addNode, nodesIn } from './aggregate/spine.ts';
import { finishCubes } from './cubes.ts';
import { emitConcept } from './emission.ts';
import { REWRITES } from './rewrites.ts';

/** Lowers the blocks that were bound since the last call, inner blocks first. */
export function lowerBlocks(state: PlanState): void {
  for (let next = state.blocks.shift(); next !== undefined; next = state.blocks.shift()) {
    const { block, here, offsetOf } = next;
    here(() => withOffset(offsetOf, () => lowerBlock(state, block)));
  }
}

/** Gives an error at a node the offset of the node in the request. */
function withOffset(offsetOf: PendingBlock['offsetOf'], lower: () => void): void {
  try {
    lower();
  } catch (error) {
    if (error instanceof LocatedError && error.location !== undefined) throw error.at(offsetOf(error.location));
    throw error;
  }
}

/** Binds something during lowering, and lowers only the blocks that this adds. */
export function bindAndLower<T>(state: PlanState, bind: () => T): T {
  const waiting = state.blocks.splice(0);
  const bound = bind();
  lowerBlocks(state);
  state.blocks.push(...waiting);
  return bound;
}

/**
 * Lowers a block.
 * @param plain called if plain joins are right for its aggregates, when these are expanded and its references still say what they mean
 */
export function lowerBlock(state: PlanState, block: BoundBlock, plain?: () => void): void {
  const { stmt, scope, relations, cubes } = block;
  if (cubes.length > 0) lowerCubes(state, block);
  const from = relations.length > 0 ? lowerConcepts(state, block, plain) : undefined;
  const nodes = new Set<PathNode>();
  // before FROM has the sub-selects of concepts, which do not refer to the block
  state.references.settle(stmt, scope, from && ((relation, node) => addNode(nodes, node, relation, relations)));
  if (from) stmt.fromClause = from(nodes);
}

/** Computes aggregates on their levels. @returns a function that makes FROM, with joins of the nodes to which the block refers; undefined if the levels are the FROM of the block */
function lowerConcepts(
  state: PlanState,
  { stmt, scope, relations, cubes, fromNodes }: BoundBlock,
  plain?: () => void,
): ((nodes: ReadonlySet<PathNode>) => Node[]) | undefined {
  for (const rewrite of REWRITES) rewrite.apply(state, stmt, relations);
  const template = stmt.fromClause ?? [];
  const single = template.length === 1 && conceptOfSlot(template[0] as Node) !== undefined;
  const block: Block = {
    state,
    stmt,
    scope,
    relations,
    references: state.references,
    fromNodes,
    cube: cubes.length > 0,
    single,
    proofs: new Proofs({ state, relations, where: stmt.whereClause }),
    from: (nodes) => fillSlots(clone(template), relations, nodes),
  };
  if (finishAggregates(block)) return undefined;
  // it may leave out columns, whose paths are then not joined
  plain?.();
  return (nodes) => fillSlots(template, relations, nodes);
}

function lowerCubes(state: PlanState, { stmt, cubes }: BoundBlock): void {
  // Barriers copy the conditions, so the blocks in them must be lowered first.
  const found = bindAndLower(state, () => cubes.map(({ relation, stmt: own }) => relation.condition(own)));
  for (const [i, { relation, barrier }] of cubes.entries()) if (barrier) makeBarrier(state, relation.cube, barrier.single, found[i] ?? []);
  const conditions = found.flat();
  const where = and([...conjuncts(stmt.whereClause), ...conditions]);
  if (where) stmt.whereClause = where;
  const relations = cubes.map((c) => c.relation);
  const selected: Node[] = [];
  walk(stmt.targetList, (n) => {
    if (!relations.some((c) => c.named.has(n))) return undefined;
    if (!selected.some((s) => isSame(s, n, visited))) selected.push(n);
    return false;
  });
  bindAndLower(state, () => finishCubes(state, stmt, relations, selected));
}

/**
 * Turns the condition of a cube into a barrier. If the cube filters rows in any other way than by a condition on the rows of a single concept, a statement that
 * needs barriers cannot read it. The refusal is kept until that is known.
 */
function makeBarrier(state: PlanState, cube: ViewDef, relation: ConceptRelation | undefined, conditions: readonly Node[]): void {
  if (!relation || [...nodesIn(conditions, [relation])].some((n) => n.toMany)) {
    state.barrierRefusal ??= forbidden(
      'forbidden',
      `An expression that may raise an error needs the right QUERY on everything that the cube \`${cube.name}\` reads`,
      {
        hint: 'Only compare, group or count its columns, or ask an administrator for the right.',
      },
    );
    return;
  }
  for (const condition of conditions) relation.barrier(condition);
}

/** Replaces the slots of concepts by sub-selects that join the given nodes (in place). */
function fillSlots(items: Node[], relations: readonly ConceptRelation[], nodes: ReadonlySet<PathNode>): Node[] {
  return rewrite(items, (n) => {
    const i = conceptOfSlot(n);
    if (i === undefined) return undefined;
    const relation = relations[i] as ConceptRelation;
    return locating(n, () => emitConcept(relation, new Set(relation.root.all().filter((p) => nodes.has(p)))));
  }) as Node[];
}
