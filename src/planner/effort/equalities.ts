/**
 * The equal columns of joined relations. PostgreSQL derives a condition for each two of them, and for each two sets of relations that it may join it weighs the orders of all
 * columns that are equal between them. Eight relations that are equal in 60 columns take 4 GB and 20 s.
 */
import { visited } from '../../budget.ts';
import { fieldsOf, lastName, type Node, walk } from '../plan/tree.ts';

/** The relations that PostgreSQL joins in all possible orders: those of a list in FROM, below GEQO; those of JOIN. */
const MOST_LISTED = 11;
const MOST_JOINED = 8;
/** The square of the number of equal columns, for two sets of relations, that costs as much as a node. */
const ORDERS_OF_A_NODE = 10;
/** Operators that compare for equality, perhaps under NOT. */
const EQUALITY = /^(=|<>|!=)$/;
/** Costs up to this number of nodes are not counted exactly. */
const FEW_ORDERS = 10_000;
/** The steps of the exact count that are as expensive as the visit of a node. */
const STEPS_OF_A_NODE = 20;
/** The nodes for each two of a set of equal columns. */
const NODES_OF_A_PAIR = 22;

/** Columns and expressions that are equal, and the places of their relations in FROM. */
interface Equal {
  readonly names: string[];
  readonly places: Set<number>;
}

/** The relations of a block, with those of the queries that PostgreSQL moves into it, and their equal columns. */
export class Equalities {
  /** The number of relations. */
  relations = 0;
  #listed: number;
  readonly #places = new Map<string, number>();
  /** The places of the relations that the columns of this query are from. */
  readonly #columns: number[] = [];
  readonly #equal = new Map<string, Equal>();
  /** Those of the block around it, if PostgreSQL joins this block with it. */
  readonly #outer: Equalities | undefined;

  /** @param items the number of items of FROM */
  constructor(outer: Equalities | undefined, items = 0) {
    this.#outer = outer;
    this.#listed = items;
  }

  /** Adds a relation. @param inner what it consists of, if PostgreSQL moves it into this block @param names the names of its columns */
  add(alias: string, inner?: Equalities, names: readonly string[] = []): void {
    const at = this.relations;
    this.#places.set(alias, at);
    this.relations += inner?.relations || 1;
    if (!inner) return;
    this.#listed = Math.max(this.#listed, inner.#listed);
    for (const { places } of inner.#all()) this.#equal.set(`${at} ${this.#equal.size}`, { names: [], places: new Set([...places].map((p) => p + at)) });
    for (const [i, place] of inner.#columns.entries()) this.#places.set(`${alias}.${names[i]}`, at + place);
  }

  /** Notes a column of the query. */
  column(value: Node): void {
    this.#columns.push(this.#placeOf(value) ?? 0);
    // it may be a condition of an outer block
    if (!('ColumnRef' in value)) this.condition(value);
  }

  /** Notes what a condition sets equal. */
  condition(node: Node): void {
    const { subLinkType, testexpr, operName } = 'SubLink' in node ? node.SubLink : {};
    if (subLinkType === 'ANY_SUBLINK' && !operName) {
      for (const value of partsOf(testexpr)) this.next(value);
      this.relations++;
    }
    // it simplifies NOT, OR and CASE
    walk(node, (n) => {
      const { kind, name, lexpr, rexpr } = 'A_Expr' in n ? n.A_Expr : {};
      const [right = [], isOne] = rexpr && 'List' in rexpr ? [rexpr.List.items, rexpr.List.items?.length === 1] : [partsOf(rexpr), kind === 'AEXPR_OP'];
      if (isOne && EQUALITY.test(lastName(name))) for (const [i, value] of partsOf(lexpr).entries()) this.#both(value, right[i]);
      return !('SubLink' in n);
    });
  }

  #both(left: Node, right = left): void {
    const [a, b] = [this.#of(left), this.#of(right)];
    if (a && b) this.#pair(a, b);
    else this.#outer?.next(a ? right : left);
  }

  /** Notes that a value is equal to a column of the relation that follows. */
  next(value: Node): void {
    this.#pair(this.#of(value), this.#at(this.relations, `${this.#equal.size}`));
  }

  /** Notes the columns that USING sets equal, of the relations at two places. */
  using(columns: readonly string[], left: number, right: number): void {
    for (const name of columns) for (const place of [left, right]) this.#pair(this.#at(left, name, ''), this.#at(place, name));
  }

  /** The sets of several equal columns. */
  #all(): Equal[] {
    return [...new Set(this.#equal.values())].filter(({ places }) => places.size > 1);
  }

  /** What an expression is equal to; undefined for one without columns of this block. */
  #of(value: Node): Equal | undefined {
    const place = this.#placeOf(value);
    if (place === undefined) return undefined;
    const fields = 'ColumnRef' in value ? fieldsOf(value.ColumnRef) : [];
    const name = fields.at(-1) ?? JSON.stringify(value, (key, v: unknown) => (key === 'location' ? undefined : v));
    return this.#at(place, name, fields.length === 1 ? '' : place);
  }

  /** The place of a relation that an expression reads; undefined if it reads none, or one that is not of this block. */
  #placeOf(value: Node): number | undefined {
    const places: (number | undefined)[] = [];
    walk(value, (n) => {
      const [first = '', second] = 'ColumnRef' in n ? fieldsOf(n.ColumnRef) : [];
      if (first !== '') places.push(second === undefined ? 0 : (this.#places.get(`${first}.${second}`) ?? this.#places.get(first)));
      return true;
    });
    return places.includes(undefined) ? undefined : places[0];
  }

  /** A column of the relation at a place. */
  #at(place: number, column: string, of: string | number = place): Equal {
    const name = `${of}.${column}`;
    const equal = this.#equal.get(name) ?? { names: [name], places: new Set([place]) };
    this.#equal.set(name, equal);
    return equal;
  }

  #pair(a: Equal | undefined, b: Equal): void {
    if (!a || a === b) return;
    const [more, less] = a.names.length < b.names.length ? [b, a] : [a, b];
    for (const name of less.names) this.#equal.set(name, more);
    more.names.push(...less.names);
    for (const place of less.places) more.places.add(place);
  }

  /** The nodes that the joins cost. */
  cost(): number {
    const most = this.#listed > MOST_JOINED && this.#listed <= MOST_LISTED ? this.#listed : MOST_JOINED;
    let cost = 0;
    // the relations of earlier windows are the first one of the next
    const windows: number[][] = [];
    for (const { places } of this.#all()) {
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
    return windows.reduce((all, sets, w) => all + ordersOf(sets, Math.min(most, w === 0 ? this.relations : most)), cost);
  }
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

const partsOf = (node: Node | undefined): readonly Node[] => (node === undefined ? [] : 'RowExpr' in node ? (node.RowExpr.args ?? []) : [node]);

/** The nodes that the orders of some equal columns cost at most. */
export const costOfOrders = (relations: number, equal: number): number => (joinsOf(Math.min(relations, MOST_LISTED)) * equal ** 2) / ORDERS_OF_A_NODE;
