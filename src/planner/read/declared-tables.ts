/** The tables that the SQL of a plan may read: those of its mappings and raw views. */

import type { ColumnDef, MappingDef, ViewDef } from '../../ontology/model.ts';
import { hasPlainCollation } from '../facts/column-types.ts';
import { type SelectStmt, walk } from '../plan/tree.ts';
import type { DeclaredTable } from '../verify/index.ts';
import type { Table } from './table-scope.ts';

/** Collects the tables and columns of the texts that a plan reads. */
export class DeclaredTables {
  /** Tables by schema, then by name. */
  readonly #schemas = new Map<string, Map<string, { readonly sets: Set<ReadonlySet<string>>; isWhole: boolean }>>();
  /** The mappings and raw views that the plan reads. */
  readonly sources = new Set<MappingDef | ViewDef>();
  /** False if a text that the plan compares may have a nondeterministic collation, as far as `noteTexts` was called. */
  isExact = true;

  /** Notes the collations of a mapping's or raw view's columns. Those of what a sub-query in its text compares are not known. */
  noteTexts(columns: readonly ColumnDef[], text: SelectStmt): void {
    this.isExact &&= columns.every(hasPlainCollation);
    walk([text], (n) => {
      if ('SubLink' in n) this.isExact = false;
      return undefined;
    });
  }

  /** Adds a table of a text. `columns`: the unqualified names of columns in the text. The sets are not copied. */
  add({ schema, name, columns: own, isWhole }: Table, columns: readonly ReadonlySet<string>[]): void {
    const tables = this.#schemas.get(schema) ?? new Map();
    this.#schemas.set(schema, tables);
    const table = tables.get(name) ?? { sets: new Set(), isWhole };
    tables.set(name, table);
    if (own.size > 0) table.sets.add(own);
    for (const set of columns) if (set.size > 0) table.sets.add(set);
    table.isWhole ||= isWhole;
  }

  get all(): readonly DeclaredTable[] {
    const all: DeclaredTable[] = [];
    for (const [schema, tables] of this.#schemas)
      for (const [name, { sets, isWhole }] of tables) {
        const list = [...sets];
        all.push({ schema, name, columns: { has: (column) => list.some((set) => set.has(column)) }, isWhole });
      }
    return all;
  }
}
