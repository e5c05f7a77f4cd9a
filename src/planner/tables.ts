/**
 * SQL over tables: the texts of mappings and raw views. Their names are not in the model, so a small analysis of their scopes replaces the
 * resolver: it writes out the schema of each table, and lets through only references that cannot be a function call.
 */
import type { Alias, ColumnRef, CommonTableExpr, RangeFunction, RangeSubselect, RangeVar, SelectStmt } from '@pgsql/types';
import { badRequest, type SvcError } from '../errors.ts';
import { functionColumns } from './functions.ts';
import { type Composite, compositeOf, refusedField, stepName } from './guard/index.ts';
import { SYSTEM_COLUMNS } from './guard/types.ts';
import { columnName } from './names.ts';
import { fieldsOf, locationIn, type Node, namesOf, rewrite } from './tree.ts';

/** Schemas that nothing may read: PostgreSQL's and the service's own catalog. */
const HIDDEN_SCHEMA = /^(kg_catalog|information_schema|pg_.*)$/i;

/**
 * PostgreSQL's functions that take a row as their only argument and may not be called. `t.f` is a call of one of them where the table `t` has no
 * column `f`. The functions of a row that may be called (to_jsonb, count, concat ...) do no harm, and columns may have their names.
 */
export const ROW_FUNCTIONS = /^(pg_(typeof|collation_for|column_\w+|restore_\w+|get_publication_tables)|hash_record|record_(out|send)|any\w*_out)$/;

/** What is known of a relation in FROM: its columns; `null` for a table, whose columns only the datasource knows. */
type Columns = ReadonlyMap<string, Composite | undefined> | null;

/** What a SELECT over tables names. */
export interface TableQuery {
  readonly stmt: SelectStmt;
  readonly tables: readonly Table[];
  /** The names of columns that it writes without a table in front of them. */
  readonly columns: ReadonlySet<string>;
}

/** A table, and what a SELECT names of it. */
export interface Table {
  readonly schema: string;
  readonly name: string;
  /** The names of columns that are written with the table in front of them. */
  readonly columns: ReadonlySet<string>;
  /** Whether its whole row is named, or all of its columns by a star or NATURAL. */
  readonly isWhole: boolean;
}

/** The same while the SELECT is read. */
interface Growing extends Table {
  readonly columns: Set<string>;
  isWhole: boolean;
}

/**
 * Prepares a SELECT over tables (changed in place): tables get their schema written out, `(t).c` becomes `t.c`.
 * @throws SvcError 400 `forbidden_table` for a table that may not be read, `forbidden_function` for a field that could be a call, `unknown_column`
 */
export function tableQuery(stmt: SelectStmt, offsetOf: (location: number | undefined) => number | undefined = () => undefined): TableQuery {
  const reader = new Reader(offsetOf);
  reader.query(stmt, new Scope(undefined));
  return { stmt, tables: [...reader.tables.values()], columns: reader.columns };
}

class Scope {
  readonly outer: Scope | undefined;
  readonly relations = new Map<string, Columns>();
  /** The tables of each relation whose columns are those of tables. */
  readonly #tables = new Map<string, Growing[]>();
  #isWhole = false;
  readonly ctes = new Map<string, Columns>();

  constructor(outer: Scope | undefined) {
    this.outer = outer;
  }

  /** What is known of the relation of an alias; undefined: no such relation. */
  relation(alias: string): Columns | undefined {
    return this.relations.has(alias) ? (this.relations.get(alias) as Columns) : this.outer?.relation(alias);
  }

  /** Adds a relation. */
  add(alias: string, columns: Columns, tables: readonly Growing[] = []): void {
    this.relations.set(alias, columns);
    const known = this.#tables.get(alias);
    // tables of two schemas may have one name
    if (known) known.push(...tables);
    else this.#tables.set(alias, [...tables]);
  }

  /** The tables of the relation of an alias. */
  tables(alias: string): readonly Growing[] {
    return this.#tables.get(alias) ?? this.outer?.tables(alias) ?? [];
  }

  get hasTable(): boolean {
    return [...this.#tables.values()].some((tables) => tables.length > 0) || (this.outer?.hasTable ?? false);
  }

  /** Notes that a star stands for the columns of all relations, without those of outer scopes. */
  allWhole(): void {
    if (this.#isWhole) return;
    this.#isWhole = true;
    for (const tables of this.#tables.values()) for (const table of tables) table.isWhole = true;
  }

  cte(name: string): Columns | undefined {
    return this.ctes.has(name) ? (this.ctes.get(name) as Columns) : this.outer?.cte(name);
  }
}

class Reader {
  readonly tables = new Map<string, Growing>();
  readonly columns = new Set<string>();
  readonly #offsetOf: (location: number | undefined) => number | undefined;

  constructor(offsetOf: (location: number | undefined) => number | undefined) {
    this.#offsetOf = offsetOf;
  }

  /** Reads a query and gives its columns; null where a star expands to columns that only the datasource knows. */
  query(stmt: SelectStmt, outer: Scope): Columns {
    const scope = new Scope(outer);
    for (const cte of stmt.withClause?.ctes ?? []) if ('CommonTableExpr' in cte) this.#cte(cte.CommonTableExpr, stmt.withClause?.recursive === true, scope);
    if (stmt.larg && stmt.rarg) {
      const columns = this.query(stmt.larg, scope);
      this.query(stmt.rarg, scope);
      for (const clause of ['sortClause', 'limitCount', 'limitOffset'] as const) if (stmt[clause]) this.#rewritten(stmt[clause], scope);
      // the two sides may build their rows in different ways
      return columns && new Map([...columns.keys()].map((name) => [name, undefined] as const));
    }
    for (const item of stmt.fromClause ?? []) this.#from(item, scope, scope);
    const clauses = stmt as Record<string, unknown>;
    for (const clause of Object.keys(stmt)) if (clause !== 'withClause' && clause !== 'fromClause') clauses[clause] = this.#rewritten(clauses[clause], scope);
    if (stmt.valuesLists) {
      const first = stmt.valuesLists[0];
      const width = first && 'List' in first ? (first.List.items ?? []).length : 0;
      return new Map(Array.from({ length: width }, (_, i) => [`column${i + 1}`, undefined] as const));
    }
    return this.#targets(stmt, scope);
  }

  #cte(cte: CommonTableExpr, recursive: boolean, scope: Scope): void {
    const name = cte.ctename ?? '';
    const query = cte.ctequery && 'SelectStmt' in cte.ctequery ? cte.ctequery.SelectStmt : undefined;
    // its own name is a relation whose columns are not known yet
    if (recursive) scope.ctes.set(name, null);
    const columns = query ? this.query(query, scope) : null;
    const extra = [cte.search_clause?.search_seq_column, cte.cycle_clause?.cycle_mark_column, cte.cycle_clause?.cycle_path_column];
    const named = renamed(columns, cte.aliascolnames);
    scope.ctes.set(name, named && new Map([...named, ...extra.flatMap((n) => (n === undefined ? [] : [[n, undefined] as const]))]));
  }

  /** An item of FROM; `seen`: the relations that it may refer to where it is LATERAL. Gives its tables. */
  #from(item: Node, scope: Scope, seen: Scope): Growing[] {
    if ('RangeVar' in item) return this.#range(item.RangeVar, scope);
    if ('RangeSubselect' in item) this.#subselect(item.RangeSubselect, scope, seen);
    else if ('RangeFunction' in item) this.#function(item.RangeFunction, scope, seen);
    else if ('JoinExpr' in item) {
      const { larg, rarg, quals, alias, isNatural, usingClause = [], join_using_alias: using } = item.JoinExpr;
      for (const name of namesOf(usingClause)) this.columns.add(name);
      const tables = larg ? this.#from(larg, scope, seen) : [];
      if (rarg) tables.push(...this.#from(rarg, scope, seen));
      if (isNatural) for (const table of tables) table.isWhole = true;
      if (quals) item.JoinExpr.quals = this.#rewritten(quals, scope);
      for (const a of [alias, using]) if (a) scope.add(a.aliasname ?? '', null, tables);
      return tables;
    } else {
      this.#rewritten(item, scope);
      const alias = 'JsonTable' in item ? item.JsonTable.alias?.aliasname : undefined;
      if (alias !== undefined) scope.add(alias, null);
    }
    return [];
  }

  #range(range: RangeVar, scope: Scope): Growing[] {
    const fail = (message: string): SvcError => badRequest('forbidden_table', message, { offset: this.#offsetOf(range.location) });
    const name = range.relname ?? '';
    const cte = range.schemaname ? undefined : scope.cte(name);
    const alias = range.alias?.aliasname ?? name;
    if (range.catalogname) throw fail('a table cannot name another database');
    if (cte !== undefined) {
      scope.add(alias, renamed(cte, range.alias?.colnames));
      return [];
    }
    if (!range.schemaname) {
      range.schemaname = 'public';
      if (/^pg_/i.test(name)) throw fail(`the table ${name} cannot be read`);
    } else if (HIDDEN_SCHEMA.test(range.schemaname)) throw fail(`the schema ${range.schemaname} cannot be read`);
    const key = JSON.stringify([range.schemaname, name]);
    const table = this.tables.get(key) ?? { schema: range.schemaname, name, columns: new Set(), isWhole: false };
    this.tables.set(key, table);
    scope.add(alias, null, [table]);
    for (const name of namesOf(range.alias?.colnames)) table.columns.add(name);
    return [table];
  }

  #subselect({ subquery, alias, lateral }: RangeSubselect, scope: Scope, seen: Scope): void {
    const query = subquery && 'SelectStmt' in subquery ? subquery.SelectStmt : undefined;
    const around = lateral ? seen : beside(scope);
    const columns = query ? this.query(query, around) : null;
    if (alias) scope.add(alias.aliasname ?? '', renamed(columns, alias.colnames));
  }

  #function(range: RangeFunction, scope: Scope, seen: Scope): void {
    this.#rewritten(range.functions, seen);
    const { alias, columns, isKnown } = functionColumns(range);
    scope.add(alias, isKnown ? renamed(new Map(columns.map((c) => [c.name, undefined] as const)), range.alias?.colnames) : null);
  }

  #targets(stmt: SelectStmt, scope: Scope): Columns {
    const columns = new Map<string, Composite | undefined>();
    for (const t of stmt.targetList ?? []) {
      const { val, name } = 'ResTarget' in t ? t.ResTarget : {};
      if (!val) continue;
      if ('ColumnRef' in val && val.ColumnRef.fields?.some((f) => 'A_Star' in f)) {
        const fields = fieldsOf(val.ColumnRef);
        const found = fields.length > 1 ? [scope.relation(fields.at(-2) ?? '') ?? null] : [...scope.relations.values()];
        if (found.includes(null)) return null;
        for (const relation of found) for (const [column, composite] of relation ?? []) columns.set(column, composite);
        continue;
      }
      columns.set(
        name ?? columnName(val),
        compositeOf(val, (ref) => this.#compositeAt(ref, scope)),
      );
    }
    return columns;
  }

  #compositeAt(ref: ColumnRef, scope: Scope): Composite | undefined {
    const fields = fieldsOf(ref);
    return fields.length === 2 ? (scope.relation(fields[0] ?? '') ?? undefined)?.get(fields[1] ?? '') : undefined;
  }

  #rewritten<T>(value: T, scope: Scope): T {
    return rewrite(value, (node) => this.#node(node, scope)) as T;
  }

  #node(node: Node, scope: Scope): Node | undefined {
    if ('SelectStmt' in node) {
      this.query(node.SelectStmt, scope);
      return node;
    }
    if ('ColumnRef' in node) {
      this.#column(node.ColumnRef, scope);
      return node;
    }
    return 'A_Indirection' in node ? this.#indirection(node, scope) : undefined;
  }

  /** `a.c`: a column of `a`, and no call. */
  #column(ref: ColumnRef, scope: Scope): void {
    const fields = fieldsOf(ref);
    const name = fields.at(-1) ?? '';
    if (fields.length < 2 && name === '*') scope.allWhole();
    const tables = scope.tables(fields.length > 1 ? (fields.at(-2) ?? '') : name);
    if (fields.length < 2 || name === '*') for (const table of tables) table.isWhole = true;
    if (name === '*') return;
    // the guard lets a name pass that the statement gives to a column of its own: PostgreSQL may still take that of a table
    if (SYSTEM_COLUMNS.has(name) && (fields.length > 1 ? tables.length > 0 : scope.hasTable)) {
      throw badRequest('forbidden_column', `there is no column \`${name}\`: system columns cannot be read`, { offset: this.#offsetOf(ref.location) });
    }
    if (fields.length > 1 && tables.length > 0) for (const table of tables) table.columns.add(name);
    else this.columns.add(name);
    if (fields.length < 2) return;
    const columns = scope.relation(fields.at(-2) ?? '');
    const offset = this.#offsetOf(ref.location);
    if (columns ? !columns.has(name) : ROW_FUNCTIONS.test(name)) {
      if (!columns) throw refusedField(name).at(offset);
      throw badRequest('unknown_column', `unknown column \`${name}\` of \`${fields.at(-2)}\``, { offset });
    }
  }

  /** `(a).c` as the `a.c` that it means; any other field has to be known. */
  #indirection(node: Extract<Node, { A_Indirection: unknown }>, scope: Scope): Node {
    const { arg, indirection = [] } = node.A_Indirection;
    const [first, ...rest] = indirection;
    if (arg && 'ColumnRef' in arg) {
      const path = fieldsOf(arg.ColumnRef);
      const [alias, star] = path;
      const isRow = scope.relation(alias ?? '') !== undefined && (path.length === 1 || (path.length === 2 && star === '*'));
      if (isRow && first && 'String' in first) {
        const ref: Node = { ColumnRef: { ...arg.ColumnRef, fields: [{ String: { sval: alias ?? '' } }, first] } };
        const next: Node = rest.length > 0 ? { A_Indirection: { arg: ref, indirection: rest } } : ref;
        return this.#rewritten(next, scope);
      }
    }
    let known = compositeOf(arg, (ref) => this.#compositeAt(ref, scope));
    for (const step of indirection) {
      const name = stepName(step);
      if (name !== undefined && !known?.fields.has(name) && !(name === '*' && known)) throw refusedField(name).at(this.#offsetOf(locationIn(arg)));
      known = undefined;
    }
    if (arg) node.A_Indirection.arg = this.#rewritten(arg, scope);
    this.#rewritten(indirection, scope);
    return node;
  }
}

/** A scope with the same surroundings and no relations: for what may not refer to them. */
function beside(scope: Scope): Scope {
  const made = new Scope(scope.outer);
  for (const [name, columns] of scope.ctes) made.ctes.set(name, columns);
  return made;
}

/** Columns under an alias that may rename the first of them. */
function renamed(columns: Columns, names: Alias['colnames']): Columns {
  if (columns === null || !names?.length) return columns;
  const given = namesOf(names);
  return new Map([...columns].map(([name, composite], i) => [given[i] ?? name, composite] as const));
}
