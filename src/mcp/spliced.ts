/**
 * Inserts the rows of a result into the answer verbatim. The SDK gets a placeholder instead. In its output the rows replace the
 * placeholder: as structured content, and inside the text with the same content unless the client reads only structured content. To parse, validate, serialise and
 * escape the rows would cost several times as much as the query.
 */
import { type JsonRow, RowTexts } from '../nesting/cut.ts';

export class Spliced {
  /** Occurs in no other text: it is created after they arrived. */
  readonly #mark = crypto.randomUUID();
  readonly #rows: string[] = [];
  /** Whether the text of a result contains the rows too. */
  readonly #repeats: boolean;

  constructor(repeats = true) {
    this.#repeats = repeats;
  }

  /** Replaces `RowTexts` in a tool's result by placeholder rows, for the SDK. */
  marked(result: JsonRow): JsonRow {
    return Object.fromEntries(Object.entries(result).map(([name, value]) => [name, value instanceof RowTexts ? this.#keep(value) : value]));
  }

  /** The text of a result for clients that do not read structured content. @param marked the result of `marked` */
  textOf(result: JsonRow, marked: JsonRow): string {
    const others = Object.entries(result).filter(([, value]) => !(value instanceof RowTexts));
    if (this.#repeats || others.length === Object.keys(result).length) return JSON.stringify(marked);
    return `The rows are in structuredContent. ${JSON.stringify(Object.fromEntries(others))}`;
  }

  #keep({ json }: RowTexts): readonly JsonRow[] {
    return json === '' ? [] : [{ [this.#mark]: this.#rows.push(json) - 1 }];
  }

  /** Whether an answer contains placeholders. */
  get isUsed(): boolean {
    return this.#rows.length > 0;
  }

  /** Replaces the placeholders in a message of the SDK by the rows. */
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
