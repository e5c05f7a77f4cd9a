/**
 * EXPLAIN (docs/design/statements-and-versions.md#explain): the datasource's plan and the SQL that runs, or a logical plan for callers who may not know the
 * tables, or not all that the statement reads, or not the rows that its mappings leave out.
 */
import { can } from '../auth/grants.ts';
import type { Datasource } from '../engine/datasource.ts';
import { httpEngine } from '../engine/engine.ts';
import { explained } from '../engine/statement.ts';
import type { Source } from '../language/statements.ts';
import type { Graph } from '../ontology/graph.ts';
import { explainLogical } from '../planner/explain.ts';
import type { Plan, PlanContext } from '../planner/index.ts';
import type { Verified } from '../planner/verify/index.ts';
import type { Session } from './changes.ts';
import { physicalNames } from './physical.ts';

/** What EXPLAIN needs of a planned SELECT. */
interface Explained {
  readonly context: PlanContext;
  readonly plan: Plan;
  /** The plan's SQL. */
  readonly text: Verified;
  readonly datasource: Datasource;
  readonly graph: Graph;
  readonly source: Source;
}

/**
 * The one row of EXPLAIN. The statement is not run.
 * @throws SvcError 400 where the datasource refuses the statement, 502, 504
 */
export async function explainRows(session: Session, { context, plan, text, datasource, graph, source }: Explained): Promise<readonly unknown[]> {
  const { request, caller, draft } = session;
  const { principal } = caller;
  const edits = draft !== undefined && can(principal, 'edit', ['ontology', draft.name]);
  const showsTables = plan.isOpen && (edits || can(principal, 'query', ['datasource', datasource.name]));
  if (!showsTables || !plan.isWhole) return [{ PLAN: explainLogical(context, source), SQL: showsTables ? plan.sql : null }];
  const [answer] = await httpEngine.batch(datasource, [{ text: explained(text), params: plan.params }], {
    timeoutMs: request.runtime.config.statementTimeoutMs,
    signal: request.signal,
    physicalNames: physicalNames(graph),
  });
  return [{ PLAN: (answer?.rows ?? []).map(([line]) => line ?? '').join('\n'), SQL: plan.sql }];
}
