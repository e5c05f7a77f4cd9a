/** Sets of equal columns and expressions. */
import type { ColumnRef } from '@pgsql/types';
import { visited } from '../../budget.ts';
import { fieldsOf, type Node } from '../plan/tree.ts';

/** Columns and expressions that are equal, and the places of their relations in FROM. */
export interface Equal {
  readonly names: string[];
  readonly places: Set<number>;
  /** How many of the names have no known relation. */
  unknown: number;
  /** True if the blocks around this one have the set too; undefined for a single column. */
  isKnownOutside?: boolean;
  /** The sets of the columns of its expressions. */
  parts: Equal[];
  /** The set that has all of this one since they are equal. */
  into?: Equal;
}

/** A column of a sub-select, by the place of its first relation, and the name of its set. */
export interface Known {
  readonly at: number;
  readonly key: string;
}

/** The set that a set is now part of. */
export function latest(equal: Equal): Equal {
  let last = equal;
  while (last.into) last = last.into;
  return last;
}

/** The relations that equal columns join. */
export type Spread = Pick<Equal, 'places' | 'unknown'>;

/** The places of each of some sets. Columns without a known relation are of different ones. */
export const placesOf = (sets: readonly Spread[], relations: number): Set<number>[] =>
  sets
    .map(({ places, unknown }) => {
      const all = new Set(places);
      const size = Math.min(relations, places.size + unknown);
      for (let p = 0; all.size < size; p++) all.add(p);
      return all;
    })
    .filter((places) => places.size > 1);

/**
 * Sets of several columns, if expressions of the same columns may be the same. PostgreSQL simplifies `CASE WHEN true THEN a END`, `a + (0 + 1)` and casts to the same type, so
 * differently written expressions may be equal. The sets that are then one set become as many as their comparisons make possible.
 */
export function simplified(sets: readonly Equal[]): readonly Spread[] {
  const above = new Map<Equal, Equal>();
  const topOf = (equal: Equal): Equal => {
    let top = equal;
    for (let next = above.get(top); next; next = above.get(top)) top = next;
    return top;
  };
  const seen = new Set<Equal>(sets);
  for (const equal of seen) {
    visited(1 + equal.parts.length);
    for (const part of equal.parts.map(latest)) {
      seen.add(part);
      const [one, other] = [topOf(equal), topOf(part)];
      if (one !== other) above.set(one, other);
    }
  }
  const groups = new Map<Equal, Equal[]>();
  for (const equal of sets) {
    const group = groups.get(topOf(equal)) ?? [];
    group.push(equal);
    groups.set(topOf(equal), group);
  }
  return [...groups.values()].flatMap((group) => (group.length === 1 ? group : merged(group)));
}

/** The sets with all relations of a group that its comparisons make possible. */
function merged(group: readonly Equal[]): Spread[] {
  const sizeOf = ({ places, unknown }: Spread): number => places.size + unknown;
  const all = { places: new Set(group.flatMap(({ places }) => [...places])), unknown: group.reduce((n, { unknown }) => n + unknown, 0) };
  const comparisons = group.reduce((n, equal) => n + sizeOf(equal) - 1, 0);
  return Array.from({ length: Math.round(comparisons / Math.max(1, sizeOf(all) - 1)) }, () => all);
}

/** The relation and name of a reference; empty for other nodes. */
export function keyOf(part: unknown): string {
  const fields = typeof part === 'object' && part !== null && 'ColumnRef' in part ? fieldsOf(part.ColumnRef as ColumnRef) : [];
  return fields.length === 1 ? `.${fields[0]}` : fields.length === 2 ? fields.join('.') : '';
}

/** The characters of an expression that are written in a step. */
const CHARACTERS_OF_A_STEP = 20;

/** The text of an expression without its positions. @param of the text in the place of a part of it */
export function written(value: Node, of: (part: unknown) => string | undefined = () => undefined): string {
  const text = JSON.stringify(value, (key, part) => (key === 'location' ? undefined : (of(part) ?? part)));
  visited(text.length / CHARACTERS_OF_A_STEP);
  return text;
}

/** The values of a row, or a single value. */
export const partsOf = (node: Node | undefined): readonly Node[] => (node === undefined ? [] : 'RowExpr' in node ? (node.RowExpr.args ?? []) : [node]);

/** A text of limited length: instead of a long one, a number that is the same for the same text. */
export function shortened(text: string): string {
  if (text.length < 100) return text;
  let hash = 0;
  for (let i = 0; i < text.length; i++) hash = (hash * 33 + text.charCodeAt(i)) % 9_007_199_254_741;
  return `${hash}`;
}
