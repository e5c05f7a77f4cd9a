/**
 * The interface to datasources. `httpEngine` implements it with Neon's SQL-over-HTTP protocol; another implementation
 * could use Hyperdrive and a wire-protocol client.
 */
import { readBounded } from '../bytes.ts';
import { SvcError } from '../errors.ts';
import type { ColumnDef } from '../ontology/model.ts';
import { send } from './client.ts';
import type { Datasource } from './datasource.ts';
import { DatasourceFault, datasourceFailed } from './errors.ts';
import { type RowStream, type RowsRequest, runRows, sendReading } from './rows.ts';
import { DEFAULT_SETTINGS, fromProbe, knownRole, missingSettings, PROBE, rememberRole, type Settings } from './settings.ts';
import { BEFORE, collationsOf, type SqlText, type Statement, sqlOf, withoutRows } from './statement.ts';
import { typeName } from './types.ts';

/** Options of `describe` and `batch`. */
export interface RunOptions extends Pick<RowsRequest, 'signal' | 'physicalNames' | 'ownText' | 'fetch'> {
  readonly timeoutMs: number;
  /** Each statement of a batch sees what was committed before it, also if the default of the role is another one. */
  readonly readsCommitted?: boolean;
  readonly settings?: Settings | undefined;
  /** Reads the settings of the role too if they must be read, before any of them is set. */
  readonly probes?: boolean;
}

/** The complete result of a small statement. Values are PostgreSQL's text. */
export interface ResultSet {
  readonly columns: readonly ColumnDef[];
  readonly rows: readonly (readonly (string | null)[])[];
}

/** A SELECT and the columns that `describe` returned for it. */
export interface Described {
  readonly text: SqlText;
  readonly columns: readonly ColumnDef[];
}

export interface SqlEngine {
  /** Runs one statement that returns one json column; see `runRows`. */
  rows(ds: Datasource, request: RowsRequest): Promise<RowStream>;
  /**
   * Returns the columns of a SELECT over the datasource's tables, with PostgreSQL's names of their types. No rows are read.
   *
   * @throws SvcError 400 with PostgreSQL's message and an offset into the text if the SELECT is not valid; 502, 504
   */
  describe(ds: Datasource, text: SqlText, options: RunOptions): Promise<ColumnDef[]>;
  /** As `describe`, for several SELECTs in one request. An error is that of one of them, without an offset. @throws SvcError 400, 502, 504 */
  describeAll(ds: Datasource, texts: readonly SqlText[], options: RunOptions): Promise<(readonly ColumnDef[])[]>;
  /**
   * Adds collations to the columns of described SELECTs; the results have the same order. Sends one request for all of them, or none if no column can have a collation.
   * @throws SvcError 502, 504
   */
  collated(ds: Datasource, described: readonly Described[], options: RunOptions): Promise<(readonly ColumnDef[])[]>;
  /** Checks SELECTs like `describe`, in one request. @throws SvcError 400 if one of them is not valid, 502, 504 */
  check(ds: Datasource, texts: readonly SqlText[], options: RunOptions): Promise<void>;
  /** Runs small statements in one read-only transaction. @throws SvcError 400, 502, 504 */
  batch(ds: Datasource, statements: readonly Statement[], options: RunOptions): Promise<ResultSet[]>;
}

export const httpEngine: SqlEngine = { rows: runRows, describe, describeAll, collated, check, batch };

/** The result of a statement. */
export interface Result {
  readonly fields: readonly { readonly name: string; readonly dataTypeID: number; readonly dataTypeModifier?: number }[];
  readonly rows: readonly (readonly (string | null)[])[];
}

/** See `SqlEngine.describe`. */
export async function describe(ds: Datasource, text: SqlText, options: RunOptions): Promise<ColumnDef[]> {
  const request = { ...options, ownText: options.ownText ?? true, text: withoutRows(text) };
  try {
    const { exchange, results, probed } = await sendReading(ds, request, true);
    const answers = await readResults(exchange, Math.max(results, 1), results > 0);
    if (probed) {
      const role = fromProbe(answers[0]?.rows);
      if (role !== undefined) rememberRole(ds, role);
    }
    return columnsOf(answers.at(-1) as Result);
  } catch (error) {
    throw error instanceof SvcError ? withOffset(error, sqlOf(text)) : error;
  }
}

/** Collatable types, and types that are not built in. */
const MAY_HAVE_COLLATION = /^(_?(text|varchar|bpchar|name)|unknown|oid:.*)$/;

/** See `SqlEngine.collated`. */
export async function collated(ds: Datasource, described: readonly Described[], options: RunOptions): Promise<(readonly ColumnDef[])[]> {
  const collatable = described.map(({ columns }) => columns.flatMap((c, i) => (c.type === undefined || MAY_HAVE_COLLATION.test(c.type) ? [i] : [])));
  const positions = collatable.flatMap((of, i) => (of.length > 0 ? [i] : []));
  if (positions.length === 0) return described.map((d) => d.columns);
  const statements = positions.map((i) => {
    const { text, columns } = described[i] as Described;
    return { text: collationsOf(text, columns.length, collatable[i] as number[]) };
  });
  const answers = await batch(ds, statements, options);
  const found = new Map(positions.map((position, i) => [position, answers[i]?.rows[0]] as const));
  return described.map(({ columns }, i) =>
    columns.map((column, c) => {
      const at = collatable[i]?.indexOf(c) ?? -1;
      const collation = at < 0 ? DEFAULT_COLLATION : found.get(i)?.[at];
      if (typeof collation !== 'string') throw datasourceFailed(new DatasourceFault('the collation of a column is missing'));
      return collation === DEFAULT_COLLATION ? column : { ...column, collation };
    }),
  );
}

const DEFAULT_COLLATION = '"default"';

/** See `SqlEngine.describeAll`. */
export async function describeAll(ds: Datasource, texts: readonly SqlText[], options: RunOptions): Promise<(readonly ColumnDef[])[]> {
  const statements = texts.map((text) => ({ text: withoutRows(text) }));
  const answers = await batch(ds, statements, { ...options, ownText: options.ownText ?? true });
  return answers.map(({ columns }) => columns);
}

/** See `SqlEngine.check`. */
export async function check(ds: Datasource, texts: readonly SqlText[], options: RunOptions): Promise<void> {
  await describeAll(ds, texts, options);
}

/** See `SqlEngine.batch`. */
export async function batch(ds: Datasource, statements: readonly Statement[], options: RunOptions): Promise<ResultSet[]> {
  const known = knownRole(ds);
  const probe = options.probes && known === undefined ? [PROBE] : [];
  const settings = missingSettings(known, { ...DEFAULT_SETTINGS, ...options.settings }, options.timeoutMs);
  const before = probe.length + settings.length;
  const exchange = await send(ds, [...probe, ...settings, ...statements], { ...options, rawText: true, readOnly: true, retry: true });
  const answers = await readResults(exchange, before + statements.length, true);
  const role = probe.length > 0 ? fromProbe(answers[0]?.rows) : undefined;
  if (role !== undefined) rememberRole(ds, role);
  return answers.slice(before).map((answer) => ({ columns: columnsOf(answer), rows: answer.rows }));
}

const columnsOf = (result: Result): ColumnDef[] =>
  result.fields.map(({ name, dataTypeID, dataTypeModifier = -1 }) => ({
    name,
    type: typeName(dataTypeID),
    ...(dataTypeModifier >= 0 ? { modifier: dataTypeModifier } : {}),
  }));

/** The most bytes of an answer that is read as a whole: those about tables and columns are far smaller. */
export const METADATA_BYTES = 16 * 1024 * 1024;

/** Reads the results of an exchange, each with its rows. @throws SvcError 502 if the answer does not follow the protocol, or is too large */
export async function readResults(exchange: Awaited<ReturnType<typeof send>>, count: number, list: boolean): Promise<Result[]> {
  let answer: unknown;
  try {
    const { bytes, isCut } = await readBounded(exchange.response.body, METADATA_BYTES);
    if (isCut) throw new Error(`the answer is larger than ${METADATA_BYTES / 1024 / 1024} MiB`);
    answer = JSON.parse(new TextDecoder().decode(bytes));
  } catch (error) {
    exchange.abort();
    throw exchange.failure(error);
  } finally {
    exchange.release();
  }
  const results = list ? (answer as { results?: unknown } | null)?.results : [answer];
  if (!Array.isArray(results) || results.length !== count || !results.every(isResult))
    throw datasourceFailed(new DatasourceFault('the answer does not follow the protocol'));
  return results;
}

const isResult = (value: unknown): value is Result => {
  const result = value as Partial<Result> | null;
  return typeof result === 'object' && Array.isArray(result?.fields) && Array.isArray(result.rows);
};

/** Adds PostgreSQL's error position to the error, as an offset into `sql` in UTF-16 code units. */
function withOffset(error: SvcError, sql: string): SvcError {
  const position = error.cause instanceof DatasourceFault ? error.cause.position : undefined;
  if (error.status !== 400 || position === undefined) return error;
  const characters = position - 1 - BEFORE.length;
  if (characters < 0) return error;
  let offset = 0;
  for (let left = characters; left > 0 && offset < sql.length; left--) offset += (sql.codePointAt(offset) as number) > 0xffff ? 2 : 1;
  return error.at(offset);
}
