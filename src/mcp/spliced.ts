/**
 * Rows of a result that come into the answer as the JSON that they are. The SDK is handed a mark in their place; what it has
 * written has them in the place of the mark, once as structured content and once inside the text that says the same. Parsed,
 * checked, written, escaped and read again they would cost several times what the query does.
 */
import { type JsonRow, RowTexts } from './rows.ts';

export class Spliced {
  /** Stands in no text of anybody's: it was made up after they came. */
  readonly #mark = crypto.randomUUID();
  /** A mark as an answer has it, the quotes bare in structured content and escaped inside a text. */
  readonly #marks = new RegExp(`\\{(\\\\?)"${this.#mark}\\\\?":(\\d+)\\}`, 'g');
  readonly #rows: string[] = [];

  /** A tool's result as the SDK takes it: a row that is a mark stands for all of `RowTexts`. */
  marked(result: JsonRow): JsonRow {
    return Object.fromEntries(Object.entries(result).map(([name, value]) => [name, value instanceof RowTexts ? this.#keep(value) : value]));
  }

  #keep({ texts }: RowTexts): readonly JsonRow[] {
    return texts.length === 0 ? [] : [{ [this.#mark]: this.#rows.push(texts.join(',')) - 1 }];
  }

  /** Whether there are marks in answers. */
  get isUsed(): boolean {
    return this.#rows.length > 0;
  }

  /** A message of the SDK's with rows in the place of marks. */
  put(message: string): string {
    if (!this.isUsed) return message;
    return message.replace(this.#marks, (_, backslash: string, at: string) => {
      const rows = this.#rows[Number(at)] ?? '';
      return backslash === '' ? rows : JSON.stringify(rows).slice(1, -1);
    });
  }
}
