/**
 * The effort of single calls. PostgreSQL looks for an interrupt (a statement timeout, a client that left) between rows, but not within most functions: a call of
 * `translate` over two texts of 300,000 characters runs for minutes, whatever the timeout, and keeps its connection and a processor. This bounds what the calls
 * of a statement may cost for one row, by the sizes that their arguments may have (docs/design/sql-shapes.md#calls-that-postgresql-does-not-interrupt).
 */
import type { A_Expr, CaseExpr, CommonTableExpr, FuncCall, SubLink, TypeCast } from '@pgsql/types';
import { visited } from '../../budget.ts';
import { badRequest } from '../../errors.ts';
import { fieldsOf, type Node, type SelectStmt } from '../tree.ts';
import { FREE, FREE_OPERATORS, FREE_TYPES, GATHER, LENGTHS, PLAIN, SEARCH_OPERATORS, SHORT, SLOW_TYPES } from './functions.ts';
import { hasTable, type Named, RECURSION_ROWS, readsTable, renamed, rowsOfFunction, type Scope, sizeOfColumn, withNamed } from './scope.ts';
import { bytesOf, DATA, FIXED, largest, MOST, ofBytes, repeated, type Size, SMALL, sizeAfter, sizeOfConstant, sum, taken, times, UNKNOWN } from './sizes.ts';
import { callIn, constant, filled, formatted, gathered, MOST_DIGITS, nameOf, onePass, SEARCHED, stepsOf } from './steps.ts';

/** The steps that the calls of a statement may take for one row: up to some 4 seconds on PostgreSQL 15. */
const MOST_STEPS = 2e9;
/** The bytes that `repeat`, `lpad` and `rpad` with constant lengths may make: PostgreSQL computes them while it plans, and keeps them all. */
const MOST_BYTES = 64e6;

/** Functions that write values as JSON. */
const JSON_BUILDERS = /^(jsonb?_build_(array|object)|to_jsonb?|row_to_json|array_to_json)$/;
/** The kinds of expressions that call an operator. */
const OPERATIONS: ReadonlySet<string> = new Set(['AEXPR_OP', 'AEXPR_OP_ANY', 'AEXPR_OP_ALL']);

/**
 * Bounds the effort of the calls in a finished statement.
 * @param params the values of its parameters
 * @throws SvcError 400 `too_complex` with the location of the call
 */
export function requireInterruptible(
  query: SelectStmt,
  params: readonly (string | null)[],
  offsetOf: (location: number | undefined) => number | undefined,
): void {
  new Effort(params, offsetOf).query(query, undefined, new Map());
}

class Effort {
  readonly #params: readonly (string | null)[];
  readonly #offsetOf: (location: number | undefined) => number | undefined;
  #spent = 0;
  #bytes = 0;
  /** Above 0, sizes are measured only. */
  #dry = 0;

  constructor(params: readonly (string | null)[], offsetOf: (location: number | undefined) => number | undefined) {
    this.#params = params;
    this.#offsetOf = offsetOf;
  }

  /** Measures a query. @returns the sizes of its columns, in order, by name */
  query(stmt: SelectStmt, outer: Scope | undefined, known: ReadonlyMap<string, Named>): Map<string, Size> {
    return this.#measured(stmt, outer, known).columns;
  }

  /** The same with the number of rows that it makes of each row of the tables that it reads. */
  #measured(stmt: SelectStmt, outer: Scope | undefined, known: ReadonlyMap<string, Named>): { columns: Map<string, Size>; rows: number } {
    visited(1);
    const ctes = new Map(known);
    for (const node of stmt.withClause?.ctes ?? [])
      if ('CommonTableExpr' in node) this.#cte(node.CommonTableExpr, stmt.withClause?.recursive === true, outer, ctes);
    const most = constant(stmt.limitCount) ?? MOST;
    if (stmt.larg && stmt.rarg) {
      const [left, right] = [this.#measured(stmt.larg, outer, ctes), this.#measured(stmt.rarg, outer, ctes)];
      const others = [...right.columns.values()];
      const columns = new Map([...left.columns].map(([name, size], i) => [name, largest([size, others[i] ?? size])]));
      this.#all([stmt.sortClause, stmt.limitCount, stmt.limitOffset], { relations: new Map([['', columns]]), ctes, outer, rows: 1 });
      return { columns, rows: Math.min(most, left.rows + right.rows) };
    }
    const scope: Scope = { relations: new Map(), ctes, outer, rows: 1 };
    for (const node of stmt.fromClause ?? []) this.#from(node, scope);
    // functions next to a table take values of its rows: the rows of a mapping
    const rows = (stmt.fromClause ?? []).some(hasTable) ? 1 : scope.rows;
    // an aggregate may belong to the block around it
    scope.rows = Math.max(rows, outer?.rows ?? 1);
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
    const [again, names] = [stmt.rarg, [...first.keys()]];
    const steps = this.#unspent(() => this.#steps([...first.values()], names, (columns) => this.query(again, outer, withNamed(ctes, cte.ctename, columns))));
    const columns = new Map(names.map((name, i) => [name, sizeAfter(steps.map((s) => s[i] ?? SMALL))]));
    // the columns of SEARCH and CYCLE
    const { search_seq_column, cycle_mark_column, cycle_path_column } = { ...cte.search_clause, ...cte.cycle_clause };
    for (const name of [search_seq_column, cycle_path_column]) if (name !== undefined) columns.set(name, DATA);
    if (cycle_mark_column !== undefined) columns.set(cycle_mark_column, FIXED);
    ctes.set(cte.ctename, { columns, rows: readsTable(again) ? 1 : RECURSION_ROWS });
    this.query(again, outer, ctes);
  }

  /** The sizes of the columns of a recursive query in its first steps: enough of them that growth which passes through all columns shows twice. */
  #steps(first: readonly Size[], names: readonly string[], next: (columns: ReadonlyMap<string, Size>) => ReadonlyMap<string, Size>): (readonly Size[])[] {
    const steps = [first];
    for (let i = 0; i < 2 * names.length + 2; i++) {
      const before = steps.at(-1) as readonly Size[];
      const after = [...next(new Map(names.map((name, n) => [name, before[n] ?? SMALL]))).values()];
      // the first term decides the types
      steps.push(before.map((size, n) => (size.fixed ? size : largest([size, after[n] ?? size]))));
      if (before.every((size, n) => size.made === steps.at(-1)?.[n]?.made && size.data === steps.at(-1)?.[n]?.data)) break;
    }
    return steps;
  }

  /** Measures sizes only. */
  #unspent<T>(measure: () => T): T {
    this.#dry++;
    try {
      return measure();
    } finally {
      this.#dry--;
    }
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
          for (const [column, size] of of === 'table' ? [[`~${at}`, DATA] as const] : of) columns.set(column, size);
      return;
    }
    const key = name ?? fields.at(-1) ?? ('FuncCall' in value ? nameOf(value.FuncCall) : `?${at}`);
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
      // SQL that the planner has printed before: the rows of a mapping
      const { columns, rows } = stmt ? this.#measured(stmt, scope, scope.ctes) : { columns: 'table' as const, rows: 1 };
      scope.rows *= rows;
      scope.relations.set(alias?.aliasname ?? '', renamed(columns, alias?.colnames));
    } else if ('RangeFunction' in node) {
      const { functions = [], alias, coldeflist } = node.RangeFunction;
      const size = sum(functions.map((f) => this.#size(f, scope)));
      scope.rows *= Math.max(...functions.map((f) => rowsOfFunction(callIn(f), size)));
      const names = [...(alias?.colnames ?? []), ...(coldeflist ?? [])].map((n) =>
        'String' in n ? (n.String.sval ?? '') : 'ColumnDef' in n ? (n.ColumnDef.colname ?? '') : '',
      );
      const known = new Map([...names, 'key', 'value', 'ordinality', alias?.aliasname ?? ''].map((n) => [n, size]));
      for (const f of functions) for (const name of functionNames(f)) known.set(name, size);
      scope.relations.set(alias?.aliasname ?? functions.flatMap(functionNames)[0] ?? '', known);
    } else if ('JoinExpr' in node) {
      const { larg, rarg, quals, alias, join_using_alias } = node.JoinExpr;
      const before = new Set(scope.relations.keys());
      if (larg) this.#from(larg, scope);
      if (rarg) this.#from(rarg, scope);
      for (const name of [alias?.aliasname, join_using_alias?.aliasname]) {
        if (name === undefined) continue;
        const inner = [...scope.relations].filter(([name]) => !before.has(name)).map(([, of]) => of);
        scope.relations.set(name, inner.includes('table') ? 'table' : new Map(inner.flatMap((of) => (of === 'table' ? [] : [...of]))));
      }
      this.#all([quals], scope);
    } else if ('RangeTableSample' in node && node.RangeTableSample.relation) {
      this.#from(node.RangeTableSample.relation, scope);
    } else {
      // JSON_TABLE and its like
      const { alias } = Object.values(node)[0] as { readonly alias?: { readonly aliasname?: string } };
      const size = this.#all([node], scope);
      scope.rows *= bytesOf(size, SEARCHED);
      scope.relations.set(alias?.aliasname ?? '', size.made > 1_000 ? new Map([['', size]]) : 'table');
    }
  }

  /** Measures all nodes of a value. */
  #all(value: unknown, scope: Scope): Size {
    if (value === null || typeof value !== 'object') return ofBytes(0);
    if (Array.isArray(value)) return sum(value.map((v) => this.#all(v, scope)));
    const [kind, ...more] = Object.keys(value);
    if (kind !== undefined && more.length === 0 && /^[A-Z]/.test(kind)) return this.#size(value as Node, scope);
    return sum(Object.values(value).map((v) => this.#all(v, scope)));
  }

  #size(node: Node, scope: Scope): Size {
    visited(1);
    // SQL over the tables of a mapping, which the planner has printed before
    if ('Fragment' in node) return DATA;
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
    if ('MinMaxExpr' in node) return largest((node.MinMaxExpr.args ?? []).map((a) => this.#size(a, scope)));
    const inner = this.#all(Object.values(node)[0], scope);
    if ('JsonFuncExpr' in node)
      this.#spend(stepsOf('@?', [node, node.JsonFuncExpr.pathspec ?? node], [inner, SMALL]), 'JSON_QUERY', node.JsonFuncExpr.location);
    return 'BoolExpr' in node || 'NullTest' in node || 'BooleanTest' in node ? FIXED : inner;
  }

  #case({ arg, args = [], defresult }: CaseExpr, scope: Scope): Size {
    if (arg) this.#size(arg, scope);
    const results = args.map((when) => {
      if (!('CaseWhen' in when)) return SMALL;
      if (when.CaseWhen.expr) this.#size(when.CaseWhen.expr, scope);
      return when.CaseWhen.result ? this.#size(when.CaseWhen.result, scope) : SMALL;
    });
    return largest([...results, ...(defresult ? [this.#size(defresult, scope)] : [])]);
  }

  #cast({ arg, typeName, location }: TypeCast, scope: Scope): Size {
    const size = arg ? this.#size(arg, scope) : SMALL;
    const last = typeName?.names?.at(-1);
    const type = last && 'String' in last ? (last.String.sval ?? '') : '';
    const bytes = bytesOf(size, SEARCHED);
    if (SLOW_TYPES.has(type)) this.#spend(bytes ** 2 / 8, type, location);
    else if (!FREE_TYPES.has(type) && !size.fixed) this.#spend(onePass(bytes), type, location);
    if ((typeName?.arrayBounds?.length ?? 0) > 0) return size;
    if (/^(u?int\d|float\d|bool|date|time|timetz|timestamp|timestamptz|interval|uuid|money|oid)$/.test(type)) return FIXED;
    return type === 'numeric' ? { made: Math.min(size.made, MOST_DIGITS), data: size.data } : size;
  }

  #subLink({ subLinkType, testexpr, subselect }: SubLink, scope: Scope): Size {
    if (testexpr) this.#size(testexpr, scope);
    const stmt = subselect && 'SelectStmt' in subselect ? subselect.SelectStmt : undefined;
    const { columns, rows } = stmt ? this.#measured(stmt, scope, scope.ctes) : { columns: new Map<string, Size>(), rows: 1 };
    const [first = SMALL] = columns.values();
    if (subLinkType === 'EXPR_SUBLINK') return first;
    return subLinkType === 'ARRAY_SUBLINK' ? gathered([first], rows) : SMALL;
  }

  #operation({ kind, name, lexpr, rexpr, location }: A_Expr, scope: Scope): Size {
    const left = lexpr ? this.#size(lexpr, scope) : FIXED;
    const right = rexpr ? this.#all(rexpr, scope) : FIXED;
    const last = name?.at(-1);
    const symbol = last && 'String' in last ? (last.String.sval ?? '') : '';
    if (left.fixed && right.fixed && /^[-+*/%&|#^]$|^<<$|^>>$/.test(symbol)) return FIXED;
    const isLike = kind === 'AEXPR_LIKE' || kind === 'AEXPR_ILIKE';
    const called = isLike ? 'LIKE' : symbol;
    if (isLike || SEARCH_OPERATORS.has(symbol) || (OPERATIONS.has(kind ?? '') && !FREE_OPERATORS.has(symbol))) {
      this.#spend(stepsOf(isLike ? '~~' : symbol, rexpr ? [rexpr, rexpr] : [], [left, right]), called, location);
    }
    if (kind === 'AEXPR_NULLIF') return left;
    if (isLike || /^(=|<>|!=|<|>|<=|>=|~|~\*|!~|!~\*|~~|!~~|~~\*|!~~\*|@>|<@|&&|\?|\?\||\?&|@\?|@@)$/.test(symbol)) return SMALL;
    return symbol.startsWith('-') || symbol.startsWith('#') ? (symbol === '-' ? sum([left, right]) : left) : sum([left, right]);
  }

  #call(call: FuncCall, scope: Scope): Size {
    const name = nameOf(call);
    const { args = [], location } = call;
    const sizes = args.map((a) => this.#size(a, scope));
    this.#all([call.agg_order, call.agg_filter, call.over], scope);
    const [first = SMALL, , third = SMALL] = sizes;
    if (!FREE.has(name) && !GATHER.has(name)) this.#spend(stepsOf(name, args, sizes), name, location);
    if (name === 'repeat') return this.#made(repeated(first, this.#count(args[1], scope)), name, location, constant(args[1]) !== undefined);
    if (name === 'lpad' || name === 'rpad') return this.#made(times(this.#count(args[1], scope), 4), name, location, constant(args[1]) !== undefined);
    if (name === 'replace' || name === 'regexp_replace' || name === 'translate')
      return name === 'translate' ? times(first, 4) : sum([first, bytesOf(third, SEARCHED) <= 1 ? SMALL : taken(third, bytesOf(first, SEARCHED))]);
    if (name === 'format') return formatted(args[0], sizes);
    if (GATHER.has(name)) return gathered(sizes, scope.rows);
    if (name === 'array_fill') return filled(first, args[1]);
    if (SHORT.has(name)) return SMALL;
    if (PLAIN.has(name)) return sum(sizes);
    // escapes make JSON longer, usually by little
    return sum([SMALL, times(sum(sizes), JSON_BUILDERS.test(name) ? 2 : 6)]);
  }

  /** A number of characters, as far as it is one of constants and of lengths of texts. */
  #count(node: Node | undefined, scope: Scope): Size {
    const number = constant(node);
    if (number !== undefined) return ofBytes(number);
    if (node && 'TypeCast' in node) return this.#count(node.TypeCast.arg, scope);
    if (node && 'FuncCall' in node && LENGTHS.has(nameOf(node.FuncCall))) return this.#size(node.FuncCall.args?.[0] ?? node, scope);
    if (!node || !('A_Expr' in node)) return UNKNOWN;
    const { lexpr, rexpr, name } = node.A_Expr;
    const last = name?.at(-1);
    const symbol = last && 'String' in last ? last.String.sval : '';
    if (symbol === '+') return sum([this.#count(lexpr, scope), this.#count(rexpr, scope)]);
    return symbol === '-' && lexpr && constant(rexpr) !== undefined ? this.#count(lexpr, scope) : UNKNOWN;
  }

  #made(size: Size, name: string, location: number | undefined, isConstant: boolean): Size {
    if (isConstant && size.made > 10_000 && this.#dry === 0) {
      this.#bytes += size.made;
      if (this.#bytes > MOST_BYTES)
        throw this.#tooMuch(`${called(name, location)} makes too long a text: all together make more than ${MOST_BYTES / 1e6} MB`, location);
    }
    return size;
  }

  #spend(steps: number, name: string, location: number | undefined): void {
    if (this.#dry > 0) return;
    this.#spent += steps;
    if (this.#spent > MOST_STEPS) throw this.#tooMuch(`${called(name, location)} may take too long: PostgreSQL cannot interrupt it`, location);
  }

  #tooMuch(message: string, location: number | undefined): Error {
    return badRequest('too_complex', message, {
      hint: 'Use shorter texts, and constants for what is searched for',
      offset: location === undefined ? undefined : this.#offsetOf(location),
    });
  }
}

/** A call in a message: by name where it is in the text of the request. */
const called = (name: string, location: number | undefined): string => (location === undefined ? 'a call' : `the call of \`${name}\``);

/** The names of functions in FROM. */
function functionNames(node: Node): readonly string[] {
  if ('FuncCall' in node) return [nameOf(node.FuncCall)];
  return 'List' in node ? (node.List.items ?? []).flatMap(functionNames) : [];
}
