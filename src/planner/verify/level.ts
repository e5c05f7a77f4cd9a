/** What can be named at one level of a query. */
import type { Row } from './row.ts';

/** A relation that can be named in expressions. */
export interface Relation {
  /** Undefined: it cannot be named, only its columns are found. */
  readonly alias: string | undefined;
  /** Of a table without an alias: `schema.table.column` names its columns too. */
  readonly schema?: string | undefined;
  readonly columns: Row;
  /** The row that the bare alias means; undefined for the alias of a function with one column, which is no row. */
  readonly whole: Row | undefined;
}

/** Relations, and what unqualified names are looked up in: items of FROM, joins with their merged columns. */
export interface Side {
  readonly relations: Relation[];
  readonly rows: Row[];
}

/** Common table expressions in scope, innermost first. */
export interface Cte {
  readonly name: string;
  /** Undefined until its query has been read. */
  columns: Row | undefined;
  readonly next: Cte | undefined;
}

/** The common table expression of a name. */
export function cteOf(ctes: Cte | undefined, name: string): Cte | undefined {
  let cte = ctes;
  while (cte && cte.name !== name) cte = cte.next;
  return cte;
}

/** A column by its name alone; `fields` where its value is certainly a row. */
export interface Found {
  readonly fields: Row | undefined;
}

/** From so many look-ups on a level is made an index of it; a join's condition has only a few. */
const FEW = 8;

/** The relations of one query level. */
export class Level {
  readonly parent: Level | undefined;
  readonly ctes: Cte | undefined;
  /** Names of the select list, in the clauses that may name them. */
  outputs: ReadonlySet<string> | undefined;
  /** Whether what is read is an item of ORDER BY or DISTINCT ON, or one of GROUP BY where no table has its name: a name of the select list. */
  isItem = false;
  readonly #side: Side;
  #lookUps = 0;
  /** Indexes, until the level changes. */
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

  /** The present state of the level, for backTo. */
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

  /** Whether a table of the level may have columns that are not known. */
  get isOpen(): boolean {
    this.#isOpen ??= this.#side.rows.some((row) => row.isOpen);
    return this.#isOpen;
  }

  /** Whether a table of the level may have the column, as far as the model says. */
  declares(name: string): boolean {
    return this.isOpen && this.#side.rows.some((row) => row.declares(name));
  }

  /** The column of a name; undefined: no known column. */
  column(name: string): Found | undefined {
    if (++this.#lookUps > FEW) {
      this.#columns ??= columnsOf(this.#side.rows);
      return this.#columns.get(name);
    }
    let found: Found | undefined;
    for (const row of this.#side.rows) if (row.has(name)) found = found ? AMBIGUOUS : { fields: row.field(name) };
    return found;
  }

  /** The relation of an alias; with `schema`, only a table of that schema. */
  relation(alias: string, schema?: string): Relation | undefined {
    if (schema !== undefined) return this.#side.relations.find((r) => r.alias === alias && r.schema === schema);
    if (++this.#lookUps <= FEW) return this.#side.relations.find((r) => r.alias === alias);
    if (!this.#relations) {
      this.#relations = new Map();
      for (const r of this.#side.relations) if (r.alias !== undefined && !this.#relations.has(r.alias)) this.#relations.set(r.alias, r);
    }
    return this.#relations.get(alias);
  }
}

/** Of two columns of one name PostgreSQL takes none. */
const AMBIGUOUS: Found = { fields: undefined };

function columnsOf(rows: readonly Row[]): Map<string, Found> {
  const columns = new Map<string, Found>();
  for (const row of rows) for (const name of row.names) columns.set(name, columns.has(name) ? AMBIGUOUS : { fields: row.field(name) });
  return columns;
}

/** Puts the relations of one side behind those of another. */
export function append(to: Side, side: Side): void {
  for (const relation of side.relations) to.relations.push(relation);
  for (const row of side.rows) to.rows.push(row);
}
