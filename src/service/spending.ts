/** What one HTTP request may use of the isolate, whatever number of scripts it holds: a batch of MCP messages is one request. */
import { ANSWERS_LIMITS, Budget, EXAMPLES_LIMITS, READS_LIMITS, SCRIPT_LIMITS } from '../budget.ts';
import { badRequest } from '../errors.ts';

/** Statements of one request that read; each of them is planned, and sent to a datasource. */
export const MOST_READS = 100;

/** The budgets of one request. Each work has limits of its own besides. */
export class Spending {
  /** Plans of reading statements. */
  readonly reads = new Budget(READS_LIMITS, 'all that the statements of the request read');
  /** Modelling statements, policies and their checks. */
  readonly models = new Budget(SCRIPT_LIMITS, 'the script');
  /** Rows of system tables and descriptions of ontologies. */
  readonly answers = new Budget(ANSWERS_LIMITS, 'all that the request asks about the ontology');
  /** Plans that judge examples. */
  readonly examples = new Budget(EXAMPLES_LIMITS, 'what the examples read');
  #statements = 0;
  #samples: Spending | undefined;

  /** The same for samples of values that questions in words read: they take nothing from the statements of the request, and are bounded as those are. */
  get samples(): Spending {
    this.#samples ??= new Spending();
    return this.#samples;
  }

  /** Whether nothing more may be read. */
  get isSpent(): boolean {
    return this.#statements >= MOST_READS || this.reads.isExceeded;
  }

  /** Counts a statement that reads. @throws SvcError 400 `too_many_statements` at the first one too many */
  countRead(offset: number): void {
    this.#statements++;
    if (this.#statements <= MOST_READS) return;
    throw badRequest('too_many_statements', `a request has at most ${MOST_READS} statements that read`, {
      offset,
      hint: 'Send several requests; statements that change a model are not counted',
    });
  }
}
