/** The budget of one question: its deadline, and the model calls and tokens that it has used. */
import { outOfTime } from './failures.ts';
import type { Deadline, LanguageModels, Reply, Stage, Turn } from './types.ts';

/** The deadline of a question, as a multiple of LLM_TIMEOUT. */
const TIMEOUTS = 3;

const STEPS: Readonly<Record<Stage, string>> = { concept: 'Choosing the concept', sql: 'Writing the SQL', answer: 'Putting the rows into words' };

/** The costs of a question. */
export interface Costs {
  readonly calls: number;
  readonly inputTokens: number;
  readonly outputTokens: number;
  /** Milliseconds of the model calls, by purpose. */
  readonly milliseconds: Readonly<Partial<Record<Stage, number>>>;
}

/** Model calls for one question, with a common deadline. The caller must call `end`. */
export class Run {
  readonly llm: LanguageModels;
  readonly deadline: Deadline;
  readonly #timer: ReturnType<typeof setTimeout>;
  #calls = 0;
  #inputTokens = 0;
  #outputTokens = 0;
  readonly #milliseconds: Partial<Record<Stage, number>> = {};
  readonly #report: (step: string) => void;
  #sqlTurns = 0;

  /** `signal` is aborted when the client no longer waits. `report` is called for each step, for progress messages. */
  constructor(llm: LanguageModels, signal: AbortSignal, now: () => number = Date.now, report: (step: string) => void = () => undefined) {
    this.llm = llm;
    this.#report = report;
    const most = TIMEOUTS * llm.timeoutMs;
    const until = now() + most;
    const end = new AbortController();
    this.#timer = setTimeout(() => end.abort(new DOMException('the question took too long', 'TimeoutError')), most);
    // a timer may run slightly ahead of the clock
    this.deadline = { signal: AbortSignal.any([signal, end.signal]), left: () => (end.signal.aborted ? 0 : until - now()) };
  }

  /** Clears the timer. */
  end(): void {
    clearTimeout(this.#timer);
  }

  /** Performs one turn. @throws SvcError as `LanguageModels.ask`; 504 `llm_timeout` if no time is left */
  async ask<T>(turn: Turn<T>): Promise<Reply<T>> {
    if (this.deadline.left() <= 0) throw outOfTime();
    this.#calls++;
    this.begins(turn.stage);
    const reply = await this.llm.ask(turn, this.deadline);
    this.#add(turn.stage, reply);
    return reply;
  }

  /** Reports the next step to the client. */
  begins(stage: Stage): void {
    if (stage === 'sql') this.#sqlTurns++;
    this.#report(stage === 'sql' && this.#sqlTurns > 1 ? `${STEPS.sql}, turn ${this.#sqlTurns}` : STEPS[stage]);
  }

  /** Counts a turn that another step performed. */
  record(stage: Stage, reply: Reply<unknown>): void {
    this.#calls++;
    this.#add(stage, reply);
  }

  #add(stage: Stage, reply: Reply<unknown>): void {
    this.#inputTokens += reply.inputTokens;
    this.#outputTokens += reply.outputTokens;
    this.#milliseconds[stage] = (this.#milliseconds[stage] ?? 0) + reply.durationMs;
  }

  get costs(): Costs {
    return { calls: this.#calls, inputTokens: this.#inputTokens, outputTokens: this.#outputTokens, milliseconds: this.#milliseconds };
  }
}
