/**
 * Rows of a result that come into the answer as the JSON that they are. The SDK is handed a mark in their place; what it has
 * written has them in the place of the mark, once as structured content and once inside the text that says the same. Parsed,
 * checked, written, escaped and read again they would cost several times what the query does.
 */
import { type JsonRow, RowTexts } from './rows.ts';

export class Spliced {
  /** Stands in no text of anybody's: it was made up after they came. */
  readonly #mark = crypto.randomUUID();
  readonly #rows: string[] = [];

  /** A tool's result as the SDK takes it: a row that is a mark stands for all of `RowTexts`. */
  marked(result: JsonRow): JsonRow {
    return Object.fromEntries(Object.entries(result).map(([name, value]) => [name, value instanceof RowTexts ? this.#keep(value) : value]));
  }

  #keep({ json }: RowTexts): readonly JsonRow[] {
    return json === '' ? [] : [{ [this.#mark]: this.#rows.push(json) - 1 }];
  }

  /** Whether there are marks in answers. */
  get isUsed(): boolean {
    return this.#rows.length > 0;
  }

  /** A message of the SDK's with rows in the place of marks. */
  put(message: string): string {
    const parts: string[] = [];
    let done = 0;
    for (let at = this.isUsed ? message.indexOf(this.#mark) : -1; at >= 0; at = message.indexOf(this.#mark, done)) {
      // {"mark":0} or, inside a text, {\"mark\":0}
      const quote = message[at - 2] === '\\' ? 2 : 1;
      const end = message.indexOf('}', at);
      if (end < 0) break;
      const rows = this.#rows[Number(message.slice(at + this.#mark.length + quote + 1, end))] ?? '';
      parts.push(message.slice(done, at - quote - 1), quote === 1 ? rows : JSON.stringify(rows).slice(1, -1));
      done = end + 1;
    }
    return parts.length === 0 ? message : parts.join('') + message.slice(done);
  }
}
