/**
 * Unions of distributed tables in a statement that also reads other distributed tables: each is read by itself. Citus 13.2 treats the keys of such a union as equal
 * to the keys of the tables with which it is joined, even if the join compares other columns. So it joins only rows of the same worker and loses the others
 * (docs/design/sql-shapes.md#unions-in-joins). A table of which nothing is known counts as distributed.
 */
import { badRequest } from '../../errors.ts';
import { type Placements, plainName } from '../plan/context.ts';
import { and, clone, column, conjuncts, integer, type Node, OFFSET_ZERO, type SelectStmt, select, target, walk } from '../plan/tree.ts';
import type { Declared } from '../verify/index.ts';
import { Names } from './collected.ts';
import { blocksOf } from './correlated.ts';
import { comparesColumn } from './far-filters.ts';

/**
 * Adds OFFSET 0 to unions that read distributed tables, if other such tables are read next to them, and reads views with unions by a sub-select with OFFSET 0 there (in place).
 * @param known undefined: each table may be a view with a union
 * @throws SvcError 400 `not_supported` if it is not known which columns of such a view are read
 * @returns what it relies on, else another place would need it: reference tables, as in the placements, and tables that are no views with unions, as `plainName` writes them
 */
export function separateUnions(statement: SelectStmt, known: Placements | undefined, declared: Declared['tables']): string[] {
  const views = new Set<Node>();
  const relied = separate(statement, known, views);
  for (const block of views.size > 0 ? blocksOf(statement) : [])
    if (block.fromClause) block.fromClause = block.fromClause.map((item) => separated(item, block, { views, declared, isKnown: known !== undefined }));
  return relied;
}

function separate(statement: SelectStmt, known: Placements | undefined, views: Set<Node>): string[] {
  const placeOf = (table: string): ReturnType<Placements['get']> => (known ? known.get(table) : 'union');
  const all = new Unit({ SelectStmt: statement });
  const distributed = (tables: readonly string[]): number => tables.filter((t) => placeOf(t) !== null).length;
  const relied = new Set<string>();
  const isPlaced = known !== undefined && [...known.values()].some((p) => p !== 'union');
  const rely = (): void => {
    for (const t of all.tables) if (placeOf(t) === null) relied.add(t);
  };
  for (const union of all.unions) {
    const own = new Unit(union).tables;
    if (distributed(own) > 0 && distributed(own) < distributed(all.tables)) {
      if ('SelectStmt' in union) Object.assign(union.SelectStmt, OFFSET_ZERO);
    } else if (own.length > 0 && own.length < all.tables.length) rely();
  }
  for (const [i, place] of all.places.entries()) {
    const table = all.tables[i] ?? '';
    const placed = placeOf(table);
    if (all.tables.length === 1 || (placed !== 'union' && placed !== undefined)) continue;
    if (!placed) {
      if (isPlaced) relied.add(plainName(table));
    } else if (distributed(all.tables) === 1) rely();
    else views.add(place);
  }
  return [...relied, ...all.others.flatMap((query) => separate(query, known, views))];
}

interface Separating {
  readonly views: ReadonlySet<Node>;
  readonly declared: Declared['tables'];
  /** False: each of the views may be a table. */
  readonly isKnown: boolean;
}

/** An item of FROM with the rows of views read by themselves. Comparisons of the only item with constants are repeated there. */
function separated(item: Node, block: SelectStmt, separating: Separating): Node {
  if ('JoinExpr' in item) {
    const { larg, rarg } = item.JoinExpr;
    const inner = (side: Node | undefined): { larg?: Node } => (side ? { larg: separated(side, block, separating) } : {});
    return { JoinExpr: { ...item.JoinExpr, ...inner(larg), ...(rarg ? { rarg: separated(rarg, block, separating) } : {}) } };
  }
  if (!('RangeVar' in item) || !separating.views.has(item)) return item;
  const { schemaname, relname = '', alias } = item.RangeVar;
  const name = alias?.aliasname ?? relname;
  const table = separating.declared.find((d) => d.schema === schemaname && d.name === relname);
  const isOnly = block.fromClause?.length === 1 && block.fromClause[0] === item;
  const isNamed = !alias?.colnames?.length && !block.fromClause?.some(mergesColumns);
  const columns = table && isNamed ? new Names(withoutQueries(block)).of(name, isOnly, table) : undefined;
  if (!columns && !table?.isWhole) {
    if (!separating.isKnown) return item;
    throw badRequest('not_supported', 'Citus would lose rows of a database view with a UNION, which the SQL of a mapping joins with other tables', {
      hint: 'Qualify the columns in the SQL of the mapping with the names of its tables',
    });
  }
  const where = isOnly ? and(conjuncts(block.whereClause).filter(comparesColumn).map(clone)) : undefined;
  const rows = select({
    targetList: columns ? columnsOf(name, columns) : [{ ResTarget: { val: { ColumnRef: { fields: [{ A_Star: {} }] } } } }],
    fromClause: [{ RangeVar: { ...item.RangeVar } }],
    ...(where ? { whereClause: where } : {}),
    ...OFFSET_ZERO,
  });
  return { RangeSubselect: { subquery: { SelectStmt: rows }, alias: { aliasname: name } } };
}

const columnsOf = (item: string, columns: ReadonlySet<string>): Node[] =>
  columns.size > 0 ? [...columns].map((c) => target(column(item, c), c)) : [target(integer('1'), '~1')];

/** True for joins whose columns have another name, or none, in the block: those with USING, and with an alias. */
function mergesColumns(item: Node): boolean {
  if (!('JoinExpr' in item)) return false;
  const { larg, rarg, usingClause, alias, isNatural } = item.JoinExpr;
  return Boolean(isNatural || usingClause?.length || alias) || [larg, rarg].some((side) => side !== undefined && mergesColumns(side));
}

/** A block without the queries of its FROM that cannot refer to the other items. */
function withoutQueries(block: SelectStmt): SelectStmt {
  const kept = (item: Node): Node[] => {
    if ('RangeSubselect' in item && !item.RangeSubselect.lateral) return [];
    if (!('JoinExpr' in item)) return [item];
    const { larg, rarg, quals } = item.JoinExpr;
    return [...(larg ? kept(larg) : []), ...(rarg ? kept(rarg) : []), ...(quals ? [quals] : [])];
  };
  return { ...block, ...(block.fromClause ? { fromClause: block.fromClause.flatMap(kept) } : {}) };
}

/** What Citus plans together: a query without the parts that it runs by themselves. */
class Unit {
  /** The tables that it reads, one for each place. */
  readonly tables: string[] = [];
  readonly places: Node[] = [];
  readonly unions: Node[] = [];
  /** Queries that are executed by themselves. */
  readonly others: SelectStmt[] = [];
  /** Queries of WITH RECURSIVE, whose unions may have no OFFSET. */
  readonly #recursions = new Set<Node | undefined>();

  constructor(query: Node) {
    walk([query], (n) => {
      const { recursive, ctes = [] } = ('SelectStmt' in n && n.SelectStmt.withClause) || {};
      if (recursive) for (const c of ctes) if ('CommonTableExpr' in c) this.#recursions.add(c.CommonTableExpr.ctequery);
      if ('RangeVar' in n && n.RangeVar.schemaname) {
        this.tables.push(JSON.stringify([n.RangeVar.schemaname, n.RangeVar.relname]));
        this.places.push(n);
      }
      if ('CommonTableExpr' in n && n.CommonTableExpr.ctematerialized === 'CTEMaterializeAlways') return this.#separate(n.CommonTableExpr.ctequery);
      if (!('SelectStmt' in n) || n === query || n.SelectStmt === (query as { SelectStmt?: SelectStmt }).SelectStmt) return true;
      if (n.SelectStmt.limitCount || n.SelectStmt.limitOffset) return this.#separate(n);
      if (n.SelectStmt.larg && !this.#recursions.has(n)) this.unions.push(n);
      return true;
    });
  }

  #separate(query: Node | undefined): false {
    if (query && 'SelectStmt' in query) this.others.push(query.SelectStmt);
    return false;
  }
}
