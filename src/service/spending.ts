/** Limits what one HTTP request may use of the isolate, for all of its scripts: a batch of MCP messages is one request. */
import { ANSWERS_LIMITS, Budget, EXAMPLES_LIMITS, READS_LIMITS, SCRIPT_LIMITS } from '../budget.ts';
import { badRequest } from '../errors.ts';

/** What is counted in the statements of a request. */
export type Counted = 'reads' | 'changes' | 'passwords' | 'policies' | 'examples';

/** The most that one request may have of each, on every way in: scripts over REST and MCP, asynchronous statements, and model files. */
export const LIMITS: Readonly<Record<Counted, { readonly most: number; readonly what: string }>> = {
  /** Each is planned and sent to a datasource. */
  reads: { most: 100, what: 'statements that read' },
  /** Each asks and locks the catalog. 200 of them need up to 0.5 s of CPU time. */
  changes: { most: 200, what: 'statements about users, roles, grants and other objects of the service' },
  /** A hash of a password blocks the isolate's only thread for a large part of a second. */
  passwords: { most: 20, what: 'statements that set a password' },
  /** The script of an ontology has all of its policies and examples. */
  policies: { most: 1000, what: 'statements about policies' },
  examples: { most: 1000, what: 'statements about examples' },
};

/** The budgets of one request. Each single task also has its own limits. */
export class Spending {
  /** Plans of reading statements. */
  readonly reads = new Budget(READS_LIMITS, 'all that the statements of the request read');
  /** Plans of cached cubes and views, which show whether a statement may read their tables. Those that exceed it are read live. */
  readonly trials = new Budget(READS_LIMITS, 'the cached cubes and views');
  /** Plans of all cached cubes and views of ontologies, for SYS_CACHES. */
  readonly caches = new Budget(EXAMPLES_LIMITS, 'the cached cubes and views');
  /** Modelling statements, policies and their checks. */
  readonly models = new Budget(SCRIPT_LIMITS, 'the script');
  /** Rows of system tables and descriptions of ontologies. */
  readonly answers = new Budget(ANSWERS_LIMITS, 'all that the request asks about the ontology');
  /** Plans that check examples. */
  readonly examples = new Budget(EXAMPLES_LIMITS, 'what the examples read');
  /** How often the request has checked a model. */
  checks = 0;
  readonly #counts: Record<Counted, number> = { reads: 0, changes: 0, passwords: 0, policies: 0, examples: 0 };
  #samples: Spending | undefined;

  /** Separate budgets of the same size for the samples of values that questions in words read. */
  get samples(): Spending {
    this.#samples ??= new Spending();
    return this.#samples;
  }

  /** Notes a check of a model. @returns whether the request has checked one before */
  checksModel(): boolean {
    if (++this.checks === 1) return false;
    this.models.hint = 'Write the statements about the model before those that read or change other objects, so that it is checked once; or split the script';
    return true;
  }

  /** True if no more statements may read. */
  get isSpent(): boolean {
    return this.#counts.reads >= LIMITS.reads.most || this.reads.isExceeded;
  }

  /** Counts a statement. @throws SvcError 400 `too_many_statements` beyond the limit */
  count(counted: Counted, offset: number): void {
    const { most, what } = LIMITS[counted];
    this.#counts[counted]++;
    if (this.#counts[counted] <= most) return;
    throw badRequest('too_many_statements', `a request may have at most ${most} ${what}`, {
      offset,
      hint: 'Split it into several requests; statements that change a model are not counted',
    });
  }
}
