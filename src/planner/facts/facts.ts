/** The facts of a plan: what it depends on, and which errors it may raise. They are collected from each text, column and type that the statement uses. */
import type { FuncCall } from '@pgsql/types';
import type { Graph } from '../../ontology/graph.ts';
import type { ColumnDef } from '../../ontology/model.ts';
import type { GuardFacts } from '../guard/index.ts';
import type { Position } from '../plan/position.ts';
import type { Node } from '../plan/tree.ts';
import { castsAlways, collationsConflict, comparisonsMayRaise, hasPlainCollation } from './column-types.ts';
import { mayFail, simplified } from './conditions.ts';
import { CONVERSIONS, convertedAs, typesNamed } from './conversions.ts';
import { givesAlways } from './result.ts';
import { isTotal } from './total.ts';

/** Collects the facts of one plan. */
export class Facts {
  /** True if the result may differ from run to run (`volatile`), or depends on the clock. */
  volatile = false;
  clock = false;
  /** True if the plan depends on the bound values, not only on their number. */
  readsBound = false;
  /** A call in a measure or in the condition of a logic concept that reads the clock while the statement runs. */
  runningClock: FuncCall | undefined;
  /** True if the plan contains facts about the caller. */
  readsCaller = false;
  /** True if the plan reads rows that a row policy restricts. */
  hasRowPolicies = false;
  /** True if some rows that the plan reads are hidden from the caller by its grants, or by the text of a view or mapping. */
  hidesRows = false;
  /** True if the plan reads a value that is masked for the caller. */
  isMasked = false;
  /** True if the plan reads something that the caller does not see, such as rows of a hidden descendant or a view in a view. */
  readsHidden = false;
  /** True if an expression may raise an error on a value. It must not be evaluated on hidden rows. */
  mayRaise = false;
  /** True if an error of the model or of a policy may quote a value that is hidden from the caller. */
  mayQuote = false;
  /** True if the plan reads tables through a mapping or raw view that has a column whose collation may be nondeterministic. */
  hasOtherCollations = false;

  /** True if something may be hidden from the caller. If not, errors reveal nothing. */
  readonly #isRestricted: boolean;
  readonly #graph: Graph;
  readonly #position: Position;
  readonly #collated = new Set<ColumnDef>();
  readonly #kinds = new Set<string>();
  #joined = 0;
  #isTried = false;

  constructor(graph: Graph, position: Position, isRestricted: boolean) {
    this.#graph = graph;
    this.#position = position;
    this.#isRestricted = isRestricted;
  }

  get isRestricted(): boolean {
    return this.#isRestricted;
  }

  /**
   * Plans a condition that hides rows, with what it reads, to find out whether it may raise an error on a value. Errors are not noted: the condition is planned again where it
   * applies.
   */
  raises(plan: () => void): boolean {
    const { mayRaise, mayQuote } = this;
    const isTried = this.#isTried;
    this.#isTried = true;
    this.mayRaise = false;
    try {
      plan();
      return this.mayRaise;
    } finally {
      this.#isTried = isTried;
      this.mayRaise = mayRaise;
      this.mayQuote = mayQuote;
    }
  }

  /** True in the condition of a policy, except while `raises` plans it. */
  get #isTrusted(): boolean {
    return this.#position.isTrusted && !this.#isTried;
  }

  /** Notes the facts of a text for caches. */
  noteText({ volatile, clock }: GuardFacts): void {
    this.volatile ||= volatile;
    this.clock ||= clock;
  }

  /**
   * Notes that something may raise an error on a value. In the condition of a policy or in a stored text, the value may be hidden from the caller, and PostgreSQL's message
   * would quote it.
   */
  noteRaising(isStored: boolean = this.#position.isStored): void {
    if (!this.#isTrusted) this.mayRaise = true;
    this.mayQuote ||= isStored;
  }

  /**
   * Notes an expression.
   * @param isInner whether it is a part of a sub-query, which PostgreSQL may evaluate before the conditions of the outer block
   * @param isStored whether it is part of a stored text rather than the caller's own
   */
  noteExpression(tree: unknown, isInner: boolean = this.#position.isInner, isStored: boolean = this.#position.isStored): void {
    if (!this.#isRestricted) return;
    for (const type of typesNamed(this.#isTried ? simplified(tree) : tree)) this.noteType(type);
    const isNoted = (this.#isTrusted || this.mayRaise) && (!isStored || this.mayQuote);
    if (!isNoted && (this.#isTried ? mayFail(tree, isInner) : !isTotal(tree, isInner))) this.noteRaising(isStored);
  }

  /** Notes the cast of a table's column to a declared type. */
  noteCast(column: ColumnDef | undefined, type: string): void {
    this.noteType(type);
    if (this.#isRestricted && !castsAlways(column, type)) this.noteRaising(true);
  }

  /** Notes the cast of a measure to its declared type. In a sub-query it may be evaluated before the conditions of the outer block. */
  noteMeasure(tree: Node, type: string): void {
    if (!this.#isRestricted || givesAlways(this.#graph, tree, type)) return;
    if (this.#position.isInner) this.noteRaising(true);
    this.mayQuote = true;
  }

  /**
   * Notes the type of a value that the statement may combine with others. Values in conditions of policies are noted too, because a comparison of theirs may raise an error
   * that quotes the value.
   */
  noteType(type: string): void {
    if (!this.#isRestricted) return;
    const kind = convertedAs(type);
    if (kind !== undefined) this.#noteKind(kind);
  }

  #noteKind(kind: string): void {
    this.#kinds.add(kind);
    if (!CONVERSIONS.some((pair) => pair.every((k) => this.#kinds.has(k)))) return;
    this.mayRaise = true;
    this.mayQuote ||= this.#position.isTrusted || this.#position.isStored;
  }

  /** Notes the columns of a raw view, which have the types of table columns. */
  noteTableColumns(columns: readonly ColumnDef[]): void {
    if (!this.#isRestricted) return;
    if (columns.some((c) => comparisonsMayRaise(c.type))) this.mayRaise = true;
    for (const { type } of columns) this.noteType(type ?? '');
  }

  /**
   * Notes the collations of the columns of a mapping or raw view. Conflicting collations may raise an error in any expression, including those that the planner writes, and
   * masks and policies.
   */
  noteCollations(columns: readonly ColumnDef[]): void {
    this.hasOtherCollations ||= !columns.every(hasPlainCollation);
    // a condition over such columns fails on every row
    if (this.mayRaise || !this.#isRestricted || this.#isTried) return;
    for (const column of columns) if (column.collation !== undefined || column.type?.endsWith('name')) this.#collated.add(column);
    this.mayRaise = collationsConflict(this.#collated);
  }

  /** Notes that SQL over tables compares values of unknown types. */
  noteUnknownComparison(): void {
    if (!this.#isRestricted) return;
    this.mayRaise = true;
    this.mayQuote ||= this.#position.isTrusted || this.#position.isStored;
  }

  /** Notes the errors and types of a part that was planned on its own, for the same caller. */
  include(other: Facts): void {
    this.mayRaise ||= other.mayRaise;
    this.mayQuote ||= other.mayQuote;
    for (const kind of other.#kinds) this.#noteKind(kind);
    this.noteCollations([...other.#collated]);
  }

  /** Starts to count the relations of a sub-query in an expression. */
  beginSubQuery(): void {
    this.#joined = 0;
  }

  /**
   * Notes relations that the query joins. If a sub-query of an expression joins several relations, directly or through views and paths, its time for one row of the outer
   * block grows with the product of their sizes. It may then time out on a hidden row.
   */
  noteJoins(relations = 1): void {
    if (!this.#position.isInSubQuery || this.#position.isTrusted || !this.#isRestricted) return;
    this.#joined += relations;
    if (this.#joined > 1) this.mayRaise = true;
  }
}
