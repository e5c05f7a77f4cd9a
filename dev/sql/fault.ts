import { DatabaseError } from 'pg';

/** An error of PostgreSQL (or in its form: a timeout, a cancellation), with the members of the protocol. */
export class SqlFault extends Error {
  readonly fields: Record<string, string | undefined>;
  constructor(message: string, fields: Record<string, string | undefined>) {
    super(message);
    this.fields = fields;
  }
}

/** The error of a statement after its timeout (SQLSTATE 57014). */
export const timedOut = () => new SqlFault('canceling statement due to statement timeout', { severity: 'ERROR', code: '57014', routine: 'ProcessInterrupts' });

/** The error of a statement whose caller has disconnected (SQLSTATE 57014); no one reads it. */
export const cancelled = () => new SqlFault('canceling statement due to user request', { severity: 'ERROR', code: '57014', routine: 'ProcessInterrupts' });

/** The error of a statement for which Citus has lost an intermediate result (SQLSTATE 0A000), so that it can be sent in another form. */
export const incomplete = () => new SqlFault('the distributed database has lost rows of a part of the statement', { severity: 'ERROR', code: '0A000' });

/** The error if the database's process has ended during a statement. */
export const crashed = () => new SqlFault('the database ended while it ran the statement', { severity: 'FATAL', code: '57P02' });

/** The body of an error answer, with every member of Neon's proxy; null for those that PostgreSQL does not set. */
export function faultBody(message: string, fields: Record<string, string | undefined> = {}): string {
  const names = ['code', 'detail', 'hint', 'position', 'internalPosition', 'internalQuery', 'severity', 'where', 'table', 'column'];
  const more = ['schema', 'dataType', 'constraint', 'file', 'line', 'routine'];
  return JSON.stringify({ message, ...Object.fromEntries([...names, ...more].map((n) => [n, fields[n] ?? null])) });
}

/** An error of the `pg` client as SqlFault; any other error unchanged. */
export function asFault(error: unknown): unknown {
  return error instanceof DatabaseError ? new SqlFault(error.message, { ...error } as unknown as Record<string, string | undefined>) : error;
}

/** Whether PostgreSQL refuses a prepared statement: its columns have changed (DDL), or a caller has deallocated it. */
export const isStale = (error: unknown): boolean =>
  isGone(error) || (error instanceof SqlFault && error.fields.code === '0A000' && error.fields.routine === 'RevalidateCachedQuery');

/** Whether PostgreSQL refuses a prepared statement, or a value of a parameter, possibly because the types of its parameters are those of earlier columns. */
export const isMistyped = (error: unknown): boolean => {
  const { code = '', where = '' } = error instanceof SqlFault ? error.fields : {};
  // XX000: a type that does not exist any more
  return code.startsWith('42') || code === 'XX000' || (code.startsWith('22') && /portal\b.*\$\d/i.test(where));
};

/** Whether PostgreSQL does not have the prepared statement: invalid_sql_statement_name. */
export const isGone = (error: unknown): boolean => error instanceof SqlFault && error.fields.code === '26000';
