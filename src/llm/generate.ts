/**
 * Writes SQL for a question: a language model writes it, and the planner and the datasource check it. Errors go back to the model, and what it misses is added to the
 * graph that it sees, for at most 1 + retries calls (docs/design/mcp.md#questions). Only valid statements are returned.
 */

import { z } from 'zod';
import { SvcError } from '../errors.ts';
import type { Turn } from '../service.ts';
import { remark } from './addresses.ts';
import { cut, fenced, inner, line } from './fence.ts';
import { MAX_PROMPT } from './knowledge.ts';
import { clearReadings, READINGS, type Reading } from './readings.ts';
import type { Run } from './run.ts';
import type { Settings } from './settings.ts';
import { sameSql, sqlIn, statement } from './sql-text.ts';
import { errorText } from './statement.ts';
import { sqlRules } from './templates.ts';

/** An attempt at a statement. `error` is null if the statement is valid. */
export interface Try {
  readonly sql: string | null;
  readonly error: string | null;
}

/** The input for writing a statement. */
export interface Wanted {
  readonly question: string;
  /** The description of the graph for the model (knowledge.ts). */
  readonly graph: {
    /** The description, if the other texts of the prompt leave so many characters. */
    text(room: number): string;
    /** Adds what the model says is missing. Returns false if the context has it all already. */
    widen(missing: string): Promise<boolean>;
  };
  /** Whether the model may return several readings of the question instead of a statement. */
  readonly asksBack: boolean;
  /** The reading that the caller chose, or null for a first question. */
  readonly reading: string | null;
  /** Earlier questions of the conversation with their queries, oldest first. */
  readonly earlier: readonly Turn[];
  /** Checks a statement without running it. @throws SvcError as `attempt` */
  readonly check: (sql: string) => Promise<unknown>;
  readonly settings: Settings;
  readonly product: string;
  /** The current time in milliseconds since 1970. */
  readonly now: number;
  /** Verified questions similar to this one, with their SQL. */
  readonly examples: readonly { readonly question: string; readonly sql: string }[];
  /** A hint for the model after a statement returned no rows. */
  readonly emptyHint: (sql: string) => string;
  /** Records each attempt. */
  readonly tries: Try[];
  /** Reasons why a valid statement may still be wrong. */
  readonly doubt: (sql: string) => Promise<string>;
}

/** The result of running or checking a statement. */
export interface Attempt {
  /** Whether it returned no rows: another statement may be better. */
  readonly isEmpty: boolean;
}

/** A valid statement. */
export interface Made<T extends Attempt> {
  readonly kind: 'made';
  readonly sql: string;
  readonly result: T;
  readonly reason: string;
  readonly tries: readonly Try[];
}

export type Generated<T extends Attempt> =
  | Made<T>
  | { readonly kind: 'unclear'; readonly readings: readonly Reading[]; readonly reason: string; readonly tries: readonly Try[] }
  | { readonly kind: 'refused'; readonly refusal: string; readonly tries: readonly Try[] }
  | { readonly kind: 'failed'; readonly tries: readonly Try[] };

const SQL = z.object({
  reason: z.string().describe('How the question is understood and answered, in one or two sentences'),
  sql: z.string().describe('The SELECT; empty with a refusal'),
  refusal: z.string().nullable().describe('What is missing, if the graph cannot answer the question; otherwise null'),
});
const SQL_OR_READINGS = SQL.extend({ readings: READINGS });

/** What the model answered in a turn. */
interface Said {
  readonly sql: string | undefined;
  readonly refusal: string | undefined;
  readonly reason: string;
  readonly readings: readonly Reading[];
}

const REVIEW = z.object({
  reasoning: z.string().describe('What the SELECT returns, what the question asks, and how they differ'),
  assessment: z.enum(['correct', 'partial', 'incorrect']),
  sql: z.string().describe('The correct SELECT: the same one if it is correct'),
});

/**
 * Generates a statement. `attempt` runs or checks one, and throws its errors.
 * @throws SvcError of the model (`LanguageModels.ask`) and of the datasource, except errors that another statement may avoid
 */
export async function generate<T extends Attempt>(run: Run, wanted: Wanted, attempt: (sql: string) => Promise<T>): Promise<Generated<T>> {
  return new Generation(run, wanted, attempt).all();
}

class Generation<T extends Attempt> {
  readonly #run: Run;
  readonly #wanted: Wanted;
  readonly #attempt: (sql: string) => Promise<T>;
  readonly #tries: Try[];
  #calls = 0;

  constructor(run: Run, wanted: Wanted, attempt: (sql: string) => Promise<T>) {
    this.#run = run;
    this.#wanted = wanted;
    this.#attempt = attempt;
    this.#tries = wanted.tries;
  }

  get #hasCalls(): boolean {
    return this.#calls <= this.#wanted.settings.retries;
  }

  async all(): Promise<Generated<T>> {
    const { emptyRetries } = this.#wanted.settings;
    /** Valid statements that returned no rows or are doubtful. The first one is the result if no better one is found. */
    const valid: Made<T>[] = [];
    /** The number of further calls that may be used to find a better one. */
    let more = 0;
    let feedback = '';
    while (this.#hasCalls && (valid.length === 0 || more-- > 0)) {
      const [fallback] = valid;
      const reply = await this.#turn(feedback, fallback !== undefined);
      if (reply === undefined) break;
      const { refusal, reason } = reply;
      const clear = fallback === undefined ? await clearReadings(reply.readings, (sql) => this.#error(sql)) : { readings: [], error: '' };
      if (clear.readings.length > 1) return { kind: 'unclear', readings: clear.readings, reason, tries: this.#tries };
      const sql = reply.sql ?? clear.readings[0]?.sql;
      if (sql === undefined) {
        if (refusal !== undefined) {
          if (fallback !== undefined || !this.#hasCalls || !(await this.#wanted.graph.widen(refusal)))
            return fallback ?? { kind: 'refused', refusal, tries: this.#tries };
          feedback = `You said that something is missing:\n${fenced(refusal)}\nThe knowledge graph above now shows more of it. Answer the question, or say what is still missing.`;
          continue;
        }
        if (clear.error !== '') {
          feedback = `No reading has a valid SELECT:\n${fenced(clear.error)}\nFix them.`;
          continue;
        }
        feedback = this.#failed(null, 'The answer did not contain a SELECT in the required form');
        continue;
      }
      const repeated = valid.find((made) => sameSql(made.sql, sql));
      // a model that repeats its statement may be right
      if (repeated !== undefined) return repeated.result.isEmpty ? (fallback ?? repeated) : this.#reviewed(repeated);
      if (this.#tries.some((t) => t.sql !== null && sameSql(t.sql, sql))) {
        feedback = this.#failed(sql, 'This statement was already tried: write another one');
      } else {
        const done = await this.#try(sql, fallback !== undefined);
        if (done === undefined) break;
        if (typeof done === 'string') feedback = this.#failed(sql, done);
        else {
          this.#tries.push({ sql, error: null });
          const made: Made<T> = { kind: 'made', sql, result: done, reason, tries: this.#tries };
          // doubts are reported only once
          const doubt = fallback === undefined ? await this.#wanted.doubt(sql) : '';
          if (!done.isEmpty && doubt === '') return this.#reviewed(made);
          if (fallback === undefined) more = done.isEmpty ? emptyRetries : Math.max(1, emptyRetries);
          valid.push(made);
          feedback = done.isEmpty
            ? this.#emptyFeedback(sql)
            : `This SELECT is valid, but:\n${fenced(sql)}\n${doubt}\nFix it, or return it unchanged if it is already correct.`;
        }
      }
    }
    return valid[0] ?? { kind: 'failed', tries: this.#tries };
  }

  /** One model call. Returns undefined if it failed and a valid statement exists already. */
  async #turn(feedback: string, canDoWithout: boolean): Promise<Said | undefined> {
    this.#calls++;
    const { product, asksBack } = this.#wanted;
    try {
      const system = sqlRules(product, asksBack ? 'ask' : 'write');
      const turn = { stage: 'sql', system, user: this.#user(feedback, system.length) } as const;
      const { value, text, cutOff } = await this.#run.ask({ ...turn, schema: asksBack ? SQL_OR_READINGS : SQL });
      const sql = value !== undefined ? statement(value.sql) : cutOff ? undefined : sqlIn(text);
      return {
        sql: sql === '' ? undefined : sql,
        refusal: value?.refusal ? remark(value.refusal, 600) : undefined,
        reason: remark(value?.reason ?? '', 1000),
        readings: (value as { readonly readings?: readonly Reading[] } | undefined)?.readings ?? [],
      };
    } catch (error) {
      if (canDoWithout && error instanceof SvcError) return undefined;
      throw error;
    }
  }

  /** Runs a statement. Returns its result, or an error that the model may fix; undefined after any other error if a valid statement exists already. */
  async #try(sql: string, canDoWithout: boolean): Promise<T | string | undefined> {
    try {
      return await this.#attempt(sql);
    } catch (error) {
      if (!(error instanceof SvcError)) throw error;
      if (FIXABLE.has(error.status)) return errorText(error, sql);
      if (!canDoWithout) throw error;
      this.#tries.push({ sql, error: errorText(error, sql) });
      return undefined;
    }
  }

  /** The error of a statement that is not run; undefined if it is valid. */
  async #error(sql: string): Promise<string | undefined> {
    try {
      await this.#wanted.check(sql);
      return undefined;
    } catch (error) {
      if (error instanceof SvcError && FIXABLE.has(error.status)) return errorText(error, sql);
      throw error;
    }
  }

  #failed(sql: string | null, error: string): string {
    this.#tries.push({ sql, error });
    return sql === null ? error : `This SELECT is not valid:\n${fenced(sql)}\n${fenced(error)}\nFix it.`;
  }

  #emptyFeedback(sql: string): string {
    return `This SELECT is valid but returned no rows:\n${fenced(sql)}\nCheck its conditions: the exact spelling of values, upper and lower case, the right column or path. ${this.#wanted.emptyHint(sql)}
Write another SELECT if one of them may be wrong; otherwise return it unchanged.`;
  }

  /** Asks the model to review the statement, as often as the settings allow, and accepts a better statement if it is valid. */
  async #reviewed(made: Made<T>): Promise<Made<T>> {
    let best = made;
    const rules = sqlRules(this.#wanted.product, 'review');
    for (let left = this.#wanted.settings.reviews; left > 0 && this.#hasCalls; left--) {
      this.#calls++;
      const { value } = await this.#run
        .ask({
          stage: 'sql',
          system: `${rules}\nYou review such a SELECT.`,
          user: `${this.#user('', rules.length)}\nSELECT to review: ${fenced(best.sql)}`,
          schema: REVIEW,
        })
        .catch((error: unknown) => {
          if (error instanceof SvcError) return { value: undefined };
          throw error;
        });
      if (value === undefined || value.assessment === 'correct') break;
      const sql = statement(value.sql);
      if (sql === '' || this.#tries.some((t) => t.sql !== null && sameSql(t.sql, sql))) break;
      const done = await this.#try(sql, true);
      if (done === undefined) break;
      if (typeof done === 'string') {
        this.#tries.push({ sql, error: done });
        break;
      }
      this.#tries.push({ sql, error: null });
      if (done.isEmpty) break;
      best = { kind: 'made', sql, result: done, reason: remark(value.reasoning, 1000), tries: this.#tries };
    }
    return best;
  }

  /** The input of a turn. `taken`: the characters of the rules. */
  #user(feedback: string, taken: number): string {
    const { question, graph, settings, now, examples, reading, earlier } = this.#wanted;
    const turns = turnsText(earlier);
    const before = [
      turns === '' ? '' : `Earlier questions of this conversation, oldest first; the question may refer to them: ${fenced(turns)}`,
      `Question: ${fenced(question)}`,
      reading === null ? '' : `The question is meant like this: ${fenced(reading)}`,
      `Today is ${new Date(now).toISOString().slice(0, 10)}. At most ${settings.maxLimit} rows are shown.`,
      settings.caseSensitive
        ? 'Texts in the database vary in upper and lower case: compare them with LOWER(column) = LOWER(value).'
        : 'Text comparison is case-sensitive.',
      settings.note === '' ? '' : `Rules of the operator or the caller: ${fenced(settings.note)}`,
    ];
    const after = [
      examples.length === 0 ? '' : `Verified examples: ${fenced(examples.map((e) => `${line(e.question, 300)}\n${e.sql}`).join('\n\n'))}`,
      feedback,
    ];
    const room = MAX_PROMPT - taken - [...before, ...after].reduce((n, part) => n + part.length + 2, 60);
    return [...before, `The knowledge graph: <<<${inner(graph.text(room))}>>>`, ...after].filter((part) => part !== '').join('\n\n');
  }
}

/** Statuses of errors that another statement may avoid. */
const FIXABLE = new Set([400, 403, 404]);

const MAX_TURNS = 4_000;
const MAX_QUERY = 1_500;

/** The earlier questions, as many of the last ones as there is room for. */
function turnsText(turns: readonly Turn[]): string {
  const texts: string[] = [];
  let left = MAX_TURNS;
  for (const { question, query } of [...turns].reverse()) {
    const text = [line(question, 500), ...(query === null ? [] : [cut(query, MAX_QUERY)])].join('\n');
    left -= text.length;
    if (left < 0) break;
    texts.unshift(text);
  }
  return texts.join('\n\n');
}
