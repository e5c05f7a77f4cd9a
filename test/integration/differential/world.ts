/**
 * A small world as this test describes it: physical tables with their rows, and the ontology over them. From it come the
 * DDL and the Model (ddl.ts) and the data in memory of the second opinion (onto.ts).
 */
import type { Expr, Kind, Query, Scalar, Schema } from './expr.ts';

export interface PropSpec {
  readonly name: string;
  /** As declared: `integer`, `decimal(10,2)` and so on. */
  readonly type: string;
  readonly kind: Kind;
  readonly multi: boolean;
  /** A calculated property: over columns of relation ''. */
  readonly expr: Expr | null;
}

export interface RelSpec {
  readonly name: string;
  readonly kind: 'fk' | 'mtm';
  readonly target: string;
  readonly source: readonly string[];
  readonly references: readonly string[];
  readonly inverse: string | null;
  readonly transitive: number | 'default' | null;
  readonly symmetric?: true;
  /** Names of relationships, `~r` or an inverse's name for the other direction. */
  readonly includes?: readonly string[];
}

export interface ConceptSpec {
  readonly name: string;
  readonly parents: readonly string[];
  readonly props: readonly string[];
  readonly multi: readonly string[];
  readonly key: readonly string[];
  readonly label: readonly string[];
  readonly rels: readonly RelSpec[];
  /** Own measures. */
  readonly measures?: readonly string[];
  readonly logic: { readonly schema: Schema; readonly concept: string; readonly cond: Expr } | null;
}

/** A measure: its definition is over columns of relation '' and other measures. */
export interface MeasureSpec {
  readonly name: string;
  readonly type: string;
  readonly kind: Kind;
  readonly expr: Expr;
  readonly filter: Expr | null;
}

/** A view, or a cube: then its query is one SELECT of dimensions and calls under aliases. */
export interface ViewSpec {
  readonly name: string;
  readonly cube: boolean;
  readonly q: Query;
  readonly kinds: readonly (readonly [string, Kind])[];
}

export interface TableSpec {
  readonly name: string;
  readonly columns: readonly { readonly name: string; readonly type: string }[];
  readonly rows: readonly (readonly Scalar[])[];
}

/** One end of a link mapping: its columns (as the mapping's SELECT names them) contain `references` of `concept`. */
export interface LinkEndSpec {
  readonly columns: readonly string[];
  readonly concept: string;
  readonly references: readonly string[];
}

export interface MappingSpec {
  readonly name: string;
  readonly kind: 'concept' | 'multi' | 'link';
  readonly concept: string | null;
  readonly property: string | null;
  /** The relationship of a link mapping. */
  readonly rel: string | null;
  readonly far: LinkEndSpec | null;
  readonly near: LinkEndSpec | null;
  readonly table: string;
  readonly columns: readonly { readonly column: string; readonly as: string }[];
  /** A WHERE in the mapping's SELECT: column = value, or column <> value; IS NULL for = NULL. */
  readonly where: { readonly column: string; readonly operator: '=' | '<>'; readonly value: Scalar } | null;
  /** Whether the model contains the physical types. */
  readonly typed: boolean;
}

export interface World {
  readonly props: readonly PropSpec[];
  readonly concepts: readonly ConceptSpec[];
  readonly tables: readonly TableSpec[];
  readonly mappings: readonly MappingSpec[];
  readonly measures?: readonly MeasureSpec[];
  readonly views?: readonly ViewSpec[];
  readonly defaultTransitivity: number | null;
}
