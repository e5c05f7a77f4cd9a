/**
 * The effort of single calls. PostgreSQL checks for interrupts (a statement timeout, a closed connection) between rows, but not inside most functions. A call of
 * `translate` with two texts of 300,000 characters runs for minutes despite the timeout, and occupies a connection and a processor. This limits the time of all calls of a
 * statement for one row, estimated from the sizes that their arguments may have (docs/design/sql-shapes.md#calls-that-postgresql-does-not-interrupt).
 */
import type { SelectStmt } from '../plan/tree.ts';
import { isLight } from './light.ts';
import { Effort } from './queries.ts';
import { Spent } from './spent.ts';

/**
 * Limits the effort of the calls in a finished statement.
 * @param params the values of the parameters
 * @param longestRows the length of the longest row in each parameter that has the rows of a system table
 * @param offsetOf the offset in the request of a location in the tree
 * @throws SvcError 400 `too_complex` with the location of the call
 */
export function requireInterruptible(
  query: SelectStmt,
  params: readonly (string | null)[],
  longestRows: ReadonlyMap<number, number>,
  offsetOf: (location: number | undefined) => number | undefined,
): void {
  if (isLight(query, params)) return;
  new Effort(query, params, longestRows, new Spent(offsetOf)).query(query, undefined, new Map());
}
