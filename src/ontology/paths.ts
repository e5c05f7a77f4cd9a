/** Follows relationship paths by their names only, for checks of the model. The planner resolves paths itself (planner/bind/path.ts), and finds more. */
import type { Concept, Relationship } from './graph.ts';
import { ENTITY_COLUMNS, fold, sameName } from './names.ts';

/** A name in a path that does not exist, and the concept where it was looked up. `target`: the relationship does not lead to the concept. */
export interface PathFault {
  readonly kind: 'relationship' | 'concept' | 'property' | 'measure' | 'target';
  readonly name: string;
  readonly at: Concept;
  /** The names that exist there. */
  readonly known: readonly string[];
}

const MEASURE = /^measure\./i;
/** A relationship, its bracket and the rest. */
const HOP = /^([^[\]]+)\[([^[\]]*)\](.*)$/s;

/** Whether a name is a path, or a measure at the end of one. */
export const isPath = (name: string): boolean => name.includes('[');

/** The names of the relationships in a path. */
export function relationshipsIn(path: string): readonly string[] {
  const names: string[] = [];
  for (let hop = HOP.exec(path.replace(MEASURE, '')); hop; hop = HOP.exec((hop[3] ?? '').slice(1))) names.push(hop[1] ?? '');
  return names;
}

/** All names in a text that is a name, a path or a column of the product, such as `measure.x`, `_type_of_c` and `~r[c*2].p`: relationships, concepts and the last name. */
export function namesInPath(text: string): readonly string[] {
  const names: string[] = [];
  let rest = text;
  for (let hop = HOP.exec(rest); hop; hop = HOP.exec(rest)) {
    const [, name = '', bracket = '', tail = ''] = hop;
    names.push(name, bracket, bracket.replace(/\*\d*$/, ''));
    rest = tail.replace(/^[._]/, '');
  }
  return [...names, rest].flatMap((name) => [name, name.replace(MEASURE, ''), name.replace(/^(_type_of_|~+)/i, '')]);
}

/** The property at the end of a path; undefined for a column of a link. */
export const propertyAtEnd = (path: string): string | undefined => /\]\.([^[\]]+)$/.exec(path)?.[1];

/** The first name of a path that does not exist, if the path begins at `from`; undefined if all exist, or if the text is not a path. */
export function pathFault(from: Concept, path: string): PathFault | undefined {
  let at = from;
  let isWide = true;
  let rest = path.replace(MEASURE, '');
  for (let hop = HOP.exec(rest); hop; hop = HOP.exec(rest)) {
    const [, name = '', bracket = '', tail = ''] = hop;
    const next = followed(at, name, bracket);
    if ('kind' in next) return next;
    at = next.concept;
    isWide = next.isWide;
    // what follows `_` is a column of the link or the level of a walk
    if (!tail.startsWith('.') || tail === '.*') return undefined;
    rest = tail.slice(1);
  }
  return MEASURE.test(path) ? measureFault(at, rest) : propertyFault(at, rest, isWide);
}

/** A hop of a path: the relationship, the concept in the bracket, and the concept whose rows are read. */
export interface FollowedHop {
  readonly relationship: Relationship;
  readonly concept: Concept;
  readonly rows: Concept;
}

/** The hops of a path and the property at its end; `property` undefined for a column of the last link, or the level of a walk. */
export interface FollowedPath {
  readonly hops: readonly FollowedHop[];
  readonly property: string | undefined;
  /** The name of the column of the last link; undefined for a property. */
  readonly link: string | undefined;
}

/** Follows a path from a concept; undefined if it does not exist there. */
export function followPath(from: Concept, path: string): FollowedPath | undefined {
  const hops: FollowedHop[] = [];
  let at = from;
  let rest = path;
  for (let hop = HOP.exec(rest); hop; hop = HOP.exec(rest)) {
    const [, name = '', bracket = '', tail = ''] = hop;
    const concept = at.graph.concept(bracket) ?? at.graph.concept(bracket.replace(/\*\d*$/, ''));
    const found = concept ? at.relationship(name).filter((r) => concept.isA(r.target) || r.target.isA(concept)) : [];
    const relationship = found.find((r) => r.target === concept) ?? found[0];
    if (!concept || !relationship) return undefined;
    hops.push({ relationship, concept, rows: concept.isA(relationship.target) ? concept : relationship.target });
    if (!tail.startsWith('.')) return { hops, property: undefined, link: tail.slice(1) };
    at = concept;
    rest = tail.slice(1);
  }
  return hops.length > 0 && !rest.includes('[') ? { hops, property: rest, link: undefined } : undefined;
}

/** The concept at the end of a hop. `isWide`: whether columns of its descendants can be named. */
function followed(at: Concept, name: string, bracket: string): { readonly concept: Concept; readonly isWide: boolean } | PathFault {
  const found = at.relationship(name);
  if (found.length === 0) return { kind: 'relationship', name, at, known: at.relationships.map((r) => r.name) };
  const written = bracket.replace(/\*\d*$/, '');
  const concept = at.graph.concept(bracket) ?? at.graph.concept(written);
  if (!concept) return { kind: 'concept', name: written, at, known: [...found.map((r) => r.target.name), ...at.graph.concepts.map((c) => c.name)] };
  const fitting = found.filter((r) => concept.isA(r.target) || r.target.isA(concept));
  if (fitting.length === 0) return { kind: 'target', name, at, known: [concept.name] };
  return { concept, isWide: fitting.some((r) => concept.isA(r.target)) };
}

function measureFault(at: Concept, name: string): PathFault | undefined {
  const known = at.measures.map((m) => m.def.name);
  return known.some((m) => sameName(m, name)) ? undefined : { kind: 'measure', name, at, known };
}

/** Whether a list of properties has a name. */
export type HasName = (list: Concept['properties'], name: string) => boolean;

const hasName: HasName = (list, name) => list.some((p) => sameName(p.def.name, name));

/** Looks many names up in the same lists, which it reads once. It keeps the names of the lists, so it should not live long. */
export function lookup(): HasName {
  const known = new Map<Concept['properties'], ReadonlySet<string>>();
  return (list, name) => {
    let names = known.get(list);
    if (names === undefined) {
      names = new Set(list.map((p) => fold(p.def.name)));
      known.set(list, names);
    }
    return names.has(fold(name));
  };
}

/** @param isWide whether properties of descendants count */
export function propertyFault(at: Concept, name: string, isWide: boolean, has: HasName = hasName): PathFault | undefined {
  if (ENTITY_COLUMNS.includes(fold(name)) || has(at.properties, name) || has(at.multi, name) || (isWide && has(at.derivedProperties, name))) return undefined;
  return { kind: 'property', name, at, known: at.properties.map((p) => p.def.name) };
}
