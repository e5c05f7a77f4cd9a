/** One question on its way: what it may still take, and what it has taken. */
import { outOfTime } from './failures.ts';
import type { Deadline, LanguageModels, Stage, Told, Turn } from './types.ts';

/** A question ends after so many times LLM_TIMEOUT at the latest. */
const TIMEOUTS = 3;

const STEPS: Readonly<Record<Stage, string>> = { concept: 'Choosing the concept', sql: 'Writing the SQL', answer: 'Putting the rows into words' };

/** What a run has cost. */
export interface Costs {
  readonly calls: number;
  readonly inputTokens: number;
  readonly outputTokens: number;
  /** Milliseconds of the model's turns by what they were for. */
  readonly milliseconds: Readonly<Partial<Record<Stage, number>>>;
}

/** Calls of the model for one question, under one deadline. `end` must be called. */
export class Run {
  readonly llm: LanguageModels;
  readonly deadline: Deadline;
  readonly #timer: ReturnType<typeof setTimeout>;
  #calls = 0;
  #inputTokens = 0;
  #outputTokens = 0;
  readonly #milliseconds: Partial<Record<Stage, number>> = {};
  readonly #tell: (step: string) => void;
  #sqlTurns = 0;

  /** `signal`: aborted when nobody waits any more. `tell`: told of each step, for who waits. */
  constructor(llm: LanguageModels, signal: AbortSignal, now: () => number = Date.now, tell: (step: string) => void = () => undefined) {
    this.llm = llm;
    this.#tell = tell;
    const most = TIMEOUTS * llm.timeoutMs;
    const until = now() + most;
    const end = new AbortController();
    this.#timer = setTimeout(() => end.abort(new DOMException('the question took too long', 'TimeoutError')), most);
    // a timer may be ahead of the clock
    this.deadline = { signal: AbortSignal.any([signal, end.signal]), left: () => (end.signal.aborted ? 0 : until - now()) };
  }

  /** Lets the timer go. */
  end(): void {
    clearTimeout(this.#timer);
  }

  /** One turn. @throws SvcError as `LanguageModels.ask`, 504 `llm_timeout` where no time is left */
  async ask<T>(turn: Turn<T>): Promise<Told<T>> {
    if (this.deadline.left() <= 0) throw outOfTime();
    this.#calls++;
    this.begins(turn.stage);
    const told = await this.llm.ask(turn, this.deadline);
    this.#add(turn.stage, told);
    return told;
  }

  /** Tells who waits what comes next. */
  begins(stage: Stage): void {
    if (stage === 'sql') this.#sqlTurns++;
    this.#tell(stage === 'sql' && this.#sqlTurns > 1 ? `${STEPS.sql}, turn ${this.#sqlTurns}` : STEPS[stage]);
  }

  /** Counts a turn that another step has asked for. */
  took(stage: Stage, told: Told<unknown>): void {
    this.#calls++;
    this.#add(stage, told);
  }

  #add(stage: Stage, told: Told<unknown>): void {
    this.#inputTokens += told.inputTokens;
    this.#outputTokens += told.outputTokens;
    this.#milliseconds[stage] = (this.#milliseconds[stage] ?? 0) + told.durationMs;
  }

  get costs(): Costs {
    return { calls: this.#calls, inputTokens: this.#inputTokens, outputTokens: this.#outputTokens, milliseconds: this.#milliseconds };
  }
}
