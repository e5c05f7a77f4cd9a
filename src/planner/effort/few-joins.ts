/** A quick test before equal columns are counted: most statements compare few columns, so that the orders of their joins cost little. */
import type { A_Expr } from '@pgsql/types';
import { lastName, type Node, type SelectStmt, walk } from '../plan/tree.ts';
import { EQUALITY } from './links.ts';
import { mostOfJoins } from './orders.ts';
import { isConstantItem } from './steps.ts';

/** The nodes that may stay uncounted: a fraction of the limit (spent.ts). */
const FEW = 30_000;
/** Items of FROM. */
const ITEMS = /^(Range|JsonTable)/;

/** True if the joins of a statement cost few nodes, for any equal columns that its comparisons make possible. */
export function hasFewJoins(query: SelectStmt): boolean {
  let relations = 0;
  let comparisons = 0;
  let isBounded = true;
  walk({ SelectStmt: query }, (node) => {
    if (isUnbounded(node)) isBounded = false;
    for (const type in node) if (ITEMS.test(type)) relations++;
    if ('SelectStmt' in node && node.SelectStmt.valuesLists) relations++;
    if ('SubLink' in node) relations++;
    comparisons += comparisonsOf(node);
    // the cost only grows
    return isBounded && mostOfJoins(relations, comparisons) <= FEW;
  });
  return isBounded && mostOfJoins(relations, comparisons) <= FEW;
}

/** True for what may compare more columns than the statement writes: NATURAL JOIN, and queries that PostgreSQL copies. */
function isUnbounded(node: Node): boolean {
  if ('JoinExpr' in node) return node.JoinExpr.isNatural === true;
  return 'CommonTableExpr' in node && node.CommonTableExpr.ctematerialized === 'CTEMaterializeNever';
}

/** How often a node by itself compares two columns. */
function comparisonsOf(node: Node): number {
  if ('JoinExpr' in node) return node.JoinExpr.usingClause?.length ?? 0;
  if ('A_Expr' in node) return EQUALITY.test(lastName(node.A_Expr.name)) ? lengthOf(node.A_Expr.lexpr) : comparesTwo(node.A_Expr) ? 1 : 0;
  return 'SubLink' in node ? lengthOf(node.SubLink.testexpr) : 0;
}

/** True for an operator that may compare columns of two relations. */
export const comparesTwo = ({ lexpr, rexpr }: A_Expr): boolean => !isConstantItem(lexpr) && !isConstantItem(rexpr);

/** The length of a row; 1 for another value, 0 for none. */
const lengthOf = (value: Node | undefined): number => (value === undefined ? 0 : 'RowExpr' in value ? (value.RowExpr.args?.length ?? 0) : 1);
