/**
 * The rows of all tables of a statement, collected before they are joined, for statements that a distributed datasource has also refused with the rewrites of `decorrelate`
 * (docs/design/sql-shapes.md#collected-rows). What remains is a statement over rows that are all in one place, and nothing of it is refused.
 */
import { mayFail } from '../facts/conditions.ts';
import { isAggregate } from '../guard/index.ts';
import {
  and,
  clone,
  column,
  conjuncts,
  eachColumn,
  fieldsOf,
  integer,
  isSame,
  isSubQuery,
  lastName,
  type Node,
  OFFSET_ZERO,
  type SelectStmt,
  select,
  target,
  walk,
} from '../plan/tree.ts';
import type { Declared, DeclaredTable } from '../verify/index.ts';
import { blocksOf, starOf } from './correlated.ts';
import { comparesColumn, sendFilters } from './far-filters.ts';

type RangeVar = Extract<Node, { RangeVar: unknown }>['RangeVar'];

/**
 * Replaces each table of a finished statement by a sub-select of its columns with OFFSET 0 (in place), which computes nothing and so raises no error.
 * @param isSimple false for a statement with barriers or volatile functions: a comparison of a cast may fail on a row that a barrier hides
 * @param isExact whether no text may have a nondeterministic collation
 * @returns the sub-selects
 */
export function collect(statement: SelectStmt, declared: Declared['tables'], isSimple: boolean, isExact: boolean): ReadonlySet<Node> {
  const all = new Set<Node>();
  if (isSimple) sendFilters(statement, () => true, isExact, true);
  for (const block of blocksOf(statement)) collectTables(block, declared, isSimple, all);
  keepExists(statement, () => true);
  return all;
}

/**
 * EXISTS over collected rows gets an OFFSET 0, unless it is a condition of WHERE by itself (in place). For others PostgreSQL makes two plans and drops one, and Citus up to
 * 13.2.2 ends the server's process at the dropped plan of a statement that reads no table that it knows.
 * @param isKnown true for a table that Citus knows: one that is distributed, or a reference table
 */
export function keepExists(statement: SelectStmt, isKnown: (schema: string, table: string) => boolean): void {
  for (const block of blocksOf(statement)) {
    const { fromClause: _f, larg: _l, rarg: _r, withClause: _w, whereClause, ...others } = block;
    const conditions = conjuncts(whereClause).filter((c) => !('SubLink' in c));
    for (const from of joinsOf(block.fromClause)) conditions.push(from);
    walk([others, conditions], (n) => {
      const query = 'SubLink' in n && n.SubLink.subLinkType === 'EXISTS_SUBLINK' ? n.SubLink.subselect : undefined;
      if (query && 'SelectStmt' in query && !query.SelectStmt.limitOffset && !readsTable(query, isKnown)) Object.assign(query.SelectStmt, OFFSET_ZERO);
      return !('SelectStmt' in n);
    });
  }
}

/** The conditions of the joins in FROM. */
const joinsOf = (items: readonly Node[] = []): Node[] =>
  items.flatMap((item) => {
    if (!('JoinExpr' in item)) return [];
    const { larg, rarg, quals } = item.JoinExpr;
    return [...joinsOf([larg, rarg].filter((n) => n !== undefined)), ...(quals ? [quals] : [])];
  });

/** True if a query reads a table that Citus knows and whose rows are not collected. */
function readsTable(query: Node, isKnown: (schema: string, table: string) => boolean): boolean {
  let reads = false;
  walk([query], (n) => {
    reads ||= 'RangeVar' in n && n.RangeVar.schemaname !== undefined && isKnown(n.RangeVar.schemaname, n.RangeVar.relname ?? '');
    return !reads && !('SelectStmt' in n && n.SelectStmt.limitOffset !== undefined);
  });
  return reads;
}

/** True if a block may name a column that is not grouped. PostgreSQL accepts it only of a table that is grouped by its key, not of a sub-select. */
function reliesOnKey({ groupClause = [], targetList = [], havingClause, sortClause }: SelectStmt): boolean {
  if (groupClause.length === 0) return false;
  const grouped = groupClause.flatMap((g): Node[] => {
    const place = 'A_Const' in g ? g.A_Const.ival?.ival : undefined;
    const item = place === undefined ? g : targetList[place - 1];
    if (item && 'GroupingSet' in item) return item.GroupingSet.content ?? [];
    return item ? [item] : [];
  });
  const isGrouped = (n: Node): boolean => grouped.some((g) => isSame(g, n));
  let relies = false;
  walk([targetList, havingClause, sortClause], (n) => {
    if (isGrouped(n) || ('FuncCall' in n && isAggregate(lastName(n.FuncCall.funcname)))) return false;
    relies ||= 'ColumnRef' in n;
    return !relies;
  });
  return relies;
}

function collectTables(block: SelectStmt, declared: Declared['tables'], isSimple: boolean, all: Set<Node>): void {
  if (reliesOnKey(block)) return;
  const names = new Names(block);
  const [only, ...others] = block.fromClause ?? [];
  const isSingle = only !== undefined && 'RangeVar' in only && others.length === 0;
  const collected = (item: Node, isOptional: boolean): Node => {
    if ('JoinExpr' in item) {
      const { jointype, larg, rarg, isNatural, usingClause, alias } = item.JoinExpr;
      // an alias of a join names all columns of its tables
      if (isNatural || usingClause?.length || alias || !larg || !rarg) return item;
      const left = collected(larg, isOptional || jointype === 'JOIN_RIGHT' || jointype === 'JOIN_FULL');
      const right = collected(rarg, isOptional || jointype === 'JOIN_LEFT' || jointype === 'JOIN_FULL');
      return { JoinExpr: { ...item.JoinExpr, larg: left, rarg: right } };
    }
    const rows = 'RangeVar' in item && rowsOf(item.RangeVar, { block, names, isSingle, isOptional, declared, isSimple });
    if (rows) all.add(rows);
    return rows || item;
  };
  if (block.fromClause) block.fromClause = block.fromClause.map((item) => collected(item, false));
}

/** A table in FROM, and what is known of its block. */
interface Place {
  readonly block: SelectStmt;
  readonly names: Names;
  /** True if it is the only item of FROM: names without a qualifier are its columns. */
  readonly isSingle: boolean;
  /** True on the side of an outer join whose columns are NULL in rows without a partner. A row may be left out there only for a condition that no NULL meets. */
  readonly isOptional: boolean;
  readonly declared: Declared['tables'];
  readonly isSimple: boolean;
}

function rowsOf(table: RangeVar, { block, names, isSingle, isOptional, declared, isSimple }: Place): Node | undefined {
  const { schemaname, relname = '', alias } = table;
  const known = declared.find((d) => d.schema === schemaname && d.name === relname);
  const name = alias?.aliasname ?? relname;
  if (!known || alias?.colnames?.length) return undefined;
  const columns = names.of(name, isSingle, known);
  if (!columns) return undefined;
  const isOwn = (condition: Node): boolean => {
    let own = true;
    eachColumn(condition, (ref) => {
      const fields = fieldsOf(ref);
      own &&= fields.length === 1 ? isSingle && columns.has(fields[0] as string) : fields[0] === name;
    });
    walk([condition], (n) => {
      own &&= !isSubQuery(n) && !('SubLink' in n);
      return own;
    });
    if (!own) return false;
    const compares = comparesColumn(condition);
    return (isSimple && compares) || ((compares || !isOptional) && !mayFail(condition, true, true));
  };
  const where = and(conjuncts(block.whereClause).filter(isOwn).map(clone));
  const rows = select({
    targetList: columns.size > 0 ? [...columns].map((c) => target(column(name, c), c)) : [target(integer('1'), '~1')],
    fromClause: [{ RangeVar: { ...table } }],
    ...(where ? { whereClause: where } : {}),
    ...OFFSET_ZERO,
  });
  return { RangeSubselect: { subquery: { SelectStmt: rows }, alias: { aliasname: name } } };
}

/** The names of columns in a block and in its sub-queries. */
export class Names {
  readonly #qualified = new Map<string, Set<string>>();
  readonly #unqualified = new Set<string>();
  /** False if a star, a whole row, or a name with a schema is among them. */
  #isKnown = true;

  constructor(block: SelectStmt) {
    this.#isKnown = !block.targetList?.some((t) => starOf(t)?.length === 1);
    const { larg: _l, rarg: _r, ...own } = block;
    eachColumn(own, (ref) => {
      const [first = '', second, ...others] = fieldsOf(ref);
      if (second === undefined) this.#unqualified.add(first);
      else if (others.length > 0) this.#isKnown = false;
      else this.#qualified.set(first, (this.#qualified.get(first) ?? new Set()).add(second));
    });
  }

  /** The columns of an item; undefined if one of them is not known. */
  of(item: string, isSingle: boolean, { columns, isWhole }: DeclaredTable): ReadonlySet<string> | undefined {
    if (!this.#isKnown || isWhole || this.#unqualified.has(item) || (!isSingle && this.#unqualified.size > 0)) return undefined;
    const found = new Set([...(this.#qualified.get(item) ?? []), ...this.#unqualified]);
    return [...found].every((c) => columns.has(c)) ? found : undefined;
  }
}
