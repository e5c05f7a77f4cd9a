/**
 * Computes the values of a barrier above it. PostgreSQL computes the select list of a barrier for all rows that pass it, also for those that an outer barrier
 * hides: an error there would reveal them. A barrier below another one therefore returns the columns that its values are computed from, and the values become the
 * select list of a plain SELECT around it. PostgreSQL merges that SELECT with the outer one, and computes the values of the rows that pass both.
 */
import { clone, column, fieldsOf, isSubQuery, type Node, rewrite, type SelectStmt, select, subselect, target, walk } from './tree.ts';

/** Moves the computed values of a barrier into a SELECT around it (in place). `alias` makes names that are unique in the plan. */
export function raiseValues(barrier: SelectStmt, alias: () => string): void {
  const selects = new Selects(alias);
  const values = selects.values(barrier);
  if (!values || [...values.values()].every((value) => !isComputed(selects, barrier, value))) return;
  const rows = alias();
  const columns = new Map<string, { readonly name: string; readonly item: Node }>();
  const given = (value: Node): Node => {
    const text = JSON.stringify(value);
    const name = columns.get(text)?.name ?? alias();
    if (!columns.has(text)) columns.set(text, { name, item: target(value, name) });
    return column(rows, name);
  };
  const targetList = [...values].map(([name, value]) => target(raised(selects, barrier, value, given), name));
  const below = { ...barrier, targetList: [...columns.values()].map((c) => c.item) };
  for (const member of Object.keys(barrier)) delete barrier[member as keyof SelectStmt];
  Object.assign(barrier, select({ targetList, fromClause: [subselect(below, rows)] }));
}

/** The select lists that are read while values are raised. */
class Selects {
  readonly alias: () => string;
  readonly #values = new Map<SelectStmt, Map<string, Node> | undefined>();
  readonly #names = new Map<SelectStmt, Map<string, string>>();

  constructor(alias: () => string) {
    this.alias = alias;
  }

  /** The values of a select list by name; undefined if it has a star. */
  values(query: SelectStmt): ReadonlyMap<string, Node> | undefined {
    if (!this.#values.has(query)) this.#values.set(query, namedValues(query));
    return this.#values.get(query);
  }

  /** The name under which a SELECT returns a value. It is added to the select list if it is not there. */
  exposed(query: SelectStmt, value: Node): string {
    let names = this.#names.get(query);
    if (names === undefined) {
      names = new Map([...(this.values(query) ?? [])].map(([name, known]) => [JSON.stringify(known), name] as const));
      this.#names.set(query, names);
      query.targetList = [...(query.targetList ?? [])];
    }
    const text = JSON.stringify(value);
    const known = names.get(text);
    if (known !== undefined) return known;
    const name = this.alias();
    names.set(text, name);
    this.#values.get(query)?.set(name, value);
    query.targetList?.push(target(value, name));
    return name;
  }
}

function namedValues({ targetList = [] }: SelectStmt): Map<string, Node> | undefined {
  const values = new Map<string, Node>();
  for (const item of targetList) {
    if (!('ResTarget' in item) || !item.ResTarget.val || item.ResTarget.name === undefined) return undefined;
    if ('ColumnRef' in item.ResTarget.val && fieldsOf(item.ResTarget.val.ColumnRef).includes('*')) return undefined;
    values.set(item.ResTarget.name, item.ResTarget.val);
  }
  return values;
}

/** True if a value of a SELECT is computed there, or in a plain SELECT below. */
function isComputed(selects: Selects, query: SelectStmt, value: Node): boolean {
  if (!('ColumnRef' in value)) return !isFixed(query, value);
  const below = source(selects, query, value);
  return below !== undefined && isComputed(selects, below.query, below.value);
}

/** True for a value with a sub-query that may name columns of a table: these names mean something only where the table is. */
function isFixed({ fromClause = [] }: SelectStmt, value: Node): boolean {
  let asks = false;
  walk(value, (n) => {
    asks ||= isSubQuery(n);
    return !asks;
  });
  return asks && !fromClause.every(hasOwnNames);
}

const hasOwnNames = (item: Node): boolean => {
  if ('JoinExpr' in item) return [item.JoinExpr.larg, item.JoinExpr.rarg].every((side) => side !== undefined && hasOwnNames(side));
  return 'RangeSubselect' in item && isOwn(item.RangeSubselect.alias?.aliasname);
};

/** True for an alias of the planner. If a text has such an alias, its sub-select is treated like one of the planner: values are computed later, not earlier. */
const isOwn = (alias: string | undefined): boolean => alias?.startsWith('~') === true;

/** A value over the columns that `given` returns for references. */
function raised(selects: Selects, query: SelectStmt, value: Node, given: (value: Node) => Node): Node {
  if (isFixed(query, value)) return given(value);
  const replace = (n: Node, isInside: boolean): Node | undefined => {
    if (!('ColumnRef' in n)) {
      if (!isInside && isSubQuery(n)) return rewriteBelow(n, (inner) => replace(inner, true));
      return undefined;
    }
    if (isInside && !itemOf(query, fieldsOf(n.ColumnRef)[0])) return undefined;
    const below = source(selects, query, n);
    if (!below || !isComputed(selects, below.query, below.value)) return given(n);
    return raised(selects, below.query, below.value, (column_) => given(column(below.alias, selects.exposed(below.query, column_))));
  };
  return rewrite(clone(value), (n) => replace(n, false)) as Node;
}

/** Rewrites the members of a node. */
function rewriteBelow(node: Node, visit: (node: Node) => Node | undefined): Node {
  const o = node as unknown as Record<string, unknown>;
  for (const k in o) o[k] = rewrite(o[k], visit);
  return node;
}

/** The value that a reference names in a plain SELECT in FROM; undefined if it names anything else. */
function source(selects: Selects, query: SelectStmt, ref: Node): { readonly query: SelectStmt; readonly alias: string; readonly value: Node } | undefined {
  const [alias = '', name = '', ...more] = 'ColumnRef' in ref ? fieldsOf(ref.ColumnRef) : [];
  const item = more.length === 0 ? itemOf(query, alias) : undefined;
  if (!item || !('RangeSubselect' in item) || item.RangeSubselect.alias?.colnames) return undefined;
  const { subquery } = item.RangeSubselect;
  const inner = subquery && 'SelectStmt' in subquery ? subquery.SelectStmt : undefined;
  const value = inner && isMerged(inner) ? selects.values(inner)?.get(name) : undefined;
  return inner && value && { query: inner, alias, value };
}

/** The sub-select of this alias of the planner in FROM whose rows no join fills with NULLs. */
function itemOf({ fromClause = [] }: SelectStmt, alias: string | undefined): Node | undefined {
  const find = (item: Node | undefined): Node | undefined => {
    if (!item) return undefined;
    if ('JoinExpr' in item) return item.JoinExpr.jointype === 'JOIN_LEFT' || item.JoinExpr.jointype === 'JOIN_INNER' ? find(item.JoinExpr.larg) : undefined;
    return 'RangeSubselect' in item && isOwn(alias) && item.RangeSubselect.alias?.aliasname === alias ? item : undefined;
  };
  return fromClause.map(find).find((item) => item !== undefined);
}

const MERGED = new Set(['targetList', 'fromClause', 'whereClause', 'limitOption', 'op']);

/** True for a SELECT that PostgreSQL merges with the SELECT around it. */
const isMerged = (query: SelectStmt): boolean =>
  query.op !== 'SETOP_UNION' && query.limitOption !== 'LIMIT_OPTION_COUNT' && query.limitOffset === undefined && Object.keys(query).every((k) => MERGED.has(k));
