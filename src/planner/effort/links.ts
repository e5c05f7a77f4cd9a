/** The relations that conditions compare in other ways than for equality. PostgreSQL weighs an index on a column for each set of the relations that it is compared with. */
import { lastName, type Node, walk } from '../plan/tree.ts';
import type { Spread } from './equal-sets.ts';

/** Operators that compare for equality, perhaps under NOT. */
export const EQUALITY = /^\*?(=|<>)$|^!=$/;

/** Sets of three or more relations, for each relation, that cost little: a period between two dates of other tables has one for each table. */
const FEW = 2;

/** Columns that a condition compares. More relations than `most` do not count. `isOne`: true for one comparison, which may be that of an index on each of its columns. */
export interface Compared {
  readonly columns: readonly Node[];
  readonly most: number;
  readonly isOne: boolean;
}

/** The columns of each comparison in a condition. PostgreSQL simplifies NOT, OR and CASE, also around comparisons of more relations. */
export function comparedIn(condition: Node): readonly Compared[] {
  if ('SubLink' in condition) return [];
  const all: Compared[] = isEqual(condition) ? [] : [{ columns: columnsIn(condition), most: 2, isOne: false }];
  walk(condition, (node) => {
    const isOther = 'A_Expr' in node && !isEqual(node);
    if (isOther) all.push({ columns: columnsIn(node), most: Infinity, isOne: true });
    return !isOther && !('SubLink' in node);
  });
  return all;
}

/** True for an equality. A comparison with several values is not one. */
const isEqual = (node: Node): boolean =>
  'A_Expr' in node && EQUALITY.test(lastName(node.A_Expr.name)) && node.A_Expr.kind !== 'AEXPR_IN' && node.A_Expr.kind !== 'AEXPR_OP_ANY';

function columnsIn(expression: Node): readonly Node[] {
  const columns: Node[] = [];
  walk(expression, (node) => {
    if ('ColumnRef' in node) columns.push(node);
    return !('SubLink' in node);
  });
  return columns;
}

/** Further columns of a relation that a set compares do not count. */
const MOST_COLUMNS = 6;

/** A set of relations that are compared, and the texts of the columns of each of them. */
interface Link extends Spread {
  readonly columns: ReadonlyMap<number, Set<string>>;
}

/** The sets of relations that are compared: each once for each column of the relation with the most of them, since each may have an index. */
export class Links {
  readonly #sets = new Map<string, Link>();

  /** Adds a set. @param places the columns of each relation @param unknown the texts of columns without a known relation @param most more relations are not added */
  add(places: ReadonlyMap<number, readonly string[]>, unknown: ReadonlySet<string>, most: number): void {
    const size = places.size + unknown.size;
    if (size < 2 || size > most) return;
    const key = [...places.keys(), ...unknown].sort().join();
    const link = this.#sets.get(key) ?? {
      places: new Set(places.keys()),
      unknown: unknown.size,
      columns: new Map([...places.keys()].map((p) => [p, new Set<string>()])),
    };
    this.#sets.set(key, link);
    for (const [place, texts] of places) for (const text of texts) link.columns.get(place)?.add(text);
  }

  /** Adds the sets of a query at a place. */
  move(inner: Links, at: number): void {
    for (const [key, { places, unknown, columns }] of inner.#sets) {
      const moved = new Map([...columns].map(([place, texts]) => [place + at, texts]));
      this.#sets.set(`${at} ${key}`, { places: new Set([...places].map((p) => p + at)), unknown, columns: moved });
    }
  }

  /** The sets of two relations, and those of more if they are many. */
  all(relations: number): readonly Spread[] {
    const sets = [...this.#sets.values()];
    const large = sets.filter(({ places, unknown }) => places.size + unknown > 2);
    const counted = large.length > FEW * relations ? sets : sets.filter(({ places, unknown }) => places.size + unknown === 2);
    return counted.flatMap((link) => Array<Spread>(Math.min(MOST_COLUMNS, Math.max(1, ...[...link.columns.values()].map((c) => c.size)))).fill(link));
  }
}
