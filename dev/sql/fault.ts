import { DatabaseError } from 'pg';

/** An error of PostgreSQL (or in its name: a time-out, a cancellation), with the members that the protocol answers. */
export class SqlFault extends Error {
  readonly fields: Record<string, string | undefined>;
  constructor(message: string, fields: Record<string, string | undefined>) {
    super(message);
    this.fields = fields;
  }
}

/** What a statement past its time-out answers (SQLSTATE 57014). */
export const timedOut = () => new SqlFault('canceling statement due to statement timeout', { severity: 'ERROR', code: '57014', routine: 'ProcessInterrupts' });

/** What a statement answers whose caller has gone (SQLSTATE 57014); nobody reads it. */
export const cancelled = () => new SqlFault('canceling statement due to user request', { severity: 'ERROR', code: '57014', routine: 'ProcessInterrupts' });

/** What is answered where the database's process ended under a statement. */
export const crashed = () => new SqlFault('the database ended while it ran the statement', { severity: 'FATAL', code: '57P02' });

/** The body of an error answer, with every member that Neon's proxy gives, null where PostgreSQL gave none. */
export function faultBody(message: string, fields: Record<string, string | undefined> = {}): string {
  const names = ['code', 'detail', 'hint', 'position', 'internalPosition', 'internalQuery', 'severity', 'where', 'table', 'column'];
  const more = ['schema', 'dataType', 'constraint', 'file', 'line', 'routine'];
  return JSON.stringify({ message, ...Object.fromEntries([...names, ...more].map((n) => [n, fields[n] ?? null])) });
}

/** A fault of the `pg` client as SqlFault; any other error as it is. */
export function asFault(error: unknown): unknown {
  return error instanceof DatabaseError ? new SqlFault(error.message, { ...error } as unknown as Record<string, string | undefined>) : error;
}
