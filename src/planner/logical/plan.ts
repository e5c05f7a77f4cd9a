/**
 * The logical plan of a SELECT: what it reads and computes, in the names of the ontology. It is plain data that can be converted to JSON and back. It contains
 * no table, no policy and no text of a view or cube, so every caller who may run the query may see it (docs/design/planner.md#the-logical-plan).
 *
 * Expressions are SQL texts in which every column has the alias of its relation and its whole path. `"query 1"` in an expression means the first plan in
 * `queries`.
 */
export interface LogicalPlan {
  readonly with?: readonly { readonly name: string; readonly query: LogicalPlan }[];
  readonly query: LogicalBlock | LogicalSetOperation | LogicalValues;
  readonly sort?: readonly string[];
  readonly limit?: string;
  readonly offset?: string;
}

/** UNION, INTERSECT or EXCEPT of two plans. */
export interface LogicalSetOperation {
  readonly kind: 'union' | 'intersect' | 'except';
  readonly all: boolean;
  readonly left: LogicalPlan;
  readonly right: LogicalPlan;
}

/** VALUES, with the number of its rows. */
export interface LogicalValues {
  readonly kind: 'values';
  readonly rows: number;
}

/** One SELECT with its clauses. */
export interface LogicalBlock {
  readonly kind: 'block';
  readonly from: readonly LogicalItem[];
  readonly where?: string;
  readonly group?: readonly string[];
  readonly having?: string;
  readonly select: readonly { readonly name?: string; readonly value: string }[];
  /** True for DISTINCT, the expressions for DISTINCT ON. */
  readonly distinct?: true | readonly string[];
  /** True if the block aggregates, with or without GROUP BY. */
  readonly aggregates?: true;
  /** True if the block has window functions. */
  readonly windows?: true;
  /** The sub-queries of the expressions, in order. */
  readonly queries?: readonly LogicalPlan[];
}

/** An item of FROM. */
export type LogicalItem =
  | LogicalConcept
  /** A cube, a view or a system table. Its definition is not part of the plan. */
  | { readonly kind: 'cube' | 'view' | 'system'; readonly name: string; readonly alias: string }
  /** A common table expression. */
  | { readonly kind: 'read'; readonly name: string; readonly alias: string }
  | { readonly kind: 'query'; readonly alias: string; readonly query: LogicalPlan }
  | { readonly kind: 'function'; readonly alias: string; readonly calls: readonly string[] }
  | {
      readonly kind: 'join';
      readonly join: 'inner' | 'left' | 'right' | 'full';
      readonly left: LogicalItem;
      readonly right: LogicalItem;
      readonly on?: string;
      readonly using?: readonly string[];
    };

/** A concept in FROM: the columns of its own rows, and its paths. */
export interface LogicalConcept {
  readonly kind: 'concept';
  /** The name with the schema, in the name of the product. */
  readonly concept: string;
  readonly alias: string;
  readonly columns?: readonly string[];
  readonly paths?: readonly LogicalPath[];
}

/** A hop, a walk of at most `steps` steps, or a multi-value property, and what is read there. */
export interface LogicalPath {
  readonly path: string;
  readonly cardinality: 'one' | 'many';
  readonly steps?: number;
  readonly columns?: readonly string[];
  readonly paths?: readonly LogicalPath[];
}
