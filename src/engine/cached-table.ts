/** Tables with the rows of cached mappings. The role of the datasource's writer makes and drops them; the role that runs queries may only read them. */
import { badRequest, SvcError } from '../errors.ts';
import { requireSameRows } from './cached-sources.ts';
import { send } from './client.ts';
import type { Datasource } from './datasource.ts';
import { httpEngine, type Result, type RunOptions, readResults } from './engine.ts';
import { DatasourceFault } from './errors.ts';
import { DEFAULT_SETTINGS, missingSettings, type Settings } from './settings.ts';
import { fixed, type OwnText, type SqlText, withoutRows, written } from './statement.ts';

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
  readonly indexes: readonly CachedIndex[];
}

/** An index of a cached table. */
export interface CachedIndex {
  readonly columns: readonly string[];
  /** False: a value may be too long for an index. */
  readonly isShort: boolean;
}

/** How long each statement may take, and what ends it. */
export type Limits = Pick<RunOptions, 'timeoutMs' | 'signal'>;

/** No row of a role's own: a statement that row security would restrict is an error. */
const ALL_ROWS = { row_security: 'off' };
/** A statement that waits this long for a lock fails. */
const LOCK_TIMEOUT = '2000';

/**
 * Makes a table, with its indexes and statistics, in one transaction of the writer.
 * @returns the number of its rows, as text
 * @throws SvcError 400 if one of the roles may not do its part, or if row security restricts what a role sees, or what it reads depends on the role; 502, 504
 */
export async function makeCachedTable(reader: Datasource, writer: Datasource, table: CachedRows, limits: Limits): Promise<string> {
  const { schema, name, rows, sources, indexes } = table;
  // what the reader may not read must not become readable
  const checks = [{ text: withoutRows(rows) }, { text: fixed`SELECT current_user::text` }];
  const [, user] = await httpEngine.batch(reader, checks, { settings: ALL_ROWS, ...limits, ownText: true });
  const role = user?.rows[0]?.[0] ?? '';
  await requireSameRows(writer, role, sources, limits);
  const make = (those: readonly CachedIndex[]): ReturnType<typeof writeBatch> => {
    const statements = [
      written`CREATE TABLE ${schema}.${name} AS ${rows}`,
      written`GRANT SELECT ON ${schema}.${name} TO ${role}`,
      ...those.map(({ columns }) => written`CREATE INDEX ON ${schema}.${name} (${listed(columns)})`),
      written`ANALYZE ${schema}.${name}`,
      written`SELECT count(*) FROM ${schema}.${name}`,
    ];
    return writeBatch(writer, statements, ALL_ROWS, limits);
  };
  const short = indexes.filter((index) => index.isShort);
  const answers = await make(indexes).catch((error: unknown) => {
    if (short.length === indexes.length || !isTooLong(error)) throw error;
    return make(short);
  });
  await requireReadable(reader, table, role, limits);
  return answers.at(-1)?.[0]?.[0] ?? '0';
}

/** True if a value is too long for an index. */
const isTooLong = (error: unknown): boolean => error instanceof SvcError && error.cause instanceof DatasourceFault && error.cause.sqlstate === '54000';

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
async function writeBatch(ds: Datasource, texts: readonly OwnText[], own: Settings, limits: Limits): Promise<readonly Result['rows'][]> {
  const settings = missingSettings(undefined, { ...DEFAULT_SETTINGS, ...own }, limits.timeoutMs);
  const statements = [...settings, ...texts.map((text) => ({ text }))];
  const exchange = await send(ds, statements, { ...limits, ownText: true, rawText: true, readOnly: false, retry: false });
  return (await readResults(exchange, statements.length, true)).slice(settings.length).map(({ rows }) => rows);
}

/** Drops a table if it exists. @throws SvcError 400, 502, 504, also if statements that read it do not end soon */
export async function dropCachedTable(writer: Datasource, { schema, name }: TableName, timeoutMs: number): Promise<void> {
  await writeBatch(writer, [written`DROP TABLE IF EXISTS ${schema}.${name}`], { lock_timeout: LOCK_TIMEOUT }, { timeoutMs });
}

const listed = ([first = '', ...rest]: readonly string[]): OwnText => rest.reduce((list, next) => written`${list}, ${next}`, written`${first}`);
