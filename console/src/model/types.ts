/** The model of an ontology, as `GET get_ontology` answers it. */
export interface Property {
  readonly name: string;
  readonly type: string;
  readonly description: string | null;
  readonly is_multi: boolean;
  readonly is_measure: boolean;
  readonly inherited_from: string | null;
}

export interface Relationship {
  readonly name: string;
  readonly target: string;
  readonly inverse: string | null;
  readonly is_inverse: boolean;
  readonly is_mtm: boolean;
  readonly transitivity: number | null;
  readonly source_properties: readonly string[];
  readonly target_properties: readonly string[];
  readonly description: string | null;
  readonly inherited_from: string | null;
}

export interface Concept {
  readonly concept: string;
  /** The names of the parents. */
  readonly inheritance: readonly string[];
  readonly description: string | null;
  readonly primary_keys: readonly string[];
  readonly label_keys: readonly string[];
  /** The definition of a logic concept. */
  readonly query: string | null;
  readonly properties: readonly Property[];
  readonly relationships: readonly Relationship[];
  readonly mappings: readonly string[];
  readonly tags: Readonly<Record<string, string>>;
}

export interface ModelView {
  readonly description: string | null;
  readonly is_cube: boolean;
  readonly query: string | null;
  readonly columns: readonly { readonly name: string; readonly type: string }[];
  readonly tags: Readonly<Record<string, string>>;
}

export interface Detail {
  readonly version: string;
  readonly datasources: readonly { readonly name: string; readonly type: string; readonly is_active: boolean }[];
  readonly ontology: readonly Concept[];
  readonly properties: Readonly<
    Record<string, { readonly expression: string | null; readonly tags: Readonly<Record<string, string>>; readonly description: string | null }>
  >;
  readonly views: Readonly<Record<string, ModelView>>;
}
