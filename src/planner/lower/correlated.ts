/** What a finished sub-query refers to in the FROM of the block around it. Names of relations are SQL aliases here: the references are written out. */
import type { ColumnRef } from '@pgsql/types';
import { visited } from '../../budget.ts';
import { mayFail } from '../facts/conditions.ts';
import { COMPARISONS } from '../facts/total.ts';
import { conjuncts, eachColumn, fieldsOf, isSubQuery, lastName, type Node, type SelectStmt, walk } from '../plan/tree.ts';

/** The items of a FROM clause by the aliases that columns may be qualified with; undefined if USING or NATURAL merges columns, which have no qualifier. */
export type Items = ReadonlyMap<string, Node>;

/** A comparison of a column of a sub-query's FROM with one of the block around it. */
export interface Link {
  readonly inner: Node;
  readonly outer: Node;
}

/** A correlated sub-query: its links, and the other conditions of its WHERE, which refer to nothing outside of it. */
export interface Correlated {
  readonly links: readonly Link[];
  /** Two columns that differ (`<>`), at most once. */
  readonly unequal: Link | undefined;
  readonly rest: readonly Node[];
}

/** The blocks of a statement, outer ones first, with the parts of set operations. */
export function blocksOf(statement: SelectStmt): SelectStmt[] {
  const blocks: SelectStmt[] = [];
  const add = (query: SelectStmt | undefined): void => {
    if (!query) return;
    blocks.push(query);
    add(query.larg);
    add(query.rarg);
  };
  walk([{ SelectStmt: statement } as Node], (n) => {
    if ('SelectStmt' in n) add(n.SelectStmt);
    return undefined;
  });
  return blocks;
}

/** The items of a FROM clause. */
export function itemsOf(from: readonly Node[] | undefined): Items | undefined {
  const found = new Map<string, Node>();
  const add = (item: Node): boolean => {
    visited();
    if ('JoinExpr' in item) {
      const { larg, rarg, alias, isNatural, usingClause } = item.JoinExpr;
      if (isNatural || usingClause?.length || !larg || !rarg) return false;
      if (alias) found.set(alias.aliasname ?? '', item);
      return alias !== undefined || (add(larg) && add(rarg));
    }
    const alias = aliasOf(item);
    if (alias !== undefined) found.set(alias, item);
    return alias !== undefined;
  };
  return (from ?? []).every(add) ? found : undefined;
}

/**
 * True if a block and its sub-queries name the columns of items of its FROM one by one. A star names all columns, and so do NATURAL and the name of an item without a column.
 * @param isItem whether a name without a qualifier, or the qualifier of a star, is one of the items
 */
export function namesColumns(block: SelectStmt, isItem: (name: string) => boolean): boolean {
  const { fromClause = [], larg: _l, rarg: _r, withClause: _w, ...clauses } = block;
  let names = !block.targetList?.some((t) => starOf(t)?.length === 1);
  const check = (tree: unknown): void =>
    walk(tree, (n) => {
      if ('ColumnRef' in n) {
        const [first = '', second] = fieldsOf(n.ColumnRef);
        if ((second === undefined || second === '*') && isItem(first)) names = false;
      }
      return names;
    });
  const checkItem = (item: Node): void => {
    if ('JoinExpr' in item) {
      const { larg, rarg, ...rest } = item.JoinExpr;
      if (rest.isNatural) names = false;
      for (const arg of [larg, rarg]) if (arg) checkItem(arg);
      check(rest);
      // any other sub-select refers to no other item
    } else if (!('RangeSubselect' in item) || item.RangeSubselect.lateral) check([item]);
  };
  check(clauses);
  fromClause.forEach(checkItem);
  return names;
}

/** The fields of a star in a select list; undefined for any other item. */
export function starOf(item: Node): readonly string[] | undefined {
  const value = 'ResTarget' in item ? item.ResTarget.val : undefined;
  const fields = value && 'ColumnRef' in value ? fieldsOf(value.ColumnRef) : [];
  return fields.at(-1) === '*' ? fields : undefined;
}

function aliasOf(item: Node): string | undefined {
  if ('RangeVar' in item) return item.RangeVar.alias?.aliasname ?? item.RangeVar.relname;
  if ('RangeSubselect' in item) return item.RangeSubselect.alias?.aliasname;
  return 'RangeFunction' in item ? item.RangeFunction.alias?.aliasname : undefined;
}

/** The aliases that the FROM clauses in a tree define. */
function aliasesIn(tree: unknown): ReadonlySet<string> {
  const found = new Set<string>();
  walk(tree, (n) => {
    const alias = 'JoinExpr' in n ? n.JoinExpr.alias?.aliasname : aliasOf(n);
    if (alias !== undefined) found.add(alias);
    return undefined;
  });
  return found;
}

/**
 * The correlation of a sub-query with the block around it: conditions of its WHERE that equate two columns, and at most one that says that two differ. Undefined if it refers to nothing there, or in any other way, or to
 * blocks further outside.
 */
export function correlationOf(query: SelectStmt, outer: Items): Correlated | undefined {
  const own = itemsOf(query.fromClause);
  const inside = aliasesIn([query]);
  let isClear = true;
  const qualifier = (ref: ColumnRef, inFrom: boolean): string | undefined => {
    const [first = '', ...others] = fieldsOf(ref);
    // outside of FROM, an item of the sub-query hides one of the block with the same alias
    const isOwn = !inFrom && own?.has(first) === true;
    // the name of a whole relation, or a column of a mapping's table
    if (others.length === 0) {
      if (!isOwn && outer.has(first)) isClear = false;
      return undefined;
    }
    if (!isOwn && outer.has(first) === inside.has(first)) isClear = false;
    return isOwn ? undefined : first;
  };
  const refersOut = (tree: unknown, inFrom = false): boolean => {
    let found = false;
    eachColumn(tree, (ref) => {
      const name = qualifier(ref, inFrom);
      found ||= name !== undefined && outer.has(name);
    });
    return found;
  };
  const { whereClause, fromClause, ...others } = query;
  // a name without a qualifier may be that of a column of either
  walk([whereClause, others], (n) => {
    if ('ColumnRef' in n && fieldsOf(n.ColumnRef).length === 1 && fieldsOf(n.ColumnRef)[0] !== '*') isClear = false;
    return isClear && !isSubQuery(n);
  });
  if (refersOut([fromClause], true) || refersOut([others]) || !isClear) return undefined;
  const links: Link[] = [];
  const unequal: Link[] = [];
  const rest: Node[] = [];
  for (const condition of conjuncts(whereClause)) {
    if (!refersOut([condition])) rest.push(condition);
    else {
      const link = own && linkOf(condition, own, outer);
      if (!link) return undefined;
      (link.operator === '=' ? links : unequal).push(link);
    }
  }
  return isClear && links.length > 0 && unequal.length < 2 ? { links, unequal: unequal[0], rest } : undefined;
}

function linkOf(condition: Node, own: Items, outer: Items): (Link & { readonly operator: string }) | undefined {
  if (!('A_Expr' in condition)) return undefined;
  const { kind, name, lexpr, rexpr } = condition.A_Expr;
  const operator = lastName(name);
  if (kind !== 'AEXPR_OP' || name?.length !== 1 || (operator !== '=' && operator !== '<>') || !lexpr || !rexpr) return undefined;
  const isIn = (items: Items, node: Node): boolean =>
    'ColumnRef' in node && fieldsOf(node.ColumnRef).length === 2 && items.has(fieldsOf(node.ColumnRef)[0] ?? '');
  if (isIn(own, lexpr) && isIn(outer, rexpr)) return { inner: lexpr, outer: rexpr, operator };
  return isIn(own, rexpr) && isIn(outer, lexpr) ? { inner: rexpr, outer: lexpr, operator } : undefined;
}

/**
 * Types of which equal values are in one group of GROUP BY, and those of one group are equal, also if they are compared with a type of the same family. For texts this is
 * true only without nondeterministic collations (`FinishedRewrite`): GROUP BY and a comparison with another column may use different ones.
 */
const FAMILIES: Readonly<Record<string, string>> = {
  int2: 'int',
  int4: 'int',
  int8: 'int',
  text: 'text',
  numeric: 'numeric',
  date: 'date',
  uuid: 'uuid',
  bool: 'bool',
};

/** The family of the type of a column, by the casts of the SELECTs that return it; undefined if it is not known. */
export function familyOf(node: Node, items: Items | undefined): string | undefined {
  visited();
  if ('TypeCast' in node) {
    const { names, arrayBounds } = node.TypeCast.typeName ?? {};
    return arrayBounds?.length ? undefined : FAMILIES[lastName(names)];
  }
  if (!('ColumnRef' in node)) return undefined;
  const [alias = '', name] = fieldsOf(node.ColumnRef);
  const item = items?.get(alias);
  if (!item || name === undefined || !('RangeSubselect' in item)) return undefined;
  const { subquery, alias: given } = item.RangeSubselect;
  if (!subquery || !('SelectStmt' in subquery) || given?.colnames?.length) return undefined;
  return columnFamily(subquery.SelectStmt, name);
}

/** True if an expression is a whole number or a decimal, by the casts of the SELECTs that return its columns. The sum of such values raises no error; that of floating-point numbers may overflow. */
export function isExactNumber(node: Node | undefined, items: Items | undefined): boolean {
  visited();
  if (node === undefined) return false;
  const areExact = (nodes: readonly (Node | undefined)[] = []): boolean => nodes.every((n) => isExactNumber(n, items));
  if ('A_Const' in node) return node.A_Const.isnull === true || node.A_Const.ival !== undefined || node.A_Const.fval !== undefined;
  if ('CoalesceExpr' in node) return areExact(node.CoalesceExpr.args);
  if ('CaseExpr' in node) {
    const { args = [], defresult } = node.CaseExpr;
    return areExact([...args.map((w) => ('CaseWhen' in w ? w.CaseWhen.result : undefined)), ...(defresult ? [defresult] : [])]);
  }
  const family = familyOf(node, items);
  return family === 'int' || family === 'numeric';
}

function columnFamily(query: SelectStmt, name: string): string | undefined {
  if (query.larg && query.rarg) {
    const left = columnFamily(query.larg, name);
    return left === columnFamily(query.rarg, name) ? left : undefined;
  }
  const found = (query.targetList ?? []).flatMap((t) => ('ResTarget' in t && t.ResTarget.name === name && t.ResTarget.val ? [t.ResTarget.val] : []));
  const [only] = found;
  return only && found.length === 1 ? familyOf(only, itemsOf(query.fromClause)) : undefined;
}

/** True if an expression may raise an error on a row: the sub-query is computed for rows that the block does not need. */
export const fails = ({ fromClause }: SelectStmt, expressions: readonly Node[]): boolean => computes(fromClause) || expressions.some((e) => mayFail(e, true));

/** Operators and functions in a FROM clause that raise an error on no value that is not extreme. */
const SAFE_OPERATORS: ReadonlySet<string> = new Set([...COMPARISONS, '+', '-', '*', '||']);
const SAFE_FUNCTIONS: ReadonlySet<string> = new Set(['replace', 'lower', 'upper', 'substring', 'extract', 'btrim', 'length', 'concat']);

/** True if a FROM clause computes something else, such as a quotient. */
function computes(from: unknown): boolean {
  let found = false;
  walk(from, (n) => {
    if ('FuncCall' in n) found ||= !SAFE_FUNCTIONS.has(lastName(n.FuncCall.funcname));
    if ('A_Expr' in n && n.A_Expr.kind === 'AEXPR_OP') found ||= !SAFE_OPERATORS.has(lastName(n.A_Expr.name));
    return !found;
  });
  return found;
}
