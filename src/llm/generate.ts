/**
 * Writes SQL for a question: a language model writes it, and the planner and the datasource check it. Errors go back to the model, for at most 1 + retries calls
 * (docs/design/mcp.md#questions). Only valid statements are returned.
 */
import { z } from 'zod';
import { badRequest, SvcError } from '../errors.ts';
import { cut, fenced, inner, line } from './fence.ts';
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
  /** The description of the graph for the model (context.ts). */
  readonly context: string;
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
  /** Why a valid statement may still be wrong; empty if nothing suggests it. */
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
  | { readonly kind: 'refused'; readonly refusal: string; readonly tries: readonly Try[] }
  | { readonly kind: 'failed'; readonly tries: readonly Try[] };

const SQL = z.object({
  reason: z.string().describe('How the question is understood and answered, in one or two sentences'),
  sql: z.string().describe('The SELECT; empty with a refusal'),
  refusal: z.string().nullable().describe('What is missing, if the graph cannot answer the question; otherwise null'),
});

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
      const { sql, refusal, reason } = reply;
      if (sql === undefined) {
        if (refusal !== undefined) return fallback ?? { kind: 'refused', refusal, tries: this.#tries };
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
  async #turn(feedback: string, canDoWithout: boolean): Promise<{ sql: string | undefined; refusal: string | undefined; reason: string } | undefined> {
    this.#calls++;
    try {
      const { value, text, cutOff } = await this.#run.ask({ stage: 'sql', system: sqlRules(this.#wanted.product), user: this.#user(feedback), schema: SQL });
      const sql = value !== undefined ? statement(value.sql) : cutOff ? undefined : sqlIn(text);
      return {
        sql: sql === '' ? undefined : sql,
        refusal: value?.refusal ? line(value.refusal, 600) : undefined,
        reason: line(value?.reason ?? '', 1000),
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
    for (let left = this.#wanted.settings.reviews; left > 0 && this.#hasCalls; left--) {
      this.#calls++;
      const { value } = await this.#run
        .ask({
          stage: 'sql',
          system: `${sqlRules(this.#wanted.product)}\nYou review such a SELECT.`,
          user: `${this.#user('')}\nSELECT to review: ${fenced(best.sql)}`,
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
      best = { kind: 'made', sql, result: done, reason: line(value.reasoning, 1000), tries: this.#tries };
    }
    return best;
  }

  #user(feedback: string): string {
    const { question, context, settings, now, examples } = this.#wanted;
    return [
      `Question: ${fenced(question)}`,
      `Today is ${new Date(now).toISOString().slice(0, 10)}. At most ${settings.maxLimit} rows are shown.`,
      settings.caseSensitive
        ? 'Texts in the database vary in upper and lower case: compare them with LOWER(column) = LOWER(value).'
        : 'Text comparison is case-sensitive: write values exactly as listed.',
      settings.note === '' ? '' : `Rules of the operator or the caller: ${fenced(settings.note)}`,
      `The knowledge graph: <<<${inner(context)}>>>`,
      examples.length === 0 ? '' : `Verified examples: ${fenced(examples.map((e) => `${line(e.question, 300)}\n${e.sql}`).join('\n\n'))}`,
      feedback,
    ]
      .filter((part) => part !== '')
      .join('\n\n');
  }
}

/** Statuses of errors that another statement may avoid. */
const FIXABLE = new Set([400, 403, 404]);

/** The error for a question without a valid statement: the attempts and their errors. */
export function noSql(tries: readonly Try[]): SvcError {
  const attempts = tries.map((t, i) => `${i + 1}. ${t.sql === null ? '' : `${line(t.sql, 500)}: `}${line(t.error ?? '', 400)}`).join('\n');
  return badRequest('no_valid_sql', `No valid SQL was found for this question. Attempts:\n${cut(attempts, 4000)}`, {
    hint: 'Use the terms of the graph (describe_knowledge_graph), name the concept in concepts_list, or write the SQL yourself with execute_sql',
  });
}

/** The error for a question that the graph cannot answer, with the model's reason. */
export const refused = (refusal: string): SvcError =>
  badRequest('not_answerable', `The knowledge graph cannot answer this question: ${line(refusal, 600)}`, {
    hint: 'describe_knowledge_graph lists what it contains',
  });
