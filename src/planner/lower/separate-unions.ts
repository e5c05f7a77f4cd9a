/**
 * Unions of distributed tables in a statement that also reads other distributed tables: each is read by itself. Citus 13.2 treats the keys of such a union as equal
 * to the keys of the tables with which it is joined, even if the join compares other columns. So it joins only rows of the same worker and loses the others
 * (docs/design/sql-shapes.md#unions-in-joins). A table of which nothing is known counts as distributed.
 */
import type { Placements } from '../plan/context.ts';
import { type Node, OFFSET_ZERO, type SelectStmt, walk } from '../plan/tree.ts';

/**
 * Adds OFFSET 0 to unions that read distributed tables, if other such tables are read next to them (in place).
 * @returns the reference tables on which it relies, as in the placements: if one of them were distributed, another union would need it
 */
export function separateUnions(statement: SelectStmt, placements: Placements): string[] {
  const all = new Unit({ SelectStmt: statement });
  const distributed = (tables: readonly string[]): number => tables.filter((t) => placements.get(t) !== null).length;
  const relied = new Set<string>();
  for (const union of all.unions) {
    const own = new Unit(union).tables;
    if (distributed(own) > 0 && distributed(own) < distributed(all.tables)) {
      if ('SelectStmt' in union) Object.assign(union.SelectStmt, OFFSET_ZERO);
    } else if (own.length > 0 && own.length < all.tables.length) for (const t of all.tables) if (placements.get(t) === null) relied.add(t);
  }
  return [...relied, ...all.others.flatMap((query) => separateUnions(query, placements))];
}

/** What Citus plans together: a query without the parts that it runs by themselves. */
class Unit {
  /** The tables that it reads, one for each place. */
  readonly tables: string[] = [];
  readonly unions: Node[] = [];
  /** Queries that are executed by themselves. */
  readonly others: SelectStmt[] = [];
  /** Queries of WITH RECURSIVE, whose unions may have no OFFSET. */
  readonly #recursions = new Set<Node | undefined>();

  constructor(query: Node) {
    walk([query], (n) => {
      const { recursive, ctes = [] } = ('SelectStmt' in n && n.SelectStmt.withClause) || {};
      if (recursive) for (const c of ctes) if ('CommonTableExpr' in c) this.#recursions.add(c.CommonTableExpr.ctequery);
      if ('RangeVar' in n && n.RangeVar.schemaname) this.tables.push(JSON.stringify([n.RangeVar.schemaname, n.RangeVar.relname]));
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
