/** The plans that an isolate keeps. */
import { cacheOf } from '../../cache.ts';
import type { Plan, PlanContext } from '../../planner/index.ts';
import type { Verified } from '../../planner/verify/index.ts';

/** A plan whose SQL the verifier has accepted; shared by all requests that use it. */
export interface VerifiedPlan {
  readonly plan: Plan;
  readonly text: Verified;
}

/** False if the datasource has changed: whether it keeps names becomes known with its first answer, foreign keys may be dropped, and tables distributed in another way. */
export const isValid = ({ datasource, keepsNames, trusted, target }: Plan, context: PlanContext): boolean =>
  target === context.target?.(datasource) && keepsNames === context.keepsNames?.(datasource) && trusted.every((key) => context.enforces?.(datasource, key));

const plans = cacheOf<VerifiedPlan>('plan');

/** The first plan that is kept under one of these keys. */
export function findPlan(places: Iterable<string>): VerifiedPlan | undefined {
  for (const place of places) {
    const found = plans.get(place);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** Keeps a plan under a key; undefined: it is not kept. */
export function keepPlan(place: string | undefined, made: VerifiedPlan): void {
  if (place === undefined) return;
  const { sql, params, columns } = made.plan;
  plans.set(place, made, 2 * (sql.length + params.reduce((n, p) => n + (p?.length ?? 0), 0)) + 500 + 200 * columns.length);
}
