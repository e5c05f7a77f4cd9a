/** Statements that a distributed datasource (Citus) refuses are rewritten, and planned again. */
import type { Datasource } from '../../engine/datasource.ts';
import { keepsNames } from '../../engine/settings.ts';
import { SvcError } from '../../errors.ts';
import type { FinishedRewrite, Plan } from '../../planner/index.ts';

/**
 * The rewrite for a plan that its datasource refused with an error; undefined if the error has another cause, or if the datasource is known to be undistributed. A refused
 * statement says nothing of its datasource, so nothing may be known of it yet. The rewrite is loaded when it is needed.
 */
export async function rewriteAfter(error: unknown, { isRewritten }: Plan, datasource: Datasource): Promise<FinishedRewrite | undefined> {
  if (isRewritten || !(error instanceof SvcError) || error.code !== 'feature_not_supported' || keepsNames(datasource)) return undefined;
  const { decorrelate } = await import('../../planner/lower/decorrelate.ts');
  return decorrelate;
}
