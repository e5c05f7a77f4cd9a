/** The equal columns of joined relations, for which PostgreSQL weighs many orders (orders.ts). */
import { visited } from '../../budget.ts';
import { fieldsOf, lastName, type Node, walk } from '../plan/tree.ts';
import { type Equal, type Known, keyOf, latest, partsOf, placesOf, type Spread, shortened, simplified, written } from './equal-sets.ts';
import { type Compared, comparedIn, EQUALITY, Links } from './links.ts';
import { costOfJoins } from './orders.ts';

/** Longer expressions do not replace their columns, because each level may double the text. */
const LONG_TEXT = 10_000;
/** The place of a column without a relation, whose name no relation is known to have. */
const UNKNOWN = -1;

/** The columns that tables of NATURAL JOIN are assumed to share: those of a wide table, which may be joined with itself. */
export const SHARED = Array.from({ length: 100 }, (_, i) => `*${i}`);

/** The relations of a block, with those of the queries that PostgreSQL moves into it, and their equal columns. */
export class Equalities {
  /** The number of relations. */
  relations = 0;
  #listed: number;
  readonly #places = new Map<string, number>();
  /** The values of the columns of this query, by name, in order. */
  readonly #columns = new Map<string, Node | undefined>();
  readonly #equal = new Map<string, Equal>();
  /** The sets of the columns of sub-selects: by relation and name, and by name. */
  readonly #known = new Map<string, string>();
  readonly #named = new Map<string, Known[]>();
  /** What columns of sub-selects are: the same for two names of one expression. */
  readonly #meanings = new Map<string, string>();
  /** The relations that other conditions compare. */
  readonly #links = new Links();
  /** The values of columns of sub-selects that are expressions of blocks around this one. */
  readonly #foreign = new Map<string, Node>();
  /** Those of the block around it, if PostgreSQL joins this block with it. */
  readonly #outer: Equalities | undefined;
  readonly #seesOuter: boolean;

  /** @param items the number of items of FROM @param seesOuter false for a sub-select of FROM without LATERAL: it sees only the blocks around `outer` */
  constructor(outer: Equalities | undefined, items = 0, seesOuter = true) {
    this.#outer = outer;
    this.#listed = items;
    this.#seesOuter = seesOuter;
  }

  /** Adds a relation. @param inner what it consists of, if PostgreSQL moves it into this block @param names the names of its columns */
  add(alias: string, inner?: Equalities, names: readonly string[] = []): void {
    const at = this.relations;
    this.#places.set(alias, at);
    // PostgreSQL removes a query without FROM
    this.relations += inner ? inner.relations : 1;
    for (const name of names) for (const owner of ['', alias]) this.#places.set(`${owner}.${name}`, at);
    if (inner) this.#move(inner, at, alias, names);
  }

  /** Adds the sets of a query at a place, and the sets of its columns. */
  #move(inner: Equalities, at: number, alias: string, names: readonly string[]): void {
    // it joins the items of its own FROM in all orders
    this.#listed = Math.max(this.#listed, inner.#listed);
    const moved = new Map<Equal, Equal>();
    const move = (equal: Equal): Equal => {
      const known = moved.get(equal);
      if (known) return known;
      const own: Equal = { names: [], places: new Set([...equal.places].map((p) => p + at)), unknown: equal.isKnownOutside ? 0 : equal.unknown, parts: [] };
      moved.set(equal, own);
      own.parts = equal.parts.map((part) => move(latest(part)));
      return own;
    };
    const isWhole = inner.#columns.has('*');
    const values = [...inner.#columns.values()];
    for (const [i, name] of names.entries()) {
      const value = isWhole ? inner.#columns.get(name) : values[i];
      if (!value) continue;
      const place = inner.#placeOf(value);
      const set = inner.#of(value, place);
      // a column of LATERAL may be one of this block, or of one around it
      const equal = set ? move(set) : this.#of(value);
      const own = place === undefined ? this.#placeOf(value) : at + Math.max(0, place);
      const meaning = place === undefined ? this.#textOf(value) : `${at}/${shortened(inner.#textOf(value))}`;
      for (const owner of ['', alias]) {
        const key = `${owner}.${name}`;
        if (own !== undefined) this.#places.set(key, own);
        else if (meaning.length < LONG_TEXT) this.#foreign.set(key, value);
        this.#meanings.set(key, meaning);
      }
      if (equal) this.#name(alias, name, at, equal);
    }
    this.#links.move(inner.#links, at);
    for (const equal of inner.#several()) if (!equal.isKnownOutside) this.#set(`${at} ${this.#equal.size}`, move(equal));
  }

  /** Notes that a column of a relation is in a set. */
  #name(alias: string, name: string, at: number, equal: Equal): void {
    visited(1);
    const key = `${at} ${alias}.${name}`;
    this.#set(key, equal);
    for (const owner of ['', alias]) this.#known.set(`${owner}.${name}`, key);
    const others = this.#named.get(name) ?? [];
    others.push({ at, key });
    this.#named.set(name, others);
  }

  #set(key: string, equal: Equal): void {
    equal.names.push(key);
    this.#equal.set(key, equal);
  }

  /** Notes the names of a join, which begins at a place, and those of its columns, which follow those of the first table. */
  alias(names: readonly string[], place: number, columns: readonly string[] = []): void {
    for (const [i, name] of columns.entries()) {
      this.#places.set(`.${name}`, place);
      for (const owner of ['', place]) this.#at(place, name, owner).parts.push(this.#at(place, `#${i}`));
    }
    for (const name of names) {
      this.#places.set(name, place);
      visited(this.#named.size);
      for (const [column, all] of this.#named) for (const { at, key } of all) if (at >= place) this.#known.set(`${name}.${column}`, key);
    }
  }

  /** Notes a column of the query. @param value undefined for all columns of a table */
  column(name: string, value: Node | undefined): void {
    this.#columns.set(name, value && this.#meant(value));
    // it may be a condition of an outer block
    if (value && !('ColumnRef' in value)) this.condition(value);
  }

  /** Notes what a condition sets equal, and which relations it compares in other ways. */
  condition(node: Node): void {
    this.#equate(node);
    for (const compared of comparedIn(node)) this.#link(compared);
  }

  /** Notes that columns are compared with each other, and with a relation at a place. */
  #link({ columns, most, isOne }: Compared, at?: number): void {
    const [places, unknown, outer] = [new Map<number, string[]>(at === undefined ? [] : [[at, []]]), new Set<string>(), [] as Node[]];
    for (const column of columns) {
      const place = this.#placeOf(column);
      if (place === undefined) outer.push(column);
      else if (place === UNKNOWN) unknown.add(written(column));
      else places.set(place, [...(places.get(place) ?? []), ...(isOne ? [written(column)] : [])]);
    }
    const block = this.#outer;
    const around = this.#seesOuter || !block ? block : block.#outer;
    // a block around this one joins its relations with them
    if (around && block && outer.length > 0 && outer.length < columns.length)
      around.#link({ columns: outer, most, isOne }, block.relations + ([...places.keys()][0] ?? 0));
    this.#links.add(places, unknown, most);
  }

  #equate(node: Node): void {
    const { subLinkType, testexpr, operName } = 'SubLink' in node ? node.SubLink : {};
    if (subLinkType === 'ANY_SUBLINK') {
      // IN has no operator
      if (EQUALITY.test(lastName(operName) || '=')) for (const value of partsOf(testexpr)) this.next([value]);
      this.relations++;
    }
    // it simplifies NOT, OR and CASE
    walk(node, (n) => {
      const { kind, name, lexpr, rexpr } = 'A_Expr' in n ? n.A_Expr : {};
      const rows = rexpr && 'List' in rexpr ? (rexpr.List.items ?? []).map(partsOf) : kind === 'AEXPR_OP' ? [partsOf(rexpr)] : [];
      const pairs = EQUALITY.test(lastName(name)) ? partsOf(lexpr).map((value, i) => this.#isOne(rows, i) && this.#both(value, rows[0]?.[i])) : [];
      return !('SubLink' in n) && !pairs.includes(true);
    });
  }

  /** True if all rows of IN have the same value at an index. PostgreSQL then compares with it once. */
  #isOne(rows: readonly (readonly Node[])[], i: number): boolean {
    const [first, ...others] = rows.map((row) => row[i]);
    if (!first || others.length === 0) return first !== undefined;
    const text = written(first);
    return others.every((other) => other && written(other) === text);
  }

  /** @returns true if both values read columns of this block */
  #both(first: Node, second = first): boolean {
    if ('A_Const' in first || 'A_Const' in second) return false;
    const [left, right] = [this.#meant(first), this.#meant(second)];
    const [a, b] = [this.#placeOf(left), this.#placeOf(right)];
    const outer = [...(isElsewhere(a) ? [left] : []), ...(isElsewhere(b) ? [right] : [])];
    const isKnownOutside = outer.length > 0 && this.#around(outer, Math.max(0, a ?? 0, b ?? 0));
    if (a === undefined || b === undefined) return false;
    this.#pair(this.#of(left, a), this.#of(right, b), isKnownOutside);
    return true;
  }

  /** Notes in the blocks around this one that values are equal to a column of one of its relations. @returns false if PostgreSQL does not join them */
  #around(values: readonly Node[], place: number): boolean {
    const outer = this.#outer;
    if (!outer) return false;
    if (!this.#seesOuter) return outer.#around(values, outer.relations + place);
    outer.next(values, place);
    return true;
  }

  /** Notes that values are equal to a column of the relation that follows, or of another one after it. */
  next(values: readonly Node[], after = 0): void {
    visited(values.length);
    let column = this.#at(this.relations + after, `${this.#equal.size}`);
    const outer = values.filter((value) => {
      const place = this.#placeOf(value);
      column = this.#pair(column, this.#of(value, place));
      return isElsewhere(place);
    });
    if (outer.length > 0) this.#around(outer, this.relations + after);
  }

  /** Notes the columns that USING sets equal, of the relations at two places. */
  using(columns: readonly string[], left: number, right: number): void {
    for (const name of columns) {
      let merged = this.#at(left, name, '');
      for (const place of [left, right]) merged = this.#pair(merged, this.#at(place, name));
      for (const { at, key } of this.#named.get(name) ?? []) if (at >= left) merged = this.#pair(merged, this.#equal.get(key));
    }
  }

  #several(): Equal[] {
    return [...new Set(this.#equal.values())].filter(({ places, unknown }) => places.size + unknown > 1);
  }

  /** What an expression is equal to; undefined for one without columns of this block. */
  #of(value: Node, place = this.#placeOf(value)): Equal | undefined {
    if (place === undefined) return undefined;
    const fields = 'ColumnRef' in value ? fieldsOf(value.ColumnRef) : [];
    const known = fields.length > 0 ? this.#equal.get(this.#known.get(fields.length === 1 ? `.${fields[0]}` : fields.slice(0, 2).join('.')) ?? '') : undefined;
    if (known && fields.length < 3) return known;
    const name = fields.at(-1) ?? this.#textOf(value);
    const equal = this.#at(place, name, fields.length === 1 || place === UNKNOWN ? '' : place);
    if (fields.length === 0 && equal.parts.length === 0)
      walk(value, (n) => {
        const part = 'ColumnRef' in n ? this.#of(n) : undefined;
        if (part) equal.parts.push(part);
        return true;
      });
    return equal;
  }

  /** An expression with the values of the columns that are expressions of blocks around this one. */
  #meant(value: Node): Node {
    if (this.#foreign.size === 0) return value;
    return JSON.parse(written(value), (_key, part) => this.#foreign.get(keyOf(part)) ?? part) as Node;
  }

  /** The text of an expression, the same for two names of one column. */
  #textOf(value: Node): string {
    return written(value, (part) => this.#meanings.get(keyOf(part)));
  }

  /** The place of a relation that an expression reads; undefined if it reads none, or one that is not of this block. */
  #placeOf(value: Node): number | undefined {
    const places: (number | undefined)[] = [];
    const visit = (n: Node, isNested = false): boolean => {
      if ('SubLink' in n) walk([n.SubLink.testexpr, n.SubLink.subselect], (inner) => visit(inner, true));
      const [first = '', second] = 'ColumnRef' in n ? fieldsOf(n.ColumnRef) : [];
      const place = second === undefined ? (this.#places.get(`.${first}`) ?? UNKNOWN) : (this.#places.get(`${first}.${second}`) ?? this.#places.get(first));
      // others in a sub-query may be columns of its own
      if (first !== '' && !(isNested && isElsewhere(place))) places.push(place);
      return !('SubLink' in n);
    };
    walk(value, (n) => visit(n));
    return places.includes(undefined) ? undefined : places[0];
  }

  /** A column of the relation at a place. */
  #at(place: number, column: string, of: string | number = place): Equal {
    const name = `${of}.${column}`;
    const isUnknown = place === UNKNOWN;
    const equal = this.#equal.get(name) ?? { names: [name], places: new Set(isUnknown ? [] : [place]), unknown: isUnknown ? 1 : 0, parts: [] };
    this.#equal.set(name, equal);
    return equal;
  }

  /** @returns the set of both, or the first one @param isKnownOutside true if the blocks around this one have the pair too */
  #pair<T extends Equal | undefined>(a: T, b: Equal | undefined, isKnownOutside = false): T | Equal {
    if (!a || !b || a === b) return a;
    a.isKnownOutside = isKnownOutside && a.isKnownOutside !== false && b.isKnownOutside !== false;
    b.isKnownOutside = a.isKnownOutside;
    const [more, less] = a.names.length < b.names.length ? [b, a] : [a, b];
    for (const name of less.names) this.#equal.set(name, more);
    more.names.push(...less.names);
    for (const place of less.places) more.places.add(place);
    more.unknown += less.unknown;
    more.parts.push(...less.parts);
    less.into = more;
    return more;
  }

  /** The nodes that the joins cost. */
  cost(): number {
    const [sets, links] = [this.#several(), this.#links.all(this.relations)];
    const costOf = (all: readonly Spread[]): number => costOfJoins(placesOf([...all, ...links], this.relations), this.relations, this.#listed);
    return Math.max(costOf(sets), costOf(simplified(sets)));
  }
}

/** True for the place of a column that blocks around may have: it is certain without a number, and possible for a name without a known relation. */
const isElsewhere = (place: number | undefined): boolean => place === undefined || place === UNKNOWN;
