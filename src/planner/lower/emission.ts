/** The SQL of a concept in FROM: a sub-select that joins the nodes of its paths and yields the columns that the block uses. */
import type { Concept, LogicRows } from '../../ontology/graph.ts';
import { logicCondition } from '../bind/condition.ts';
import type { ConceptRelation } from '../bind/relation.ts';
import { BARRIER } from '../plan/barriers.ts';
import type { Instance } from '../plan/exposed.ts';
import type { PathNode } from '../plan/path-node.ts';
import { and, boolean, clone, coalesce, column, join, type Node, type SelectStmt, select, string, subselect, target, walk } from '../plan/tree.ts';
import { asExists, type Branches } from './aggregate/conditions.ts';
import { nodesIn } from './aggregate/spine.ts';
import { bindAndLower } from './finish.ts';
import { prepareJoins } from './joins.ts';
import { eachMapping, type RowFilter } from './narrow.ts';
import { conceptSource } from './sources.ts';
import { unionOf } from './union.ts';

/** The FROM item: a sub-select that joins the given nodes and yields their exposed columns and those of the root. */
export function emitConcept(relation: ConceptRelation, requested: ReadonlySet<PathNode> = new Set(relation.root.all().slice(1))): Node {
  const { state, barriers, alias, root } = relation;
  const emitted = (conditions: readonly Node[], filter = root.filter): Emitted =>
    state.grows(
      () => `the relation \`${relation.called}\` with its paths`,
      () => emit(relation, requested, conditions, filter),
    );
  const { query, hides } = emitted([]);
  const open = subselect(query, alias);
  if (barriers.length === 0 && !hides) return open;
  const parts = relation.rows ? undefined : eachMapping(relation.concept, root.filter);
  if (!parts) return barriers.length === 0 ? open : state.item(open, () => subselect(emitted(barriers).query, alias));
  return state.item(open, () => subselect(unionOf(parts.map((filter) => emitted(barriers, filter).query)), alias));
}

interface Emitted {
  readonly query: SelectStmt;
  /** True if the condition of a logic concept hides rows from the caller. */
  readonly hides: boolean;
}

/** `barriers` are conditions over the relation's columns that must be evaluated before any condition of the reader. */
function emit(relation: ConceptRelation, requested: ReadonlySet<PathNode>, barriers: readonly Node[], filter: RowFilter | undefined): Emitted {
  const { root, state } = relation;
  const logic = requested.size > 0 ? logicConditions(relation) : undefined;
  const conditionNodes = new Set<PathNode>();
  const conditions = barriers.map((b) => inside(relation, clone(b), conditionNodes));
  const instances = new Map(
    relation.exposed.all.flatMap(([name, e]) => (e.computed ? [[name, isInstance(relation, e.computed, conditionNodes)] as const] : [])),
  );
  const nodes = new Set([...requested, ...(logic?.nodes ?? []), ...conditionNodes]);
  const makers = prepareJoins(root, nodes);
  const yielded = relation.exposed.all.filter(([, e]) => e.node === root || nodes.has(e.node));
  const hides = logic?.sources.some((c) => state.hidesRows(c)) ?? false;
  const below = hides || barriers.length > 0 ? { isBelowBarrier: true, ...(requested.size > 0 || barriers.length > 0 ? { isComputedEarly: true } : {}) } : {};
  const source = rowsOf(relation, logic?.source ?? relation.concept, filter && { ...filter, ...below });
  if (makers.size === 0 && barriers.length === 0 && yielded.every(([name, e]) => !e.computed && name === e.column)) return { query: source, hides: false };
  let from: Node = subselect(source, root.alias);
  for (const [node, make] of makers) {
    const { item, condition } = make((name) => column((node.parent as PathNode).alias, name));
    from = join('JOIN_LEFT', from, item, condition);
  }
  const where = and([...(logic?.conditions ?? []), ...conditions]);
  state.facts.hidesRows ||= hides;
  const query = select({
    targetList: yielded.map(([name, e]) => target(instances.get(name) ?? column(e.alias, e.column), name)),
    fromClause: [from],
    ...(where ? { whereClause: where } : {}),
    ...(hides || barriers.length > 0 ? BARRIER : {}),
  });
  return { query, hides };
}

/** The rows of the relation's root, with the columns that are wanted so far. */
function rowsOf(relation: ConceptRelation, concept: Concept, filter: RowFilter | undefined): SelectStmt {
  const { root, rows, state, reader } = relation;
  const wanted = new Map([...root.columns.values()].map((c) => [c.name, c.wanted] as const));
  return rows ? rows(wanted) : conceptSource(state, concept, wanted, reader, filter);
}

/** The conditions of a logic concept that is read with paths. They use the joins of the relation, so a path that both need is joined once. */
interface LogicConditions {
  /** The concept whose rows are filtered. */
  readonly source: Concept;
  /** The concepts from the logic concept (exclusive) to `source`. */
  readonly sources: readonly Concept[];
  readonly conditions: readonly Node[];
  readonly nodes: ReadonlySet<PathNode>;
}

function logicConditions(relation: ConceptRelation): LogicConditions | undefined {
  let { rows } = relation.concept;
  if (rows.kind !== 'logic') return undefined;
  const conditions: Node[] = [];
  const sources: Concept[] = [];
  const nodes = new Set<PathNode>();
  while (rows.kind === 'logic') {
    const below: Concept = rows.source;
    const logic: LogicRows = rows;
    const condition = bindAndLower(relation.state, () => logicCondition(relation.state, logic, relation));
    conditions.push(inside(relation, conditionOn(relation, condition, nodes), nodes));
    sources.push(below);
    rows = below.rows;
  }
  return { source: sources.at(-1) as Concept, sources, conditions, nodes };
}

/** The condition that a row of the relation is an instance of a concept, over the nodes of its joins. */
function isInstance(relation: ConceptRelation, { mapped, conditions }: Instance, nodes: Set<PathNode>): Node {
  const isMet = conditions.reduce<Node>((is, c) => coalesce(and([is, conditionOn(relation, clone(c), nodes)]) as Node, boolean(false)), clone(mapped));
  return inside(relation, isMet, nodes);
}

/** A condition with what it asks of several rows as EXISTS; adds the nodes to `nodes` from which those are reached. */
function conditionOn(relation: ConceptRelation, condition: Node, nodes: Set<PathNode>): Node {
  for (const node of nodesIn(condition, [relation.base])) if (isPlainHop(node)) nodes.add(node);
  return asExists(condition, branchesOf(relation));
}

/** The branches for conditions inside the relation's own sub-select: the nodes that several rows may belong to. */
const branchesOf = (relation: ConceptRelation): Branches => ({ relations: [relation.base], isBranch: (n) => !isPlainHop(n), inside: true });

/** True if no to-many hop leads to the node. */
function isPlainHop(node: PathNode): boolean {
  for (let at: PathNode | null = node; at; at = at.parent) if (at.toMany) return false;
  return true;
}

/** Replaces references to the relation by references to its own nodes (in place), and adds these nodes to `nodes`. */
function inside(relation: ConceptRelation, expression: Node, nodes: Set<PathNode>): Node {
  walk(expression, (n) => {
    const ref = 'ColumnRef' in n ? relation.state.references.of(n.ColumnRef) : undefined;
    // A sub-query in the expression may read other relations.
    if (!ref || ref.relation !== relation.base || !('ColumnRef' in n)) return undefined;
    n.ColumnRef.fields = [string(ref.alias), string(ref.column)];
    for (let at: PathNode | null = ref.node; at?.parent; at = at.parent) nodes.add(at);
    return undefined;
  });
  return expression;
}
