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

/** The properties that a column of a link has values of: those to which it refers, and those with its name at the two ends. */
export function propertiesOfLink(graph: Graph, { from, target, links }: Relationship, column: string): readonly LinkedProperty[] {
  const lower = fold(column);
  const found: LinkedProperty[] = [];
  for (const link of links)
    for (const [concept, { columns, references }] of [
      [from, link.near],
      [target, link.far],
    ] as const)
      for (const [i, name] of columns.entries()) {
        const def = fold(name) === lower ? graph.property(references[i] ?? '') : undefined;
        if (def && !found.some((f) => f.concept === concept && f.def === def)) found.push({ concept, def, isKey: true });
      }
  const named = graph.property(lower);
  return named ? [...found, ...[from, target].map((concept) => ({ concept, def: named, isKey: false }))] : found;
}
