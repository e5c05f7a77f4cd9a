/**
 * Comparisons of WHERE with constants on the far side of a join, repeated where that side reads a distributed table (docs/design/sql-shapes.md#where-a-datasource-has-its-tables).
 * If the tables of a join are not together, Citus collects one side of it, as it is written.
 */
import { visited } from '../../budget.ts';
import { COMPARISONS } from '../facts/total.ts';
import { and, clone, conjuncts, fieldsOf, lastName, type Node, type SelectStmt } from '../plan/tree.ts';
import { blocksOf } from './correlated.ts';
import { isPlain } from './refused.ts';

type IsSent = (schema: string, table: string) => boolean;

/** A comparison of a column with constants, which no NULL meets. */
interface Filter {
  readonly column: readonly [item: string, name: string];
  /** The same comparison of another value. */
  readonly on: (value: Node) => Node;
}

/**
 * Repeats comparisons at the far tables of the joins of a statement (in place). Each comparison remains where it was.
 * @param isSent whether they are needed at a table
 * @param everywhere also at tables that are no far side of a join
 */
export function sendFilters(statement: SelectStmt, isSent: IsSent, everywhere = false): void {
  for (const block of blocksOf(statement)) {
    if (block.fromClause === undefined) continue;
    for (const condition of conjuncts(block.whereClause)) {
      const filter = filterOf(condition);
      if (filter) send(block.fromClause, filter, everywhere, isSent);
    }
  }
}

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

function filterOf(condition: Node): Filter | undefined {
  if (!('A_Expr' in condition)) return undefined;
  const expr = condition.A_Expr;
  const { kind, name, lexpr, rexpr } = expr;
  if (!lexpr || !rexpr) return undefined;
  const [left, right] = [columnOf(lexpr), columnOf(rexpr)];
  if (kind === 'AEXPR_OP' && COMPARISONS.has(lastName(name))) {
    if (left && isConstant(rexpr)) return { column: left, on: (value) => ({ A_Expr: { ...clone(expr), lexpr: value } }) };
    return right && isConstant(lexpr) ? { column: right, on: (value) => ({ A_Expr: { ...clone(expr), rexpr: value } }) } : undefined;
  }
  if (kind !== 'AEXPR_BETWEEN' && !(kind === 'AEXPR_IN' && lastName(name) === '=')) return undefined;
  return left && 'List' in rexpr && rexpr.List.items?.every(isConstant)
    ? { column: left, on: (value) => ({ A_Expr: { ...clone(expr), lexpr: value } }) }
    : undefined;
}

/** True for a constant or a parameter, with or without casts. */
const isConstant = (node: Node): boolean =>
  'TypeCast' in node ? node.TypeCast.arg !== undefined && isConstant(node.TypeCast.arg) : 'A_Const' in node || 'ParamRef' in node;

function columnOf(node: Node): readonly [string, string] | undefined {
  const fields = 'ColumnRef' in node ? fieldsOf(node.ColumnRef) : [];
  return fields.length === 2 && fields[1] !== '*' ? (fields as unknown as readonly [string, string]) : undefined;
}

/**
 * Sends a filter to the item that has its column. No row without a partner meets it, so the rows of the inner side of an outer join may be left out.
 * @param isFar whether the items are the right side of a join
 */
function send(items: readonly Node[], filter: Filter, isFar: boolean, isSent: IsSent): void {
  for (const item of items) {
    visited();
    if ('JoinExpr' in item) {
      const { jointype, larg, rarg, alias } = item.JoinExpr;
      if (alias !== undefined || (jointype !== 'JOIN_LEFT' && jointype !== 'JOIN_INNER')) continue;
      if (larg) send([larg], filter, isFar, isSent);
      if (rarg) send([rarg], filter, true, isSent);
    } else if ('RangeSubselect' in item) {
      const { subquery, alias, lateral } = item.RangeSubselect;
      if (lateral || alias?.aliasname !== filter.column[0] || alias.colnames?.length) continue;
      if (subquery && 'SelectStmt' in subquery) below(subquery.SelectStmt, filter, isFar, isSent);
    }
  }
}

/** Sends a filter to the rows of a query without clauses, such as the OFFSET of a barrier, below which a condition must not be. */
function below(query: SelectStmt, { column: [, name], on }: Filter, isFar: boolean, isSent: IsSent): void {
  if (query.withClause || !isPlain(query)) return;
  const given = query.targetList?.find((t) => 'ResTarget' in t && t.ResTarget.name === name);
  const value = given && 'ResTarget' in given ? given.ResTarget.val : undefined;
  if (!value) return;
  const inner = columnOf(value);
  if (inner) send(query.fromClause ?? [], { column: inner, on }, isFar, isSent);
  const [table, ...others] = query.fromClause ?? [];
  if (!isFar || !isColumn(value) || others.length > 0 || !table || !('RangeVar' in table)) return;
  const { schemaname = '', relname = '' } = table.RangeVar;
  if (!isSent(schemaname, relname)) return;
  query.whereClause = and([...conjuncts(query.whereClause), on(clone(value))]) as Node;
}

/** True for a column, with or without casts. */
const isColumn = (value: Node): boolean => ('TypeCast' in value ? value.TypeCast.arg !== undefined && isColumn(value.TypeCast.arg) : 'ColumnRef' in value);
