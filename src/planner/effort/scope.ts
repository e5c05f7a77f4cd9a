/** The scopes of queries while their effort is measured: relations, and the sizes of their columns. */
import type { ColumnRef, FuncCall, RangeFunction } from '@pgsql/types';
import { fieldsOf, lastName, type Node, nameOf, type SelectStmt, walk } from '../plan/tree.ts';
import type { Equalities } from './equalities.ts';
import { bytesOf, type Copies, DATA, larger, largest, ONE, ofBytes, retyped, type Size, sizeOfRow, UNKNOWN, withMarks } from './sizes.ts';
import type { Nesting } from './spent.ts';
import { callIn, functionNames } from './steps.ts';
import { wholeNumber } from './texts.ts';

/** The sizes of the columns of a relation in FROM, by name; `table`: values of a table. */
export type Columns = ReadonlyMap<string, Size> | 'table';

/** The name of all columns of a table that a query selects with a star. */
export const WHOLE_TABLE = '*';

/** A query of WITH. `rows`: the number of rows that it returns for each row of the tables that it reads. */
export interface Named {
  readonly columns: Columns;
  readonly rows: number;
  /** What PostgreSQL makes for each reference to a query that it does not materialize; otherwise undefined. */
  readonly copies?: Copies | undefined;
  /** The queries of the unions in it, into which conditions move; undefined: 1. */
  readonly arms?: number;
  /** The relations that it joins in the block that reads it; undefined: 1. */
  readonly joined?: number;
  /** The queries in it, if PostgreSQL puts them in the place of each reference. */
  readonly nesting?: Nesting;
  /** The relations in it, if PostgreSQL moves them to each reference. */
  readonly equal?: Equalities | undefined;
}

/** The sizes of a query's columns by name, in order. `rows`: the number of rows that it returns for each row of the tables that it reads. */
export interface Measured {
  readonly columns: Map<string, Size>;
  readonly rows: number;
  /** The queries of the unions in it, into which conditions move. */
  readonly arms: number;
  /** The relations that it joins in the block that reads it; undefined: 1. */
  readonly joined?: number;
  /** The relations that PostgreSQL moves into the block that reads it. */
  readonly equal?: Equalities | undefined;
}

/** The relations and common table expressions of a query. */
export interface Scope {
  readonly relations: Map<string, Columns>;
  readonly ctes: ReadonlyMap<string, Named>;
  readonly outer: Scope | undefined;
  /** The number of rows of FROM for each row of the tables that it reads. 1: it reads only tables, so aggregates collect values of tables. */
  rows: number;
  /** The same without the outer blocks, for an aggregate of a column of this block. */
  own: number;
  /** The queries of the largest union in FROM. */
  arms: number;
  /** The relations of FROM, with those of the queries that PostgreSQL moves into it. */
  joined: number;
  /** The same relations with their equal columns. */
  readonly equal: Equalities;
}

/** The number of rows that an aggregate takes: those of the block, unless it may belong to an outer block because no argument is a column of this one. */
export function rowsOfAggregate(args: readonly Node[], scope: Scope): number {
  let isOwn = false;
  walk(args, (n) => {
    const fields = 'ColumnRef' in n ? fieldsOf(n.ColumnRef) : [];
    if (fields.length > 1 && scope.relations.has(fields[0] as string)) isOwn = true;
    return !('SubLink' in n);
  });
  return isOwn ? scope.own : scope.rows;
}

/** The common table expressions with a recursive query whose columns have these sizes. */
export const withNamed = (ctes: ReadonlyMap<string, Named>, name: string | undefined, columns: ReadonlyMap<string, Size>): ReadonlyMap<string, Named> =>
  name === undefined ? ctes : new Map(ctes).set(name, { columns, rows: RECURSION_ROWS });

/** The rows that a recursion returns before it times out. */
export const RECURSION_ROWS = 100_000;
/** The rows of generate_series if its bounds are constant, but no integers; and if they are not constant. */
const SERIES_ROWS = 10_000;
const ANY_ROWS = 100_000;

/** The number of rows that a function in FROM returns. @param size the size of its arguments */
export function rowsOfFunction(call: FuncCall | undefined, size: Size): number {
  const name = lastName(call?.funcname).toLowerCase();
  if (name === 'unnest' && size.count !== undefined) return size.count;
  if (name !== 'generate_series' && name !== 'generate_subscripts') return Math.max(1, bytesOf(size, 1_000));
  const bounds = (call?.args ?? []).map(wholeNumberOf);
  const [from, to, step = 1] = bounds;
  if (bounds.every((b) => b !== undefined)) return Math.max(1, Math.abs((to ?? 0) - (from ?? 0)) / Math.max(1, Math.abs(step)) + 1);
  return (call?.args ?? []).every(isConstantLike) ? SERIES_ROWS : ANY_ROWS;
}

/** The columns of functions in FROM, each with the size `value`: those that the alias names, and the names that PostgreSQL gives columns without an alias. */
export function columnsOfFunctions({ functions = [], alias, coldeflist = [] }: RangeFunction, value: Size): Map<string, Size> {
  const columns = new Map<string, Size>();
  for (const name of alias?.colnames ?? []) columns.set(nameOf(name) ?? '', value);
  for (const n of coldeflist) columns.set('ColumnDef' in n ? (n.ColumnDef.colname ?? '') : '', value);
  columns.set('key', value).set('value', value).set('ordinality', value);
  columns.set(alias?.aliasname ?? '', value);
  for (const f of functions) for (const name of functionNames(f)) columns.set(name, value);
  return columns;
}

/** The columns of a join with an alias: those of the relations that are not in `before`. */
export function columnsOfJoin({ relations }: Scope, before: ReadonlySet<string>): Columns {
  const inner = [...relations].filter(([name]) => !before.has(name)).map(([, of]) => of);
  return inner.includes('table') ? 'table' : new Map(inner.flatMap((of) => (of === 'table' ? [] : [...of])));
}

function wholeNumberOf(node: Node | undefined): number | undefined {
  if (node && 'TypeCast' in node) return wholeNumberOf(node.TypeCast.arg);
  if (node && 'A_Expr' in node && node.A_Expr.lexpr === undefined) {
    const positive = wholeNumberOf(node.A_Expr.rexpr);
    return positive === undefined ? undefined : -positive;
  }
  return node && 'A_Const' in node ? wholeNumber(node.A_Const) : undefined;
}

const isConstantLike = (node: Node): boolean => ('TypeCast' in node ? node.TypeCast.arg !== undefined && isConstantLike(node.TypeCast.arg) : 'A_Const' in node);

/** True if an item of FROM is a table of the datasource, or a join with one. */
export const hasTable = (node: Node): boolean =>
  ('RangeVar' in node && node.RangeVar.schemaname !== undefined) ||
  ('JoinExpr' in node && [node.JoinExpr.larg, node.JoinExpr.rarg].some((n) => n !== undefined && hasTable(n)));

/** True if a query reads a table of the datasource, directly or in a sub-query. */
export function readsTable(query: SelectStmt): boolean {
  let found = false;
  walk(query.fromClause, (n) => {
    if ('RangeVar' in n && n.RangeVar.schemaname !== undefined) found = true;
    return !found;
  });
  return found;
}

/** The rows of a set operation for each row of the tables that it reads. The mappings of a concept are a union of queries over tables: together one row for each row. */
export function rowsOfBoth(left: SelectStmt, leftRows: number, right: SelectStmt, rightRows: number): number {
  const ofTables = leftRows <= 1 && rightRows <= 1 && readsTable(right) && (left.larg !== undefined || readsTable(left));
  return ofTables ? 1 : leftRows + rightRows;
}

/** The size of the column that a reference means. */
export function sizeOfColumn({ fields = [] }: ColumnRef, scope: Scope): Size {
  const first = partOf(fields[0]);
  const second = fields.length > 1 ? partOf(fields[1]) : undefined;
  for (let at: Scope | undefined = scope; at !== undefined; at = at.outer) {
    const relation = at.relations.get(first);
    if (second !== undefined && relation !== undefined)
      return relation === 'table' ? DATA : (relation.get(second) ?? relation.get(WHOLE_TABLE) ?? sizeOfRow([...relation.values()]));
    if (second !== undefined) continue;
    const found = sizeOfName(first, at);
    if (found !== undefined) return found;
    if (relation !== undefined) return relation === 'table' ? DATA : sizeOfRow([...relation.values()]);
    for (const of of at.relations.values()) if (of === 'table') return DATA;
  }
  return UNKNOWN;
}

/** The name of a part of a reference; `*` for a star, '' for a missing part. */
export const partOf = (field: Node | undefined): string => (field === undefined ? '' : (nameOf(field) ?? '*'));

/** The size of a column with an unqualified name; undefined if no relation is known to have it. */
function sizeOfName(name: string, { relations }: Scope): Size | undefined {
  // several relations have it if a join has merged it (USING): its value is that of any of them
  let found: Size | undefined;
  for (const of of relations.values()) {
    const size = of === 'table' ? undefined : of.get(name);
    if (size !== undefined) found = found === undefined ? size : larger(found, size);
  }
  if (found !== undefined) return found;
  for (const of of relations.values()) {
    const size = of === 'table' ? undefined : of.get(WHOLE_TABLE);
    if (size !== undefined) return size;
  }
  return undefined;
}

/** Columns with the names of an alias's column list. */
export function renamed<T extends Columns>(columns: T, names: readonly Node[] | undefined): T | Map<string, Size> {
  if (columns === 'table' || names === undefined || names.length === 0) return columns;
  const list = [...(columns as ReadonlyMap<string, Size>)];
  if (columns.has(WHOLE_TABLE)) return new Map([...names.map((given) => [nameOf(given) ?? '', retyped(largest([...columns.values()]))] as const), ...list]);
  return new Map(list.map(([name, size], i) => [nameOf(names[i]) ?? name, size]));
}

/** The columns of a set operation, with the names of its first query. */
export function united(first: ReadonlyMap<string, Size>, second: ReadonlyMap<string, Size>): Map<string, Size> {
  const columns = new Map<string, Size>();
  // the number of columns of a star is unknown
  const any = first.has(WHOLE_TABLE) || second.has(WHOLE_TABLE) ? largest([...second.values()]) : undefined;
  const others = second.values();
  for (const [name, size] of first) columns.set(name, largest([size, any ?? others.next().value ?? size]));
  return columns;
}

/** Columns that PostgreSQL computes once. */
export const computed = (columns: ReadonlyMap<string, Size>): Map<string, Size> =>
  new Map([...columns].map(([name, size]) => [name, { ...size, copies: ONE }]));

/** The size of a row of a system table, whose rows are one parameter of a function in FROM; undefined for other functions. */
export function rowOfSystemTable([first]: readonly Node[], longestRows: ReadonlyMap<number, number>): Size | undefined {
  const [arg] = (first && callIn(first)?.args) ?? [];
  const bare = arg && 'TypeCast' in arg ? arg.TypeCast.arg : arg;
  const longest = bare && 'ParamRef' in bare ? longestRows.get(bare.ParamRef.number ?? 0) : undefined;
  return longest === undefined ? undefined : withMarks(ofBytes(2 * longest), 0, true);
}

/** How often queries of WITH are defined and read under a name. */
export interface Uses {
  readonly defined: number;
  readonly read: number;
}

/** The names of the queries of WITH in a statement. */
export function usesOf(query: SelectStmt): Map<string, Uses> {
  const all = new Map<string, Uses>();
  walk(query, (n) => {
    const name = 'CommonTableExpr' in n ? n.CommonTableExpr.ctename : 'RangeVar' in n && n.RangeVar.schemaname === undefined ? n.RangeVar.relname : undefined;
    if (name === undefined) return true;
    const { defined, read } = all.get(name) ?? { defined: 0, read: 0 };
    all.set(name, 'CommonTableExpr' in n ? { defined: defined + 1, read } : { defined, read: read + 1 });
    return true;
  });
  return all;
}

/** The conditions that AND joins. */
export const conditionsIn = (clause: Node): readonly Node[] =>
  'BoolExpr' in clause && clause.BoolExpr.boolop === 'AND_EXPR' ? (clause.BoolExpr.args ?? []).flatMap(conditionsIn) : [clause];

/** The sub-query of EXISTS or NOT EXISTS, if PostgreSQL may turn this condition into a join. */
export function existsIn(condition: Node): readonly SelectStmt[] {
  const [inner = condition] = 'BoolExpr' in condition && condition.BoolExpr.boolop === 'NOT_EXPR' ? (condition.BoolExpr.args ?? []) : [];
  const { subLinkType, subselect } = 'SubLink' in inner ? inner.SubLink : {};
  const stmt = subLinkType === 'EXISTS_SUBLINK' && subselect && 'SelectStmt' in subselect ? subselect.SelectStmt : undefined;
  return stmt === undefined || stmt.withClause ? [] : [stmt];
}

/** True if a condition may read relations of an outer block, except in its sub-queries. */
export function readsOuter(condition: Node, { relations, outer }: Scope): boolean {
  let reads = false;
  walk(outer && condition, (n) => {
    const [first = '', second] = 'ColumnRef' in n ? fieldsOf(n.ColumnRef) : [];
    if (first !== '' && !relations.has(first)) reads ||= second !== undefined || ![...relations.values()].some((of) => of !== 'table' && of.has(first));
    return !('SubLink' in n);
  });
  return reads;
}

/** Notes which columns PostgreSQL computes in a block. @returns false if it moves their expressions to where outer blocks refer to them */
export function isComputed(
  { limitCount, limitOffset, distinctClause, groupClause, havingClause }: SelectStmt,
  columns: Map<string, Size>,
  isFolding: boolean,
): boolean {
  const isLimited = limitCount !== undefined || limitOffset !== undefined;
  if (!isLimited && !isFolding && !distinctClause && !groupClause && !havingClause) return false;
  for (const [name, size] of columns) columns.set(name, { ...size, copies: isLimited ? ONE : { ...size.copies, pulled: 1 } });
  return true;
}
