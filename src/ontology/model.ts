/**
 * The content of one ontology version as immutable plain data. Modelling statements change it, the catalog stores it as
 * JSON, and `compile` (compile.ts) turns it into lookups. Names are stored as declared and matched case-insensitively.
 * SQL texts are stored as written, with schemas under their neutral names (`svc`, `esvc`, `dsvc`, `vsvc`).
 */

/** Format version: increment when the stored content changes shape. The catalog rejects a model of a higher version. */
export const MODEL_FORMAT = 1;

export type Tags = Readonly<Record<string, string>>;

export interface Model {
  readonly format: number;
  readonly description: string | null;
  /** `default_transitivity`, `quote`. `allowed_functions` is not part of a version; the catalog stores it. */
  readonly config: Readonly<Record<string, string>>;
  /** All lists are in order of declaration. OR REPLACE keeps the position. */
  readonly properties: readonly PropertyDef[];
  readonly measures: readonly MeasureDef[];
  readonly concepts: readonly ConceptDef[];
  readonly mappings: readonly MappingDef[];
  readonly views: readonly ViewDef[];
  /** The objects that model files of a source have created or changed, as `kind name` with a folded name, by source. */
  readonly madeBy?: Readonly<Record<string, readonly string[]>>;
}

/** The objects that model files of a source have made so far. The name of a source may be any text, also the name of a member of every object. */
export const madeByOf = ({ madeBy }: Model, source: string | null): readonly string[] =>
  source !== null && madeBy !== undefined && Object.hasOwn(madeBy, source) ? (madeBy[source] ?? []) : [];

/** A canonical type name: lower case, `integer` for `int`, e.g. `decimal(10,2)`. See types.ts. */
export type TypeName = string;

export interface PropertyDef {
  readonly name: string;
  readonly type: TypeName;
  readonly multi: boolean;
  readonly description: string | null;
  readonly tags: Tags;
  /** The SQL expression of a calculated property, over other properties; otherwise null. */
  readonly expression: string | null;
}

export interface MeasureDef {
  readonly name: string;
  readonly type: TypeName;
  readonly description: string | null;
  readonly tags: Tags;
  /** The aggregate expression after AS SELECT. */
  readonly expression: string;
  /** The condition after WHERE, or null. */
  readonly filter: string | null;
}

export interface ConceptDef {
  readonly name: string;
  /** Direct parents in INHERITS order. Empty if the only parent is `thing`, which is never listed here. */
  readonly parents: readonly string[];
  /** Own single-valued properties as declared, including calculated ones. */
  readonly properties: readonly string[];
  /** Own multi-value properties (CONSTRAINT p MULTIVALUE). */
  readonly multi: readonly string[];
  /** Own measures. */
  readonly measures: readonly string[];
  /** Own PRIMARY KEY; empty if it declares none. */
  readonly primaryKey: readonly string[];
  /** Own LABEL; empty if it declares none. */
  readonly label: readonly string[];
  readonly relationships: readonly RelationshipDef[];
  readonly description: string | null;
  readonly tags: Tags;
  /** For a logic concept, FROM schema.concept WHERE condition (SQL text); otherwise null. */
  readonly logic: LogicDef | null;
  /** The id of the user who last wrote it, by whose rights it shows values of rows of other concepts; undefined: as for `LogicDef.definer`. */
  readonly definer?: string;
}

export interface LogicDef {
  readonly schema: 'svc' | 'esvc' | 'dsvc';
  readonly concept: string;
  readonly condition: string;
  /** The id of the user who last wrote it, and with whose rights it reads. Undefined for an administrator, for older versions, or outside a service. */
  readonly definer?: string;
}

/** The maximum number of steps of a star without a number: a declared depth, or `default` for the ontology's default_transitivity. */
export type Transitivity = number | 'default' | null;

export interface RelationshipDef {
  readonly name: string;
  /** `fk`: FOREIGN KEY ... REFERENCES. `mtm`: MULTIREFERENCE, whose links come from link mappings. */
  readonly kind: 'fk' | 'mtm';
  readonly target: string;
  /** For `fk`: own properties and, in the same order, those of the target. Empty for `mtm`. */
  readonly source: readonly string[];
  readonly references: readonly string[];
  /** The name after INVERSEOF; null if the inverse is named `~name`. */
  readonly inverse: string | null;
  readonly transitive: Transitivity;
  /** SYMMETRIC: its pairs count in both directions. Absent if not. */
  readonly symmetric?: true;
  /** INCLUDES: the names of relationships whose pairs are pairs of this one, `~r` for the other direction of r. Absent without them. */
  readonly includes?: readonly string[];
  readonly description: string | null;
}

/** An output column of a mapping's or view's SELECT. `type` is PostgreSQL's own name (`int4`, `text`, `numeric`), if the datasource was asked for it. */
export interface ColumnDef {
  readonly name: string;
  readonly type?: string;
  /** PostgreSQL's type modifier, if any: precision and scale of `numeric(12,2)`. */
  readonly modifier?: number;
  /**
   * The collation of a text column as `pg_collation_for` writes it (`"C"`), if it is not the default of the database. Empty if PostgreSQL derives none, because
   * the column combines columns with different collations. Absent in versions that were created before the service recorded it.
   */
  readonly collation?: string;
}

export interface MappingDef {
  readonly name: string;
  readonly kind: 'concept' | 'multi' | 'link';
  /** The concept mapped INTO (kinds `concept` and `multi`), otherwise null. */
  readonly concept: string | null;
  /** Kind `multi`: the multi-value property that the SELECT provides in addition to the key columns. */
  readonly property: string | null;
  /** Kind `link`: the two ends. `forward.relationship` r refers to the far end; `back.relationship` (r2 or `~r`) refers back. */
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

/** One end of a link: `columns` of the SELECT contain the values of `references`, properties of `concept`. */
export interface LinkEnd {
  readonly relationship: string;
  readonly columns: readonly string[];
  readonly concept: string;
  readonly references: readonly string[];
}

export interface ViewDef {
  readonly name: string;
  readonly cube: boolean;
  /** The datasource of USING; null if the view reads concepts and views. */
  readonly datasource: string | null;
  readonly description: string | null;
  readonly tags: Tags;
  readonly sql: string;
  /** Columns in order; `type` if it is known. */
  readonly columns: readonly ColumnDef[];
  /** The id of the user who last wrote it, and with whose rights it reads. Undefined for older versions, or outside a service. */
  readonly definer?: string;
}

/** Whether a view's text is the datasource's own SQL over raw tables. A cube with USING still reads concepts. */
export const isRaw = (view: Pick<ViewDef, 'cube' | 'datasource'>): boolean => view.datasource !== null && !view.cube;

/** An empty model. */
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
