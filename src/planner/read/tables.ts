/**
 * SQL over tables: the texts of mappings and raw views. Their names are not in the model, so a small analysis of scopes takes the place of the resolver. It adds the
 * schema to each table, and refuses references that PostgreSQL may read as function calls.
 */
import type { ColumnRef, CommonTableExpr, RangeFunction, RangeSubselect, RangeVar, SelectStmt } from '@pgsql/types';
import { badRequest, type SvcError } from '../../errors.ts';
import { type Composite, compositeOf, refusedField, stepName } from '../guard/index.ts';
import { SYSTEM_COLUMNS } from '../guard/types.ts';
import { fieldsOf, locationIn, type Node, namesOf, rewrite } from '../plan/tree.ts';
import { functionColumns } from './functions.ts';
import { columnName } from './names.ts';
import { type Columns, type NamedTable, renamed, Scope, type Table } from './table-scope.ts';

/** Schemas that no text may read: PostgreSQL's own and the catalog of the service. */
const HIDDEN_SCHEMA = /^(kg_catalog|information_schema|pg_.*)$/i;

/**
 * PostgreSQL's functions that take a row as their only argument and must not be called. If the table `t` has no column `f`, PostgreSQL reads `t.f` as the call f(t).
 * Functions of a row that may be called (to_jsonb, count, concat ...) are harmless, so columns may have their names.
 */
export const ROW_FUNCTIONS = /^(pg_(typeof|collation_for|column_\w+|restore_\w+|get_publication_tables)|hash_record|record_(out|send)|any\w*_out)$/;

/** A prepared SELECT over tables, and the tables and columns that it names. */
export interface TableQuery {
  readonly stmt: SelectStmt;
  readonly tables: readonly Table[];
  /** The unqualified names of columns. */
  readonly columns: ReadonlySet<string>;
}

/**
 * Prepares a SELECT over tables (in place): adds the schema to each table, and writes `(t).c` as `t.c`.
 * @param offsetOf the offset in the request of a location in the tree
 * @throws SvcError 400 `forbidden_table` for a table that must not be read, `forbidden_function` for a field that may be a call, `forbidden_column` for a system
 * column, `unknown_column`
 */
export function tableQuery(stmt: SelectStmt, offsetOf: (location: number | undefined) => number | undefined = () => undefined): TableQuery {
  const reader = new Reader(offsetOf);
  reader.query(stmt, new Scope(undefined));
  return { stmt, tables: [...reader.tables.values()], columns: reader.columns };
}

class Reader {
  readonly tables = new Map<string, NamedTable>();
  readonly columns = new Set<string>();
  readonly #offsetOf: (location: number | undefined) => number | undefined;

  constructor(offsetOf: (location: number | undefined) => number | undefined) {
    this.#offsetOf = offsetOf;
  }

  /** Reads a query. @returns its columns; null if a star expands to columns that only the datasource knows */
  query(stmt: SelectStmt, outer: Scope): Columns {
    const scope = new Scope(outer);
    for (const cte of stmt.withClause?.ctes ?? []) if ('CommonTableExpr' in cte) this.#cte(cte.CommonTableExpr, stmt.withClause?.recursive === true, scope);
    if (stmt.larg && stmt.rarg) {
      const columns = this.query(stmt.larg, scope);
      this.query(stmt.rarg, scope);
      for (const clause of ['sortClause', 'limitCount', 'limitOffset'] as const) if (stmt[clause]) this.#rewritten(stmt[clause], scope);
      // the fields of rows may differ between the two sides
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
    // the query may name itself, and its columns are not known yet
    if (recursive) scope.ctes.set(name, null);
    const columns = query ? this.query(query, scope) : null;
    const extra = [cte.search_clause?.search_seq_column, cte.cycle_clause?.cycle_mark_column, cte.cycle_clause?.cycle_path_column];
    const named = renamed(columns, cte.aliascolnames);
    scope.ctes.set(name, named && new Map([...named, ...extra.flatMap((n) => (n === undefined ? [] : [[n, undefined] as const]))]));
  }

  /** Reads an item of FROM. `lateral`: the relations that it may refer to if it is LATERAL. @returns its tables */
  #from(item: Node, scope: Scope, lateral: Scope): NamedTable[] {
    if ('RangeVar' in item) return this.#range(item.RangeVar, scope);
    if ('RangeSubselect' in item) this.#subselect(item.RangeSubselect, scope, lateral);
    else if ('RangeFunction' in item) this.#function(item.RangeFunction, scope, lateral);
    else if ('JoinExpr' in item) {
      const { larg, rarg, quals, alias, isNatural, usingClause = [], join_using_alias: using } = item.JoinExpr;
      for (const name of namesOf(usingClause)) this.columns.add(name);
      const tables = larg ? this.#from(larg, scope, lateral) : [];
      if (rarg) tables.push(...this.#from(rarg, scope, lateral));
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

  #range(range: RangeVar, scope: Scope): NamedTable[] {
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

  #subselect({ subquery, alias, lateral: isLateral }: RangeSubselect, scope: Scope, lateral: Scope): void {
    const query = subquery && 'SelectStmt' in subquery ? subquery.SelectStmt : undefined;
    const outer = isLateral ? lateral : scope.withoutRelations();
    const columns = query ? this.query(query, outer) : null;
    if (alias) scope.add(alias.aliasname ?? '', renamed(columns, alias.colnames));
  }

  #function(range: RangeFunction, scope: Scope, lateral: Scope): void {
    this.#rewritten(range.functions, lateral);
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

  /** Notes a reference to a column, and refuses one that may be a function call. */
  #column(ref: ColumnRef, scope: Scope): void {
    const fields = fieldsOf(ref);
    const name = fields.at(-1) ?? '';
    if (fields.length < 2 && name === '*') scope.allWhole();
    const tables = scope.tables(fields.length > 1 ? (fields.at(-2) ?? '') : name);
    if (fields.length < 2 || name === '*') for (const table of tables) table.isWhole = true;
    if (name === '*') return;
    // the guard accepts a system column if the statement has a column of that name; PostgreSQL may still read the one of a table
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

  /** Writes `(a).c` as `a.c`. Any other field must be known. */
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
