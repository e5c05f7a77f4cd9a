/** A table that a plan may read. */
export interface DeclaredTable {
  readonly schema: string;
  readonly name: string;
  /**
   * The columns that may be read: those that the texts of mappings and raw views name, and for a star the columns that the model has for the text. An unqualified name counts
   * for each table of its text.
   */
  readonly columns: Pick<ReadonlySet<string>, 'has'>;
  /** True if one of those texts names the whole row, or all columns by a star or NATURAL. */
  readonly isWhole: boolean;
}

/** The tables, functions and parameters that a plan declares for its SQL. */
export interface Declared {
  /** The tables of the plan's mappings and raw views, in exact spelling. */
  readonly tables: readonly DeclaredTable[];
  /** The functions of the datasource that the ontology allows: `schema.name`, lower case. */
  readonly functions: ReadonlySet<string>;
  /** The number of bound parameters. */
  readonly params: number;
}
