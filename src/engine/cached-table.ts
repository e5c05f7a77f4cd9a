/** Tables with the rows of cached mappings. The role of the datasource's writer makes and drops them; the role that runs queries may only read them. */
import { badRequest, SvcError } from '../errors.ts';
import { requireSameRows } from './cached-sources.ts';
import { send } from './client.ts';
import type { Datasource } from './datasource.ts';
import { httpEngine, type Result, type RunOptions, readResults } from './engine.ts';
import { DatasourceFault } from './errors.ts';
import { allOf, anyOf, incrementOf } from './increment.ts';
import { areAsPlanned } from './placements.ts';
import type { Check } from './rows.ts';
import { DEFAULT_SETTINGS, missingSettings, type Settings } from './settings.ts';
import { fixed, type OwnText, type SqlText, type Statement, withoutRows, written } from './statement.ts';

/** The name of a table. */
export interface TableName {
  readonly schema: string;
  readonly name: string;
}

/** A table to make. */
export interface CachedRows extends TableName {
  /** The SELECT of its rows. */
  readonly rows: SqlText;
  /** The tables and views that the SELECT reads. */
  readonly sources: readonly TableName[];
  /** The reference tables that the SELECT relies on, as in `Placements`: the table counts only if they still are reference tables. */
  readonly relied: readonly string[];
  readonly indexes: readonly CachedIndex[];
  /** The columns of the key. No two rows with a key have the same one. undefined: rows need no key. */
  readonly key?: RowKey | undefined;
  /** The sum of `rows` must be `total`, which is the same in each row. undefined: nothing is counted. */
  readonly counted?: { readonly rows: string; readonly total: string } | undefined;
}

/** The columns of a cached table that are the key of its rows. */
export type RowKey = readonly string[];

/** A table to fill with rows of another one, and with those that have changed since. */
export interface Increment {
  /** The other table, which has the columns of the new one. */
  readonly from: TableName;
  /** The column that shows what has changed, its type, and how much lower than its highest value changes may be: in seconds, or in units of an integer. */
  readonly column: string;
  readonly type: string;
  readonly overlap: number;
  /** The moment of the rows of the other table, as text. */
  readonly asOf: string;
}

/** An index of a cached table. */
export interface CachedIndex {
  readonly columns: readonly string[];
  /** False: a value may be too long for an index. */
  readonly isShort: boolean;
}

/** How long each statement may take, and what ends it. */
export type Limits = Pick<RunOptions, 'timeoutMs' | 'signal' | 'readsCommitted'>;

/** PostgreSQL raises an error for a statement that row security would restrict. */
const ALL_ROWS = { row_security: 'off' };
/** A statement that waits this long for a lock fails. */
const LOCK_TIMEOUT = '2000';

/**
 * Makes a table, with its indexes and statistics, in one transaction of the writer.
 * @param increment undefined: it gets all rows
 * @returns the number of its rows, as text
 * @throws SvcError 400 if a role lacks a right, if the rows depend on the role (for example because of row security), if two rows have the same key, or if the
 * numbers of rows differ; 502, 504
 */
export async function makeCachedTable(reader: Datasource, writer: Datasource, table: CachedRows, limits: Limits, increment?: Increment): Promise<string> {
  const { schema, name, rows, sources, key } = table;
  // what the reader may not read must not become readable
  const checks = [{ text: withoutRows(rows) }, { text: fixed`SELECT current_user::text` }];
  const [, user] = await httpEngine.batch(reader, checks, { settings: ALL_ROWS, ...limits, ownText: true });
  const role = user?.rows[0]?.[0] ?? '';
  await requireSameRows(writer, role, sources, limits);
  const filled = increment === undefined ? [{ text: written`CREATE TABLE ${schema}.${name} AS ${rows}` }] : incrementOf(table, key ?? [], increment);
  return finishTable(reader, writer, table, role, limits, filled);
}

/** Fills a table, gives it its indexes and statistics, and checks it. @param filled the statements that fill it @returns the number of its rows, as text @throws SvcError */
export async function finishTable(
  reader: Datasource,
  writer: Datasource,
  table: CachedRows,
  role: string,
  limits: Limits,
  filled: readonly Statement[],
): Promise<string> {
  const { schema, name, indexes } = table;
  const checks = checksOf(table);
  const make = (those: readonly CachedIndex[]): ReturnType<typeof writeBatch> => {
    const texts = [
      written`GRANT SELECT ON ${schema}.${name} TO ${role}`,
      ...those.map(({ columns }) => written`CREATE INDEX ON ${schema}.${name} (${listed(columns.map((c) => written`${c}`))})`),
      written`ANALYZE ${schema}.${name}`,
      written`SELECT count(*) FROM ${schema}.${name}`,
    ];
    const statements = [...filled, ...texts.map((text) => ({ text })), ...checks.map((check) => check.statement)];
    return writeBatch(writer, statements, ALL_ROWS, { ...limits, readsCommitted: table.relied.length > 0 });
  };
  const short = indexes.filter((index) => index.isShort);
  const answers = await make(indexes).catch((error: unknown) => {
    const state = error instanceof SvcError && error.cause instanceof DatasourceFault ? error.cause.sqlstate : undefined;
    if (state === '42P22') throw notCollated(error);
    // a value is too long for an index
    if (short.length === indexes.length || state !== '54000') throw error;
    return make(short);
  });
  const [count, ...found] = answers.slice(-1 - checks.length);
  for (const [i, check] of checks.entries()) check.accept(found[i]);
  await requireReadable(reader, table, role, limits);
  return count?.[0]?.[0] ?? '0';
}

/** What a table must meet. The first check is the one of the SELECT, in whose transaction it is. */
const checksOf = (table: CachedRows): Check[] => [
  ...(table.relied.length === 0 ? [] : [areAsPlanned(table.relied)]),
  ...(table.key === undefined ? [] : [without(duplicates(table, table.key), notUnique)]),
  ...(table.counted === undefined ? [] : [without(multiplied(table, table.counted), notToOne)]),
];

/** A statement that must have no row. */
const without = (text: OwnText, error: () => SvcError): Check => ({
  statement: { text },
  accept: (rows) => {
    if (rows?.length !== 0) throw error();
  },
});

/** One row if two rows with a key have the same one. */
const duplicates = ({ schema, name }: TableName, key: RowKey): OwnText =>
  written`SELECT 1 FROM ${schema}.${name} t WHERE NOT (${anyOf('t', key)}) GROUP BY ${allOf('t', key)} HAVING count(*) > 1 LIMIT 1`;

const notUnique = (): SvcError =>
  badRequest('not_supported', 'the mapping has several rows with the same key, so an increment cannot replace them', {
    hint: 'Correct the rows or the key, or cache the mapping without `incremental`',
  });

/** One row if the numbers of rows differ. */
const multiplied = ({ schema, name }: TableName, { rows, total }: NonNullable<CachedRows['counted']>): OwnText =>
  written`SELECT 1 FROM ${schema}.${name} t HAVING sum(t.${rows}) <> max(t.${total})`;

const notToOne = (): SvcError =>
  badRequest('not_supported', 'a path of the cube leads to several rows, but the model has at most one', {
    hint: 'kg validate --data names the keys that several rows have',
  });

const notCollated = (cause: unknown): SvcError =>
  badRequest('not_supported', 'the rows cannot be cached: a column combines texts of several collations, so it has none', {
    hint: 'Write the expression over columns with one collation',
    cause,
  });

/** @throws SvcError 400 `cache_not_readable`, 502, 504 */
async function requireReadable(reader: Datasource, { schema, name }: TableName, role: string, limits: Limits): Promise<void> {
  try {
    await httpEngine.check(reader, [written`SELECT 1 FROM ${schema}.${name}`], limits);
  } catch (error) {
    if (limits.signal?.aborted) throw error;
    throw badRequest('cache_not_readable', `the role ${role} cannot read the tables of the schema ${schema}`, {
      hint: `GRANT USAGE ON SCHEMA ${schema} TO ${role}`,
      cause: error,
    });
  }
}

/** Runs statements of the service that write, in one transaction. It is not sent again if the connection fails. @returns the rows of each */
export async function writeBatch(ds: Datasource, wanted: readonly Statement[], own: Settings, limits: Limits): Promise<readonly Result['rows'][]> {
  const settings = missingSettings(undefined, { ...DEFAULT_SETTINGS, ...own }, limits.timeoutMs);
  const statements = [...settings, ...wanted];
  const exchange = await send(ds, statements, { ...limits, ownText: true, rawText: true, readOnly: false, retry: false });
  return (await readResults(exchange, statements.length, true)).slice(settings.length).map(({ rows }) => rows);
}

/** Drops a table if it exists. @throws SvcError 400, 502, 504, also if statements that read it do not end soon */
export async function dropCachedTable(writer: Datasource, { schema, name }: TableName, timeoutMs: number): Promise<void> {
  await writeBatch(writer, [{ text: written`DROP TABLE IF EXISTS ${schema}.${name}` }], { lock_timeout: LOCK_TIMEOUT }, { timeoutMs });
}

/** Texts, separated by commas. @param texts at least one */
export const listed = ([first = fixed`NULL`, ...rest]: readonly OwnText[]): OwnText => rest.reduce((list, next) => written`${list}, ${next}`, first);
