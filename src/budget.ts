/**
 * A budget for plans and models, which a short text can make very large: a statement of a few kilobytes can reference an object of thousands of nodes thousands
 * of times. The budget counts nodes when they are created and steps when they are visited, and ends the work early with 400 `too_complex`.
 *
 * Steps replace the measurement of time, because the clock of a Worker does not advance during computation (Cloudflare Workers documentation, "Performance and
 * timers").
 *
 * Planning and modelling are synchronous, so the current budget is a variable of this module and need not be passed to the code that creates nodes.
 */
import { badRequest } from './errors.ts';

/** How many nodes, steps and entries are allowed. */
export interface Limits {
  /** Tree nodes that are created. */
  readonly nodes: number;
  /** Visits of nodes and comparisons of names. */
  readonly steps: number;
  /** Entries of a model's closures: ancestors, inherited properties, relationships. */
  readonly entries: number;
  /** The sum of nodes, steps and entries, measured in steps. Undefined: only the separate limits apply. */
  readonly units?: number;
}

/** One plan: a hundred times what a large report needs; about 15 MB of nodes and 0.1 s. The closures of a model are counted when it is compiled. */
export const PLAN_LIMITS: Limits = { nodes: 60_000, steps: 1_500_000, entries: Number.POSITIVE_INFINITY };

/** All plans of the SELECT statements of a request, with the verification of their SQL: four plans of the largest size, or a hundred of the usual size. */
export const READS_LIMITS: Limits = { nodes: 240_000, steps: 10_000_000, entries: Number.POSITIVE_INFINITY };

/** The cost of parsing and verifying one character of finished SQL. */
export const STEPS_OF_A_CHARACTER = 8;

/** The cost of a question to a datasource about the columns of a SELECT: the verification of a short text, and a request. */
export const STEPS_OF_A_QUESTION = 3_000;

/** One script of modelling statements, with all plans that check it: a few thousand concepts, or a few hundred with their mappings and views. */
export const SCRIPT_LIMITS: Limits = { nodes: 500_000, steps: 18_000_000, entries: 400_000, units: 18_000_000 };

/** The cost of one character of a modelling statement that is applied to a model, which stores its texts. */
export const STEPS_OF_A_MODELLING_CHARACTER = 1;

/** The cost of a modelling statement of a script, in addition to that of its changes. */
export const stepsOfStatement = (characters: number): number => 100 + 2 * characters;

/** The cost of parsing a piece of SQL of a model and walking its tree: a constant, plus a cost for each character. */
export const stepsOfPiece = (characters: number): number => 400 + 3 * characters;

/**
 * The cost, in a script, of a policy or an example: it is parsed several times, planned as a query, and its plan is printed. The plan itself counts only what grows
 * with the model; this is the constant part of it, which is most of the cost of a thousand short ones.
 */
export const stepsOfStored = (characters: number): number => 9_000 + 18 * characters;

/** The cost of a further version: its content is printed and kept until it is written. All versions after the first have at most 36 MB together. */
export const stepsOfVersion = (characters: number): number => characters / 2;

/** One answer about a model: a node for each row, and for each 100 characters of a row. */
const ANSWER_LIMITS: Limits = { nodes: 350_000, steps: 40_000_000, entries: Number.POSITIVE_INFINITY };

/** All answers about models in a request: two of the largest size, or many of the usual size. */
export const ANSWERS_LIMITS: Limits = { nodes: 700_000, steps: 80_000_000, entries: Number.POSITIVE_INFINITY };

/** The cost in an answer of parsing or printing a piece of SQL of a model. */
export const stepsOfPrinting = (characters: number): number => 8 * stepsOfPiece(characters);

/** The cost of a property of a concept in an answer, with its own object. */
export const NODES_OF_A_PROPERTY = 4;

/** The cost of a relationship of a concept in an answer, with its own object. */
export const NODES_OF_A_RELATIONSHIP = 6;

/** A list of a concept's relationships is kept with the concept. This number of them costs as much as a node. */
export const RELATIONSHIPS_OF_A_NODE = 8;

/** The cost of a link mapping of a relationship, in steps. */
export const STEPS_OF_A_LINK = 10;

/** The plans that check examples of ontologies in a request: a thousand of the usual size. */
export const EXAMPLES_LIMITS: Limits = { nodes: 800_000, steps: 20_000_000, entries: Number.POSITIVE_INFINITY };

/** The cost of a node, in steps. */
const STEPS_OF_A_NODE = 20;

/** The cost of an entry of a closure, in steps, in addition to the step that `listed` counts. */
export const STEPS_OF_AN_ENTRY = 10;

/** Thrown when a budget is exceeded; `run` converts it to a SvcError. */
class Exceeded extends Error {
  readonly budget: Budget;
  constructor(budget: Budget) {
    super('the budget is exceeded');
    this.budget = budget;
  }
}

let current: Budget | undefined;

/** Counts the nodes, steps and entries of one task, which may consist of several runs. */
export class Budget {
  readonly limits: Limits;
  readonly what: string;
  /** What the caller can do if it is exceeded. */
  hint = 'Reference fewer objects, or split it';
  /** The limits that a single count can exceed; negative if each count must be compared with the limit of the sum. */
  readonly mostNodes: number;
  readonly mostSteps: number;
  nodes = 0;
  steps = 0;
  entries = 0;
  /** Units that are known to follow, and that have not been used yet. */
  #expected = 0;
  /** Units used, by name of the object that used them. */
  readonly #grown = new Map<string, number>();

  /** @param what name of the task for the error message */
  constructor(limits: Limits, what: string) {
    this.limits = limits;
    this.what = what;
    this.mostNodes = limits.units === undefined ? limits.nodes : -1;
    this.mostSteps = limits.units === undefined ? limits.steps : -1;
  }

  /** The sum of nodes, steps and entries, in steps. */
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
    return this.nodes > nodes || this.steps > steps || this.entries > entries || (units !== undefined && this.units + this.#expected > units);
  }

  /**
   * Sets the units that later parts of the task will use, so that a task which cannot be finished is refused before it is begun. The parts themselves count when they run:
   * set them to 0 before.
   * @throws SvcError 400 `too_complex`
   */
  expect(units: number, offset?: number): void {
    this.#expected = units;
    this.apart(() => undefined, offset);
  }

  /** @throws Exceeded */
  check(): void {
    if (this.isExceeded) throw new Exceeded(this);
  }

  note(what: string, units: number): void {
    this.#grown.set(what, (this.#grown.get(what) ?? 0) + units);
  }

  /**
   * Runs a part of the task synchronously. An enclosing budget also counts what the part uses, even if the part fails.
   * @param offset position in the request, for the error
   * @throws SvcError 400 `too_complex`, which names the object that used most
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

  /** As `run`, but an enclosing budget does not count the part. */
  apart<T>(make: () => T, offset?: number): T {
    const before = current;
    current = this;
    try {
      // an earlier part may have exceeded the limit and failed
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
    return badRequest('too_complex', message, { offset, hint: this.hint });
  }
}

/**
 * Makes one answer about a model within its own limits and those of all answers of the request. An enclosing budget does not count it.
 * @param all budget of all answers of the request
 * @throws SvcError 400 `too_complex`
 */
export function withinAnswer<T>(what: string, all: Budget | undefined, make: () => T): T {
  const one = new Budget(ANSWER_LIMITS, what);
  return all === undefined ? one.apart(make) : all.apart(() => one.run(make));
}

/** Counts nodes that are created. */
export function made(nodes = 1): void {
  const budget = current;
  if (budget === undefined) return;
  budget.nodes += nodes;
  if (budget.nodes > budget.mostNodes) budget.check();
}

/** Counts visits of nodes, or other work that takes about as long. */
export function visited(steps = 1): void {
  const budget = current;
  if (budget === undefined) return;
  budget.steps += steps;
  if (budget.steps > budget.mostSteps) budget.check();
}

/** Counts entries of a model's closure. */
export const listed = (entries: number): void => current?.spend(0, entries, entries);

/** Ends the work if it will take so many more steps or entries in any case. They are not counted: the work itself does that. */
export function ahead(steps: number, entries: number): void {
  const budget = current;
  if (budget === undefined) return;
  try {
    budget.spend(0, steps, entries);
  } finally {
    budget.steps -= steps;
    budget.entries -= entries;
  }
}

/** Runs `make` and attributes what it uses to an object (such as `the view v`), which the error may name. */
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
