/**
 * The effort of single calls. PostgreSQL checks for interrupts (a statement timeout, a closed connection) between rows, but not inside most functions: a call of
 * `translate` with two texts of 300,000 characters runs for minutes despite the timeout, and occupies a connection and a processor. This limits the time of all calls of a
 * statement for one row, estimated from the sizes that their arguments may have (docs/design/sql-shapes.md#calls-that-postgresql-does-not-interrupt).
 */
import type { A_Expr, CaseExpr, CommonTableExpr, FuncCall, JsonTable, SubLink, TypeCast } from '@pgsql/types';
import { visited } from '../../budget.ts';
import { fieldsOf, isNodeName, lastName, type Node, type SelectStmt, walk } from '../plan/tree.ts';
import { COLLECTING, FREE, FREE_OPERATORS, FREE_TYPES, LENGTHS, OPERATIONS, REPEATING, SEARCH_OPERATORS, SLOW_TYPES } from './functions.ts';
import { firstSteps, sizeAfter } from './recursion.ts';
import { isArithmetic, sizeOfCall, sizeOfCast, sizeOfOperation, sizeOfRepetition } from './results.ts';
import {
  columnsOfFunctions,
  columnsOfJoin,
  hasTable,
  type Named,
  RECURSION_ROWS,
  readsTable,
  renamed,
  rowOfSystemTable,
  rowsOfAggregate,
  rowsOfBoth,
  rowsOfFunction,
  type Scope,
  sizeOfColumn,
  united,
  WHOLE_TABLE,
  withNamed,
} from './scope.ts';
import { bytesOf, DATA, FIXED, largest, MAX_SIZE, NOTHING, ofBytes, plus, type Size, SMALL, sizeOfConstant, sum, UNKNOWN } from './sizes.ts';
import { Spent } from './spent.ts';
import { callIn, collected, constant, countOf, freePass, freePasses, functionName, functionNames, itemOf, onePass, SEARCHED, stepsOf } from './steps.ts';

/**
 * Limits the effort of the calls in a finished statement.
 * @param params the values of the parameters
 * @param longestRows the length of the longest row in each parameter that has the rows of a system table
 * @param offsetOf the offset in the request of a location in the tree
 * @throws SvcError 400 `too_complex` with the location of the call
 */
export function requireInterruptible(
  query: SelectStmt,
  params: readonly (string | null)[],
  longestRows: ReadonlyMap<number, number>,
  offsetOf: (location: number | undefined) => number | undefined,
): void {
  new Effort(params, longestRows, new Spent(offsetOf)).query(query, undefined, new Map());
}

class Effort {
  readonly #params: readonly (string | null)[];
  readonly #longestRows: ReadonlyMap<number, number>;
  readonly #spent: Spent;

  constructor(params: readonly (string | null)[], longestRows: ReadonlyMap<number, number>, spent: Spent) {
    this.#params = params;
    this.#longestRows = longestRows;
    this.#spent = spent;
  }

  /** Measures a query. @returns the sizes of its columns by name, in order */
  query(stmt: SelectStmt, outer: Scope | undefined, known: ReadonlyMap<string, Named>): Map<string, Size> {
    return this.#measured(stmt, outer, known).columns;
  }

  /** Measures a query. `rows`: the number of rows that it returns for each row of the tables that it reads. */
  #measured(stmt: SelectStmt, outer: Scope | undefined, known: ReadonlyMap<string, Named>): { columns: Map<string, Size>; rows: number } {
    visited(1);
    const ctes = new Map(known);
    for (const node of stmt.withClause?.ctes ?? [])
      if ('CommonTableExpr' in node) this.#cte(node.CommonTableExpr, stmt.withClause?.recursive === true, outer, ctes);
    const most = constant(stmt.limitCount) ?? MAX_SIZE;
    if (stmt.larg && stmt.rarg) {
      const [left, right] = [this.#measured(stmt.larg, outer, ctes), this.#measured(stmt.rarg, outer, ctes)];
      const columns = united(left.columns, right.columns);
      this.#all([stmt.sortClause, stmt.limitCount, stmt.limitOffset], { relations: new Map([['', columns]]), ctes, outer, rows: 1, own: 1 });
      return { columns, rows: Math.min(most, rowsOfBoth(stmt.larg, left.rows, stmt.rarg, right.rows)) };
    }
    const scope: Scope = { relations: new Map(), ctes, outer, rows: 1, own: 1 };
    for (const node of stmt.fromClause ?? []) this.#from(node, scope);
    // functions next to a table take values of the table's rows, as in mappings
    const rows = (stmt.fromClause ?? []).some(hasTable) ? 1 : scope.rows;
    // an aggregate may belong to the outer block
    [scope.own, scope.rows] = [rows, Math.max(rows, outer?.rows ?? 1)];
    if (stmt.valuesLists) return { columns: this.#values(stmt.valuesLists, scope), rows: stmt.valuesLists.length };
    const columns = new Map<string, Size>();
    for (const [i, node] of (stmt.targetList ?? []).entries())
      if ('ResTarget' in node) this.#target(node.ResTarget.name, node.ResTarget.val, i, scope, columns);
    // ORDER BY may use names of the select list
    const rest: Scope = { ...scope, relations: new Map([...scope.relations, ['', columns]]) };
    this.#all(
      [stmt.whereClause, stmt.groupClause, stmt.havingClause, stmt.windowClause, stmt.distinctClause, stmt.sortClause, stmt.limitCount, stmt.limitOffset],
      rest,
    );
    return { columns, rows: Math.min(most, rows) };
  }

  #cte(cte: CommonTableExpr, isRecursive: boolean, outer: Scope | undefined, ctes: Map<string, Named>): void {
    const stmt = cte.ctequery && 'SelectStmt' in cte.ctequery ? cte.ctequery.SelectStmt : undefined;
    if (!stmt || cte.ctename === undefined) return;
    if (!isRecursive || !stmt.larg || !stmt.rarg) {
      const { columns, rows } = this.#measured(stmt, outer, ctes);
      ctes.set(cte.ctename, { columns: renamed(columns, cte.aliascolnames), rows });
      return;
    }
    const first = renamed(this.query(stmt.larg, outer, ctes), cte.aliascolnames);
    const [recursive, names] = [stmt.rarg, [...first.keys()]];
    const steps = this.#spent.paused(() =>
      firstSteps([...first.values()], names, (columns) => united(columns, this.query(recursive, outer, withNamed(ctes, cte.ctename, columns)))),
    );
    const columns = new Map(names.map((name, i) => [name, sizeAfter(steps.map((s) => s[i] ?? SMALL))]));
    // the columns that SEARCH and CYCLE add
    const { search_seq_column, cycle_mark_column, cycle_path_column } = { ...cte.search_clause, ...cte.cycle_clause };
    for (const name of [search_seq_column, cycle_path_column]) if (name !== undefined) columns.set(name, DATA);
    if (cycle_mark_column !== undefined) columns.set(cycle_mark_column, FIXED);
    ctes.set(cte.ctename, { columns, rows: readsTable(recursive) ? 1 : RECURSION_ROWS });
    this.query(recursive, outer, ctes);
  }

  #values(lists: readonly Node[], scope: Scope): Map<string, Size> {
    const columns = new Map<string, Size>();
    for (const list of lists)
      for (const [i, item] of ('List' in list ? (list.List.items ?? []) : []).entries()) {
        const name = `column${i + 1}`;
        columns.set(name, largest([columns.get(name) ?? ofBytes(0), this.#size(item, scope)]));
      }
    return columns;
  }

  #target(name: string | undefined, value: Node | undefined, at: number, scope: Scope, columns: Map<string, Size>): void {
    if (value === undefined) return;
    const fields = 'ColumnRef' in value ? fieldsOf(value.ColumnRef) : [];
    if (fields.at(-1) === '*') {
      for (const [alias, of] of scope.relations)
        if (fields.length === 1 || alias === fields[0])
          for (const [column, size] of of === 'table' ? [[WHOLE_TABLE, DATA] as const] : of) columns.set(column, size);
      return;
    }
    const key = name ?? fields.at(-1) ?? ('FuncCall' in value ? functionName(value.FuncCall) : `?${at}`);
    const size = this.#size(value, scope);
    columns.set(columns.has(key) ? `${key}~${at}` : key, size);
  }

  #from(node: Node, scope: Scope): void {
    if ('RangeVar' in node) {
      const { relname = '', alias, schemaname } = node.RangeVar;
      const cte = schemaname === undefined ? scope.ctes.get(relname) : undefined;
      scope.rows *= cte?.rows ?? 1;
      scope.relations.set(alias?.aliasname ?? relname, renamed(cte?.columns ?? 'table', alias?.colnames));
    } else if ('RangeSubselect' in node) {
      const { subquery, alias } = node.RangeSubselect;
      const stmt = subquery && 'SelectStmt' in subquery ? subquery.SelectStmt : undefined;
      const { columns, rows } = stmt ? this.#measured(stmt, scope, scope.ctes) : { columns: 'table' as const, rows: 1 };
      scope.rows *= rows;
      scope.relations.set(alias?.aliasname ?? '', renamed(columns, alias?.colnames));
    } else if ('RangeFunction' in node) {
      const { functions = [], alias } = node.RangeFunction;
      const sizes = functions.map((f) => this.#size(itemOf(f), scope));
      scope.rows *= Math.max(...functions.map((f, i) => rowsOfFunction(callIn(f), sizes[i] ?? SMALL)));
      const columns = columnsOfFunctions(node.RangeFunction, rowOfSystemTable(functions, this.#longestRows) ?? sum(sizes));
      scope.relations.set(alias?.aliasname ?? functions.flatMap(functionNames)[0] ?? '', columns);
    } else if ('JoinExpr' in node) {
      const { larg, rarg, quals, alias, join_using_alias } = node.JoinExpr;
      const before = new Set(scope.relations.keys());
      if (larg) this.#from(larg, scope);
      if (rarg) this.#from(rarg, scope);
      for (const name of [alias?.aliasname, join_using_alias?.aliasname]) if (name !== undefined) scope.relations.set(name, columnsOfJoin(scope, before));
      this.#all([quals], scope);
    } else if ('RangeTableSample' in node && node.RangeTableSample.relation) {
      this.#from(node.RangeTableSample.relation, scope);
    } else {
      // JSON_TABLE and the like
      const { alias } = Object.values(node)[0] as { readonly alias?: { readonly aliasname?: string } };
      const size = this.#all([node], scope);
      scope.rows *= bytesOf(size, SEARCHED);
      scope.relations.set(alias?.aliasname ?? '', size.made > 1_000 ? new Map([['', size]]) : 'table');
    }
  }

  /** Measures all nodes of a value. @returns the sum of their sizes */
  #all(value: unknown, scope: Scope): Size {
    if (value === null || typeof value !== 'object') return NOTHING;
    let total = NOTHING;
    if (Array.isArray(value)) {
      for (const item of value) total = plus(total, this.#all(item, scope));
      return total;
    }
    for (const member in value) {
      if (isNodeName(member)) return this.#size(value as Node, scope);
      total = plus(total, this.#all((value as Record<string, unknown>)[member], scope));
    }
    return total;
  }

  #size(node: Node, scope: Scope): Size {
    visited(1);
    if ('ColumnRef' in node) return sizeOfColumn(fieldsOf(node.ColumnRef), scope);
    if ('A_Const' in node) return sizeOfConstant(node.A_Const);
    if ('ParamRef' in node) return ofBytes(2 * (this.#params[(node.ParamRef.number ?? 0) - 1]?.length ?? 0));
    if ('TypeCast' in node) return this.#cast(node.TypeCast, scope);
    if ('FuncCall' in node) return this.#call(node.FuncCall, scope);
    if ('A_Expr' in node) return this.#operation(node.A_Expr, scope);
    if ('SubLink' in node) return this.#subLink(node.SubLink, scope);
    if ('SelectStmt' in node) return sum([...this.query(node.SelectStmt, scope, scope.ctes).values()]);
    if ('CaseExpr' in node) return this.#case(node.CaseExpr, scope);
    if ('CoalesceExpr' in node) return largest((node.CoalesceExpr.args ?? []).map((a) => this.#size(a, scope)));
    if ('MinMaxExpr' in node) {
      const sizes = (node.MinMaxExpr.args ?? []).map((a) => this.#size(a, scope));
      this.#spent.steps(freePasses(sizes), node.MinMaxExpr.op === 'IS_GREATEST' ? 'greatest' : 'least', node.MinMaxExpr.location);
      return largest(sizes);
    }
    if ('JsonTable' in node) return this.#jsonTable(node.JsonTable, scope);
    const inner = this.#all(Object.values(node)[0], scope);
    if ('JsonFuncExpr' in node)
      this.#spent.steps(stepsOf('@?', [node, node.JsonFuncExpr.pathspec ?? node], [inner, SMALL]), 'JSON_QUERY', node.JsonFuncExpr.location);
    return 'BoolExpr' in node || 'NullTest' in node || 'BooleanTest' in node ? FIXED : inner;
  }

  /** JSON_TABLE evaluates several paths over one document: one for its rows and one for each column. */
  #jsonTable(table: JsonTable, scope: Scope): Size {
    const document = this.#all(table.context_item, scope);
    walk(table, (n) => {
      if ('JsonTablePathSpec' in n) this.#spent.steps(stepsOf('@?', [n, n.JsonTablePathSpec.string ?? n], [document, SMALL]), 'JSON_TABLE', table.location);
      return true;
    });
    return sum([document, this.#all([table.passing, table.columns], scope)]);
  }

  #case({ arg, args = [], defresult, location }: CaseExpr, scope: Scope): Size {
    const compared = arg && this.#size(arg, scope);
    const results = args.map((when) => {
      if (!('CaseWhen' in when)) return SMALL;
      const other = when.CaseWhen.expr && this.#size(when.CaseWhen.expr, scope);
      if (compared && other) this.#spent.steps(freePasses([compared, other]), 'CASE', location);
      return when.CaseWhen.result ? this.#size(when.CaseWhen.result, scope) : SMALL;
    });
    return largest([...results, ...(defresult ? [this.#size(defresult, scope)] : [])]);
  }

  #cast({ arg, typeName, location }: TypeCast, scope: Scope): Size {
    const size = arg ? this.#size(arg, scope) : SMALL;
    const type = lastName(typeName?.names);
    const bytes = bytesOf(size, SEARCHED);
    if (SLOW_TYPES.has(type)) this.#spent.steps(bytes ** 2 / 8, type, location);
    else if (!size.fixed) this.#spent.steps(FREE_TYPES.has(type) ? freePass(size) : onePass(bytes), type, location);
    return (typeName?.arrayBounds?.length ?? 0) > 0 ? sum([size]) : sizeOfCast(type, size);
  }

  #subLink({ subLinkType, testexpr, subselect }: SubLink, scope: Scope): Size {
    if (testexpr) this.#size(testexpr, scope);
    const stmt = subselect && 'SelectStmt' in subselect ? subselect.SelectStmt : undefined;
    const { columns, rows } = stmt ? this.#measured(stmt, scope, scope.ctes) : { columns: new Map<string, Size>(), rows: 1 };
    const [first = SMALL] = columns.values();
    return subLinkType === 'EXPR_SUBLINK' ? first : subLinkType === 'ARRAY_SUBLINK' ? collected('ARRAY', [first], rows) : SMALL;
  }

  #operation({ kind, name, lexpr, rexpr, location }: A_Expr, scope: Scope): Size {
    const left = lexpr ? this.#size(lexpr, scope) : FIXED;
    const right = rexpr ? this.#all(rexpr, scope) : FIXED;
    const symbol = lastName(name);
    if (isArithmetic(symbol) && left.fixed && right.fixed) return FIXED;
    const isLike = kind === 'AEXPR_LIKE' || kind === 'AEXPR_ILIKE';
    const called = isLike ? 'LIKE' : symbol;
    if (isLike || SEARCH_OPERATORS.has(symbol) || (OPERATIONS.has(kind ?? '') && !FREE_OPERATORS.has(symbol))) {
      this.#spent.steps(stepsOf(kind === 'AEXPR_ILIKE' ? '~~*' : isLike ? '~~' : symbol, rexpr ? [rexpr, rexpr] : [], [left, right]), called, location);
    } else this.#spent.steps(countOf(rexpr) * freePass(left) + freePass(right), called, location);
    if (kind === 'AEXPR_NULLIF') return left;
    return isLike ? SMALL : sizeOfOperation(symbol, left, right);
  }

  #call(call: FuncCall, scope: Scope): Size {
    const name = functionName(call);
    const { args = [], location } = call;
    const sizes = args.map((a) => this.#size(a, scope));
    this.#all([call.agg_order, call.agg_filter, call.over], scope);
    const [first = SMALL] = sizes;
    if (!COLLECTING.has(name)) this.#spent.steps(FREE.has(name) ? freePasses(sizes) : stepsOf(name, args, sizes), name, location);
    if (REPEATING.has(name)) {
      const made = sizeOfRepetition(name, first, this.#count(args[1], scope), args[1]);
      if (constant(args[1]) !== undefined) this.#spent.text(made, name, location);
      return made;
    }
    return COLLECTING.has(name) ? collected(name, sizes, rowsOfAggregate(args, scope)) : sizeOfCall(name, args, sizes);
  }

  /** The value of an argument that is a number of characters, if it consists of constants and lengths of texts; otherwise unknown. */
  #count(node: Node | undefined, scope: Scope): Size {
    const number = constant(node);
    if (number !== undefined) return ofBytes(number);
    if (node && 'TypeCast' in node) return this.#count(node.TypeCast.arg, scope);
    if (node && 'FuncCall' in node && LENGTHS.has(functionName(node.FuncCall))) return this.#size(node.FuncCall.args?.[0] ?? node, scope);
    if (!node || !('A_Expr' in node)) return UNKNOWN;
    const { lexpr, rexpr, name } = node.A_Expr;
    const symbol = lastName(name);
    if (symbol === '+') return sum([this.#count(lexpr, scope), this.#count(rexpr, scope)]);
    return symbol === '-' && lexpr && constant(rexpr) !== undefined ? this.#count(lexpr, scope) : UNKNOWN;
  }
}
