/**
 * Relationships whose pairs come from several declarations (docs/design/paths-and-cardinality.md#symmetric-and-containing-relationships): SYMMETRIC counts
 * the pairs in both directions, INCLUDES adds those of other relationships.
 */
import { listed } from '../budget.ts';
import type { Concept, Relationship } from './graph.ts';
import type { ColumnDef } from './model.ts';

/** The columns of a relationship's links. A pair that may come from several links has none. */
export const columnsOfLinks = (r: Pick<Relationship, 'parts' | 'links'>): readonly ColumnDef[] =>
  r.parts.length > 1 ? [] : r.links.flatMap(({ mapping }) => mapping.columns);

/** True if the pairs of a relationship are not only those of its own declaration. */
export const isComposed = ({ symmetric, included }: Pick<Relationship, 'symmetric' | 'included'>): boolean => symmetric || included.length > 0;

/**
 * The directions whose own pairs are the pairs of a relationship, each once: first itself, then what it includes, directly or through others. A pair of a
 * symmetric one counts both ways, whichever of these directions it comes from. The directions belong to the whole model.
 * @param counts whether the pairs of an included direction count
 */
export function partsOf(relationship: Relationship, counts: (part: Relationship) => boolean = () => true): readonly Relationship[] {
  const found = new Set<Relationship>([relationship.whole]);
  for (const part of found) {
    const more = [...(part.symmetric ? [part.reverse] : []), ...part.included.filter(counts)];
    listed(1 + more.length);
    for (const one of more) found.add(one);
  }
  return [...found];
}

/**
 * The directions that INCLUDES means by a name: of the relationships with this name of the concept and of its descendants, those that lead to the target or
 * to a descendant of it.
 */
export const includedBy = (concept: Concept, name: string, target: Concept): readonly Relationship[] =>
  relationshipsBelow(concept, name).filter((r) => r.target.isA(target));

/** The relationships with a name of a concept and, if they start there, of its descendants. */
export function relationshipsBelow(concept: Concept, name: string): readonly Relationship[] {
  listed(concept.descendants.length);
  const below = concept.descendants.flatMap((d) => d.relationship(name).filter((r) => r.from === d));
  return [...new Set([...concept.relationship(name), ...below])];
}

/**
 * The relationship by which a walk goes on if the rows that the first step reaches are of another kind than those it starts from: the target's relationship of
 * the same name with itself. Undefined if the walk goes on by its own relationship, or cannot go on.
 */
export function onwardOf(r: Relationship): Relationship | undefined {
  const { from, target } = r.whole;
  if (from.isA(target) || target.isA(from)) return undefined;
  return r.target.relationship(r.name).find((next) => next.target === r.target);
}
