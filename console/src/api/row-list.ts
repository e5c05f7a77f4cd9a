/** A list of rows, each as its JSON text: a row is parsed when it is shown, so that a million rows need little more than their bytes. */
import { parseExact } from './exact.ts';

/** A row: values by column. */
export type Row = Readonly<Record<string, unknown>>;

const SAMPLE = 200;

/** Rows that arrived, possibly while more arrive. */
export class Rows {
  readonly #lines: string[] = [];
  #columns: readonly string[] = [];
  /** The last row that was parsed. */
  #last: { readonly index: number; readonly row: Row } | undefined;
  version: string | null = null;

  get length(): number {
    return this.#lines.length;
  }

  /** The names of the columns, from the first rows: nested rows may have different ones. */
  get columns(): readonly string[] {
    return this.#columns;
  }

  /** A row. @throws RangeError beyond the end */
  row(index: number): Row {
    if (this.#last?.index === index) return this.#last.row;
    const line = this.#lines[index];
    if (line === undefined) throw new RangeError(`there is no row ${index}`);
    const row = parseExact(line) as Row;
    this.#last = { index, row };
    return row;
  }

  /** The text of a row, as the service wrote it. */
  line = (index: number): string => this.#lines[index] ?? '';

  /** Adds lines. */
  add(lines: readonly string[]): void {
    const from = this.#lines.length;
    for (const line of lines) this.#lines.push(line);
    if (from >= SAMPLE) return;
    const names = new Set(this.#columns);
    for (let i = from; i < Math.min(this.#lines.length, SAMPLE); i++) for (const name of Object.keys(this.row(i))) names.add(name);
    this.#columns = [...names];
  }
}
