/** The tables that a plan's SQL may read, gathered from the mappings and raw views that the plan names. */
import type { Table } from './tables.ts';
import type { DeclaredTable } from './verify/index.ts';

export class DeclaredTables {
  readonly #tables = new Map<string, { readonly sets: Set<ReadonlySet<string>>; isWhole: boolean }>();

  /** Adds a table of a text; `columns`: names that the text writes without a table in front of them. The sets are kept, not copied. */
  add({ schema, name, columns: own, isWhole }: Table, columns: readonly ReadonlySet<string>[]): void {
    const key = JSON.stringify([schema, name]);
    const table = this.#tables.get(key) ?? { sets: new Set(), isWhole };
    this.#tables.set(key, table);
    for (const set of [own, ...columns]) if (set.size > 0) table.sets.add(set);
    table.isWhole ||= isWhole;
  }

  get all(): readonly DeclaredTable[] {
    return [...this.#tables].map(([key, { sets, isWhole }]) => {
      const [schema, name] = JSON.parse(key) as [string, string];
      return { schema, name, columns: new Names([...sets]), isWhole };
    });
  }
}

/** Several sets of names as one. */
class Names {
  readonly #sets: readonly ReadonlySet<string>[];

  constructor(sets: readonly ReadonlySet<string>[]) {
    this.#sets = sets;
  }

  has(name: string): boolean {
    return this.#sets.some((set) => set.has(name));
  }
}
