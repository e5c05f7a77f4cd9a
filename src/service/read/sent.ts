/** Sends a plan to its datasource or to a replica of it. */
import type { Datasource } from '../../engine/datasource.ts';
import { httpEngine } from '../../engine/engine.ts';
import type { Check, RowStream, RowsRequest } from '../../engine/rows.ts';
import type { Plan } from '../../planner/index.ts';
import { replicasOf } from '../caller/datasource.ts';
import type { Session } from '../session.ts';
import { isOutdated, Targets } from './distributed.ts';

/**
 * Runs the statement of a plan on the datasource, or on a replica of it if it has replicas and the caller does not ask for its own rows. What the plan relies on is checked in
 * the same transaction. If that fails at the end of a stream, it is read again where the datasource has its tables.
 * @throws SvcError
 */
export async function rowsOf(session: Session, datasource: Datasource, plan: Pick<Plan, 'relied'>, sent: RowsRequest): Promise<RowStream> {
  if (plan.relied.length === 0) return rowsFrom(session, datasource, sent);
  const { areReferences } = await import('../../engine/placements.ts');
  const checkAfter: Check = areReferences(plan.relied);
  const rows = await rowsFrom(session, datasource, { ...sent, checkAfter });
  const renew = async (error: unknown): Promise<void> => {
    if (await isOutdated(error, plan)) await new Targets(session).renew(datasource);
  };
  rows.done.catch((error: unknown) => session.request.runtime.waitUntil(renew(error)));
  return rows;
}

async function rowsFrom({ request, caller, draft }: Session, datasource: Datasource, asked: RowsRequest): Promise<RowStream> {
  const { runtime, fresh, answeredBy } = request;
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
