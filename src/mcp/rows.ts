/** Rows as tools answer them: at most so many, at most so many bytes, and said where some are left out. */
import { RowReader } from '../nesting/scan.ts';
import type { Answer } from '../service.ts';
import { parseExact } from './exact.ts';

/** An answer ends here (platform: one object a principal, in an isolate of 128 MB). */
export const ANSWER_BYTES = 2 * 1024 * 1024;

export type JsonRow = Readonly<Record<string, unknown>>;

export interface CutRows {
  readonly rows: readonly JsonRow[];
  readonly truncated: boolean;
}

/** How much an answer may still hold. */
export class Budget {
  #left: number;
  constructor(bytes = ANSWER_BYTES) {
    this.#left = bytes;
  }

  /** Takes the room of a value's JSON, which an answer holds twice: as structured content, and inside a text. False: there is none left. */
  takes(json: string): boolean {
    this.#left -= bytesOf(json) + bytesOf(JSON.stringify(json));
    return this.#left >= 0;
  }
}

const encoder = new TextEncoder();
const bytesOf = (text: string): number => encoder.encode(text).length + 1;

/**
 * The first `most` rows of an answer that the budget has room for; the rest is not fetched.
 * @throws SvcError where the datasource breaks
 */
export async function cutRows(answer: Answer, most: number, budget: Budget = new Budget()): Promise<CutRows> {
  const cut = new Cutter(most, budget);
  if (answer.kind === 'value') {
    for (const row of answer.data) if (!cut.take(JSON.stringify(row))) break;
    return cut.rows();
  }
  const text = new TextDecoder();
  const reader = new RowReader(answer.kind === 'rows' ? answer.shape.columns.length : 0);
  if (answer.kind === 'kept') throw new Error('a tool asked for no kept answer');
  const take = (row: { readonly text: string; readonly from: number; readonly to: number }): void => {
    if (!cut.full) cut.take(row.text.slice(row.from, row.to));
  };
  const { rows } = answer;
  if (rows.whole !== undefined) {
    reader.push(text.decode(rows.whole), take);
    reader.finish(take);
    return cut.rows();
  }
  for await (const bytes of rows.stream) {
    reader.push(text.decode(bytes, { stream: true }), take);
    if (cut.full) {
      rows.cancel();
      return cut.rows();
    }
  }
  reader.finish(take);
  return cut.rows();
}

/** Rows of the service's own, cut in the same way. */
export function cutValues(rows: readonly unknown[], most: number, budget: Budget): CutRows {
  const cut = new Cutter(most, budget);
  for (const row of rows) if (!cut.take(JSON.stringify(row))) break;
  return cut.rows();
}

class Cutter {
  readonly #rows: JsonRow[] = [];
  readonly #most: number;
  readonly #budget: Budget;
  /** No further row is taken: one was left out. */
  full = false;

  constructor(most: number, budget: Budget) {
    this.#most = most;
    this.#budget = budget;
  }

  take(json: string): boolean {
    if (this.#rows.length >= this.#most || !this.#budget.takes(json)) this.full = true;
    else this.#rows.push(parseExact(json) as JsonRow);
    return !this.full;
  }

  rows(): CutRows {
    return { rows: this.#rows, truncated: this.full };
  }
}
