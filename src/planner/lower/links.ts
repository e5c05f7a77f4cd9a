/** The rows of many-to-many relationships, and FROM of the mappings of links and of multi-value properties. */
import { badRequest } from '../../errors.ts';
import type { Concept, Relationship } from '../../ontology/graph.ts';
import type { MappingDef } from '../../ontology/model.ts';
import { parseType } from '../../ontology/types.ts';
import { isPlainType } from '../guard/index.ts';
import { BARRIER } from '../plan/barriers.ts';
import { and, boolean, cast, type Node, nullValue, type SelectStmt, select, target, unionAll } from '../plan/tree.ts';
import type { PlanState } from '../plan-state.ts';
import type { Around, SeenAround } from '../secure/link-columns.ts';
import { columnValue } from './column-value.ts';
import { maskStandalone } from './masks.ts';
import { rowsOfVisible } from './visible.ts';

type Link = Relationship['links'][number];
type Side = 'near' | 'far';

/** The names of the properties of a concept's primary key. */
export const keyNames = (concept: Concept): readonly string[] => (concept.key?.properties ?? []).map((p) => p.name);

/**
 * The rows of a many-to-many relationship: near columns `n0..`, far columns `f0..`, and the wanted columns of the link under their names. The ends are cast to
 * the types of the properties that they refer to, except integers, which an index can compare across integer types.
 * @param around the concepts whose rows are joined with the links at both ends
 * @throws SvcError 400 `bad_link` if the mappings of the relationship refer to different properties
 */
export function linkRows(
  state: PlanState,
  relationship: Relationship,
  near: readonly string[],
  far: readonly string[],
  extra: readonly (readonly [string, string])[],
  around: SeenAround,
): SelectStmt {
  const { links } = relationship;
  if (links.length === 0) return noLinks(state, near, far, extra);
  const uniform = { near: near.map((_, i) => isUniform(links, 'near', i)), far: far.map((_, i) => isUniform(links, 'far', i)) };
  return links
    .map((link) => {
      const rows = select({
        targetList: [
          ...endTargets(state, uniform, link, 'near', near),
          ...endTargets(state, uniform, link, 'far', far),
          ...extra.map(([lower, name]) => target(ownColumn(state, relationship, link, lower, around), name)),
        ],
        ...fromMapping(state, link.mapping),
      });
      return ownedBy(state, ownedBy(state, rows, link.near, 'near', near, around), link.far, 'far', far, around);
    })
    .reduce(unionAll);
}

/**
 * The links whose row at one end the caller may read by its row policies, as a row of the concept that they refer to. The concept whose rows are joined there may have other rows with
 * the same key.
 */
function ownedBy(state: PlanState, rows: SelectStmt, link: Link[Side], side: Side, properties: readonly string[], around: SeenAround): SelectStmt {
  const concept = state.graph.concept(link.concept);
  if (concept === undefined) return rows;
  const keys = properties.flatMap((name, i) => {
    const def = state.graph.property(name);
    return def ? [[endName(side, i), def] as const] : [];
  });
  return rowsOfVisible(state, rows, { concept, keys }, around[side], around.seen);
}

const endName = (side: Side, i: number): string => `${side === 'near' ? 'n' : 'f'}${i}`;

const declaredIn = (state: PlanState, property: string): string => {
  const def = state.graph.property(property);
  return def ? parseType(def.type).sql : 'text';
};

/** A SELECT with the columns of `linkRows` and no rows. */
export function noLinks(state: PlanState, near: readonly string[], far: readonly string[], extra: readonly (readonly [string, string])[]): SelectStmt {
  const typed = (property: string): Node => cast(nullValue(), declaredIn(state, property));
  return select({
    targetList: [
      ...near.map((p, i) => target(typed(p), endName('near', i))),
      ...far.map((p, i) => target(typed(p), endName('far', i))),
      ...extra.map(([, name]) => target(cast(nullValue(), 'text'), name)),
    ],
    whereClause: boolean(false),
  });
}

/** The columns of one end of a link. @param uniform for each column of an end, whether all links have the same type */
function endTargets(state: PlanState, uniform: Readonly<Record<Side, readonly boolean[]>>, link: Link, side: Side, properties: readonly string[]): Node[] {
  return properties.map((property, i) => {
    const name = at(link[side], property);
    const given = link.mapping.columns.find((c) => c.name.toLowerCase() === name.toLowerCase());
    const col = state.texts.mapping(link.mapping).column(given?.name ?? name);
    const declared = declaredIn(state, property);
    state.facts.noteCast(given, declared);
    const type = given?.type;
    const integers = type === 'int2' || type === 'int4' || type === 'int8';
    return target(uniform[side][i] && integers && /int/.test(declared) ? col : columnValue(col, declared, given), endName(side, i));
  });
}

/** True if the mappings of all links have the same type for a column of this end. */
const isUniform = (links: readonly Link[], side: Side, i: number): boolean =>
  new Set(links.map((l) => l.mapping.columns.find((c) => c.name.toLowerCase() === l[side].columns[i]?.toLowerCase())?.type)).size === 1;

/** A column of the link itself, such as `since`. */
function ownColumn(state: PlanState, relationship: Relationship, link: Link, lower: string, around: Around): Node {
  const given = link.mapping.columns.find((c) => c.name.toLowerCase() === lower);
  const bare = given ? state.texts.mapping(link.mapping).column(given.name) : nullValue();
  const value = isPlainType(given?.type) ? bare : cast(bare, 'text');
  const rule = state.policies?.maskOnLink(state, relationship, lower, around);
  return maskStandalone(state, value, rule?.property ?? lower, rule);
}

/** The column of the link that has the value of a property at one end. */
function at(end: Relationship['links'][number]['near'], property: string): string {
  const i = end.references.findIndex((r) => r.toLowerCase() === property.toLowerCase());
  const found = end.columns[i];
  if (i < 0 || found === undefined) throw badRequest('bad_link', `the link mappings of \`${end.relationship}\` do not refer to the same properties`);
  return found;
}

/** FROM and WHERE of a mapping's rows. If the mapping filters its tables and the caller may not query them, the SELECT is marked as a barrier. */
export function fromMapping(state: PlanState, mapping: MappingDef): Pick<SelectStmt, 'fromClause' | 'whereClause'> {
  const rows = state.texts.mapping(mapping);
  const where = and(rows.where());
  const hides = rows.leavesOut && state.hidesTables(mapping.datasource);
  state.facts.hidesRows ||= hides;
  return { fromClause: rows.from(), ...(where ? { whereClause: where } : {}), ...(hides ? BARRIER : {}) };
}
