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
export const EQUALITY = /^(=|<>|!=)$/;
/** Costs up to this number of nodes are not counted exactly. */
const FEW_ORDERS = 10_000;
/** The steps of the exact count that are as expensive as the visit of a node. */
const STEPS_OF_A_NODE = 20;
/** The nodes for each two of a set of equal columns. */
const NODES_OF_A_PAIR = 22;
/** The characters of an expression that are written in a step. */
const CHARACTERS_OF_A_STEP = 20;
/** The place of a column without a relation, whose name no relation is known to have. */
const UNKNOWN = -1;

/** The columns that tables of NATURAL JOIN are assumed to share. */
export const SHARED = Array.from({ length: 30 }, (_, i) => `*${i}`);

/** Columns and expressions that are equal, and the places of their relations in FROM. */
interface Equal {
  readonly names: string[];
  readonly places: Set<number>;
  /** How many of the names have no known relation. */
  unknown: number;
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
    for (const [i, name] of names.entries()) for (const owner of ['', alias]) this.#places.set(`${owner}.${name}`, at + ((inner ? inner.#columns[i] : 0) ?? 0));
    if (!inner) return;
    this.#listed = Math.max(this.#listed, inner.#listed);
    for (const places of inner.#all()) this.#equal.set(`${at} ${this.#equal.size}`, { names: [], places: new Set([...places].map((p) => p + at)), unknown: 0 });
  }

  /** Notes the names of a join, which begins at a place. */
  alias(names: readonly string[], place: number): void {
    for (const name of names) this.#places.set(name, place);
  }

  /** Notes a column of the query. */
  column(value: Node): void {
    this.#columns.push(Math.max(0, this.#placeOf(value) ?? 0));
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
      const pairs = isOne && EQUALITY.test(lastName(name)) ? partsOf(lexpr).map((value, i) => this.#both(value, right[i])) : [];
      return !('SubLink' in n) && !pairs.includes(true);
    });
  }

  /** @returns true if both values read columns of this block */
  #both(left: Node, right = left): boolean {
    if ('A_Const' in left || 'A_Const' in right) return false;
    const [a, b] = [this.#placeOf(left), this.#placeOf(right)];
    if (a === undefined || b === undefined) this.#outer?.next(a === undefined ? left : right);
    else this.#pair(this.#of(left, a), this.#of(right, b));
    return a !== undefined && b !== undefined;
  }

  /** Notes that a value is equal to a column of the relation that follows. */
  next(value: Node): void {
    this.#pair(this.#of(value), this.#at(this.relations, `${this.#equal.size}`));
  }

  /** Notes the columns that USING sets equal, of the relations at two places. */
  using(columns: readonly string[], left: number, right: number): void {
    for (const name of columns) for (const place of [left, right]) this.#pair(this.#at(left, name, ''), this.#at(place, name));
  }

  /** The places of each set of several equal columns. Columns without a known relation are of different ones. */
  #all(): Set<number>[] {
    return [...new Set(this.#equal.values())]
      .map(({ places, unknown }) => {
        const all = new Set(places);
        const size = Math.min(this.relations, places.size + unknown);
        for (let p = 0; all.size < size; p++) all.add(p);
        return all;
      })
      .filter((places) => places.size > 1);
  }

  /** What an expression is equal to; undefined for one without columns of this block. */
  #of(value: Node, place = this.#placeOf(value)): Equal | undefined {
    if (place === undefined) return undefined;
    const fields = 'ColumnRef' in value ? fieldsOf(value.ColumnRef) : [];
    const name = fields.at(-1) ?? JSON.stringify(value).replaceAll(/"location":-?\d+/g, '');
    visited(name.length / CHARACTERS_OF_A_STEP);
    return this.#at(place, name, fields.length === 1 || place === UNKNOWN ? '' : place);
  }

  /** The place of a relation that an expression reads; undefined if it reads none, or one that is not of this block. */
  #placeOf(value: Node): number | undefined {
    const places: (number | undefined)[] = [];
    walk(value, (n) => {
      const [first = '', second] = 'ColumnRef' in n ? fieldsOf(n.ColumnRef) : [];
      if (first !== '')
        places.push(second === undefined ? (this.#places.get(`.${first}`) ?? UNKNOWN) : (this.#places.get(`${first}.${second}`) ?? this.#places.get(first)));
      return true;
    });
    return places.includes(undefined) ? undefined : places[0];
  }

  /** A column of the relation at a place. */
  #at(place: number, column: string, of: string | number = place): Equal {
    const name = `${of}.${column}`;
    const isUnknown = place === UNKNOWN;
    const equal = this.#equal.get(name) ?? { names: [name], places: new Set(isUnknown ? [] : [place]), unknown: isUnknown ? 1 : 0 };
    this.#equal.set(name, equal);
    return equal;
  }

  #pair(a: Equal | undefined, b: Equal | undefined): void {
    if (!a || !b || a === b) return;
    const [more, less] = a.names.length < b.names.length ? [b, a] : [a, b];
    for (const name of less.names) this.#equal.set(name, more);
    more.names.push(...less.names);
    for (const place of less.places) more.places.add(place);
    more.unknown += less.unknown;
  }

  /** The nodes that the joins cost. */
  cost(): number {
    const most = this.#listed > MOST_JOINED && this.#listed <= MOST_LISTED ? this.#listed : MOST_JOINED;
    let cost = 0;
    // the relations of earlier windows are the first one of the next
    const windows: number[][] = [];
    for (const places of this.#all()) {
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
