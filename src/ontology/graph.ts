/**
 * The lookups over a model for the planner and the service: inheritance, the mappings that produce a concept's rows, the
 * targets of relationships. `compile` (compile.ts) creates them from a model. Expensive lookups are computed on first use and
 * cached, so that the cost for a model of thousands of concepts depends on what a query touches.
 */
import type { ConceptDef, LinkDef, MappingDef, MeasureDef, Model, PropertyDef, RelationshipDef, Transitivity, ViewDef } from './model.ts';

export interface Graph {
  readonly model: Model;
  /** The graph of the whole model, of which this graph may show a part (lens.ts). The graph itself if nothing is hidden. */
  readonly whole: Graph;
  /** The ontology's name. */
  readonly ontology: string;
  /** All concepts as declared, without `thing`. */
  readonly concepts: readonly Concept[];
  /** The built-in root: no properties, no key, not listed among `concepts`. */
  readonly thing: Concept;
  /** Finds a concept by name, case-insensitively; also `thing`. */
  concept(name: string): Concept | undefined;
  property(name: string): PropertyDef | undefined;
  measure(name: string): MeasureDef | undefined;
  mapping(name: string): MappingDef | undefined;
  view(name: string): ViewDef | undefined;
  /** Whether the caller of this graph may read the view. Seeing it is a weaker right (lens.ts). */
  reads(view: ViewDef): boolean;
}

export interface Concept {
  readonly name: string;
  /** The graph that its relatives belong to. */
  readonly graph: Graph;
  /** The same concept in the whole model, which determines its rows. The concept itself if nothing is hidden (lens.ts). */
  readonly whole: Concept;
  /** Whether the caller of this graph may read its rows. */
  readonly readable: boolean;
  /** null for `thing`. */
  readonly def: ConceptDef | null;
  /** Direct parents in INHERITS order; `thing` without a declared parent; empty for `thing`. */
  readonly parents: readonly Concept[];
  readonly children: readonly Concept[];
  /** All ancestors, including `thing`, nearest first, each once. */
  readonly ancestors: readonly Concept[];
  /** All descendants, in order of declaration, each once. */
  readonly descendants: readonly Concept[];
  /** The depth in the hierarchy: 0 for `thing`, otherwise the longest path to it. */
  readonly level: number;
  /** Whether it is `other` or a descendant of `other`. */
  isA(other: Concept): boolean;
  /** Single-valued properties in the order of SELECT *: inherited ones from the top ancestor down in INHERITS order, then own ones; each once. */
  readonly properties: readonly Property[];
  /** Single-valued properties that only descendants have, in order of declaration of concepts and properties; each once. */
  readonly derivedProperties: readonly Property[];
  /** Multi-value properties: inherited ones, then own ones. */
  readonly multi: readonly Property[];
  /** Measures: inherited ones, then own ones, each with the concept that declares it. */
  readonly measures: readonly { readonly def: MeasureDef; readonly owner: Concept }[];
  /** The PRIMARY KEY, own or inherited; null for a concept without a key. `holder` is the topmost concept of its lineage with the same key. */
  readonly key: { readonly properties: readonly PropertyDef[]; readonly holder: Concept } | null;
  /** LABEL properties: its own, or else those of the nearest ancestor that has any. If empty, the key is the label. */
  readonly label: readonly PropertyDef[];
  /** Own and inherited relationships in both directions, as seen from this concept, including inverses of relationships that other concepts declare. An own one hides an inherited one of the same name. */
  readonly relationships: readonly Relationship[];
  /** The relationships with a name, case-insensitively: the declared name, the inverse's name, or `~name`. There may be several if different concepts declare relationships of the same name to this one; the bracket in a path distinguishes them. */
  relationship(name: string): readonly Relationship[];
  /** Own mappings of kind `concept`. */
  readonly mappings: readonly MappingDef[];
  /** Own mappings of kind `multi`. */
  readonly multiMappings: readonly MappingDef[];
  /** Where its rows come from (docs/design/paths-and-cardinality.md#rows-of-a-concept). */
  readonly rows: Rows;
  /** True if its rows would come from itself, through logic concepts above it. It has no rows then, and the checks at the script's end reject the model. */
  readonly hasCircularRows: boolean;
}

/** A property. `owner` is the nearest concept, upward from the concept that was asked, that declares it. */
export interface Property {
  readonly def: PropertyDef;
  readonly owner: Concept;
}

/**
 * - `mappings`: its own and its descendants' mappings, each once. If there are none, those of the nearest mapped ancestors
 *   on each path upward (`fromAncestors`). `target` is the concept that the mapping maps INTO. Empty if it has no rows.
 * - `logic`: the rows of `source` that satisfy `condition`.
 */
export type Rows =
  | { readonly kind: 'mappings'; readonly fromAncestors: boolean; readonly sources: readonly { readonly mapping: MappingDef; readonly target: Concept }[] }
  | LogicRows;

/** The rows of a logic concept. `name`: the concept that declares the condition. `definer`: the user with whose rights the condition reads; undefined if it reads the whole model. */
export interface LogicRows {
  readonly kind: 'logic';
  readonly name: string;
  readonly schema: 'svc' | 'esvc' | 'dsvc';
  readonly source: Concept;
  readonly condition: string;
  readonly definer: string | undefined;
}

/** One direction of a relationship. */
export interface Relationship {
  /** The name of this direction: the declared name, or for an inverse the INVERSEOF name or `~name`. */
  readonly name: string;
  /** The name of the other direction, likewise; null if that direction is hidden. */
  readonly inverseName: string | null;
  readonly isInverse: boolean;
  readonly kind: 'fk' | 'mtm';
  /** The concept where this direction starts: the declaring one, or for an inverse the declared target. */
  readonly from: Concept;
  /** The concept where this direction ends. */
  readonly target: Concept;
  /** `fk`: properties of `from` and, in the same order, of `target`, in this direction. Empty for `mtm`. */
  readonly source: readonly PropertyDef[];
  readonly references: readonly PropertyDef[];
  readonly transitive: Transitivity;
  /** SYMMETRIC: its pairs count in both directions. */
  readonly symmetric: boolean;
  /** The directions, in the whole model, whose pairs INCLUDES adds to this one. */
  readonly included: readonly Relationship[];
  /** The directions, in the whole model, whose own pairs are its pairs (parts.ts): only itself, without SYMMETRIC and INCLUDES. */
  readonly parts: readonly Relationship[];
  /** The other direction, in the whole model. */
  readonly reverse: Relationship;
  readonly description: string | null;
  /** `mtm`: the link mappings in this direction, `near` end first. */
  readonly links: readonly { readonly mapping: MappingDef; readonly near: LinkDef['forward']; readonly far: LinkDef['forward'] }[];
  /** The declaration. */
  readonly def: RelationshipDef;
  /** The concept that declares it. */
  readonly declaredBy: Concept;
  /** The same relationship between concepts of the whole model, which determines the join. */
  readonly whole: Relationship;
}
