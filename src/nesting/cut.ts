/** The first rows of an answer, limited by number and by size, with numbers that a double can represent; and whether rows were omitted. */

import { shareOf } from '../answer-memory.ts';
import { exactText, isExact, parseExact } from './exact.ts';
import { RowReader } from './scan.ts';

/** Maximum size of an answer: one object serves a user in an isolate of 128 MB (docs/design/platform-rules.md#mcp-objects). */
export const ANSWER_BYTES = 2 * 1024 * 1024;

/** The most bytes of the rows in all answers to one POST: a batch has up to a hundred messages, and all its answers are sent together. */
export const BATCH_BYTES = 4 * ANSWER_BYTES;

/** An answer of the service as this file reads it. */
export type CutAnswer =
  | {
      readonly kind: 'rows';
      readonly rows: { readonly whole?: Uint8Array | undefined; readonly stream: AsyncIterable<Uint8Array>; readonly isTentative?: boolean; cancel(): void };
      readonly owner: string;
      readonly shape: { readonly columns: readonly unknown[] };
    }
  | { readonly kind: 'kept' }
  | { readonly kind: 'value'; readonly data: readonly unknown[] };

export type JsonRow = Readonly<Record<string, unknown>>;

export interface CutRows {
  readonly rows: readonly JsonRow[];
  readonly truncated: boolean;
}

/** Rows as comma-separated JSON, for an answer that is not parsed on its way (spliced.ts). */
export class RowTexts {
  readonly json: string;
  constructor(texts: readonly string[]) {
    const json = texts.join(',');
    // checking all rows at once is much faster than checking each
    this.json = isExact(json) ? json : texts.map(exactText).join(',');
  }
}

/** The remaining size of an answer. */
export class Budget {
  #left: number;
  readonly #all: Budget | undefined;
  /** Values that are accepted but not yet measured. Measuring is the most expensive step for a row, so it is done only near the limit. */
  #waiting: string[] = [];
  #waitingMax = 0;

  /** `all`: the budget of several answers together. */
  constructor(bytes = ANSWER_BYTES, all?: Budget) {
    this.#left = bytes;
    this.#all = all;
  }

  /** Reserves space for a value's JSON, which an answer contains twice: as structured content, and inside a text. Returns false if no space is left. */
  takes(json: string): boolean {
    return this.#takes(json) && (this.#all === undefined || this.#all.takes(json));
  }

  #takes(json: string): boolean {
    const max = maxBytes(json);
    if (this.#waitingMax + max > this.#left) {
      this.#left -= bytesTwice(this.#waiting);
      this.#waiting = [];
      this.#waitingMax = 0;
    }
    if (this.#waitingMax + max <= this.#left) {
      this.#waiting.push(json);
      this.#waitingMax += max;
      return true;
    }
    this.#left -= bytesTwice([json]);
    return this.#left >= 0;
  }
}

/** The budget of one answer to a message of a POST whose answers have `answers` together. */
export const budgetOf = ({ answers }: { readonly answers: Budget }): Budget => new Budget(ANSWER_BYTES, answers);

const encoder = new TextEncoder();
const bytesOf = (text: string): number => encoder.encode(text).length;

/** The size of values' JSON, plus its size inside a text, each with quotes and comma. */
function bytesTwice(jsons: readonly string[]): number {
  const all = jsons.join('');
  return bytesOf(all) + bytesOf(JSON.stringify(all)) - 2 + 4 * jsons.length;
}

/** An upper bound of that: a UTF-16 unit of JSON has at most three bytes, also when it is escaped once more. */
const maxBytes = (json: string): number => 6 * json.length + 4;

/**
 * The first `limit` rows of an answer that fit the budget. The rest is not fetched.
 * @throws SvcError if the datasource fails
 */
export async function cutRows(answer: CutAnswer, limit: number, budget: Budget = new Budget()): Promise<CutRows> {
  return (await cutAnswer(answer, limit, budget)).rows();
}

/**
 * The same as texts, without parsing the rows.
 * @throws SvcError if the datasource fails
 */
export async function cutTexts(
  answer: CutAnswer,
  most: number,
  budget: Budget = new Budget(),
): Promise<{ readonly rows: RowTexts; readonly row_count: number; readonly truncated: boolean }> {
  const { texts, full } = await cutAnswer(answer, most, budget);
  return { rows: new RowTexts(texts), row_count: texts.length, truncated: full };
}

async function cutAnswer(answer: CutAnswer, limit: number, budget: Budget): Promise<Cutter> {
  const cut = new Cutter(limit, budget);
  if (answer.kind === 'value') {
    for (const row of answer.data) if (!cut.take(JSON.stringify(row))) break;
    return cut;
  }
  if (answer.kind === 'kept') throw new Error('a kept answer is already formatted');
  const { rows, owner, shape } = answer;
  const text = new TextDecoder();
  // a longer row fits into no answer
  const newReader = (): RowReader => new RowReader(shape.columns.length, ANSWER_BYTES);
  let reader = newReader();
  const take = (row: { readonly text: string; readonly from: number; readonly to: number }): void => {
    if (!cut.full) cut.take(row.text.slice(row.from, row.to));
  };
  if (rows.whole !== undefined) {
    reader.push(text.decode(rows.whole), take);
    reader.finish(take);
    return cut;
  }
  const share = shareOf(owner, () => {
    reader = newReader();
    cut.texts.splice(0);
  });
  try {
    for await (const bytes of rows.stream) {
      // tentative rows are read to their end, which shows whether they count
      if (cut.full) continue;
      reader.push(text.decode(bytes, { stream: true }), take);
      if (cut.full && !rows.isTentative) {
        rows.cancel();
        return cut;
      }
      // a character beyond Latin-1 makes a text take two bytes for each unit
      share.keep(2 * (reader.kept + cut.length));
    }
    if (!cut.full) reader.finish(take);
    return cut;
  } catch (error) {
    rows.cancel();
    throw error;
  } finally {
    share.end();
  }
}

/** The same for rows that the service itself produced. */
export function cutValues(rows: readonly unknown[], limit: number, budget: Budget): CutRows {
  const cut = new Cutter(limit, budget);
  for (const row of rows) if (!cut.take(JSON.stringify(row))) break;
  return cut.rows();
}

class Cutter {
  readonly texts: string[] = [];
  /** UTF-16 units of the texts. */
  length = 0;
  readonly #limit: number;
  readonly #budget: Budget;
  /** Whether a row was omitted. Further rows are omitted too. */
  full = false;

  constructor(limit: number, budget: Budget) {
    this.#limit = limit;
    this.#budget = budget;
  }

  take(json: string): boolean {
    if (this.texts.length >= this.#limit || !this.#budget.takes(json)) this.full = true;
    else {
      this.texts.push(json);
      this.length += json.length;
    }
    return !this.full;
  }

  rows(): CutRows {
    return { rows: this.texts.map((text) => parseExact(text) as JsonRow), truncated: this.full };
  }
}
