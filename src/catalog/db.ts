/**
 * A small interface to the catalog's database, which tests can replace. Statements are constants of this folder and
 * values are parameters: no text of a caller is ever executed over CATALOG_URL.
 */
import { NeonDbError, type NeonQueryFunction, neon, neonConfig } from '@neondatabase/serverless';
import type { Connection } from '../connection.ts';
import { SvcError } from '../errors.ts';

declare const constant: unique symbol;
/** A statement that is a constant in the source. Only the tag `sql` creates one. */
export type Sql = string & { readonly [constant]: true };

/** Marks a constant statement. Values must be parameters. @throws TypeError if the template contains `${}` */
export function sql(strings: TemplateStringsArray, ...values: never[]): Sql {
  if (values.length > 0) throw new TypeError('a catalog statement must be a constant');
  return strings.join('') as Sql;
}

export type Param = string | number | boolean | null | readonly string[];
export type Row = Readonly<Record<string, unknown>>;
export interface Call {
  readonly sql: Sql;
  readonly params: readonly Param[];
  /** Called with the statement's rows after the batch is committed. */
  readonly onRows?: (rows: readonly Row[]) => void;
}

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

const endpoints = new Map<string, string>();
// the driver has one fetchEndpoint for all clients, so it looks up the address by the host and port of the connection string
const defaultEndpoint = neonConfig.fetchEndpoint;
neonConfig.fetchEndpoint = (host, port, options) =>
  endpoints.get(`${host}:${port}`) ?? (typeof defaultEndpoint === 'string' ? defaultEndpoint : defaultEndpoint(host, port, options));

function open({ url, endpoint }: Connection): NeonQueryFunction<false, false> {
  if (endpoint !== null) {
    const { hostname, port } = new URL(url.replace(/^postgres(ql)?:/, 'http:'));
    endpoints.set(`${hostname}:${port}`, endpoint);
  }
  return neon(url, { disableWarningInBrowsers: true });
}

/** The catalog through Neon's driver. Create one for each request: it keeps no connection open. */
export function neonDb(connection: Connection): CatalogDb {
  let made: NeonQueryFunction<false, false> | undefined;
  // created on first use: most requests are answered from memory
  const client = () => {
    made ??= open(connection);
    return made;
  };
  // following a redirect would send the connection string to another host
  const fetchOptions = () => ({ redirect: 'manual', signal: AbortSignal.timeout(TIMEOUT_MS) });
  const run = async <T>(work: () => Promise<T>): Promise<T> => {
    try {
      return await work();
    } catch (error) {
      if (error instanceof NeonDbError && typeof error.code === 'string' && /^[0-9A-Z]{5}$/.test(error.code) && !/^(08|53|57P|28|3D)/.test(error.code)) {
        throw new DbError(error.code, error.message, error.constraint ?? undefined);
      }
      throw catalogUnavailable(error);
    }
  };
  return {
    query: (statement, params = []) => run(async () => (await client().query(statement, [...params], { fetchOptions: fetchOptions() })) as readonly Row[]),
    batch: (calls) =>
      run(
        async () =>
          (await client().transaction(
            calls.map((call) => client().query(call.sql, [...call.params])),
            { fetchOptions: fetchOptions() },
          )) as unknown as readonly (readonly Row[])[],
      ),
  };
}

/** Used if CATALOG_URL is not set: every call fails. */
export const noDb: CatalogDb = {
  query: () => Promise.reject(catalogUnavailable(new Error('CATALOG_URL is not set'))),
  batch: () => Promise.reject(catalogUnavailable(new Error('CATALOG_URL is not set'))),
};
