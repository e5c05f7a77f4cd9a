/**
 * SQL for a question: written by the language model, checked by the planner and the datasource, and requested again with the error (at most 1 + retries calls,
 * docs/design/mcp.md#questions). This file returns a statement only if it is valid.
 */
import { z } from 'zod';
import { badRequest, SvcError } from '../errors.ts';
import { cut, fenced, inner, line } from './fence.ts';
import type { Run } from './run.ts';
import type { Settings } from './settings.ts';
import { sameSql, sqlIn, statement } from './sql-text.ts';
import { errorText } from './statement.ts';
import { sqlRules } from './templates.ts';

/** A statement that was tried; `error` null: it holds. */
export interface Try {
  readonly sql: string | null;
  readonly error: string | null;
}

/** What is to be written. */
export interface Wanted {
  readonly question: string;
  /** What the model is told of the graph (context.ts). */
  readonly context: string;
  readonly settings: Settings;
  readonly product: string;
  /** Milliseconds since 1970. */
  readonly now: number;
  /** Verified questions and their SQL that are near to this one. */
  readonly examples: readonly { readonly question: string; readonly sql: string }[];
  /** What may help where a statement gave no rows. */
  readonly emptyHint: (sql: string) => string;
  /** Where each statement is noted. */
  readonly tries: Try[];
  /** Why a statement that holds may still be wrong; empty: nothing is known. */
  readonly doubt: (sql: string) => Promise<string>;
}

/** What an attempt at a statement gave. */
export interface Attempt {
  /** Nothing was found: another statement may be a better one. */
  readonly isEmpty: boolean;
}

/** A statement that holds. */
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
  refusal: z.string().nullable().describe('What is missing, where the graph cannot answer the question; else null'),
});

const REVIEW = z.object({
  reasoning: z.string().describe('What the SELECT gives, what the question asks, and where they differ'),
  assessment: z.enum(['correct', 'partial', 'incorrect']),
  sql: z.string().describe('The right SELECT: the same one where it is correct'),
});

/**
 * `attempt` runs or checks a statement and throws what is wrong with it.
 * @throws SvcError of the model (`LanguageModels.ask`) and of the datasource, but for errors that a better statement mends
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
    /** They hold, but found nothing or are doubted: the first is given where no better one comes. */
    const held: Made<T>[] = [];
    /** Calls that it may still cost to find a better one. */
    let more = 0;
    let feedback = '';
    while (this.#hasCalls && (held.length === 0 || more-- > 0)) {
      const [fallback] = held;
      const told = await this.#turn(feedback, fallback !== undefined);
      if (told === undefined) break;
      const { sql, refusal, reason } = told;
      if (sql === undefined) {
        if (refusal !== undefined) return fallback ?? { kind: 'refused', refusal, tries: this.#tries };
        feedback = this.#failed(null, 'The answer was no SELECT in the agreed form');
        continue;
      }
      const insisted = held.find((made) => sameSql(made.sql, sql));
      // who insists may be right
      if (insisted !== undefined) return insisted.result.isEmpty ? (fallback ?? insisted) : this.#reviewed(insisted);
      if (this.#tries.some((t) => t.sql !== null && sameSql(t.sql, sql))) {
        feedback = this.#failed(sql, 'This statement was tried before: write another one');
      } else {
        const done = await this.#try(sql, fallback !== undefined);
        if (done === undefined) break;
        if (typeof done === 'string') feedback = this.#failed(sql, done);
        else {
          this.#tries.push({ sql, error: null });
          const made: Made<T> = { kind: 'made', sql, result: done, reason, tries: this.#tries };
          // said once
          const doubt = fallback === undefined ? await this.#wanted.doubt(sql) : '';
          if (!done.isEmpty && doubt === '') return this.#reviewed(made);
          if (fallback === undefined) more = done.isEmpty ? emptyRetries : Math.max(1, emptyRetries);
          held.push(made);
          feedback = done.isEmpty ? this.#emptyFeedback(sql) : `This SELECT holds, but:\n${fenced(sql)}\n${doubt}\nMend it, or repeat it where it is right.`;
        }
      }
    }
    return held[0] ?? { kind: 'failed', tries: this.#tries };
  }

  /** One call; undefined: it failed, and there is a statement already that will do. */
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

  /** What came of a statement, or what is wrong with it that the model may mend; undefined: it failed otherwise, and there is one already that will do. */
  async #try(sql: string, canDoWithout: boolean): Promise<T | string | undefined> {
    try {
      return await this.#attempt(sql);
    } catch (error) {
      if (!(error instanceof SvcError)) throw error;
      if (MENDABLE.has(error.status)) return errorText(error, sql);
      if (!canDoWithout) throw error;
      this.#tries.push({ sql, error: errorText(error, sql) });
      return undefined;
    }
  }

  #failed(sql: string | null, error: string): string {
    this.#tries.push({ sql, error });
    return sql === null ? error : `This SELECT does not hold:\n${fenced(sql)}\n${fenced(error)}\nMend it.`;
  }

  #emptyFeedback(sql: string): string {
    return `This SELECT holds but found nothing:\n${fenced(sql)}\nLook at its conditions: values as they are really written, case, the right column or path. ${this.#wanted.emptyHint(sql)}
Write another SELECT where one of them may be wrong; repeat it where nothing is.`;
  }

  /** Asks whether the statement answers the question, as often as the agent's options want, and takes a better one that holds. */
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
        ? 'Texts in the database are written in any case: compare them with LOWER(column) = LOWER(value).'
        : 'Texts compare with case: write values exactly as they are listed.',
      settings.note === '' ? '' : `Rules of the one who runs this service or asks: ${fenced(settings.note)}`,
      `The knowledge graph: <<<${inner(context)}>>>`,
      examples.length === 0 ? '' : `Verified examples: ${fenced(examples.map((e) => `${line(e.question, 300)}\n${e.sql}`).join('\n\n'))}`,
      feedback,
    ]
      .filter((part) => part !== '')
      .join('\n\n');
  }
}

/** Statuses of errors that the statement is to blame for. */
const MENDABLE = new Set([400, 403, 404]);

/** The error of a question for which no statement was found: what was tried, and what was wrong with it. */
export function noSql(tries: readonly Try[]): SvcError {
  const told = tries.map((t, i) => `${i + 1}. ${t.sql === null ? '' : `${line(t.sql, 500)}: `}${line(t.error ?? '', 400)}`).join('\n');
  return badRequest('no_valid_sql', `No SQL that holds was found for this question; tried:\n${cut(told, 4000)}`, {
    hint: 'Ask in the words of the graph (describe_knowledge_graph), name the concept in concepts_list, or write the SQL yourself with execute_sql',
  });
}

/** The error of a question that the graph cannot answer, in the words of the model. */
export const refused = (refusal: string): SvcError =>
  badRequest('not_answerable', `The knowledge graph cannot answer this question: ${line(refusal, 600)}`, {
    hint: 'describe_knowledge_graph tells what there is',
  });
