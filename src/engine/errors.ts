/** The errors of a datasource for the caller (docs/design/rows-and-json.md#faults-of-the-datasource), and the fault that its server reported. */
import { badRequest, SvcError } from '../errors.ts';

/** The error as the datasource's server reported it. It is the `cause` of the SvcError, for the log and for mapping its position. */
export class DatasourceFault extends Error {
  /** HTTP status of the answer; 0: no answer. */
  readonly status: number;
  readonly sqlstate: string | undefined;
  /** PostgreSQL's error position: 1-based, in characters of the statement that was sent. */
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

/** 502: the datasource cannot be reached, failed, or did not answer with rows. */
export const datasourceFailed = (cause?: unknown, message = 'the datasource failed or could not be reached'): SvcError =>
  new SvcError(502, 'datasource_failed', message, { cause });

/** The code of an error after a conflict (faults.ts). */
export const CONFLICT = 'datasource_conflict';

/** `invalid_sql_statement_name`: a pool between the endpoint and PostgreSQL sent Parse and Bind to different sessions, or lost the prepared statement. */
const UNPREPARED = '26000';

/** Whether an error of `faultOf` says that PostgreSQL does not have the prepared statement. It has run nothing of the request then, or has rolled it back. */
export const isUnprepared = ({ cause }: SvcError): boolean => cause instanceof DatasourceFault && cause.sqlstate === UNPREPARED;

/** 504: the statement timed out. */
export const statementTimeout = (cause?: unknown): SvcError =>
  new SvcError(504, 'statement_timeout', 'the statement ran out of time', { hint: 'Ask for less: a narrower WHERE, fewer paths, or a LIMIT.', cause });

/** 400: the answer is larger than allowed. */
export const resultTooLarge = (maxBytes: number, cause?: unknown): SvcError =>
  badRequest('result_too_large', `the result is larger than ${Math.floor(maxBytes / 1_000_000)} MB`, {
    hint: 'Ask for fewer rows or columns (LIMIT, results-limit).',
    cause,
  });

/** 499: the caller disconnected. Only the log shows it. */
export const callerGone = (cause?: unknown): SvcError => new SvcError(499, 'caller_gone', 'the caller closed the request', { cause });

/** What the error of a fault may disclose. */
export interface FaultContext {
  /** Names of tables, schemas and columns that no message may disclose to the caller. Iterated only after a fault. */
  readonly physicalNames?: Iterable<string> | undefined;
  /** The statement is a modeller's own text over physical tables: a missing table is an error in that text, and the message may name it. */
  readonly ownText?: boolean | undefined;
  /** The message may quote a value that the caller may not see. The error then has only the condition name. */
  readonly mayQuote?: boolean | undefined;
  readonly maxBytes?: number | undefined;
}
