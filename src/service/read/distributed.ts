/** The rewrite of statements for datasources that distribute them (Citus). It is loaded when the first such datasource is read. */
import type { Datasource } from '../../engine/datasource.ts';
import { isDistributed } from '../../engine/settings.ts';
import { SvcError } from '../../errors.ts';
import type { FinishedRewrite, Plan, PlanContext } from '../../planner/index.ts';

/** The rewrite must be loaded. */
class RewriteNeeded extends Error {}

let loaded: FinishedRewrite | undefined;

/** The rewrite for a datasource; undefined if it is not known to distribute statements. @throws RewriteNeeded */
export function rewriteFor(datasource: Datasource | undefined): FinishedRewrite | undefined {
  if (datasource === undefined || !isDistributed(datasource)) return undefined;
  if (loaded === undefined) throw new RewriteNeeded();
  return loaded;
}

/** Calls `make`, and calls it again after loading the rewrite if it needs it. @throws what `make` throws */
export async function whileLoaded<T>(make: () => Promise<T>): Promise<T> {
  try {
    return await make();
  } catch (error) {
    if (!(error instanceof RewriteNeeded)) throw error;
    loaded = (await import('../../planner/lower/decorrelate.ts')).decorrelate;
    return make();
  }
}

/** True if a datasource refused a statement that was planned before it was known that the datasource distributes statements. It is planned again. */
export const plannedTooEarly = (error: unknown, { isDistributed: isRewritten }: Plan, datasource: Datasource): boolean =>
  error instanceof SvcError && error.code === 'feature_not_supported' && !isRewritten && isDistributed(datasource);

/** False if the datasource of a kept plan has changed: whether it keeps names and distributes statements becomes known with its first answer, and foreign keys may be dropped. */
export const isValid = (plan: Plan, context: PlanContext): boolean =>
  plan.keepsNames === context.keepsNames?.(plan.datasource) &&
  plan.isDistributed === (context.distributed?.(plan.datasource) !== undefined) &&
  plan.trusted.every((key) => context.enforces?.(plan.datasource, key));
