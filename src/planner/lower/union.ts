/** UNION ALL of the queries for several mappings. */
import { integer, type SelectStmt, target, unionAll } from '../plan/tree.ts';

/**
 * UNION ALL of one or more queries with equal columns. Queries without columns get a constant one, because not every engine of PostgreSQL's dialect accepts a
 * union without columns.
 */
export const unionOf = (queries: readonly SelectStmt[]): SelectStmt =>
  queries.length === 1 ? (queries[0] as SelectStmt) : queries.map(withColumn).reduce(unionAll);

const withColumn = (query: SelectStmt): SelectStmt => (query.larg || query.targetList?.length !== 0 ? query : { ...query, targetList: [target(integer('1'))] });
