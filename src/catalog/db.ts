/**
 * A small interface to the catalog's database, which tests can replace. Statements are constants of this folder and
 * values are parameters: no text of a caller is ever executed over CATALOG_URL.
 */
import type { Connection } from '../connection.ts';
import { SvcError } from '../errors.ts';
import { exchange, type Param, ReportedError, type Row, type Sent } from './http.ts';

export type { Param, Row };

declare const constant: unique symbol;
/** A statement that is a constant in the source. Only the tag `sql` creates one. */
export type Sql = string & { readonly [constant]: true };

/** Marks a constant statement. Values must be parameters. @throws TypeError if the template contains `${}` */
export function sql(strings: TemplateStringsArray, ...values: never[]): Sql {
  if (values.length > 0) throw new TypeError('a catalog statement must be a constant');
  return strings.join('') as Sql;
}

/** A statement of a batch. */
export interface Call {
  readonly sql: Sql;
  readonly params: readonly Param[];
  /** Called with the statement's rows after the batch is committed. */
  readonly onRows?: (rows: readonly Row[]) => void;
}

export const call = (statement: Sql, ...params: readonly Param[]): Call => ({ sql: statement, params });

export interface CatalogDb {
  /** Executes one statement and returns its rows. @throws SvcError 503 `catalog_unavailable`; DbError if PostgreSQL reports an error */
  query(statement: Sql, params?: readonly Param[]): Promise<readonly Row[]>;
  /** Executes all statements in one transaction and one HTTP request, and returns the rows of each. @throws as `query` */
  batch(calls: readonly Call[]): Promise<readonly (readonly Row[])[]>;
}

/** PostgreSQL reported an error: a bug of the service, or a violated constraint that guards against concurrent changes. */
export class DbError extends Error {
  readonly sqlstate: string;
  readonly constraint: string | undefined;
  constructor(sqlstate: string, message: string, constraint?: string | undefined) {
    super(message);
    this.name = 'DbError';
    this.sqlstate = sqlstate;
    this.constraint = constraint;
  }
}

/** 503: the catalog cannot be reached (docs/design/rows-and-json.md#status-codes). */
export const catalogUnavailable = (cause: unknown): SvcError =>
  new SvcError(503, 'catalog_unavailable', 'The catalog of the service cannot be reached at the moment', {
    hint: 'Try again in a few seconds',
    headers: { 'retry-after': '5' },
    cause,
  });

/** A catalog that takes longer to answer counts as unreachable. */
const TIMEOUT_MS = 15_000;

/** SQLSTATEs that do not come from the statement: the connection, resources, an operator, the login, the database. */
const OF_THE_SERVER = /^(08|53|57P|28|3D)/;

/** The catalog over HTTP. It keeps no connection open. */
export function neonDb(connection: Connection): CatalogDb {
  const run = async (statements: Sent | readonly Sent[]): Promise<readonly (readonly Row[])[]> => {
    try {
      return await exchange(connection, statements, TIMEOUT_MS);
    } catch (error) {
      if (error instanceof ReportedError && /^[0-9A-Z]{5}$/.test(error.sqlstate) && !OF_THE_SERVER.test(error.sqlstate))
        throw new DbError(error.sqlstate, error.message, error.constraint);
      throw catalogUnavailable(error);
    }
  };
  return {
    query: async (statement, params = []) => (await run({ sql: statement, params }))[0] ?? [],
    batch: (calls) => run(calls.map(({ sql: text, params }) => ({ sql: text, params }))),
  };
}

/** Used if CATALOG_URL is not set: every call fails. */
export const noDb: CatalogDb = {
  query: () => Promise.reject(catalogUnavailable(new Error('CATALOG_URL is not set'))),
  batch: () => Promise.reject(catalogUnavailable(new Error('CATALOG_URL is not set'))),
};
