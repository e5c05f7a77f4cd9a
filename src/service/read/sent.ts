/** Sends a plan to its datasource or to a replica of it. */
import type { Datasource } from '../../engine/datasource.ts';
import { httpEngine } from '../../engine/engine.ts';
import type { RowStream, RowsRequest } from '../../engine/rows.ts';
import type { Plan } from '../../planner/index.ts';
import { replicasOf } from '../caller/datasource.ts';
import type { Session } from '../session.ts';

/**
 * Runs the statement of a plan on the datasource, or on a replica of it if it has replicas and the caller does not ask for its own rows. What the plan relies on is checked in
 * the same transaction.
 * @throws SvcError
 */
export async function rowsOf(
  { request, caller, draft }: Session,
  datasource: Datasource,
  { relied }: Pick<Plan, 'relied'>,
  sent: RowsRequest,
): Promise<RowStream> {
  const { runtime, fresh, answeredBy } = request;
  const asked = relied.length === 0 ? sent : { ...sent, checkAfter: (await import('../../engine/placements.ts')).areAsPlanned(relied) };
  const near = replicasOf(runtime, caller, datasource.name);
  if (near === undefined) return httpEngine.rows(datasource, asked);
  const { readNear, readPrimary } = await import('../../engine/replicas/read.ts');
  const { now, waitUntil, log } = runtime;
  // a script that changes the model may need tables that were just created
  const read = fresh || draft?.changed ? readPrimary : readNear;
  const { rows, place } = await read({ ...near, primary: datasource, now, waitUntil, log }, asked);
  answeredBy?.(datasource.name, place);
  return rows;
}
