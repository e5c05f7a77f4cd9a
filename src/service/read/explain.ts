/**
 * EXPLAIN (docs/design/statements-and-versions.md#explain): the datasource's plan and the SQL, or a logical plan for callers who may not see the tables,
 * everything that the statement reads, or the rows that its mappings exclude.
 */
import { can } from '../../auth/grants.ts';
import type { Datasource } from '../../engine/datasource.ts';
import { httpEngine } from '../../engine/engine.ts';
import { explained } from '../../engine/statement.ts';
import { badRequest } from '../../errors.ts';
import type { Graph } from '../../ontology/graph.ts';
import type { CachedTable, Plan } from '../../planner/index.ts';
import { areSoonNamed, type LogicalPlan, logicalText } from '../../planner/logical/index.ts';
import type { Verified } from '../../planner/verify/index.ts';
import type { Session } from '../session.ts';
import { physicalNames } from './physical.ts';
import { onDatasource } from './watched.ts';

/** The parts of a planned SELECT that EXPLAIN needs. */
interface Explained {
  readonly plan: Plan;
  /** The plan's SQL. */
  readonly text: Verified;
  readonly datasource: Datasource;
  readonly graph: Graph;
}

/**
 * Returns the row of EXPLAIN. The statement is not executed.
 * @param asked True if PLAN is the logical plan as JSON
 * @throws SvcError 400 if the datasource refuses the statement, or could not interrupt its EXPLAIN (`too_complex`), 502, 504
 */
export async function explainRows(
  session: Session,
  { plan, text, datasource, graph }: Explained,
  logical: LogicalPlan,
  asked: boolean,
): Promise<readonly unknown[]> {
  if (asked) return [{ PLAN: logical, SQL: null }];
  const { request, caller, draft } = session;
  const { principal } = caller;
  const edits = draft !== undefined && can(principal, 'edit', ['ontology', draft.name]);
  const showsTables = plan.isOpen && (edits || can(principal, 'query', ['datasource', datasource.name]));
  if (!showsTables || !plan.isWhole) return [{ PLAN: logicalText(logical), SQL: showsTables ? plan.sql : null }];
  const statement = request.runtime.parser.parse(plan.sql).stmts[0]?.stmt;
  if (statement && 'SelectStmt' in statement && !areSoonNamed(statement.SelectStmt))
    throw badRequest('too_complex', 'PostgreSQL may take too long to name the columns of all joins and sub-queries in the plan', {
      hint: 'Use EXPLAIN (LOGICAL)',
    });
  const [answer] = await onDatasource(session, datasource.name, () =>
    httpEngine.batch(datasource, [{ text: explained(text), params: plan.params }], {
      timeoutMs: request.runtime.config.statementTimeoutMs,
      signal: request.signal,
      physicalNames: physicalNames(graph),
    }),
  );
  const lines = [...(answer?.rows ?? []).map(([line]) => line ?? ''), ...plan.caches.map((cache) => cacheLine(cache, request.runtime.now()))];
  return [{ PLAN: lines.join('\n'), SQL: plan.sql }];
}

const cacheLine = ({ mapping, of, schema, name, asOf }: CachedTable, now: number): string =>
  `Cached ${of ?? 'mapping'} ${mapping}: rows of ${schema}.${name} as of ${new Date(asOf).toISOString()}, ${Math.max(0, Math.round((now - asOf) / 1000))} s old`;
