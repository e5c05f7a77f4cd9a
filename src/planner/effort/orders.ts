/**
 * The cost of joins on equal columns. PostgreSQL derives a condition for each two of them, and for each two sets of relations that it may join it weighs the orders of all
 * columns that are equal between them. Eight relations that are equal in 60 columns take 4 GB and 20 s.
 */
import { visited } from '../../budget.ts';

/** The relations that PostgreSQL joins in all possible orders: those of a list in FROM, below GEQO; those of JOIN. */
const MOST_LISTED = 11;
const MOST_JOINED = 8;
/** The square of the number of equal columns, for two sets of relations, that costs as much as a node. */
const ORDERS_OF_A_NODE = 10;
/** Costs up to this number of nodes are not counted exactly. */
const FEW_ORDERS = 10_000;
/** The steps of the exact count that are as expensive as the visit of a node. */
const STEPS_OF_A_NODE = 20;
/** The nodes for each two of a set of equal columns. */
const NODES_OF_A_PAIR = 22;

/** The nodes that joins cost. @param equal the places of the relations of each set of equal columns @param listed the number of items of FROM */
export function costOfJoins(equal: readonly ReadonlySet<number>[], relations: number, listed: number): number {
  const most = listed > MOST_JOINED && listed <= MOST_LISTED ? listed : MOST_JOINED;
  let cost = 0;
  // the relations of earlier windows are the first one of the next
  const windows: number[][] = [];
  for (const places of equal) {
    cost += (places.size ** 2 / 2) * NODES_OF_A_PAIR;
    const sets: number[] = [];
    for (const p of places) {
      const w = Math.max(0, Math.ceil((p + 1 - most) / (most - 1)));
      sets[w] = (sets[w] ?? 0) | (1 << (p - w * (most - 1)));
    }
    let before = 0;
    for (const w in sets) {
      windows[w] = [...(windows[w] ?? []), (sets[w] as number) | before];
      before = 1;
    }
  }
  return windows.reduce((all, sets, w) => all + ordersOf(sets, Math.min(most, w === 0 ? relations : most)), cost);
}

/** The nodes of the joins of some relations. @param equal the sets of relations with equal columns */
function ordersOf(equal: readonly number[], relations: number): number {
  const most = costOfOrders(relations, equal.length);
  if (most < FEW_ORDERS) return most;
  visited((joinsOf(relations) * equal.length) / STEPS_OF_A_NODE);
  const isJoined = Array.from({ length: 1 << relations }, (_, set) => {
    let reached = set & -set;
    for (let before = 0; before !== reached; ) {
      before = reached;
      for (const c of equal) if (c & reached) reached |= c & set;
    }
    return reached === set;
  });
  let orders = 0;
  for (let set = 3; set < isJoined.length; set++) {
    for (let left = isJoined[set] ? (set - 1) & set : 0; left > set - left; left = (left - 1) & set) {
      const right = set - left;
      if (isJoined[left] && isJoined[right]) orders += equal.filter((c) => c & left && c & right).length ** 2;
    }
  }
  return orders / ORDERS_OF_A_NODE;
}

/** The pairs of sets of relations. */
const joinsOf = (relations: number): number => 3 ** relations / 2;

/** The nodes that the orders of some equal columns cost at most. */
export const costOfOrders = (relations: number, equal: number): number => (joinsOf(Math.min(relations, MOST_LISTED)) * equal ** 2) / ORDERS_OF_A_NODE;

/** The nodes that the joins of a statement cost at most. @param comparisons how often it compares two columns. Each of them joins at most one more relation with others. */
export function mostOfJoins(relations: number, comparisons: number): number {
  const joined = Math.min(relations, comparisons + 1);
  return costOfOrders(joined, comparisons) + (joined ** 2 / 2) * NODES_OF_A_PAIR * comparisons;
}
