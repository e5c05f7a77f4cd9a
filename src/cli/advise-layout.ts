/** Proposes how tables are distributed on Citus: a pure function of tables, their rows, and the relationships that join them. */

/** A table of the datasource. */
export interface LayoutTable {
  /** `schema.table`. */
  readonly key: string;
  readonly rows: number;
  /** Types of columns by name. */
  readonly types: ReadonlyMap<string, string>;
  /** The primary key and the other unique keys. */
  readonly uniques: readonly (readonly string[])[];
  readonly foreignKeys: readonly {
    readonly name: string;
    readonly columns: readonly string[];
    readonly target: string;
    readonly references: readonly string[];
  }[];
  /** How Citus has it now; undefined for a local table. */
  readonly now?: { readonly kind: Placing['kind']; readonly column: string | null; readonly group: number } | undefined;
}

/** Two tables that a relationship joins, by pairs of their columns. */
export interface TableJoin {
  readonly from: string;
  readonly to: string;
  readonly pairs: readonly (readonly [string, string])[];
  /** `concept.relationship`. */
  readonly by: string;
  readonly isWalk: boolean;
}

/** Where a table is. */
export interface Placing {
  readonly key: string;
  readonly kind: 'distributed' | 'reference';
  /** The distribution column; null for a reference table. */
  readonly column: string | null;
  /** The first table of the group of tables whose rows with equal columns are on one worker. */
  readonly group: string;
  /** The relationship that decided the column; undefined if its key or another column did. */
  readonly join?: TableJoin | undefined;
}

/** A proposal. */
export interface Layout {
  readonly placings: readonly Placing[];
  /** True if no table is so large that one server could not read it. */
  readonly isSmall: boolean;
  /** Large tables for which there is no column. */
  readonly without: readonly string[];
}

/** A table of more than a fifth of the largest one's rows is not small. */
const SHARE = 5;
/** By default, tables of more rows are not copied to each worker. */
export const SMALL_ROWS = 1_000_000;

interface Choice {
  readonly join: TableJoin;
  readonly pair: readonly [string, string];
  /** The rows that would be moved between workers. */
  readonly moved: number;
}

/**
 * Tables that are small become reference tables. The others are distributed: the relationship that would move most rows between workers decides its columns first, then
 * the next one, as long as their tables have no other column yet.
 */
export function layoutOf(tables: readonly LayoutTable[], joins: readonly TableJoin[], smallRows = SMALL_ROWS): Layout {
  const largest = Math.max(0, ...tables.map((t) => t.rows));
  const small = Math.min(smallRows, Math.floor(largest / SHARE));
  const large = new Map(tables.filter((t) => t.rows > small).map((t) => [t.key, t]));
  const columns = new Map<string, { readonly column: string; readonly join: TableJoin }>();
  const groups = new Map<string, string>();
  const groupOf = (key: string): string => groups.get(key) ?? key;
  for (const { join, pair } of choices(large, joins)) {
    const ends = [join.from, join.to].map((key, i) => ({ key, column: pair[i] as string, known: columns.get(key)?.column }));
    if (ends.some((e) => e.known !== undefined && e.known !== e.column)) continue;
    for (const { key, column, known } of ends) if (known === undefined) columns.set(key, { column, join });
    const [from, to] = [groupOf(join.from), groupOf(join.to)];
    for (const key of large.keys()) if (groupOf(key) === from) groups.set(key, to);
  }
  const placings = tables.flatMap((t): Placing[] => {
    if (!large.has(t.key)) return [{ key: t.key, kind: 'reference', column: null, group: t.key }];
    const chosen = columns.get(t.key);
    const column = chosen?.column ?? t.uniques[0]?.[0] ?? joinedColumn(t.key, joins);
    return column === undefined ? [] : [{ key: t.key, kind: 'distributed', column, group: groupOf(t.key), join: chosen?.join }];
  });
  const placed = new Set(placings.map((p) => p.key));
  return { placings, isSmall: largest <= smallRows, without: tables.filter((t) => !placed.has(t.key)).map((t) => t.key) };
}

/** The ways to keep a join of two large tables on one worker, those that spare most first. */
function choices(large: ReadonlyMap<string, LayoutTable>, joins: readonly TableJoin[]): Choice[] {
  const found = joins.flatMap((join) => {
    const [from, to] = [large.get(join.from), large.get(join.to)];
    if (!from || !to || from === to) return [];
    const pairs = join.pairs.filter(([a, b]) => from.types.get(a) === to.types.get(b));
    return pairs.map((pair): Choice => ({ join, pair, moved: Math.min(from.rows, to.rows) }));
  });
  return found.sort((a, b) => b.moved - a.moved);
}

const joinedColumn = (key: string, joins: readonly TableJoin[]): string | undefined =>
  joins.flatMap(({ from, to, pairs }) => pairs.flatMap(([a, b]) => [...(from === key ? [a] : []), ...(to === key ? [b] : [])]))[0];

/** True if the rows that a relationship joins are on one worker. */
export function isLocal({ from, to, pairs }: TableJoin, placings: readonly Placing[]): boolean {
  const [a, b] = [from, to].map((key) => placings.find((p) => p.key === key));
  if (!a || !b) return false;
  if (a.kind === 'reference' || b.kind === 'reference') return true;
  return a.group === b.group && pairs.some(([x, y]) => x === a.column && y === b.column);
}

/** The rows that the relationships of a model would move between workers, each relationship once. */
export const movedRows = (tables: readonly LayoutTable[], joins: readonly TableJoin[], placings: readonly Placing[]): number =>
  joins.filter((join) => !isLocal(join, placings)).reduce((sum, { from, to }) => sum + Math.min(rowsOf(tables, from), rowsOf(tables, to)), 0);

const rowsOf = (tables: readonly LayoutTable[], key: string): number => tables.find((t) => t.key === key)?.rows ?? 0;
