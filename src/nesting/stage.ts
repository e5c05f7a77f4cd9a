/** The pipeline from the database's bytes to an answer's text: rows are read, changed or folded, and written as JSON, CSV or NDJSON. */

import { FOLD_BYTES, type Share, shareOf } from '../answer-memory.ts';
import { nestedOrder, type Shape } from '../ontology/shape.ts';
import { csvField, csvRecord, csvWriter, flatWriter } from './flat.ts';
import { Folder } from './fold.ts';
import { flatColumns, levelsOf, type Presentation } from './presentation.ts';
import { type Row, RowReader } from './scan.ts';
import { type ByteRow, ByteRowReader } from './scan-bytes.ts';

export type Format = 'json' | 'csv' | 'ndjson';

/** The format and presentation that a caller wants for rows. */
export interface Wish {
  readonly format: Format;
  readonly presentation: Presentation;
}

/** The rows of an answer: their shape, and whether they were planned for folding. */
export interface RowsKind {
  readonly shape: Shape;
  readonly nested: boolean;
}

/**
 * Turns the bytes of a JSON array of rows into those of an answer: `push` each piece in order, then take what `finish` has. What it keeps on the way is a part of
 * the memory of answers (answer-memory.ts), so it must be ended.
 */
export interface Stage {
  /** Whether all comes from `finish`: nothing of the answer is known before the last row. */
  readonly isBuffered: boolean;
  /** Whether a row has been read. */
  readonly hasRows: boolean;
  /** @throws SvcError 400 `result_too_large`, 503 `busy`; RowsError where the bytes are no rows */
  push(bytes: Uint8Array): Uint8Array<ArrayBuffer>;
  /** @throws as `push` */
  finish(): Iterable<Uint8Array<ArrayBuffer>>;
  /** Nothing more is wanted of it. May be called again. */
  end(): void;
}

/** What an answer may use. */
export interface Bounds {
  /** The most bytes of a nested answer. */
  readonly maxBytes: number;
  /** The caller whose answer it is. */
  readonly owner: string;
}

const NOTHING = new Uint8Array(0);
/** A character beyond Latin-1 makes a text take two bytes for each unit. */
const BYTES_OF_UNIT = 2;
const encoder = new TextEncoder();

/** Replaces line breaks between members by blanks. JSON strings contain no line breaks. */
const oneLine = (text: string): string => (/[\r\n]/.test(text) ? text.replace(/[\r\n]+/g, ' ') : text);

/** The stage for a wish; undefined: the bytes are the answer already. */
export function stageFor({ shape, nested }: RowsKind, { format, presentation }: Wish, bounds: Bounds): Stage | undefined {
  if (nested) return new FoldStage(shape, format, presentation, bounds);
  const { owner } = bounds;
  const columns = flatColumns(shape, presentation);
  const count = shape.columns.length;
  if (format === 'csv') {
    const names =
      columns === undefined ? shape.columns.map((c) => c.key) : columns.flatMap((c) => (c === null ? [] : [JSON.parse(c.key.slice(0, -1)) as string]));
    return new FlatStage(owner, count, csvWriter(count, columns), csvRecord(names.map(csvField)), '', '');
  }
  if (format === 'ndjson') {
    const write = columns === undefined ? ({ text, from, to }: Row) => text.slice(from, to) : flatWriter(columns);
    return new FlatStage(owner, count, (row) => `${oneLine(write(row))}\n`, '', '', '');
  }
  return columns === undefined ? undefined : new FlatStage(owner, count, flatWriter(columns), '[', ',', ']');
}

/** Writes rows one by one. */
class FlatStage implements Stage {
  readonly isBuffered = false;
  readonly #columns: number;
  #reader: RowReader;
  readonly #decoder = new TextDecoder();
  readonly #end: string;
  readonly #share: Share;
  #parts: string[];

  constructor(owner: string, columns: number, write: (row: Row) => string, begin: string, between: string, end: string) {
    this.#columns = columns;
    this.#reader = new RowReader(columns);
    this.#parts = [begin];
    this.#end = end;
    this.#share = shareOf(owner, () => {
      this.#reader = new RowReader(this.#columns);
      this.#parts = [];
    });
    this.#take = (row) => {
      this.#parts.push(this.hasRows ? between + write(row) : write(row));
      this.hasRows = true;
    };
  }
  hasRows = false;
  readonly #take: (row: Row) => void;

  push(bytes: Uint8Array): Uint8Array<ArrayBuffer> {
    this.#share.keep(this.#reader.kept * BYTES_OF_UNIT);
    this.#reader.push(this.#decoder.decode(bytes, { stream: true }), this.#take);
    this.#share.keep(this.#reader.kept * BYTES_OF_UNIT);
    return this.#taken();
  }

  *finish(): Generator<Uint8Array<ArrayBuffer>> {
    this.#share.keep(this.#reader.kept * BYTES_OF_UNIT);
    this.#reader.finish(this.#take);
    this.#share.end();
    this.#parts.push(this.#end);
    yield this.#taken();
  }

  end(): void {
    this.#share.end();
  }

  #taken(): Uint8Array<ArrayBuffer> {
    const bytes = encoder.encode(this.#parts.join(''));
    this.#parts = [];
    return bytes;
  }
}

/** Folds rows. */
class FoldStage implements Stage {
  readonly isBuffered = true;
  readonly #columns: number;
  #reader: ByteRowReader;
  readonly #folder: Folder;
  readonly #lines: boolean;
  readonly #share: Share;
  hasRows = false;
  readonly #take = (row: ByteRow): void => {
    this.hasRows = true;
    this.#folder.add(row);
  };

  constructor(shape: Shape, format: Format, presentation: Presentation, { maxBytes, owner }: Bounds) {
    const positions: number[] = [];
    for (const [at, column] of nestedOrder(shape).entries()) positions[column] = at;
    this.#columns = shape.columns.length;
    this.#reader = new ByteRowReader(this.#columns);
    this.#folder = new Folder(levelsOf(shape, positions, presentation), { memory: Math.min(FOLD_BYTES, maxBytes), answer: maxBytes });
    this.#lines = format === 'ndjson';
    this.#share = shareOf(owner, () => {
      this.#reader = new ByteRowReader(this.#columns);
      this.#folder.clear();
    });
  }

  push(bytes: Uint8Array): Uint8Array<ArrayBuffer> {
    this.#keep();
    this.#reader.push(bytes, this.#take);
    this.#keep();
    return NOTHING;
  }

  *finish(): Generator<Uint8Array<ArrayBuffer>> {
    this.#keep();
    this.#reader.finish(this.#take);
    try {
      for (const piece of this.#folder.pieces(this.#lines)) {
        yield piece;
        // the part may be dropped while the caller reads
        this.#keep();
      }
    } finally {
      this.end();
    }
  }

  end(): void {
    this.#share.end();
  }

  #keep(): void {
    this.#share.keep(this.#reader.kept + this.#folder.kept);
  }
}

/** The text of rows that the service itself produced. */
export function valueText(rows: readonly unknown[], format: Format): string {
  if (format === 'json') return JSON.stringify(rows);
  if (format === 'ndjson') return rows.map((row) => `${JSON.stringify(row)}\n`).join('');
  const names = [...new Set(rows.flatMap((row) => Object.keys(row as object)))];
  if (names.length === 0) return '';
  return [csvRecord(names.map(csvField)), ...rows.map((row) => csvRecord(names.map((name) => csvOf((row as Record<string, unknown>)[name]))))].join('');
}

const csvOf = (value: unknown): string => (value === null || value === undefined ? '' : csvField(typeof value === 'string' ? value : JSON.stringify(value)));

/** Yields the rows of an answer as the bytes of a JSON array, presented as wanted. */
export async function* presentedRows(
  { rows, ...kind }: RowsKind & { readonly rows: { readonly stream: AsyncIterable<Uint8Array> } },
  presentation: Presentation,
  bounds: Bounds,
): AsyncGenerator<Uint8Array> {
  const stage = stageFor(kind, { format: 'json', presentation }, bounds);
  if (stage === undefined) {
    yield* rows.stream;
    return;
  }
  try {
    for await (const bytes of rows.stream) {
      const made = stage.push(bytes);
      if (made.length > 0) yield made;
    }
    yield* stage.finish();
  } finally {
    stage.end();
  }
}
