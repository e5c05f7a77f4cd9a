/** Queries of WITH RECURSIVE over collected rows, in the form that a distributed datasource runs in one place (docs/design/sql-shapes.md#collected-rows). */
import type { CommonTableExpr } from '@pgsql/types';
import { type Node, rewrite, type SelectStmt, select, walk } from '../plan/tree.ts';

/**
 * Moves the tables of recursions into queries of WITH before them, and each recursion into a query that is executed by itself (in place). A WITH RECURSIVE of which a query
 * names a later one stays, and one with a table that is not collected, or with SEARCH or CYCLE, whose columns the datasource refuses also so.
 * @param collected the sub-selects of tables
 * @param alias makes an alias that is unique in the statement
 */
export function gatherRecursions(statement: SelectStmt, collected: ReadonlySet<Node>, alias: () => string): void {
  const found: SelectStmt[] = [];
  const names = new Set<string | undefined>();
  walk([{ SelectStmt: statement }], (n) => {
    if ('CommonTableExpr' in n) names.add(n.CommonTableExpr.ctename);
    if ('SelectStmt' in n && n.SelectStmt.withClause?.recursive) found.push(n.SelectStmt);
    return true;
  });
  // a caller may give a query of WITH any name: a query with the same name would be read in place of the table, also by a policy
  const free = (): string => {
    const name = alias();
    return names.has(name) ? free() : name;
  };
  for (const block of found) gather(block, collected, free);
}

function gather(block: SelectStmt, collected: ReadonlySet<Node>, alias: () => string): void {
  const ctes = (block.withClause?.ctes ?? []).flatMap((n) => ('CommonTableExpr' in n ? [n.CommonTableExpr] : []));
  if (ctes.some((cte, i) => !canGather(cte, collected, new Set(ctes.slice(i + 1).map((c) => c.ctename))))) return;
  const gathered = ctes.flatMap((cte): Node[] => {
    if (!readsName(cte.ctequery, new Set([cte.ctename]))) return [{ CommonTableExpr: cte }];
    const tables: Node[] = [];
    rewrite(cte, (n) => {
      if (!('RangeSubselect' in n && collected.has(n))) return undefined;
      const relname = alias();
      tables.push(materialized(relname, n.RangeSubselect.subquery));
      return { RangeVar: { ...TABLE, relname, ...(n.RangeSubselect.alias ? { alias: n.RangeSubselect.alias } : {}) } };
    });
    const { ctename = '' } = cte;
    const all = { ResTarget: { val: { ColumnRef: { fields: [{ A_Star: {} }] } } } };
    const from = { RangeVar: { ...TABLE, relname: ctename } };
    const rows = select({ targetList: [all], fromClause: [from], withClause: { recursive: true, ctes: [{ CommonTableExpr: { ...cte } }] } });
    return [...tables, materialized(ctename, { SelectStmt: rows })];
  });
  block.withClause = { ctes: gathered };
}

const TABLE = { inh: true, relpersistence: 'p' };

const materialized = (ctename: string, ctequery: Node | undefined): Node => ({
  CommonTableExpr: { ctename, ctematerialized: 'CTEMaterializeAlways', ...(ctequery ? { ctequery } : {}) },
});

/** False for a query of WITH that names a later one, and for a recursion with a table that is not collected, or with SEARCH or CYCLE. */
function canGather(cte: CommonTableExpr, collected: ReadonlySet<Node>, later: ReadonlySet<string | undefined>): boolean {
  const { ctequery, ctename } = cte;
  if (readsName(ctequery, later)) return false;
  let reads = Boolean(cte.search_clause ?? cte.cycle_clause);
  walk([ctequery], (n) => {
    reads ||= 'RangeVar' in n && n.RangeVar.schemaname !== undefined;
    return !collected.has(n);
  });
  return !reads || !readsName(ctequery, new Set([ctename]));
}

function readsName(query: Node | undefined, names: ReadonlySet<string | undefined>): boolean {
  let reads = false;
  walk([query], (n) => {
    reads ||= 'RangeVar' in n && !n.RangeVar.schemaname && names.has(n.RangeVar.relname);
    return !reads;
  });
  return reads;
}
