/** What one plan gathers while it is made, and the parsed forms of stored SQL that plans share. */
import { growing, stepsOfPiece, visited } from '../budget.ts';
import { badRequest, SvcError } from '../errors.ts';
import type { SqlParser } from '../language/parser.ts';
import { asWritten, parsePrepared, prepareSelect } from '../language/prepare.ts';
import type { Concept, Graph } from '../ontology/graph.ts';
import type { ColumnDef, MappingDef, ViewDef } from '../ontology/model.ts';
import type { Access, CallerFacts } from './access.ts';
import { bindCaller, callerFunctions } from './caller.ts';
import { CONVERSIONS, convertedAs, typesNamed } from './conversions.ts';
import { DeclaredTables } from './declared-tables.ts';
import { requireInterruptible } from './effort/index.ts';
import { afterSteps, type GuardFacts, guardSelect, isVolatileFunction, refusedField } from './guard/index.ts';
import { castsAlways, collationsConflict, comparesColumns, isComputed, isTotal } from './leak.ts';
import { type MappedRows, mappedRows } from './mapped.ts';
import { Policies } from './policies.ts';
import { printSelect } from './print.ts';
import { givesAlways } from './result.ts';
import { type TableQuery, tableQuery } from './tables.ts';
import { clone, isSubQuery, lastName, type Node, type SelectStmt, walk } from './tree.ts';
import { typesAsText } from './typeof.ts';
import type { Declared } from './verify/index.ts';

/** What a plan is made from. Nothing of it is changed. */
export interface PlanContext {
  /** The model as the caller sees it: what the caller's text names is looked up there. */
  readonly graph: Graph;
  readonly parser: SqlParser;
  /** PRODUCT_NAME: schemas and functions answer to it beside the neutral `svc`. */
  readonly product: string;
  /** Where a query runs that touches no mapping. */
  readonly activeDatasource: string;
  /** Functions of the datasource's own that may be called (`schema.name`, lower case). */
  readonly allowedFunctions?: ReadonlySet<string>;
  /** The system tables that may be read: name in upper case -> its visible rows (docs/design/statements-and-versions.md#system-tables). */
  readonly systemTable?: (name: string) => SystemTable | undefined;
  /** Their names, for messages. */
  readonly systemTables?: readonly string[];
  /** The policies in force for the caller; undefined: none are. */
  readonly access?: Access | undefined;
  /** The whole model, for what the model itself says and for rows; undefined: the one that `graph` is a part of. */
  readonly whole?: Graph | undefined;
  /** The model as the definer of a view sees it now: what the view's text names is looked up there; undefined: in the whole. */
  readonly definer?: ((view: ViewDef) => Graph) | undefined;
  /** Who asks: what svc_username(), svc_has_role() and svc_claim() give. */
  readonly caller?: CallerFacts | undefined;
  /** Whether the caller may query a datasource's tables: then nothing that a mapping or raw view leaves out is hidden from it; undefined: all of them. */
  readonly queriesTables?: ((datasource: string) => boolean) | undefined;
}

/** A system table as the service hands it over: columns with PostgreSQL types, rows as one JSON array of objects. */
export interface SystemTable {
  readonly name: string;
  readonly columns: readonly { readonly name: string; readonly type: 'text' | 'boolean' | 'integer' | 'timestamptz' | 'bigint' }[];
  readonly json: string;
}

/** What a statement's own text reads by name: concepts, views and system tables; paths and what views read aside. */
export interface NamedRelation {
  readonly kind: 'concept' | 'view' | 'system';
  /** The neutral name of the schema through which it is read. */
  readonly schema: 'svc' | 'esvc' | 'dsvc' | 'vsvc';
  readonly name: string;
}

/** The value of a parameter: a text, or the texts of a list, which travels as an array. */
export type BoundValue = string | readonly string[];

/** A value as PostgreSQL reads it. */
export const boundText = (value: BoundValue): string =>
  typeof value === 'string' ? value : `{${value.map((v) => `"${v.replace(/["\\]/g, '\\$&')}"`).join(',')}}`;

/** A parsed SELECT of somebody's own text, and where its locations (UTF-8 byte offsets) lie in the request; undefined: not in it. */
export interface Parsed {
  readonly stmt: SelectStmt;
  readonly offsetOf: (location: number | undefined) => number | undefined;
  /** Undoes the stand-ins of identifiers that PostgreSQL would cut at 63 bytes. */
  readonly standIns: ReadonlyMap<string, string>;
  /** What a cache must know of it: told anew by each plan that reads it (`met`). */
  readonly facts: GuardFacts;
}

export class Work {
  readonly context: PlanContext;
  /** Datasources that the plan's mappings live on, in the order of their first use. */
  readonly datasources = new Set<string>();
  readonly params: (string | null)[] = [];
  /** The tables that the plan's mappings and raw views read, and their columns, for the verifier. */
  readonly #tables = new DeclaredTables();
  /** Columns whose collation is not the default. */
  readonly #collated = new Set<ColumnDef>();
  /** Whether something of it gives another result each time, or with the clock. */
  volatile = false;
  clock = false;
  /** Views that are being read, outermost first, against circles. */
  readonly reading: string[] = [];
  /** Logic concepts and calculated properties that are being expanded, against circles. */
  expanding = new Set<object>();
  /** Views whose text stands in the request, with its offset: errors in them tell their place. */
  readonly textOffsets = new Map<string, number>();
  /** Values of the first parameters: those of a statement that the service itself has written (a filter). */
  readonly bound: readonly BoundValue[];
  /** Whether the plan depends on what they are, not only on how many. */
  readsBound = false;
  /** Whether the plan depends on who asks by more than the policies in force. */
  readsCaller = false;
  /** Whether the text names measures. */
  namesMeasures = false;
  /** Whether row policies are asked where other conditions cannot come before them. */
  readonly fenced: boolean;
  /** Whether rows were read that a row policy narrows. */
  guarded = false;
  /** Whether rows were read that a view or a logic concept leaves out and that the caller may not read in another way. */
  barred = false;
  /** Whether a value was read that is masked for the caller. */
  masked = false;
  /** Whether something was read on behalf of what the caller sees that is itself hidden from it: rows of a hidden descendant, a view in a view. */
  readsHidden = false;
  /** Whether something may fail on a value, so that it must not see what a policy hides. */
  leaky = false;
  /** Whether what the model or a policy says may fail on a value that the caller may not see: the database's message would quote it. */
  quiet = false;
  /** What the caller's own text reads by name. */
  readonly relations: NamedRelation[] = [];
  /** Logic concepts that are being judged: what they read must not be masked for the caller. */
  readonly judged: string[] = [];
  /** The policies of the caller over the whole model; undefined where none are in force. */
  readonly policies: Policies | undefined;
  #trusted = 0;
  #inViews = 0;
  #blocks = 0;
  #subLinks = 0;
  readonly #kinds = new Set<string>();
  #read = 0;
  #aliases = 0;
  #parameters = new Map<string, number>();

  constructor(context: PlanContext, bound: readonly BoundValue[] = [], fenced = false) {
    this.context = context;
    this.bound = bound;
    this.fenced = fenced;
    this.policies = context.access && Policies.of(context.access, context.whole ?? context.graph.whole);
    this.params.push(...bound.map(boundText));
  }

  /** The whole model: rows, and what the model itself says. */
  get graph(): Graph {
    return this.context.whole ?? this.context.graph.whole;
  }

  /** The model as the caller sees it. */
  get seen(): Graph {
    return this.context.graph;
  }

  /** Whether what is being planned is a policy's own condition: it sees all rows, true values and the whole model. */
  get trusted(): boolean {
    return this.#trusted > 0;
  }

  /**
   * Whether rows of a concept, or (without one) whatever a view reads, may be kept from the caller by its grants: what leaves some of them
   * out is then asked first, as policies are.
   */
  bars(source?: Concept): boolean {
    if (this.trusted || this.seen === this.graph || (source && this.seen.concept(source.name)?.readable)) return false;
    this.barred = true;
    return true;
  }

  /** Runs `make` and notes its cost as that of a thing that the caller sees; of what policies ask, as theirs. */
  grows<T>(what: () => string, make: () => T): T {
    return this.trusted ? make() : growing(what(), make);
  }

  /** Whether anything may be kept from the caller: else what may fail on a value needs no thought. */
  get isRestricted(): boolean {
    return this.policies !== undefined || this.seen !== this.graph || this.context.queriesTables !== undefined;
  }

  /**
   * Whether rows that SQL over tables leaves out are hidden from the caller, who may not query the datasource: its condition is then asked before
   * what may fail on a value.
   */
  hides(datasource: string): boolean {
    if (this.trusted || (this.context.queriesTables?.(datasource) ?? this.seen === this.graph)) return false;
    this.barred = true;
    return true;
  }

  /** Notes what stands in FROM, where the text is the caller's own. */
  named(relation: NamedRelation): void {
    if (this.trusted || this.#inViews > 0 || this.expanding.size > 0) return;
    if (!this.relations.some((r) => r.kind === relation.kind && r.name === relation.name && r.schema === relation.schema)) this.relations.push(relation);
  }

  /** Plans what the text of a view or cube names. */
  inView<T>(make: () => T): T {
    this.#inViews++;
    try {
      return make();
    } finally {
      this.#inViews--;
    }
  }

  /** Plans something that the policies themselves ask. */
  asTrusted<T>(make: () => T): T {
    const { expanding } = this;
    // the condition may read the very concept whose rows are being made: as it is, not as the caller sees it
    if (this.#trusted === 0) this.expanding = new Set();
    const outermost = this.#trusted === 0;
    this.#trusted++;
    try {
      return outermost ? growing('the conditions of policies', make) : make();
    } finally {
      this.#trusted--;
      this.expanding = expanding;
    }
  }

  /** Puts what is known of the caller in the places of svc_username() and its like (in place). */
  bindCaller<T>(tree: T): T {
    const { tree: bound, asked } = bindCaller(tree, this.context.product, this.context.caller);
    this.readsCaller ||= asked;
    return bound;
  }

  /** Takes note of a text that the plan reads, however long ago it was parsed. @throws SvcError 400 `forbidden_function` for a function that was allowed then */
  met({ volatile, clock, functions }: GuardFacts): void {
    const withdrawn = functions.find((name) => !this.context.allowedFunctions?.has(name));
    if (withdrawn !== undefined) {
      throw badRequest('forbidden_function', `function \`${withdrawn}\` is not allowed`, { hint: 'The config key allowed_functions no longer names it' });
    }
    this.volatile ||= volatile;
    this.clock ||= clock;
  }

  /**
   * Notes whether an expression may fail on a value. `isInner`: it is part of a sub-query, which may run before the conditions of the block around it.
   */
  weigh(tree: unknown, isInner: boolean = this.#inViews > 0 || this.#blocks > 1): void {
    if (!this.isRestricted) return;
    for (const type of typesNamed(tree)) this.reads(type);
    if (this.trusted) this.quiet ||= !isTotal(tree, isInner);
    else this.leaky ||= !isTotal(tree, isInner);
  }

  /** The same for the cast of a table's column to a declared type. */
  weighCast(column: ColumnDef | undefined, type: string): void {
    this.reads(type);
    if (!this.isRestricted || castsAlways(column, type)) return;
    if (this.trusted) this.quiet = true;
    else this.leaky = true;
  }

  /**
   * Notes the type of a value that may meet others in the statement. What a policy reads counts too: the caller's columns of a concept are planned with
   * its policies, and a policy's own comparison may fail on a value that PostgreSQL quotes.
   */
  reads(type: string): void {
    if (!this.isRestricted) return;
    const kind = convertedAs(type);
    if (kind === undefined) return;
    this.#kinds.add(kind);
    if (!CONVERSIONS.some((pair) => pair.every((k) => this.#kinds.has(k)))) return;
    this.leaky = true;
    this.quiet ||= this.trusted;
  }

  /** Notes the columns of a raw view, which have the types of the tables. */
  readsTable(columns: readonly ColumnDef[]): void {
    if (!this.isRestricted) return;
    if (columns.some((c) => isComputed(c.type))) this.leaky = true;
    for (const { type } of columns) this.reads(type ?? '');
  }

  /** The same for the cast of a measure to its declared type: in a sub-query it may run before the conditions of the block around it. */
  weighMeasure(tree: Node, type: string): void {
    if (!this.isRestricted || (this.#inViews === 0 && this.#blocks < 2) || givesAlways(this.graph, tree, type)) return;
    if (this.trusted) this.quiet = true;
    else this.leaky = true;
  }

  /** Resolves a query block: what is expanded meanwhile is a part of it. */
  inBlock<T>(make: () => T): T {
    this.#blocks++;
    try {
      return make();
    } finally {
      this.#blocks--;
    }
  }

  /** Resolves a sub-query of an expression: what is expanded meanwhile is a part of it. */
  inSubLink<T>(make: () => T): T {
    if (this.#subLinks++ === 0) this.#read = 0;
    try {
      return make();
    } finally {
      this.#subLinks--;
    }
  }

  /**
   * Notes relations that the query joins. Where a sub-query of an expression reads several, by whatever views and paths, its time for a single row of
   * the block around it is the product of their sizes: it may run out of time for a hidden row.
   */
  joins(relations = 1): void {
    if (this.#subLinks === 0 || this.trusted || !this.isRestricted) return;
    this.#read += relations;
    if (this.#read > 1) this.leaky = true;
  }

  /** An alias that no caller can write (a name may not begin with `~`... and is unique in the plan). */
  alias(): string {
    this.#aliases++;
    return `~${this.#aliases}`;
  }

  /** The number of a parameter that carries `value`, shared where `key` is the same. */
  parameter(key: string, value: string): number {
    let n = this.#parameters.get(key);
    if (n === undefined) {
      n = this.params.push(value);
      this.#parameters.set(key, n);
    }
    return n;
  }

  /** Whether a tree calls something that gives another result each time. */
  isVolatile(tree: unknown): boolean {
    let found = false;
    walk(tree, (n) => {
      if ('FuncCall' in n && isVolatileFunction(lastName(n.FuncCall.funcname))) found = true;
      return !found;
    });
    return found;
  }

  /** Parses a SELECT of the caller's, or a stored one (`offset` undefined: errors tell no position); `parameters`: the bound values may stand in it. */
  parse(sql: string, offset: number | undefined, parameters = false, service = true): Parsed {
    visited(stepsOfPiece(sql.length));
    const prepared = prepareSelect({ text: sql, offset: offset ?? 0 });
    const offsetOf = (location: number | undefined): number | undefined => (offset === undefined ? undefined : prepared.toSource(location ?? 0));
    let stmts: ReturnType<SqlParser['parse']>['stmts'];
    try {
      stmts = parsePrepared(this.context.parser, prepared).stmts;
    } catch (e) {
      throw offset === undefined && e instanceof SvcError ? e.at(undefined) : e;
    }
    const raw = stmts[0];
    if (stmts.length > 1) throw badRequest('several_statements', 'only one statement can stand here', { offset });
    const own = service ? callerFunctions(this.context.product) : [];
    const facts = guardSelect(raw ?? {}, {
      allowedFunctions: new Set([...(this.context.allowedFunctions ?? []), ...own]),
      parameters,
      fail: (code, message, location, hint) =>
        badRequest(code, asWritten(prepared, message), { hint, offset: location === undefined ? offset : offsetOf(location) }),
    });
    this.met(facts);
    const stmt = raw?.stmt;
    // A place in a stored text is none of the request.
    if (offset === undefined) forgetLocations(stmt);
    if (!stmt || !('SelectStmt' in stmt)) throw badRequest('forbidden_statement', 'only a SELECT can stand here', { offset });
    if (facts.asksTypes) typesAsText(stmt);
    this.weigh(stmt);
    return { stmt: stmt.SelectStmt, offsetOf, standIns: prepared.standIns, facts };
  }

  /** A mapping's rows as a FROM clause, every table's schema written out, and the expression of each column over it. */
  mapping(mapping: MappingDef): MappedRows {
    this.datasources.add(mapping.datasource);
    let known = MAPPED.get(mapping);
    if (!known) {
      const { stmt, standIns, facts } = this.parse(mapping.sql, undefined, false, false);
      const query = tableQuery(stmt);
      requireInterruptible(query.stmt, [], () => undefined);
      known = { rows: mappedRows(query.stmt, standIns), query, facts };
      MAPPED.set(mapping, known);
    }
    this.met(known.facts);
    if (known.rows.multiplies) this.joins(2);
    this.#declare(known.query, mapping);
    if (this.isRestricted && !known.rows.isTotal) {
      if (this.trusted) this.quiet = true;
      else this.leaky = true;
    }
    return known.rows;
  }

  /** The SELECT over tables of a mapping or raw view as it runs. `parsed`: its text, which is not changed; by default parsed now. */
  tableQuery(def: MappingDef | ViewDef, parsed: Parsed = this.parse(def.sql, undefined, false, false)): TableQuery {
    const query = tableQuery(this.bindCaller(clone(parsed.stmt)));
    this.#declare(query, def);
    return query;
  }

  #declare({ stmt, tables, columns }: TableQuery, def: MappingDef | ViewDef): void {
    this.#collate(def);
    if (this.isRestricted && comparesColumns(stmt)) {
      this.leaky = true;
      this.quiet ||= this.trusted;
    }
    // a star stands for columns that the model knows of the text
    const named = tables.some((t) => t.isWhole) ? [columns, new Set(def.columns.map((c) => c.name))] : [columns];
    for (const table of tables) this.#tables.add(table, named);
  }

  /**
   * Notes the collations of what a mapping or raw view gives. Those that conflict may fail in any expression of the plan, also in one that the planner writes, and where
   * a mask or a policy reads the columns.
   */
  #collate({ columns }: MappingDef | ViewDef): void {
    if (this.leaky || !this.isRestricted) return;
    for (const column of columns) if (column.collation !== undefined || column.type?.endsWith('name')) this.#collated.add(column);
    this.leaky = collationsConflict(this.#collated);
  }

  /** What the finished SQL may name. */
  get declared(): Declared {
    return {
      tables: this.#tables.all,
      functions: new Set(this.context.allowedFunctions),
      params: this.params.length,
    };
  }

  /** The whole SELECT of a mapping or raw view as it runs, for asking the datasource about its columns. */
  tableSql(def: MappingDef | ViewDef): string {
    return printSelect(this.tableQuery(def).stmt);
  }

  /** The same of a calculated property or a measure: over plain names, without sub-queries. */
  plainExpression(owner: object, sql: string, offset?: number): Node {
    const { node } = this.expression(owner, sql, offset);
    walk(node, (n) => {
      if (isSubQuery(n)) throw badRequest('bad_expression', 'a sub-query cannot stand in a calculated property or a measure', { offset });
      // its names are properties: single values
      if ('A_Indirection' in n) afterSteps(n.A_Indirection, () => undefined, refuseField(offset));
      return undefined;
    });
    return node;
  }

  /** A stored expression (calculated property, measure, condition) as a tree of its own that may be changed. */
  expression(owner: object, sql: string, offset?: number): { readonly node: Node; readonly parsed: Parsed } {
    let parsed = offset === undefined ? EXPRESSIONS.get(owner)?.get(sql) : undefined;
    if (!parsed) {
      parsed = this.parse(`SELECT ${sql}`, offset === undefined ? undefined : offset - 'SELECT '.length);
      if (offset === undefined) {
        const known = EXPRESSIONS.get(owner) ?? new Map<string, Parsed>();
        known.set(sql, parsed);
        EXPRESSIONS.set(owner, known);
      }
    }
    const only = parsed.stmt.targetList?.[0];
    const { targetList, limitOption: _l, op: _o, ...rest } = parsed.stmt;
    if (targetList?.length !== 1 || !only || !('ResTarget' in only) || !only.ResTarget.val || only.ResTarget.name || Object.keys(rest).length > 0) {
      throw badRequest('bad_expression', 'one expression is expected here, without FROM, WHERE or an alias', { offset });
    }
    this.met(parsed.facts);
    this.weigh(only.ResTarget.val);
    return { node: this.bindCaller(clone(only.ResTarget.val)), parsed };
  }
}

const refuseField =
  (offset: number | undefined) =>
  (field: string): undefined => {
    throw refusedField(field).at(offset);
  };

const MAPPED = new WeakMap<MappingDef, { readonly rows: MappedRows; readonly query: TableQuery; readonly facts: GuardFacts }>();
const EXPRESSIONS = new WeakMap<object, Map<string, Parsed>>();

function forgetLocations(value: unknown): void {
  if (value === null || typeof value !== 'object') return;
  if (Array.isArray(value)) {
    for (const v of value) forgetLocations(v);
    return;
  }
  const o = value as Record<string, unknown>;
  delete o.location;
  for (const k in o) forgetLocations(o[k]);
}
