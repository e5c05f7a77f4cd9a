/** Queries that need several datasources: they read tables that mappings have in another one (docs/design/caches.md#in-another-datasource). */
import { badRequest, SvcError } from '../../errors.ts';
import type { Source } from '../../language/statements.ts';
import { type Plan, type PlanContext, planSelect } from '../../planner/index.ts';

const OWN_FUNCTIONS = 'functions of a datasource (allowed_functions) need one datasource';

/**
 * Plans a SELECT. Only one that needs several datasources reads tables that mappings have in another datasource.
 * @param across for each datasource with such tables: the table of a mapping there, or in its own datasource
 * @throws SvcError as `planSelect`; 400 `several_datasources` if these tables do not help
 */
export function planAcross(
  context: PlanContext,
  source: Source,
  options: Parameters<typeof planSelect>[2],
  across: readonly NonNullable<PlanContext['cached']>[],
): Plan {
  const isApart = (error: unknown): error is SvcError => error instanceof SvcError && error.code === 'several_datasources';
  try {
    return planSelect(context, source, options);
  } catch (error) {
    if (!isApart(error)) throw error;
    let callsOwn = false;
    for (const cached of across) {
      try {
        const made = planSelect({ ...context, cached }, source, options);
        // the other database may have another function of this name, and a policy must not depend on it
        if (!made.callsOwn) return made;
        callsOwn = true;
      } catch (again) {
        if (!isApart(again)) throw again;
      }
    }
    throw callsOwn ? badRequest(error.code, error.message, { hint: OWN_FUNCTIONS }) : error;
  }
}
