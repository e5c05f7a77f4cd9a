/** The result of one question: asked in words (query_data), or its gold SQL with only the checks (the oracle). */
import { compareRows, type Row } from './compare.ts';
import type { Tables } from './place.ts';
import type { Asked, EvalService, Rows, Said } from './service.ts';
import type { Question } from './set.ts';

/**
 * - `right`: the rows of the gold SQL; `declined`: an error where there is no answer. Both are expected results.
 * - `refused`: an error where there is an answer. No one was misled.
 * - `wrong`: other rows without an error, which nobody notices.
 * - `failed`: no result: the model, the service or the gold SQL itself failed.
 */
export type Kind = 'right' | 'declined' | 'refused' | 'wrong' | 'failed';

export interface Outcome {
  readonly question: Question;
  readonly kind: Kind;
  /** Why it is not right; empty if it is. */
  readonly why: string;
  /** The SQL that answered. */
  readonly sql: string | null;
  /** The concept or view that it reads first. */
  readonly concept: string | null;
  readonly milliseconds: number;
  readonly calls: number;
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly tries: number;
}

/** The maximum number of rows for a question: a gold result is smaller. */
const MOST_ROWS = 1000;

/** Errors of the model, the datasource or the service, not of the question. */
const FAULTS = /^(LLM type is required|The language model |The service failed |The catalog |the datasource |the statement ran out of time|a mapped table )/;

type Cost = Pick<Outcome, 'sql' | 'concept' | 'calls' | 'inputTokens' | 'outputTokens' | 'tries'>;
const NO_COST: Cost = { sql: null, concept: null, calls: 0, inputTokens: 0, outputTokens: 0, tries: 0 };

/** Asks a question in words and compares the rows with those of its gold SQL. */
export const askQuestion = (service: EvalService, question: Question): Promise<Outcome> =>
  timed(question, async () => {
    const gold = question.gold === null ? undefined : await goldRows(service, question);
    if (typeof gold === 'string') return { kind: 'failed', why: gold, ...NO_COST };
    const said = await service.ask(question.question, question.caller, MOST_ROWS);
    return { ...rated(question, gold?.rows, said), ...(said.ok ? costOf(said.value) : NO_COST) };
  });

/** Sends the gold SQL through the checks, runs it, and compares its rows with those of the hand-written SQL if the tables are available. */
export const askOracle = (service: EvalService, question: Question, tables: Tables | undefined): Promise<Outcome> =>
  timed(question, async () => {
    const { gold, caller, by_hand, ordered } = question;
    if (gold === null) return { kind: 'declined', why: '', ...NO_COST };
    const cost: Cost = { ...NO_COST, sql: gold };
    const checked = await service.check(gold, caller);
    if (!checked.ok) return { kind: FAULTS.test(checked.error) ? 'failed' : 'refused', why: checked.error, ...cost };
    const rows = await goldRows(service, question);
    if (typeof rows === 'string') return { kind: 'refused', why: rows, ...cost };
    if (by_hand === undefined || tables === undefined) return { kind: 'right', why: '', ...cost };
    const { same, why } = compareRows(await tables(by_hand), rows.rows, { ordered, mostExtra: 0 });
    return { kind: same ? 'right' : 'wrong', why, ...cost };
  });

/** The rows of a gold SQL, or its error. */
async function goldRows(service: EvalService, { gold, caller }: Question): Promise<Rows | string> {
  const ran = await service.run(gold as string, caller);
  if (!ran.ok) return `the gold SQL fails: ${ran.error}`;
  if (ran.value.truncated || ran.value.rows.length >= MOST_ROWS) return 'the gold SQL has too many rows';
  return ran.value;
}

/** `gold` undefined: there is no answer. */
function rated({ ordered }: Question, gold: readonly Row[] | undefined, said: Said<Asked>): Pick<Outcome, 'kind' | 'why'> {
  if (!said.ok) {
    if (FAULTS.test(said.error)) return { kind: 'failed', why: said.error };
    return gold === undefined ? { kind: 'declined', why: '' } : { kind: 'refused', why: said.error };
  }
  if (gold === undefined) return { kind: 'wrong', why: `${said.value.rows.length} rows where there is no answer` };
  if (said.value.truncated) return { kind: 'wrong', why: `more than ${said.value.rows.length} rows instead of ${gold.length}` };
  const { same, why } = compareRows(gold, said.value.rows, { ordered });
  return { kind: same ? 'right' : 'wrong', why };
}

const costOf = ({ sql, concept, calls, inputTokens, outputTokens, tries }: Asked): Cost => ({ sql, concept, calls, inputTokens, outputTokens, tries });

async function timed(question: Question, work: () => Promise<Omit<Outcome, 'question' | 'milliseconds'>>): Promise<Outcome> {
  const begun = performance.now();
  try {
    const made = await work();
    return { question, ...made, milliseconds: performance.now() - begun };
  } catch (error) {
    return { question, kind: 'failed', why: (error as Error).message, ...NO_COST, milliseconds: performance.now() - begun };
  }
}
