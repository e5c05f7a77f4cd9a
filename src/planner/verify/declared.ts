/** A table that a plan may read. */
export interface DeclaredTable {
  readonly schema: string;
  readonly name: string;
  /**
   * Its columns that may be read: those that the texts of its mappings and raw views write, and, where a text has a star, the columns that the
   * model knows of the text. A name without a table in front of it counts for each table of its text.
   */
  readonly columns: Pick<ReadonlySet<string>, 'has'>;
  /** Whether one of those texts names the whole row, or all columns by a star or NATURAL. */
  readonly isWhole: boolean;
}

/** What a plan declares about its SQL. */
export interface Declared {
  /** Tables of the mappings and raw views that the plan names, in exact spelling. */
  readonly tables: readonly DeclaredTable[];
  /** Functions of the datasource's own that the ontology allows: `schema.name`, lower case. */
  readonly functions: ReadonlySet<string>;
  /** The number of bound parameters. */
  readonly params: number;
}
