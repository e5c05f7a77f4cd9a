/**
 * The content of one ontology version as immutable plain data: what modelling statements change, what the catalog
 * stores (as JSON) and what `compile` (graph.ts) turns into lookups. Names are as declared; they match without case.
 * SQL texts are the modeller's own, with schemas in their neutral names (`svc`, `esvc`, `dsvc`, `vsvc`).
 */

/** Raised when stored content changes shape; the catalog refuses a model of a higher format. */
export const MODEL_FORMAT = 1;

export type Tags = Readonly<Record<string, string>>;

export interface Model {
  readonly format: number;
  readonly description: string | null;
  /** `default_transitivity`, `quote`; `allowed_functions` is no part of a version and is kept elsewhere. */
  readonly config: Readonly<Record<string, string>>;
  /** All in order of declaration; OR REPLACE keeps the place. */
  readonly properties: readonly PropertyDef[];
  readonly measures: readonly MeasureDef[];
  readonly concepts: readonly ConceptDef[];
  readonly mappings: readonly MappingDef[];
  readonly views: readonly ViewDef[];
}

/** A type as declared, canonical: lower case, `int` told as `integer`, e.g. `decimal(10,2)`. See types.ts. */
export type TypeName = string;

export interface PropertyDef {
  readonly name: string;
  readonly type: TypeName;
  readonly multi: boolean;
  readonly description: string | null;
  readonly tags: Tags;
  /** A calculated property: the SQL expression behind AS SELECT, over other properties; else null. */
  readonly expression: string | null;
}

export interface MeasureDef {
  readonly name: string;
  readonly type: TypeName;
  readonly description: string | null;
  readonly tags: Tags;
  /** The aggregate expression behind AS SELECT. */
  readonly expression: string;
  /** The condition behind WHERE, or null. */
  readonly filter: string | null;
}

export interface ConceptDef {
  readonly name: string;
  /** Direct parents in INHERITS order; empty means `thing` alone. `thing` itself is never written here. */
  readonly parents: readonly string[];
  /** Own single-valued properties as declared (calculated ones too). */
  readonly properties: readonly string[];
  /** Own multi-value properties (CONSTRAINT p MULTIVALUE). */
  readonly multi: readonly string[];
  /** Own measures. */
  readonly measures: readonly string[];
  /** Own PRIMARY KEY, empty when none is written here. */
  readonly primaryKey: readonly string[];
  /** Own LABEL, empty when none is written here. */
  readonly label: readonly string[];
  readonly relationships: readonly RelationshipDef[];
  readonly description: string | null;
  readonly tags: Tags;
  /** A logic concept: FROM schema.concept WHERE condition (SQL text); else null. */
  readonly logic: LogicDef | null;
}

export interface LogicDef {
  readonly schema: 'svc' | 'esvc' | 'dsvc';
  readonly concept: string;
  readonly condition: string;
}

/** How far a star without a number walks: a declared depth, or `default` (the ontology's default_transitivity). */
export type Transitivity = number | 'default' | null;

export interface RelationshipDef {
  readonly name: string;
  /** `fk`: FOREIGN KEY ... REFERENCES; `mtm`: MULTIREFERENCE, held by link mappings. */
  readonly kind: 'fk' | 'mtm';
  readonly target: string;
  /** Of `fk`: own properties and, in the same order, those of the target. Empty for `mtm`. */
  readonly source: readonly string[];
  readonly references: readonly string[];
  /** INVERSEOF r2; null when the inverse is just `~name`. */
  readonly inverse: string | null;
  readonly transitive: Transitivity;
  readonly description: string | null;
}

/** A column that a mapping's or view's SELECT yields. `type` is PostgreSQL's own name (`int4`, `text`, `numeric`), where the datasource was asked. */
export interface ColumnDef {
  readonly name: string;
  readonly type?: string;
  /** PostgreSQL's type modifier, where the column has one: the digits of `numeric(12,2)`. */
  readonly modifier?: number;
  /**
   * The collation of a text column as `pg_collation_for` writes it (`"C"`), where it is not the default of the database. Empty: PostgreSQL derives none, because the
   * column is made of columns with different collations. Absent in versions that were made before it was asked.
   */
  readonly collation?: string;
}

export interface MappingDef {
  readonly name: string;
  readonly kind: 'concept' | 'multi' | 'link';
  /** The concept mapped INTO (kinds `concept` and `multi`), else null. */
  readonly concept: string | null;
  /** Kind `multi`: the multi-value property that is given beside the key columns. */
  readonly property: string | null;
  /** Kind `link`: the two ends. `forward.relationship` r refers to the far end, `back.relationship` (r2 or `~r`) back. */
  readonly link: LinkDef | null;
  readonly datasource: string;
  /** The SELECT over physical tables. */
  readonly sql: string;
  readonly columns: readonly ColumnDef[];
}

export interface LinkDef {
  readonly forward: LinkEnd;
  readonly back: LinkEnd;
}

/** `columns` of the link's SELECT hold the values of `references`, properties of `concept`. */
export interface LinkEnd {
  readonly relationship: string;
  readonly columns: readonly string[];
  readonly concept: string;
  readonly references: readonly string[];
}

export interface ViewDef {
  readonly name: string;
  readonly cube: boolean;
  /** USING datasource, or null (the view reads concepts and views). */
  readonly datasource: string | null;
  readonly description: string | null;
  readonly tags: Tags;
  readonly sql: string;
  /** Columns in their order; `type` where it is known. */
  readonly columns: readonly ColumnDef[];
  /** The id of the user who last made it, by whose rights it reads; undefined: it was made before that was kept, or outside of a service. */
  readonly definer?: string;
}

/** Whether a view's text is the datasource's own SQL over raw tables; a cube with USING still reads concepts. */
export const isRaw = (view: Pick<ViewDef, 'cube' | 'datasource'>): boolean => view.datasource !== null && !view.cube;

/** A model with nothing in it. */
export const EMPTY_MODEL: Model = {
  format: MODEL_FORMAT,
  description: null,
  config: {},
  properties: [],
  measures: [],
  concepts: [],
  mappings: [],
  views: [],
};
