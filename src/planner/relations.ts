/** What stands in FROM under an alias, as names are looked up in it; and the relations whose columns are fixed. */

import { made } from '../budget.ts';
import { badRequest, type SvcError } from '../errors.ts';
import type { Composite } from './guard/index.ts';
import { type Meaning, meaningByName } from './meaning.ts';
import { column, type Node } from './tree.ts';

/** A column of a query's result or of a relation. */
export interface OutColumn {
  /** Its name in SQL. */
  readonly name: string;
  /** The key of an answer: the name as written or declared, without stand-ins. */
  readonly key: string;
  /** The relation from which a `*` brought it; undefined: it was written. */
  readonly star?: string;
  /** What it means in terms of the model, where it is told. */
  readonly meaning?: Meaning;
  /** What is known of the fields of its values, where they are composite. */
  readonly composite?: Composite | undefined;
}

/** A relation of a scope. */
export interface Relation {
  readonly alias: string;
  /** The alias by which the text calls it, where the relation stands under another one. */
  readonly called?: string;
  /** Found under its alias only. */
  readonly qualified?: boolean;
  /** The reference to a column, by its name as written (a stand-in undone); undefined: it has none of the name. Several of the name: 400. */
  find(name: string): Found | undefined;
  /** The columns that `*` gives, each with its reference. */
  star(): readonly Found[];
  /** Names to suggest. */
  names(): Iterable<string>;
  /** What is wrong with a name that looks like one of this relation's; undefined: nothing is known of it. */
  explain?(name: string): SvcError | undefined;
}

export interface Found {
  readonly node: Node;
  readonly column: OutColumn;
}

/** A relation with fixed columns: a derived table, a common table expression, a view, VALUES, a function. */
export class FixedRelation implements Relation {
  readonly alias: string;
  readonly columns: readonly OutColumn[];
  /** Whether its columns are found under its alias only, and `*` passes over it: the alias of a USING. */
  readonly qualified: boolean;
  /** Whether its row as a whole is the value of its only column: a function that gives no composite. */
  readonly scalar: boolean;

  constructor(alias: string, columns: readonly OutColumn[], qualified = false, scalar = false) {
    this.alias = alias;
    this.columns = columns;
    this.qualified = qualified;
    this.scalar = scalar;
  }

  find(name: string): Found | undefined {
    const exact = this.columns.filter((c) => c.name === name || c.key === name);
    const same = exact.length > 0 ? exact : this.columns.filter((c) => c.key.toLowerCase() === name.toLowerCase());
    if (same.length > 1)
      throw badRequest('ambiguous_column', `the column \`${name}\` of \`${this.alias}\` is ambiguous`, { hint: 'give its columns different aliases' });
    const found = same[0];
    return found && this.#found(found);
  }

  star(): readonly Found[] {
    return this.columns.map((c) => this.#found(c));
  }

  #found(c: OutColumn): Found {
    made(2);
    const found = { name: c.name, key: c.key, meaning: meaningByName(c, this) };
    return { node: column(this.alias, c.name), column: c.composite ? { ...found, composite: c.composite } : found };
  }

  names(): Iterable<string> {
    return this.columns.map((c) => c.key);
  }
}

/** A join under an alias of its own: its columns are those of its sides. */
export class JoinRelation implements Relation {
  readonly alias: string;
  readonly sides: readonly Relation[];

  constructor(alias: string, sides: readonly Relation[]) {
    this.alias = alias;
    this.sides = sides;
  }

  find(name: string): Found | undefined {
    const found = this.sides.map((s) => s.find(name)).filter((f) => f !== undefined);
    if (found.length > 1)
      throw badRequest('ambiguous_column', `the column \`${name}\` of \`${this.alias}\` is ambiguous`, {
        hint: 'leave the alias of the join out and name its relations',
      });
    return found[0] && this.#under(found[0]);
  }

  star(): readonly Found[] {
    const all = this.sides.flatMap((s) => s.star());
    const seen = new Set<string>();
    for (const f of all) {
      if (seen.has(f.column.name))
        throw badRequest('ambiguous_column', `the column \`${f.column.key}\` of \`${this.alias}\` is ambiguous`, { hint: 'leave the alias of the join out' });
      seen.add(f.column.name);
    }
    return all.map((f) => this.#under(f));
  }

  #under(found: Found): Found {
    return { node: column(this.alias, found.column.name), column: found.column };
  }

  *names(): Iterable<string> {
    for (const s of this.sides) yield* s.names();
  }
}
