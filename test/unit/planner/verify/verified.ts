/** A small schema for the verifier's own tests, and words to verify with. */
import { loadNodeParser } from '../../../../src/cli/node-parser.ts';
import { type Declared, RefusedByVerifier, verify } from '../../../../src/planner/verify/index.ts';

export const parser = await loadNodeParser();

/** Tables s.t and s.u with columns a, b, c, one that is called like a function of rows, and s."T x". */
export const declared: Declared = {
  tables: [
    ['s', 't'],
    ['s', 'u'],
    ['s', 'T x'],
  ],
  columns: new Set(['a', 'b', 'c', 'pg_column_size', 'ctid', 'md5']),
  functions: new Set(['ext.f', 'pg_catalog.pg_sleep', 'information_schema._pg_truetypid']),
  params: 2,
};

/** The reason for which a statement is refused; `passes` where it is not. */
export function reason(sql: string, more: Partial<Declared> = {}): string {
  try {
    verify(parser, sql, { ...declared, ...more });
    return 'passes';
  } catch (error) {
    if (!(error instanceof RefusedByVerifier)) throw error;
    return error.reason;
  }
}
