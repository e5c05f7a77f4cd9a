/** Measures queries: their blocks, joins and common table expressions. */
import type { CommonTableExpr, JoinExpr, WithClause } from '@pgsql/types';
import { visited } from '../../budget.ts';
import type { Node, SelectStmt } from '../plan/tree.ts';
import { Equalities, SHARED } from './equalities.ts';
import { Expressions } from './expressions.ts';
import { hasFewJoins } from './few-joins.ts';
import { functionsInFrom } from './functions-in-from.ts';
import { columnsOfSets } from './grouping.ts';
import { firstSteps, searched, sizeAfter } from './recursion.ts';
import {
  type Columns,
  columnsOfJoin,
  computed,
  conditionsIn,
  existsIn,
  hasTable,
  isComputed,
  type Measured,
  type Named,
  partOf,
  RECURSION_ROWS,
  readsOuter,
  readsTable,
  renamed,
  rowsOfBoth,
  type Scope,
  type Uses,
  united,
  usesOf,
  WHOLE_TABLE,
  withNamed,
} from './scope.ts';
import { BLOCK, bytesOf, DATA, larger, MAX_SIZE, NOTHING, ONE, type Size, SMALL, withNumbers } from './sizes.ts';
import { JOINS_OF_A_SUB_QUERY, type Spent } from './spent.ts';
import { constant, functionName, SEARCHED } from './steps.ts';
import { UNCOUNTED } from './uncounted.ts';

const A_TABLE = { columns: 'table', rows: 1, arms: 1, joined: 1 } as const;

/** Measures queries. */
export class Effort {
  readonly #longestRows: ReadonlyMap<number, number>;
  readonly #spent: Spent;
  readonly #expressions: Expressions;

  readonly #whole: SelectStmt;
  readonly #hasFewJoins: boolean;
  #uses: ReadonlyMap<string, Uses> | undefined;
  /** The sub-queries of EXISTS that PostgreSQL joins. */
  readonly #joins = new Set<SelectStmt>();

  /** @param isFew true if equal columns need not be counted */
  constructor(whole: SelectStmt, params: readonly (string | null)[], longestRows: ReadonlyMap<number, number>, spent: Spent, isFew = hasFewJoins(whole)) {
    this.#whole = whole;
    this.#hasFewJoins = isFew;
    this.#longestRows = longestRows;
    this.#spent = spent;
    this.#expressions = new Expressions(params, spent, (stmt, scope, isExists = false) => {
      scope.joined += JOINS_OF_A_SUB_QUERY;
      const isJoin = this.#joins.has(stmt);
      const measured = spent.subQuery(isExists && !isJoin ? 2 : 1, isJoin ? scope.arms : 1, () => this.#measured(stmt, scope, scope.ctes, false, isJoin));
      if (isJoin) scope.equal.add('', measured.equal);
      return measured;
    });
  }

  /** Measures a query. @returns the sizes of its columns by name, in order */
  query(stmt: SelectStmt, outer: Scope | undefined, known: ReadonlyMap<string, Named>): Map<string, Size> {
    return this.#measured(stmt, outer, known).columns;
  }

  /** @param isMoved true if references to the columns become their expressions, unless the query computes them itself @param isJoined true if its relations join those around it; `apart`: it does not see them */
  #measured(stmt: SelectStmt, outer: Scope | undefined, known: ReadonlyMap<string, Named>, isMoved = false, isJoined: boolean | 'apart' = isMoved): Measured {
    return this.#spent.nested(() => this.#block(stmt, outer, known, isMoved, isJoined));
  }

  #block(stmt: SelectStmt, outer: Scope | undefined, known: ReadonlyMap<string, Named>, isMoved: boolean, isJoined: boolean | 'apart'): Measured {
    visited(1);
    this.#spent.nodes(BLOCK);
    const ctes = stmt.withClause === undefined ? known : this.#ctes(stmt.withClause, outer, known);
    const most = constant(stmt.limitCount) ?? MAX_SIZE;
    if (stmt.larg && stmt.rarg) {
      const [left, right] = [this.#arm(stmt.larg, outer, ctes, isMoved), this.#arm(stmt.rarg, outer, ctes, isMoved)];
      const columns = united(left.columns, right.columns);
      for (const { joined = 1, equal } of [left, right]) if (joined > 1) this.#spent.joined(joined, equal);
      this.#rest(stmt, { relations: new Map([['', columns]]), ctes, outer, rows: 1, own: 1, arms: 1, joined: 1, equal: UNCOUNTED });
      return { columns, rows: Math.min(most, rowsOfBoth(stmt.larg, left.rows, stmt.rarg, right.rows)), arms: left.arms + right.arms };
    }
    const isCounted = !this.#hasFewJoins && !this.#spent.isPaused;
    const equal = isCounted ? new Equalities(isJoined ? outer?.equal : undefined, stmt.fromClause?.length, isJoined !== 'apart') : UNCOUNTED;
    const scope: Scope = { relations: new Map(), ctes, outer, rows: 1, own: 1, arms: 1, joined: 0, equal };
    const { fromClause = [], targetList = [] } = stmt;
    for (let i = 0; i < fromClause.length; i++) this.#from(fromClause[i] as Node, scope);
    // functions next to a table take values of the table's rows, as in mappings
    const rows = scope.rows === 1 || fromClause.some(hasTable) ? 1 : scope.rows;
    // an aggregate may belong to the outer block
    scope.own = rows;
    scope.rows = Math.max(rows, outer?.rows ?? 1);
    if (stmt.valuesLists) return { columns: this.#values(stmt.valuesLists, scope), rows: stmt.valuesLists.length, arms: 1 };
    const columns = new Map<string, Size>();
    const { pulled, pushed, texts, folds } = this.#spent;
    this.#spent.clause(1, false, () => {
      for (let i = 0; i < targetList.length; i++) {
        const node = targetList[i] as Node;
        if ('ResTarget' in node) this.#target(node.ResTarget.name, node.ResTarget.val, i, scope, columns);
      }
    });
    const isComputing = isComputed(stmt, columns, this.#spent.folds > folds);
    // an expression that moves counts where it is referred to
    const isPart = isMoved && !isComputing;
    const nodes = this.#spent.pulled - pulled;
    Object.assign(this.#spent, isPart ? { pulled, pushed, texts, folds } : { folds });
    // ORDER BY may use names of the select list
    scope.relations.set('', columns);
    this.#rest(stmt, scope);
    if (isPart) this.#spent.moved(nodes);
    else this.#spent.joined(scope.joined, equal);
    return {
      columns,
      rows: Math.min(most, rows),
      arms: scope.arms,
      joined: isPart ? scope.joined : 1,
      equal: isPart || (isJoined && !isComputing) ? equal : undefined,
    };
  }

  /** Measures a query of a union. PostgreSQL has all queries of a union on one level. */
  #arm(stmt: SelectStmt, outer: Scope | undefined, ctes: ReadonlyMap<string, Named>, isMoved: boolean): Measured {
    if (stmt.larg) return this.#block(stmt, outer, ctes, isMoved, isMoved);
    const measured = this.#measured(stmt, outer, ctes, isMoved);
    // it has the expressions of the columns once, also if no block refers to them
    if (isMoved) for (const { copies } of measured.columns.values()) this.#spent.nodes(copies);
    return measured;
  }

  /** The size of a value with the copies of its expression. */
  #copied(value: Node, scope: Scope): Size {
    const spent = this.#spent;
    const { pulled, pushed, texts, folds } = spent;
    const { size, isConstant, number } = this.#expressions.constantIn(value, scope, () => this.#expressions.size(value, scope));
    const after = { ...spent.since({ pulled, pushed, texts }), isConstant, number };
    // PostgreSQL moves no condition on an aggregate further than into HAVING
    return { ...size, copies: spent.folds > folds ? { ...after, pushed: after.pulled } : after };
  }

  /** Measures the clauses after FROM. */
  #rest(stmt: SelectStmt, scope: Scope): void {
    const { whereClause, groupClause, havingClause, windowClause, distinctClause, sortClause } = stmt;
    if (whereClause) this.#conditions(whereClause, scope, true);
    if (havingClause) this.#spent.clause(scope.arms, true, () => this.#expressions.size(havingClause, scope));
    if (groupClause) this.#spent.grouped(columnsOfSets(groupClause));
    if (groupClause || windowClause || distinctClause || sortClause)
      this.#spent.clause(scope.arms, false, () => this.#expressions.all([groupClause, windowClause, distinctClause, sortClause], scope));
    if (stmt.limitCount) this.#expressions.size(stmt.limitCount, scope);
    if (stmt.limitOffset) this.#expressions.size(stmt.limitOffset, scope);
  }

  /** Measures the conditions of a clause. @param joins true if PostgreSQL turns an EXISTS in it into a join */
  #conditions(clause: Node, scope: Scope, joins: boolean): void {
    for (const node of conditionsIn(clause)) {
      for (const query of joins ? existsIn(node) : []) this.#joins.add(query);
      scope.equal.condition(node);
      const { texts } = this.#spent;
      this.#spent.condition(scope.arms, !readsOuter(node, scope), () => this.#expressions.size(node, scope));
      if (this.#spent.texts > texts) this.#spent.equated += this.#spent.texts - texts;
    }
  }

  /** The common table expressions that a query sees: its own, and those of outer queries. */
  #ctes({ ctes = [], recursive = false }: WithClause, outer: Scope | undefined, known: ReadonlyMap<string, Named>): ReadonlyMap<string, Named> {
    const all = new Map(known);
    for (const node of ctes) if ('CommonTableExpr' in node) this.#cte(node.CommonTableExpr, recursive, outer, all);
    return all;
  }

  #cte(cte: CommonTableExpr, isRecursive: boolean, outer: Scope | undefined, ctes: Map<string, Named>): void {
    const stmt = cte.ctequery && 'SelectStmt' in cte.ctequery ? cte.ctequery.SelectStmt : undefined;
    if (!stmt || cte.ctename === undefined) return;
    if (!isRecursive || !stmt.larg || !stmt.rarg) {
      const before = { pulled: this.#spent.pulled, pushed: this.#spent.pushed, texts: this.#spent.texts };
      const isCopied = cte.ctematerialized === 'CTEMaterializeNever';
      const isMoved = isCopied || this.#isInlined(cte);
      const { nesting, measured } = this.#spent.apart(() => this.#measured(stmt, outer, ctes, isMoved, false));
      if (!isMoved) this.#spent.contains(nesting);
      const columns = renamed(isMoved ? measured.columns : computed(measured.columns), cte.aliascolnames);
      const { pushed, texts } = this.#spent.since(before);
      const copies = isCopied ? { pulled: pushed, pushed, texts } : undefined;
      ctes.set(cte.ctename, isMoved ? { ...measured, columns, copies, nesting } : { columns, rows: measured.rows });
      return;
    }
    const first = renamed(this.query(stmt.larg, outer, ctes), cte.aliascolnames);
    const [recursive, names] = [stmt.rarg, [...first.keys()]];
    const steps = this.#spent.paused(() =>
      firstSteps([...first.values()], names, (columns) => united(columns, this.query(recursive, outer, withNamed(ctes, cte.ctename, columns)))),
    );
    const columns = new Map(names.map((name, i) => [name, sizeAfter(steps.map((s) => s[i] ?? SMALL))]));
    for (const [name, size] of searched(cte, [...columns.values()])) columns.set(name, size);
    ctes.set(cte.ctename, { columns: computed(columns), rows: readsTable(recursive) ? 1 : RECURSION_ROWS });
    this.query(recursive, outer, ctes);
  }

  /** True for a query of WITH that PostgreSQL treats as a sub-select, because it is read once. */
  #isInlined({ ctematerialized, ctename = '' }: CommonTableExpr): boolean {
    if (ctematerialized === 'CTEMaterializeAlways') return false;
    this.#uses ??= usesOf(this.#whole);
    const { defined = 0, read = 0 } = this.#uses.get(ctename) ?? {};
    // several queries with a name may be read once each
    return defined > 1 || read <= 1;
  }

  #values(lists: readonly Node[], scope: Scope): Map<string, Size> {
    const columns = new Map<string, Size>();
    for (const list of lists)
      for (const [i, item] of ('List' in list ? (list.List.items ?? []) : []).entries()) {
        const name = `column${i + 1}`;
        const size = this.#copied(item, scope);
        // PostgreSQL repeats no values of several rows
        columns.set(name, lists.length === 1 ? size : { ...larger(columns.get(name) ?? NOTHING, size), copies: ONE });
      }
    return columns;
  }

  #target(name: string | undefined, value: Node | undefined, at: number, scope: Scope, columns: Map<string, Size>): void {
    if (value === undefined) return;
    const fields = 'ColumnRef' in value ? (value.ColumnRef.fields ?? []) : [];
    const last = fields.length > 0 ? partOf(fields.at(-1)) : undefined;
    if (last === '*') {
      for (const [alias, of] of scope.relations)
        if (fields.length === 1 || alias === partOf(fields[0]))
          for (const [column, size] of of === 'table' ? [[WHOLE_TABLE, DATA] as const] : of) {
            columns.set(column, size);
            scope.equal.column(column, column === WHOLE_TABLE ? undefined : { ColumnRef: { fields: [alias, column].map((sval) => ({ String: { sval } })) } });
          }
      return;
    }
    const key = name ?? last ?? ('FuncCall' in value ? functionName(value.FuncCall) : `?${at}`);
    const size = this.#copied(value, scope);
    const unique = columns.has(key) ? `${key}~${at}` : key;
    scope.equal.column(unique, value);
    columns.set(unique, size);
  }

  #from(node: Node, scope: Scope): void {
    if ('RangeVar' in node) {
      const { relname = '', alias, schemaname } = node.RangeVar;
      const cte = schemaname === undefined ? scope.ctes.get(relname) : undefined;
      scope.rows *= cte?.rows ?? 1;
      scope.arms = Math.max(scope.arms, cte?.arms ?? 1);
      scope.joined += cte?.joined ?? 1;
      this.#spent.contains(cte?.nesting);
      this.#spent.nodes(cte?.copies ?? BLOCK);
      this.#relation(scope, alias?.aliasname ?? relname, renamed(cte?.columns ?? 'table', alias?.colnames), cte?.equal, alias?.colnames);
    } else if ('RangeSubselect' in node) {
      const { subquery, alias, lateral } = node.RangeSubselect;
      const stmt = subquery && 'SelectStmt' in subquery ? subquery.SelectStmt : undefined;
      const read = stmt
        ? this.#spent.joinedWith(lateral ? scope.arms : 1, () => this.#measured(stmt, scope, scope.ctes, true, lateral ? true : 'apart'))
        : A_TABLE;
      scope.joined += read.joined ?? 1;
      scope.rows *= read.rows;
      scope.arms = Math.max(scope.arms, read.arms);
      this.#relation(scope, alias?.aliasname ?? '', renamed(read.columns, alias?.colnames), 'equal' in read ? read.equal : undefined);
    } else if ('RangeFunction' in node) {
      const [name, columns] = functionsInFrom(node.RangeFunction, scope, this.#expressions, this.#spent, this.#longestRows);
      this.#relation(scope, name, columns);
    } else if ('JoinExpr' in node) {
      this.#join(node.JoinExpr, scope);
    } else if ('RangeTableSample' in node && node.RangeTableSample.relation) {
      this.#from(node.RangeTableSample.relation, scope);
    } else {
      // JSON_TABLE and the like
      const { alias } = Object.values(node)[0] as { readonly alias?: { readonly aliasname?: string } };
      const size = withNumbers(this.#expressions.all([node], scope), false);
      scope.rows *= bytesOf(size, SEARCHED);
      scope.relations.set(alias?.aliasname ?? '', size.made > 1_000 || size.wild > 0 ? new Map([['', size]]) : 'table');
    }
  }

  #relation({ equal, relations }: Scope, name: string, columns: Columns, inner?: Equalities, given: readonly Node[] = []): void {
    equal.add(name, inner, columns === 'table' ? given.map(partOf) : [...columns.keys()]);
    relations.set(name, columns);
  }

  #join(join: JoinExpr, scope: Scope): void {
    const { larg, rarg, quals, alias, join_using_alias, jointype, usingClause = [], isNatural } = join;
    const { equal, relations } = scope;
    const [before, left] = [new Set(relations.keys()), equal.relations];
    if (larg) this.#from(larg, scope);
    const right = equal.relations;
    if (rarg) this.#from(rarg, scope);
    const last = isNatural ? [...relations.values()].at(-1) : usingClause.map(partOf);
    equal.using(last instanceof Map && !last.has(WHOLE_TABLE) ? [...last.keys()] : Array.isArray(last) ? last : SHARED, left, right);
    const names = [alias?.aliasname, join_using_alias?.aliasname].flatMap((name) => name ?? []);
    equal.alias(names, left, alias?.colnames?.map(partOf));
    for (const name of names) relations.set(name, columnsOfJoin(scope, before));
    if (quals) this.#conditions(quals, scope, jointype === 'JOIN_INNER');
  }
}
