/** The position of the planner in a statement: whether it is in the condition of a policy, in a view, in a sub-query. */
import { growing } from '../../budget.ts';

/** A function that runs the planning of a part. It may add a position to an error, or replace an error that names something hidden. */
export type Frame = <T>(make: () => T) => T;

interface State {
  readonly trusted: number;
  readonly views: number;
  readonly blocks: number;
  readonly subQueries: number;
  readonly expanding: readonly { readonly what: object; readonly read: string }[];
  readonly owners: readonly object[];
  readonly reading: readonly string[];
  readonly conditions: readonly string[];
  readonly frames: readonly Frame[];
}

const OUTSIDE: State = { trusted: 0, views: 0, blocks: 0, subQueries: 0, expanding: [], owners: [], reading: [], conditions: [], frames: [] };

/** The current position of the planner. Its methods run a function at another position, and return to the current one. */
export class Position {
  #state = OUTSIDE;

  #at<T>(state: State, make: () => T): T {
    const before = this.#state;
    this.#state = state;
    try {
      return make();
    } finally {
      this.#state = before;
    }
  }

  /** True in the condition of a policy, which reads all rows, true values and the whole model. */
  get isTrusted(): boolean {
    return this.#state.trusted > 0;
  }

  /** True in the text of a view, policy, logic concept or property; false in the caller's own text. */
  get isStored(): boolean {
    const { trusted, views, expanding, owners, conditions } = this.#state;
    return trusted > 0 || views > 0 || expanding.length > 0 || owners.length > 0 || conditions.length > 0;
  }

  /** True in a sub-query. PostgreSQL may evaluate it before the conditions of the outer block. */
  get isInner(): boolean {
    return this.#state.views > 0 || this.#state.blocks > 1;
  }

  /** True in a sub-query of an expression. */
  get isInSubQuery(): boolean {
    return this.#state.subQueries > 0;
  }

  /** The logic concept whose condition is being resolved. The condition must not read properties that are masked for the caller. */
  get condition(): string | undefined {
    return this.#state.conditions.at(-1);
  }

  /** Plans a part of the text of a view or cube. */
  inView<T>(make: () => T): T {
    return this.#at({ ...this.#state, views: this.#state.views + 1 }, make);
  }

  /** Resolves a query block. */
  inBlock<T>(make: () => T): T {
    return this.#at({ ...this.#state, blocks: this.#state.blocks + 1 }, make);
  }

  /** Resolves a sub-query of an expression. `begin` is called if it is an outermost one. */
  inSubQuery<T>(make: () => T, begin: () => void): T {
    if (this.#state.subQueries === 0) begin();
    return this.#at({ ...this.#state, subQueries: this.#state.subQueries + 1 }, make);
  }

  /** Resolves the condition of a logic concept. */
  inCondition<T>(called: string, make: () => T): T {
    return this.#at({ ...this.#state, conditions: [...this.#state.conditions, called] }, make);
  }

  /** True if the text of a view is being planned already. */
  reads(view: string): boolean {
    return this.#state.reading.includes(view);
  }

  /** Reads a view. */
  reading<T>(view: string, make: () => T): T {
    return this.#at({ ...this.#state, reading: [...this.#state.reading, view] }, make);
  }

  /**
   * Expands a logic concept, a calculated property or a measure.
   * @param read what is read of it: a calculated property of a logic concept may read other columns of the same concept
   * @throws the error of `circular` if the same is being expanded already
   */
  expanding<T>(what: object, circular: () => Error, make: () => T, read = ''): T {
    if (this.#state.expanding.some((e) => e.what === what && e.read === read)) throw circular();
    return this.#at({ ...this.#state, expanding: [...this.#state.expanding, { what, read }] }, make);
  }

  /**
   * Plans the rows of a concept to which links belong. They may be rows of the concept that is being expanded: one of its calculated properties may follow the
   * links, which its rows themselves do not. @throws the error of `circular` if they do
   */
  asOwner<T>(concept: object, circular: () => Error, make: () => T): T {
    const { owners } = this.#state;
    if (owners.includes(concept)) throw circular();
    return this.#at({ ...this.#state, expanding: [], owners: [...owners, concept] }, make);
  }

  /** Plans the condition of a policy. */
  asTrusted<T>(make: () => T): T {
    const { trusted } = this.#state;
    if (trusted > 0) return this.#at({ ...this.#state, trusted: trusted + 1 }, make);
    // the condition may read the concept that is being expanded, without its policies
    return this.#at({ ...this.#state, trusted: 1, expanding: [] }, () => this.framed((inner) => growing('the conditions of policies', inner), make));
  }

  /** Plans within a frame. Parts of it that are planned later use the frame too. */
  framed<T>(frame: Frame, make: () => T): T {
    return this.#at({ ...this.#state, frames: [...this.#state.frames, frame] }, () => frame(make));
  }

  /** The current position, as a frame for something that is planned later. */
  here(): Frame {
    const state = this.#state;
    return <T>(make: () => T): T => this.#at(state, () => state.frames.reduceRight<() => T>((inner, frame) => () => frame(inner), make)());
  }
}
