/**
 * The lookups over a model that the planner and the faces ask: who inherits what, which mappings give the rows of a
 * concept, where a relationship leads. `compile` (compile.ts) makes one from a model; everything costly is computed when
 * first asked and kept, so that a model of thousands of concepts costs only what a query touches.
 */
import type { ConceptDef, LinkDef, MappingDef, MeasureDef, Model, PropertyDef, RelationshipDef, Transitivity, ViewDef } from './model.ts';

export interface Graph {
  readonly model: Model;
  /** The whole model, of which this graph may show a part (lens.ts); itself where nothing is hidden. */
  readonly whole: Graph;
  /** The ontology's name. */
  readonly ontology: string;
  /** All concepts as declared, without `thing`. */
  readonly concepts: readonly Concept[];
  /** The built-in root: no properties, no key, not listed among `concepts`. */
  readonly thing: Concept;
  /** By name without case; `thing` too. */
  concept(name: string): Concept | undefined;
  property(name: string): PropertyDef | undefined;
  measure(name: string): MeasureDef | undefined;
  mapping(name: string): MappingDef | undefined;
  view(name: string): ViewDef | undefined;
  /** Whether the one whose graph it is may read the view: seeing what is there is less (lens.ts). */
  reads(view: ViewDef): boolean;
}

export interface Concept {
  readonly name: string;
  /** In whose names it tells of others. */
  readonly graph: Graph;
  /** The same concept in the whole model, by which its rows are read; itself where nothing is hidden (lens.ts). */
  readonly whole: Concept;
  /** Whether the one whose graph it is may read its rows. */
  readonly readable: boolean;
  /** null for `thing`. */
  readonly def: ConceptDef | null;
  /** Direct parents in INHERITS order; `thing` where none is named; empty for `thing`. */
  readonly parents: readonly Concept[];
  readonly children: readonly Concept[];
  /** All ancestors, each once, `thing` included, itself not: nearest first. */
  readonly ancestors: readonly Concept[];
  /** All descendants, each once, itself not, in order of declaration. */
  readonly descendants: readonly Concept[];
  /** thing 0; with several parents the longest way + 1. */
  readonly level: number;
  /** Whether it is `other` or a descendant of it. */
  isA(other: Concept): boolean;
  /** Single-valued properties in the order of SELECT *: inherited ones from the top ancestor down in INHERITS order, then own ones; each once. */
  readonly properties: readonly Property[];
  /** Single-valued properties that only descendants have, in order of declaration of concepts and properties; each once. */
  readonly derivedProperties: readonly Property[];
  /** Multi-value properties: inherited, then own. */
  readonly multi: readonly Property[];
  /** Measures: inherited, then own, each with the concept that declares it. */
  readonly measures: readonly { readonly def: MeasureDef; readonly owner: Concept }[];
  /** The PRIMARY KEY, own or inherited: `holder` is the topmost ancestor (or itself) that has that same key. null: none. */
  readonly key: { readonly properties: readonly PropertyDef[]; readonly holder: Concept } | null;
  /** LABEL properties: own, else of the nearest ancestor that has some; empty: the key is the label. */
  readonly label: readonly PropertyDef[];
  /** Own and inherited relationships in both directions, each as seen from this concept, inverses of others' relationships included. An own one hides an inherited one of its name. */
  readonly relationships: readonly Relationship[];
  /** Those that answer to a name without case: the declared name, the inverse's name, or `~name`. Several only where different concepts declare the same name towards this one; the bracket tells them apart. */
  relationship(name: string): readonly Relationship[];
  /** Own mappings of kind `concept`. */
  readonly mappings: readonly MappingDef[];
  /** Own mappings of kind `multi`. */
  readonly multiMappings: readonly MappingDef[];
  /** Where its rows come from (docs/design/paths-and-cardinality.md#rows-of-a-concept). */
  readonly rows: Rows;
}

/** `owner` is the nearest concept, upward from the asking one, that declares the property. */
export interface Property {
  readonly def: PropertyDef;
  readonly owner: Concept;
}

/**
 * - `mappings`: its own and its descendants' own mappings, each once; or, where there are none, those of the nearest mapped
 *   ancestors on each way up (`standIn`). `target` is the concept that the mapping maps INTO. Empty: no rows.
 * - `logic`: the rows of `source` that meet `condition`.
 */
export type Rows =
  | { readonly kind: 'mappings'; readonly standIn: boolean; readonly sources: readonly { readonly mapping: MappingDef; readonly target: Concept }[] }
  | { readonly kind: 'logic'; readonly schema: 'svc' | 'esvc' | 'dsvc'; readonly source: Concept; readonly condition: string };

/** A relationship in one direction. */
export interface Relationship {
  /** The name in this direction: the declared one; for an inverse the INVERSEOF name, else `~name`. */
  readonly name: string;
  /** The name in the other direction, made the same way; null: that direction is hidden. */
  readonly inverseName: string | null;
  readonly isInverse: boolean;
  readonly kind: 'fk' | 'mtm';
  /** The concept at which this direction starts (the declaring one, or the declared target for an inverse). */
  readonly from: Concept;
  /** The concept to which this direction leads. */
  readonly target: Concept;
  /** `fk`: properties of `from` and, in the same order, of `target`, in this direction. `mtm`: empty. */
  readonly source: readonly PropertyDef[];
  readonly references: readonly PropertyDef[];
  readonly transitive: Transitivity;
  readonly description: string | null;
  /** `mtm`: the link mappings, seen in this direction: `near` end first. */
  readonly links: readonly { readonly mapping: MappingDef; readonly near: LinkDef['forward']; readonly far: LinkDef['forward'] }[];
  /** The declaration. */
  readonly def: RelationshipDef;
  /** The concept that declares it. */
  readonly declaredBy: Concept;
  /** The same relationship between concepts of the whole model, by which it is joined. */
  readonly whole: Relationship;
}
