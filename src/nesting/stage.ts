/** The way of rows from the database's bytes to an answer's text: read, changed or folded, written as JSON, CSV or NDJSON. */
import { nestedOrder, type Shape } from '../ontology/shape.ts';
import { csvField, csvRecord, csvWriter, flatWriter } from './flat.ts';
import { Folder } from './fold.ts';
import { flatColumns, levelsOf, type Presentation } from './presentation.ts';
import { type Row, RowReader } from './scan.ts';
import { type ByteRow, ByteRowReader } from './scan-bytes.ts';

export type Format = 'json' | 'csv' | 'ndjson';

/** What is wanted of an answer's rows. */
export interface Wish {
  readonly format: Format;
  readonly presentation: Presentation;
}

/** The rows of an answer: what they are, and whether they were made for folding. */
export interface RowsKind {
  readonly shape: Shape;
  readonly nested: boolean;
}

/** Turns the bytes of a JSON array of rows into those of an answer: `push` each piece in order, then take what `finish` has. */
export interface Stage {
  /** Whether all comes from `finish`: nothing of the answer is known before the last row. */
  readonly isLate: boolean;
  /** @throws SvcError 400 `result_too_large`; RowsError where the bytes are no rows */
  push(bytes: Uint8Array): Uint8Array<ArrayBuffer>;
  finish(): Iterable<Uint8Array<ArrayBuffer>>;
}

const NOTHING = new Uint8Array(0);
const encoder = new TextEncoder();

/** Row texts of NDJSON have no line breaks; inside JSON strings there are none. */
const oneLine = (text: string): string => (/[\r\n]/.test(text) ? text.replace(/[\r\n]+/g, ' ') : text);

/**
 * The stage for a wish; undefined: the bytes are the answer already. Folding keeps at the most `maxBytes`.
 */
export function stageFor({ shape, nested }: RowsKind, { format, presentation }: Wish, maxBytes: number): Stage | undefined {
  if (nested) return new FoldStage(shape, format, presentation, maxBytes);
  const columns = flatColumns(shape, presentation);
  const count = shape.columns.length;
  if (format === 'csv') {
    const names =
      columns === undefined ? shape.columns.map((c) => c.key) : columns.flatMap((c) => (c === null ? [] : [JSON.parse(c.key.slice(0, -1)) as string]));
    return new FlatStage(count, csvWriter(count, columns), csvRecord(names.map(csvField)), '', '');
  }
  if (format === 'ndjson') {
    const write = columns === undefined ? ({ text, from, to }: Row) => text.slice(from, to) : flatWriter(columns);
    return new FlatStage(count, (row) => `${oneLine(write(row))}\n`, '', '', '');
  }
  return columns === undefined ? undefined : new FlatStage(count, flatWriter(columns), '[', ',', ']');
}

/** Rows that are written one by one. */
class FlatStage implements Stage {
  readonly isLate = false;
  readonly #reader: RowReader;
  readonly #decoder = new TextDecoder();
  readonly #end: string;
  #parts: string[];

  constructor(columns: number, write: (row: Row) => string, begin: string, between: string, end: string) {
    this.#reader = new RowReader(columns);
    this.#parts = [begin];
    this.#end = end;
    let first = true;
    this.#take = (row) => {
      this.#parts.push(first ? write(row) : between + write(row));
      first = false;
    };
  }
  readonly #take: (row: Row) => void;

  push(bytes: Uint8Array): Uint8Array<ArrayBuffer> {
    this.#reader.push(this.#decoder.decode(bytes, { stream: true }), this.#take);
    return this.#taken();
  }

  *finish(): Generator<Uint8Array<ArrayBuffer>> {
    this.#reader.finish(this.#take);
    this.#parts.push(this.#end);
    yield this.#taken();
  }

  #taken(): Uint8Array<ArrayBuffer> {
    const bytes = encoder.encode(this.#parts.join(''));
    this.#parts = [];
    return bytes;
  }
}

/** Rows that are folded. */
class FoldStage implements Stage {
  readonly isLate = true;
  readonly #reader: ByteRowReader;
  readonly #folder: Folder;
  readonly #lines: boolean;
  readonly #take = (row: ByteRow): void => this.#folder.add(row);

  constructor(shape: Shape, format: Format, presentation: Presentation, maxBytes: number) {
    const positions: number[] = [];
    for (const [at, column] of nestedOrder(shape).entries()) positions[column] = at;
    this.#reader = new ByteRowReader(shape.columns.length);
    this.#folder = new Folder(levelsOf(shape, positions, presentation), maxBytes);
    this.#lines = format === 'ndjson';
  }

  push(bytes: Uint8Array): Uint8Array<ArrayBuffer> {
    this.#reader.push(bytes, this.#take);
    return NOTHING;
  }

  *finish(): Generator<Uint8Array<ArrayBuffer>> {
    this.#reader.finish(this.#take);
    yield* this.#folder.pieces(this.#lines);
  }
}

/** Rows of the service's own, as text. */
export function valueText(rows: readonly unknown[], format: Format): string {
  if (format === 'json') return JSON.stringify(rows);
  if (format === 'ndjson') return rows.map((row) => `${JSON.stringify(row)}\n`).join('');
  const names = [...new Set(rows.flatMap((row) => Object.keys(row as object)))];
  if (names.length === 0) return '';
  return [csvRecord(names.map(csvField)), ...rows.map((row) => csvRecord(names.map((name) => csvOf((row as Record<string, unknown>)[name]))))].join('');
}

const csvOf = (value: unknown): string => (value === null || value === undefined ? '' : csvField(typeof value === 'string' ? value : JSON.stringify(value)));

/** The rows of an answer as the bytes of a JSON array, as they are to look. */
export async function* presentedRows(
  { rows, ...kind }: RowsKind & { readonly rows: { readonly stream: AsyncIterable<Uint8Array> } },
  presentation: Presentation,
  maxBytes: number,
): AsyncGenerator<Uint8Array> {
  const stage = stageFor(kind, { format: 'json', presentation }, maxBytes);
  if (stage === undefined) {
    yield* rows.stream;
    return;
  }
  for await (const bytes of rows.stream) {
    const made = stage.push(bytes);
    if (made.length > 0) yield made;
  }
  yield* stage.finish();
}
