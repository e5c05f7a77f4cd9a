/**
 * Columns of sub-selects that nothing reads (docs/design/sql-shapes.md#columns-that-nothing-reads). PostgreSQL drops them itself, but not from a union with an OFFSET, and Citus
 * executes some sub-selects by themselves. Their columns would be computed, which may raise an error on a value, and sent.
 */
import type { Alias } from '@pgsql/types';
import { eachColumn, fieldsOf, integer, type Node, namesOf, type SelectStmt, target, walk } from '../plan/tree.ts';
import { callsOwnIn } from '../read/own-functions.ts';
import { blocksOf, namesColumns, starOf } from './correlated.ts';
import { aggregates, returnsSets } from './refused.ts';

/** Removes columns that are not read from the sub-selects and the common table expressions of a statement (in place). */
export function dropUnread(statement: SelectStmt): void {
  // outer blocks come first; a common table expression may come before the block that reads it
  while (dropOnce(statement));
}

/** @returns true if a common table expression has lost columns */
function dropOnce(statement: SelectStmt): boolean {
  const tables = new Tables(statement);
  let hasChanged = false;
  for (const block of blocksOf(statement))
    for (const [alias, item] of itemsIn(block.fromClause)) {
      const table = 'RangeVar' in item ? tables.of(item) : undefined;
      const query = 'RangeSubselect' in item ? item.RangeSubselect.subquery : table;
      if (!query || !('SelectStmt' in query)) continue;
      const read = readIn(block, alias, query);
      const names = 'RangeSubselect' in item ? item.RangeSubselect.alias : undefined;
      const isChanged = read !== undefined && drop(query.SelectStmt, names, (name) => read.has(name));
      hasChanged ||= isChanged && table !== undefined;
    }
  return hasChanged;
}

/** The common table expressions of a statement that PostgreSQL merges like sub-selects: each is read in one place. */
class Tables {
  readonly #queries = new Map<string, Node | undefined>();
  readonly #places = new Map<string, number>();

  constructor(statement: SelectStmt) {
    walk([{ SelectStmt: statement } as Node], (n) => {
      if ('SelectStmt' in n) this.#add(n.SelectStmt);
      if ('RangeVar' in n && !n.RangeVar.schemaname) this.#places.set(n.RangeVar.relname ?? '', (this.#places.get(n.RangeVar.relname ?? '') ?? 0) + 1);
      return undefined;
    });
  }

  #add({ withClause }: SelectStmt): void {
    for (const c of withClause?.ctes ?? []) {
      const { ctename = '', ctequery, ctematerialized, aliascolnames } = 'CommonTableExpr' in c ? c.CommonTableExpr : {};
      const isMerged = !withClause?.recursive && ctematerialized !== 'CTEMaterializeAlways' && !aliascolnames?.length && !this.#queries.has(ctename);
      this.#queries.set(ctename, isMerged ? ctequery : undefined);
    }
  }

  of(item: Node): Node | undefined {
    const { schemaname, relname = '', alias } = 'RangeVar' in item ? item.RangeVar : {};
    return schemaname || alias?.colnames?.length || this.#places.get(relname) !== 1 ? undefined : this.#queries.get(relname);
  }
}

/** The tables and sub-selects among the items of FROM, by their aliases. In a join with an alias, columns have other names. */
function itemsIn(from: readonly Node[] = []): [string, Node][] {
  return from.flatMap((item): [string, Node][] => {
    if ('JoinExpr' in item) return item.JoinExpr.alias ? [] : itemsIn([item.JoinExpr.larg, item.JoinExpr.rarg].filter((n) => n !== undefined));
    if ('RangeVar' in item) return [[item.RangeVar.alias?.aliasname ?? item.RangeVar.relname ?? '', item]];
    if (!('RangeSubselect' in item)) return [];
    const { alias } = item.RangeSubselect;
    return alias?.aliasname ? [[alias.aliasname, item]] : [];
  });
}

/** The names of the columns of an item that its block may read; undefined if it may read all of them. */
function readIn(block: SelectStmt, alias: string, query: Node): ReadonlySet<string> | undefined {
  if (!namesColumns(block, (name) => name === alias)) return undefined;
  const read = new Set<string>();
  const add = (tree: unknown): void => {
    eachColumn(tree, (ref) => {
      const [first = '', second = first, ...others] = fieldsOf(ref);
      if (second === first || first === alias || others.length > 0) read.add(second);
    });
    walk(tree, (n) => {
      if ('JoinExpr' in n) for (const name of namesOf(n.JoinExpr.usingClause)) read.add(name);
      return undefined;
    });
  };
  const { fromClause = [], withClause: _w, ...clauses } = block;
  add(clauses);
  const addItem = (item: Node): void => {
    if ('JoinExpr' in item) {
      const { larg, rarg, quals, usingClause } = item.JoinExpr;
      for (const arg of [larg, rarg]) if (arg) addItem(arg);
      add([quals]);
      for (const name of namesOf(usingClause)) read.add(name);
    } else if (!('RangeSubselect' in item && item.RangeSubselect.subquery === query)) add([item]);
  };
  fromClause.forEach(addItem);
  return read;
}

/**
 * Removes columns from all parts of a query. If it reads no column, a constant takes their place.
 * @param alias may name the columns by their places
 * @returns true if the query has changed
 */
function drop(query: SelectStmt, alias: Alias | undefined, isRead: (name: string) => boolean): boolean {
  const parts = partsOf(query);
  const [{ targetList: list = [] } = {}] = parts ?? [];
  const given = alias?.colnames ?? [];
  if (given.length > list.length || !parts?.every((p) => p.targetList?.length === list.length && mayLose(p))) return false;
  const remaining = list.map((t, i) => {
    const name = namesOf(given)[i] ?? nameOf(t);
    return name === undefined || isRead(name);
  });
  if (!remaining.includes(false)) return false;
  const isAny = remaining.includes(true);
  if (!isAny && list.length === 1 && parts.every((p) => isConstant(p.targetList?.[0]))) return false;
  for (const part of parts) part.targetList = isAny ? (part.targetList ?? []).filter((_, i) => remaining[i]) : [target(integer('1'), NOTHING)];
  if (!alias || given.length === 0) return true;
  alias.colnames = isAny ? given.filter((_, i) => remaining[i]) : [];
  // PostgreSQL has no empty list of names
  if (alias.colnames.length === 0) delete alias.colnames;
  return true;
}

/** The name of a constant that nothing reads. */
const NOTHING = '~1';

const isConstant = (item: Node | undefined): boolean =>
  item !== undefined && 'ResTarget' in item && item.ResTarget.val !== undefined && 'A_Const' in item.ResTarget.val;

/** The SELECTs of a query of which all rows are returned; undefined for another set operation than UNION ALL. */
function partsOf(query: SelectStmt): SelectStmt[] | undefined {
  const { larg, rarg } = query;
  if (!larg || !rarg) return [query];
  if (query.op !== 'SETOP_UNION' || query.all !== true || query.sortClause?.length) return undefined;
  const [left, right] = [partsOf(larg), partsOf(rarg)];
  return left && right && [...left, ...right];
}

/** The name of a column of a select list; undefined if PostgreSQL chooses it. */
function nameOf(item: Node): string | undefined {
  const { name, val } = 'ResTarget' in item ? item.ResTarget : {};
  return name ?? (val && 'ColumnRef' in val ? fieldsOf(val.ColumnRef).at(-1) : undefined);
}

/** True if a SELECT has the same rows without any of its columns. */
function mayLose({ targetList = [], distinctClause, valuesLists, groupClause = [], havingClause, sortClause = [] }: SelectStmt): boolean {
  if (distinctClause?.length || valuesLists?.length || targetList.some(starOf) || returnsSets(targetList) || callsOwnIn(targetList)) return false;
  if (groupClause.length === 0 && (havingClause || aggregates(targetList))) return false;
  // a number or a name may be that of a column of the select list
  let isOther = true;
  walk([groupClause, sortClause], (n) => {
    if ('A_Const' in n || ('ColumnRef' in n && fieldsOf(n.ColumnRef).length === 1)) isOther = false;
    return isOther;
  });
  return isOther;
}
