/** The scopes of a SELECT over tables: its relations, their known columns, and the tables that they come from. */
import type { Alias } from '@pgsql/types';
import type { Composite } from '../guard/index.ts';
import { namesOf } from '../plan/tree.ts';

/** The columns of a relation in FROM and what is known of their values; null for a table, whose columns only the datasource knows. */
export type Columns = ReadonlyMap<string, Composite | undefined> | null;

/** A table, and which of its columns a SELECT names. */
export interface Table {
  readonly schema: string;
  readonly name: string;
  /** The columns that the SELECT qualifies with the table. */
  readonly columns: ReadonlySet<string>;
  /** True if the SELECT names the whole row, or all columns by a star or NATURAL. */
  readonly isWhole: boolean;
}

/** The same while the SELECT is read. */
export interface NamedTable extends Table {
  readonly columns: Set<string>;
  isWhole: boolean;
}

/** The relations and common table expressions that a query may name. */
export class Scope {
  readonly outer: Scope | undefined;
  readonly relations = new Map<string, Columns>();
  /** The tables of each relation whose columns are columns of tables. */
  readonly #tables = new Map<string, NamedTable[]>();
  #isWhole = false;
  readonly ctes = new Map<string, Columns>();

  constructor(outer: Scope | undefined) {
    this.outer = outer;
  }

  /** The same outer scopes and common table expressions without the relations: for a sub-select that is not LATERAL. */
  withoutRelations(): Scope {
    const made = new Scope(this.outer);
    for (const [name, columns] of this.ctes) made.ctes.set(name, columns);
    return made;
  }

  /** The columns of the relation of an alias; undefined: no such relation. */
  relation(alias: string): Columns | undefined {
    return this.relations.has(alias) ? (this.relations.get(alias) as Columns) : this.outer?.relation(alias);
  }

  /** Adds a relation. */
  add(alias: string, columns: Columns, tables: readonly NamedTable[] = []): void {
    this.relations.set(alias, columns);
    const known = this.#tables.get(alias);
    // tables of two schemas may have the same name
    if (known) known.push(...tables);
    else this.#tables.set(alias, [...tables]);
  }

  /** The tables of the relation of an alias. */
  tables(alias: string): readonly NamedTable[] {
    return this.#tables.get(alias) ?? this.outer?.tables(alias) ?? [];
  }

  /** True if a relation here or in an outer scope is a table. */
  get hasTable(): boolean {
    return [...this.#tables.values()].some((tables) => tables.length > 0) || (this.outer?.hasTable ?? false);
  }

  /** Notes that a star means the columns of all relations, without those of outer scopes. */
  allWhole(): void {
    if (this.#isWhole) return;
    this.#isWhole = true;
    for (const tables of this.#tables.values()) for (const table of tables) table.isWhole = true;
  }

  /** The columns of a common table expression in this scope or an outer one. */
  cte(name: string): Columns | undefined {
    return this.ctes.has(name) ? (this.ctes.get(name) as Columns) : this.outer?.cte(name);
  }
}

/** Columns with the names of an alias's column list, which may rename only the first of them. */
export function renamed(columns: Columns, names: Alias['colnames']): Columns {
  if (columns === null || !names?.length) return columns;
  const given = namesOf(names);
  return new Map([...columns].map(([name, composite], i) => [given[i] ?? name, composite] as const));
}
