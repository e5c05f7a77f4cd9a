import { toParameter } from './parameters.ts';

/** One statement of a request: its text, its parameters as PostgreSQL's text, and whether its rows are arrays. */
export interface Statement {
  query: string;
  params: (string | null)[];
  arrayMode: boolean;
}

/** The caller, as in the connection string of the request. */
export interface Login {
  user: string;
  password: string;
  database: string;
}

/** A request of the SQL-over-HTTP protocol, parsed and checked. */
export interface SqlRequest {
  login: Login;
  /** True for `{"queries": [...]}`: all statements in one transaction, and `{"results": [...]}` as the answer. */
  batch: boolean;
  statements: Statement[];
  /** Values as PostgreSQL's text instead of JSON values. */
  rawText: boolean;
  /** For a batch only, e.g. `REPEATABLE READ`. */
  isolation: string | undefined;
  readOnly: boolean;
  deferrable: boolean;
}

/** An error of the request itself: HTTP status and message. Errors of PostgreSQL are SqlFault. */
export class RequestFault extends Error {
  readonly status: number;
  readonly code: string | undefined;
  constructor(status: number, message: string, code?: string) {
    super(message);
    this.status = status;
    this.code = code;
  }
}

const ISOLATION = new Map([
  ['ReadUncommitted', 'READ UNCOMMITTED'],
  ['ReadCommitted', 'READ COMMITTED'],
  ['RepeatableRead', 'REPEATABLE READ'],
  ['Serializable', 'SERIALIZABLE'],
]);

/** The user, password and database of a connection string; undefined if it is invalid. */
export function readConnectionString(text: string): Login | undefined {
  try {
    const url = new URL(text);
    if (url.protocol !== 'postgres:' && url.protocol !== 'postgresql:') return undefined;
    const login = { user: decodeURIComponent(url.username), password: decodeURIComponent(url.password), database: decodeURIComponent(url.pathname.slice(1)) };
    return login.user && login.database ? login : undefined;
  } catch {
    return undefined;
  }
}

/**
 * Parses body and headers of a request like Neon's proxy: in a header only the text `true` is true.
 * Throws RequestFault 400.
 */
export function readRequest(body: string, headers: Record<string, string | string[] | undefined>, login: Login): SqlRequest {
  const isTrue = (name: string) => headers[name] === 'true';
  const level = headers['neon-batch-isolation-level'];
  const isolation = level === undefined ? undefined : ISOLATION.get(String(level));
  if (level !== undefined && isolation === undefined) throw new RequestFault(400, 'invalid isolation level');
  const arrayMode = isTrue('neon-array-mode');
  let payload: unknown;
  try {
    payload = JSON.parse(body);
  } catch {
    throw new RequestFault(400, 'the request body is not JSON');
  }
  const { queries } = (payload ?? {}) as { queries?: unknown };
  const batch = Array.isArray(queries);
  const statements = readStatements(batch ? queries : [payload], arrayMode);
  return {
    login,
    batch,
    statements,
    rawText: isTrue('neon-raw-text-output'),
    isolation,
    readOnly: isTrue('neon-batch-read-only'),
    deferrable: isTrue('neon-batch-deferrable'),
  };
}

function readStatements(values: readonly unknown[], arrayMode: boolean): Statement[] {
  try {
    return values.map((one) => readStatement(one, arrayMode));
  } catch (error) {
    if (error instanceof RangeError) throw new RequestFault(400, 'the params are nested too deeply');
    throw error;
  }
}

function readStatement(value: unknown, arrayMode: boolean): Statement {
  const { query, params = [], arrayMode: own } = (value ?? {}) as { query?: unknown; params?: unknown; arrayMode?: unknown };
  if (typeof query !== 'string' || !Array.isArray(params)) throw new RequestFault(400, 'the request body needs a query and an array of params, or queries');
  return { query, params: params.map(toParameter), arrayMode: typeof own === 'boolean' ? own : arrayMode };
}

/** The statement that begins a batch's transaction. */
export function beginOf(request: Pick<SqlRequest, 'isolation' | 'readOnly' | 'deferrable'>): string {
  return `BEGIN${request.isolation ? ` ISOLATION LEVEL ${request.isolation}` : ''}${request.readOnly ? ' READ ONLY' : ''}${request.deferrable ? ' DEFERRABLE' : ''}`;
}
