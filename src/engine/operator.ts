/** SQL for programs that have the connection string: the command line `kg`, benchmarks and tests. The Worker does not use this module. */
import { fixed, type SqlText } from './statement.ts';

/** Wraps a text that is sent without verification. */
export const operatorText = (sql: string): SqlText => fixed(Object.assign([sql], { raw: [sql] }));
