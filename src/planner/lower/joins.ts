/** Joins the paths of a query: each node of a path becomes a relation, with the condition that its rows belong to a row of the parent. */
import { badRequest } from '../../errors.ts';
import type { Concept, Graph, Relationship } from '../../ontology/graph.ts';
import type { MappingDef, PropertyDef } from '../../ontology/model.ts';
import { parseType } from '../../ontology/types.ts';
import { type Hop, isKeyHop } from '../plan/hop.ts';
import { locating } from '../plan/located-error.ts';
import { linkAlias, type PathNode, propertyKey } from '../plan/path-node.ts';
import {
  and,
  boolean,
  cast,
  clone,
  column,
  equals,
  isNotNull,
  join,
  type Node,
  nullValue,
  type SelectStmt,
  select,
  subselect,
  target,
  unionAll,
} from '../plan/tree.ts';
import { actualProperty, isMixedInteger, rawType, storedInteger } from '../plan/wanted.ts';
import type { PlanState } from '../plan-state.ts';
import { listsMultiFor } from '../secure/listed.ts';
import { columnValue } from './column-value.ts';
import { areEnforced, isEnforcedFrom, readsOnly, referred } from './enforced.ts';
import { fromMapping } from './links.ts';
import { maskStandalone } from './masks.ts';
import { isKeyLookup, type RowFilter } from './narrow.ts';
import { endsOf, hasPairs, rowsBetween } from './pairs.ts';
import { conceptSource } from './sources.ts';
import { hasOtherRows, rowsOfVisible, visibleItem } from './visible.ts';
import { transitiveWalk } from './walk.ts';

/** The name of the column with a property's own values, without masks. */
export const wantActual = (node: PathNode, def: PropertyDef): string =>
  node.want(propertyKey(def, node.state.policies !== undefined), actualProperty(node.state, def));

/** The column by which a node is joined. It is the table's own column if every mapping has the same integer type for it. */
export function joinColumn(node: PathNode, def: PropertyDef, raw = rawType(node.concept, def)): { name: string; type: string } {
  const declared = parseType(def.type).sql;
  if (raw && raw !== declared) return { name: node.want(`r:${def.name}`, { kind: 'raw', def, type: raw }), type: raw };
  return { name: wantActual(node, def), type: declared };
}

/**
 * Requests the columns that the joins of the nodes need, so that sources that are made later yield them.
 * @returns a function for each node that makes its join
 */
export function prepareJoins(root: PathNode, nodes: ReadonlySet<PathNode>): Map<PathNode, Maker> {
  const makers = new Map<PathNode, Maker>();
  for (const node of root.all()) if (node !== root && nodes.has(node)) makers.set(node, prepareJoin(node));
  return makers;
}

/** The rows of a node's concept, with the columns that were requested. */
export function nodeSource(node: PathNode, joined?: RowFilter['joined']): SelectStmt {
  const filter = joined ? { comparisons: [], ...node.filter, joined } : node.filter;
  const wanted = new Map([...node.columns.values()].map((c) => [c.name, c.wanted] as const));
  return locating({ ColumnRef: { location: node.location } }, () => conceptSource(node.state, node.concept, wanted, node.concept, filter));
}

/** A joined relation and the condition that its rows belong to a row of the parent. */
export interface Joined {
  readonly item: Node;
  readonly condition: Node;
}

/** Makes the join of a node. `parentColumn` gives a column of the parent row by its name there. */
export type Maker = (parentColumn: (name: string) => Node) => Joined;

function prepareJoin(node: PathNode): Maker {
  const { step } = node;
  const parent = node.parent as PathNode;
  if (step?.kind === 'multi') return joinMulti(node, parent, step.def);
  const { hop } = step as { hop: Hop };
  if (hop.depth !== null) return transitiveWalk(node, parent, hop, hop.depth);
  return isKeyHop(hop) ? joinKey(node, parent, hop.relationship) : joinLink(node, parent, hop);
}

function joinKey(node: PathNode, parent: PathNode, relationship: Relationship): Maker {
  const pairs = relationship.source.map((def, i) => keyPair(parent, def, node, relationship.references[i] as PropertyDef));
  const lookups = usesLateral(node, parent) ? relationship.references.flatMap((def, i) => (isMixedInteger(node.concept, def) ? [{ def, pair: i }] : [])) : [];
  const { source, references } = relationship;
  return (parentColumn) => {
    if (!relationship.isInverse && readsOnly(node, references) && isEnforcedFrom(node.state, parent.concept, source, node.concept, references)) {
      const values = pairs.map(([near]) => parentColumn(near));
      return { item: referred(node, references, values), condition: and(values.map((v) => isNotNull(clone(v)))) as Node };
    }
    const joined = lookups.map(({ def, pair }) => ({ def, value: parentColumn((pairs[pair] as readonly [string, string])[0]) }));
    return {
      item: joined.length > 0 ? subselect(nodeSource(node, joined), node.alias, { lateral: true }) : subselect(nodeSource(node), node.alias),
      condition: and(pairs.map(([near, far]) => equals(column(node.alias, far), parentColumn(near)))) as Node,
    };
  };
}

/** The columns by which a node is joined with its parent: those of the tables if both are integers, also if they are declared as texts. */
function keyPair(parent: PathNode, source: PropertyDef, node: PathNode, reference: PropertyDef): readonly [string, string] {
  const [near, far] = [storedInteger(parent.concept, source), storedInteger(node.concept, reference)];
  const asStored = near !== undefined && far !== undefined;
  return [joinColumn(parent, source, asStored ? near : undefined).name, joinColumn(node, reference, asStored ? far : undefined).name];
}

/**
 * True if a node's rows are looked up for each parent row by a LATERAL sub-select, in each mapping. This is faster if few parent rows are read, because a join
 * on a cast column cannot use the index. For many rows a hash join without the index is faster.
 */
function usesLateral(node: PathNode, parent: PathNode): boolean {
  let root = parent;
  for (; root.parent; root = root.parent) if (root.toMany) return false;
  return node.state.policies === undefined && isKeyLookup(root);
}

function joinLink(node: PathNode, parent: PathNode, hop: Hop): Maker {
  const ends = endsOf(hop);
  const { near, far } = ends;
  const nearColumns = near.map((name) => joinColumn(parent, propertyNamed(node, name)));
  const farColumns = far.map((name) => joinColumn(node, propertyNamed(node, name)));
  const link = linkAlias(node);
  const around = { near: parent.concept, far: node.concept, seen: hop.columns.graph };
  const nearIs = (parentColumn: Parameters<Maker>[0]): Node => and(nearColumns.map((c, i) => equals(column(link, `n${i}`), parentColumn(c.name)))) as Node;
  return (parentColumn) => {
    const rows = visibleItem(node.state, rowsBetween(node.state, hop, ends, [...node.linkColumns], around), link, [
      { concept: parent.concept, keys: near.map((name, i) => [`n${i}`, propertyNamed(node, name)] as const) },
      { concept: node.concept, keys: far.map((name, i) => [`f${i}`, propertyNamed(node, name)] as const) },
    ]);
    const refers = far.map((name) => propertyNamed(node, name));
    if (!hasPairs(hop) && readsOnly(node, refers) && areEnforced(node.state, hop.relationship.links, 'far', node.concept, refers)) {
      const values = far.map((_, i) => column(link, `f${i}`));
      return {
        item: join('JOIN_INNER', rows, referred(node, refers, values), and(values.map((v) => isNotNull(clone(v)))) as Node),
        condition: nearIs(parentColumn),
      };
    }
    const reach = and(farColumns.map((c, i) => equals(column(node.alias, c.name), column(link, `f${i}`)))) as Node;
    return {
      item: join('JOIN_INNER', rows, subselect(nodeSource(node), node.alias), reach),
      condition: nearIs(parentColumn),
    };
  };
}

function propertyNamed(node: PathNode, name: string): PropertyDef {
  const found = node.state.graph.property(name);
  if (!found) throw badRequest('unknown_property', `unknown property \`${name}\` in a link to \`${node.concept.name}\``);
  return found;
}

function joinMulti(node: PathNode, parent: PathNode, def: PropertyDef): Maker {
  const key = parent.concept.key?.properties;
  if (!key) throw badRequest('no_key', `the multi-value property \`${def.name}\` requires a primary key on \`${parent.concept.name}\``);
  const near = key.map((p) => ({ def: p, name: node.parent === parent ? joinColumn(parent, p).name : '' }));
  return (parentColumn) => {
    const { state } = node;
    const mappings = multiMappings(state.graph, parent.concept, def).filter((m) => listsMultiFor(state, parent.concept, def, m));
    const value = parseType(def.type).sql;
    const branches = mappings.map((mapping) => {
      const given = (name: string): Node =>
        state.texts.mapping(mapping).column(mapping.columns.find((c) => c.name.toLowerCase() === name.toLowerCase())?.name ?? name);
      const columnOf = (name: string) => mapping.columns.find((c) => c.name.toLowerCase() === name.toLowerCase());
      for (const { def: key } of near) state.facts.noteCast(columnOf(key.name), parseType(key.type).sql);
      state.facts.noteCast(columnOf(def.name), value);
      const owners = ownersOf(state, parent.concept, mapping);
      const values = select({
        targetList: [
          ...near.map((n, i) => target(keyColumn(mapping, n.def, given(n.def.name)), `n${i}`)),
          target(
            maskStandalone(state, columnValue(given(def.name), value, columnOf(def.name)), def.name, state.policies?.maskInAny(owners, def.name)),
            'value',
          ),
        ],
        ...fromMapping(state, mapping),
      });
      const keys = near.map((n, i) => [`n${i}`, n.def] as const);
      return owners
        .filter((o) => o !== parent.concept)
        .reduce((rows, concept) => rowsOfVisible(state, rows, { concept, keys }, parent.concept, state.seen), values);
    });
    const [first, ...others] = branches;
    const item = first
      ? visibleItem(state, others.reduce(unionAll, first), node.alias, [{ concept: parent.concept, keys: near.map((n, i) => [`n${i}`, n.def] as const) }])
      : subselect(
          select({
            targetList: [...near.map((n, i) => target(cast(nullValue(), parseType(n.def.type).sql), `n${i}`)), target(cast(nullValue(), value), 'value')],
            whereClause: boolean(false),
          }),
          node.alias,
        );
    return { item, condition: and(near.map((n, i) => equals(column(node.alias, `n${i}`), parentColumn(n.name)))) as Node };
  };
}

/**
 * The mappings that give a concept the values of a multi-value property. A key has the same meaning in all concepts that share it, so the mappings of all of
 * them count.
 */
export function multiMappings(graph: Graph, concept: Concept, def: PropertyDef): readonly MappingDef[] {
  const sharesKey = (c: Concept): boolean => c.key !== null && c.key.holder === concept.key?.holder;
  const found = graph.concepts.filter((c) => c.multiMappings.length > 0 && sharesKey(c)).flatMap((c) => c.multiMappings);
  return [...new Set(found)].filter((m) => m.property?.toLowerCase() === def.name.toLowerCase());
}

/** The concepts whose masks and row policies apply to the values that a mapping gives a concept: also the one that it maps into, if the concept has other rows. */
function ownersOf({ graph }: PlanState, concept: Concept, { concept: into }: MappingDef): readonly Concept[] {
  const mapped = graph.concept(into ?? '');
  return mapped === undefined || !hasOtherRows(graph.concept(concept.name) ?? concept, mapped) ? [concept] : [concept, mapped];
}

/** A key column of a multi-value mapping. An integer that is declared as a number keeps the table's type so that the index can be used. */
function keyColumn(mapping: MappingDef, def: PropertyDef, col: Node): Node {
  const given = mapping.columns.find((c) => c.name.toLowerCase() === def.name.toLowerCase());
  const type = parseType(def.type).family === 'number' ? given?.type : undefined;
  return type === 'int4' || type === 'int8' || type === 'int2'
    ? cast(col, type === 'int4' ? 'integer' : type === 'int8' ? 'bigint' : 'smallint')
    : columnValue(col, parseType(def.type).sql, given);
}
