/** The properties that the columns of links have values of, which decide how they are masked. */
import type { Concept, Graph, Relationship } from '../../ontology/graph.ts';
import type { PropertyDef } from '../../ontology/model.ts';
import { fold } from '../../ontology/names.ts';

/** A property at one end of a link. */
export interface LinkedProperty {
  readonly concept: Concept;
  readonly def: PropertyDef;
  /** True if the column refers to the property: it has the values of the rows at this end. False if it only has the property's name. */
  readonly isKey: boolean;
}

/** The concepts whose rows are joined with the rows between two concepts. They may have rows that the relationship's concepts do not have. Undefined: not known. */
export interface Around {
  readonly near?: Concept | undefined;
  readonly far?: Concept | undefined;
}

/** The same, for rows that a policy may hide. */
export interface SeenAround extends Around {
  /** The model as the reader of the rows sees it. */
  readonly seen: Graph;
}

/**
 * The properties that a column of a link has values of: those to which it refers, and those with its name at the two ends. Each end has several concepts: that of the relationship, that
 * to which the mapping refers, and that whose rows are joined, which may be rows of another concept with the same key.
 */
export function propertiesOfLink(graph: Graph, { from, target, links }: Relationship, column: string, around: Around): readonly LinkedProperty[] {
  const lower = fold(column);
  const found: LinkedProperty[] = [];
  const add = (concepts: readonly Concept[], def: PropertyDef | undefined, isKey: boolean): void => {
    if (def) for (const concept of concepts) if (!found.some((f) => f.concept === concept && f.def === def)) found.push({ concept, def, isKey });
  };
  const named = graph.property(lower);
  const ends = [
    [from, 'near'],
    [target, 'far'],
  ] as const;
  for (const link of links)
    for (const [end, side] of ends)
      for (const [i, name] of link[side].columns.entries())
        if (fold(name) === lower) add(atEnd(graph, end, around[side], [link[side].concept]), graph.property(link[side].references[i] ?? ''), true);
  for (const [end, side] of ends) {
    const referred = links.map((l) => l[side].concept);
    add(atEnd(graph, end, around[side], referred), named, false);
  }
  return found;
}

/** The concepts at one end of a link: that of the relationship, the one whose rows are joined, and those that have some of the names. */
function atEnd(graph: Graph, end: Concept, joined: Concept | undefined, names: readonly string[]): readonly Concept[] {
  return [end, joined && (graph.concept(joined.name) ?? joined), ...names.map((name) => graph.concept(name))].filter((c) => c !== undefined);
}
