/** The documents of Apache Ossie (core and ontology specification 0.2.0.dev0; the core document also as 0.1.1). */

/** The version of the documents that are written. */
export const OSSIE_VERSION = '0.2.0.dev0';
/** The earlier version of the core document. */
export const OSSIE_OLD_VERSION = '0.1.1';
/** The vendor of the extensions that this service writes and reads. */
export const VENDOR = 'SVC';
/** The vendor in documents of version 0.1.1, which has a closed list. */
export const OLD_VENDOR = 'COMMON';

export interface Extension {
  readonly vendor_name: string;
  /** JSON. */
  readonly data: string;
}

export type AiContext = string | { readonly instructions?: string; readonly synonyms?: readonly string[]; readonly examples?: readonly string[] };

export interface Expression {
  readonly dialects: readonly { readonly dialect: string; readonly expression: string }[];
}

interface Described {
  readonly description?: string;
  readonly ai_context?: AiContext;
  readonly custom_extensions?: readonly Extension[];
}

export interface Field extends Described {
  readonly name: string;
  readonly expression: Expression | string;
  readonly datatype?: string;
  readonly dimension?: { readonly is_time?: boolean };
}

export interface Dataset extends Described {
  readonly name: string;
  readonly source: string;
  readonly primary_key?: readonly string[];
  readonly unique_keys?: readonly (readonly string[])[];
  readonly fields?: readonly Field[];
}

export interface CoreRelationship extends Omit<Described, 'description'> {
  readonly name: string;
  readonly from: string;
  readonly to: string;
  readonly from_columns: readonly string[];
  readonly to_columns: readonly string[];
}

export interface Metric extends Described {
  readonly name: string;
  readonly expression: Expression | string;
  readonly datatype?: string;
}

export interface SemanticModel extends Described {
  readonly name: string;
  readonly datasets: readonly Dataset[];
  readonly relationships?: readonly CoreRelationship[];
  readonly metrics?: readonly Metric[];
}

export interface CoreDocument {
  readonly version: string;
  readonly semantic_model: readonly SemanticModel[];
}

export interface Role {
  readonly concept: string;
  readonly name?: string;
}

export interface OntologyRelationship {
  readonly name: string;
  readonly description?: string;
  readonly roles?: readonly Role[];
  readonly multiplicity?: 'ManyToOne' | 'OneToOne';
  readonly derived_by?: readonly string[];
  readonly requires?: readonly string[];
  readonly verbalizes: readonly string[];
}

export interface Component {
  readonly concept: string;
  readonly type: 'EntityType' | 'ValueType';
  readonly description?: string;
  readonly extends?: readonly string[];
  readonly derived_by?: readonly string[];
  readonly identify_by?: readonly string[];
  readonly requires?: readonly string[];
  readonly relationships?: readonly OntologyRelationship[];
}

export interface ReferentMapping {
  readonly relationship: string;
  readonly expression?: string;
  readonly referent_mappings?: readonly ReferentMapping[];
}

export interface ObjectMapping {
  readonly concept?: string;
  readonly expression?: string;
  readonly referent_mappings?: readonly ReferentMapping[];
}

export interface LinkMapping {
  readonly relationship?: string;
  readonly object_mapping: ObjectMapping;
  readonly children?: readonly LinkMapping[];
}

export interface ConceptMapping {
  readonly concept: string;
  readonly object_mappings?: readonly ObjectMapping[];
  readonly link_mappings?: readonly LinkMapping[];
}

export interface OntologyDocument {
  readonly version: string;
  readonly name: string;
  readonly description?: string;
  readonly requires?: readonly string[];
  readonly ontology: readonly Component[];
  /** Mappings inside the ontology document, as older documents have them. */
  readonly ontology_mappings?: readonly { readonly semantic_model?: SemanticModel; readonly concept_mappings: readonly ConceptMapping[] }[];
}

export interface MappingDocument {
  readonly version: string;
  readonly name: string;
  readonly ontology_ref: { readonly name: string; readonly iri?: string };
  readonly semantic_model_ref: { readonly name: string; readonly iri?: string };
  readonly concept_mappings: readonly ConceptMapping[];
}

/** What the extensions of this service contain. */
export interface ModelExtension {
  readonly config?: Readonly<Record<string, string>>;
  /** Statements of objects that Ossie cannot express: views, cubes, policies, examples, and measures over paths. */
  readonly statements?: readonly string[];
  readonly concepts?: Readonly<Record<string, ConceptExtension>>;
}
export interface ConceptExtension {
  readonly label?: readonly string[];
  readonly measures?: readonly string[];
  readonly tags?: Readonly<Record<string, string>>;
  /** The mappings that map into the concept itself; the source also has those of subconcepts. */
  readonly own?: readonly string[];
  /** Mappings and their data sources, other than `main`. */
  readonly datasources?: Readonly<Record<string, string>>;
  readonly relationships?: Readonly<Record<string, RelationshipExtension>>;
  readonly logic?: { readonly schema: 'svc' | 'esvc' | 'dsvc'; readonly concept: string; readonly condition?: string };
}
export interface RelationshipExtension {
  readonly inverse?: string | null;
  readonly transitive?: number | 'default';
  readonly symmetric?: true;
  readonly includes?: readonly string[];
  /** The columns of a foreign key that the core document does not have. */
  readonly source?: readonly string[];
  readonly references?: readonly string[];
}
export interface DatasetExtension extends ConceptExtension {
  readonly multivalue?: { readonly concept: string; readonly property: string };
  readonly link?: { readonly concept: string; readonly relationship: string };
  readonly datasource?: string;
}
export interface FieldExtension {
  readonly type?: string;
  readonly tags?: Readonly<Record<string, string>>;
}
export interface MetricExtension extends FieldExtension {
  /** The name of the measure, if the metric has another one. */
  readonly measure?: string;
  /** Whether FILTER at the end is the condition of the measure, not part of its expression. */
  readonly filtered?: boolean;
}
