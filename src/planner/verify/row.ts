/** The columns of a relation, as far as the statement itself defines them. */
import type { DeclaredTable } from './declared.ts';
import { SYSTEM_COLUMNS } from './fields.ts';
import { refuse } from './refusal.ts';

/**
 * The columns of a relation, or the fields of a row, in order. The columns of a table are not known here. A row that contains them is open: they may be at the position `gap`
 * and after it.
 */
export class Row {
  readonly names: readonly string[];
  /** The fields of each column whose value is a row. Fields of fields are left out, because PostgreSQL does not know them. */
  readonly fields: readonly (Row | undefined)[];
  readonly gap: number | undefined;
  /** The tables whose columns may be in the gap. */
  readonly tables: readonly DeclaredTable[];
  #places: ReadonlyMap<string, number> | undefined;

  constructor(names: readonly string[], fields: readonly (Row | undefined)[] = [], gap?: number, tables: readonly DeclaredTable[] = []) {
    this.names = names;
    this.fields = fields;
    this.gap = gap;
    this.tables = tables;
  }

  get isOpen(): boolean {
    return this.gap !== undefined;
  }

  /** True if a table in the gap declares the column. */
  declares(name: string): boolean {
    return !SYSTEM_COLUMNS.has(name) && this.tables.some((table) => table.columns.has(name));
  }

  /** Checks that the statement may use the whole row, or all of its columns. @throws RefusedByVerifier `row` for a table that is not declared as a whole */
  whole(): this {
    for (const { isWhole, schema, name } of this.tables) if (!isWhole) refuse('row', `${schema}.${name}`);
    return this;
  }

  has(name: string): boolean {
    return this.#index().has(name);
  }

  /** The fields of a column's value; undefined if it is no row, its fields are not known, or several columns have the name. */
  field(name: string): Row | undefined {
    const place = this.#index().get(name);
    return place === undefined || place < 0 ? undefined : this.fields[place];
  }

  /** The position of each name; -1 if several columns have it. */
  #index(): ReadonlyMap<string, number> {
    if (this.#places) return this.#places;
    const places = new Map<string, number>();
    for (const [i, name] of this.names.entries()) places.set(name, places.has(name) ? -1 : i);
    this.#places = places;
    return places;
  }

  /** The same columns with the names of an alias's column list, which may rename only the first of them. */
  renamed(names: readonly string[]): Row {
    if (names.length === 0) return this;
    // a column after the gap may be one of those that are renamed
    if (this.gap !== undefined && names.length > this.gap) return new Row(names, this.fields.slice(0, this.gap), names.length, this.tables);
    return new Row([...names, ...this.names.slice(names.length)], this.fields, this.gap, this.tables);
  }

  /** The columns without some of them. */
  without(names: ReadonlySet<string>): Row {
    const kept = this.names.map((_, i) => i).filter((i) => !names.has(this.names[i] as string));
    return new Row(
      kept.map((i) => this.names[i] as string),
      kept.map((i) => this.fields[i]),
      this.gap === undefined ? undefined : kept.filter((i) => i < (this.gap as number)).length,
      this.tables,
    );
  }

  /** The columns of several relations. */
  static of(rows: readonly Row[]): Row {
    if (rows.length === 1) return rows[0] as Row;
    const columns = new Columns();
    for (const row of rows) columns.addAll(row);
    return columns.row();
  }
}

/** A relation without known columns. */
export const NOTHING = new Row([]);

/** Collects the columns of a row. */
export class Columns {
  readonly #names: string[] = [];
  readonly #fields: (Row | undefined)[] = [];
  readonly #tables = new Set<DeclaredTable>();
  #gap: number | undefined;

  add(name: string, fields?: Row): void {
    this.#names.push(name);
    this.#fields.push(fields && fields.fields.length > 0 ? new Row(fields.names, [], fields.gap, fields.tables) : fields);
  }

  addAll(row: Row): void {
    if (row.gap !== undefined) this.#gap ??= this.#names.length + row.gap;
    for (const table of row.tables) this.#tables.add(table);
    for (const [i, name] of row.names.entries()) this.add(name, row.fields[i]);
  }

  row(): Row {
    return new Row(this.#names, this.#fields, this.#gap, [...this.#tables]);
  }
}
