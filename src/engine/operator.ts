/** Texts of whoever has the connection string: `kg` on the command line, benchmarks and tests. The Worker has none of them. */
import { fixed, type SqlText } from './statement.ts';

/** A text that is sent as it is. */
export const operatorText = (sql: string): SqlText => fixed(Object.assign([sql], { raw: [sql] }));
