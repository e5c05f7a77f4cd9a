/**
 * Transitive paths: one row for each distinct node that a walk of at most n steps reaches, with the length of the shortest walk
 * (docs/design/paths-and-cardinality.md#walks). A walk starts at the parent's row, or, if WHERE restricts its far end more, at the rows of the far end and goes
 * against the relationship (docs/design/sql-shapes.md#walks).
 */
import { badRequest } from '../../errors.ts';
import type { Concept, Graph, Relationship } from '../../ontology/graph.ts';
import type { PropertyDef } from '../../ontology/model.ts';
import { coversKey, type Hop } from '../plan/hop.ts';
import type { PathNode } from '../plan/path-node.ts';
import { boolean, call, column, join, type Node, type SelectStmt, select, string, subselect, target, walk as visit } from '../plan/tree.ts';
import { declaredType } from '../plan/wanted.ts';
import type { PlanState } from '../plan-state.ts';
import { type ReadableAs, readableAs } from '../secure/shown.ts';
import { type Joined, joinColumn, type Maker, nodeSource, wantActual } from './joins.ts';
import { RESTRICTED, selectivity } from './narrow.ts';
import { endsOf, hasPairs } from './pairs.ts';
import { endRows, keyEdges, linkEdges } from './walk-edges.ts';
import { allEqual, columnsOf, type Edges, nodeOf, nodesAfter, walkChain, walkLevels } from './walk-levels.ts';
import type { WalkSteps } from './walk-together.ts';

/** The alias of the nodes that a walk reaches. Its column `level` is the length of the shortest walk. */
const walkAlias = (node: PathNode): string => `${node.alias}w`;

/** A walk to be lowered. A node is identified by the values of the declared references (of a link: of its far end), so a walk ends at values that no row has. */
export interface Walk {
  readonly state: PlanState;
  readonly relationship: Relationship;
  readonly parts: readonly Relationship[];
  /** True if the steps are rows between the concepts, links or pairs; false if they are foreign keys. */
  readonly isLink: boolean;
  /** True if they are pairs of keys. */
  readonly isPairs: boolean;
  /** True if the steps after the first one are those of another relationship. */
  readonly goesOnward: boolean;
  readonly depth: number;
  /** Only steps from rows that the caller may read as instances of this concept. */
  readonly as: ReadableAs | undefined;
  /** The model as the reader of the walk sees it. */
  readonly seen: Graph;
  /** Of a link: the properties that its ends refer to. */
  readonly near: readonly PropertyDef[];
  readonly far: readonly PropertyDef[];
  /** The concept whose rows a walk starts from. */
  readonly startsAt: Concept;
  /** The properties of the parent's row at which a walk starts, and those that identify the row that it reaches. */
  readonly starts: readonly PropertyDef[];
  readonly nodes: readonly PropertyDef[];
}

/**
 * A walk as a joined relation.
 * @throws SvcError 400 `unknown_property`
 */
export function transitiveWalk(node: PathNode, parent: PathNode, hop: Hop, depth: number): Maker {
  const walk = walkOf(node.state, parent.concept, hop, depth);
  if (hop.onward !== undefined) return fromStart(walk, node, parent, walkOf(node.state, hop.onward.relationship.from, { ...hop, ...hop.onward }, depth));
  return isNarrowerAtEnd(node) ? fromEnd(walk, node, parent) : fromStart(walk, node, parent);
}

function walkOf(state: PlanState, startsAt: Concept, hop: Hop, depth: number): Walk {
  const { relationship, parts } = hop;
  const isPairs = hasPairs(hop) || leadsDown(relationship) || hop.onward !== undefined;
  const isLink = relationship.kind === 'mtm' || isPairs;
  const property = (name: string): PropertyDef => {
    const found = state.graph.property(name);
    if (!found) throw badRequest('unknown_property', `unknown property \`${name}\` in the relationship \`${relationship.name}\``);
    return found;
  };
  const ends = endsOf(hop, isPairs);
  const near = ends.near.map(property);
  const far = ends.far.map(property);
  return {
    state,
    relationship,
    parts,
    isLink,
    isPairs,
    goesOnward: hop.onward !== undefined,
    depth,
    as: readableAs(relationship.declaredBy, hop.columns.graph),
    seen: hop.columns.graph,
    near,
    far,
    startsAt,
    starts: isLink ? near : relationship.source,
    nodes: isLink ? far : relationship.isInverse ? relationship.source : relationship.references,
  };
}

/** True if a relationship leads to a concept below the one that declares it: a walk goes on only from some of the rows that it may start from. */
export const leadsDown = ({ declaredBy, isInverse, from, target }: Relationship): boolean => {
  const end = isInverse ? from : target;
  return end !== declaredBy && end.isA(declaredBy);
};

/** True if WHERE restricts the far end of a walk more than its start. Conditions on any row before the start count. */
function isNarrowerAtEnd(node: PathNode): boolean {
  let near = 0;
  for (let at = node.parent; at; at = at.parent) {
    const isRestricted = at.isRestricted || at.concept.rows.kind === 'logic';
    near = Math.max(near, selectivity(at), isRestricted ? RESTRICTED : 0);
  }
  return selectivity(node) > near;
}

const typesOf = ({ state }: Walk, defs: readonly PropertyDef[]): string[] => defs.map((def) => declaredType(state.graph, def));

/**
 * The form of a walk by these edges for a datasource that refuses a recursion. The datasource refuses it if a table is known to be distributed, or if it has
 * refused the statement before, since other tables may be distributed. undefined: a recursion.
 */
function stepsOver({ context, datasource }: PlanState, edges: readonly Edges[]): WalkSteps | undefined {
  if (context.rewrite?.walks) return context.rewrite.walks;
  const walksOver = context.target?.(datasource)?.walksOver;
  let found: WalkSteps | undefined;
  if (walksOver)
    visit(
      edges.flatMap(({ rows, ends, leaves }) => [rows, ends, leaves].map((query) => query && { SelectStmt: query })),
      (n) => {
        if ('RangeVar' in n) found ??= walksOver(n.RangeVar.schemaname ?? '', n.RangeVar.relname ?? '');
        return found === undefined;
      },
    );
  return found;
}

const allColumns = (alias: string): Node => ({ ResTarget: { val: { ColumnRef: { fields: [string(alias), { A_Star: {} }] } } } });

/**
 * A walk that starts from each row of the parent: a LATERAL sub-select.
 * @param onward the walk with the steps after the first one
 */
function fromStart(walk: Walk, node: PathNode, parent: PathNode, onward = walk): Maker {
  const { nodes, starts, relationship, depth } = walk;
  const startColumns = starts.map((d) => wantActual(parent, d));
  const nodeColumns = nodes.map((d) => joinColumn(node, d).name);
  return (parentColumn): Joined => {
    const values = startColumns.map(parentColumn);
    const startsAtEdge = walk.isLink || relationship.isInverse;
    const firstEdges = !startsAtEdge ? undefined : walk.isLink ? linkEdges(walk, false, walk.startsAt) : keyEdges(walk, false);
    const edges = walk.isLink ? linkEdges(onward, false) : keyEdges(walk, false);
    const types = typesOf(walk, startsAtEdge ? nodes : starts);
    const alias = walkAlias(node);
    const reached = allEqual(
      nodeColumns.map((c) => column(node.alias, c)),
      columnsOf(alias, 'n', nodes.length),
    );
    const steps = stepsOver(node.state, firstEdges ? [firstEdges, edges] : [edges]);
    if (steps) return steps.fromStart({ node, alias, parent, starts, values, reached, types, depth, first: firstEdges, edges });
    const first = firstEdges ? nodesAfter(firstEdges, values, nodes.length) : nodeOf(values);
    const recursion = !startsAtEdge && coversKey(relationship.target, relationship.references) ? walkChain : walkLevels;
    const levels = recursion(first, edges, types, depth);
    const rows = select({
      targetList: [allColumns(node.alias), target(column(alias, 'level'), 'level')],
      fromClause: [join('JOIN_INNER', subselect(levels, alias, { lateral: true }), subselect(nodeSource(node), node.alias), reached)],
    });
    return { item: subselect(rows, node.alias, { lateral: true }), condition: boolean(true) };
  };
}

/** A walk that goes back from each row of the far end. Its rows are joined with the parent by the values `s0..` at which the walk starts. */
function fromEnd(walk: Walk, node: PathNode, parent: PathNode): Maker {
  const { nodes, starts } = walk;
  const startColumns = starts.map((d) => joinColumn(parent, d).name);
  const nodeColumns = nodes.map((d) => wantActual(node, d));
  return (parentColumn): Joined => {
    const ends = nodeColumns.map((c) => column(node.alias, c));
    const alias = walkAlias(node);
    const condition = allEqual(columnsOf(node.alias, 's', starts.length), startColumns.map(parentColumn));
    const edges = walk.isLink ? linkEdges(walk, true) : keyEdges(walk, true);
    const steps = stepsOver(node.state, [edges]);
    if (steps) return { item: steps.fromEnd(walk, node, { alias, ends, types: endTypes(walk), edges }), condition };
    const found = walk.isLink ? linkStarts(walk, ends, edges) : keyStarts(walk, ends, edges);
    const rows = select({
      targetList: [allColumns(node.alias), target(column(alias, 'level'), 'level'), ...columnsOf(alias, 'n', starts.length).map((v, i) => target(v, `s${i}`))],
      fromClause: [subselect(nodeSource(node), node.alias), subselect(found, alias, { lateral: true })],
    });
    return { item: subselect(rows, node.alias), condition };
  };
}

/** The values `n0..` at which walks to a node by a foreign key start, with the `level` of the node in them. */
function keyStarts(walk: Walk, ends: readonly Node[], edges: Edges): SelectStmt {
  const { relationship, depth } = walk;
  const first = relationship.isInverse ? nodesAfter(keyEdges(walk, true), ends) : nodeOf(ends);
  const recursion = relationship.isInverse && coversKey(relationship.from, relationship.source) ? walkChain : walkLevels;
  return recursion(first, edges, endTypes(walk), depth);
}

/** The types of the nodes of a walk that goes back from the far end. */
const endTypes = (walk: Walk): string[] => typesOf(walk, !walk.isLink && walk.relationship.isInverse ? walk.relationship.references : walk.nodes);

/** The same by links: first the nodes between, of which the end itself is the first level, then the links that lead to them. */
function linkStarts(walk: Walk, ends: readonly Node[], edges: Edges): SelectStmt {
  const { nodes, depth } = walk;
  const width = nodes.length;
  const between = walkLevels(nodeOf(ends, endRows(walk)), edges, endTypes(walk), depth);
  const follows = allEqual(columnsOf('e', 'a', width), columnsOf('m', 'n', width));
  return select({
    targetList: [...columnsOf('e', 'b', width).map((v, i) => target(v, `n${i}`)), target(call('min', [column('m', 'level')]), 'level')],
    fromClause: [join('JOIN_INNER', subselect(between, 'm'), subselect(linkEdges(walk, true, walk.startsAt).rows, 'e'), follows)],
    groupClause: columnsOf('e', 'b', width),
  });
}
