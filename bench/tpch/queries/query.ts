/** A query of TPC-H in two languages. Both texts give the same columns and rows, in the same order. */
export interface Query {
  readonly number: number;
  readonly title: string;
  /** Over the ontology. */
  readonly sql: string;
  /** The same question over the ontology in other words: paths from another concept, or COUNT(*). */
  readonly alternatives?: readonly string[];
  /** Over the tables, by hand: the standard's own text but for names of columns. */
  readonly byHand: string;
  /** Values that take the place of `:name` in both texts: those that the standard validates with. */
  readonly values?: Readonly<Record<string, string>>;
  /** Other values for data so small that the standard's would find nothing. */
  readonly small?: Readonly<Record<string, string>>;
}

/** The two texts with their values written in. `small`: for some thousands of lines. `scale` is the value of `:scale`. */
export function texts(query: Query, scale: number, small = false): { readonly sql: string; readonly alternatives: readonly string[]; readonly byHand: string } {
  const values: Record<string, string> = { scale: String(scale), ...query.values, ...(small ? query.small : {}) };
  const fill = (text: string): string =>
    text.replace(/(?<![:\w]):([a-z_]+)/g, (_, name: string) => {
      const value = values[name];
      if (value === undefined) throw new Error(`query ${query.number} has no value for :${name}`);
      return value;
    });
  return { sql: fill(query.sql), alternatives: (query.alternatives ?? []).map(fill), byHand: fill(query.byHand) };
}
