/** What a plan declares about its SQL. */
export interface Declared {
  /** Tables of the mappings and raw views that the plan names, as [schema, table] pairs in exact spelling. */
  readonly tables: readonly (readonly [string, string])[];
  /**
   * Columns of those tables: names that the texts of those mappings and views write, and, where a text has a star, the columns that the
   * model knows of it. No other column of a table may be read.
   */
  readonly columns: ReadonlySet<string>;
  /** Functions of the datasource's own that the ontology allows: `schema.name`, lower case. */
  readonly functions: ReadonlySet<string>;
  /** The number of bound parameters. */
  readonly params: number;
}
