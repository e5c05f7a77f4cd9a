/**
 * Transitive paths: one row for each distinct node that a walk of at most n steps reaches, with the length of the shortest walk
 * (docs/design/paths-and-cardinality.md#walks). The SQL is a LATERAL recursive query that starts at the parent's row, removes duplicates of node and level by
 * `UNION`, and takes the minimum level of each node (docs/design/sql-shapes.md#walks).
 */
import { badRequest } from '../../errors.ts';
import type { Concept, Relationship } from '../../ontology/graph.ts';
import type { PropertyDef } from '../../ontology/model.ts';
import { parseType } from '../../ontology/types.ts';
import type { Hop } from '../plan/hop.ts';
import { type PathNode, propertyKey } from '../plan/path-node.ts';
import {
  and,
  boolean,
  call,
  cast,
  column,
  equals,
  integer,
  isNotNull,
  join,
  type Node,
  operator,
  type SelectStmt,
  select,
  string,
  subselect,
  target,
} from '../plan/tree.ts';
import { actualProperty, rawType, type Wanted, type WantedColumns } from '../plan/wanted.ts';
import type { PlanState } from '../plan-state.ts';
import { type ReadableAs, readableAs } from '../secure/shown.ts';
import { type Joined, joinColumn, type Maker, nodeSource } from './joins.ts';
import { keyNames, linkRows } from './links.ts';
import { conceptSource } from './sources.ts';

/** The alias of the nodes that a walk reaches. Its column `level` is the length of the shortest walk. */
export const walkAlias = (node: PathNode): string => `${node.alias}w`;

/**
 * A walk as a joined relation. An edge leads from the values of one node to those of the next. A node is identified by the values of the declared references
 * (of a link: of its far end), so a walk ends at values that no row has.
 * @throws SvcError 400 `unknown_property`
 */
export function transitiveWalk(node: PathNode, parent: PathNode, hop: Hop, depth: number): Maker {
  const { relationship } = hop;
  const { state } = node;
  const wantOf = (at: PathNode, def: PropertyDef): string => at.want(propertyKey(def, state.policies !== undefined), actualProperty(state, def));
  const isLink = relationship.kind === 'mtm';
  const as = readableAs(relationship.declaredBy, hop.columns.graph);
  const near = relationship.links[0]?.near.references ?? keyNames(relationship.from);
  const far = relationship.links[0]?.far.references ?? keyNames(relationship.target);
  const property = (name: string): PropertyDef => {
    const found = state.graph.property(name);
    if (!found) throw badRequest('unknown_property', `unknown property \`${name}\` in the relationship \`${relationship.name}\``);
    return found;
  };
  // The properties of the parent's row at which a walk starts, and those that identify the row that it reaches.
  const starts = isLink ? near.map(property) : [...relationship.source];
  const nodes = isLink ? far.map(property) : relationship.isInverse ? [...relationship.source] : [...relationship.references];
  const startColumns = starts.map((d) => wantOf(parent, d));
  const nodeColumns = nodes.map((d) => joinColumn(node, d).name);
  const edges = (onward: boolean): SelectStmt => (isLink ? linkEdges(node, relationship, near, far, nodes, as, onward) : keyEdges(node, relationship, as));

  return (parentColumn): Joined => {
    const values = startColumns.map(parentColumn);
    const seed = isLink || relationship.isInverse ? firstEdges(edges(false), values, nodes.length) : firstNode(values);
    const walk = shortestWalks(seed, edges(true), nodes.length, depth);
    const alias = walkAlias(node);
    const reached = and(nodeColumns.map((c, i) => equals(column(node.alias, c), column(alias, `n${i}`)))) as Node;
    const rows = select({
      targetList: [{ ResTarget: { val: { ColumnRef: { fields: [string(node.alias), { A_Star: {} }] } } } }, target(column(alias, 'level'), 'level')],
      fromClause: [join('JOIN_INNER', subselect(walk, alias, { lateral: true }), subselect(nodeSource(node), node.alias), reached)],
    });
    return { item: subselect(rows, node.alias, { lateral: true }), condition: boolean(true) };
  };
}

/** The columns `prefix0`, `prefix1` .. under an alias. */
const columnsOf = (alias: string, prefix: string, width: number): Node[] => Array.from({ length: width }, (_, i) => column(alias, `${prefix}${i}`));

const firstLevel = (): Node => target(cast(integer('1'), 'integer'), 'level');

/** The nodes at the ends of the edges that start at the parent's row. */
const firstEdges = (edges: SelectStmt, start: readonly Node[], width: number): SelectStmt =>
  select({
    targetList: [...columnsOf('e', 'b', width).map((v, i) => target(v, `n${i}`)), firstLevel()],
    fromClause: [subselect(edges, 'e')],
    whereClause: and(columnsOf('e', 'a', width).map((v, i) => equals(v, start[i] as Node))) as Node,
  });

/** The node to which a foreign key of the parent's own row refers. */
const firstNode = (start: readonly Node[]): SelectStmt =>
  select({ targetList: [...start.map((v, i) => target(v, `n${i}`)), firstLevel()], whereClause: and(start.map(isNotNull)) as Node });

const STEPS = 's';

/** The recursive query. It yields the nodes `n0..` that can be reached from the seed in at most `depth` steps, each with its minimum `level`. */
function shortestWalks(seed: SelectStmt, edges: SelectStmt, width: number, depth: number): SelectStmt {
  const steps: Node = { RangeVar: { relname: STEPS, inh: true, relpersistence: 'p' } };
  const nodes = (): Node[] => columnsOf(STEPS, 'n', width);
  const level = (): Node => column(STEPS, 'level');
  const follows = and(columnsOf('e', 'a', width).map((v, i) => equals(v, column(STEPS, `n${i}`)))) as Node;
  const next = select({
    targetList: [...columnsOf('e', 'b', width).map((v) => target(v)), target(operator('+', level(), integer('1')))],
    fromClause: [join('JOIN_INNER', steps, subselect(edges, 'e'), follows)],
    whereClause: and([operator('<', level(), integer(String(depth))), ...columnsOf('e', 'b', width).map(isNotNull)]) as Node,
  });
  const query: Node = {
    CommonTableExpr: {
      ctename: STEPS,
      ctematerialized: 'CTEMaterializeDefault',
      aliascolnames: [...Array.from({ length: width }, (_, i) => string(`n${i}`)), string('level')],
      ctequery: { SelectStmt: { limitOption: 'LIMIT_OPTION_DEFAULT', op: 'SETOP_UNION', larg: seed, rarg: next } },
    },
  };
  return select({
    withClause: { recursive: true, ctes: [query] },
    targetList: [...nodes().map((v, i) => target(v, `n${i}`)), target(call('min', [level()]), 'level')],
    fromClause: [{ ...steps }],
    groupClause: nodes(),
  });
}

/** The edges a -> b of a foreign key in its direction: the rows of the concept that declares it. `as`: only edges of rows that the caller may read. */
function keyEdges(node: PathNode, relationship: Relationship, as: ReadableAs | undefined): SelectStmt {
  const typed = (def: PropertyDef): Wanted => actualProperty(node.state, def);
  const wanted = new Map<string, Wanted>();
  // The b columns identify the next node: for the declared direction they are the row's own source values, for the inverse its references. The a columns are
  // only compared, so they keep the table's type, for which there is an index.
  relationship.references.forEach((def, i) => {
    const raw = rawType(relationship.declaredBy, def);
    wanted.set(`a${i}`, raw ? { kind: 'raw', def, type: raw } : typed(def));
  });
  relationship.source.forEach((def, i) => {
    wanted.set(`b${i}`, typed(def));
  });
  return rowsAs(node.state, relationship.declaredBy, wanted, as);
}

const rowsAs = (state: PlanState, concept: Concept, wanted: WantedColumns, as: ReadableAs | undefined): SelectStmt =>
  conceptSource(state, concept, wanted, concept, as && { comparisons: [], as });

/**
 * The edges a -> b of the links, only if b is a row of the relationship's target: a walk does not pass through missing rows. `onward`: only edges after the
 * first step.
 */
function linkEdges(
  node: PathNode,
  relationship: Relationship,
  near: readonly string[],
  far: readonly string[],
  nodes: readonly PropertyDef[],
  as: ReadableAs | undefined,
  onward: boolean,
): SelectStmt {
  const { state } = node;
  const rows = linkRows(state, relationship, near, far, []);
  const keyOf = (concept: Concept, def: PropertyDef): Wanted => {
    const raw = rawType(concept, def);
    return raw ? { kind: 'raw', def, type: raw } : actualProperty(state, def);
  };
  const keys = new Map(nodes.map((def, i) => [`k${i}`, keyOf(relationship.target, def)] as const));
  const existing = rowsAs(state, relationship.target, keys, relationship.isInverse ? as : undefined);
  const type = (name: string): string => parseType(state.graph.property(name)?.type ?? 'string').sql;
  let from = join(
    'JOIN_INNER',
    subselect(rows, 'l'),
    subselect(existing, 'k'),
    and(nodes.map((_, i) => equals(column('k', `k${i}`), column('l', `f${i}`)))) as Node,
  );
  // A row that is not an instance of the declaring concept does not have the relationship, so no step leads on from it.
  if (onward && !relationship.isInverse && (as !== undefined || relationship.declaredBy !== relationship.target)) {
    const having = new Map<string, Wanted>();
    for (const [i, name] of near.entries()) {
      const def = state.graph.property(name);
      if (def) having.set(`d${i}`, keyOf(relationship.declaredBy, def));
    }
    const onNear = and(near.map((_, i) => equals(column('d', `d${i}`), column('l', `n${i}`)))) as Node;
    from = join('JOIN_INNER', from, subselect(rowsAs(state, relationship.declaredBy, having, as), 'd'), onNear);
  }
  return select({
    targetList: [
      ...near.map((_, i) => target(column('l', `n${i}`), `a${i}`)),
      ...far.map((name, i) => target(cast(column('l', `f${i}`), type(name)), `b${i}`)),
    ],
    fromClause: [from],
  });
}
