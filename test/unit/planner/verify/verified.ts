/** A small schema for tests of the verifier, and functions to verify statements. */
import { loadNodeParser } from '../../../../src/cli/node-parser.ts';
import { type Declared, RefusedByVerifier, verify } from '../../../../src/planner/verify/index.ts';

export const parser = await loadNodeParser();

/** Declares the table s.t as a whole, and columns of s.u and s."T x". */
export const declared: Declared = {
  tables: [
    { schema: 's', name: 't', columns: new Set(['a', 'b', 'c', 't', 'pg_column_size', 'ctid', 'md5']), isWhole: true },
    { schema: 's', name: 'u', columns: new Set(['a', 'b', 'c', 'ctid']), isWhole: false },
    { schema: 's', name: 'T x', columns: new Set(['a']), isWhole: false },
  ],
  functions: new Set(['ext.f', 'pg_catalog.pg_sleep', 'information_schema._pg_truetypid']),
  params: 2,
};

/** The reason for which a statement is refused, or `passes`. */
export function reason(sql: string, more: Partial<Declared> = {}): string {
  try {
    verify(parser, sql, { ...declared, ...more });
    return 'passes';
  } catch (error) {
    if (!(error instanceof RefusedByVerifier)) throw error;
    return error.reason;
  }
}
