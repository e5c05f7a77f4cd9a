/** A hop of a path, and whether it may lead to several rows. */
import type { Concept, Relationship } from '../../ontology/graph.ts';

/** A hop of a path. */
export interface Hop {
  readonly relationship: Relationship;
  /** The directions, in the whole model, whose pairs are those of the relationship for the writer of the path. */
  readonly parts: readonly Relationship[];
  /** The concept whose rows are joined, in the whole model: the declared target, or the descendant in the bracket. */
  readonly rows: Concept;
  /** The concept whose columns may be named, in the model as the writer of the path sees it. The next hop starts here. */
  readonly columns: Concept;
  /** Whether columns of descendants may be named too. False if the bracket has an ancestor of the target. */
  readonly derived: boolean;
  /** The depth of a walk (`*n`); null for a single hop. */
  readonly depth: number | null;
  /** The relationship by which a walk goes on after its first step, if it is another one (`onwardOf`). */
  readonly onward?: { readonly relationship: Relationship; readonly parts: readonly Relationship[] } | undefined;
  /** The hop with declared names: `works_for[company]`, `owned_by[company*3]`. Hops with the same label from the same node are one join. */
  readonly label: string;
}

/** True if a hop may lead to several rows (docs/design/paths-and-cardinality.md#cardinality). */
export const isToMany = ({ depth, relationship, parts }: Hop): boolean => depth !== null || parts.length > 1 || leadsToMany(relationship);

/** The same for a single step. */
export const leadsToMany = (r: Relationship): boolean => r.kind === 'mtm' || r.parts.length > 1 || !coversKey(r.target, r.references);

/** True if a hop compares columns of the rows at its two ends: one step along a foreign key that is neither symmetric nor includes others. */
export const isKeyHop = ({ depth, relationship, parts }: Hop): boolean => depth === null && relationship.kind === 'fk' && parts.length === 1;

/** True if properties are the whole primary key of a concept, so that at most one row has given values of them. */
export function coversKey({ key }: Concept, properties: readonly { readonly name: string }[]): boolean {
  if (!key) return false;
  const given = new Set(properties.map((p) => p.name.toLowerCase()));
  return given.size === key.properties.length && key.properties.every((p) => given.has(p.name.toLowerCase()));
}
