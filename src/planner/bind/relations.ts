/** Relations in FROM as names are looked up in them, and the relations with fixed columns. */

import { made } from '../../budget.ts';
import { badRequest, type SvcError } from '../../errors.ts';
import type { Concept } from '../../ontology/graph.ts';
import type { PropertyDef } from '../../ontology/model.ts';
import type { Composite } from '../guard/index.ts';
import { type Node, reference } from '../plan/tree.ts';
import { isAddress } from '../plan/wanted.ts';
import { kept, type Meaning, meaningByName } from './meaning.ts';

/** A column of a query's result or of a relation. */
export interface OutColumn {
  /** The name in SQL. */
  readonly name: string;
  /** The key in the answer: the name as written or declared, without stand-ins. */
  readonly key: string;
  /** The relation whose `*` was expanded to this column; undefined if the text names the column. */
  readonly star?: string;
  /** The meaning in terms of the model, if it is known. */
  readonly meaning?: Meaning;
  /** The known fields of the values, if they are composite. */
  readonly composite?: Composite | undefined;
  /** True for a boolean that may be compared with 0 and 1: a boolean column of a system table, or `_type_of_c`. */
  readonly isFlag?: true;
  /** True for the values of `inet` columns as texts (addresses.ts). */
  readonly isAddress?: true;
}

/** A relation of a scope. */
export interface Relation {
  readonly alias: string;
  /** The alias in the text, if the alias in SQL is another one. */
  readonly called?: string;
  /** True if columns must be qualified with the alias. */
  readonly qualified?: boolean;
  /** Looks up a column by its name in the text, or undefined. @throws SvcError 400 `ambiguous_column` if several columns have the name */
  find(name: string): Found | undefined;
  /** The columns of `*`, with their references. */
  star(): readonly Found[];
  /** The names for suggestions. */
  names(): Iterable<string>;
  /** The error for a name that exists, but cannot be used here; undefined for other names. */
  explain?(name: string): SvcError | undefined;
  /** A hint for a name that the relation does not have. */
  hint?(name: string, isMisspelt?: boolean): string | undefined;
}

/** The neutral names of the schemas of concepts. */
export type Schema = 'svc' | 'esvc' | 'dsvc';

/** A concept in FROM as names are looked up in it. */
export interface ConceptInFrom extends Relation {
  readonly concept: Concept;
  readonly schema: Schema;
  /** True if the concept is read from a schema. The name may be the neutral one or the product's. */
  isIn(schema: string): boolean;
  /** The columns of a path that ends with `*`. */
  wildcard(path: string): readonly Found[];
  explain(name: string): SvcError | undefined;
}

/** True for a concept in FROM. */
export const isConcept = (relation: Relation): relation is ConceptInFrom => 'concept' in relation;

/** A column that a name means, and the reference to it. */
export interface Found {
  readonly node: Node;
  readonly column: OutColumn;
}

/** The column of a property, marked if it has the values of `inet` columns. */
export const asAddress = ({ graph }: Concept, def: PropertyDef, found: Found): Found =>
  isAddress(graph, def) ? { node: found.node, column: { ...found.column, isAddress: true } } : found;

/** A relation with fixed columns: a derived table, a common table expression, a view, VALUES, a function. */
export class FixedRelation implements Relation {
  readonly alias: string;
  readonly columns: readonly OutColumn[];
  /** True if columns must be qualified with the alias, and `*` does not include them: the alias of USING. */
  readonly qualified: boolean;
  /** True if the whole row is the value of the only column: a function that does not return a composite. */
  readonly scalar: boolean;
  readonly #source: number;

  /** @param source the number of the columns in the references of the plan */
  constructor(source: number, alias: string, columns: readonly OutColumn[], qualified = false, scalar = false) {
    this.#source = source;
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
    const found = { name: c.name, key: c.key, meaning: meaningByName(c, this), ...kept(c) };
    return { node: reference(this.#source, c.name), column: found };
  }

  /** The value of the row, if it is scalar. */
  get value(): Node {
    return reference(this.#source, (this.columns[0] as OutColumn).name);
  }

  names(): Iterable<string> {
    return this.columns.map((c) => c.key);
  }
}

/** A join with an alias. Its columns are those of its sides. */
export class JoinRelation implements Relation {
  readonly alias: string;
  readonly sides: readonly Relation[];
  readonly #source: number;

  /** @param source the number of the columns in the references of the plan */
  constructor(source: number, alias: string, sides: readonly Relation[]) {
    this.#source = source;
    this.alias = alias;
    this.sides = sides;
  }

  find(name: string): Found | undefined {
    const found = this.sides.map((s) => s.find(name)).filter((f) => f !== undefined);
    if (found.length > 1)
      throw badRequest('ambiguous_column', `the column \`${name}\` of \`${this.alias}\` is ambiguous`, {
        hint: 'remove the alias of the join, and use the aliases of its relations',
      });
    return found[0] && this.#under(found[0]);
  }

  star(): readonly Found[] {
    const all = this.sides.flatMap((s) => s.star());
    const seen = new Set<string>();
    for (const f of all) {
      if (seen.has(f.column.name))
        throw badRequest('ambiguous_column', `the column \`${f.column.key}\` of \`${this.alias}\` is ambiguous`, { hint: 'remove the alias of the join' });
      seen.add(f.column.name);
    }
    return all.map((f) => this.#under(f));
  }

  #under(found: Found): Found {
    return { node: reference(this.#source, found.column.name), column: found.column };
  }

  *names(): Iterable<string> {
    for (const s of this.sides) yield* s.names();
  }
}
