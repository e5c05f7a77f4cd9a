/** What the calls of a statement have cost so far, and the limits. */
import type { WindowDef } from '@pgsql/types';
import { badRequest } from '../../errors.ts';
import type { Equalities } from './equalities.ts';
import { type Copies, ONE, type Size } from './sizes.ts';

/** The steps that the calls of a statement may take for one row: up to some 4 seconds on PostgreSQL 15. */
export const MAX_STEPS = 2e9;
/** The bytes of constant values, and of what `repeat`, `lpad` and `rpad` with constant lengths make: PostgreSQL computes them during planning and keeps all of them. */
const MAX_BYTES = 64e6;
/** The nodes of a statement while PostgreSQL plans it, which it does not interrupt: up to some 2 seconds. */
export const MAX_NODES = 150_000;
/** Constant values up to this size are not counted. */
export const SMALL_TEXT = 10_000;

/** What PostgreSQL copies when it moves a query into another: the queries and relations in it, and the levels of its queries. */
export interface Nesting {
  readonly parts: number;
  readonly levels: number;
}
const NO_NESTING: Nesting = { parts: 0, levels: 0 };
const ONE_TABLE: Nesting = { parts: 1, levels: 0 };
/** The product of parts and levels that costs as much as a node, for each query. Planning takes 1 to 2 s for 250 queries in each other. */
const NESTING_OF_A_NODE = 40;
/** The product of the nodes of a moved select list and the levels below it that costs as much as a node. */
const MOVES_OF_A_NODE = 400;
/** The third power of a number of joined relations that costs as much as a node. Planning takes up to 1.5 GB for 120 relations. */
const JOINS_OF_A_NODE = 11;
/** PostgreSQL turns a sub-query of a condition into a join, which costs less than others. */
export const JOINS_OF_A_SUB_QUERY = 0.15;

const HINT = 'Use shorter texts, and constants as search patterns';
const HINT_OF_COPIES = 'Use WITH ... AS MATERIALIZED for columns that are read several times, and for parts of long chains';

/** Counts steps and bytes, and throws 400 `too_complex` with the location of the call that exceeds a limit. */
export class Spent {
  readonly #offsetOf: (location: number | undefined) => number | undefined;
  #steps = 0;
  /** The nodes of the statement when PostgreSQL plans it: of values, and with those of conditions. */
  pulled = 0;
  pushed = 0;
  /** The bytes of its constant values. */
  texts = 0;
  /** The bytes of those in conditions. PostgreSQL copies what a column is equal to for each column that is equal to it. */
  equated = 0;
  /** The calls of aggregates and window functions in a block. */
  folds = 0;
  /** How often PostgreSQL copies the clause that is measured: once for each query of a union that it reads. */
  #arms = 1;
  /** The queries of the unions around a sub-query that PostgreSQL joins with them. */
  #around = 1;
  #isCondition = false;
  /** The queries in the query that is measured. */
  nesting = NO_NESTING;
  /** The definitions of windows so far. */
  readonly #windows = new Set<string>();
  /** Above 0, nothing is counted. */
  #paused = 0;

  constructor(offsetOf: (location: number | undefined) => number | undefined) {
    this.#offsetOf = offsetOf;
  }

  /** True during a measurement that does not count. */
  get isPaused(): boolean {
    return this.#paused > 0;
  }

  /** Runs a measurement without counting what it costs. */
  paused<T>(measure: () => T): T {
    const { pulled, pushed, texts, equated, folds, nesting } = this;
    this.#paused++;
    try {
      return measure();
    } finally {
      this.#paused--;
      this.pulled = pulled;
      this.pushed = pushed;
      this.texts = texts;
      this.equated = equated;
      this.folds = folds;
      this.nesting = nesting;
    }
  }

  /** Measures a query within another one. PostgreSQL copies and walks all queries in it when it plans each of them. @throws SvcError 400 `too_complex` */
  nested<T>(measure: () => T): T {
    const outer = this.nesting;
    this.nesting = { parts: 1, levels: 1 };
    const measured = measure();
    const { parts, levels } = this.nesting;
    const copies = (parts * levels) / NESTING_OF_A_NODE;
    this.nesting = outer;
    this.#add({ pulled: copies, pushed: copies }, undefined, 'it nests too many queries');
    this.contains({ parts, levels: levels + 1 });
    return measured;
  }

  /** Adds a relation to the query that is measured: a table, or the queries that PostgreSQL puts in its place. */
  contains({ parts, levels }: Nesting = ONE_TABLE): void {
    this.nesting = { parts: this.nesting.parts + parts, levels: Math.max(this.nesting.levels, levels) };
  }

  /** Measures a query of WITH. @returns the queries in it, which count where it is read */
  apart<T>(measure: () => T): { readonly measured: T; readonly nesting: Nesting } {
    const outer = this.nesting;
    this.nesting = NO_NESTING;
    const result = { measured: measure(), nesting: this.nesting };
    this.nesting = outer;
    return result;
  }

  /** Counts the select list of a query that PostgreSQL moves, with the expressions that it has moved there from the queries in it. @throws SvcError 400 `too_complex` */
  moved(nodes: number): void {
    const copies = (nodes * this.nesting.levels) / MOVES_OF_A_NODE;
    this.#add({ pulled: copies, pushed: copies }, undefined);
  }

  /** Counts columns of sets of GROUP BY. @throws SvcError 400 `too_complex` */
  grouped(columns: number): void {
    this.#add({ pulled: columns / 2, pushed: columns / 2 }, undefined, 'it has too many grouping sets');
  }

  /** Counts the join of some relations, with their equal columns. @throws SvcError 400 `too_complex` */
  joined(relations: number, equal?: Equalities): void {
    const nodes = relations ** 3 / JOINS_OF_A_NODE + (equal?.cost() ?? 0);
    this.#add({ pulled: nodes, pushed: nodes }, undefined, 'it joins too many relations or columns');
    if (relations > 1) this.#keep(this.equated * (relations - 1), 'the constant texts, with those of conditions on joined relations,', undefined);
  }

  /** Counts nodes that PostgreSQL makes when it plans the statement. @throws SvcError 400 `too_complex` */
  nodes({ pulled, pushed, texts } = ONE, location?: number): void {
    this.#add({ pulled: (this.#isCondition ? Math.max(pulled, pushed) : pulled) * this.#arms, pushed: pushed * this.#arms }, location);
    this.#keep(texts * this.#arms, 'the constant texts, with those of columns that are read several times,', location);
  }

  #add({ pulled, pushed }: Omit<Copies, 'texts'>, location: number | undefined, why = 'it repeats expressions of columns'): void {
    this.pulled += pulled;
    this.pushed += pushed;
    if (this.pulled > MAX_NODES && this.#paused === 0)
      throw this.#tooComplex(`PostgreSQL may take too long to plan the statement: ${why}`, location, HINT_OF_COPIES);
  }

  /** Measures a clause that PostgreSQL copies for each of some queries of a union. @param isCondition true if it moves the clause into sub-selects */
  clause<T>(arms: number, isCondition: boolean, measure: () => T): T {
    const [outer, wasCondition] = [this.#arms, this.#isCondition];
    this.#arms = arms;
    this.#isCondition = isCondition;
    const measured = measure();
    this.#arms = outer;
    this.#isCondition = wasCondition;
    return measured;
  }

  /**
   * Measures a sub-query in an expression. PostgreSQL plans it once before it copies the clause around it, and moves no condition with a sub-query. It plans the sub-query of an
   * EXISTS twice, unless it joins it.
   * @param times 2: it plans the sub-query twice @param arms the queries of the unions that it joins with the sub-query
   */
  subQuery<T>(times: number, arms: number, measure: () => T): T {
    const around = this.#around;
    if (arms === 1) this.#around = 1;
    const measured = this.repeated(times, () => this.clause(1, false, () => this.joinedWith(arms, measure)), undefined);
    this.#around = around;
    return measured;
  }

  /** Measures a sub-query that PostgreSQL joins with the relations around it. @param arms the queries of the largest union of them */
  joinedWith<T>(arms: number, measure: () => T): T {
    const around = this.#around;
    this.#around = Math.max(around, arms);
    const measured = measure();
    this.#around = around;
    return measured;
  }

  /** Measures a condition, which PostgreSQL copies for each query of a union that it reads. @param isOwn false if it reads relations around the sub-query */
  condition<T>(arms: number, isOwn: boolean, measure: () => T): T {
    return this.clause(isOwn ? arms : Math.max(arms, this.#around), true, measure);
  }

  /** The nodes since a count. */
  since({ pulled, pushed, texts }: Copies): Copies {
    return { pulled: this.pulled - pulled, pushed: this.pushed - pushed, texts: this.texts - texts };
  }

  /** Measures an operand that PostgreSQL copies, so that there are `times` of it. @throws SvcError 400 `too_complex` */
  repeated<T>(times: number, measure: () => T, location: number | undefined): T {
    const { pulled, pushed, texts } = this;
    const measured = measure();
    if (times <= 1) return measured;
    const made = this.since({ pulled, pushed, texts });
    this.#add({ pulled: made.pulled * (times - 1), pushed: made.pushed * (times - 1) }, location);
    this.#keep(made.texts * (times - 1), 'the constant texts, with those of operands that are compared several times,', location);
    return measured;
  }

  /** Counts a call of an aggregate or window function. PostgreSQL compares each definition of a window with all others. @throws SvcError 400 `too_complex` */
  folded(window: WindowDef | undefined, isFolding: boolean, location: number | undefined): void {
    if (window || isFolding) this.folds++;
    if (!window) return;
    const before = this.#windows.size;
    this.#windows.add(JSON.stringify(window, (key, value: unknown) => (key === 'location' ? undefined : value)));
    if (this.#windows.size > before) this.#add({ pulled: 2 * before, pushed: 2 * before }, location);
  }

  /** Counts the copies of a column for a reference to it. @throws SvcError 400 `too_complex` */
  column(size: Size, location: number | undefined): Size {
    this.nodes(size.copies, location);
    return size;
  }

  /** Counts the steps of a call. @throws SvcError 400 `too_complex` */
  steps(count: number, name: string, location: number | undefined): void {
    if (this.#paused > 0) return;
    this.#steps += count;
    if (this.#steps > MAX_STEPS) throw this.#tooComplex(`${called(name, location)} may take too long: PostgreSQL cannot interrupt it`, location);
  }

  /** Counts the bytes of a constant value, or of a text with a constant length. @throws SvcError 400 `too_complex` */
  text({ made }: Size, name: string, location: number | undefined): void {
    if (made > SMALL_TEXT)
      this.#keep(made * this.#arms, `${called(name, location)} makes a text that is too long: the texts of all such calls`, location, HINT);
  }

  #keep(bytes: number, what: string, location: number | undefined, hint = HINT_OF_COPIES): void {
    this.texts += bytes;
    if (bytes > 0 && this.texts > MAX_BYTES && this.#paused === 0) throw this.#tooComplex(`${what} exceed ${MAX_BYTES / 1e6} MB`, location, hint);
  }

  #tooComplex(message: string, location: number | undefined, hint = HINT): Error {
    return badRequest('too_complex', message, {
      hint,
      offset: location === undefined ? undefined : this.#offsetOf(location),
    });
  }
}

/** A call in a message. Its name is given only if it is in the text of the request. */
const called = (name: string, location: number | undefined): string => (location === undefined ? 'a call' : `the call of \`${name}\``);
