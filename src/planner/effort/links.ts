/** The relations that conditions compare in other ways than for equality. PostgreSQL weighs an index on a column for each set of the relations that it is compared with. */
import { lastName, type Node, walk } from '../plan/tree.ts';
import type { Spread } from './equal-sets.ts';

/** Operators that compare for equality, perhaps under NOT. */
export const EQUALITY = /^\*?(=|<>)$|^!=$/;

/** Sets of three or more relations, for each relation, that cost little: a period between two dates of other tables has one for each table. */
const FEW = 2;

/** Columns that a condition compares. More relations than `most` do not count. */
export interface Compared {
  readonly columns: readonly Node[];
  readonly most: number;
}

/** The columns of each comparison in a condition. PostgreSQL simplifies NOT, OR and CASE, also around comparisons of more relations. */
export function comparedIn(condition: Node): readonly Compared[] {
  if ('SubLink' in condition) return [];
  const all: Compared[] = isEqual(condition) ? [] : [{ columns: columnsIn(condition), most: 2 }];
  walk(condition, (node) => {
    const isOther = 'A_Expr' in node && !isEqual(node);
    if (isOther) all.push({ columns: columnsIn(node), most: Infinity });
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

/** The sets of relations that are compared, each once. */
export class Links {
  readonly #sets = new Map<string, Spread>();

  /** Adds a set. @param unknown the texts of columns without a known relation @param most more relations are not added */
  add(places: ReadonlySet<number>, unknown: ReadonlySet<string>, most: number): void {
    const size = places.size + unknown.size;
    if (size > 1 && size <= most) this.#sets.set([...places, ...unknown].sort().join(), { places: new Set(places), unknown: unknown.size });
  }

  /** Adds the sets of a query at a place. */
  move(inner: Links, at: number): void {
    for (const [key, { places, unknown }] of inner.#sets) this.#sets.set(`${at} ${key}`, { places: new Set([...places].map((p) => p + at)), unknown });
  }

  /** The sets of two relations, and those of more if they are many. */
  all(relations: number): readonly Spread[] {
    const sets = [...this.#sets.values()];
    const large = sets.filter(({ places, unknown }) => places.size + unknown > 2);
    return large.length > FEW * relations ? sets : sets.filter(({ places, unknown }) => places.size + unknown === 2);
  }
}
