/** The texts that a plan reads: parses them, guards them and notes their facts. Parsed forms of stored texts are shared between plans. */
import { stepsOfPiece, visited } from '../../budget.ts';
import { badRequest, SvcError } from '../../errors.ts';
import { type BarePath, barePaths, pathHint } from '../../language/hints.ts';
import type { SqlParser } from '../../language/parser.ts';
import { asWritten, type Prepared, parsePrepared, prepareSelect } from '../../language/prepare.ts';
import type { MappingDef, ViewDef } from '../../ontology/model.ts';
import { requireInterruptible } from '../effort/index.ts';
import { Facts } from '../facts/facts.ts';
import { comparesColumns } from '../facts/total.ts';
import { afterSteps, type GuardFacts, guardSelect } from '../guard/index.ts';
import type { CachedTable, PlanContext } from '../plan/context.ts';
import { Position } from '../plan/position.ts';
import { frozen } from '../plan/shared.ts';
import { clone, isSubQuery, type Node, type SelectStmt, walk } from '../plan/tree.ts';
import { printSelect } from '../print/index.ts';
import type { DeclaredTable } from '../verify/index.ts';
import { cachedRows } from './cached-rows.ts';
import { withCallerFunctions } from './caller.ts';
import { DeclaredTables } from './declared-tables.ts';
import { forgetLocations, locationsOf } from './locations.ts';
import { type MappedRows, mappedRows } from './mapped.ts';
import { refuseField, refuseWindows, withOwnName } from './plain.ts';
import { type TableQuery, tableQuery } from './tables.ts';
import { typesAsText } from './typeof.ts';

/** A parsed SELECT. */
export interface Parsed {
  readonly stmt: SelectStmt;
  /** Maps a location in the tree (a UTF-8 byte offset) to an offset in the request; undefined: the text is not in the request. */
  readonly offsetOf: (location: number | undefined) => number | undefined;
  /** True if the name at a location is in quotes in the request. */
  readonly isQuoted: (location: number | undefined) => boolean;
  /** Stand-ins for identifiers that PostgreSQL would truncate at 63 bytes: the name in the tree -> the name in the text. */
  readonly standIns: ReadonlyMap<string, string>;
  /** Facts for caches. Each plan that reads the text notes them (`use`). */
  readonly facts: GuardFacts;
  /** The locations of the items of the select list, before any stage changes it; empty for a stored text. */
  readonly locations: readonly (number | undefined)[];
}

/** Replaces calls of svc_username() and the like by their values for the caller (in place), if the text has such calls. */
export type BindCaller = <T>(tree: T, facts: GuardFacts) => T;

/** The texts of one plan: the statement, and the stored texts that it reads. */
export class Texts {
  /** The datasources of the plan's mappings, in order of their first use. */
  readonly datasources = new Set<string>();
  /** The offsets of views whose texts are in the request. Errors in these views have a position. */
  readonly offsets = new Map<string, number>();
  readonly #context: PlanContext;
  readonly #facts: Facts;
  readonly #bindCaller: BindCaller;
  readonly #allowed: ReadonlySet<string>;
  /** The allowed functions of the ontology, and the functions of the caller. */
  readonly #withCallerFunctions: ReadonlySet<string>;
  /** The tables and columns that the plan's mappings and raw views read, for the verifier. */
  readonly declared = new DeclaredTables();
  readonly #cached = new Map<MappingDef, MappedRows>();
  /** The cached tables that the plan reads. */
  readonly caches = new Set<CachedTable>();
  callsOwn = false;

  constructor(context: PlanContext, facts: Facts, bindCaller: BindCaller) {
    this.#context = context;
    this.#facts = facts;
    this.#bindCaller = bindCaller;
    this.#allowed = context.allowedFunctions ?? new Set();
    this.#withCallerFunctions = withCallerFunctions(this.#allowed, context.product);
  }

  /** Notes the facts of a text that may have been parsed earlier. @throws SvcError 400 `forbidden_function` if it calls a function that is no longer allowed */
  use(facts: GuardFacts, isOfTables = false): void {
    const withdrawn = facts.functions.find((name) => !this.#context.allowedFunctions?.has(name));
    if (withdrawn !== undefined) {
      throw badRequest('forbidden_function', `function \`${withdrawn}\` is not allowed`, { hint: 'The config key allowed_functions no longer names it' });
    }
    this.callsOwn ||= !isOfTables && facts.functions.length > 0;
    this.#facts.noteText(facts);
  }

  /**
   * Parses and guards a SELECT.
   * @param offset the offset of the text in the request; undefined for a stored text, whose errors have no position
   * @param parameters whether the text may refer to bound values ($1)
   * @param service whether the text may call svc_username() and the like
   * @throws SvcError 400 for a syntax error, several statements, or what the guard refuses
   */
  parse(sql: string, offset: number | undefined, parameters = false, service = true): Parsed {
    visited(stepsOfPiece(sql.length));
    const prepared = prepareSelect({ text: sql, offset: offset ?? 0 }, !service);
    const offsetOf = (location: number | undefined): number | undefined => (offset === undefined ? undefined : prepared.toSource(location ?? 0));
    const isQuoted = (location: number | undefined): boolean =>
      offset !== undefined && location !== undefined && '"`'.includes(sql.charAt(prepared.toSource(location) - offset) || ' ');
    let stmts: ReturnType<SqlParser['parse']>['stmts'];
    try {
      stmts = parsePrepared(this.#context.parser, prepared).stmts;
    } catch (e) {
      throw offset === undefined && e instanceof SvcError ? e.at(undefined) : e;
    }
    const raw = stmts[0];
    if (stmts.length > 1) throw badRequest('several_statements', 'expected a single statement', { offset });
    const facts = guardSelect(raw ?? {}, {
      allowedFunctions: service ? this.#withCallerFunctions : this.#allowed,
      parameters,
      fail: (code, message, location, hint) => {
        const at = location === undefined ? offset : offsetOf(location);
        const path = code === 'forbidden_function' && offset !== undefined ? barePaths(prepared.text).find((p) => isAt(p, prepared, at)) : undefined;
        if (path) return unquotedPath(path, at);
        return badRequest(code, asWritten(prepared, message), { hint, offset: at });
      },
    });
    this.use(facts, !service);
    const stmt = raw?.stmt;
    // a location in a stored text is not a position in the request
    if (offset === undefined) forgetLocations(stmt);
    if (!stmt || !('SelectStmt' in stmt)) throw badRequest('forbidden_statement', 'expected a SELECT', { offset });
    if (facts.usesTypeof) typesAsText(stmt);
    this.#facts.noteExpression(stmt, undefined, offset === undefined || undefined);
    const locations = offset === undefined ? [] : locationsOf(stmt.SelectStmt);
    return { stmt: stmt.SelectStmt, offsetOf, isQuoted, standIns: prepared.standIns, facts, locations };
  }

  /** The rows of a mapping as a FROM clause, in which each table has its schema, and the expression of each column. */
  mapping(mapping: MappingDef): MappedRows {
    const cache = this.#context.cached?.(mapping);
    this.datasources.add(cache?.datasource ?? mapping.datasource);
    if (cache !== undefined) return this.#cachedRows(mapping, cache);
    let known = MAPPED.get(mapping);
    if (!known) {
      const { stmt, standIns, facts } = this.parse(mapping.sql, undefined, false, false);
      const query = tableQuery(stmt);
      requireInterruptible(query.stmt, [], new Map(), () => undefined);
      known = { rows: mappedRows(frozen(query.stmt), standIns), query, facts };
      MAPPED.set(mapping, known);
    }
    this.use(known.facts, true);
    if (known.rows.multiplies) this.#facts.noteJoins(2);
    this.#declare(known.query, mapping);
    if (this.#facts.isRestricted && !known.rows.isTotal) this.#facts.noteRaising(true);
    return known.rows;
  }

  /** True if the SQL of a mapping may leave out rows of its tables, also if its rows are cached. Notes nothing, because the plan may not read the mapping. */
  leavesOut(mapping: MappingDef): boolean {
    const other = new Texts({ ...this.#context, cached: undefined }, new Facts(this.#context.graph, new Position(), false), this.#bindCaller);
    return other.mapping(mapping).leavesOut;
  }

  #cachedRows(mapping: MappingDef, cache: CachedTable): MappedRows {
    let rows = this.#cached.get(mapping);
    if (rows === undefined) {
      const made = cachedRows(mapping, cache);
      rows = made.rows;
      this.#cached.set(mapping, rows);
      this.caches.add(cache);
      this.#declare(made.query, mapping);
    }
    return rows;
  }

  /** The SELECT over tables of a mapping or raw view, as it runs. `parsed`: its parsed text, which is not changed. */
  tableQuery(def: MappingDef | ViewDef, parsed: Parsed = this.parse(def.sql, undefined, false, false)): TableQuery {
    const query = tableQuery(this.#bindCaller(clone(parsed.stmt), parsed.facts));
    this.#declare(query, def);
    return query;
  }

  #declare({ stmt, tables, columns }: TableQuery, def: MappingDef | ViewDef): void {
    this.declared.sources.add(def);
    this.#facts.noteCollations(def.columns);
    if (this.#context.rewrite !== undefined) this.declared.noteTexts(def.columns, stmt);
    if (this.#facts.isRestricted && comparesColumns(stmt)) this.#facts.noteUnknownComparison();
    // a star means the columns that the model has for the text
    const named = tables.some((t) => t.isWhole) ? [columns, new Set(def.columns.map((c) => c.name))] : [columns];
    for (const table of tables) this.declared.add(table, named);
  }

  /** The tables that the SQL of the plan may read. */
  get tables(): readonly DeclaredTable[] {
    return this.declared.all;
  }

  /**
   * Checks the SQL of a mapping or raw view that is in the request, and keeps it as it runs: `tableSql` then needs no syntax tree.
   * @throws SvcError as `parse` and `tableQuery`
   */
  checkTables(def: MappingDef | ViewDef, offset: number): void {
    const { stmt, offsetOf, facts } = this.parse(def.sql, offset, false, false);
    const { tables, columns } = tableQuery(stmt, offsetOf);
    const sql = printed(stmt);
    if (sql !== undefined) FINISHED.set(def, { sql, tables, columns, facts });
  }

  /** The SELECT of a mapping or raw view as SQL, to ask the datasource for its columns. */
  tableSql(def: MappingDef | ViewDef): string {
    const known = this.#facts.isRestricted || this.#context.rewrite !== undefined ? undefined : FINISHED.get(def);
    if (known === undefined) return printSelect(this.tableQuery(def).stmt);
    this.use(known.facts, true);
    this.#declare({ ...known, stmt: {} }, def);
    return known.sql;
  }

  /** The expression of a calculated property or a measure: it has unqualified names and no sub-queries. @throws SvcError 400 `bad_expression` */
  plainExpression(owner: object, sql: string, offset?: number): Node {
    return offset === undefined ? clone(this.sharedExpression(owner, sql)) : this.#plain(owner, sql, offset).node;
  }

  /** The same of a stored text, as a tree that must not be changed: plans share it. @throws SvcError 400 `bad_expression` */
  sharedExpression(owner: object, sql: string): Node {
    const known = SHARED.get(owner)?.get(sql);
    if (known === undefined) return this.#shared(owner, sql);
    this.use(known.facts);
    this.#facts.noteExpression(known.node, undefined, true);
    return known.node;
  }

  /** True if a stored expression that was read is the same for all callers. */
  isShared(owner: object, sql: string): boolean {
    return SHARED.get(owner)?.has(sql) === true;
  }

  /** Keeps the expression if it is the same for all callers. */
  #shared(owner: object, sql: string): Node {
    const { node, parsed } = this.#plain(owner, sql, undefined);
    if (!parsed.facts.callsReplaced) SHARED.set(owner, (SHARED.get(owner) ?? new Map<string, Shared>()).set(sql, { node: frozen(node), facts: parsed.facts }));
    return node;
  }

  /** The same, with the offsets of its nodes in the request. @throws SvcError 400 `bad_expression` */
  located(owner: object, sql: string, offset?: number): { readonly node: Node; readonly offsetOf: Parsed['offsetOf'] } {
    const { node, parsed } = this.#plain(owner, sql, offset);
    return { node, offsetOf: parsed.offsetOf };
  }

  #plain(owner: object, sql: string, offset: number | undefined): { readonly node: Node; readonly parsed: Parsed } {
    const { node, parsed } = this.expression(owner, sql, offset);
    walk(node, (n) => {
      if ('ColumnRef' in n) n.ColumnRef.fields = (n.ColumnRef.fields ?? []).map((f) => withOwnName(f, parsed.standIns));
      if (isSubQuery(n)) throw badRequest('bad_expression', 'a calculated property or a measure must not contain a sub-query', { offset });
      // its names are properties, whose values have no fields
      if ('A_Indirection' in n) afterSteps(n.A_Indirection, () => undefined, refuseField(offset));
      return undefined;
    });
    return { node, parsed };
  }

  /** A stored expression (calculated property, measure, condition) as a tree that may be changed. @throws SvcError 400 `bad_expression` */
  expression(owner: object, sql: string, offset?: number): { readonly node: Node; readonly parsed: Parsed } {
    let parsed = offset === undefined ? EXPRESSIONS.get(owner)?.get(sql) : undefined;
    if (!parsed) {
      parsed = this.parse(`SELECT ${sql}`, offset === undefined ? undefined : offset - 'SELECT '.length);
      if (offset === undefined) {
        const known = EXPRESSIONS.get(owner) ?? new Map<string, Parsed>();
        EXPRESSIONS.set(owner, known.set(sql, { ...parsed, stmt: frozen(parsed.stmt) }));
      }
    }
    const only = parsed.stmt.targetList?.[0];
    const { targetList, limitOption: _l, op: _o, ...rest } = parsed.stmt;
    if (targetList?.length !== 1 || !only || !('ResTarget' in only) || !only.ResTarget.val || only.ResTarget.name || Object.keys(rest).length > 0) {
      throw badRequest('bad_expression', 'expected a single expression without FROM, WHERE or an alias', { offset });
    }
    refuseWindows(only.ResTarget.val, parsed.offsetOf);
    this.use(parsed.facts);
    this.#facts.noteExpression(only.ResTarget.val, undefined, true);
    return { node: this.#bindCaller(clone(only.ResTarget.val), parsed.facts), parsed };
  }
}

/** The SQL of a statement; undefined if it cannot be printed. */
function printed(stmt: SelectStmt): string | undefined {
  try {
    return printSelect(stmt);
  } catch (error) {
    if (error instanceof SvcError) return undefined;
    throw error;
  }
}

/** Texts over tables as they run, and what they name. */
const FINISHED = new WeakMap<MappingDef | ViewDef, Omit<TableQuery, 'stmt'> & { readonly sql: string; readonly facts: GuardFacts }>();
const MAPPED = new WeakMap<MappingDef, { readonly rows: MappedRows; readonly query: TableQuery; readonly facts: GuardFacts }>();
const EXPRESSIONS = new WeakMap<object, Map<string, Parsed>>();

/** A stored expression that no function of the caller is a part of. */
interface Shared extends Pick<Parsed, 'facts'> {
  readonly node: Node;
}
const SHARED = new WeakMap<object, Map<string, Shared>>();

/** True if an offset in the request is inside an unquoted path. */
const isAt = ({ start, end }: BarePath, prepared: Prepared, offset: number | undefined): boolean =>
  offset !== undefined && offset >= prepared.toSourceFrom(start) && offset < prepared.toSourceFrom(end);

/** The error for `rel[c].prop` without quotes, which PostgreSQL reads as a field of an array element. */
const unquotedPath = ({ path }: BarePath, offset: number | undefined): SvcError =>
  badRequest('bad_path', `the path \`${path}\` is not quoted`, { hint: pathHint(path), offset });
