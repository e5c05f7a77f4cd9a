/** Tables with the rows of a mapping of another datasource: one SELECT streams the rows there, and the writer inserts them in parts (docs/design/caches.md#in-another-datasource). */
import { badRequest, SvcError } from '../errors.ts';
import { type CachedRows, dropCachedTable, finishTable, type Increment, type Limits, listed, type TableName, writeBatch } from './cached-table.ts';
import type { Datasource } from './datasource.ts';
import { httpEngine, type RunOptions } from './engine.ts';
import { type SentIncrement, sentIncrement } from './increment.ts';
import { areAsPlanned } from './placements.ts';
import { fixed, type OwnText, type SqlText, type Statement, written } from './statement.ts';

/** A column of the table. */
export interface TransferColumn {
  readonly name: string;
  /** PostgreSQL's name of its type. */
  readonly type: string;
  /** `C` or `POSIX`; undefined: the default of the database. */
  readonly collation: string | undefined;
}

/** Where the rows come from. */
export interface Transfer {
  readonly source: Datasource;
  readonly columns: readonly TransferColumn[];
}

/** What a step of a copy has copied: all rows whose key is at most this one, or all rows. */
export type Copied = { readonly upTo: string | null } | 'all';

/** How a copy is divided into steps. */
export interface Copy {
  /** The column of the key by which it can go on; undefined: it cannot. */
  readonly by: string | undefined;
  /** True: there may be a next step. */
  readonly isStep: boolean;
  /** True: the rows are sent by the order of the key. They are sent in any order first, which needs no sort. */
  readonly isOrdered: boolean;
  /** What earlier steps have copied into the table; undefined: the table is new. */
  readonly after: Copied | undefined;
  /** True if the step ends after so many parts. */
  readonly isOver: (parts: number) => boolean;
  /** True if the rest is left to the next step. */
  readonly isLate: () => boolean;
}

/** A copy goes on in the next step. */
export class CopyPaused extends Error {
  readonly copied: Copied;

  constructor(copied: Copied) {
    super('the copy goes on in the next step');
    this.copied = copied;
  }
}

/** The time of a copy is over, and this table cannot be used. */
export class CopyTooLong extends SvcError {
  constructor(isStep: boolean) {
    const late = 'the rows were not sent to the other datasource in time';
    const lacks = 'the concept has no PRIMARY KEY of one number, text, uuid, date or timestamp, or `incremental` is an integer';
    super(504, 'statement_timeout', isStep ? `${late}, and the copy cannot go on in another step: ${lacks}` : late, {
      hint: isStep ? 'Cache fewer rows' : 'Let a job run this statement: it sends the rows in steps',
    });
  }
}

/** Types whose text is the same value in any database: those of PostgreSQL itself, without those that depend on the locale or on objects of the database. */
const SENDABLE = /^_?(bool|int[248]|float[48]|numeric|text|varchar|bpchar|date|time|timetz|timestamp|timestamptz|interval|uuid|bytea|jsonb?|inet|cidr)$/;
/** True if values of a type can be sent to another database. */
export const isSendable = (type: string | undefined): boolean => SENDABLE.test(type ?? '');

const PART_BYTES = 1024 * 1024;
const MOST_BYTES_OF_A_ROW = 16 * 1024 * 1024;
const DROP_MS = 10_000;
const ALL_ROWS = { row_security: 'off' };

/**
 * Makes a table, fills it by a transaction for each part, and gives it its indexes and statistics. If that fails, the table is dropped as far as possible.
 * @param reader the role that runs queries in the datasource of the table
 * @param increment undefined: all rows are sent; otherwise those that have changed, and the keys of the others, whose rows are those of the older table
 * @returns the number of rows, as text
 * @throws SvcError 400, 502, 504
 */
export async function transferTable(
  reader: Datasource,
  writer: Datasource,
  table: CachedRows,
  { source, columns }: Transfer,
  limits: Limits,
  copy: Copy,
  increment?: Increment,
): Promise<string> {
  const { schema, name, rows, key = [] } = table;
  const [user] = await httpEngine.batch(reader, [{ text: fixed`SELECT current_user::text` }], { ...limits, ownText: true });
  const definitions = columns.map(
    (c) => written`${c.name} pg_catalog.${c.type}${c.collation === undefined ? fixed`` : written` COLLATE pg_catalog.${c.collation}`}`,
  );
  const sent = increment && sentIncrement(key, increment);
  const insert = written`INSERT INTO ${schema}.${name} ${partRows(table, columns, sent)}`;
  try {
    if (copy.after === undefined) await writeBatch(writer, [{ text: written`CREATE TABLE ${schema}.${name} (${listed(definitions)})` }], {}, limits);
    if (copy.after !== 'all') {
      if (copy.after !== undefined) await writeBatch(writer, [againOf(table, columns, copy.by ?? '', copy.after.upTo)], {}, limits);
      const [since] = sent === undefined ? [] : await writeBatch(writer, [sent.since], {}, limits);
      const ordered = copy.isOrdered ? orderedOf(rows, columns, copy) : undefined;
      const statement = ordered ?? { text: textsOf(rows, columns, key, sent), params: since === undefined ? [] : [since[0]?.[0] ?? null] };
      let count = 0;
      await streamed(source, { ...statement, relied: table.relied }, limits, async (part, isLast) => {
        await writeBatch(writer, [{ text: insert, params: [part] }], {}, limits);
        if (!isLast && copy.isOver(++count)) throw overOf(copy, columns, part);
      });
      // an increment has no later step
      if (increment === undefined && copy.isLate()) throw new CopyPaused('all');
    }
    // what it relied on is in the other datasource
    return await finishTable(reader, writer, { ...table, relied: [] }, user?.rows[0]?.[0] ?? '', limits, []);
  } catch (error) {
    if (error instanceof CopyPaused) throw error;
    // without an answer the sweep drops it later
    await dropCachedTable(writer, table, DROP_MS).catch(() => undefined);
    throw error;
  }
}

/** The error that ends a step of a copy after a part. */
function overOf({ by, isOrdered, isStep, after }: Copy, columns: readonly TransferColumn[], part: string): Error {
  if (by === undefined || !isOrdered) return new CopyTooLong(isStep);
  const row = (JSON.parse(part) as (string | null)[][]).at(-1);
  const upTo = row?.[columns.findIndex((c) => c.name === by)] ?? null;
  // a step begins with the rows of the last key again, so the next one would end here too
  if (after !== undefined && after !== 'all' && after.upTo === upTo)
    return badRequest('not_supported', 'one value of the key of the mapping has more rows than a step of a copy can send', {
      hint: 'Leave out rows without a key, and rows with the same key',
    });
  return new CopyPaused({ upTo });
}

const typeOf = (columns: readonly TransferColumn[], name: string): string => columns.find((c) => c.name === name)?.type ?? 'text';

/** A condition: the key of a row is at least $1, in the order of the rows to send; NULL comes last. */
const isAfter = (key: OwnText, type: string, upTo: string | null): OwnText =>
  upTo === null ? written`${key} IS NULL` : written`(${key} >= $1::pg_catalog.${type} OR ${key} IS NULL)`;

/** Deletes the rows with the last key of the earlier step: they are sent again, because several rows may have that key. The other database may have another order. */
function againOf({ schema, name }: TableName, columns: readonly TransferColumn[], by: string, upTo: string | null): Statement {
  const condition = upTo === null ? written`t.${by} IS NULL` : written`t.${by} = $1::pg_catalog.${typeOf(columns, by)}`;
  return { text: written`DELETE FROM ${schema}.${name} t WHERE ${condition}`, params: upTo === null ? [] : [upTo] };
}

/** The SELECT of all rows to send, by the order of the key, from where the earlier step ended. */
function orderedOf(
  rows: SqlText,
  columns: readonly TransferColumn[],
  { by = '', after }: Copy,
): { readonly text: OwnText; readonly params: readonly string[] } {
  const upTo = after === undefined || after === 'all' ? undefined : after.upTo;
  const condition = upTo === undefined ? fixed`` : written` WHERE ${isAfter(written`d.${by}`, typeOf(columns, by), upTo)}`;
  return { text: written`${textsOf(rows, columns, [], undefined)}${condition} ORDER BY d.${by} NULLS LAST`, params: upTo == null ? [] : [upTo] };
}

const PART = fixed`pg_catalog.json_array_elements($1::pg_catalog.json) AS r(value)`;

/** The rows of a part: those that were sent, and those of the older table whose keys were sent, after a NULL. */
function partRows({ key = [] }: CachedRows, columns: readonly TransferColumn[], sent: SentIncrement | undefined): OwnText {
  const value = (type: string, i: number): OwnText => written`(r.value ->> ${i})::pg_catalog.${type}`;
  if (sent === undefined) return written`SELECT ${listed(columns.map((c, i) => value(c.type, i)))} FROM ${PART}`;
  const changed = written`SELECT ${listed(columns.map((c, i) => value(c.type, i + 1)))} FROM ${PART} WHERE r.value ->> 0 IS NOT NULL`;
  const keyOf = (name: string): OwnText => value(typeOf(columns, name), key.indexOf(name) + 1);
  return written`${changed} UNION ALL ${sent.kept(keyOf, written`(SELECT * FROM ${PART} WHERE r.value ->> 0 IS NULL) r`)}`;
}

/** The SELECT of the rows to send, each as an array of texts. */
function textsOf(rows: SqlText, columns: readonly TransferColumn[], key: readonly string[], sent: SentIncrement | undefined): OwnText {
  const all = columns.map(textOf);
  const from = written`FROM (\n${rows}\n) d`;
  if (sent === undefined) return written`SELECT pg_catalog.to_json(ARRAY[${listed(all)}]) ${from}`;
  const keys = columns.filter((c) => key.includes(c.name)).toSorted((a, b) => key.indexOf(a.name) - key.indexOf(b.name));
  const changed = written`ARRAY['', ${listed(all)}]`;
  return written`SELECT pg_catalog.to_json(CASE WHEN ${sent.isChanged} THEN ${changed} ELSE ARRAY[NULL, ${listed(keys.map(textOf))}] END) ${from}`;
}

/** The value of a column as text, with the blanks of a `char(n)`. */
const textOf = ({ name, type }: TransferColumn): OwnText =>
  type === 'bpchar' ? written`(pg_catalog.to_json(d.${name}) #>> '{}')` : written`d.${name}::pg_catalog.text`;

/** Runs a SELECT of one json column, and calls `write` with each part of its rows, as the text of an array. The next part is read when `write` has ended. */
async function streamed(
  source: Datasource,
  { relied, ...statement }: { readonly text: OwnText; readonly params: readonly (string | null)[]; readonly relied: readonly string[] },
  limits: Pick<RunOptions, 'timeoutMs' | 'signal'>,
  write: (part: string, isLast: boolean) => Promise<void>,
): Promise<void> {
  const request = { ...statement, ...limits, maxBytes: Number.MAX_SAFE_INTEGER, owner: 'transfer', settings: ALL_ROWS, ownText: true };
  const checkAfter = relied.length === 0 ? undefined : areAsPlanned(relied);
  const found = await httpEngine.rows(source, { ...request, checkAfter });
  const reader = found.stream.getReader();
  const parts = new RowParts();
  try {
    for (let next = await reader.read(); !next.done; next = await reader.read()) for (const part of parts.push(next.value)) await write(part, false);
  } catch (error) {
    try {
      // rows that are kept for the next step are checked while their statement still has its locks
      if (error instanceof CopyPaused && checkAfter) {
        const [checked] = await httpEngine.batch(source, [checkAfter.statement], { ...limits, ownText: true });
        checkAfter.accept(checked?.rows);
      }
    } finally {
      found.cancel();
    }
    throw error;
  }
  const last = parts.rest();
  if (last !== undefined) await write(last, true);
}

const [QUOTE, BACKSLASH, OPEN, CLOSE] = [0x22, 0x5c, 0x5b, 0x5d];

/** Cuts the text of an array of arrays of texts into arrays of about one MiB. */
export class RowParts {
  readonly #partBytes: number;
  #pieces: Uint8Array[] = [];
  #size = 0;
  #depth = 0;
  #inString = false;
  #isEscaped = false;

  constructor(partBytes: number = PART_BYTES) {
    this.#partBytes = partBytes;
  }

  /** The parts that are complete. @throws SvcError 400 if a row is too large */
  push(chunk: Uint8Array): string[] {
    const parts: string[] = [];
    let begin = 0;
    for (let i = 0; i < chunk.length; i++) {
      if (!this.#endsRow(chunk[i] as number) || this.#size + i + 1 - begin < this.#partBytes) continue;
      this.#keep(chunk.subarray(begin, i + 1));
      parts.push(`[${this.#taken().slice(1)}]`);
      begin = i + 1;
    }
    this.#keep(chunk.slice(begin));
    if (this.#size > MOST_BYTES_OF_A_ROW) throw tooLarge();
    return parts;
  }

  /** The last part; undefined if there are no more rows. */
  rest(): string | undefined {
    const rows = this.#taken().slice(1, -1);
    return rows === '' ? undefined : `[${rows}]`;
  }

  #keep(piece: Uint8Array): void {
    if (piece.length > 0) this.#pieces.push(piece);
    this.#size += piece.length;
  }

  #taken(): string {
    const decoder = new TextDecoder();
    const text = this.#pieces.map((piece) => decoder.decode(piece, { stream: true })).join('') + decoder.decode();
    this.#pieces = [];
    this.#size = 0;
    return text;
  }

  /** Reads a byte. @returns true if a row ends with it */
  #endsRow(byte: number): boolean {
    if (this.#inString) {
      if (this.#isEscaped) this.#isEscaped = false;
      else if (byte === BACKSLASH) this.#isEscaped = true;
      else if (byte === QUOTE) this.#inString = false;
      return false;
    }
    if (byte === QUOTE) this.#inString = true;
    else if (byte === OPEN) this.#depth++;
    else if (byte === CLOSE) return --this.#depth === 1;
    return false;
  }
}

const tooLarge = (): SvcError => badRequest('not_supported', 'a row of the mapping has more than 16 MiB, so it cannot be sent to another datasource');
