/**
 * Transitive paths: one row for each distinct node that a walk of at most n steps reaches, with the length of the shortest walk
 * (docs/design/paths-and-cardinality.md#walks). The SQL is a LATERAL recursion that starts from the row, `UNION` on node and level, then the least level
 * (docs/design/sql-shapes.md#walks).
 */
import { badRequest } from '../errors.ts';
import type { Concept, Relationship } from '../ontology/graph.ts';
import type { PropertyDef } from '../ontology/model.ts';
import { parseType } from '../ontology/types.ts';
import { type Joined, joinColumn, linkRows, type Maker, nodeSource, type PathNode, propertyKey } from './joins.ts';
import type { Hop } from './path.ts';
import { type OpenAs, openAs } from './shown.ts';
import { actualProperty, conceptSource, rawType, type Wanted, type WantedColumns } from './sources.ts';
import { and, call, cast, column, equals, integer, isNotNull, join, type Node, operator, type SelectStmt, select, string, subselect, target } from './tree.ts';
import type { Work } from './work.ts';

/** The alias under which the reached nodes of a walk stand; its column `level` is the length of the shortest walk. */
export const walkAlias = (node: PathNode): string => `${node.alias}w`;

/**
 * A walk as a joined relation. The edges lead from a node's value to the next one's; a node is told by the values of the declared
 * references (of a link: of its far end), so a walk ends where no row has them.
 */
export function transitiveWalk(node: PathNode, parent: PathNode, hop: Hop, depth: number): Maker {
  const relationship = hop.relationship;
  const work = node.work;
  const wantOf = (at: PathNode, def: PropertyDef): string => at.want(propertyKey(def, work.policies !== undefined), actualProperty(work, def));
  const mtm = relationship.kind === 'mtm';
  const as = openAs(relationship.declaredBy, hop.columns.graph);
  const near = relationship.links[0]?.near.references ?? keyNames(relationship.from);
  const far = relationship.links[0]?.far.references ?? keyNames(relationship.target);
  const property = (name: string): PropertyDef => {
    const found = work.graph.property(name);
    if (!found) throw badRequest('unknown_property', `unknown property \`${name}\` behind the relationship \`${relationship.name}\``);
    return found;
  };
  // The properties by which a walk starts at the parent's row, and those by which the reached row is found.
  const starts = mtm ? near.map(property) : [...relationship.source];
  const nodes = mtm ? far.map(property) : relationship.isInverse ? [...relationship.source] : [...relationship.references];
  const startColumns = starts.map((d) => wantOf(parent, d));
  const nodeColumns = nodes.map((d) => joinColumn(node, d).name);
  const width = nodes.length;
  const alias = walkAlias(node);

  return (parentColumn): Joined => {
    const startValues = startColumns.map(parentColumn);
    const steps = 's';
    const values = (from: string, prefix: string): Node[] => Array.from({ length: width }, (_, i) => column(from, `${prefix}${i}`));
    const edge = (onward: boolean): SelectStmt => (mtm ? linkEdges(node, relationship, near, far, nodes, as, onward) : keyEdges(node, relationship, as));
    const seed =
      mtm || relationship.isInverse
        ? select({
            targetList: [...values('e', 'b').map((v, i) => target(v, `n${i}`)), target(cast(integer('1'), 'integer'), 'level')],
            fromClause: [subselect(edge(false), 'e')],
            whereClause: and(values('e', 'a').map((v, i) => equals(v, startValues[i] as Node))) as Node,
          })
        : select({
            targetList: [...startValues.map((v, i) => target(v, `n${i}`)), target(cast(integer('1'), 'integer'), 'level')],
            whereClause: and(startValues.map(isNotNull)) as Node,
          });
    const next = select({
      targetList: [...values('e', 'b').map((v) => target(v)), target(operator('+', column(steps, 'level'), integer('1')))],
      fromClause: [
        join(
          'JOIN_INNER',
          { RangeVar: { relname: steps, inh: true, relpersistence: 'p' } },
          subselect(edge(true), 'e'),
          and(values('e', 'a').map((v, i) => equals(v, column(steps, `n${i}`)))) as Node,
        ),
      ],
      whereClause: and([operator('<', column(steps, 'level'), integer(String(depth))), ...values('e', 'b').map(isNotNull)]) as Node,
    });
    const walk: SelectStmt = select({
      withClause: {
        recursive: true,
        ctes: [
          {
            CommonTableExpr: {
              ctename: steps,
              ctematerialized: 'CTEMaterializeDefault',
              aliascolnames: [...nodes.map((_, i) => string(`n${i}`)), string('level')],
              ctequery: { SelectStmt: { limitOption: 'LIMIT_OPTION_DEFAULT', op: 'SETOP_UNION', larg: seed, rarg: next } },
            },
          },
        ],
      },
      targetList: [...nodes.map((_, i) => target(column(steps, `n${i}`), `n${i}`)), target(call('min', [column(steps, 'level')]), 'level')],
      fromClause: [{ RangeVar: { relname: steps, inh: true, relpersistence: 'p' } }],
      groupClause: nodes.map((_, i) => column(steps, `n${i}`)),
    });
    const reached = and(nodeColumns.map((c, i) => equals(column(node.alias, c), column(alias, `n${i}`)))) as Node;
    return {
      item: subselect(
        select({
          targetList: [{ ResTarget: { val: { ColumnRef: { fields: [string(node.alias), { A_Star: {} }] } } } }, target(column(alias, 'level'), 'level')],
          fromClause: [join('JOIN_INNER', subselect(walk, alias, { lateral: true }), subselect(nodeSource(node), node.alias), reached)],
        }),
        node.alias,
        { lateral: true },
      ),
      condition: { A_Const: { boolval: { boolval: true } } },
    };
  };
}

const keyNames = (concept: Concept): readonly string[] => (concept.key?.properties ?? []).map((p) => p.name);

/** Edges a -> b of a foreign key in its direction: from the rows of the concept that declares it; `as`: those of which the caller may know the edge. */
function keyEdges(node: PathNode, relationship: Relationship, as: OpenAs | undefined): SelectStmt {
  const typed = (def: PropertyDef): Wanted => actualProperty(node.work, def);
  const wanted = new Map<string, Wanted>();
  // b of an edge is what tells the next node: for the declared direction the row's own source values, for the inverse its references.
  // a is only compared: as the table has it, so that its index serves each step.
  relationship.references.forEach((def, i) => {
    const raw = rawType(relationship.declaredBy, def);
    wanted.set(`a${i}`, raw ? { kind: 'raw', def, type: raw } : typed(def));
  });
  relationship.source.forEach((def, i) => {
    wanted.set(`b${i}`, typed(def));
  });
  return rowsAs(node.work, relationship.declaredBy, wanted, as);
}

const rowsAs = (work: Work, concept: Concept, wanted: WantedColumns, as: OpenAs | undefined): SelectStmt =>
  conceptSource(work, concept, wanted, concept, as && { comparisons: [], as });

/** Edges a -> b of the links (`onward`: not those of the walk's start), only where b is a row of the relationship's target: a walk does not go through what is not there. */
function linkEdges(
  node: PathNode,
  relationship: Relationship,
  near: readonly string[],
  far: readonly string[],
  nodes: readonly PropertyDef[],
  as: OpenAs | undefined,
  onward: boolean,
): SelectStmt {
  const { work } = node;
  const rows = linkRows(work, relationship, near, far, []);
  const keyOf = (concept: Concept, def: PropertyDef): Wanted => {
    const raw = rawType(concept, def);
    return raw ? { kind: 'raw', def, type: raw } : actualProperty(work, def);
  };
  const keys = new Map(nodes.map((def, i) => [`k${i}`, keyOf(relationship.target, def)] as const));
  const existing = rowsAs(work, relationship.target, keys, relationship.isInverse ? as : undefined);
  const type = (name: string): string => parseType(work.graph.property(name)?.type ?? 'string').sql;
  let from = join(
    'JOIN_INNER',
    subselect(rows, 'l'),
    subselect(existing, 'k'),
    and(nodes.map((_, i) => equals(column('k', `k${i}`), column('l', `f${i}`)))) as Node,
  );
  // From a row that is no instance of the declaring concept no step leads on: it does not have the relationship.
  if (onward && !relationship.isInverse && (as !== undefined || relationship.declaredBy !== relationship.target)) {
    const having = new Map<string, Wanted>();
    for (const [i, name] of near.entries()) {
      const def = work.graph.property(name);
      if (def) having.set(`d${i}`, keyOf(relationship.declaredBy, def));
    }
    const onNear = and(near.map((_, i) => equals(column('d', `d${i}`), column('l', `n${i}`)))) as Node;
    from = join('JOIN_INNER', from, subselect(rowsAs(work, relationship.declaredBy, having, as), 'd'), onNear);
  }
  return select({
    targetList: [
      ...near.map((_, i) => target(column('l', `n${i}`), `a${i}`)),
      ...far.map((name, i) => target(cast(column('l', `f${i}`), type(name)), `b${i}`)),
    ],
    fromClause: [from],
  });
}
