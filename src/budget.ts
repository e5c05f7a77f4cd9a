/**
 * A budget for what is made in memory out of a short text: plans and models. A statement of a few kilobytes can name a thing of thousands of nodes thousands of
 * times. The budget counts nodes where they are made and steps where they are visited, and ends the work with 400 `too_complex` while it is small.
 *
 * Steps measure time: the clock of a Worker does not move while it computes (Cloudflare Workers documentation, "Performance and timers"), so the
 * budget counts what takes time.
 *
 * Planning and modelling are synchronous, so the budget in force is a variable of this module: no code that makes nodes can forget to hand it on.
 */
import { badRequest } from './errors.ts';

/** How much may be made and visited. */
export interface Limits {
  /** Objects of trees. */
  readonly nodes: number;
  /** Visits of nodes, comparisons of names. */
  readonly steps: number;
  /** Entries of a model's closures: ancestors, inherited properties, relationships. */
  readonly entries: number;
  /** Nodes, steps and entries together, in steps. Without it each has its own limit only. */
  readonly units?: number;
}

/** One plan: a hundred times what a large report needs, some 15 MB of nodes and a tenth of a second. A model's closures were counted when it was made. */
export const PLAN_LIMITS: Limits = { nodes: 60_000, steps: 1_500_000, entries: Number.POSITIVE_INFINITY };

/** All plans that the reading statements of one request need, with the check of their SQL: the largest four of them, or a hundred of usual size. */
export const READS_LIMITS: Limits = { nodes: 240_000, steps: 10_000_000, entries: Number.POSITIVE_INFINITY };

/** What it takes to parse and verify a character of finished SQL. */
export const STEPS_OF_A_CHARACTER = 8;

/** One script of modelling statements, with all plans that check it: a model of some thousand concepts. */
export const SCRIPT_LIMITS: Limits = { nodes: 500_000, steps: 12_000_000, entries: 400_000, units: 12_000_000 };

/** What it takes to read a character of a modelling statement: it is split, read as tokens and as a statement. */
export const STEPS_OF_A_MODELLING_CHARACTER = 2;

/** What it takes to parse a piece of SQL of a model and to walk its tree: a part for the call and a part for each character. */
export const stepsOfPiece = (characters: number): number => 400 + 3 * characters;

/** Answers about a model: a node for each row and for each 100 characters of a row. */
export const ANSWER_LIMITS: Limits = { nodes: 350_000, steps: 40_000_000, entries: Number.POSITIVE_INFINITY };

/** All that is told of models in one request: the largest two of them, or every section of a usual one many times. */
export const ANSWERS_LIMITS: Limits = { nodes: 700_000, steps: 80_000_000, entries: Number.POSITIVE_INFINITY };

/** The plans by which the examples of ontologies are judged in one request: a thousand of usual size. */
export const EXAMPLES_LIMITS: Limits = { nodes: 800_000, steps: 20_000_000, entries: Number.POSITIVE_INFINITY };

/** A node costs about as much as so many steps. */
const STEPS_OF_A_NODE = 20;

/** An entry of a closure costs so many steps besides the one that `listed` counts. */
const STEPS_OF_AN_ENTRY = 10;

/** Ends the work under a budget; `run` makes an error of it. */
class Exceeded extends Error {
  readonly budget: Budget;
  constructor(budget: Budget) {
    super('the budget is exceeded');
    this.budget = budget;
  }
}

let current: Budget | undefined;

/** What has been made and visited by one piece of work, which may consist of several runs. */
export class Budget {
  readonly limits: Limits;
  readonly what: string;
  nodes = 0;
  steps = 0;
  entries = 0;
  /** The units that named things have used. */
  readonly #grown = new Map<string, number>();

  /** `what`: the work as the error calls it. */
  constructor(limits: Limits, what: string) {
    this.limits = limits;
    this.what = what;
  }

  /** Nodes, steps and entries as one number. */
  get units(): number {
    return this.nodes * STEPS_OF_A_NODE + this.steps + this.entries * STEPS_OF_AN_ENTRY;
  }

  /** @throws Exceeded */
  spend(nodes: number, steps: number, entries: number): void {
    this.nodes += nodes;
    this.steps += steps;
    this.entries += entries;
    this.check();
  }

  get isExceeded(): boolean {
    const { nodes, steps, entries, units } = this.limits;
    return this.nodes > nodes || this.steps > steps || this.entries > entries || (units !== undefined && this.units > units);
  }

  /** @throws Exceeded */
  check(): void {
    if (this.isExceeded) throw new Exceeded(this);
  }

  note(what: string, units: number): void {
    this.#grown.set(what, (this.#grown.get(what) ?? 0) + units);
  }

  /**
   * Runs a part of the work, which is synchronous. A budget around it counts what the part uses too, also where the part fails.
   * @throws SvcError 400 `too_complex` that names what has grown; `offset`: its place in the request
   */
  run<T>(make: () => T, offset?: number): T {
    const outer = current === this ? undefined : current;
    const { nodes, steps, entries } = this;
    const result = (() => {
      try {
        return this.apart(make, offset);
      } finally {
        if (outer !== undefined) {
          outer.nodes += this.nodes - nodes;
          outer.steps += this.steps - steps;
          outer.entries += this.entries - entries;
        }
      }
    })();
    outer?.check();
    return result;
  }

  /** The same, without a budget around it. */
  apart<T>(make: () => T, offset?: number): T {
    const before = current;
    current = this;
    try {
      // a part before it may have failed beyond the limit
      this.check();
      return make();
    } catch (error) {
      throw error instanceof Exceeded && error.budget === this ? this.#tooComplex(offset) : error;
    } finally {
      current = before;
    }
  }

  #tooComplex(offset: number | undefined): Error {
    let most: string | undefined;
    for (const [what, units] of this.#grown) if (units > (most === undefined ? this.units / 2 : (this.#grown.get(most) ?? 0))) most = what;
    const message = `${this.what} becomes too large${most === undefined ? '' : `; the larger part of it comes from ${most}`}`;
    return badRequest('too_complex', message, { offset, hint: 'Name less at once, or split it' });
  }
}

/** Makes one answer about a model, within its own limits and those of `all` answers of the request; not within a budget in force. @throws SvcError 400 `too_complex` */
export function withinAnswer<T>(what: string, all: Budget | undefined, make: () => T): T {
  const one = new Budget(ANSWER_LIMITS, what);
  return all === undefined ? one.apart(make) : all.apart(() => one.run(make));
}

/** Counts nodes that are made. */
export function made(nodes = 1): void {
  if (current === undefined) return;
  current.nodes += nodes;
  current.check();
}

/** Counts nodes that are visited, or other work that takes about as long. */
export function visited(steps = 1): void {
  if (current === undefined) return;
  current.steps += steps;
  current.check();
}

/** Counts entries of a model's closure. */
export const listed = (entries: number): void => current?.spend(0, entries, entries);

/** Runs `make` and notes what it uses as that of a thing (`the view v` and the like), which the error may name. */
export function growing<T>(what: string, make: () => T): T {
  const budget = current;
  if (budget === undefined) return make();
  const before = budget.units;
  try {
    return make();
  } finally {
    budget.note(what, budget.units - before);
  }
}
