/** Rows as tools answer them: at most so many, at most so many bytes, and said where some are left out. */
import { RowReader } from '../nesting/scan.ts';
import type { Answer } from '../service.ts';
import { exactText, isExact, parseExact } from './exact.ts';

/** The most bytes of an answer: one object serves a user in an isolate of 128 MB (docs/design/platform-rules.md#mcp-objects). */
export const ANSWER_BYTES = 2 * 1024 * 1024;

export type JsonRow = Readonly<Record<string, unknown>>;

export interface CutRows {
  readonly rows: readonly JsonRow[];
  readonly truncated: boolean;
}

/** Rows as JSON with commas between, for an answer that nobody reads on the way (spliced.ts). */
export class RowTexts {
  readonly json: string;
  constructor(texts: readonly string[]) {
    const json = texts.join(',');
    // one look at all of them costs a fraction of one at each
    this.json = isExact(json) ? json : texts.map(exactText).join(',');
  }
}

/** How much an answer may still hold. */
export class Budget {
  #left: number;
  /** What was taken and is counted when it could matter: counting costs more than all else that is done with a row. */
  #waiting: string[] = [];
  #waitingMost = 0;

  constructor(bytes = ANSWER_BYTES) {
    this.#left = bytes;
  }

  /** Takes the room of a value's JSON, which an answer holds twice: as structured content, and inside a text. False: there is none left. */
  takes(json: string): boolean {
    const most = mostBytes(json);
    if (this.#waitingMost + most > this.#left) {
      this.#left -= bytesTwice(this.#waiting);
      this.#waiting = [];
      this.#waitingMost = 0;
    }
    if (this.#waitingMost + most <= this.#left) {
      this.#waiting.push(json);
      this.#waitingMost += most;
      return true;
    }
    this.#left -= bytesTwice([json]);
    return this.#left >= 0;
  }
}

const encoder = new TextEncoder();
const bytesOf = (text: string): number => encoder.encode(text).length;

/** The bytes of values' JSON and of the same inside a text, each time with quotes and comma. */
function bytesTwice(jsons: readonly string[]): number {
  const all = jsons.join('');
  return bytesOf(all) + bytesOf(JSON.stringify(all)) - 2 + 4 * jsons.length;
}

/** Not less than that: a UTF-16 unit of JSON has three bytes at most, and no more where it is escaped once more. */
const mostBytes = (json: string): number => 6 * json.length + 4;

/**
 * The first `most` rows of an answer that the budget has room for; the rest is not fetched.
 * @throws SvcError where the datasource breaks
 */
export async function cutRows(answer: Answer, most: number, budget: Budget = new Budget()): Promise<CutRows> {
  return (await cutAnswer(answer, most, budget)).rows();
}

/**
 * The same as texts, none of which is parsed.
 * @throws SvcError where the datasource breaks
 */
export async function cutTexts(answer: Answer, most: number): Promise<{ readonly rows: RowTexts; readonly row_count: number; readonly truncated: boolean }> {
  const { texts, full } = await cutAnswer(answer, most, new Budget());
  return { rows: new RowTexts(texts), row_count: texts.length, truncated: full };
}

async function cutAnswer(answer: Answer, most: number, budget: Budget): Promise<Cutter> {
  const cut = new Cutter(most, budget);
  if (answer.kind === 'value') {
    for (const row of answer.data) if (!cut.take(JSON.stringify(row))) break;
    return cut;
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
    return cut;
  }
  for await (const bytes of rows.stream) {
    reader.push(text.decode(bytes, { stream: true }), take);
    if (cut.full) {
      rows.cancel();
      return cut;
    }
  }
  reader.finish(take);
  return cut;
}

/** Rows of the service's own, cut in the same way. */
export function cutValues(rows: readonly unknown[], most: number, budget: Budget): CutRows {
  const cut = new Cutter(most, budget);
  for (const row of rows) if (!cut.take(JSON.stringify(row))) break;
  return cut.rows();
}

class Cutter {
  readonly texts: string[] = [];
  readonly #most: number;
  readonly #budget: Budget;
  /** No further row is taken: one was left out. */
  full = false;

  constructor(most: number, budget: Budget) {
    this.#most = most;
    this.#budget = budget;
  }

  take(json: string): boolean {
    if (this.texts.length >= this.#most || !this.#budget.takes(json)) this.full = true;
    else this.texts.push(json);
    return !this.full;
  }

  rows(): CutRows {
    return { rows: this.texts.map((text) => parseExact(text) as JsonRow), truncated: this.full };
  }
}
