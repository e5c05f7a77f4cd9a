/** Limits what one HTTP request may use of the isolate, for all of its scripts: a batch of MCP messages is one request. */
import { ANSWERS_LIMITS, Budget, EXAMPLES_LIMITS, READS_LIMITS, SCRIPT_LIMITS } from '../budget.ts';
import { badRequest } from '../errors.ts';

/** The maximum number of statements that read in one request. Each of them is planned and sent to a datasource. */
export const MAX_READS = 100;

/** The maximum number of passwords that one request sets. A hash of a password blocks the isolate's only thread for a large part of a second. */
export const MAX_PASSWORDS = 20;

/** The maximum number of statements of the service in one request: users, roles, grants, tokens, ... Each of them asks and locks the catalog. */
export const MAX_CHANGES = 500;

/** The maximum number of statements about policies in one request, and of statements about examples. The script of an ontology has all of them. */
export const MAX_STORED = 1000;

/** The budgets of one request. Each single task also has its own limits. */
export class Spending {
  /** Plans of reading statements. */
  readonly reads = new Budget(READS_LIMITS, 'all that the statements of the request read');
  /** Modelling statements, policies and their checks. */
  readonly models = new Budget(SCRIPT_LIMITS, 'the script');
  /** Rows of system tables and descriptions of ontologies. */
  readonly answers = new Budget(ANSWERS_LIMITS, 'all that the request asks about the ontology');
  /** Plans that check examples. */
  readonly examples = new Budget(EXAMPLES_LIMITS, 'what the examples read');
  #statements = 0;
  #passwords = 0;
  #changes = 0;
  readonly #stored = { policies: 0, examples: 0 };
  #samples: Spending | undefined;

  /** Separate budgets of the same size for the samples of values that questions in words read. */
  get samples(): Spending {
    this.#samples ??= new Spending();
    return this.#samples;
  }

  /** True if no more statements may read. */
  get isSpent(): boolean {
    return this.#statements >= MAX_READS || this.reads.isExceeded;
  }

  /** Counts a statement that reads. @throws SvcError 400 `too_many_statements` beyond the limit */
  countRead(offset: number): void {
    this.#statements++;
    if (this.#statements <= MAX_READS) return;
    throw badRequest('too_many_statements', `a request may have at most ${MAX_READS} statements that read`, {
      offset,
      hint: 'Split it into several requests; statements that change a model are not counted',
    });
  }

  /** Counts a statement of the service. @throws SvcError 400 `too_many_statements` beyond the limit */
  countChange(offset: number): void {
    this.#changes++;
    if (this.#changes <= MAX_CHANGES) return;
    throw badRequest(
      'too_many_statements',
      `a request may have at most ${MAX_CHANGES} statements about users, roles, grants and other objects of the service`,
      {
        offset,
        hint: 'Split it into several requests; statements that change a model are not counted',
      },
    );
  }

  /** Counts a statement about a policy or an example. @throws SvcError 400 `too_many_statements` beyond the limit */
  countStored(kind: 'policies' | 'examples', offset: number): void {
    this.#stored[kind]++;
    if (this.#stored[kind] <= MAX_STORED) return;
    throw badRequest('too_many_statements', `a request may have at most ${MAX_STORED} statements about ${kind}`, {
      offset,
      hint: 'Split it into several requests',
    });
  }

  /** Counts a statement that sets a password. @throws SvcError 400 `too_many_statements` beyond the limit */
  countPassword(offset: number): void {
    this.#passwords++;
    if (this.#passwords <= MAX_PASSWORDS) return;
    throw badRequest('too_many_statements', `a request may set at most ${MAX_PASSWORDS} passwords`, { offset, hint: 'Split it into several requests' });
  }
}
