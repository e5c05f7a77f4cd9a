/**
 * Comparisons of WHERE with constants on the far side of a join, repeated where that side reads a distributed table (docs/design/sql-shapes.md#where-a-datasource-has-its-tables).
 * If the tables of a join are not together, Citus collects one side of it, as it is written.
 */
import { visited } from '../../budget.ts';
import { COMPARISONS } from '../facts/total.ts';
import { and, clone, conjuncts, fieldsOf, isSame, lastName, type Node, namesOf, type SelectStmt } from '../plan/tree.ts';
import { blocksOf, starOf } from './correlated.ts';
import { isPlain } from './refused.ts';

type IsSent = (schema: string, table: string) => boolean;

/** A comparison of a column with constants, which no NULL meets. */
interface Filter {
  readonly column: readonly [item: string, name: string];
  /** The column, as it is compared. */
  readonly compared: Node;
  /** The same comparison of another value. */
  readonly on: (value: Node) => Node;
  /** True if it means the same for texts of any collation. */
  readonly isForTexts: boolean;
  /** True if it gives the column one value. */
  readonly isEqual: boolean;
}

/**
 * Repeats comparisons at the far tables of the joins of a statement (in place). Each comparison remains where it was.
 * @param isSent whether they are needed at a table
 * @param isExact whether no text may have a nondeterministic collation
 * @param everywhere also at tables that are no far side of a join
 * @returns the comparisons that all values of their columns meet by now, except NULL, and that nothing else is derived from
 */
export function sendFilters(statement: SelectStmt, isSent: IsSent, isExact: boolean, everywhere = false): readonly Repeated[] {
  const repeated: Repeated[] = [];
  const run: Run = { isSent, added: new Map(), equated: new Map() };
  for (const block of blocksOf(statement)) {
    if (block.fromClause === undefined) continue;
    for (const condition of conjuncts(block.whereClause)) {
      const filter = filterOf(condition, isExact);
      if (!filter) continue;
      const isMet = send(block.fromClause, filter, everywhere, run);
      if (isMet && !equates(block.whereClause, filter, run)) repeated.push({ block, condition, filter });
    }
  }
  for (const [query, conditions] of run.added) query.whereClause = and([...conjuncts(query.whereClause), ...conditions]) as Node;
  return repeated;
}

/** What is known while the filters of a statement are sent. */
interface Run {
  readonly isSent: IsSent;
  /** The conditions that queries get: a WHERE may get thousands. */
  readonly added: Map<SelectStmt, Node[]>;
  /** The columns that conditions equate with another column, as JSON. */
  readonly equated: Map<Node, ReadonlySet<string>>;
}

/** A comparison in WHERE of a block that is repeated for all values of its column. */
export interface Repeated {
  readonly block: SelectStmt;
  readonly condition: Node;
  readonly filter: Filter;
}

/**
 * Replaces repeated comparisons by one with NULL (in place), which only the rows of an outer join without a partner do not meet. PostgreSQL takes both comparisons for
 * independent of each other, and so the rows that Citus has collected for much fewer than they are.
 */
export function dropRepeated(repeated: readonly Repeated[]): void {
  for (const [block, found] of Map.groupBy(repeated, (r) => r.block)) {
    const filters = new Map(found.map(({ condition, filter }) => [condition, filter]));
    const columns = new Set<string>();
    const conditions = conjuncts(block.whereClause).flatMap((condition) => {
      const filter = filters.get(condition);
      if (!filter) return [condition];
      const key = JSON.stringify(filter.column);
      if (columns.has(key)) return [];
      columns.add(key);
      return [isNotNull(filter.compared)];
    });
    block.whereClause = and(conditions) as Node;
  }
}

/** Not IS NOT NULL, which a row with a NULL in it does not meet. */
const isNotNull = (value: Node): Node => ({
  A_Expr: { kind: 'AEXPR_DISTINCT', name: [{ String: { sval: '=' } }], lexpr: clone(value), rexpr: { A_Const: { isnull: true } } },
});

/** True for a comparison of a column, with or without casts, with constants. */
export function comparesColumn(condition: Node): boolean {
  if (!('A_Expr' in condition)) return false;
  const { kind, name, lexpr, rexpr } = condition.A_Expr;
  const values = rexpr && 'List' in rexpr ? (rexpr.List.items ?? []) : rexpr ? [rexpr] : [];
  if (!lexpr || values.length === 0) return false;
  if (kind === 'AEXPR_OP' && COMPARISONS.has(lastName(name)))
    return (isColumn(lexpr) && values.every(isConstant)) || (isConstant(lexpr) && values.every(isColumn));
  return (kind === 'AEXPR_BETWEEN' || kind === 'AEXPR_IN') && isColumn(lexpr) && values.every(isConstant);
}

function filterOf(condition: Node, isExact: boolean): Filter | undefined {
  if (!('A_Expr' in condition)) return undefined;
  const expr = condition.A_Expr;
  const { kind, name, lexpr, rexpr } = expr;
  if (!lexpr || !rexpr) return undefined;
  const [left, right] = [columnOf(lexpr), columnOf(rexpr)];
  // of an order, collations decide
  const isForTexts = isExact && kind !== 'AEXPR_BETWEEN' && ['=', '<>'].includes(lastName(name));
  if (kind === 'AEXPR_OP' && COMPARISONS.has(lastName(name))) {
    const isEqual = lastName(name) === '=';
    if (left && isConstant(rexpr)) return { column: left, compared: lexpr, on: (value) => ({ A_Expr: { ...clone(expr), lexpr: value } }), isForTexts, isEqual };
    return right && isConstant(lexpr)
      ? { column: right, compared: rexpr, on: (value) => ({ A_Expr: { ...clone(expr), rexpr: value } }), isForTexts, isEqual }
      : undefined;
  }
  if (kind !== 'AEXPR_BETWEEN' && !(kind === 'AEXPR_IN' && lastName(name) === '=')) return undefined;
  const values = 'List' in rexpr ? (rexpr.List.items ?? []) : [];
  // PostgreSQL takes IN with one value for an equality
  const isEqual = kind === 'AEXPR_IN' && values.length === 1;
  return left && values.length > 0 && values.every(isConstant)
    ? { column: left, compared: lexpr, on: (value) => ({ A_Expr: { ...clone(expr), lexpr: value } }), isForTexts, isEqual }
    : undefined;
}

/** True for a constant or a parameter, with or without casts, and for a date plus or minus an interval. */
const isConstant = (node: Node): boolean =>
  'TypeCast' in node ? node.TypeCast.arg !== undefined && isConstant(node.TypeCast.arg) : 'A_Const' in node || 'ParamRef' in node || isMoved(node);

/** True for a sum or difference of dates and intervals, which does not depend on a setting. */
function isMoved(node: Node): boolean {
  if (!('A_Expr' in node) || node.A_Expr.kind !== 'AEXPR_OP' || !['+', '-'].includes(lastName(node.A_Expr.name))) return false;
  const { lexpr, rexpr } = node.A_Expr;
  return [lexpr, rexpr].every(
    (side) => side && (isMoved(side) || ('TypeCast' in side && isConstant(side) && MOVED.has(lastName(side.TypeCast.typeName?.names)))),
  );
}

const MOVED: ReadonlySet<string> = new Set(['date', 'timestamp', 'interval']);

function columnOf(node: Node): readonly [string, string] | undefined {
  const fields = 'ColumnRef' in node ? fieldsOf(node.ColumnRef) : [];
  return fields.length === 2 && fields[1] !== '*' ? (fields as unknown as readonly [string, string]) : undefined;
}

/**
 * True if conditions equate the column of a filter that gives it one value with another column. PostgreSQL derives from the comparison and these that the other column has
 * the value, too, and Citus finds the one shard that has its rows.
 */
function equates(conditions: Node | undefined, { column, isEqual }: Filter, { equated }: Run): boolean {
  if (!isEqual || conditions === undefined) return false;
  const known = equated.get(conditions) ?? equatedIn(conditions);
  equated.set(conditions, known);
  return known.has(JSON.stringify(column));
}

function equatedIn(conditions: Node): ReadonlySet<string> {
  const found = new Set<string>();
  for (const condition of conjuncts(conditions)) {
    if (!('A_Expr' in condition) || condition.A_Expr.kind !== 'AEXPR_OP' || lastName(condition.A_Expr.name) !== '=') continue;
    const { lexpr, rexpr } = condition.A_Expr;
    if (!lexpr || !rexpr || isConstant(lexpr) || isConstant(rexpr)) continue;
    for (const column of [columnOf(lexpr), columnOf(rexpr)]) if (column) found.add(JSON.stringify(column));
  }
  return found;
}

/**
 * Sends a filter to the item that has its column. No row without a partner meets it, so the rows of the inner side of an outer join may be left out.
 * @param isFar whether the items are the right side of a join
 * @returns true if all values of the column meet the filter by now, except the NULL of a row without a partner, and no join equates the column with another one
 */
function send(items: readonly Node[], filter: Filter, isFar: boolean, run: Run): boolean {
  let isMet = false;
  for (const item of items) {
    visited();
    if ('JoinExpr' in item) {
      const { jointype, larg, rarg, quals, usingClause, isNatural, alias } = item.JoinExpr;
      if (alias !== undefined || (jointype !== 'JOIN_LEFT' && jointype !== 'JOIN_INNER')) continue;
      const isLeft = larg !== undefined && send([larg], filter, isFar, run);
      const isRight = rarg !== undefined && send([rarg], filter, true, run);
      const isEquated = equates(quals, filter, run) || (filter.isEqual && (isNatural === true || namesOf(usingClause).includes(filter.column[1])));
      if ((isLeft || isRight) && !isEquated) isMet = true;
    } else if ('RangeSubselect' in item) {
      const { subquery, alias, lateral } = item.RangeSubselect;
      if (lateral || alias?.aliasname !== filter.column[0] || alias.colnames?.length) continue;
      if (subquery && 'SelectStmt' in subquery && below(subquery.SelectStmt, filter, isFar, run)) isMet = true;
    }
  }
  return isMet;
}

/** Sends a filter to the rows of a query without clauses, such as the OFFSET of a barrier, below which a condition must not be, and to all parts of a union of such queries. */
function below(query: SelectStmt, filter: Filter, isFar: boolean, run: Run): boolean {
  const [, name] = filter.column;
  const parts = partsOf(query);
  const at = parts?.[0]?.targetList?.findIndex((t) => 'ResTarget' in t && t.ResTarget.name === name) ?? -1;
  const values = parts?.map((p) => valueAt(p, at)) ?? [];
  // a comparison of values of several types, or of texts of several collations, may mean something else for each of them
  const isAlike = (v: Node): boolean => values.length === 1 || (isSameCast(v, values[0]) && (filter.isForTexts || hasNoCollation(v)));
  if (!parts || !values.every((v) => v !== undefined && isAlike(v))) return false;
  return parts.map((part, i) => within(part, values[i] as Node, filter, isFar, run)).every(Boolean);
}

function within(query: SelectStmt, value: Node, filter: Filter, isFar: boolean, run: Run): boolean {
  const inner = columnOf(value);
  const own = inner && { ...filter, column: inner };
  if (own && send(query.fromClause ?? [], own, isFar, run)) return !equates(query.whereClause, own, run);
  const [table, ...others] = query.fromClause ?? [];
  if (!isFar || !isColumn(value) || others.length > 0 || !table || !('RangeVar' in table)) return false;
  const { schemaname = '', relname = '' } = table.RangeVar;
  if (!run.isSent(schemaname, relname)) return false;
  const added = run.added.get(query) ?? [];
  run.added.set(query, added);
  added.push(filter.on(clone(value)));
  return true;
}

/** The parts of a query, of which each row is returned; undefined if a clause decides otherwise. */
function partsOf(query: SelectStmt): SelectStmt[] | undefined {
  const { larg, rarg, withClause } = query;
  if (withClause) return undefined;
  if (!larg || !rarg) return isPlain(query) ? [query] : undefined;
  if (query.op !== 'SETOP_UNION' || query.all !== true || query.limitCount || query.limitOffset) return undefined;
  const [left, right] = [partsOf(larg), partsOf(rarg)];
  return left && right && [...left, ...right];
}

function valueAt({ targetList = [] }: SelectStmt, at: number): Node | undefined {
  const item = targetList.some(starOf) ? undefined : targetList[at];
  return item && 'ResTarget' in item ? item.ResTarget.val : undefined;
}

/** True if two expressions are casts to the same type. */
const isSameCast = (a: Node, b: Node | undefined): boolean =>
  'TypeCast' in a && b !== undefined && 'TypeCast' in b && isSame(a.TypeCast.typeName, b.TypeCast.typeName);

const WITHOUT_COLLATION: ReadonlySet<string> = new Set(
  'int2 int4 int8 numeric float4 float8 bool date time timetz timestamp timestamptz interval uuid bytea'.split(' '),
);

/** True for a cast to a type that has no collation. */
const hasNoCollation = (value: Node): boolean =>
  'TypeCast' in value && !value.TypeCast.typeName?.arrayBounds?.length && WITHOUT_COLLATION.has(lastName(value.TypeCast.typeName?.names));

/** True for a column, with or without casts. */
const isColumn = (value: Node): boolean => ('TypeCast' in value ? value.TypeCast.arg !== undefined && isColumn(value.TypeCast.arg) : 'ColumnRef' in value);
