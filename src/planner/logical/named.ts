/** The columns that PostgreSQL names when it explains a statement. */
import type { Alias, JoinExpr } from '@pgsql/types';
import { fieldsOf, type Node, namesOf, type SelectStmt, walk } from '../plan/tree.ts';

/** The comparisons of names that take about a second. */
const MAX_COMPARISONS = 1e9;
/** The columns that a table is assumed to have. */
const OF_A_TABLE = Array.from({ length: 100 }, (_, i) => `*${i}`);

/**
 * True if PostgreSQL names the columns of a finished statement for a plan in about a second. EXPLAIN makes the names of the columns of each join and sub-query unique, compares
 * each of them with those before it, and does not check for interrupts.
 */
export function areSoonNamed(query: SelectStmt): boolean {
  const named = new Named();
  walk({ SelectStmt: query }, (n) => named.visit(n));
  return named.comparisons <= MAX_COMPARISONS;
}

class Named {
  comparisons = 0;
  /** The columns of queries and items of FROM. */
  readonly #known = new Map<object, readonly string[]>();
  readonly #ctes = new Map<string, readonly string[]>();

  /** Counts the columns of a node. @returns false if there are too many */
  visit(node: Node): boolean {
    if ('SelectStmt' in node) this.#ofQuery(node.SelectStmt);
    return this.comparisons <= MAX_COMPARISONS;
  }

  #ofQuery(query: SelectStmt): readonly string[] {
    const known = this.#known.get(query);
    if (known) return known;
    for (const cte of query.withClause?.ctes ?? [])
      if ('CommonTableExpr' in cte) {
        const { ctename = '', ctequery, aliascolnames } = cte.CommonTableExpr;
        if (ctequery && 'SelectStmt' in ctequery) this.#ctes.set(ctename, renamed(this.#ofQuery(ctequery.SelectStmt), namesOf(aliascolnames)));
      }
    const columns = this.#columnsOf(query);
    this.#known.set(query, columns);
    return columns;
  }

  #columnsOf({ larg, rarg, fromClause = [], targetList = [], valuesLists }: SelectStmt): readonly string[] {
    if (larg && rarg) {
      this.#ofQuery(rarg);
      return this.#ofQuery(larg);
    }
    const from = fromClause.flatMap((item) => this.#ofItem(item));
    const [row] = valuesLists ?? [];
    if (row && 'List' in row) return (row.List.items ?? []).map((_, i) => `column${i + 1}`);
    return targetList.flatMap((node) => {
      const { name, val } = 'ResTarget' in node ? node.ResTarget : {};
      const fields = val && 'ColumnRef' in val ? fieldsOf(val.ColumnRef) : [];
      if (fields.at(-1) !== '*') return [name ?? fields.at(-1) ?? ''];
      return fields.length === 1 ? from : OF_A_TABLE;
    });
  }

  #ofItem(node: Node): readonly string[] {
    if (this.comparisons > MAX_COMPARISONS) return [];
    if ('JoinExpr' in node) return this.#ofJoin(node.JoinExpr);
    if ('RangeSubselect' in node) {
      const { subquery, alias } = node.RangeSubselect;
      return this.#named(subquery && 'SelectStmt' in subquery ? this.#ofQuery(subquery.SelectStmt) : [], alias);
    }
    if ('RangeVar' in node) {
      const { relname = '', schemaname, alias } = node.RangeVar;
      const cte = schemaname === undefined ? this.#ctes.get(relname) : undefined;
      // the columns of a table have different names
      return cte ? this.#named(cte, alias) : renamed(OF_A_TABLE, namesOf(alias?.colnames));
    }
    return 'RangeFunction' in node ? this.#named([], node.RangeFunction.alias) : [];
  }

  #ofJoin({ larg, rarg, usingClause, alias }: JoinExpr): readonly string[] {
    const using = namesOf(usingClause);
    const sides = [larg, rarg].flatMap((side) => (side ? this.#ofItem(side) : []));
    return this.#named([...using, ...sides.filter((name) => !using.includes(name))], alias);
  }

  #named(columns: readonly string[], alias: Alias | undefined): readonly string[] {
    const all = renamed(columns, namesOf(alias?.colnames));
    const equal = new Map<string, number>();
    for (const name of all) equal.set(name, (equal.get(name) ?? 0) + 1);
    // a number is added to the name, and raised until the name is unique
    for (const n of equal.values()) this.comparisons += (all.length * n ** 2) / 2;
    return all;
  }
}

const renamed = (columns: readonly string[], names: readonly string[]): readonly string[] => [...names, ...columns.slice(names.length)];
