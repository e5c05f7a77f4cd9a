/**
 * The catalog's database behind a small interface, so that tests can put something else in its place. Statements are
 * constants of this folder: no text of a caller ever runs over CATALOG_URL, values travel as parameters.
 */
import { NeonDbError, type NeonQueryFunction, neon, neonConfig } from '@neondatabase/serverless';
import type { Connection } from '../connection.ts';
import { SvcError } from '../errors.ts';

declare const constant: unique symbol;
/** A statement written in the source: only the tag `sql` makes one. */
export type Sql = string & { readonly [constant]: true };

/** Marks a constant statement. Anything put into it by `${}` is refused; values are parameters. */
export function sql(strings: TemplateStringsArray, ...values: never[]): Sql {
  if (values.length > 0) throw new TypeError('a catalog statement is a constant');
  return strings.join('') as Sql;
}

export type Param = string | number | boolean | null | readonly string[];
export type Row = Readonly<Record<string, unknown>>;
export interface Call {
  readonly sql: Sql;
  readonly params: readonly Param[];
  /** Called with the rows of the statement after its batch was committed. */
  readonly tell?: (rows: readonly Row[]) => void;
}

export interface CatalogDb {
  /** Rows of one statement. @throws SvcError 503 `catalog_unavailable`; DbError where PostgreSQL refused it */
  query(statement: Sql, params?: readonly Param[]): Promise<readonly Row[]>;
  /** All statements in one transaction, all or nothing, one request; the rows of each. @throws as `query` */
  batch(calls: readonly Call[]): Promise<readonly (readonly Row[])[]>;
}

/** PostgreSQL refused a statement: an error of ours (or a guard that held, such as a unique index). */
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

/** How long a statement on the catalog may take before it counts as unreachable. */
const TIMEOUT_MS = 15_000;

const endpoints = new Map<string, string>();
// the driver takes one function for all its clients: addresses are told apart by the host and port of the connection string
const neonsOwn = neonConfig.fetchEndpoint;
neonConfig.fetchEndpoint = (host, port, options) =>
  endpoints.get(`${host}:${port}`) ?? (typeof neonsOwn === 'string' ? neonsOwn : neonsOwn(host, port, options));

function open({ url, endpoint }: Connection): NeonQueryFunction<false, false> {
  if (endpoint !== null) {
    const { hostname, port } = new URL(url.replace(/^postgres(ql)?:/, 'http:'));
    endpoints.set(`${hostname}:${port}`, endpoint);
  }
  return neon(url, { disableWarningInBrowsers: true });
}

/** The catalog over Neon's driver. Made anew for each request: it holds no connection. */
export function neonDb(connection: Connection): CatalogDb {
  let made: NeonQueryFunction<false, false> | undefined;
  // most requests find all they need in memory
  const client = () => {
    made ??= open(connection);
    return made;
  };
  // a redirect would carry the connection string elsewhere
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

/** The catalog where CATALOG_URL is not set. */
export const noDb: CatalogDb = {
  query: () => Promise.reject(catalogUnavailable(new Error('CATALOG_URL is not set'))),
  batch: () => Promise.reject(catalogUnavailable(new Error('CATALOG_URL is not set'))),
};
