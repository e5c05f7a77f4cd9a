/**
 * Converts faults of a datasource to errors for the caller (docs/design/rows-and-json.md#faults-of-the-datasource): 400 if the statement is at fault, 502 if
 * the datasource is at fault, 503 after a conflict, 504 after a timeout. Loaded after the first fault.
 */
import { badRequest, SvcError } from '../errors.ts';
import { CONFLICT, DatasourceFault, datasourceFailed, type FaultContext, resultTooLarge, statementTimeout } from './errors.ts';
import { conditionName } from './sqlstates.ts';

/** 503: the datasource rolled the statement back because it conflicted with others, or with the replay of changes on a standby server. It may succeed if it is repeated. */
const datasourceConflict = (cause: unknown): SvcError =>
  new SvcError(503, CONFLICT, 'the datasource cancelled the statement because it conflicted with changes that arrived meanwhile', {
    hint: 'Try again.',
    headers: { 'retry-after': '1' },
    cause,
  });

/**
 * Returns the error for an answer whose status is not 200.
 * @param body text of the answer. If the status is 400, it is JSON with PostgreSQL's error fields (Neon's protocol).
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
  const isRefused = sqlstate === 'XX000' && REFUSED_AS_INTERNAL.test(message);
  return ofSqlState(isRefused ? '0A000' : sqlstate, text(fields?.hint), fault, context);
}

/** What Citus refuses without a SQLSTATE of its own: PostgreSQL then reports an internal error. Nothing was executed. */
const REFUSED_AS_INTERNAL = /^the query contains a join that requires repartitioning$|^cannot approximate count\(distinct\) and order by it$/;

const MISSING = new Set(['42P01', '42703', '42501', '3F000']);
/** Classes of SQLSTATEs that the caller's statement causes. */
const CAUSED_BY_CALLER = /^(0A|20|21|22|23|42|54|P0|25006|53400)/;
/** `statement_too_complex`: PostgreSQL's hint is for the server's administrator and discloses the value of a setting. */
const STACK_DEPTH = '54001';
/** `configuration_limit_exceeded`: PostgreSQL's message and hint disclose the value of a server setting. */
const SETTING_LIMIT = '53400';
/** Hints for errors where PostgreSQL's hint is about settings of the server, by SQLSTATE. */
const OWN_HINTS: Readonly<Record<string, string>> = {
  '22008': "Write dates as '2026-01-31', and moments as '2026-01-31 14:30'.",
};
/** Hints for what a distributed PostgreSQL (Citus) refuses, by its message. All of these have the SQLSTATE 0A000. */
const DISTRIBUTED_HINTS: readonly (readonly [RegExp, string])[] = [
  [
    /co-?located|repartition|correlated subqueries are not supported/,
    'The tables are distributed by different keys. Distribute tables that a query joins by the same key, or make the small ones reference tables.',
  ],
  [
    /recursive CTEs are only supported/,
    'Write the recursion as a transitive path, start it from one value of the key that distributes the table, or make its tables reference tables.',
  ],
  [
    /distributed query with GROUPING/,
    'The rows are grouped by sets on several workers. Group the rows of a sub-query with OFFSET 0, or by each set in a query of its own.',
  ],
  [/subquery in LIMIT/, 'Write a number in LIMIT and OFFSET.'],
  [
    /lateral outer join|push down this subquery|outer joins? /,
    'A distributed table is joined to the rows of a reference table, or of a table that is distributed by another key. Start from the distributed table, or distribute both by the key that joins them.',
  ],
];
/** What Citus raises while it plans some outer joins, as internal errors of PostgreSQL, or because it reads no column of a table. Nothing was executed. */
const UNPLANNED =
  /^PlaceHolderVar found where not expected$|^Distributed queries with outer joins and pseudoconstant quals are not supported|^a column definition list is required for functions returning "record"$/;
/** The class of SQLSTATEs "transaction rollback"; a standby server that must replay changes reports 40001. */
const ROLLED_BACK = '40';
/** The statement was cancelled, or waited for a lock longer than lock_timeout. */
const TIMEOUTS = new Set(['57014', '55P03']);

const unplanned = (fault: DatasourceFault): SvcError =>
  badRequest('feature_not_supported', 'the distributed planner of the datasource cannot plan an outer join of this statement', {
    hint: 'Read the rows of one side in a sub-query with OFFSET 0, or select the concept at the end of the path.',
    cause: fault,
  });

function ofSqlState(sqlstate: string, hint: string | undefined, fault: DatasourceFault, context: FaultContext): SvcError {
  if (TIMEOUTS.has(sqlstate)) return statementTimeout(fault);
  if (sqlstate.startsWith(ROLLED_BACK)) return datasourceConflict(fault);
  const missing = MISSING.has(sqlstate);
  // an unknown field in the caller's `(row).field` has the SQLSTATE of a missing column, too
  if (missing && !context.ownText && !/ not found in data type |in record data type/.test(fault.message)) {
    return datasourceFailed(fault, 'a mapped table or column does not exist or may not be read');
  }
  if (UNPLANNED.test(fault.message)) return unplanned(fault);
  if (!missing && !CAUSED_BY_CALLER.test(sqlstate)) return datasourceFailed(fault);
  // Errors in the statement itself are reported before a value is read, and have a position. The input functions of tsquery, tsvector and jsonpath also raise
  // 42601 for values of rows, without a position.
  const ofStatement = sqlstate.startsWith('42') && fault.position !== undefined;
  if (sqlstate === SETTING_LIMIT || (context.mayQuote && !ofStatement))
    return badRequest(conditionName(sqlstate), conditionName(sqlstate).replaceAll('_', ' '), { cause: fault });
  const scrub = context.ownText ? (s: string) => s : scrubber(context.physicalNames ?? []);
  const distributed = sqlstate === '0A000' ? DISTRIBUTED_HINTS.find(([message]) => message.test(fault.message))?.[1] : undefined;
  const shown = OWN_HINTS[sqlstate] ?? distributed ?? hint;
  return badRequest(conditionName(sqlstate), scrub(fault.message), {
    hint: shown === undefined || sqlstate === STACK_DEPTH ? undefined : scrub(shown),
    cause: fault,
  });
}

/**
 * Returns a function that removes physical names from PostgreSQL's messages. A name that consists of letters is removed
 * only where it is used as a name: quoted, next to a dot, or after "relation", "column" and the like. So a column with
 * the name `value` does not remove words of the message.
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
