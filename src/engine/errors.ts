/**
 * Faults of a datasource as the caller sees them (docs/design/rows-and-json.md#faults-of-the-datasource): 400 of the statement, 502 of the datasource, 504 out
 * of time.
 */
import { badRequest, SvcError } from '../errors.ts';
import { conditionName } from './sqlstates.ts';

/** What the server of the datasource said: the `cause` of the SvcError, for the log and for mapping its position back. */
export class DatasourceFault extends Error {
  /** HTTP status of the answer; 0: none came. */
  readonly status: number;
  readonly sqlstate: string | undefined;
  /** PostgreSQL's own: 1-based, in characters of the statement that was sent. */
  readonly position: number | undefined;
  readonly detail: string | undefined;

  constructor(
    message: string,
    fault: { status?: number; sqlstate?: string | undefined; position?: number | undefined; detail?: string | undefined; cause?: unknown } = {},
  ) {
    super(message, fault.cause === undefined ? undefined : { cause: fault.cause });
    this.name = 'DatasourceFault';
    this.status = fault.status ?? 0;
    this.sqlstate = fault.sqlstate;
    this.position = fault.position;
    this.detail = fault.detail;
  }
}

/** 502: the datasource cannot be reached, broke, or answered something else than rows. */
export const datasourceFailed = (cause?: unknown, message = 'the datasource failed or could not be reached'): SvcError =>
  new SvcError(502, 'datasource_failed', message, { cause });

/** 504: the statement ran out of time. */
export const statementTimeout = (cause?: unknown): SvcError =>
  new SvcError(504, 'statement_timeout', 'the statement ran out of time', { hint: 'Ask for less: a narrower WHERE, fewer paths, or a LIMIT.', cause });

/** 400: more bytes than an answer may have. */
export const resultTooLarge = (maxBytes: number, cause?: unknown): SvcError =>
  badRequest('result_too_large', `the result is larger than ${Math.floor(maxBytes / 1_000_000)} MB`, {
    hint: 'Ask for fewer rows or columns (LIMIT, results-limit).',
    cause,
  });

/** The caller went away; nobody reads this. 499 is what servers log for it. */
export const callerGone = (cause?: unknown): SvcError => new SvcError(499, 'caller_gone', 'the caller closed the request', { cause });

/** How a fault may be told. */
export interface FaultContext {
  /** Names of tables, schemas and columns that the caller does not know and that no message may show. Read only when there is a fault. */
  readonly physicalNames?: Iterable<string> | undefined;
  /** The statement is the modeller's own text over physical tables: a missing one is its fault, and its names are known to it. */
  readonly ownText?: boolean | undefined;
  /** The message may quote a value that is kept from the caller: only what kind of fault it is is told. */
  readonly quiet?: boolean | undefined;
  readonly maxBytes?: number | undefined;
}

/**
 * The error of an answer that is no 200. `body` is the answer's text: JSON with PostgreSQL's fields where the status is
 * 400 (Neon's protocol), anything else otherwise.
 */
export function faultOf(status: number, body: string, context: FaultContext = {}): SvcError {
  if (status === 507) return resultTooLarge(context.maxBytes ?? 50_000_000, new DatasourceFault(body.slice(0, 1000), { status }));
  const fields = status === 400 ? parsed(body) : undefined;
  const sqlstate = text(fields?.code);
  const message = text(fields?.message) ?? body.slice(0, 1000);
  const position = Number(text(fields?.position) ?? Number.NaN);
  const fault = new DatasourceFault(message, {
    status,
    sqlstate,
    position: Number.isInteger(position) && position > 0 ? position : undefined,
    detail: text(fields?.detail),
  });
  if (sqlstate === undefined || !/^[0-9A-Z]{5}$/.test(sqlstate)) return datasourceFailed(fault);
  return ofSqlState(sqlstate, text(fields?.hint), fault, context);
}

const MISSING = new Set(['42P01', '42703', '42501', '3F000']);
/** Classes whose faults lie in what was asked. */
const CALLERS = /^(0A|20|21|22|23|42|54|P0|25006|53400)/;
/** `statement_too_complex`: PostgreSQL's hint is for the server's administrator and tells a setting's value. */
const STACK_DEPTH = '54001';
/** `configuration_limit_exceeded`: PostgreSQL's message and hint name a setting of the server and its value. */
const SETTING_LIMIT = '53400';
/** The statement was canceled, or waited for a lock longer than lock_timeout. */
const TIMEOUTS = new Set(['57014', '55P03']);

function ofSqlState(sqlstate: string, hint: string | undefined, fault: DatasourceFault, context: FaultContext): SvcError {
  if (TIMEOUTS.has(sqlstate)) return statementTimeout(fault);
  const missing = MISSING.has(sqlstate);
  // `(row).field` of a caller has the SQLSTATE of a missing column too.
  if (missing && !context.ownText && !/ not found in data type |in record data type/.test(fault.message)) {
    return datasourceFailed(fault, 'a mapped table or column is gone or may not be read');
  }
  if (!missing && !CALLERS.test(sqlstate)) return datasourceFailed(fault);
  // what is wrong with the statement itself is known before a value is read and has a position; input functions of tsquery, tsvector and jsonpath
  // raise 42601 for values of rows too, without one
  const ofStatement = sqlstate.startsWith('42') && fault.position !== undefined;
  if (sqlstate === SETTING_LIMIT || (context.quiet && !ofStatement))
    return badRequest(conditionName(sqlstate), conditionName(sqlstate).replaceAll('_', ' '), { cause: fault });
  const scrub = context.ownText ? (s: string) => s : scrubber(context.physicalNames ?? []);
  return badRequest(conditionName(sqlstate), scrub(fault.message), {
    hint: hint === undefined || sqlstate === STACK_DEPTH ? undefined : scrub(hint),
    cause: fault,
  });
}

/**
 * A function that takes physical names out of PostgreSQL's messages. Names that are plain words are taken out only where
 * they stand as names (quoted, beside a dot, behind "relation", "column" and their like), so that a column called
 * `value` does not eat the words of the message.
 */
export function scrubber(physicalNames: Iterable<string>): (message: string) => string {
  const names = [...new Set(physicalNames)].filter((n) => n !== '').sort((a, b) => b.length - a.length);
  if (names.length === 0) return (message) => message;
  const odd = alternatives(names.filter((n) => !/^[A-Za-z]+$/.test(n)));
  const plain = alternatives(names.filter((n) => /^[A-Za-z]+$/.test(n)));
  const patterns: RegExp[] = [];
  if (odd !== '') patterns.push(new RegExp(`(?<![\\w$])(?:${odd})(?![\\w$])`, 'giu'));
  if (plain !== '') {
    patterns.push(new RegExp(`(?<=["«])(?:${plain})(?=["»])`, 'giu'));
    patterns.push(new RegExp(`(?<=\\.)(?:${plain})(?![\\w$])|(?<![\\w$])(?:${plain})(?=\\.\\w)`, 'giu'));
    patterns.push(new RegExp(`(?<=\\b(?:relation|table|view|column|schema|index|constraint|type|function) )(?:${plain})(?![\\w$])`, 'giu'));
  }
  return (message) => patterns.reduce((m, p) => m.replace(p, '…'), message);
}

const alternatives = (names: readonly string[]): string => names.map((n) => n.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')).join('|');

function parsed(body: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(body);
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : undefined;
  } catch {
    return undefined;
  }
}

const text = (value: unknown): string | undefined => (typeof value === 'string' ? value : typeof value === 'number' ? String(value) : undefined);
