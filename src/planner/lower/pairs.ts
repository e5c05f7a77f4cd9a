/** The pairs of relationships that are symmetric or include others (docs/design/paths-and-cardinality.md#symmetric-and-containing-relationships). */
import type { Concept, Relationship } from '../../ontology/graph.ts';
import type { PropertyDef } from '../../ontology/model.ts';
import { sameName } from '../../ontology/names.ts';
import { coversKey, type Hop } from '../plan/hop.ts';
import { and, column, equals, isNotNull, join, type Node, type SelectStmt, select, subselect, target, union } from '../plan/tree.ts';
import { actualProperty, rawType, type Wanted } from '../plan/wanted.ts';
import type { PlanState } from '../plan-state.ts';
import type { Around, SeenAround } from '../secure/link-columns.ts';
import { keyNames, linkRows, noLinks } from './links.ts';
import { conceptSource } from './sources.ts';
import { hasOtherRows } from './visible.ts';

/** A relationship and the directions whose own pairs are its pairs. */
export type Composed = Pick<Hop, 'relationship' | 'parts'>;

/** The properties that the columns `n0..` and `f0..` of the rows between two concepts have. */
export interface Ends {
  readonly near: readonly string[];
  readonly far: readonly string[];
}

/** True if the rows between the two concepts of a hop are pairs of their keys. Otherwise they are the links of the one relationship. */
export const hasPairs = ({ parts }: Pick<Hop, 'parts'>): boolean => parts.length > 1;

/** The properties that identify the rows of both ends in the rows between them. @param isPairs whether the rows between are pairs of keys */
export function endsOf({ relationship, parts }: Composed, isPairs = hasPairs({ parts })): Ends {
  const [link] = isPairs ? [] : relationship.links;
  return { near: link?.near.references ?? keyNames(relationship.from), far: link?.far.references ?? keyNames(relationship.target) };
}

/**
 * The rows between the two concepts of a hop, `n0..` and `f0..`, with the wanted columns of the link: the links of a many-to-many relationship, or pairs, each
 * once.
 */
export function rowsBetween(
  state: PlanState,
  hop: Composed,
  { near, far }: Ends,
  extra: readonly (readonly [string, string])[],
  around: SeenAround,
): SelectStmt {
  if (!hasPairs(hop)) return linkRows(state, hop.relationship, near, far, extra, around);
  const pairs = pairRows(state, hop, false, around, around);
  // several links of one part may give the same pair; the rows of a foreign key differ in their keys
  return pairs.op !== 'SETOP_UNION' && hop.parts.some((part) => part.links.length > 0) ? { ...pairs, distinctClause: [{} as Node] } : pairs;
}

/**
 * The pairs of a relationship by the keys of both concepts. Each pair occurs once, even if several parts have it.
 * @param isStrict whether both ends are checked to be rows of the part's concepts, although the rows around the pairs are those of the relationship's concepts
 * @param around the concepts whose rows the pairs are read for, if they may have rows that the relationship's concepts do not have
 * @param joined the concepts whose rows are joined with the pairs
 */
export function pairRows(state: PlanState, { relationship, parts }: Composed, isStrict: boolean, around: Around, joined: SeenAround): SelectStmt {
  const [first, ...others] = parts.flatMap((part) => pairsOf(state, relationship, part, isStrict, around, joined));
  if (!first) return noLinks(state, keyNames(relationship.from), keyNames(relationship.target), []);
  return others.reduce(union, first);
}

const keyOf = (concept: Concept): readonly PropertyDef[] => concept.key?.properties ?? [];

/** The value of a property in the column of some rows. */
interface Column {
  readonly def: PropertyDef;
  readonly at: Node;
}

/** One end of a part: columns that have values of its rows, and its rows if they must be joined. */
interface End {
  /** The concept whose rows are read at this end. */
  readonly concept: Concept;
  /** The key, of the relationship's concept at this end. */
  readonly key: readonly PropertyDef[];
  readonly alias: string;
  /** True if the part's own columns do not give the key, or give keys of other rows too. */
  readonly isJoined: boolean;
}

/** The SELECT of the pairs of one part; an empty list for a part without links. */
function pairsOf(state: PlanState, relationship: Relationship, part: Relationship, isStrict: boolean, around: Around, joined: SeenAround): SelectStmt[] {
  const endAt = (end: Concept, of: Concept, reader: Concept | undefined, alias: string, references: readonly PropertyDef[]): End => {
    const covers = !isStrict && of.isA(end);
    return { concept: covers && reader && hasOtherRows(reader, end) ? reader : end, key: keyOf(of), alias, isJoined: !covers || !coversKey(of, references) };
  };
  const near = (references: readonly PropertyDef[]): End => endAt(part.from, relationship.from, around.near, 'a', references);
  const far = (references: readonly PropertyDef[]): End => endAt(part.target, relationship.target, around.far, 'b', references);
  if (part.kind === 'fk') return [pairsOfKey(state, part, near(part.source), far(part.references))];
  const defs = (names: readonly string[]): readonly PropertyDef[] => names.flatMap((name) => state.graph.property(name) ?? []);
  const [link] = part.links;
  if (!link) return [];
  const [nearRefs, farRefs] = [defs(link.near.references), defs(link.far.references)];
  return [pairsOfLinks(state, part, [nearRefs, near(nearRefs)], [farRefs, far(farRefs)], joined)];
}

/** The pairs of a foreign key: rows of the concept that has its columns, and of the other one if its key is not among them. */
function pairsOfKey(state: PlanState, part: Relationship, near: End, far: End): SelectStmt {
  const holder = part.isInverse ? far : near;
  const other = part.isInverse ? near : far;
  const [own, referenced] = part.isInverse ? [part.references, part.source] : [part.source, part.references];
  const columns = new Map<string, Wanted>();
  const keyColumns = holder.key.map((def, i) => wantIn(state, columns, holder.concept, def, `k${i}`));
  const ownColumns = own.map((def, i) => wantIn(state, columns, holder.concept, def, `v${i}`));
  const held = keyColumns.map((name) => column(holder.alias, name));
  const values = ownColumns.map((name) => column(holder.alias, name));
  const rows = subselect(conceptSource(state, holder.concept, columns), holder.alias);
  const joined = other.isJoined ? joinEnd(state, other, referenced, rows, values) : undefined;
  const others = joined?.key ?? other.key.map((k) => values[referenced.findIndex((r) => sameName(r.name, k.name))] as Node);
  return select({
    targetList: part.isInverse ? ends(others, held) : ends(held, others),
    fromClause: [joined?.item ?? rows],
    whereClause: and(values.map((v) => isNotNull(v))) as Node,
  });
}

/** The pairs of links. */
function pairsOfLinks(
  state: PlanState,
  part: Relationship,
  [nearRefs, near]: readonly [readonly PropertyDef[], End],
  [farRefs, far]: readonly [readonly PropertyDef[], End],
  joined: SeenAround,
): SelectStmt {
  const names = (defs: readonly PropertyDef[]): string[] => defs.map((d) => d.name);
  const values = (defs: readonly PropertyDef[], prefix: string): Column[] => defs.map((def, i) => ({ def, at: column('l', `${prefix}${i}`) }));
  const around: SeenAround = { near: near.isJoined ? near.concept : joined.near, far: far.isJoined ? far.concept : joined.far, seen: joined.seen };
  let item: Node = subselect(linkRows(state, part, names(nearRefs), names(farRefs), [], around), 'l');
  const keyAt = (end: End, columns: readonly Column[]): readonly Node[] => {
    if (!end.isJoined) return end.key.map((k) => columns.find(({ def }) => sameName(def.name, k.name))?.at as Node);
    const joined = joinEnd(
      state,
      end,
      columns.map((c) => c.def),
      item,
      columns.map((c) => c.at),
    );
    item = joined.item;
    return joined.key;
  };
  const nearKey = keyAt(near, values(nearRefs, 'n'));
  const farKey = keyAt(far, values(farRefs, 'f'));
  return select({ targetList: ends(nearKey, farKey), fromClause: [item] });
}

/** Joins the rows of an end by the properties that a part refers to, and gives the columns of its key. */
function joinEnd(
  state: PlanState,
  end: End,
  references: readonly PropertyDef[],
  item: Node,
  values: readonly Node[],
): { readonly item: Node; readonly key: readonly Node[] } {
  const columns = new Map<string, Wanted>();
  const key = end.key.map((def, i) => column(end.alias, wantIn(state, columns, end.concept, def, `k${i}`)));
  const referenced = references.map((def, i) => column(end.alias, wantIn(state, columns, end.concept, def, `v${i}`)));
  const same = and(referenced.map((r, i) => equals(r, values[i] as Node))) as Node;
  return { item: join('JOIN_INNER', item, subselect(conceptSource(state, end.concept, columns), end.alias), same), key };
}

/** Wants the own value of a property as a column of a source: in the type of the table if all mappings have the same integer type for it. @returns its name */
function wantIn(state: PlanState, columns: Map<string, Wanted>, concept: Concept, def: PropertyDef, name: string): string {
  const raw = rawType(concept, def);
  columns.set(name, raw ? { kind: 'raw', def, type: raw } : actualProperty(state, def));
  return name;
}

const ends = (near: readonly Node[], far: readonly Node[]): Node[] => [...near.map((v, i) => target(v, `n${i}`)), ...far.map((v, i) => target(v, `f${i}`))];
