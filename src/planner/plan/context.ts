/** The inputs of a plan, and parts of its description. */
import type { SqlParser } from '../../language/parser.ts';
import type { Graph, LogicRows } from '../../ontology/graph.ts';
import type { ConceptDef, MappingDef, ViewDef } from '../../ontology/model.ts';
import type { Resolver } from '../bind/resolve.ts';
import type { Scope } from '../bind/scope.ts';
import type { MadeItem } from '../bind/views.ts';
import type { WalkSteps } from '../lower/walk-together.ts';
import type { PlanState } from '../plan-state.ts';
import type { Access, CallerFacts } from '../secure/access.ts';
import type { Declared } from '../verify/index.ts';
import type { BoundBlock } from './block.ts';
import type { SelectStmt } from './tree.ts';

/** A definition that reads with the rights of the user who wrote it. */
export type Defined = ViewDef | LogicRows | ConceptDef;

/** The inputs of a plan. The planner does not change them. */
export interface PlanContext {
  /** The model as the caller sees it. Names in the caller's text are looked up here. */
  readonly graph: Graph;
  readonly parser: SqlParser;
  /** PRODUCT_NAME: schemas and functions have this name as well as the neutral `svc`. */
  readonly product: string;
  /** The datasource of queries that use no mapping. */
  readonly activeDatasource: string;
  /** The functions of the datasource that may be called (`schema.name`, lower case). */
  readonly allowedFunctions?: ReadonlySet<string>;
  /** Looks up a system table by its name in upper case, with the rows that the caller may see (docs/design/statements-and-versions.md#system-tables). */
  readonly systemTable?: (name: string) => SystemTable | undefined;
  /** The names of the system tables, for messages. */
  readonly systemTables?: readonly string[];
  /** The policies in force for the caller; undefined: none. */
  readonly access?: Access | undefined;
  /** The whole model, for rows and for names in stored texts; default: the model that `graph` is a part of. */
  readonly whole?: Graph | undefined;
  /**
   * The model as the definer of a view or concept sees it now. Names in the stored text are looked up there; default: in the whole model. Use `PlanState.asDefined`, which
   * reads the whole model inside policies.
   */
  readonly definer?: ((defined: Defined) => Graph) | undefined;
  /** The values of svc_username(), svc_has_role() and svc_claim(). */
  readonly caller?: CallerFacts | undefined;
  /** The caller's right to query the tables of a datasource, and so to see rows that a mapping or raw view leaves out. Default: a caller who sees the whole model has it. Plans ask `PlanState.hidesTables`. */
  readonly queriesTables?: ((datasource: string) => boolean) | undefined;
  /** True if the SQL is compared with that of another model, not executed: no mapping is left out or merged. */
  readonly keepsMappings?: boolean | undefined;
  /** The number of rows of a mapping; undefined if they were not counted. It decides between shapes of SQL with the same result. By default no rows were counted. */
  readonly rowsOf?: ((mapping: MappingDef) => number | undefined) | undefined;
  /** True if a datasource enforces a reference (`enforcedKey`), so that what it refers to exists and may be read. Default: no reference counts as enforced. */
  readonly enforces?: ((datasource: string, key: string) => boolean) | undefined;
  /**
   * True if the datasource keeps the names of a derived table's columns. The JSON of a row is then made of the whole row of the derived table, which is faster to plan and to
   * execute. Default: no datasource does.
   */
  readonly keepsNames?: ((datasource: string) => boolean) | undefined;
  /** A rewrite of the finished statement, for a datasource that refused the statement as it was (`decorrelate`). Default: it is not rewritten. */
  readonly rewrite?: FinishedRewrite | undefined;
  /** What a distributed datasource needs in a finished statement, by where it has its tables; undefined: nothing. The rows are the same. Default: no datasource needs anything. */
  readonly target?: ((datasource: string) => Target | undefined) | undefined;
  /** The cached table of a mapping of the whole model, from which its rows are read; undefined: they are read from the mapping's own tables. Default: no mapping is cached. */
  readonly cached?: ((mapping: MappingDef) => CachedTable | undefined) | undefined;
  /** The cached cubes. Default: no cube is cached. */
  readonly cubes?: CubeTables | undefined;
  /** The cached views. Default: no view is cached. */
  readonly views?: ViewTables | undefined;
}

/**
 * A rewrite of a finished statement (in place: it gets a copy that shares nothing that it may change), with the same rows. `alias` makes an alias that is unique in the statement. `isExact`: no text
 * that the statement reads may have a nondeterministic collation, under which different texts are equal.
 * `isSimple`: it has no volatile functions and no barriers; others are rewritten only if `isForAll` is true.
 */
export interface FinishedRewrite {
  (statement: SelectStmt, alias: () => string, isExact: boolean, declared: Declared['tables'], isSimple: boolean): void;
  /** The form of all walks in the plan: the datasource refuses a recursion also if only other tables of the statement are distributed. Default: a recursion. */
  walks?: WalkSteps;
  isForAll?: boolean;
  /** The rewrite of the written statement to try if the datasource refuses this one too. */
  next?: FinishedRewrite;
}

/** How a plan says that it relies on a table, named as in the placements, that is no view with a union. */
export const plainName = (table: string): string => `${table.slice(0, -1)},0]`;

/** What is known of the tables of a distributed datasource. Plans that are made with it are valid as long as it is the same object. */
export interface Target {
  /**
   * Changes a finished statement (in place, as above), with the same rows. It reads no other columns than those that the statement declares. `isExact`: as above, default false.
   * @returns what must still be so when the statement runs, otherwise the datasource may lose rows: the names in `Placements` of reference tables, and tables that are no views with unions (`plainName`)
   */
  readonly apply: (statement: SelectStmt, declared: Declared['tables'], isExact?: boolean) => readonly string[];
  /**
   * Makes the JSON of a row of aggregates where they are computed, if that takes fewer steps (in place, as above). The statement must not be volatile.
   * @returns true if the select list now decides which values there are
   */
  readonly joinRow?: (statement: SelectStmt, declared: Declared['tables']) => boolean;
  /** The form of walks over a table whose rows are distributed: the datasource refuses a recursion over them. Default: no table is known to be distributed. */
  readonly walksOver?: (schema: string, table: string) => WalkSteps | undefined;
}

/** Where a distributed table is: rows of tables of one group are on one worker if their columns are equal. */
export interface Placed {
  readonly column: string;
  readonly group: number;
}

/**
 * Where tables are, by the JSON text of their schema and name; null: each worker has all rows (reference tables); `union`: a view with a set operation. Nothing is known of
 * others: they may be distributed.
 */
export type Placements = ReadonlyMap<string, Placed | 'union' | null>;

/** Cached cubes (../cached/reading.ts). */
export interface CubeTables {
  /** Resolves the FROM of a block that reads only a cached cube, like `resolveFrom`; undefined if the block must read the rows of the cube's concepts. */
  from(resolver: Resolver, stmt: SelectStmt, scope: Scope): ((stmt: SelectStmt) => BoundBlock) | undefined;
}

/** Cached views (../cached/views.ts). */
export interface ViewTables {
  /** The rows of a view in its table; undefined if they must be read live. */
  item(state: PlanState, view: ViewDef): MadeItem | undefined;
}

/** A table of the datasource with the rows of a mapping or view, or with partial aggregates of a cube. For a mapping, its columns are those of the mapping, in order, under the names of `cachedColumn` (../read/cached-rows.ts). */
export interface CachedTable {
  /** The name of the mapping, cube or view. */
  readonly mapping: string;
  /** Default: a mapping. */
  readonly of?: 'cube' | 'view';
  readonly schema: string;
  /** No other table has ever had this name. */
  readonly name: string;
  /** When the rows were read: milliseconds since 1970. */
  readonly asOf: number;
  /** Its datasource, if that is not the one of the mapping. */
  readonly datasource?: string;
}

/** The name of a foreign key: schema and name of the two tables, and pairs of columns. Pairs in another order give the same name. */
export const enforcedKey = (from: readonly [string, string], to: readonly [string, string], columns: readonly (readonly [string, string])[]): string =>
  JSON.stringify([from, to, columns.toSorted(([a], [b]) => (a < b ? -1 : 1))]);

/** A system table: columns with PostgreSQL types, and rows as one JSON array of objects. */
export interface SystemTable {
  readonly name: string;
  readonly columns: readonly { readonly name: string; readonly type: 'text' | 'boolean' | 'integer' | 'timestamptz' | 'bigint' }[];
  /** The rows as a JSON array. */
  readonly json: string;
  /** The length of the longest row in `json`. */
  readonly longestRow: number;
}

/** A concept, view or system table that the statement's own text names. Targets of paths and relations of views are not included. */
export interface NamedRelation {
  readonly kind: 'concept' | 'view' | 'system';
  /** The neutral name of the schema in the text. */
  readonly schema: 'svc' | 'esvc' | 'dsvc' | 'vsvc';
  readonly name: string;
}

/** The value of a parameter: a text, or a list of texts, which is sent as an array. */
export type BoundValue = string | readonly string[];

/** A value as a text that PostgreSQL can read. */
export const boundText = (value: BoundValue): string =>
  typeof value === 'string' ? value : `{${value.map((v) => `"${v.replace(/["\\]/g, '\\$&')}"`).join(',')}}`;
