/** The names that one level of a query may use. */
import type { Row } from './row.ts';

/** A relation that expressions may name. */
export interface Relation {
  /** The alias; undefined if the relation cannot be named, only its columns. */
  readonly alias: string | undefined;
  /** The schema of a table without an alias, whose columns may be named `schema.table.column`. */
  readonly schema?: string | undefined;
  readonly columns: Row;
  /** The row that the unqualified alias means; undefined for a function with one column, whose alias means that column. */
  readonly whole: Row | undefined;
}

/** Relations, and the rows in which unqualified names are looked up: items of FROM, and joins with their merged columns. */
export interface Side {
  readonly relations: Relation[];
  readonly rows: Row[];
}

/** A list of the common table expressions in scope, innermost first. */
export interface Cte {
  readonly name: string;
  /** The columns; undefined until the query has been read. */
  columns: Row | undefined;
  readonly next: Cte | undefined;
}

/** The common table expression of a name. */
export function cteOf(ctes: Cte | undefined, name: string): Cte | undefined {
  let cte = ctes;
  while (cte && cte.name !== name) cte = cte.next;
  return cte;
}

/** A column that an unqualified name means. `fields`: the fields of its value, if it is certainly a row. */
export interface Found {
  readonly fields: Row | undefined;
}

/** The number of look-ups on a level after which an index is made. The condition of a join has only a few. */
const INDEX_AFTER = 8;

/** The relations of one query level. */
export class Level {
  readonly parent: Level | undefined;
  readonly ctes: Cte | undefined;
  /** The names of the select list, in clauses that may use them. */
  outputs: ReadonlySet<string> | undefined;
  /** True for an item of ORDER BY, DISTINCT ON or GROUP BY that is a name of the select list. For GROUP BY only if no table has a column of that name. */
  isItem = false;
  readonly #side: Side;
  #lookUps = 0;
  /** Indexes. They are dropped when the level changes. */
  #columns: Map<string, Found> | undefined;
  #relations: Map<string, Relation> | undefined;
  #isOpen: boolean | undefined;

  constructor(parent: Level | undefined, ctes: Cte | undefined, side: Side = { relations: [], rows: [] }) {
    this.parent = parent;
    this.ctes = ctes;
    this.#side = side;
  }

  get rows(): readonly Row[] {
    return this.#side.rows;
  }

  add(side: Side): void {
    append(this.#side, side);
    this.#changed();
  }

  /** The current state of the level, for `backTo`. */
  mark(): readonly [number, number] {
    return [this.#side.relations.length, this.#side.rows.length];
  }

  backTo([relations, rows]: readonly [number, number]): void {
    this.#side.relations.length = relations;
    this.#side.rows.length = rows;
    this.#changed();
  }

  #changed(): void {
    this.#lookUps = 0;
    this.#columns = undefined;
    this.#relations = undefined;
    this.#isOpen = undefined;
  }

  /** True if a relation of the level may have unknown columns. */
  get isOpen(): boolean {
    this.#isOpen ??= this.#side.rows.some((row) => row.isOpen);
    return this.#isOpen;
  }

  /** True if a table of the level declares the column. */
  declares(name: string): boolean {
    return this.isOpen && this.#side.rows.some((row) => row.declares(name));
  }

  /** The known column of a name, or undefined. */
  column(name: string): Found | undefined {
    if (++this.#lookUps > INDEX_AFTER) {
      this.#columns ??= columnsOf(this.#side.rows);
      return this.#columns.get(name);
    }
    let found: Found | undefined;
    for (const row of this.#side.rows) if (row.has(name)) found = found ? AMBIGUOUS : { fields: row.field(name) };
    return found;
  }

  /** The relation of an alias. With `schema`, only a table of that schema. */
  relation(alias: string, schema?: string): Relation | undefined {
    if (schema !== undefined) return this.#side.relations.find((r) => r.alias === alias && r.schema === schema);
    if (++this.#lookUps <= INDEX_AFTER) return this.#side.relations.find((r) => r.alias === alias);
    if (!this.#relations) {
      this.#relations = new Map();
      for (const r of this.#side.relations) if (r.alias !== undefined && !this.#relations.has(r.alias)) this.#relations.set(r.alias, r);
    }
    return this.#relations.get(alias);
  }
}

/** The result for a name that several columns have. PostgreSQL refuses it. */
const AMBIGUOUS: Found = { fields: undefined };

function columnsOf(rows: readonly Row[]): Map<string, Found> {
  const columns = new Map<string, Found>();
  for (const row of rows) for (const name of row.names) columns.set(name, columns.has(name) ? AMBIGUOUS : { fields: row.field(name) });
  return columns;
}

/** Appends the relations of one side to those of another. */
export function append(to: Side, side: Side): void {
  for (const relation of side.relations) to.relations.push(relation);
  for (const row of side.rows) to.rows.push(row);
}
