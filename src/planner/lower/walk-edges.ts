/** The edges of a walk, in the direction of the relationship and against it. */
import type { Concept } from '../../ontology/graph.ts';
import type { PropertyDef } from '../../ontology/model.ts';
import { column, join, type SelectStmt, select, subselect, target } from '../plan/tree.ts';
import { actualProperty, rawType, type Wanted, type WantedColumns } from '../plan/wanted.ts';
import type { PlanState } from '../plan-state.ts';
import type { SeenAround } from '../secure/link-columns.ts';
import type { ReadableAs } from '../secure/shown.ts';
import { areEnforced } from './enforced.ts';
import { linkRows } from './links.ts';
import { pairRows } from './pairs.ts';
import { conceptSource } from './sources.ts';
import { hasOtherRows } from './visible.ts';
import { leadsDown, type Walk } from './walk.ts';
import { allEqual, columnsOf, type Edges } from './walk-levels.ts';

/**
 * The edges of a foreign key: the rows of the concept that declares it, if the caller may read them. An edge leads from the values of one row's reference to those
 * of the next. The ends are the values that are compared with the next edges, so they have their declared types; the starts keep the table's type, for which there
 * is an index.
 */
export function keyEdges({ state, relationship, as }: Walk, backward: boolean): Edges {
  const { declaredBy, references, source } = relationship;
  const [starts, ends] = backward ? [source, references] : [references, source];
  const wanted = new Map<string, Wanted>();
  starts.forEach((def, i) => {
    wanted.set(`a${i}`, keyOf(state, declaredBy, def));
  });
  ends.forEach((def, i) => {
    wanted.set(`b${i}`, actualProperty(state, def));
  });
  return { rows: rowsAs(state, declaredBy, wanted, as) };
}

/**
 * The edges of links. A walk does not pass through missing rows: it ends only at rows of the relationship's target, and continues only from instances of the
 * declaring concept.
 * @param startsAt for the first step: the concept whose rows it starts from, which are instances even if they are not rows of the declaring concept
 */
export function linkEdges(walk: Walk, backward: boolean, startsAt?: Concept): Edges {
  const { state, relationship, near, far, nodes, as } = walk;
  const { declaredBy, target: end, isInverse } = relationship;
  const [from, to] = backward ? ['f', 'n'] : ['n', 'f'];
  const isRestricted = !isInverse && (as !== undefined || declaredBy !== end);
  const goesBack = backward && isRestricted;
  const exist = !goesBack && as === undefined && !walk.isPairs && areEnforced(state, relationship.links, backward ? 'near' : 'far', end, nodes);
  const joined = joinedWith(walk, exist, startsAt);
  const links = (): SelectStmt => linkRows(state, relationship, near.map(nameOf), far.map(nameOf), [], joined);
  const isStrict = isInverse && leadsDown(relationship) && !(startsAt && hasOtherRows(startsAt, relationship.from));
  const between = walk.isPairs ? pairRows(state, walk, isStrict, { near: startsAt }, joined) : links();
  const rows = select({
    targetList: [
      ...(backward ? far : near).map((_, i) => target(column('l', `${from}${i}`), `a${i}`)),
      ...(backward ? near : far).map((_, i) => target(column('l', `${to}${i}`), `b${i}`)),
    ],
    fromClause: [subselect(between, 'l')],
  });
  const goesOn = (prefix: string): SelectStmt => rowsAs(state, declaredBy, columnsBy(state, declaredBy, prefix, near), as);
  // Backward, the end of an edge is a node that the walk leaves.
  if (goesBack) return { rows, ends: both(endRows(walk), goesOn('d'), nodes.length) };
  const ends = exist ? undefined : endRows(walk);
  return isRestricted ? { rows, ends, leaves: goesOn('d') } : { rows, ends };
}

/** The concepts whose rows are joined with the links of a step. A step after the first one starts at a row at which one before it ends. */
function joinedWith({ relationship: { target: end }, near, far, goesOnward, seen }: Walk, exist: boolean, startsAt: Concept | undefined): SeenAround {
  if (exist) return { near: startsAt, seen };
  const startsAtEnd = !goesOnward && near.length === far.length && near.every((def, i) => def === far[i]);
  return { near: startsAt ?? (startsAtEnd ? end : undefined), far: end, seen };
}

/** The rows at which the links of a walk end, of which the values are `k0..`. */
export function endRows({ state, relationship: { target: end, isInverse }, nodes, as }: Walk): SelectStmt {
  return rowsAs(state, end, columnsBy(state, end, 'k', nodes), isInverse ? as : undefined);
}

const nameOf = (def: PropertyDef): string => def.name;

/** The rows `k0..` whose values are also those of a row `d0..`. */
const both = (ends: SelectStmt, leaves: SelectStmt, width: number): SelectStmt =>
  select({
    targetList: columnsOf('k', 'k', width).map((v, i) => target(v, `k${i}`)),
    fromClause: [join('JOIN_INNER', subselect(ends, 'k'), subselect(leaves, 'd'), allEqual(columnsOf('d', 'd', width), columnsOf('k', 'k', width)))],
  });

/** A property's column of the table if all mappings have the same integer type for it, for comparisons that use an index. */
function keyOf(state: PlanState, concept: Concept, def: PropertyDef): Wanted {
  const raw = rawType(concept, def);
  return raw ? { kind: 'raw', def, type: raw } : actualProperty(state, def);
}

const columnsBy = (state: PlanState, concept: Concept, prefix: string, defs: readonly PropertyDef[]): WantedColumns =>
  new Map(defs.map((def, i) => [`${prefix}${i}`, keyOf(state, concept, def)] as const));

const rowsAs = (state: PlanState, concept: Concept, wanted: WantedColumns, as: ReadableAs | undefined): SelectStmt =>
  conceptSource(state, concept, wanted, concept, as && { comparisons: [], as });
