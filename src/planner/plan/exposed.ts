/** The columns that the sub-select of a concept in FROM returns to its block. */
import { visited } from '../../budget.ts';
import type { PathNode } from './path-node.ts';
import type { Node } from './tree.ts';

/** The test whether a row belongs to a concept: it comes from one of the concept's mappings, and satisfies the conditions of logic concepts, innermost first. */
export interface Instance {
  readonly mapped: Node;
  readonly conditions: readonly Node[];
}

/** A column of the sub-select: a column of a node, or an expression over its nodes. */
export interface Exposed {
  readonly node: PathNode;
  /** An alias in the joins of the sub-select, and the column of that relation. */
  readonly alias: string;
  readonly column: string;
  readonly computed?: Instance;
  /** The name of a computed column in the text. */
  readonly called?: string;
}

/** The columns of a sub-select by their names. */
export class ExposedColumns {
  readonly #names: { alias(): string };
  readonly #columns = new Map<string, Exposed>();

  /** @param names makes unique aliases */
  constructor(names: { alias(): string }) {
    this.#names = names;
  }

  has(name: string): boolean {
    return this.#columns.has(name);
  }

  get(name: string): Exposed | undefined {
    return this.#columns.get(name);
  }

  set(name: string, exposed: Exposed): void {
    this.#columns.set(name, exposed);
  }

  /** The name of a node's column in the sub-select's result. */
  nameOf(node: PathNode, column: string, alias: string): string {
    visited(this.#columns.size);
    let known: string | undefined;
    this.#columns.forEach((e, name) => {
      if (e.node === node && e.column === column && e.alias === alias) known ??= name;
    });
    if (known !== undefined) return known;
    const name = this.#names.alias();
    this.#columns.set(name, { node, alias, column });
    return name;
  }

  /** All columns with their names. */
  get all(): readonly (readonly [string, Exposed])[] {
    return [...this.#columns];
  }
}
